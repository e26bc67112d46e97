// SPDX-License-Identifier: Apache-2.0
//! [`Memory`]: the buckets of a table in memory mapped from the operating system. The only unsafe
//! code of the index.
//!
//! * INV-MAP: the mapping is private to its `Memory`, starts at a page and has the length of
//!   `buckets` buckets; it stays until the `Memory` is dropped.
//! * INV-ZERO: any 64 bits are a slot, and zeroes are a free one. So fresh pages are empty buckets,
//!   and pages given back become empty buckets again.

use super::bucket::Bucket;
use std::fmt;
use std::io;

/// Buckets in mapped pages. Untouched pages take no memory.
#[cfg(not(loom))]
pub(super) struct Memory {
    map: memmap2::MmapMut,
    buckets: usize,
}

#[cfg(not(loom))]
impl Memory {
    /// Maps empty buckets. Where the system has no huge pages, the request for them has no effect.
    pub(super) fn new(buckets: usize, huge_pages: bool) -> io::Result<Memory> {
        let length = buckets.checked_mul(size_of::<Bucket>());
        let map = memmap2::MmapMut::map_anon(length.ok_or(io::ErrorKind::OutOfMemory)?)?;
        #[cfg(target_os = "linux")]
        if huge_pages && let Err(error) = map.advise(memmap2::Advice::HugePage) {
            log::debug!("no huge pages for the index: {error}");
        }
        #[cfg(not(target_os = "linux"))]
        let _ = huge_pages;
        Ok(Memory { map, buckets })
    }

    #[inline]
    pub(super) fn buckets(&self) -> &[Bucket] {
        // SAFETY: INV-MAP gives length, alignment and lifetime; INV-ZERO makes all bytes valid. The
        // slots are atomics, and nobody makes a `&mut` to the mapping, so sharing is no data race.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<Bucket>(), self.buckets) }
    }

    /// Gives the pages of these bytes back. Both ends are at page boundaries, or the end is the end
    /// of the memory.
    ///
    /// The slots in it read as zero from then on, or unchanged where that failed. Both are correct,
    /// as the caller guarantees that nobody looks for an entry there (INV-GRACE).
    #[cfg(unix)]
    pub(super) fn release(&self, bytes: std::ops::Range<usize>) {
        let advice = memmap2::UncheckedAdvice::DontNeed;
        // SAFETY: the pages become zeroes, which are free slots by INV-ZERO, and all access to them
        // is by atomics.
        let result = unsafe { self.map.unchecked_advise_range(advice, bytes.start, bytes.len()) };
        if let Err(error) = result {
            log::warn!("cannot give {} bytes of the index back: {error}", bytes.len());
        }
    }

    #[cfg(not(unix))]
    pub(super) fn release(&self, _bytes: std::ops::Range<usize>) {}
}

/// Buckets of loom's atomics.
#[cfg(loom)]
pub(super) struct Memory {
    memory: Box<[Bucket]>,
}

#[cfg(loom)]
impl Memory {
    #[expect(clippy::unnecessary_wraps, reason = "as with memory of the operating system's")]
    pub(super) fn new(buckets: usize, _huge_pages: bool) -> io::Result<Memory> {
        Ok(Memory { memory: (0..buckets).map(|_| Bucket::new()).collect() })
    }

    pub(super) fn buckets(&self) -> &[Bucket] {
        &self.memory
    }

    pub(super) fn release(&self, bytes: std::ops::Range<usize>) {
        let buckets = bytes.start / size_of::<Bucket>()..bytes.end / size_of::<Bucket>();
        for slot in self.memory[buckets].iter().flat_map(Bucket::slots) {
            slot.store(0, crate::sync::atomic::Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("buckets", &self.buckets().len()).finish_non_exhaustive()
    }
}
