// SPDX-License-Identifier: Apache-2.0
//! Memory from the system.

use super::HeapOptions;
use memmap2::{Advice, MmapOptions, MmapRaw};
use std::io;
use std::ops::Range;

/// Maps `bytes` of zeros. Without huge pages in the system the map is made all the same;
/// prefaulting fails if it cannot be done.
pub(super) fn map(bytes: usize, options: HeapOptions) -> io::Result<MmapRaw> {
    let map = MmapRaw::from(MmapOptions::new().len(bytes).map_anon()?);
    prepare(&map, (bytes, bytes), options)?;
    Ok(map)
}

/// Maps `all` bytes, of which only a part is ever used at a time: the first `bytes` as [`map`] does, those up to
/// `plain` as they may be used later in their place, and the rest in small pages. `None` when the system counts
/// or locks unused address space as memory.
pub(super) fn map_sparse(
    (bytes, plain, all): (usize, usize, usize),
    options: HeapOptions,
) -> io::Result<Option<MmapRaw>> {
    // Map only the memory in use first, so that limits on it are checked without the address space.
    drop(MmapOptions::new().len(bytes).map_anon()?);
    if is_locked() {
        return Ok(None);
    }
    let Ok(map) = MmapOptions::new().len(all).no_reserve_swap().map_anon() else {
        return Ok(None);
    };
    let map = MmapRaw::from(map);
    prepare(&map, (bytes, plain), options)?;
    if plain < all {
        keep_small_pages(&map, plain..all);
    }
    Ok(Some(map))
}

fn prepare(map: &MmapRaw, (bytes, plain): (usize, usize), options: HeapOptions) -> io::Result<()> {
    if options.huge_pages
        && let Err(error) = advise_huge_pages(map, plain)
    {
        // It runs without them, slower.
        log::warn!("no huge pages for the heap: {error}");
    }
    if options.prefault {
        populate(map, bytes)?;
    }
    Ok(())
}

/// Whether the process has locked its memory. What it maps then is taken at once, used or not.
#[cfg(target_os = "linux")]
fn is_locked() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    line.is_some_and(|locked| !locked.trim().starts_with("0 "))
}

#[cfg(not(target_os = "linux"))]
fn is_locked() -> bool {
    false
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(map: &MmapRaw, bytes: usize) -> io::Result<()> {
    map.advise_range(Advice::HugePage, 0, bytes)
}

/// Keeps the system from using a page that reaches beyond the segment it was touched in.
#[cfg(target_os = "linux")]
fn keep_small_pages(map: &MmapRaw, range: Range<usize>) {
    // Without huge pages in the system this advice fails, which does not matter.
    let _ = map.advise_range(Advice::NoHugePage, range.start, range.len());
}

#[cfg(not(target_os = "linux"))]
fn keep_small_pages(_map: &MmapRaw, _range: Range<usize>) {}

/// Makes the system populate every page, after the advice on their size. Needs Linux 5.14.
#[cfg(target_os = "linux")]
fn populate(map: &MmapRaw, bytes: usize) -> io::Result<()> {
    map.advise_range(Advice::PopulateWrite, 0, bytes)
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_map: &MmapRaw, _bytes: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn populate(_map: &MmapRaw, _bytes: usize) -> io::Result<()> {
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
    fn address_space_behind_the_rest_takes_no_memory() {
        let options = HeapOptions { prefault: true, ..HeapOptions::default() };
        let half = PAGES / 2 * 4096;
        let map = map_sparse((half, half, 2 * half), options).expect("there is memory");
        assert_eq!(present(&map.expect("nothing is locked")), PAGES / 2);
        assert!(!is_locked());
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
