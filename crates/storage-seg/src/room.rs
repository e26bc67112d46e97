// SPDX-License-Identifier: Apache-2.0
//! Making room: each write empties a few items of a segment, before room runs out, so that no write
//! pays for a whole segment. A write waits only when free segments are used up faster than that.

use crate::capacity::{MOVES_PER_TURN, MOVES_PER_WRITE};
use crate::class::Class;
use crate::compact::COMPACT_STEP;
use crate::empty::{Job, Judge};
use crate::heap::FIRST_OFFSET;
use crate::index::{Keys, Location};
use crate::order::NEW;
use crate::place::Spot;
use crate::pool::Row;
use crate::segment::State;
use crate::shared::Shared;
use crate::store::SegStore;
use crate::sync::atomic::Ordering;
use crate::sync::pause;
use crate::tally::Count;
use clock::Ticks;
use std::time::{Duration, Instant};
use storage::StoreError;

/// Items examined per write while segments are missing from the reserve. An item that is written costs three to four
/// that are examined; with many more than those, room is there before a write has to wait for it, and many at a time
/// cost less each.
const STEP: usize = 32;

/// As many more for each missing segment.
const STEP_PER_SEGMENT: usize = 4;

/// The most items examined per write or turn, however many segments are missing, and per step of a
/// write that has to wait.
const STEP_MAX: usize = 256;

/// Writes of a handle between two checks of the index's load.
const WRITES_PER_TEND: u32 = 64;

/// Turns between two such checks where nothing is written.
const TURNS_PER_TEND: u32 = 8;

/// How long a write waits for other handles to pass a quiescent state. It is much more than any turn
/// of an event loop takes: a longer wait means that some handle neither works nor rests.
const PATIENCE: Duration = Duration::from_secs(1);

/// The same while drafts and pinned values have much of the memory. What is missing may come back only with them, and their
/// clients may be served by the thread that waits.
const PATIENCE_WITH_CLIENTS: Duration = Duration::from_millis(20);

/// After waits that were in vain the next one is shorter where no segment is about to be free, by this power of two for each
/// that was and has not been made up for.
const IN_VAIN_SHIFT: u32 = 3;

impl SegStore {
    /// Empties some items, if fewer segments than the reserve are free or soon will be.
    ///
    /// Passes quiescent states: nothing found before it is valid after it.
    #[inline]
    pub(crate) fn keep_ahead(&mut self, now: Ticks) {
        if self.shared.pool.surplus() > 0 {
            self.shared.tidy();
        }
        let missing = self.shared.missing();
        let is_short = missing > 0 && self.shared.evicts();
        if !is_short && !self.compactor.is_due() {
            return;
        }
        // Kept items may need a segment that waits for this handle only.
        self.turn.quiesce();
        self.turn.enter();
        if is_short {
            let segments = (missing as usize).div_ceil(self.shared.pool.grains());
            let step = (STEP + STEP_PER_SEGMENT * segments).min(STEP_MAX);
            if self.evictor.is_at_round(self.shared.pool.grains()) {
                // Items may have died since nothing was found to compact.
                self.compactor.remind();
            }
            // Expired items are removed before unexpired ones, and dead bytes are reclaimed before
            // live items are evicted.
            if self.sweep(now, step) == 0 && !self.compact(now, step) {
                self.evict(now, step);
            }
        } else {
            self.compact(now, COMPACT_STEP);
        }
    }

    /// Empties segments until this many grains are free for new items.
    ///
    /// Passes quiescent states: nothing found before it is valid after it.
    #[cold]
    pub(crate) fn make_room(&mut self, count: usize, now: Ticks) -> Result<(), StoreError> {
        self.make_room_within(usize::MAX, count, now)
    }

    /// The same in so many steps at the most, each of which empties a large item's segment or looks at [`STEP_MAX`] items.
    #[cold]
    pub(crate) fn make_room_within(
        &mut self,
        steps: usize,
        count: usize,
        now: Ticks,
    ) -> Result<(), StoreError> {
        self.compactor.remind();
        self.compactor.await_room(true);
        let made = self.await_room(steps, count, now);
        self.compactor.await_room(false);
        if made.is_ok() {
            self.vain_waits = self.vain_waits.saturating_sub(1);
        }
        made
    }

    fn await_room(&mut self, mut steps: usize, count: usize, now: Ticks) -> Result<(), StoreError> {
        let mut waiting = Waiting::after(self.vain_waits, &self.shared);
        loop {
            steps = steps.checked_sub(1).ok_or(StoreError::OutOfMemory)?;
            self.turn.quiesce();
            self.turn.enter();
            self.shared.tidy();
            if self.shared.pool.free() >= self.shared.spare() + count {
                return Ok(());
            }
            let swept = self.sweep(now, STEP_MAX) > 0;
            if self.compact(now, STEP_MAX) || swept {
                continue;
            }
            // Another handle may be in the middle of an operation, on a thread that has lost its CPU. What waits for
            // it would not be free any sooner if more items went.
            if !self.shared.is_room_coming(count) && self.evict(now, STEP_MAX) {
                continue;
            }
            if self.shared.pool.waiting() == 0 {
                let evicts = self.shared.evicts();
                if evicts && self.seal_all() {
                    continue;
                }
                // Other handles have the rest of the segments. Those that were claimed or open a
                // moment ago may be free or sealed at the next look.
                let is_alone = self.shared.settings.exclusive || !evicts;
                if is_alone && !self.shared.has_claims() || self.shared.is_out_of_reach(count) {
                    return Err(StoreError::OutOfMemory);
                }
            }
            let is_coming = self.shared.pool.waiting() > 0;
            if waiting.pause_for(is_coming, &self.tally).is_err() {
                self.vain_waits = self.vain_waits.saturating_add(1);
                return Err(StoreError::OutOfMemory);
            }
        }
    }

    /// Room for an item larger than a wide segment: a row of segments that is emptied and made one.
    #[cold]
    pub(crate) fn row(&mut self, len: usize, class: Class, now: Ticks) -> Result<Spot, StoreError> {
        let count = (len + FIRST_OFFSET as usize).div_ceil(self.shared.heap.segment_bytes());
        // The row is exchanged for other segments. That there are too many already, since the limit was lowered,
        // is not this write's to mend.
        let surplus = self.shared.pool.surplus();
        let row = self.claim_row(count)?;
        for &number in &row.occupied {
            let mut job = Job::new(number, self.shared.pool.segment(number).written());
            self.empty(&mut job, usize::MAX, now, &mut Judge::Drop);
            self.count_eviction(number, now);
        }
        // Free segments are not being read; the others wait until every handle has passed a
        // quiescent state.
        let epoch = self.shared.epochs.retire();
        let mut waiting = Waiting::new(&self.shared);
        loop {
            self.turn.quiesce();
            self.turn.enter();
            let shared = &*self.shared;
            if shared.pool.in_service() > shared.pool.target() + surplus {
                // Withdrawn segments in the row are swapped for others: for free ones, while there are.
                if self.withdraw() || self.evict(now, STEP_MAX) && self.withdraw() {
                    continue;
                }
                let shared = &*self.shared;
                if !shared.evicts() && shared.epochs.has_passed(epoch) {
                    // Nothing is evicted, so waiting would not help.
                    shared.pool.dissolve_row(&row, &shared.epochs);
                    return Err(StoreError::OutOfMemory);
                }
            } else {
                let pins = |&number: &u32| shared.pool.segment(number).pins();
                let is_pinned = row.occupied.iter().any(|number| pins(number) > 0);
                if shared.epochs.has_passed(epoch) && !is_pinned {
                    let first = shared.pool.form_span(&row, count as u32);
                    return Ok(self.alone_spot(first, NEW, class, now));
                }
            }
            if waiting.pause(&self.tally).is_err() {
                let shared = &*self.shared;
                shared.pool.dissolve_row(&row, &shared.epochs);
                return Err(StoreError::OutOfMemory);
            }
        }
    }

    /// Gives the memory of a free segment back. Returns whether there was one.
    fn withdraw(&self) -> bool {
        let shared = &*self.shared;
        let before = shared.pool.in_service();
        shared.pool.tidy(0, &shared.epochs, shared.releaser());
        shared.pool.in_service() < before
    }

    fn claim_row(&mut self, count: usize) -> Result<Row, StoreError> {
        let shared = &self.shared;
        let may_evict = shared.evicts();
        if let Some(row) = shared.pool.claim_row(count, may_evict, &shared.epochs) {
            return Ok(row);
        }
        // This handle's open and claimed segments may be in the way, and so may pins that are gone
        // by now.
        self.release_claims();
        self.seal_all();
        let mut waiting = Waiting::new(&self.shared);
        loop {
            self.turn.quiesce();
            self.turn.enter();
            let shared = &self.shared;
            // Asked first: what is let go of in between can be claimed.
            let is_held = shared.has_held();
            if let Some(row) = shared.pool.claim_row(count, may_evict, &shared.epochs) {
                return Ok(row);
            }
            if !is_held || waiting.pause(&self.tally).is_err() {
                return Err(StoreError::OutOfMemory);
            }
        }
    }

    /// Drops whatever is closest to the home of a hash, when the index has no slot for it. Returns whether it did; not
    /// where nothing is evicted.
    #[cold]
    pub(crate) fn uncrowd(&mut self, hash: u64) -> bool {
        let shared = &*self.shared;
        if !shared.evicts() {
            return false;
        }
        let Some(location) = shared.index.crowding(hash) else { return false };
        let hash = shared.hash(shared.item(&self.turn, location).key());
        if let Some(frequency) = self.take_out(hash, location, false) {
            self.dropped(location, crate::Reason::Evicted, Count::Crowded, Some(frequency));
        }
        true
    }

    /// Whether the index may need upkeep in this turn: not if nothing was written since it was looked at, but for now and then.
    #[inline]
    pub(crate) fn is_index_to_be_looked_at(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        let has_written = std::mem::replace(&mut self.tended_writes, self.writes) != self.writes;
        let is_now_and_then = self.turns.is_multiple_of(TURNS_PER_TEND);
        let shared = &*self.shared;
        has_written || is_now_and_then || shared.index.is_growing() || shared.is_lowering()
    }

    /// Upkeep of the index: continues a resize, or begins one if it is needed.
    pub(crate) fn tend_index(&mut self) {
        self.shared.tidy();
        if self.shared.index.is_growing() {
            self.move_homes(MOVES_PER_TURN);
        } else {
            self.shared.consider_growth();
        }
    }

    /// Moves homes to the index's next table. Returns whether there was something to do.
    pub(crate) fn move_homes(&self, homes: usize) -> bool {
        self.shared.migrate(homes, &mut Movers { store: self })
    }

    /// The upkeep done with each write, so that it also happens when there are many writes per
    /// turn.
    ///
    /// Passes quiescent states: nothing found before it is valid after it.
    #[inline(always)]
    pub(crate) fn upkeep(&mut self, now: Ticks) {
        if self.shared.index.is_growing() {
            self.move_homes(MOVES_PER_WRITE);
        }
        self.writes = self.writes.wrapping_add(1);
        if self.writes.is_multiple_of(WRITES_PER_TEND) {
            self.turn.quiesce();
            self.turn.enter();
            self.tend_index();
        }
        self.keep_ahead(now);
    }
}

impl Shared {
    /// Whether so many grains for new items will be free once every handle has passed a quiescent state.
    fn is_room_coming(&self, count: usize) -> bool {
        self.pool.free() + self.pool.waiting() >= self.spare() + count
    }

    /// Whether `count` free grains for new items are more than there can be with all that other handles have open, claimed
    /// or held, but for drafts, which keep their memory. It is asked when nothing is left to be emptied.
    fn is_out_of_reach(&self, count: usize) -> bool {
        let drafted = self.drafted.load(Ordering::Relaxed);
        let owned: usize = self
            .pool
            .numbers()
            .map(|number| self.pool.segment(number))
            .filter(|segment| matches!(segment.state(), State::Open | State::Claimed | State::Held))
            .map(|segment| segment.span() as usize)
            .sum();
        // Asked in the order in which segments go, so that none is missed.
        let waiting = self.pool.waiting();
        owned.saturating_sub(drafted) + waiting + self.pool.free() < self.spare() + count
    }
}

/// What the index asks about items while it changes its size.
struct Movers<'a> {
    store: &'a SegStore,
}

impl Keys for Movers<'_> {
    fn hash(&mut self, location: Location) -> u64 {
        let shared = &*self.store.shared;
        shared.hash(shared.item(&self.store.turn, location).key())
    }

    fn prefetch(&mut self, location: Location) {
        self.store.shared.heap.prefetch(location);
    }

    fn dropped(&mut self, location: Location) {
        self.store.dropped(location, crate::Reason::Evicted, Count::Crowded, None);
    }
}

/// A wait with a deadline.
struct Waiting {
    spins: u32,
    since: Option<Instant>,
    patience: Duration,
    /// The same where no segment is about to be free.
    patience_without: Duration,
}

/// The wait has reached its deadline.
struct TooLong;

impl Waiting {
    fn new(shared: &Shared) -> Self {
        let of_clients =
            shared.drafted.load(Ordering::Relaxed) + shared.pinned.load(Ordering::Relaxed);
        let have_much = of_clients > shared.pool.target() / 2;
        let patience = if have_much { PATIENCE_WITH_CLIENTS } else { PATIENCE };
        Waiting { spins: 0, since: None, patience, patience_without: patience }
    }

    /// The wait of a handle of which so many before were in vain.
    fn after(vain: u32, shared: &Shared) -> Self {
        let waiting = Waiting::new(shared);
        let shorter = 1_u32.checked_shl(vain.saturating_mul(IN_VAIN_SHIFT)).unwrap_or(u32::MAX);
        Waiting { patience_without: waiting.patience / shorter, ..waiting }
    }

    fn pause(&mut self, tally: &crate::tally::Tally) -> Result<(), TooLong> {
        self.pause_for(true, tally)
    }

    /// Pauses; `is_coming` tells whether a segment is about to be free.
    fn pause_for(&mut self, is_coming: bool, tally: &crate::tally::Tally) -> Result<(), TooLong> {
        if self.spins == 0 {
            tally.add(Count::Waits, 1);
        }
        pause(self.spins);
        self.spins = self.spins.saturating_add(1);
        let since = *self.since.get_or_insert_with(Instant::now);
        let patience = if is_coming { self.patience } else { self.patience_without };
        if since.elapsed() > patience { Err(TooLong) } else { Ok(()) }
    }
}
