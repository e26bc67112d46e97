// SPDX-License-Identifier: Apache-2.0
//! Memory from the system.

use super::HeapOptions;
use memmap2::{Advice, MmapOptions, MmapRaw};
use std::io;

/// Maps `bytes` of zeros. Huge pages are a wish; prefaulting fails if it cannot be done.
pub(super) fn map(bytes: usize, options: HeapOptions) -> io::Result<MmapRaw> {
    let map = MmapRaw::from(MmapOptions::new().len(bytes).map_anon()?);
    if options.huge_pages
        && let Err(error) = advise_huge_pages(&map)
    {
        // It runs without them, slower.
        log::warn!("no huge pages for the heap: {error}");
    }
    if options.prefault {
        populate(&map)?;
    }
    Ok(map)
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(map: &MmapRaw) -> io::Result<()> {
    map.advise(Advice::HugePage)
}

/// Has the system find memory for every page, after the advice on their size. Linux 5.14 can.
#[cfg(target_os = "linux")]
fn populate(map: &MmapRaw) -> io::Result<()> {
    map.advise(Advice::PopulateWrite)
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_map: &MmapRaw) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn populate(_map: &MmapRaw) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    const PAGES: usize = 64;

    /// How many pages of the mapping are in memory.
    fn present(map: &MmapRaw) -> usize {
        let page_bytes = map.len() / PAGES;
        let pagemap = File::open("/proc/self/pagemap").expect("every process has one");
        let entry = |page: usize| {
            let mut entry = [0; 8];
            let number = map.as_ptr().addr() / page_bytes + page;
            pagemap.read_exact_at(&mut entry, number as u64 * 8).expect("it has all pages");
            u64::from_le_bytes(entry)
        };
        (0..PAGES).filter(|&page| entry(page) >> 63 == 1).count()
    }

    #[test]
    fn prefaulted_pages_are_in_memory_before_they_are_used() {
        let map_with = |prefault| {
            let options = HeapOptions { prefault, ..HeapOptions::default() };
            map(PAGES * 4096, options).expect("there is memory")
        };
        assert_eq!(present(&map_with(false)), 0);
        assert_eq!(present(&map_with(true)), PAGES);
    }
}
