// SPDX-License-Identifier: Apache-2.0
//! Which items go to wide segments, and when such a one is full.
//!
//! The end of a segment that the next item is too long for is lost. So items of more than a small share
//! of a segment are collected in wide ones, which take the memory of one more segment when they need
//! it, and of which only a share of the last one is lost. Where items are of one size this comes out
//! even at some width, and that is where a wide segment ends.

use crate::heap::FIRST_OFFSET;
use crate::place::{Lack, Open};
use crate::pool::Piece;
use crate::shared::Shared;
use crate::store::SegStore;

/// Items above one of so many parts of a segment go to wide ones: of the others less is lost.
pub(crate) const NARROW_SHARE: usize = 16;

/// The share of its memory that a wide segment may lose: one of so many parts. Where that much or less
/// is left, it grows no more.
const LOSS_SHARE: usize = 20;

/// A wide segment of less memory is no end in itself.
const PARTS_MIN: usize = 2;

/// The share of all memory that a wide segment with several items may have: one of so many parts. It is
/// emptied as a whole, and what stays of it has to go elsewhere before.
const MEMORY_SHARE: usize = 32;

/// So wide a segment is kept free as a whole for what evictions keep.
const WHOLE_MAX: usize = 6;

/// So wide a segment is waited for, to have it with its memory. More would be free in the mean.
const AWAITED_MAX: usize = 11;

/// With fewer open segments only what does not fit a segment goes to a wide one.
pub(crate) const OPEN_FEW: usize = 4;

impl Shared {
    /// The most memory of a wide segment with several items, in segments.
    pub(crate) fn parts_max(&self) -> usize {
        let most = self.heap.room_in_wide().div_ceil(self.heap.segment_bytes());
        (self.pool.total() / MEMORY_SHARE).max(PARTS_MIN).min(most)
    }

    /// Free segments to leave for items which move when their segment is emptied: half of a wide one at
    /// least, since more of it is dead, as a rule, when it is compacted, or goes when it is evicted.
    pub(crate) fn moves_wanted(&self) -> usize {
        let target = self.pool.target();
        if target <= 16 {
            return 0;
        }
        // What others reserve leaves less of it.
        let most = self.parts_max().min(target / MEMORY_SHARE).max(1);
        let widest = self.pool.widest().min(most);
        let half = widest.div_ceil(2);
        // Where evictions keep items, a whole one that has its memory need not get it from others.
        if self.settings.eviction.keeps() { widest.min(half.max(WHOLE_MAX)) } else { half }
    }

    /// Gives memory of a free segment back to the system.
    pub(crate) fn releaser(&self) -> impl Fn(&Piece) + '_ {
        |piece| self.release(piece)
    }

    /// Takes a free segment, if so many others stay free.
    pub(crate) fn take(&self, spare: usize) -> Option<u32> {
        self.pool.take(spare, &self.epochs, self.releaser())
    }

    /// Takes a wide segment for an item of `len` bytes, with whatever memory it has.
    pub(crate) fn take_wide(&self, len: usize, spare: usize) -> Result<u32, Lack> {
        let parts = self.parts(len + FIRST_OFFSET as usize);
        let most = parts.max(self.parts_max());
        let awaited = if self.evicts() { AWAITED_MAX } else { 0 };
        self.pool.take_wide((parts, most), (spare, awaited), &self.epochs)
    }

    /// Takes from a wide segment what it has beyond `written` bytes, before it is sealed.
    pub(crate) fn trim(&self, segment: u32, written: u32) {
        let parts = self.parts(written as usize) as u32;
        self.pool.trim(segment, parts, self.releaser());
        if self.pool.segment(segment).items() > 1 {
            self.pool.note_span(parts);
            self.reckon_reserve();
        }
    }

    /// How many segments' memory so many bytes of one take.
    fn parts(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.heap.segment_bytes())
    }

    /// Whether an open wide segment that has `span` parts is not to have another item, which would end in
    /// so many `parts`.
    fn is_full(&self, open: Open, span: usize, parts: usize) -> bool {
        if open.at == FIRST_OFFSET {
            return false;
        }
        let bytes = span * self.heap.segment_bytes();
        let is_used_up = (bytes - open.at as usize) * LOSS_SHARE <= bytes;
        // An item above the most that several may have is alone.
        span.max(parts) > self.parts_max() || parts > span && span >= PARTS_MIN && is_used_up
    }

    /// Whether the only item of an open wide segment, of `len` bytes, is to stay alone, if the next one is
    /// like it. Such a segment need not stay open.
    pub(crate) fn is_alone(&self, open: Open, len: usize) -> bool {
        let segment = self.pool.segment(open.segment);
        let parts = self.parts(open.at as usize + len);
        segment.items() == 1 && self.is_full(open, segment.span() as usize, parts)
    }

    /// Whether an open wide segment, which is the caller's, takes an item of `len` bytes, growing if it
    /// must. A client's write keeps what there was to grow by, if it was not enough: others could go on
    /// taking what it needs.
    pub(crate) fn widen(
        &self,
        open: Open,
        len: usize,
        spare: usize,
        keeps: bool,
    ) -> Result<bool, Lack> {
        let span = self.pool.segment(open.segment).span() as usize;
        let parts = self.parts(open.at as usize + len);
        if self.is_full(open, span, parts) {
            return Ok(false);
        }
        if parts <= span {
            return Ok(true);
        }
        let missing = parts - span;
        if !keeps && self.pool.free() < missing + spare {
            return Err(Lack::Free(missing));
        }
        let growth = (spare, &*self.epochs);
        match self.pool.grow(open.segment, missing as u32, growth, self.releaser()) {
            0 => Ok(true),
            missing => Err(Lack::Free(missing as usize)),
        }
    }
}

impl SegStore {
    /// Whether an item of `len` bytes goes to a wide segment.
    pub(crate) fn is_wide(&self, len: usize) -> Result<bool, Lack> {
        let heap = &self.shared.heap;
        if len > heap.room_in_segment() {
            return if len <= heap.room_in_wide() { Ok(true) } else { Err(Lack::Wide) };
        }
        let is_large = len > heap.segment_bytes() / NARROW_SHARE;
        Ok(is_large && heap.wide() > 0 && self.open_max() >= OPEN_FEW)
    }
}
