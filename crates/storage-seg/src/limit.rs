// SPDX-License-Identifier: Apache-2.0
//! Changes of the memory limit while the store is used.
//!
//! Numbers, address space and bookkeeping there are for [`GROWTH`] times the segments of the first limit; what is
//! not used takes no memory. So a higher limit only lets more segments come into service. With a lower one there
//! are suddenly too many, as when the index or the buffers of connections take memory: they are withdrawn one by
//! one, and emptied for it in the steps of any eviction. What was chosen by the first limit stays: the size of
//! a segment, the number of TTL classes, the longest value.
//!
//! The index is only made smaller when its items have gone. Until then it counts with the size that it would
//! have under the new limit ([`Shared::index_counts`]): else an index that was right for the old limit would
//! leave no memory for items.

use crate::capacity::MOVES_PER_TURN;
use crate::shared::Shared;
use crate::store::SegStore;
use crate::sync::atomic::Ordering;
use clock::Ticks;
use std::time::Duration;
use storage::ResizeError;

/// How many times the first limit the limit may be, where address space allows.
pub(crate) const GROWTH: u32 = 16;

/// The fewest segments that the limit must have room for.
pub(crate) const SEGMENTS_MIN: u64 = 8;

/// How many of the longest values the limit must have room for.
pub(crate) const VALUES_MIN: u64 = 4;

/// The index counts with its own size.
pub(crate) const IN_FULL: u64 = u64::MAX;

/// Items that are examined in one turn to get below a lower limit.
const STEP: usize = 256;

/// After a turn in which there was nothing to be had, none is looked for until this has passed.
const PAUSE: Duration = Duration::from_millis(20);

impl Shared {
    /// The memory limit in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the memory limit.
    pub(crate) fn resize(&self, limit: u64) -> Result<(), ResizeError> {
        let segment = self.heap.segment_bytes() as u64;
        let longest = self.settings.value_max as u64 * VALUES_MIN;
        let least = longest.max(SEGMENTS_MIN * segment).max(crate::MEMORY_MIN);
        let most = self.settings.limit_max;
        if limit < least {
            return Err(ResizeError::TooSmall { least });
        }
        if limit > most {
            return Err(ResizeError::TooLarge { most });
        }
        let _sizing = self.sizing.lock();
        let before = self.limit.swap(limit, Ordering::Relaxed);
        let is_lower = limit < before;
        if is_lower || !self.index_counts_in_full() {
            let index = u128::from(self.index_counts());
            let share = index * u128::from(limit) / u128::from(before);
            self.index_share.store(share as u64, Ordering::Relaxed);
        }
        self.pool.set_total((limit / segment) as usize);
        self.lessons.set_memory(limit);
        self.retarget();
        if is_lower {
            self.lowering.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Bytes that the index counts with.
    pub(crate) fn index_counts(&self) -> u64 {
        let budget = self.index_budget.load(Ordering::Relaxed);
        budget.min(self.index_share.load(Ordering::Relaxed))
    }

    /// Whether the index counts with its own size, as it does but for a while after the limit was lowered.
    #[inline]
    pub(crate) fn index_counts_in_full(&self) -> bool {
        self.index_share.load(Ordering::Relaxed) == IN_FULL
    }

    /// Whether the limit was lowered and the store may not be within it yet.
    #[inline]
    pub(crate) fn is_lowering(&self) -> bool {
        self.lowering.load(Ordering::Relaxed)
    }

    /// Lets the index count in full again, after a lower limit, once the segments are within that.
    pub(crate) fn count_index_in_full(&self) {
        if !self.index_counts_in_full() && self.pool.surplus() == 0 {
            self.index_share.store(IN_FULL, Ordering::Relaxed);
            self.retarget();
        }
    }

    /// Ends what a lower limit began, if the store is within it.
    fn end_lowering(&self) {
        let Some(_sizing) = self.sizing.try_lock() else { return };
        let is_in_full = self.index_counts_in_full();
        if is_in_full && self.pool.surplus() == 0 && !self.index.is_growing() {
            self.lowering.store(false, Ordering::Relaxed);
        }
    }
}

impl SegStore {
    /// Does a turn's share of the work that a lower limit needs. Returns whether it has found something to do.
    ///
    /// Passes quiescent states: nothing found before it is valid after it.
    #[cold]
    pub(crate) fn shrink(&mut self, now: Ticks) -> bool {
        let before = self.shared.pool.in_service();
        self.shared.tidy();
        // Kept items may need a segment that waits for this handle only, and memory of the index may, too.
        self.turn.quiesce();
        self.turn.enter();
        if self.shared.pool.surplus() == 0 {
            let is_moving = self.shared.index.is_growing() && self.move_homes(MOVES_PER_TURN);
            self.shared.end_lowering();
            return is_moving || self.shared.pool.in_service() < before;
        }
        if self.shared.pool.in_service() < before {
            return true;
        }
        if now < self.shrink_at {
            return false;
        }
        let has_found = self.take_more(now);
        if !has_found {
            self.shrink_at = now + PAUSE;
        }
        has_found
    }

    /// Empties segments that have to be withdrawn.
    fn take_more(&mut self, now: Ticks) -> bool {
        if self.evictor.is_idle() {
            self.compactor.remind();
        }
        // With more open segments than the new limit is for, items that fit would go because they lie apart.
        let is_spread = self.open_count() > self.open_max();
        if self.shared.evicts() && is_spread && self.seal_all() {
            return true;
        }
        if self.sweep(now, STEP) > 0 || self.compact(now, STEP) {
            return true;
        }
        // Segments in limbo may be all that is missing.
        self.shared.evicts() && self.shared.missing() > 0 && self.evict(now, STEP)
    }
}
