// SPDX-License-Identifier: Apache-2.0
//! Decides which items go to wide segments, and when a wide segment is full.
//!
//! If the next item does not fit the rest of a segment, that rest is lost. So items larger than a small
//! share of a segment are collected in wide segments. These take the memory of one more segment when
//! they need it, and lose at most a part of the last one. With items of one size the loss is small at
//! some widths, and there a wide segment ends.

use crate::heap::{FIRST_OFFSET, OFFSET_MAX};
use crate::place::{Lack, Open};
use crate::pool::Piece;
use crate::shared::Shared;
use crate::store::SegStore;

/// Items larger than a segment divided by this go to wide segments; smaller ones lose less.
pub(crate) const NARROW_SHARE: usize = 16;

/// A wide segment may lose its memory divided by this. If that much or less is left, it does not grow.
const LOSS_SHARE: usize = 20;

/// A wide segment with less memory than this, in segments, is not full.
const SEGMENTS_MIN: usize = 2;

/// A wide segment with several items may have all memory divided by this. It is emptied as a whole, and
/// the items that stay need room elsewhere before it is free.
const MEMORY_SHARE: usize = 32;

/// Up to this width, room for a whole wide segment is kept free for the items that evictions keep.
const WHOLE_MAX: usize = 6;

/// Up to this width, a write waits for a free wide segment that has its memory already. Waiting for
/// wider ones would leave more memory free on average.
const AWAITED_MAX: usize = 11;

/// If a handle may have fewer open segments than this, only items that do not fit a segment go to
/// wide ones.
pub(crate) const OPEN_FEW: usize = 4;

impl Shared {
    /// The most memory of a wide segment with several items, in grains.
    pub(crate) fn shared_max(&self) -> usize {
        // So no further item begins where a version has no bits for its offset.
        let bytes = self.heap.room_in_wide().min(OFFSET_MAX);
        let segments = (self.pool.total() / MEMORY_SHARE).max(SEGMENTS_MIN);
        (segments * self.pool.grains()).min(bytes.div_ceil(self.heap.grain_bytes()))
    }

    /// Free memory, in grains, to leave for items that move when their segment is emptied: at least half a wide
    /// segment, since usually the other half is dead when it is compacted, or dropped when it is
    /// evicted. A whole one where nothing is evicted, and a segment for each worker.
    pub(crate) fn moves_wanted(&self) -> usize {
        let (target, segment) = (self.pool.target(), self.pool.grains());
        if target <= 16 * segment {
            return 0;
        }
        // Reservations leave less memory.
        let most = self.shared_max().min(target / MEMORY_SHARE).max(segment);
        let widest = self.pool.widest().min(most);
        if !self.evicts() {
            return widest.max(self.workers() * segment);
        }
        let half = widest.div_ceil(2).max(segment);
        // Where evictions keep items, a whole free wide segment has its memory already and need not
        // take it from others.
        let whole = WHOLE_MAX * segment;
        if self.settings.eviction.keeps() { widest.min(half.max(whole)) } else { half }
    }

    /// Gives memory of a free segment back to the system.
    pub(crate) fn releaser(&self) -> impl Fn(&Piece) + '_ {
        |piece| self.release(piece)
    }

    /// Takes a free segment, if `spare` grains stay free besides.
    pub(crate) fn take(&self, spare: usize) -> Option<u32> {
        let segment = self.pool.take(spare, &self.epochs, self.releaser())?;
        #[cfg(not(loom))]
        self.ahead.note_open((segment as usize + 1) * self.heap.segment_bytes());
        Some(segment)
    }

    /// Takes a wide segment for an item of `len` bytes, with whatever memory it has.
    pub(crate) fn take_wide(&self, len: usize, spare: usize) -> Result<u32, Lack> {
        let grains = self.grains(len + FIRST_OFFSET as usize);
        let most = grains.max(self.shared_max());
        let awaited = if self.evicts() { AWAITED_MAX * self.pool.grains() } else { 0 };
        self.pool.take_wide((grains, most), (spare, awaited), &self.epochs)
    }

    /// Takes a wide segment with `most` grains at the most, and no more than an item of `len` bytes
    /// needs.
    pub(crate) fn take_wide_up_to(&self, most: usize, len: usize) -> Result<u32, Lack> {
        let grains = self.grains(len + FIRST_OFFSET as usize).min(most);
        self.pool.take_wide((grains, grains), (self.spare(), 0), &self.epochs)
    }

    /// Gives the caller's open wide segment so many grains in all. Returns how many free ones are missing for that.
    pub(crate) fn extend(&self, segment: u32, grains: usize) -> usize {
        let missing = grains.saturating_sub(self.pool.segment(segment).span() as usize);
        let growth = (self.spare(), &*self.epochs);
        self.pool.grow(segment, missing as u32, growth, self.releaser()) as usize
    }

    /// Whether the caller's open wide segment would take an item of `len` bytes, given the memory.
    pub(crate) fn has_room(&self, open: Open, len: usize) -> bool {
        let span = self.pool.segment(open.segment).span() as usize;
        !self.is_full(open.at, span, self.grains(open.at as usize + len))
    }

    /// Takes the memory beyond `written` bytes from a wide segment before it is sealed.
    pub(crate) fn trim(&self, segment: u32, written: u32) {
        let grains = self.grains(written as usize) as u32;
        self.pool.trim(segment, grains, self.releaser());
        if self.pool.segment(segment).items() > 1 {
            self.pool.note_span(grains);
            self.reckon_reserve();
        }
    }

    /// How many grains this many bytes of a segment take.
    pub(crate) fn grains(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.heap.grain_bytes())
    }

    /// Whether an open wide segment that has `span` grains and is written up to `at` is full, given that the next item
    /// would need it to have `grains`.
    fn is_full(&self, at: u32, span: usize, grains: usize) -> bool {
        if at == FIRST_OFFSET {
            return false;
        }
        let bytes = span * self.heap.grain_bytes();
        let least = SEGMENTS_MIN * self.pool.grains();
        let is_used_up = (bytes - at as usize) * LOSS_SHARE <= bytes;
        // An item larger than a wide segment with several items may be is alone.
        span.max(grains) > self.shared_max() || grains > span && span >= least && is_used_up
    }

    /// Whether the only item of an open wide segment, of `len` bytes, would stay alone if the next item
    /// has the same size. Such a segment need not stay open.
    pub(crate) fn is_alone(&self, open: Open, len: usize) -> bool {
        let segment = self.pool.segment(open.segment);
        let grains = self.grains(open.at as usize + len);
        segment.items() == 1 && self.is_full(open.at, segment.span() as usize, grains)
    }

    /// Whether items of `len` bytes share wide segments: there are too few for one each.
    pub(crate) fn is_sharing(&self, len: usize) -> bool {
        let end = FIRST_OFFSET as usize + len;
        !self.is_full(end as u32, self.grains(end), self.grains(end + len))
    }

    /// Whether the caller's open wide segment takes an item of `len` bytes, growing if it must. If the
    /// free memory was not enough, a client's write keeps what it got: else others could go on taking
    /// it.
    pub(crate) fn widen(
        &self,
        open: Open,
        len: usize,
        spare: usize,
        keeps: bool,
    ) -> Result<bool, Lack> {
        let span = self.pool.segment(open.segment).span() as usize;
        let grains = self.grains(open.at as usize + len);
        if self.is_full(open.at, span, grains) {
            return Ok(false);
        }
        if grains <= span {
            return Ok(true);
        }
        let missing = grains - span;
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
