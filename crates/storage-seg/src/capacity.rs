// SPDX-License-Identifier: Apache-2.0
//! How the memory limit is divided between segments, the index and reservations.
//!
//! Segments get the memory that the other two leave. Before the index grows, segments are withdrawn:
//! emptied, and their memory given back to the operating system. Then the index moves to its next
//! table, giving back the memory of the old one as it goes.

use crate::class::Class;
use crate::evict::Eviction;
use crate::heap::NewItem;
use crate::index::{Index, Keys};
use crate::segment::State;
use crate::shared::Shared;
use crate::sync::atomic::Ordering;
use crate::tally::{Count, Sums};
use clock::Ticks;
use storage::Stats;

/// The share of used slots at which the index grows when memory is full, and a new item takes the
/// place of another.
const LOAD: f64 = 0.85;

/// The same while there is memory for more items, which keep filling the index while it moves.
const LOAD_FILLING: f64 = 0.8;

/// Below this share, with all memory in use, the index is made smaller.
const LOAD_MIN: f64 = 0.45;

/// The same after the limit was lowered, until the index has a size for the new one.
const LOAD_MIN_LOWERED: f64 = 0.6;

/// The load right after a change of size, when items are as many as expected.
const LOAD_AIM: f64 = 0.8;

/// Slots of a home bucket.
const SLOTS: u64 = 8;

/// The most that the index grows in one move.
const GROWTH_MAX: f64 = 4.0;

/// Homes that move to the next table per turn.
pub(crate) const MOVES_PER_TURN: usize = 32;

/// Homes that move per write, so that those not yet moved do not overflow.
pub(crate) const MOVES_PER_WRITE: usize = 2;

/// Bytes of both tables together beyond the larger one while the index is moving.
const MOVING_BYTES: u64 = 2 << 20;

/// Home buckets of an index for this many items.
pub(crate) fn buckets_for(items: f64) -> usize {
    ((items / LOAD_AIM / SLOTS as f64).ceil() as usize).max(8)
}

/// How many segments fit into the limit beside an index of `index` bytes and `reserved` bytes.
pub(crate) fn segments_within(
    limit: u64,
    index: u64,
    reserved: u64,
    segment: u64,
    value_max: u64,
) -> usize {
    // The store keeps enough segments to work with values of any size, whatever is reserved.
    let beside_index = limit.saturating_sub(index);
    let least = (value_max + 6 * segment).max(limit / 4).min(beside_index);
    (beside_index.saturating_sub(reserved).max(least) / segment) as usize
}

impl Shared {
    /// Memory to keep free ahead of need, in grains.
    #[inline]
    pub(crate) fn reserve(&self) -> isize {
        self.reserve.load(Ordering::Relaxed) as isize
    }

    /// Recomputes how much is kept free, after the target or the amount to be moved has
    /// changed.
    pub(crate) fn reckon_reserve(&self) {
        let for_moves = self.moves_wanted();
        self.for_moves.store(for_moves, Ordering::Relaxed);
        let segment = self.pool.grains();
        let wanted = if self.settings.exclusive { 2 } else { 1 + 2 * self.workers() };
        let wanted = wanted * segment + for_moves.saturating_sub(segment) + self.lone_wanted();
        let reserve = wanted.min(self.pool.target() / 8).max(segment);
        self.reserve.store(reserve, Ordering::Relaxed);
    }

    /// What of the reserve is neither free nor about to be.
    #[inline]
    pub(crate) fn missing(&self) -> isize {
        self.reserve() - self.pool.available() - self.pool.in_limbo() as isize
    }

    /// Free memory that new items must not take. Some is for items that move when their segment
    /// is emptied. Where nothing is evicted, what is to be withdrawn counts too, since no other
    /// will become free.
    pub(crate) fn spare(&self) -> usize {
        let for_moves = self.for_moves.load(Ordering::Relaxed);
        match self.settings.eviction {
            Eviction::None => self.pool.surplus() + for_moves,
            _ => for_moves,
        }
    }

    /// Whether live items may be evicted to make room.
    pub(crate) fn evicts(&self) -> bool {
        self.settings.eviction != Eviction::None
    }

    /// How many handles there may be.
    pub(crate) fn workers(&self) -> usize {
        self.settings.workers
    }

    pub(crate) fn class_of(&self, expiry_ms: Option<u64>, now: Ticks) -> Class {
        self.classes.of(expiry_ms.map(|at| at.saturating_sub(now.as_millis())))
    }

    /// Whether a segment is being emptied, or held, and so may be free soon.
    pub(crate) fn has_claims(&self) -> bool {
        self.has_any(|state| matches!(state, State::Claimed | State::Held))
    }

    /// Whether a segment is held.
    pub(crate) fn has_held(&self) -> bool {
        self.has_any(|state| state == State::Held)
    }

    fn has_any(&self, is_such: impl Fn(State) -> bool) -> bool {
        self.pool.numbers().any(|number| is_such(self.pool.segment(number).state()))
    }

    /// Frees segments that nobody can be reading any more, and gives surplus memory back, one
    /// segment at a time.
    pub(crate) fn tidy(&self) {
        // Writes go on while segments are withdrawn, so the segments they need stay free. Where nothing is evicted,
        // these are the ones that compaction needs: without them no memory would ever come back.
        let stay = match self.settings.eviction {
            Eviction::None => self.for_moves.load(Ordering::Relaxed),
            _ => self.reserve() as usize,
        };
        self.pool.tidy(stay, &self.epochs, self.releaser());
    }

    /// Recomputes how many segments the limit has room for.
    pub(crate) fn retarget(&self) {
        self.pool.set_target(|| {
            segments_within(
                self.limit(),
                self.index_counts(),
                self.reserved.load(Ordering::Relaxed),
                self.heap.segment_bytes() as u64,
                self.settings.value_max as u64 + self.promised_to_drafts(),
            )
        });
        self.reckon_reserve();
    }

    /// Sets memory aside for the index.
    fn grant_index(&self, bytes: u64) {
        if self.index_budget.swap(bytes, Ordering::Relaxed) != bytes {
            self.retarget();
        }
    }

    /// Gives segments the memory that was set aside for a change of size, if there is none now.
    fn take_back_from_index(&self) {
        let is_granted = self.index_budget.load(Ordering::Relaxed) == self.index.bytes();
        if is_granted && self.index_counts_in_full() {
            return;
        }
        // Another thread may be about to begin a change, for which it has set memory aside.
        let Some(_sizing) = self.sizing.try_lock() else { return };
        if !self.index.is_growing() {
            self.grant_index(self.index.bytes());
            self.count_index_in_full();
        }
    }

    /// Moves the index on, if it is changing its size.
    /// Returns whether there was something to do.
    pub(crate) fn migrate(&self, homes: usize, keys: &mut impl Keys) -> bool {
        let has_moved = self.index.migrate(homes, &self.epochs, keys);
        if !self.index.is_growing() {
            self.take_back_from_index();
        }
        has_moved
    }

    /// How many items like these so many grains have room for. Dead ones, whose memory comes back, do not count.
    fn filling(&self, items: f64, grains: usize) -> f64 {
        let bytes = self.tallies.sum(Count::ItemBytes) as f64;
        let live = bytes / (grains as f64 * self.heap.grain_bytes() as f64);
        items / live.clamp(0.02, 1.0)
    }

    /// Whether the index is far too large for items like these. Looks again whenever a segment has been opened: how much
    /// is dead hardly changes before.
    fn is_index_large(&self, items: f64, grains: usize) -> bool {
        let (births, judged) = (self.births(), self.index_judged.load(Ordering::Relaxed));
        if judged >> 1 == births {
            return judged & 1 != 0;
        }
        let is_large = self.filling(items, grains) / (self.index.slots() as f64) < LOAD_MIN;
        self.index_judged.store(births << 1 | u64::from(is_large), Ordering::Relaxed);
        is_large
    }

    /// Begins to change the size of the index if it has become too full or far too large, as soon as
    /// there is memory for it.
    pub(crate) fn consider_growth(&self) {
        let items = self.tallies.sum(Count::Items) as f64;
        let load = items / self.index.slots() as f64;
        let all = self.pool.in_service().max(self.pool.target());
        let used = (all as isize - self.pool.available()) as f64 / all as f64;
        let is_large = load < LOAD_MIN && used > 0.95 && self.is_index_large(items, all);
        // Under a lower limit the index must not stay as it is because memory is to spare by now.
        let is_lowered = load < LOAD_MIN_LOWERED && !self.index_counts_in_full();
        let load_max = if used < 0.9 { LOAD_FILLING } else { LOAD };
        if load < load_max && !is_large && !is_lowered || self.index.is_final() {
            self.take_back_from_index();
            return;
        }
        let Some(_sizing) = self.sizing.try_lock() else { return };
        if self.index.is_growing() {
            return;
        }
        // The number of items when memory is full, if the bytes per item stay what they are now.
        let expected = (items / used.clamp(0.02, 1.0)).min(items * GROWTH_MAX);
        // A full store goes on gaining items if they become smaller, and how many is not known. So an
        // index that is small relative to the memory grows in large steps, and a large one in small
        // steps.
        let step = self.limit() as f64 / 100.0 / self.index.bytes() as f64;
        let more = items * (1.0 + step).clamp(1.04, GROWTH_MAX);
        let aim = if is_large {
            self.filling(items, all) * 1.2
        } else if is_lowered {
            expected * 1.2
        } else {
            expected.max(more)
        };
        let buckets = buckets_for(aim);
        // The size of both tables, or of the larger one and the memory that waits to be given back.
        let (present, next) = (self.index.bytes(), Index::bytes_of(buckets));
        self.grant_index((present + next).min(present.max(next) + MOVING_BYTES));
        if self.pool.counts().surplus > 0 {
            // Evictions come first; the caller is back soon.
            return;
        }
        match self.index.grow(buckets) {
            Ok(true) => {}
            // It has that size.
            Ok(false) => self.count_index_in_full(),
            Err(error) => {
                log::warn!("the index cannot change its size: {error}");
                self.count_index_in_full();
            }
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        let sums = self.tallies.sums();
        let grain = self.heap.grain_bytes() as u64;
        let (index_bytes, used) = {
            // While it is held, segments do not take what the index gives back, nor does the index
            // begin to take what they gave back.
            let _sizing = self.sizing.lock();
            let index_bytes = self.index.bytes();
            let memory = self.pool.counts();
            (index_bytes, (memory.in_service - memory.free) as u64)
        };
        let mut stats = Stats::default();
        stats.items = sums.get(Count::Items);
        stats.cleared = self.cleared().min(stats.items);
        stats.item_bytes = sums.get(Count::ItemBytes);
        let own = used * grain + index_bytes;
        let left = self.limit().saturating_sub(own);
        stats.used_bytes = own + self.reserved.load(Ordering::Relaxed).min(left);
        stats.limit_bytes = self.limit();
        stats.index_slots = self.index.slots() as u64;
        stats.index_bytes = index_bytes;
        stats.stored = sums.get(Count::Stored);
        stats.evicted = evicted(&sums);
        stats.expired = sums.get(Count::Expired);
        stats.evicted_unread = sums.get(Count::EvictedUnread);
        stats.evicted_active = sums.get(Count::EvictedActive);
        stats.expired_unread = sums.get(Count::ExpiredUnread);
        stats.read_expired = sums.get(Count::ReadExpired);
        stats.read_cleared = sums.get(Count::ReadCleared);
        stats.index_is_moving = self.index.is_growing();
        stats.free_pages = (self.pool.free() / self.pool.grains()) as u64;
        stats.waited = sums.get(Count::Waits);
        stats
    }

    /// The most bytes that the item takes in any segment.
    pub(crate) fn len_of(&self, item: &NewItem<'_>) -> usize {
        self.heap.len_of(item)
    }
}

/// Items evicted to make room, in a segment or in the index.
fn evicted(sums: &Sums) -> u64 {
    sums.get(Count::Evicted) + sums.get(Count::Crowded)
}
