// SPDX-License-Identifier: Apache-2.0
//! [`Tally`]: one handle's counters. A handle adds to its own cache lines without
//! read-modify-writes; whoever wants a total sums over the handles.

use crate::class::{CLASSES_MAX, Class};
use crate::metrics::COUNTERS;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex};
use ::metrics::{Counter, Gauge};
use storage::metrics as common;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Count {
    /// Items that the index points to; decreases too, modulo 2^64.
    Items,
    /// Their bytes with headers and padding; decreases too.
    ItemBytes,
    /// Writes that took place, and the bytes of their items.
    Stored,
    StoredBytes,
    /// Writes of new keys, and overwrites.
    Inserted,
    Replaced,
    /// Items copied because a new expiry did not fit their place.
    Retimed,
    Deleted,
    /// Items that left their segment to make room.
    Evicted,
    /// Of the evicted items those that the policy chose, and those that were in the way of a large value. The others are
    /// squeezed.
    Needed,
    Displaced,
    /// Evicted items whose time to live was not over; and the sum of the ages of all evicted items
    /// in milliseconds, since their segments were opened.
    Early,
    VictimsAgeMs,
    Expired,
    Cleared,
    /// Items that an eviction relocated, and their bytes.
    Kept,
    KeptBytes,
    /// Evicted items that an eviction wanted to keep but dropped for lack of room.
    Squeezed,
    /// Live items that evictions examined, and their bytes.
    Examined,
    ExaminedBytes,
    /// Items dropped because the index had no slot for another key.
    Crowded,
    /// Items whose checksum was wrong.
    Corrupt,
    /// Segments emptied to make room, and the sum of their ages in milliseconds.
    SegmentsEvicted,
    EvictedAgeMs,
    SegmentsExpired,
    /// Segments of several items that came back because they were mostly dead, or all of it, and their bytes; the items moved
    /// out of them, and the bytes of these.
    SegmentsCompacted,
    SegmentsCompactedBytes,
    Compacted,
    CompactedBytes,
    /// Of the evicted and crowded items, those that nobody had read, and those that were used lately.
    EvictedUnread,
    EvictedActive,
    /// Of the expired items, those that nobody had read.
    ExpiredUnread,
    /// Reads that found an expired or a cleared item.
    ReadExpired,
    ReadCleared,
    /// Times a write had to wait for other handles to let go of a segment.
    Waits,
}

const COUNTS: usize = Count::Waits as usize + 1;

/// What is counted for each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum ClassCount {
    /// Evicted and crowded items, and of these those that nobody had read.
    Evicted,
    EvictedUnread,
    /// Items evicted from a segment that had a time to live; and the ages of all these in milliseconds.
    Early,
    AgeMs,
    /// Expired items, and of these those that nobody had read.
    Expired,
    ExpiredUnread,
}

const CLASS_COUNTS: usize = ClassCount::ExpiredUnread as usize + 1;

/// The counts of one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassSums([u64; CLASS_COUNTS]);

impl ClassSums {
    pub(crate) fn get(&self, count: ClassCount) -> u64 {
        self.0[count as usize]
    }

    fn add(&mut self, tally: &Tally, class: usize) {
        for (sum, count) in self.0.iter_mut().zip(&tally.by_class[class]) {
            *sum = sum.wrapping_add(count.load(Ordering::Relaxed));
        }
    }
}

/// The number of counts at the front that decrease too.
const GAUGES: usize = Count::ItemBytes as usize + 1;

/// The metric that shows a count.
enum Shown {
    Gauge(&'static Gauge),
    Counter(&'static Counter),
}

fn shown(count: usize) -> Shown {
    use Shown::{Counter, Gauge};
    match count {
        0 => Gauge(&common::ITEM_CURRENT),
        1 => Gauge(&common::ITEM_CURRENT_BYTES),
        _ => Counter(COUNTERS[count - GAUGES].1),
    }
}

/// One handle's counts.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Tally {
    counts: [AtomicU64; COUNTS],
    by_class: Box<[[AtomicU64; CLASS_COUNTS]; CLASSES_MAX]>,
}

impl Tally {
    fn new() -> Self {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Tally {
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            by_class: Box::new(std::array::from_fn(|_| zeros())),
        }
    }

    /// Adds to a count of a class. For the handle that owns the tally.
    pub(crate) fn add_in(&self, class: Class, count: ClassCount, by: u64) {
        let cell = &self.by_class[usize::from(class)][count as usize];
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }

    /// Adds to a count. For the handle that owns the tally.
    #[inline]
    pub(crate) fn add(&self, count: Count, by: u64) {
        let cell = &self.counts[count as usize];
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }

    /// Subtracts from a count. For the handle that owns the tally.
    #[inline]
    pub(crate) fn sub(&self, count: Count, by: u64) {
        self.add(count, by.wrapping_neg());
    }

    pub(crate) fn get(&self, count: usize) -> u64 {
        self.counts[count].load(Ordering::Relaxed)
    }
}

/// Sums over all handles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums([u64; COUNTS]);

impl Default for Sums {
    fn default() -> Self {
        Sums([0; COUNTS])
    }
}

impl Sums {
    pub(crate) fn get(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    /// Adds the difference to `before` to the metrics.
    pub(crate) fn publish_since(&self, before: &Sums) {
        for (count, (present, past)) in self.0.iter().zip(&before.0).enumerate() {
            let by = present.wrapping_sub(*past);
            match shown(count) {
                Shown::Gauge(gauge) => gauge.add(by as i64),
                Shown::Counter(counter) => counter.add(by),
            }
        }
    }

    /// The same with nothing left of what there is.
    pub(crate) fn without_gauges(mut self) -> Self {
        self.0[..GAUGES].fill(0);
        self
    }

    /// All items that went although the policy would have kept them or was not asked.
    pub(crate) fn displaced(&self) -> u64 {
        [Count::Displaced, Count::Squeezed, Count::Crowded]
            .map(|count| self.get(count))
            .iter()
            .sum()
    }

    /// The sum of the counter at this place of [`COUNTERS`].
    pub(crate) fn counter(&self, at: usize) -> u64 {
        self.0[GAUGES + at]
    }
}

/// The tallies of all handles of a store.
#[derive(Debug)]
pub(crate) struct Tallies {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    present: Vec<Arc<Tally>>,
    /// The sums of handles that were dropped.
    past: Sums,
    past_by_class: [ClassSums; CLASSES_MAX],
}

impl Tallies {
    pub(crate) fn new() -> Self {
        Tallies {
            inner: Mutex::new(Inner {
                present: Vec::new(),
                past: Sums::default(),
                past_by_class: [ClassSums::default(); CLASSES_MAX],
            }),
        }
    }

    pub(crate) fn register(&self) -> Arc<Tally> {
        let tally = Arc::new(Tally::new());
        self.inner.lock().present.push(Arc::clone(&tally));
        tally
    }

    /// Removes a handle and keeps its counts. Tells whether it was the last.
    pub(crate) fn unregister(&self, tally: &Arc<Tally>) -> bool {
        let mut inner = self.inner.lock();
        inner.present.retain(|present| !Arc::ptr_eq(present, tally));
        for (count, sum) in inner.past.0.iter_mut().enumerate() {
            *sum = sum.wrapping_add(tally.get(count));
        }
        for (class, sums) in inner.past_by_class.iter_mut().enumerate() {
            sums.add(tally, class);
        }
        inner.present.is_empty()
    }

    pub(crate) fn handles(&self) -> usize {
        self.inner.lock().present.len()
    }

    pub(crate) fn sums(&self) -> Sums {
        let inner = self.inner.lock();
        let mut sums = inner.past;
        for tally in &inner.present {
            for (count, sum) in sums.0.iter_mut().enumerate() {
                *sum = sum.wrapping_add(tally.get(count));
            }
        }
        sums.0[..GAUGES].iter_mut().for_each(|sum| *sum = not_negative(*sum));
        sums
    }

    /// The sums of a class.
    pub(crate) fn class(&self, class: Class) -> ClassSums {
        let inner = self.inner.lock();
        let mut sums = inner.past_by_class[usize::from(class)];
        inner.present.iter().for_each(|tally| sums.add(tally, usize::from(class)));
        sums
    }

    /// One sum alone.
    pub(crate) fn sum(&self, count: Count) -> u64 {
        let inner = self.inner.lock();
        let present = inner.present.iter().map(|tally| tally.get(count as usize));
        let sum = present.fold(inner.past.get(count), u64::wrapping_add);
        if (count as usize) < GAUGES { not_negative(sum) } else { sum }
    }
}

/// The sum of a gauge, or 0 if it is negative: the tallies are read one after the other, so an item may be missing that
/// one handle has added, and be taken away by another.
fn not_negative(sum: u64) -> u64 {
    if sum.cast_signed() < 0 { 0 } else { sum }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_handle_leaves_its_counts() {
        let tallies = Tallies::new();
        let (one, two) = (tallies.register(), tallies.register());
        one.add(Count::Items, 5);
        two.sub(Count::Items, 2);
        two.add(Count::Waits, 1);
        assert_eq!((tallies.sum(Count::Items), tallies.handles()), (3, 2));
        assert!(!tallies.unregister(&two));
        assert_eq!((tallies.sum(Count::Items), tallies.handles()), (3, 1));
        assert_eq!(tallies.sum(Count::Waits), 1);
        assert!(tallies.unregister(&one), "it was the last");
        let last = tallies.sums();
        assert_eq!((last.get(Count::Items), last.counter(Count::Waits as usize - 2)), (3, 1));
    }

    /// What the reader of a sum sees that has read one tally before it counts an item and another after this item has
    /// gone.
    #[test]
    fn what_is_gone_before_it_was_seen_makes_no_gauge_negative() {
        let tallies = Tallies::new();
        let (one, two) = (tallies.register(), tallies.register());
        for count in [Count::Items, Count::ItemBytes] {
            two.sub(count, 100);
            assert_eq!((tallies.sum(count), tallies.sums().get(count)), (0, 0));
            one.add(count, 101);
            assert_eq!((tallies.sum(count), tallies.sums().get(count)), (1, 1));
        }
    }

    #[test]
    fn counts_are_published_once_and_gauges_taken_back() {
        let metric = |count: usize| match shown(count) {
            Shown::Gauge(gauge) => gauge.value() as u64,
            Shown::Counter(counter) => counter.value(),
        };
        for which in [Count::Items, Count::Deleted, Count::Evicted, Count::Waits] {
            let count = which as usize;
            // Other tests of the process count, too, but not as much.
            let since =
                |before: u64| metric(count).wrapping_sub(before).wrapping_add(1 << 39) >> 40;
            let before = metric(count);
            let (tallies, none) = (Tallies::new(), Sums::default());
            tallies.register().add(which, 1 << 40);
            let sums = tallies.sums();
            sums.publish_since(&none);
            assert_eq!(since(before), 1, "{which:?}");
            sums.publish_since(&sums);
            assert_eq!(since(before), 1, "{which:?}");
            sums.without_gauges().publish_since(&sums);
            assert_eq!(since(before), u64::from(count >= GAUGES), "{which:?}");
        }
    }
}
