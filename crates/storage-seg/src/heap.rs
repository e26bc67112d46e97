// SPDX-License-Identifier: Apache-2.0
//! [`Heap`]: the memory of all segments, and the only module that reads and writes it.
//!
//! One anonymous mapping, divided into segments of equal size. A segment begins with a head of
//! [`FIRST_OFFSET`] unused bytes, so that location 0 names no item. The items follow one after the
//! other, each with the layout of [`crate::layout`]. A very large item may go on into the segments
//! after its own.
//!
//! Behind the segments that the memory limit has room for at first is address space for more, for the case
//! that it is raised, and behind these address space for *wide* segments. Each of those has the memory of as
//! many segments as it needs. All address space adds up to much more than the memory limit; memory used here is
//! given back elsewhere.
//!
//! ```text
//!  segment 0                     segment 1                        wide segment
//!  │ head │ item │ item │  free  │ head │ item ...  .. unused ..│ head │ large item │ large item │ unused │
//! ```
//!
//! The index, the segments' states and [`crate::epoch`] decide which memory may be read, written
//! and released. The unsafe functions here rely on that by these rules:
//!
//! * INV-MAPPED: the mapping stays where it is and stays readable and writable until the `Heap` is
//!   dropped. All pointers come from the mapping's own. Its bytes always have some value.
//! * INV-WRITER: a range is written by [`Heap::write`] and [`Heap::copy`] only while it belongs to
//!   the caller alone: no item in it is published, borrowed or pinned.
//! * INV-PUBLISHED: whoever makes an [`ItemRef`] got its location from the slot where the writer
//!   published it (release to acquire), or is that writer. So the write happens before the read.
//! * INV-STAYS: the memory of an item is not reused or released while an [`ItemRef`] or [`Bytes`]
//!   of it lives.
//! * INV-FROZEN: of a published item only three words ever change, word 0 (its DEAD bit), an expiry
//!   of one word, and the state. These are read and written as atomics while the item is published, and no
//!   reference but an atomic's covers them. Everything else is plain memory that does not change.
//!   The exception is [`Heap::overwrite_value`], for a caller with exclusive access to the item.
//! * INV-INSIDE: a location was made for an item that lies wholly inside the heap, and so do all
//!   ranges that its header describes. `write` checks it.

use crate::index::Location;
use crate::layout::Layout;
use crate::sync::Arc;
use bytes::Bytes;
use memmap2::{MmapRaw, UncheckedAdvice};
use prefetch::Hint;
use std::io;
use std::ops::Range;

mod geometry;
mod item;
mod lent;
mod lone;
mod memory;
#[cfg(all(test, not(loom)))]
pub(crate) mod tests;
mod write;

pub(crate) use crate::layout::NewItem;
pub(crate) use geometry::FIRST_OFFSET;
use geometry::Geometry;
pub(crate) use geometry::{BLOCK_BYTES, Extent, Lone, OFFSET_MAX, WIDE_BYTES_MAX, Wide};
pub(crate) use item::ItemRef;
use lent::Lent;
use lone::Blocks;
pub(crate) use lone::blocks_for;
pub(crate) use write::Begun;

/// How the heap's memory is taken from the system, and whether items have checksums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeapOptions {
    /// Asks for huge pages: for all memory if it is taken at once, else with [`Heap::take`].
    pub(crate) huge_pages: bool,
    /// Takes all pages at once and not one by one as they are first written.
    pub(crate) prefault: bool,
    /// Gives each item a checksum.
    pub(crate) integrity: bool,
}

/// The memory of all segments.
#[derive(Debug)]
pub(crate) struct Heap {
    map: MmapRaw,
    geometry: Geometry,
    blocks: Blocks,
    grain_bytes: usize,
    layout: Layout,
}

impl Heap {
    /// Maps the memory, all zeros: `segments` of it to be used at first, in the first of these extents for which
    /// the system gives the address space. If it does for none, there are no wide segments and no more than
    /// these.
    ///
    /// # Errors
    ///
    /// The system's error if it does not give the memory, or cannot prefault it if that was asked
    /// for; `InvalidInput` for more than 1 TiB.
    ///
    /// # Panics
    ///
    /// When there are no segments, or `segment_bytes` is not a power of two in [`SEGMENT_BYTES`](crate::SEGMENT_BYTES).
    pub(crate) fn new(
        segments: u32,
        segment_bytes: usize,
        extents: &[Extent],
        options: HeapOptions,
    ) -> io::Result<Heap> {
        let new = |Extent { segments, wide, lone }| {
            Geometry::new(segments, segment_bytes, wide)
                .and_then(|geometry| geometry.with_lone(lone))
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a heap above 1 TiB"))
        };
        let least = new(Extent { segments, wide: Wide::NONE, lone: Lone::NONE })?;
        let mut mapped = None;
        for &extent in extents {
            let geometry = new(extent)?;
            let sizes = (least.bytes(), geometry.narrow_bytes(), geometry.bytes());
            if geometry != least
                && let Some(map) = memory::map_sparse(sizes, options)?
            {
                mapped = Some((map, geometry));
                break;
            }
        }
        let (map, geometry) = match mapped {
            Some(mapped) => mapped,
            None => (memory::map(least.bytes(), options)?, least),
        };
        let lone = geometry.lone();
        let blocks = Blocks::new(lone.count, lone.blocks)?;
        let layout = Layout { unit: geometry.unit(), checksum: options.integrity };
        // Under loom everything is as small as can be.
        let grain_bytes = if cfg!(loom) { segment_bytes } else { pages::page_bytes() };
        let grain_bytes = grain_bytes.min(segment_bytes);
        Ok(Heap { map, geometry, blocks, grain_bytes, layout })
    }

    /// How many segments there are numbers for that are not wide.
    pub(crate) fn segments(&self) -> u32 {
        self.geometry.segments()
    }

    /// How many wide segments there are. None where the system does not give address space without
    /// memory.
    pub(crate) fn wide(&self) -> u32 {
        self.geometry.wide()
    }

    /// How many lone segments there may be.
    pub(crate) fn lone(&self) -> u32 {
        self.geometry.lone().count
    }

    /// Gives a lone segment, by its number among these, so many blocks of address space, if there are so many. One thread
    /// at a time does it, once for each.
    pub(crate) fn give_blocks(&self, lone: u32, blocks: u32) -> bool {
        self.blocks.give(lone, blocks)
    }

    /// The longest item, in bytes with padding, that fits a wide segment.
    pub(crate) fn room_in_wide(&self) -> usize {
        self.geometry.wide_bytes().saturating_sub(FIRST_OFFSET as usize)
    }

    pub(crate) fn segment_bytes(&self) -> usize {
        self.geometry.segment_bytes()
    }

    /// Bytes of a grain, the unit in which memory is given back to the system: those of its pages. A segment is a whole
    /// number of them.
    #[inline]
    pub(crate) fn grain_bytes(&self) -> usize {
        self.grain_bytes
    }

    /// The longest item, in bytes with padding, that fits one segment.
    pub(crate) fn room_in_segment(&self) -> usize {
        self.segment_bytes() - FIRST_OFFSET as usize
    }

    /// Bytes that suffice for the item in any segment. What [`write`](Self::write) returns may be
    /// less by one word, since the form of an expiry depends on the segment's base.
    pub(crate) fn len_of(&self, item: &NewItem<'_>) -> usize {
        item.len_max(self.layout)
    }

    /// The same for an item with a value of `value_len` bytes, which `item` does not have yet.
    pub(crate) fn len_with(&self, item: &NewItem<'_>, value_len: usize) -> usize {
        item.len_max_with(value_len, self.layout)
    }

    /// Bytes of header and key of such an item, at most: the value begins there.
    pub(crate) fn head_len(&self, item: &NewItem<'_>, value_len: usize) -> usize {
        self.len_with(item, value_len) - value_len
    }

    /// The location, as the index keeps it, of an item at `offset` bytes of a segment.
    #[inline]
    pub(crate) fn location(&self, segment: u32, offset: u32) -> Location {
        match self.geometry.lone_at(segment) {
            None => self.geometry.location(segment, offset),
            Some(_) => self.geometry.location_of(self.byte(segment, offset)),
        }
    }

    /// The byte at an offset of a segment.
    #[inline]
    fn byte(&self, segment: u32, offset: u32) -> usize {
        match self.geometry.lone_at(segment) {
            None => self.geometry.byte(segment, offset),
            Some(lone) => self.geometry.lone_from() + self.blocks.start(lone) + offset as usize,
        }
    }

    /// The segment and the offset of a location.
    #[inline]
    pub(crate) fn place(&self, location: Location) -> (u32, u32) {
        let byte = self.geometry.byte_of(location);
        let Some(byte) = byte.checked_sub(self.geometry.lone_from()) else {
            return self.geometry.place(location);
        };
        let (lone, offset) = self.blocks.place(byte);
        (self.segments() + self.wide() + lone, offset)
    }

    /// Prefetches the first [`Hint::FIRST_BYTES`] of an item. Any location is allowed.
    #[inline]
    pub(crate) fn prefetch(&self, location: Location) {
        self.prefetch_bytes(location, Hint::FIRST_BYTES);
    }

    /// Prefetches an item of so many bytes behind what [`Heap::prefetch`] does, as far as it pays. Any location is allowed.
    #[inline]
    pub(crate) fn prefetch_behind(&self, location: Location, bytes: usize) {
        Hint::behind(self.near(location), bytes).fetch();
    }

    /// Prefetches that many bytes from a location on, a few lines at most. Any location is allowed.
    #[inline]
    pub(crate) fn prefetch_bytes(&self, location: Location, bytes: usize) {
        Hint::over(self.near(location), bytes).fetch();
    }

    /// Where a location is, or the last byte if it is none.
    #[inline]
    fn near(&self, location: Location) -> *const u8 {
        self.at(self.geometry.byte_of(location).min(self.geometry.bytes() - 1)).cast_const()
    }

    /// The item at a location.
    ///
    /// # Safety
    ///
    /// INV-PUBLISHED for the location, and INV-STAYS for as long as `&self` is borrowed.
    #[inline(always)]
    pub(crate) unsafe fn item(&self, location: Location) -> ItemRef<'_> {
        let byte = self.geometry.byte_of(location);
        debug_assert!(byte < self.geometry.bytes(), "INV-INSIDE");
        // SAFETY: INV-INSIDE and the caller's promise.
        unsafe { ItemRef::new(self, self.at(byte)) }
    }

    /// The value of the item at a location as bytes that outlive the borrow. They keep the heap,
    /// and `guard`, which is dropped with the last of them.
    ///
    /// # Safety
    ///
    /// INV-PUBLISHED for the location, and INV-STAYS for as long as `guard` lives.
    pub(crate) unsafe fn bytes<G>(this: &Arc<Self>, location: Location, guard: G) -> Bytes
    where
        G: Send + 'static,
    {
        // SAFETY: the caller's promise.
        let value = unsafe { this.item(location) }.value();
        // SAFETY: INV-STAYS as long as the guard lives, INV-MAPPED as long as the heap does.
        Bytes::from_owner(unsafe { Lent::new(value, guard, Arc::clone(this)) })
    }

    /// Gives grains of a segment back to the system. The bytes are zero afterwards.
    ///
    /// # Safety
    ///
    /// INV-WRITER for the whole range.
    ///
    /// # Panics
    ///
    /// When there is no such segment, or it has no such grains.
    pub(crate) unsafe fn release(&self, segment: u32, grains: Range<u32>) {
        let byte = |grain: u32| self.byte(segment, grain * self.grain_bytes as u32);
        let (start, end) = (byte(grains.start), byte(grains.end));
        let len = end - start;
        // SAFETY: INV-WRITER, so nobody sees the bytes change. Private anonymous memory stays mapped
        // and reads as zeros after this advice.
        let advised =
            unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, len) };
        if advised.is_err() {
            // Locked pages cannot be given back.
            // SAFETY: INV-WRITER, and the range is inside the mapping.
            unsafe { self.at(start).write_bytes(0, len) };
        }
    }

    /// The first whole huge page at or behind a byte of the heap. It may lie behind all segments.
    #[cfg(not(loom))]
    pub(crate) fn huge_page_from(&self, byte: usize) -> Range<usize> {
        pages::huge_page_from(self.map.as_ptr(), byte)
    }

    /// Takes this memory from the system, in huge pages, as [`pages::take`].
    ///
    /// # Errors
    ///
    /// Those of the system.
    ///
    /// # Panics
    ///
    /// When the range is not inside the heap.
    #[cfg(not(loom))]
    pub(crate) fn take(&self, range: Range<usize>) -> io::Result<()> {
        assert!(range.end <= self.geometry.narrow_bytes(), "INV-INSIDE");
        memory::take(&self.map, range, true)
    }

    /// Where it begins.
    #[cfg(test)]
    pub(crate) fn start(&self) -> *const u8 {
        self.map.as_ptr()
    }

    /// The address of a byte of the heap.
    #[inline(always)]
    fn at(&self, byte: usize) -> *mut u8 {
        debug_assert!(byte < self.geometry.bytes(), "INV-INSIDE");
        self.map.as_mut_ptr().wrapping_add(byte)
    }
}
