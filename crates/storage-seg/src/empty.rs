// SPDX-License-Identifier: Apache-2.0
//! Emptying a segment: its items are visited in order, in steps of any size, and each is dropped or
//! moved elsewhere. Sweeping, evicting and compacting differ in how they decide.

use crate::Reason;
use crate::evict::{Eviction, Plan};
use crate::heap::{FIRST_OFFSET, ItemRef};
use crate::index::Location;
use crate::order::NEW;
use crate::place::Stream;
use crate::segment::State;
use crate::store::SegStore;
use crate::tally::Count;
use crate::victims::Why;
use arrayvec::ArrayVec;
use clock::Ticks;

/// A claimed segment and how far it has been emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) segment: u32,
    at: u32,
    end: u32,
}

/// What becomes of a live item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It moves to a segment of this tier, with this frequency.
    Keep { tier: u8, frequency: u8 },
    /// It is dropped. Its slot may keep the frequency for a while, as a ghost.
    Drop { remember: bool },
}

/// A live item to be kept or dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) frequency: u8,
    /// Its bytes in the segment.
    pub(crate) len: u32,
}

/// How it is decided which items stay.
#[derive(Debug)]
pub(crate) enum Judge<'a> {
    /// Every item is dropped.
    Drop,
    /// An eviction's plan.
    Plan(&'a mut Plan),
    /// Every item moves to this tier. If there is no room for one, it stays where it is and `is_stuck`
    /// is set. Either items keep their versions, or no item grows by storing one.
    Move { tier: u8, keeps_versions: bool, is_stuck: &'a mut bool },
}

impl Judge<'_> {
    /// The most bytes that a step looks at.
    fn bytes_max(&self) -> usize {
        if matches!(self, Judge::Drop) { usize::MAX } else { STEP_BYTES }
    }

    fn decide(&mut self, eviction: &Eviction, candidate: Candidate) -> Fate {
        match self {
            Judge::Drop => Fate::Drop { remember: false },
            Judge::Plan(plan) => plan.decide(eviction, candidate),
            Judge::Move { tier, .. } => Fate::Keep { tier: *tier, frequency: candidate.frequency },
        }
    }

    /// The reason for which items are dropped.
    fn why(&self) -> Why {
        match self {
            Judge::Plan(_) => Why::Needed,
            Judge::Drop | Judge::Move { .. } => Why::Displaced,
        }
    }
}

/// The outcome of moving an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    /// The item was moved, and takes this many bytes in its new place.
    Elsewhere(usize),
    /// Somebody else has replaced or removed it meanwhile, or it was cleared.
    Gone,
    NoRoom,
}

/// What a step has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Items looked at, dead ones included.
    pub(crate) looked_at: usize,
    /// Bytes of the items that may be live.
    bytes: usize,
    /// Expired and cleared items that were removed.
    pub(crate) freed: usize,
    /// Nothing is left in the segment.
    pub(crate) is_done: bool,
}

/// Items whose slots are prefetched before the first of them is needed.
const AHEAD: usize = 16;

/// How many bytes ahead of the walk items are prefetched: the head of an item, which tells where the next one is, is not
/// read before the memory is there.
const FURTHER: u32 = 1024;

/// Bytes of live items after which a step ends, where they may have to be copied. The last item may
/// exceed it.
const STEP_BYTES: usize = 256 << 10;

/// An item of a segment that is being emptied.
struct Next {
    location: Location,
    hash: u64,
    len: u32,
}

impl Job {
    /// Begins with a segment that the caller has claimed.
    pub(crate) fn new(segment: u32, written: u32) -> Self {
        Job { segment, at: FIRST_OFFSET, end: written }
    }
}

impl SegStore {
    /// Continues a job, visiting at most `budget` items, and at most as many bytes as may be copied at a
    /// time.
    pub(crate) fn empty(
        &mut self,
        job: &mut Job,
        budget: usize,
        now: Ticks,
        judge: &mut Judge<'_>,
    ) -> Progress {
        let mut progress = Progress::default();
        self.check_job(job);
        let bytes = judge.bytes_max();
        while job.at < job.end && progress.looked_at < budget && progress.bytes < bytes {
            let batch = self.look_ahead(job, &mut progress, (budget, bytes));
            for next in &batch {
                progress.freed += usize::from(self.decide_one(next, now, judge));
            }
        }
        progress.is_done = job.at >= job.end;
        self.check_job(job);
        progress
    }

    /// Panics, with debug assertions, unless the segment of a job is claimed, no more was written to it
    /// since, and the walk is within what was written.
    #[inline]
    fn check_job(&self, job: &Job) {
        if !cfg!(debug_assertions) {
            return;
        }
        let segment = self.shared.pool.segment(job.segment);
        assert_eq!(segment.state(), State::Claimed, "INV-OWNER: {job:?}");
        assert_eq!(segment.written(), job.end, "INV-OWNER: {job:?}");
        assert!(job.at <= job.end, "INV-INSIDE: {job:?} is behind the last item");
    }

    /// Walks over the next items and prefetches the slots of those that may be live.
    fn look_ahead(
        &self,
        job: &mut Job,
        progress: &mut Progress,
        (budget, bytes): (usize, usize),
    ) -> ArrayVec<Next, AHEAD> {
        let shared = &*self.shared;
        let mut batch = ArrayVec::new();
        while job.at < job.end
            && progress.looked_at < budget
            && progress.bytes < bytes
            && !batch.is_full()
        {
            let location = shared.heap.location(job.segment, job.at);
            let item = shared.item(&self.turn, location);
            let len = item.len() as u32;
            let further = (job.at + FURTHER).min(job.end);
            shared.heap.prefetch_bytes(shared.heap.location(job.segment, further), len as usize);
            job.at += len;
            progress.looked_at += 1;
            if !item.is_dead() {
                let hash = shared.hash(item.key());
                shared.index.prefetch(hash);
                batch.push(Next { location, hash, len });
                progress.bytes += len as usize;
            }
        }
        batch
    }

    /// Decides on one item. Returns whether it had expired or was cleared.
    fn decide_one(&mut self, next: &Next, now: Ticks, judge: &mut Judge<'_>) -> bool {
        let &Next { location, hash, len } = next;
        let shared = &*self.shared;
        let Some(entry) = shared.index.find(hash, |at| at == location) else { return false };
        let frequency = entry.frequency();
        let item = shared.item(&self.turn, location);
        if !shared.is_live(&item, location, now)
            && let Some(is_freed) = self.bury(hash, location, now)
        {
            return is_freed;
        }
        if !matches!(judge, Judge::Move { .. }) {
            self.tally.add(Count::Examined, 1);
            self.tally.add(Count::ExaminedBytes, u64::from(len));
        }
        match judge.decide(&shared.settings.eviction, Candidate { frequency, len }) {
            Fate::Keep { tier, frequency } => self.keep(next, (tier, frequency), now, judge),
            Fate::Drop { remember } => {
                self.drop_item(hash, location, remember, (judge.why(), now));
            }
        }
        false
    }

    /// Moves an item to a tier, with a frequency.
    fn keep(&mut self, next: &Next, fate: (u8, u8), now: Ticks, judge: &mut Judge<'_>) {
        let &Next { location, hash, .. } = next;
        let item = self.shared.item(&self.turn, location);
        // A client that compares versions must retry when an eviction drops the item anyway, so an
        // eviction may change the version. With memory to spare the version is kept and nobody has
        // to retry.
        let version = match judge {
            Judge::Move { keeps_versions: true, .. } => Some(self.shared.version(&item, location)),
            _ => item.version(),
        };
        let (tier, frequency) = fate;
        let stream = match judge {
            Judge::Move { tier: NEW, .. } => Stream::Settled,
            _ => Stream::of_tier(tier),
        };
        match (self.relocate(next, (stream, frequency), version, now), judge) {
            (Moved::Elsewhere(bytes), Judge::Move { .. }) => {
                self.tally.add(Count::Compacted, 1);
                self.tally.add(Count::CompactedBytes, bytes as u64);
            }
            (Moved::Elsewhere(bytes), _) => {
                self.tally.add(Count::Kept, 1);
                self.tally.add(Count::KeptBytes, bytes as u64);
            }
            (Moved::Gone, _) => {}
            (Moved::NoRoom, Judge::Move { is_stuck, .. }) => **is_stuck = true,
            (Moved::NoRoom, _) => self.drop_item(hash, location, false, (Why::Squeezed, now)),
        }
    }

    /// Removes an item that was found expired or cleared from the index. Returns whether it was still there; `None` if
    /// it is live, because a handle whose clock is a little behind has touched it meanwhile.
    pub(crate) fn bury(&self, hash: u64, location: Location, now: Ticks) -> Option<bool> {
        let shared = &*self.shared;
        let home = shared.index.lock(hash);
        let Some(entry) = home.find_location(location) else { return Some(false) };
        // Under the lock, without which nobody touches it.
        if shared.is_live(&shared.item(&self.turn, location), location, now) {
            return None;
        }
        let frequency = entry.frequency();
        home.remove(&entry, false);
        drop(home);
        if shared.segment_of(location).birth() < shared.cleared_before() {
            self.count_out(location, Count::Cleared);
        } else {
            self.dropped(location, Reason::Expired, Count::Expired, Some(frequency));
        }
        Some(true)
    }

    fn drop_item(
        &mut self,
        hash: u64,
        location: Location,
        remember: bool,
        (why, now): (Why, Ticks),
    ) {
        if let Some(frequency) = self.take_out(hash, location, remember) {
            self.count_victim(location, why, now);
            self.dropped(location, Reason::Evicted, Count::Evicted, Some(frequency));
        }
    }

    /// Removes the item at exactly this location from the index. Returns the frequency that its slot had, if it
    /// was there.
    pub(crate) fn take_out(&self, hash: u64, location: Location, remember: bool) -> Option<u8> {
        let home = self.shared.index.lock(hash);
        let entry = home.find_location(location)?;
        let frequency = entry.frequency();
        home.remove(&entry, remember);
        Some(frequency)
    }

    /// Copies an item into another segment and points its slot there.
    fn relocate(
        &mut self,
        next: &Next,
        (stream, frequency): (Stream, u8),
        version: Option<u64>,
        now: Ticks,
    ) -> Moved {
        let &Next { location, hash, .. } = next;
        let (len, expiry_ms) = {
            let shared = &*self.shared;
            let item = shared.item(&self.turn, location);
            let expiry_ms = item.expiry_ms(shared.segment_of(location).base_ms());
            (shared.len_of(&item.renewed(expiry_ms, version)), expiry_ms)
        };
        let class = self.shared.class_of(expiry_ms, now);
        let Ok(spot) = self.place_kept(stream, class, len, now) else { return Moved::NoRoom };
        let shared = &*self.shared;
        let home = shared.index.lock(hash);
        let Some(entry) = home.find_location(location) else {
            drop(home);
            self.abandon(spot);
            return Moved::Gone;
        };
        if shared.segment_of(location).birth() < shared.cleared_before() {
            // The item was cleared since it was found alive. The segment of the copy may have been
            // opened after the clear, and would make it readable again.
            drop(home);
            self.abandon(spot);
            self.bury(hash, location, now);
            return Moved::Gone;
        }
        // Copied under the lock, so that a touch in place happens either before the copy or to the
        // copy.
        let item: ItemRef<'_> = shared.item(&self.turn, location);
        let expiry_ms = item.expiry_ms(shared.segment_of(location).base_ms());
        let written = shared.copy(&item, expiry_ms, version, spot);
        let to = shared.heap.location(spot.segment, spot.offset);
        home.replace(&entry, to, frequency);
        drop(home);
        item.mark_dead();
        self.remove_live(location, next.len);
        self.tally.add(Count::ItemBytes, (written as u64).wrapping_sub(u64::from(next.len)));
        self.commit(spot, written, expiry_ms);
        Moved::Elsewhere(written)
    }
}
