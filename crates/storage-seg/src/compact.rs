// SPDX-License-Identifier: Apache-2.0
//! Compaction: while dead items take most of the bytes in use, segments that are mostly dead are
//! emptied and used again, in place of memory that was never used.
//!
//! Clients that overwrite their keys leave dead items behind. Without compaction these would spread over
//! all memory that the limit allows before any segment is used again. The operating system would have to
//! clear that memory, and live items would lie far from each other in it. So a handle that has taken
//! another segment looks for one that is mostly dead, moves its live items to an open segment, a few with
//! each write, and retires it. No item is dropped. The more dead bytes are allowed, the fewer live items
//! have to be moved: with keys overwritten at random and the present [`SPARSE`], some nine per hundred
//! written items (M. Rosenblum and J. Ousterhout, "The design and implementation of a log-structured file
//! system", 1992, on the cost of cleaning).
//!
//! When memory is about to run out, a smaller dead share suffices ([`DEAD_PRESSED`]): dead items make
//! room before any live item is evicted, so nothing is evicted while all live items fit. Where nothing is evicted at
//! all, and a write would be refused, a still smaller one does ([`DEAD_AWAITED`]), as long as more is gained than items
//! may grow by.
//!
//! Under a lower memory limit there may be segments that were closed long before they were full, too many to keep
//! all. What is left of them counts as dead then.
//!
//! A handle claims the segment for one step at a time, so nobody has to wait for a handle that stops
//! writing for a while.

use crate::empty::{Job, Judge};
use crate::segment::{Segment, State};
use crate::shared::Shared;
use crate::store::SegStore;
use crate::tally::Count;
use crate::wide::NARROW_SHARE;
use clock::Ticks;

/// Segments are compacted when they have more than this many bytes per byte of live items.
const SPARSE: u64 = 2;

/// Segments not counted in that comparison at least, since open segments are not full.
const SLACK: usize = 8;

/// The dead share, as a divisor, from which a segment is compacted while memory is to spare: half of it.
/// Waiting for more dead bytes pays then, and an item that moves may grow by some bytes.
const DEAD_SPARSE: u32 = 2;
const DEAD_PRESSED: u32 = 4;
const DEAD_AWAITED: u32 = 16;

/// What an item grows by when it moves for the first time and keeps its version.
const VERSION_BYTES: u32 = size_of::<u64>() as u32;

/// Sealed segments among which the best is taken, and the most that are examined to find that many.
const CHOICE: usize = 64;
const LOOKED_AT_MAX: usize = 1024;

/// Items examined per write: as many as are prefetched ahead.
pub(crate) const COMPACT_STEP: usize = 16;

/// What a handle is compacting.
#[derive(Debug, Default)]
pub(crate) struct Compactor {
    /// The unfinished job, and the segment's birth number when it was paused.
    paused: Option<(Job, u64)>,
    /// There may be something to compact.
    is_due: bool,
    /// A write waits for room.
    is_awaited: bool,
    /// Where the search for a segment goes on.
    from: usize,
}

impl Compactor {
    /// A segment was taken: there may be something to compact now.
    pub(crate) fn remind(&mut self) {
        self.is_due = true;
    }

    /// A write waits for room, or no longer.
    pub(crate) fn await_room(&mut self, is_awaited: bool) {
        self.is_awaited = is_awaited;
    }

    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }
}

impl SegStore {
    /// Whether memory is about to run out.
    fn is_pressed(&self) -> bool {
        self.compactor.is_awaited || self.shared.missing() > 0
    }

    /// Continues compaction, if enough bytes are dead, examining at most `budget` items. Returns
    /// whether it did something; not if there is no room for an item that has to move, since whoever needs room must
    /// evict then.
    pub(crate) fn compact(&mut self, now: Ticks, budget: usize) -> bool {
        if !self.compactor.is_due {
            return false;
        }
        let paused = self.compactor.paused.take();
        let resumed = paused.and_then(|(job, birth)| self.resume_compaction(job, birth));
        let Some(mut job) = resumed.or_else(|| self.begin_compaction()) else {
            self.compactor.is_due = false;
            return false;
        };
        let tier = self.shared.pool.segment(job.segment).tier();
        let mut is_stuck = false;
        let keeps_versions = !self.is_pressed() || !self.shared.evicts();
        let mut judge = Judge::Move { tier, keeps_versions, is_stuck: &mut is_stuck };
        let progress = self.empty(&mut job, budget, now, &mut judge);
        let shared = &*self.shared;
        if progress.is_done && !is_stuck {
            self.count_compaction(job.segment);
            shared.pool.retire(job.segment, &shared.epochs);
            return true;
        }
        let birth = shared.pool.segment(job.segment).birth();
        self.compactor.is_due = !is_stuck;
        self.compactor.paused = Some((job, birth)).filter(|_| !is_stuck);
        self.unclaim(job.segment);
        !is_stuck
    }

    /// Claims the segment of a paused job again, if nobody else has used it meanwhile.
    fn resume_compaction(&self, job: Job, birth: u64) -> Option<Job> {
        let shared = &*self.shared;
        if !shared.pool.claim(job.segment) {
            return None;
        }
        if shared.pool.segment(job.segment).birth() != birth {
            self.unclaim(job.segment);
            return None;
        }
        Some(job)
    }

    /// Claims a segment that is mostly dead.
    fn begin_compaction(&mut self) -> Option<Job> {
        let shared = &*self.shared;
        let (pool, len) = (&shared.pool, shared.pool.len());
        let (least, choice, most) = if self.compactor.is_awaited && !shared.evicts() {
            (Dead { share: DEAD_AWAITED, of_item: VERSION_BYTES }, len, len)
        } else if self.is_pressed() {
            (Dead::share(DEAD_PRESSED), len, len)
        } else if shared.is_sparse(SLACK.max(self.open_count() * shared.workers())) {
            (Dead::share(DEAD_SPARSE), CHOICE, len.min(LOOKED_AT_MAX))
        } else {
            return None;
        };
        // The live items of a wide segment need room elsewhere before it is free, and segments in limbo
        // may have become free.
        shared.tidy();
        let free = (shared.pool.free() * shared.heap.grain_bytes()) as u64;
        let grains = pool.grains() as u32;
        let fits =
            |segment: &Segment| segment.span() <= grains || u64::from(segment.live_bytes()) <= free;
        let (from, born) = (self.compactor.from, shared.births());
        let is_lowering = shared.pool.surplus() > 0 && shared.is_lowering();
        let mut looked_at = 0;
        let best = (0..most)
            .map(|step| pool.number((from + step) % len))
            .inspect(|_| looked_at += 1)
            .map(|number| (number, pool.segment(number)))
            .filter(|(_, segment)| segment.state() == State::Sealed)
            .take(choice)
            .filter(|(_, segment)| {
                let is_hollow = is_lowering && shared.is_hollow(segment);
                fits(segment) && (is_hollow || is_worthwhile(segment, least, grains))
            })
            .map(|(number, segment)| (worth(segment, born), number))
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        self.compactor.from = (from + looked_at) % len;
        let (_, number) = best.filter(|&(_, number)| pool.claim(number))?;
        Some(Job::new(number, pool.segment(number).written()))
    }
}

/// How much of a segment has to be dead.
#[derive(Clone, Copy)]
struct Dead {
    /// As a divisor of its bytes.
    share: u32,
    /// Bytes for each live item.
    of_item: u32,
}

impl Dead {
    const fn share(share: u32) -> Self {
        Dead { share, of_item: 0 }
    }
}

/// Whether a segment is dead, wholly or as far as that. A large item that is alone in its segment
/// stays where it is.
fn is_worthwhile(segment: &Segment, least: Dead, grains: u32) -> bool {
    let written = segment.written();
    let is_dead = segment.live_items() == 0;
    let least = (written / least.share).max(segment.live_items().saturating_mul(least.of_item));
    let is_partly_dead = segment.live_bytes().saturating_add(least) <= written;
    segment.pins() == 0 && (is_dead || !segment.has_one_large(grains) && is_partly_dead)
}

/// The benefit of compacting a segment, divided by its cost. The benefit is the dead bytes times the
/// segment's age, since an old segment probably stays as it is for long; the cost is the bytes read
/// and written.
fn worth(segment: &Segment, born: u64) -> f64 {
    let (written, live) = (f64::from(segment.written()), f64::from(segment.live_bytes()));
    let age = born.saturating_sub(segment.birth()) + 1;
    (written - live) / (written + live) * age as f64
}

impl Shared {
    /// Whether a segment of small items was closed when it was no more than half full.
    fn is_hollow(&self, segment: &Segment) -> bool {
        let bytes = self.heap.segment_bytes();
        let small = segment.items() as usize * (bytes / NARROW_SHARE);
        let written = segment.written() as usize;
        let is_narrow = segment.span() as usize == self.pool.grains();
        segment.pins() == 0 && is_narrow && written <= bytes / 2 && written <= small
    }

    /// Whether dead items take most of the bytes in segments, `slack` of which do not count. Lone segments have none, and
    /// cannot be compacted: however many there are, the others are judged by what is in them.
    fn is_sparse(&self, slack: usize) -> bool {
        let pool = &self.pool;
        let free = pool.counts().free + pool.in_limbo() + slack * pool.grains();
        let used = pool.in_service().saturating_sub(free) as u64 * self.heap.grain_bytes() as u64;
        let items = self.tallies.sum(Count::ItemBytes);
        used.saturating_sub(items) > (SPARSE - 1) * items.saturating_sub(self.lone_bytes())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::evict::Eviction;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    use storage::{Expiry, Item, Put, Store};

    const KEYS: u64 = 4_000;
    const SEGMENT: u64 = 64 << 10;
    const NOW: Ticks = Ticks::ZERO;

    fn builder(eviction: &str) -> Builder {
        let eviction: Eviction = eviction.parse().expect("it is a policy");
        SegStore::builder().memory(32 << 20).segment_bytes(SEGMENT).eviction(eviction)
    }

    fn expiry() -> Expiry {
        Expiry::at(Ticks::from_millis(5_000))
    }

    /// Writes each key, and then keys at random some number of times; the values they have at the end.
    fn write_over(stores: &mut [SegStore]) -> Vec<u64> {
        let mut values = vec![0; KEYS as usize];
        let random = BuildHasherDefault::<DefaultHasher>::default();
        for value in 0..KEYS * 150 {
            let key = if value < KEYS { value } else { random.hash_one(value) % KEYS };
            let bytes = value.to_le_bytes().repeat(3);
            let name = key.to_le_bytes();
            let put = Put::new(&name, &bytes).expiry(expiry());
            let handle = value as usize % stores.len();
            stores[handle].put(put, NOW).expect("there is memory");
            values[key as usize] = value;
        }
        values
    }

    fn check_all(store: &mut SegStore, values: &[u64]) {
        for (key, value) in (0_u64..).zip(values) {
            let item = store.get(&key.to_le_bytes(), NOW).expect("nothing is dropped");
            assert_eq!(item.value(), value.to_le_bytes().repeat(3));
        }
        store.check_integrity();
    }

    fn count(store: &SegStore, count: Count) -> u64 {
        store.shared.tallies.sum(count)
    }

    #[test]
    fn keys_that_are_written_over_do_not_spread_over_all_memory() {
        for eviction in ["scored", "merge", "s3fifo", "fifo", "none"] {
            let mut store = builder(eviction).build().expect("the options are possible");
            let values = write_over(std::slice::from_mut(&mut store));
            check_all(&mut store, &values);
            let pool = &store.shared.pool;
            let counts = pool.counts();
            let used =
                (counts.in_service - counts.free) as u64 * store.shared.heap.grain_bytes() as u64;
            let most = SPARSE * count(&store, Count::ItemBytes) + (SLACK as u64 + 4) * SEGMENT;
            assert!(used <= most, "{eviction}: {used} bytes, {most} expected");
            assert_eq!(count(&store, Count::Evicted), 0);
            let (moved, stored) = (count(&store, Count::Compacted), count(&store, Count::Stored));
            assert!((1..stored / 10).contains(&moved), "{moved} moved for {stored}");
        }
    }

    #[test]
    fn what_is_moved_keeps_its_frequency_expiry_and_version() {
        let mut store = builder("scored").build().expect("the options are possible");
        store.put(Put::new(b"old", b"value").expiry(expiry()), NOW).expect("it fits");
        (0..100).for_each(|_| assert!(store.get(b"old", NOW).is_some()));
        let look = |store: &SegStore| {
            let found = store.find(store.shared.hash(b"old"), b"old", NOW);
            let (entry, item) = found.expect("it is alive");
            (item.location(), (entry.frequency(), item.expiry(), item.version()))
        };
        let before = look(&store);
        write_over(std::slice::from_mut(&mut store));
        let after = look(&store);
        assert_ne!(before.0, after.0, "it was moved");
        assert_eq!(before.1, after.1);
    }

    #[test]
    fn a_segment_is_worthwhile_if_enough_of_it_is_dead_and_nothing_is_lent() {
        let segment = Segment::new(State::Open);
        segment.open(1, 0, 0, 0, 0);
        [40, 30, 30].iter().for_each(|&bytes| segment.add_live(bytes, true));
        segment.set_written(100);
        assert!(!is_worthwhile(&segment, Dead::share(DEAD_PRESSED), 1));
        segment.remove_live(40, true);
        assert!(
            !is_worthwhile(&segment, Dead::share(DEAD_SPARSE), 1),
            "more would be taken than is gained"
        );
        assert!(is_worthwhile(&segment, Dead::share(DEAD_PRESSED), 1));
        segment.remove_live(30, true);
        assert!(is_worthwhile(&segment, Dead::share(DEAD_SPARSE), 1));
        assert!(is_worthwhile(&segment, Dead { share: DEAD_SPARSE, of_item: 70 }, 1));
        let too_dear = Dead { share: DEAD_SPARSE, of_item: 71 };
        assert!(!is_worthwhile(&segment, too_dear, 1), "the item that is left grows by more");
        segment.pin();
        assert!(!is_worthwhile(&segment, Dead::share(DEAD_PRESSED), 1));
        segment.unpin();
        segment.set_span(2);
        assert!(
            is_worthwhile(&segment, Dead::share(DEAD_SPARSE), 1),
            "it is a wide one with several items"
        );
    }

    #[test]
    fn a_large_item_that_is_alone_stays_where_it_is() {
        let segment = Segment::new(State::Open);
        segment.open(1, 0, 0, 0, 0);
        segment.add_live(60, true);
        segment.set_written(100);
        segment.set_span(2);
        assert!(!is_worthwhile(&segment, Dead::share(DEAD_PRESSED), 1));
        segment.remove_live(60, true);
        assert!(is_worthwhile(&segment, Dead::share(DEAD_SPARSE), 1), "it is dead");
    }

    #[test]
    fn a_segment_is_counted_whoever_finds_that_its_items_are_gone() {
        let mut store = builder("scored").build().expect("the options are possible");
        let now = Ticks::from_millis(1);
        let put = |store: &mut SegStore| {
            store.put(Put::new(b"key", b"value"), now).expect("it fits");
        };
        let reclaimed = |store: &SegStore| count(store, Count::SegmentsCompacted);
        put(&mut store);
        assert!(store.delete(b"key", now));
        assert_eq!(reclaimed(&store), 0, "more may be written to it");
        store.seal_all();
        assert_eq!(reclaimed(&store), 1, "it was dead when it was sealed");

        put(&mut store);
        store.seal_all();
        let segments = store.shared.pool.segments();
        let number = segments.iter().position(|segment| segment.live_items() == 1);
        let number = number.expect("it is somewhere") as u32;
        assert!(store.shared.pool.claim(number));
        assert!(store.delete(b"key", now));
        assert_eq!(reclaimed(&store), 1, "somebody works on it");
        store.unclaim(number);
        assert_eq!(reclaimed(&store), 2, "it was dead when it was given back");

        put(&mut store);
        store.seal_all();
        assert!(store.delete(b"key", now));
        assert_eq!(reclaimed(&store), 3, "its last item was removed");
        assert_eq!(count(&store, Count::SegmentsCompactedBytes), 3 * SEGMENT);
    }

    #[test]
    fn handles_compact_side_by_side_and_keep_nothing_claimed() {
        let first = builder("scored").workers(2).build().expect("the options are possible");
        let mut stores = [first.clone(), first];
        let values = write_over(&mut stores);
        let [mut store, other] = stores;
        drop(other);
        assert!(count(&store, Count::Compacted) > 0);
        check_all(&mut store, &values);
        let segments = store.shared.pool.segments();
        assert!(segments.iter().all(|segment| segment.state() != State::Claimed));
    }
}
