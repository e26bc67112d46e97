// SPDX-License-Identifier: Apache-2.0
//! Memory from the system.

use super::HeapOptions;
use memmap2::{MmapOptions, MmapRaw};
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
        // So that no page reaches beyond the segment it was touched in. Without huge pages in the system this fails,
        // which does not matter.
        let _ = keep_small_pages(&map, plain..all);
    }
    Ok(Some(map))
}

/// In huge pages memory is only taken on purpose, at once or later with [`take`].
fn prepare(map: &MmapRaw, (bytes, plain): (usize, usize), options: HeapOptions) -> io::Result<()> {
    if options.huge_pages
        && let Err(error) = keep_small_pages(map, 0..plain)
    {
        // It runs without them, slower.
        log::info!("no huge pages for the heap: {error}");
    }
    if options.prefault { take(map, 0..bytes, options.huge_pages) } else { Ok(()) }
}

/// As [`pages::take`].
pub(super) fn take(map: &MmapRaw, range: Range<usize>, in_huge_pages: bool) -> io::Result<()> {
    pages::take(in_huge_pages, |advice| map.advise_range(advice, range.start, range.len()))
}

fn keep_small_pages(map: &MmapRaw, range: Range<usize>) -> io::Result<()> {
    pages::keep_small(|advice| map.advise_range(advice, range.start, range.len()))
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

#[cfg(all(test, not(loom), target_os = "linux"))]
mod tests {
    use super::*;
    use test_support::memory::present;

    const PAGES: usize = 64;

    /// How many pages of the mapping are in memory.
    fn pages_of(map: &MmapRaw) -> usize {
        present(map.as_ptr(), map.len()) / 4096
    }

    #[test]
    fn address_space_behind_the_rest_takes_no_memory() {
        let options = HeapOptions { prefault: true, ..HeapOptions::default() };
        let half = PAGES / 2 * 4096;
        let map = map_sparse((half, half, 2 * half), options).expect("there is memory");
        assert_eq!(pages_of(&map.expect("nothing is locked")), PAGES / 2);
        assert!(!is_locked());
    }

    #[test]
    fn prefaulted_pages_are_in_memory_before_they_are_used() {
        let map_with = |prefault| {
            let options = HeapOptions { prefault, ..HeapOptions::default() };
            map(PAGES * 4096, options).expect("there is memory")
        };
        assert_eq!(pages_of(&map_with(false)), 0);
        assert_eq!(pages_of(&map_with(true)), PAGES);
    }
}
