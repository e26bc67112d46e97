// SPDX-License-Identifier: Apache-2.0
//! Sweeping: reclaiming the memory of expired and cleared items.
//!
//! Reads check the items' own expiries and the mark of the last clear; sweeping only reclaims memory. A
//! segment is due when its last item has expired. It is claimed, its items are removed from the index
//! in bounded steps, and it is retired.

use crate::empty::{Job, Judge};
use crate::segment::State;
use crate::shared::Shared;
use crate::store::SegStore;
use crate::sync::atomic::Ordering;
use crate::tally::Count;
use clock::Ticks;
use std::ops::ControlFlow;

/// How many items may be visited for each that is freed. Items that are dead already, because they
/// were overwritten or deleted, take almost no time.
const VISITS_PER_ITEM: usize = 16;

/// What a handle is sweeping.
#[derive(Debug, Default)]
pub(crate) struct Sweeper {
    job: Option<Job>,
    /// An item of the segment is live and could not be moved.
    is_stuck: bool,
    /// Where the search for due segments goes on, and that for lone ones.
    from: usize,
    lone: u32,
}

impl Sweeper {
    /// Whether a segment is half swept.
    pub(crate) fn is_busy(&self) -> bool {
        self.job.is_some()
    }
}

/// A search for segments that are due, or that hold cleared items only.
struct Search {
    now_ms: u64,
    cleared_before: u64,
    /// There are cleared items elsewhere.
    has_cleared: bool,
}

impl Search {
    /// Looks at a segment and claims it if it is due or cleared: then it breaks. Else it returns when to look again.
    fn look(&mut self, shared: &Shared, number: u32) -> ControlFlow<(), u64> {
        let segment = shared.pool.segment(number);
        let (state, due_ms) = (segment.state(), segment.due_ms());
        let is_cleared = segment.birth() < self.cleared_before;
        let is_in_use = matches!(state, State::Open | State::Sealed | State::Claimed);
        let is_over = state == State::Sealed && (due_ms <= self.now_ms || is_cleared);
        if is_over && shared.pool.claim(number) {
            return ControlFlow::Break(());
        }
        // In limbo, a reader that has found an item in it may be about to check the mark.
        if is_cleared && (is_in_use || state == State::Limbo) {
            self.has_cleared = true;
            return ControlFlow::Continue(0);
        }
        let is_known = is_in_use && state != State::Claimed && due_ms != 0;
        ControlFlow::Continue(if is_known { due_ms } else { u64::MAX })
    }
}

impl SegStore {
    /// Reclaims segments that are due or cleared, freeing at most `budget` items. Returns how many
    /// it freed.
    pub(crate) fn sweep(&mut self, now: Ticks, budget: usize) -> usize {
        let (mut visits, mut freed) = (budget.saturating_mul(VISITS_PER_ITEM), 0);
        while freed < budget && visits > 0 {
            let job = self.sweeper.job.take().or_else(|| self.evicted_due(now));
            let Some(mut job) = job.or_else(|| self.next_due(now)) else { break };
            // No item of such a segment was live when it was claimed. Since then a handle whose clock is
            // a little behind may have touched one in place: that item moves, or the segment stays.
            let tier = self.shared.pool.segment(job.segment).tier();
            let step = visits.min(budget - freed);
            let mut stuck = std::mem::take(&mut self.sweeper.is_stuck);
            let mut judge = Judge::Move { tier, keeps_versions: true, is_stuck: &mut stuck };
            let progress = self.empty(&mut job, step, now, &mut judge);
            visits -= progress.looked_at;
            freed += progress.freed;
            if !progress.is_done {
                self.sweeper.job = Some(job);
                self.sweeper.is_stuck = stuck;
                continue;
            }
            if stuck {
                self.unclaim(job.segment);
                continue;
            }
            self.shared.pool.retire(job.segment, &self.shared.epochs);
            self.tally.add(Count::SegmentsExpired, 1);
        }
        freed
    }

    /// Takes over the segment that this handle was evicting from, if it is due or cleared by now.
    fn evicted_due(&mut self, now: Ticks) -> Option<Job> {
        let segment = self.shared.pool.segment(self.evictor.segment()?);
        let is_cleared = segment.birth() < self.shared.cleared_before();
        let is_over = segment.due_ms() <= now.as_millis() || is_cleared;
        is_over.then(|| self.evictor.take_job()).flatten()
    }

    /// Claims a segment that is due, or that holds cleared items only.
    fn next_due(&mut self, now: Ticks) -> Option<Job> {
        let (shared, now_ms) = (&*self.shared, now.as_millis());
        let cleared_before = shared.cleared_before();
        if shared.next_due_ms.load(Ordering::Acquire) > now_ms && cleared_before == 0 {
            return None;
        }
        // A handle that opens a segment from here on lowers it again. The search sees the segments of those that
        // have lowered it before.
        shared.next_due_ms.swap(u64::MAX, Ordering::SeqCst);
        let mut search = Search { now_ms, cleared_before, has_cleared: false };
        let mut soonest = u64::MAX;
        let len = shared.pool.len();
        for step in 0..len {
            let at = (self.sweeper.from + step) % len;
            let number = shared.pool.number(at);
            match search.look(shared, number) {
                ControlFlow::Break(()) => {
                    self.sweeper.from = at + 1;
                    return Some(shared.begin_sweep(number));
                }
                ControlFlow::Continue(0) => {}
                ControlFlow::Continue(due_ms) => soonest = soonest.min(due_ms),
            }
        }
        let mut found = None;
        let lone = shared.lone_due(self.sweeper.lone, now_ms, |number| {
            let looked = search.look(shared, number);
            if looked.is_break() {
                found = Some(number);
            }
            looked
        });
        if let Some(number) = found {
            self.sweeper.lone = number;
            return Some(shared.begin_sweep(number));
        }
        shared.next_due_ms.fetch_min(soonest.min(lone), Ordering::SeqCst);
        // A search from before the clear may have been looking at lone segments meanwhile.
        if cleared_before != 0
            && !search.has_cleared
            && !shared.has_lone_from_before(cleared_before)
        {
            shared.forget_clear(cleared_before);
        }
        None
    }

    /// Gives a claimed segment back, and counts it if all its items have gone meanwhile.
    pub(crate) fn unclaim(&self, number: u32) {
        self.count_freed(self.shared.unclaim(number));
    }

    /// Gives unfinished work back, for other handles to find.
    pub(crate) fn release_claims(&mut self) {
        self.sweeper.is_stuck = false;
        for job in self.sweeper.job.take().into_iter().chain(self.evictor.take_job()) {
            self.unclaim(job.segment);
        }
    }
}

impl Shared {
    /// Whether no segment will be due by then, and none holds items from before a clear.
    pub(crate) fn is_nothing_due(&self, then: Ticks) -> bool {
        self.next_due_ms.load(Ordering::Acquire) > then.as_millis() && self.cleared_before() == 0
    }

    /// Begins to empty a segment that a search has claimed. There may be others.
    fn begin_sweep(&self, number: u32) -> Job {
        self.next_due_ms.store(0, Ordering::SeqCst);
        Job::new(number, self.pool.segment(number).written())
    }

    /// Gives a claimed segment back. A search for due segments has not seen it meanwhile, and whoever removed its last item
    /// has not freed it. Returns what [`free_dead`](Shared::free_dead) does.
    #[must_use = "a segment that was freed is counted"]
    fn unclaim(&self, number: u32) -> Option<u32> {
        let due_ms = self.pool.segment(number).due_ms();
        self.pool.unclaim(number);
        self.note_due(number, due_ms);
        self.free_dead(number)
    }
}

#[cfg(test)]
mod tests {
    use clock::Ticks;
    use std::time::Duration;
    use storage::{Put, Store};

    #[test]
    fn what_was_claimed_during_a_search_is_swept_when_it_is_given_back() {
        let builder = crate::SegStore::builder().memory(1 << 20);
        let mut store = builder.build().expect("the options are possible");
        let (end, later) = (Ticks::from_millis(2_000), Ticks::from_millis(3_000));
        let put = Put::new(b"key", b"value").expiry(storage::Expiry::at(end));
        store.put(put, Ticks::from_millis(1)).expect("it fits");
        store.seal_all();
        let segments = store.shared.pool.segments();
        let number = segments.iter().position(|segment| segment.live_items() == 1);
        let number = number.expect("it is somewhere") as u32;
        assert!(store.shared.pool.claim(number));
        assert_eq!(store.expire(later, 10), 0);
        store.unclaim(number);
        assert_eq!(store.expire(later, 10), 1);
    }

    #[test]
    fn a_clear_is_remembered_while_a_reader_may_hold_what_it_found_before() {
        let now = Ticks::from_millis(1);
        let builder = crate::SegStore::builder().memory(1 << 20).value_max(1 << 10).workers(2);
        let mut worker = builder.build().expect("the options are possible");
        let mut reader = worker.clone();
        worker.put(Put::new(b"key", b"value"), now).expect("it fits");
        assert!(reader.get(b"key", now).is_some(), "and the reader is in its turn from here on");
        worker.clear();
        for _ in 0..10 {
            worker.expire(now, 10);
        }
        assert_eq!(worker.stats().items, 0);
        assert_ne!(worker.shared.cleared_before(), 0, "the item's memory is as it was");
        reader.rest();
        for _ in 0..10 {
            worker.expire(now, 10);
        }
        assert_eq!(worker.shared.cleared_before(), 0);
    }

    #[test]
    fn there_is_nothing_to_do_until_a_segment_is_due_or_the_store_is_cleared() {
        let nap = Duration::from_secs(1);
        let at = Ticks::from_millis;
        let builder = crate::SegStore::builder().memory(1 << 20);
        let mut store = builder.build().expect("the options are possible");
        let expire = |store: &mut crate::SegStore, now| {
            for _ in 0..10 {
                store.expire(now, 10);
            }
        };
        expire(&mut store, at(1));
        assert!(store.may_nap(at(1), nap));
        store.put(Put::new(b"lasting", b"value"), at(1)).expect("it fits");
        expire(&mut store, at(1));
        assert!(store.may_nap(at(1), nap));
        let put = Put::new(b"key", b"value").expiry(storage::Expiry::at(at(60_000)));
        store.put(put, at(1)).expect("it fits");
        expire(&mut store, at(1));
        assert!(store.may_nap(at(1), nap));
        assert!(!store.may_nap(at(59_500), nap), "it will be due");
        assert!(!store.may_nap(at(60_000), nap), "it is due");
        expire(&mut store, at(60_000));
        assert_eq!(store.stats().items, 1);
        assert!(store.may_nap(at(60_000), nap));
        store.clear();
        assert!(!store.may_nap(at(60_000), nap));
        expire(&mut store, at(60_000));
        assert!(store.may_nap(at(60_000), nap));
    }
}
