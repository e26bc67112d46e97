// SPDX-License-Identifier: Apache-2.0
//! Counting evictions: the segments emptied and the items dropped to make room, the reasons, and their
//! ages.
//!
//! An item stores no age. The age of its segment is used, which is about the time since the item
//! was written or last kept.

use crate::Reason;
use crate::class::number_of;
use crate::evict::{is_read, is_used};
use crate::index::Location;
use crate::store::SegStore;
use crate::tally::{ClassCount, Count, Sums};
use clock::Ticks;
use std::time::Duration;
use storage::{Evicted, Expiry};

/// Why an item is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The policy chose it to make room.
    Needed,
    /// The policy would have kept it, but there was no room for it.
    Squeezed,
    /// The policy was not asked: it was in the way.
    Displaced,
}

impl SegStore {
    /// Counts a segment that was emptied to make room, and its age.
    pub(crate) fn count_eviction(&self, segment: u32, now: Ticks) {
        let opened_ms = self.shared.pool.segment(segment).base_ms();
        self.tally.add(Count::SegmentsEvicted, 1);
        self.tally.add(Count::EvictedAgeMs, now.as_millis().saturating_sub(opened_ms));
    }

    /// Counts a segment that came back for its dead bytes: its live items were moved, or there were none left.
    pub(crate) fn count_compaction(&self, segment: u32) {
        let span = self.shared.pool.segment(segment).span();
        let bytes = self.shared.heap.grain_bytes() * span as usize;
        self.tally.add(Count::SegmentsCompacted, 1);
        self.tally.add(Count::SegmentsCompactedBytes, bytes as u64);
    }

    /// Counts an item out of its segment. If it was the last live one, the segment is free.
    #[inline]
    pub(crate) fn remove_live(&self, location: Location, len: u32) {
        self.count_freed(self.shared.remove_live(location, len));
    }

    /// Counts a segment of several items that was freed because none of them is left, if there is one.
    #[inline]
    pub(crate) fn count_freed(&self, freed: Option<u32>) {
        if let Some(segment) = freed {
            self.count_compaction(segment);
        }
    }

    /// Counts whether an item that is dropped was read, and its class.
    pub(crate) fn count_drop(&self, location: Location, reason: Reason, frequency: Option<u8>) {
        let class = self.shared.segment_of(location).class();
        let (all, all_unread, unread) = match reason {
            Reason::Evicted => {
                (ClassCount::Evicted, ClassCount::EvictedUnread, Count::EvictedUnread)
            }
            Reason::Expired => {
                (ClassCount::Expired, ClassCount::ExpiredUnread, Count::ExpiredUnread)
            }
        };
        self.tally.add_in(class, all, 1);
        match frequency {
            Some(frequency) if !is_read(frequency) => {
                self.tally.add_in(class, all_unread, 1);
                self.tally.add(unread, 1);
            }
            Some(frequency) if reason == Reason::Evicted && is_used(frequency) => {
                self.tally.add(Count::EvictedActive, 1);
            }
            Some(_) | None => {}
        }
    }

    /// What is told of an item that is evicted.
    #[cold]
    pub(crate) fn evicted(&self, location: Location, frequency: Option<u8>) -> Evicted {
        let segment = self.shared.segment_of(location);
        let item = self.shared.item(&self.turn, location);
        let expiry = item.expiry_ms(segment.base_ms());
        Evicted {
            key: item.key().into(),
            value_len: item.value().len(),
            class: number_of(segment.class()),
            was_read: frequency.is_some_and(is_read),
            expiry: expiry.map_or(Expiry::NEVER, |at| Expiry::at(Ticks::from_millis(at))),
            used_at: Ticks::from_millis(segment.base_ms()),
        }
    }

    /// Counts the reason and the age of an eviction, for an item that has not expired at `now`. The
    /// eviction itself is counted where the item is removed.
    pub(crate) fn count_victim(&self, location: Location, why: Why, now: Ticks) {
        let reason = match why {
            Why::Needed => Count::Needed,
            Why::Squeezed => Count::Squeezed,
            Why::Displaced => Count::Displaced,
        };
        self.tally.add(reason, 1);
        let expires = self.shared.item(&self.turn, location).expires();
        self.tally.add(Count::Early, u64::from(expires));
        let segment = self.shared.segment_of(location);
        let age_ms = now.as_millis().saturating_sub(segment.base_ms());
        self.tally.add(Count::VictimsAgeMs, age_ms);
        self.tally.add_in(segment.class(), ClassCount::Early, u64::from(expires));
        self.tally.add_in(segment.class(), ClassCount::AgeMs, age_ms);
    }
}

/// How much was evicted, and how old it was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Victims {
    segments: u64,
    segments_age_ms: u64,
    items: u64,
    items_age_ms: u64,
}

impl Victims {
    pub(crate) fn of(sums: &Sums) -> Self {
        Victims {
            segments: sums.get(Count::SegmentsEvicted),
            segments_age_ms: sums.get(Count::EvictedAgeMs),
            items: sums.get(Count::Evicted),
            items_age_ms: sums.get(Count::VictimsAgeMs),
        }
    }

    /// The difference to an earlier count.
    pub(crate) fn since(self, then: Victims) -> Self {
        Victims {
            segments: self.segments.saturating_sub(then.segments),
            segments_age_ms: self.segments_age_ms.saturating_sub(then.segments_age_ms),
            items: self.items.saturating_sub(then.items),
            items_age_ms: self.items_age_ms.saturating_sub(then.items_age_ms),
        }
    }

    /// The mean age of segments, from opening to being emptied.
    pub(crate) fn segment_age(&self) -> Option<Duration> {
        self.segments_age_ms.checked_div(self.segments).map(Duration::from_millis)
    }

    /// The mean age of items, from the opening of their segment to their eviction.
    pub(crate) fn item_age(&self) -> Option<Duration> {
        self.items_age_ms.checked_div(self.items).map(Duration::from_millis)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use storage::{Put, Store};

    #[test]
    fn what_the_index_has_no_place_for_is_displaced() {
        let builder = crate::SegStore::builder().memory(1 << 20);
        let mut store = builder.build().expect("the options are possible");
        store.put(Put::new(b"key", b"value"), Ticks::ZERO).expect("it fits");
        assert!(store.uncrowd(store.shared.hash(b"key")));
        let evictions = store.report(Ticks::ZERO).evictions;
        assert_eq!((evictions.items, evictions.needed, evictions.displaced), (1, 0, 1));
        let count = |count| store.shared.tallies.sum(count);
        assert_eq!((count(Count::Crowded), count(Count::Evicted)), (1, 0));
        assert_eq!(evictions.item_age, None, "nobody looked at the time");
        store.check_integrity();
    }

    #[test]
    fn recent_victims_are_those_that_came_to_it() {
        let then = Victims { segments: 2, segments_age_ms: 20, items: 10, items_age_ms: 50 };
        let now = Victims { segments: 3, segments_age_ms: 50, items: 30, items_age_ms: 150 };
        let recent = now.since(then);
        assert_eq!(recent.segment_age(), Some(Duration::from_millis(30)));
        assert_eq!(recent.item_age(), Some(Duration::from_millis(5)));
        assert_eq!(then.since(then).segment_age(), None);
    }
}
