// SPDX-License-Identifier: Apache-2.0
//! Eviction: which segment is emptied next, and which of its items stay.
//!
//! A policy makes two decisions. It chooses a sealed segment (`choose.rs`), and decides for each live
//! item in it whether the item is dropped or copied to a segment of kept items (`fate.rs`). It uses only
//! a segment's counts, the order of sealing, an item's size and the frequency in its slot
//! (`frequency.rs`). The emptying itself goes in steps of a few items.
//!
//! `scored` gives new items a share of the memory. It chooses the share (`trial.rs`, `contest.rs`) by small
//! simulations of the store (`miniature.rs`) with a sample of the requests (`sample.rs`).

mod choose;
mod contest;
mod fate;
mod frequency;
mod guess;
mod miniature;
mod policy;
mod sample;
mod trial;

pub(crate) use fate::{LESSON_BYTES, Lessons, Plan};
pub(crate) use frequency::{Lesson, as_read_as, is_read, is_used};
pub use policy::{Eviction, UnknownEviction};
pub(crate) use sample::{Deed, Sampler};
pub(crate) use trial::Trials;

use crate::empty::{Candidate, Fate, Job, Judge};
use crate::order::KEPT;
use crate::store::SegStore;
use clock::Ticks;

/// Items alone in their segment that may be kept in a row before one has to be dropped.
const PASSED_OVER_MAX: usize = 4;

/// What a handle is evicting.
#[derive(Debug, Default)]
pub(crate) struct Evictor {
    current: Option<(Job, Plan)>,
    /// Segments to follow in a group of several that are merged.
    group: choose::Group,
    /// The memory of lone segments, in grains, that was evicted since dead items were looked for.
    lone: usize,
}

impl Evictor {
    /// Whether no segment is being evicted.
    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// Whether dead items should be looked for before the next eviction: before each of a segment of `grains`, and not before
    /// each lone segment, which may have much less memory.
    pub(crate) fn is_at_round(&self, grains: usize) -> bool {
        self.is_idle() && (self.lone == 0 || self.lone >= grains)
    }

    /// The segment that is being evicted.
    pub(crate) fn segment(&self) -> Option<u32> {
        self.current.as_ref().map(|(job, _)| job.segment)
    }

    /// The unfinished work, to be given back.
    pub(crate) fn take_job(&mut self) -> Option<Job> {
        self.current.take().map(|(job, _)| job)
    }
}

impl SegStore {
    /// Continues eviction, examining at most `budget` items. Returns whether it did something.
    pub(crate) fn evict(&mut self, now: Ticks, budget: usize) -> bool {
        let begun = self.evictor.current.take().or_else(|| self.begin_eviction());
        let Some((mut job, mut plan)) = begun else { return false };
        let progress = self.empty(&mut job, budget, now, &mut Judge::Plan(&mut plan));
        let shared = &*self.shared;
        plan.learn(&shared.settings.eviction, &shared.lessons, progress.is_done);
        if progress.is_done {
            self.count_eviction(job.segment, now);
            shared.pool.retire(job.segment, &shared.epochs);
        } else {
            self.evictor.current = Some((job, plan));
        }
        true
    }

    /// Claims the next segment to be emptied.
    fn begin_eviction(&mut self) -> Option<(Job, Plan)> {
        let shared = &*self.shared;
        let policy = &shared.settings.eviction;
        let grains = shared.pool.grains();
        let total = (shared.pool.total() * grains, shared.trials.new_share());
        if self.evictor.lone >= grains {
            self.evictor.lone = 0;
        }
        for passed_over in 0..=PASSED_OVER_MAX {
            let segments = shared.pool.segments();
            let (group, lesson) = (&mut self.evictor.group, &self.lesson);
            let number = shared
                .pool
                .claim_by(|order| choose::next(policy, order, segments, total, group, lesson))?;
            let segment = shared.pool.segment(number);
            let plan = Plan::new(segment.tier(), &shared.lessons);
            let job = Job::new(number, segment.written());
            let is_alone = segment.has_one_large(grains as u32);
            if !is_alone || passed_over == PASSED_OVER_MAX || !self.stays(&job, plan) {
                let is_lone = shared.pool.is_lone(number);
                self.evictor.lone =
                    if is_lone { self.evictor.lone + segment.span() as usize } else { 0 };
                // To copy an item that is alone would gain nothing.
                return Some((job, if is_alone { plan.dropping() } else { plan }));
            }
            // A large item that is alone stays where it is.
            segment.set_tier(KEPT);
            self.unclaim(number);
        }
        None
    }

    /// Whether the only item of a large segment is worth keeping. Its frequency decays like that of
    /// any item.
    fn stays(&self, job: &Job, mut plan: Plan) -> bool {
        let shared = &*self.shared;
        let location = shared.heap.location(job.segment, crate::heap::FIRST_OFFSET);
        let item = shared.item(&self.turn, location);
        let hash = shared.hash(item.key());
        let Some(entry) = shared.index.find(hash, |at| at == location) else { return false };
        let candidate = Candidate { frequency: entry.frequency(), len: item.len() as u32 };
        match plan.decide(&shared.settings.eviction, candidate) {
            Fate::Keep { frequency, .. } => {
                plan.learn(&shared.settings.eviction, &shared.lessons, true);
                entry.set_frequency(frequency);
                true
            }
            Fate::Drop { .. } => false,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::tally::Count;
    use storage::{Put, Store};

    /// Not `s3fifo`, which keeps all that was used: here that is everything.
    const NAMES: [&str; 7] = ["scored", "merge", "fifo", "random", "random-fifo", "cte", "util"];

    /// Also when new items are so much smaller than the present ones that all of them would be kept,
    /// and the index has to grow for them.
    #[test]
    fn no_write_looks_at_more_than_a_few_items_when_sizes_change() {
        for name in NAMES {
            let eviction = name.parse().expect("it is a policy");
            let builder = SegStore::builder().memory(16 << 20).segment_bytes(512 << 10);
            let mut store = builder.eviction(eviction).build().expect("the options are possible");
            let (large, small) = (vec![1; 2_000], vec![1; 8]);
            for key in 0..200_000_u64 {
                let before = store.tally.get(Count::Examined as usize);
                let (name_of, value) =
                    (key.to_le_bytes(), if key < 20_000 { &large } else { &small });
                store.put(Put::new(&name_of, value), Ticks::ZERO).expect("others can go");
                store.get(&name_of, Ticks::ZERO);
                let looked_at = store.tally.get(Count::Examined as usize) - before;
                assert!(looked_at <= 600, "{name}: {looked_at} items for key {key}");
            }
        }
    }
}
