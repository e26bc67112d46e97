// SPDX-License-Identifier: Apache-2.0
//! [`Report`]: statistics about a store's inside.
//!
//! It is computed from the segments' bookkeeping, one cache line each, the handles' tallies and a
//! sample of the index. No item is read. While handles are at work each number is right, but they are
//! not all of the same instant.

mod bytes;
mod walk;

use crate::class::Class;
use crate::shared::Shared;
use crate::sync::atomic::Ordering;
use crate::tally::{ClassCount, Count, Sums};
use crate::victims::Victims;
pub use bytes::ByteReport;
use clock::Ticks;
use std::time::Duration;
use storage::ClassStats;
use walk::Found;

/// Homes of the index in the sample: about two thousand items of a full index.
const SAMPLE: usize = 256;

/// How a store's memory is used, and what its evictions do.
///
/// ```
/// use clock::Clock;
/// use std::time::Duration;
/// use storage::{Expiry, Put, Store};
/// use storage_seg::SegStore;
///
/// let now = Clock::manual(0).now().ticks;
/// let mut store = SegStore::builder().memory(64 << 20).build()?;
/// let hour = Expiry::after(Duration::from_secs(3600), now);
/// store.put(Put::new(b"key", b"value").expiry(hour), now)?;
/// let report = store.report(now);
/// assert_eq!(report.segments.open, 1);
/// assert_eq!(report.classes[0].live_items, 1);
/// assert_eq!(report.classes[0].due_1h_bytes, report.segments.bytes);
/// assert_eq!(report.classes[0].due_10m_bytes, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The TTL classes in use: first that of items that never expire, then from the shortest on.
    pub classes: Vec<ClassReport>,
    /// How many segments are in which state.
    pub segments: SegmentReport,
    /// What the segments' bytes hold.
    pub bytes: ByteReport,
    /// What evictions have done since the store was made.
    pub evictions: EvictionReport,
    /// Bytes written since then, and bytes copied to make room for them.
    pub writes: WriteReport,
    /// The index.
    pub index: IndexReport,
    /// What the memory limit is used for.
    pub memory: MemoryReport,
}

/// The segments of one TTL class.
///
/// A segment has the class of the first item in it. In a store of few segments it may also have items
/// of other classes. An item that is moved goes to the class of its remaining time to live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassReport {
    /// Its number, from 1 on, in the order of times to live: 1 is that of items that never expire.
    pub number: u32,
    /// The time since the oldest of its segments was opened.
    pub oldest: Duration,
    /// The shortest time to live of the class in seconds; `None` for items that never expire.
    pub ttl_from: Option<u64>,
    /// Segments in use.
    pub segments: u64,
    /// Items that the index points to, except those of [`ClassReport::unswept_items`].
    pub live_items: u64,
    /// Their bytes with headers.
    pub live_bytes: u64,
    /// Items that were overwritten, deleted or moved: their memory comes back with their segment.
    pub dead_items: u64,
    /// Their bytes.
    pub dead_bytes: u64,
    /// Items of segments in which all items have expired or were cleared, and which are about to be
    /// swept.
    pub unswept_items: u64,
    /// Their bytes.
    pub unswept_bytes: u64,
    /// Bytes of segments that will be free within a minute, if nothing more is written to them.
    pub due_1m_bytes: u64,
    /// The same within 10 minutes, including those due within a minute.
    pub due_10m_bytes: u64,
    /// The same within an hour, including those due within 10 minutes.
    pub due_1h_bytes: u64,
}

/// How many segments are in which state. Wide ones count by their memory, rounded in the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentReport {
    /// The size of one in bytes.
    pub bytes: u64,
    /// All of them.
    pub total: u64,
    /// Those that may be used.
    pub free: u64,
    /// Those that handles write into.
    pub open: u64,
    /// Those that are full, or closed before they were.
    pub sealed: u64,
    /// Those of the sealed ones that are of the tier of new items: as clients wrote them.
    pub sealed_new: u64,
    /// The present share for new items with `scored`, in segments per 1000.
    pub new_target_permille: u64,
    /// Those that handles are emptying.
    pub claimed: u64,
    /// Those that are empty and wait until nobody can be reading them.
    pub limbo: u64,
    /// Those whose memory was given back, for the index or for what others reserve.
    pub withdrawn: u64,
    /// Those, in any state, that have pinned values.
    pub pinned: u64,
}

/// Counts and ages of evictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvictionReport {
    /// Items dropped: the sum of the next two.
    pub items: u64,
    /// Items that the policy dropped to make room.
    pub needed: u64,
    /// Items dropped although the policy would have kept them or was not asked: there was no segment
    /// for them, or they were in the way of a large value, or of another key in the index.
    pub displaced: u64,
    /// Of these two, items whose time to live had not run out; those dropped for another key in the
    /// index are not counted.
    pub early: u64,
    /// Segments emptied.
    pub segments: u64,
    /// Mean age of these segments, from opening to being emptied; `None` when there were none.
    pub age: Option<Duration>,
    /// The same of the last minute.
    pub age_recent: Option<Duration>,
    /// Mean time since the segment of a dropped item was opened, which is about when the item was
    /// written or last kept. `None` when there were none.
    pub item_age: Option<Duration>,
    /// The same of the last minute.
    pub item_age_recent: Option<Duration>,
    /// Bytes of live items that evictions examined.
    pub examined_bytes: u64,
    /// Bytes of the examined items that were kept, by copying them.
    pub kept_bytes: u64,
}

/// Bytes that clients wrote, and bytes that the store copied to make room for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteReport {
    /// Bytes of items that clients wrote, with headers and padding.
    pub stored_bytes: u64,
    /// Bytes of items that evictions kept, by copying them.
    pub kept_bytes: u64,
    /// Bytes of items that compaction moved.
    pub compacted_bytes: u64,
    /// Bytes of the segments that compaction emptied. Less `compacted_bytes`, this is the memory
    /// gained.
    pub cleaned_bytes: u64,
}

/// The state of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct IndexReport {
    /// Slots for items.
    pub slots: u64,
    /// Bytes it takes.
    pub bytes: u64,
    /// Items per slot.
    pub load: f64,
    /// The share of items that are not in their home bucket; of a sample.
    pub displaced: f64,
    /// Cache lines that a look-up of an absent key reads on average; of a sample.
    pub lines: f64,
    /// Whether it is moving to another size.
    pub is_growing: bool,
}

/// What the memory limit is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The limit in bytes.
    pub limit: u64,
    /// Segments that are neither free nor withdrawn.
    pub segments: u64,
    /// The index.
    pub index: u64,
    /// Memory outside of the store that handles have reserved.
    pub reserved: u64,
}

impl Report {
    /// The sum of one of the counts over all classes.
    pub(crate) fn sum(&self, of: fn(&ClassReport) -> u64) -> u64 {
        self.classes.iter().map(of).sum()
    }
}

impl SegmentReport {
    /// Segments that hold items.
    pub(crate) fn current(&self) -> u64 {
        self.open + self.sealed + self.claimed
    }

    /// The share of sealed segments that are of the tier of new items; `None` when none is sealed.
    pub fn new_share(&self) -> Option<f64> {
        (self.sealed > 0).then(|| self.sealed_new as f64 / self.sealed as f64)
    }
}

impl WriteReport {
    /// Bytes copied for each byte written; `None` before anything was written.
    pub fn copies(&self) -> Option<f64> {
        let copied = (self.kept_bytes + self.compacted_bytes) as f64;
        (self.stored_bytes > 0).then(|| copied / self.stored_bytes as f64)
    }
}

impl EvictionReport {
    /// The share of examined live bytes that evictions kept; `None` before any were examined.
    ///
    /// Near 1, evictions copy much to gain little; at 0 they drop everything.
    pub fn merge_yield(&self) -> Option<f64> {
        let examined = self.examined_bytes as f64;
        (self.examined_bytes > 0).then(|| self.kept_bytes as f64 / examined)
    }
}

impl Shared {
    /// Shows the classes in use. Costs two cache lines per segment.
    pub(crate) fn classes(&self, now: Ticks, show: &mut dyn FnMut(&ClassStats)) {
        let Found { classes, segments, .. } = self.walk(now);
        for class in classes {
            let sums = self.tallies.class((class.number - 1) as Class);
            let evicted = sums.get(ClassCount::Evicted);
            let mut stats = ClassStats::default();
            stats.number = class.number;
            stats.items = class.live_items + class.unswept_items;
            stats.item_bytes = class.live_bytes + class.unswept_bytes;
            stats.pages = class.segments;
            stats.page_bytes = segments.bytes;
            stats.age_s = class.oldest.as_secs();
            stats.evicted = evicted;
            stats.evicted_early = sums.get(ClassCount::Early);
            stats.evicted_unread = sums.get(ClassCount::EvictedUnread);
            stats.evicted_age_s = sums.get(ClassCount::AgeMs) / evicted.max(1) / 1000;
            stats.expired = sums.get(ClassCount::Expired);
            stats.expired_unread = sums.get(ClassCount::ExpiredUnread);
            show(&stats);
        }
    }

    /// Costs two cache lines per segment.
    pub(crate) fn report(&self, now: Ticks) -> Report {
        let sums = self.tallies.sums();
        let Found { classes, segments, bytes, used } = self.walk(now);
        let memory = MemoryReport {
            limit: self.limit(),
            segments: used,
            index: self.index.bytes(),
            reserved: self.reserved.load(Ordering::Relaxed),
        };
        Report {
            classes,
            segments,
            bytes,
            evictions: self.evictions(&sums, now),
            writes: Self::writes(&sums),
            index: self.index_report(&sums),
            memory,
        }
    }

    fn evictions(&self, sums: &Sums, now: Ticks) -> EvictionReport {
        let (all, recent) = (Victims::of(sums), self.export.recent(sums, now));
        EvictionReport {
            items: sums.get(Count::Evicted) + sums.get(Count::Crowded),
            needed: sums.get(Count::Needed),
            displaced: sums.displaced(),
            early: sums.get(Count::Early),
            segments: sums.get(Count::SegmentsEvicted),
            age: all.segment_age(),
            age_recent: recent.segment_age(),
            item_age: all.item_age(),
            item_age_recent: recent.item_age(),
            examined_bytes: sums.get(Count::ExaminedBytes),
            kept_bytes: sums.get(Count::KeptBytes),
        }
    }

    fn writes(sums: &Sums) -> WriteReport {
        WriteReport {
            stored_bytes: sums.get(Count::StoredBytes),
            kept_bytes: sums.get(Count::KeptBytes),
            compacted_bytes: sums.get(Count::CompactedBytes),
            cleaned_bytes: sums.get(Count::SegmentsCompactedBytes),
        }
    }

    fn index_report(&self, sums: &Sums) -> IndexReport {
        let census = self.index.census(SAMPLE);
        let slots = self.index.slots() as u64;
        IndexReport {
            slots,
            bytes: self.index.bytes(),
            load: sums.get(Count::Items) as f64 / slots as f64,
            displaced: census.displaced as f64 / census.entries.max(1) as f64,
            lines: census.lines as f64 / census.homes as f64,
            is_growing: self.index.is_growing(),
        }
    }
}
