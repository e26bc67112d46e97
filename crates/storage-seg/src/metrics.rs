// SPDX-License-Identifier: Apache-2.0
//! What stores of this engine show as metrics of the process, beside what every engine does
//! ([`storage::metrics`]).
//!
//! Counters are over all stores of the process. Levels and families describe one store. Handles count in tallies of
//! their own; whoever reads all metrics brings them up to date ([`crate::export`]).

use crate::tally::Count;
use ::metrics::Counter;
use storage::metrics as common;

/// The metrics of this engine alone.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Writes that took place.
    pub(crate) static ITEM_STORE: "shoebill_item_writes_total";
    /// Bytes of the items that were written, with headers and padding.
    pub(crate) static ITEM_STORE_BYTES: "shoebill_item_written_bytes_total";
    /// Items copied because a new expiry did not fit where they were.
    pub(crate) static ITEM_RETIME: "shoebill_items_retimed_total";
    /// Of the evictions out of segments, items that had a time to live, which was not over.
    pub(crate) static ITEM_EVICT_EARLY: "shoebill_evictions_early_total";
    /// Of the evictions, items that nobody had read.
    pub(crate) static ITEM_EVICT_UNREAD: "shoebill_evictions_unread_total";
    /// Of the evictions, items that were read and had been used lately.
    pub(crate) static ITEM_EVICT_ACTIVE: "shoebill_evictions_active_total";
    /// Items dropped before their expiry to make room, by reason. Needed: the policy chose them. All others it would have
    /// kept, or was not asked about.
    "shoebill_evictions_total" {
        pub(crate) static EVICT_SQUEEZED: reason = "squeezed";
        pub(crate) static EVICT_CROWDED: reason = "crowded";
        pub(crate) static EVICT_DISPLACED: reason = "displaced";
    }
    /// Items evicted out of segments, beside their ages.
    pub(crate) static ITEM_EVICT: "shoebill_evicted_items_total";
    /// Sum of the times since the segments of the items evicted out of them were opened.
    pub(crate) static ITEM_EVICT_AGE_MS: "shoebill_evicted_item_age_seconds_total" in milliseconds;
    /// Sum of the ages of the segments emptied to make room.
    pub(crate) static SEGMENT_EVICT_AGE_MS: "shoebill_evicted_segment_age_seconds_total" in milliseconds;
    /// Items copied into another segment: an eviction kept them, or compaction emptied their segment.
    "shoebill_items_copied_total" {
        pub(crate) static ITEM_RELOCATE: reason = "eviction";
        pub(crate) static ITEM_COMPACT: reason = "compaction";
    }
    /// Bytes of these items.
    "shoebill_item_copied_bytes_total" {
        pub(crate) static ITEM_RELOCATE_BYTES: reason = "eviction";
        pub(crate) static ITEM_COMPACT_BYTES: reason = "compaction";
    }
    /// Live items that evictions looked at, to keep or to drop them.
    pub(crate) static ITEM_EXAMINE: "shoebill_items_examined_total";
    /// Bytes of the live items that evictions looked at.
    pub(crate) static ITEM_EXAMINE_BYTES: "shoebill_item_examined_bytes_total";
    /// Items whose bytes did not match their checksum; they are dropped.
    pub(crate) static ITEM_CORRUPT: "shoebill_items_corrupt_total";
    /// Segments that came back: emptied to make room, swept because all their items had expired or were cleared, or
    /// compacted: emptied for the dead bytes in them, or freed because all of their several items were gone.
    "shoebill_segments_reclaimed_total" {
        pub(crate) static SEGMENT_EVICT: reason = "evicted";
        pub(crate) static SEGMENT_EXPIRE: reason = "expired";
        pub(crate) static SEGMENT_COMPACT: reason = "compacted";
    }
    /// Bytes of the compacted segments: what was alive in them, if anything, was copied, the rest was gained.
    pub(crate) static SEGMENT_COMPACT_BYTES: "shoebill_segment_compacted_bytes_total";
    /// Of the items that expired, those that nobody had read.
    pub(crate) static ITEM_EXPIRE_UNREAD: "shoebill_items_expired_unread_total";
    /// Reads that found an item that has expired, or is of before a clear.
    "shoebill_reads_of_dead_items_total" {
        pub(crate) static ITEM_READ_EXPIRED: reason = "expired";
        pub(crate) static ITEM_READ_CLEARED: reason = "cleared";
    }
    /// Times a write waited for other workers to let go of a segment.
    pub(crate) static SEGMENT_WAIT: "shoebill_segment_waits_total";
}

/// The counters, and the names that `stats store` shows them under, in the order of [`Count`] after its two gauges.
pub(crate) static COUNTERS: [(&str, &Counter); Count::Waits as usize - 1] = [
    ("item_store", &ITEM_STORE),
    ("item_store_bytes", &ITEM_STORE_BYTES),
    ("item_allocate", &common::ITEM_ALLOCATE),
    ("item_replace", &common::ITEM_REPLACE),
    ("item_retime", &ITEM_RETIME),
    ("item_delete", &common::ITEM_DELETE),
    ("item_evict", &ITEM_EVICT),
    ("item_evict_needed", &common::EVICT_NEEDED),
    ("item_evict_displaced", &EVICT_DISPLACED),
    ("item_evict_early", &ITEM_EVICT_EARLY),
    ("item_evict_age_ms", &ITEM_EVICT_AGE_MS),
    ("item_expire", &common::ITEM_EXPIRE),
    ("item_clear", &common::ITEM_CLEAR),
    ("item_relocate", &ITEM_RELOCATE),
    ("item_relocate_bytes", &ITEM_RELOCATE_BYTES),
    ("item_squeeze", &EVICT_SQUEEZED),
    ("item_examine", &ITEM_EXAMINE),
    ("item_examine_bytes", &ITEM_EXAMINE_BYTES),
    ("hash_crowded", &EVICT_CROWDED),
    ("item_corrupt", &ITEM_CORRUPT),
    ("segment_evict", &SEGMENT_EVICT),
    ("segment_evict_age_ms", &SEGMENT_EVICT_AGE_MS),
    ("segment_expire", &SEGMENT_EXPIRE),
    ("segment_compact", &SEGMENT_COMPACT),
    ("segment_compact_bytes", &SEGMENT_COMPACT_BYTES),
    ("item_compact", &ITEM_COMPACT),
    ("item_compact_bytes", &ITEM_COMPACT_BYTES),
    ("item_evict_unread", &ITEM_EVICT_UNREAD),
    ("item_evict_active", &ITEM_EVICT_ACTIVE),
    ("item_expire_unread", &ITEM_EXPIRE_UNREAD),
    ("item_read_expired", &ITEM_READ_EXPIRED),
    ("item_read_cleared", &ITEM_READ_CLEARED),
    ("segment_wait", &SEGMENT_WAIT),
];

metrics::levels! {
    /// Segments by state. With items: workers write into them (open), they are full or closed (sealed), workers are
    /// emptying them (claimed). Without: free, waiting until nobody can be reading them (limbo), their memory given
    /// back for the index or for what others reserve (withdrawn).
    "shoebill_segments" {
        pub(crate) static SEGMENT_FREE: state = "free";
        pub(crate) static SEGMENT_OPEN: state = "open";
        pub(crate) static SEGMENT_SEALED: state = "sealed";
        pub(crate) static SEGMENT_CLAIMED: state = "claimed";
        pub(crate) static SEGMENT_LIMBO: state = "limbo";
        pub(crate) static SEGMENT_WITHDRAWN: state = "withdrawn";
    }
    /// Segments with values that replies in progress refer to.
    pub(crate) static SEGMENT_PINNED: "shoebill_segments_pinned";
    /// The bytes of all segments in service. Live: items that can be read. Dead: what comes back with its segment.
    /// Free: what can be written, free segments and the rest of open ones.
    "shoebill_segment_bytes" {
        pub(crate) static SEGMENT_LIVE_BYTES: state = "live";
        pub(crate) static SEGMENT_DEAD_BYTES: state = "dead";
        pub(crate) static SEGMENT_FREE_BYTES: state = "free";
    }
    /// Of the sealed segments, the share with items as clients wrote them: the tier of new items.
    pub(crate) static SEGMENT_NEW_PERMILLE: "shoebill_segments_new_ratio" in permille;
    /// The share of segments that new items may have with `scored`, as it has learned.
    pub(crate) static SEGMENT_NEW_TARGET_PERMILLE: "shoebill_segments_new_target_ratio" in permille;
    /// Mean age of the segments emptied to make room since the start, from their first
    /// item to their end; 0 when there was none.
    pub(crate) static SEGMENT_EVICT_AGE_MEAN_MS: "shoebill_evicted_segment_age_mean_seconds" in milliseconds;
    /// The same of the last minute.
    pub(crate) static SEGMENT_EVICT_AGE_RECENT_MS: "shoebill_evicted_segment_age_recent_seconds" in milliseconds;
    /// Mean time since the segment of an evicted item was opened, since the start: since
    /// the item was written or last kept; 0 when there was none.
    pub(crate) static ITEM_EVICT_AGE_MEAN_MS: "shoebill_evicted_item_age_mean_seconds" in milliseconds;
    /// The same of the last minute.
    pub(crate) static ITEM_EVICT_AGE_RECENT_MS: "shoebill_evicted_item_age_recent_seconds" in milliseconds;
    /// Bytes of items that evictions and compaction copied for each that was written, since the start.
    pub(crate) static ITEM_COPY_PERMILLE: "shoebill_item_copy_ratio" in permille;
    /// The share of live bytes that evictions kept of those they looked at, since the start.
    pub(crate) static SEGMENT_YIELD_PERMILLE: "shoebill_eviction_yield_ratio" in permille;
    /// Items whose bytes are still in segments. Dead: they were overwritten, deleted or moved. Unswept: all
    /// items of their segment have expired or were cleared, and it is about to be swept.
    "shoebill_items_left_behind" {
        pub(crate) static ITEM_DEAD: state = "dead";
        pub(crate) static ITEM_UNSWEPT: state = "unswept";
    }
    /// Bytes of these items.
    "shoebill_items_left_behind_bytes" {
        pub(crate) static ITEM_DEAD_BYTES: state = "dead";
        pub(crate) static ITEM_UNSWEPT_BYTES: state = "unswept";
    }
    /// Slots of the index.
    pub(crate) static HASH_SLOTS: "shoebill_index_slots";
    /// Bytes of the index.
    pub(crate) static HASH_BYTES: "shoebill_index_bytes";
    /// Items per slot of the index.
    pub(crate) static HASH_LOAD_PERMILLE: "shoebill_index_load_ratio" in permille;
    /// The share of items that the index keeps in another bucket than their home; a sample.
    pub(crate) static HASH_DISPLACED_PERMILLE: "shoebill_index_displaced_ratio" in permille;
    /// Buckets, each a cache line, that a look-up of an absent key reads; a sample.
    pub(crate) static HASH_LINES_PERMILLE: "shoebill_index_lines_per_lookup" in permille;
    /// 1 while the index moves to another size, else 0.
    pub(crate) static HASH_GROWING: "shoebill_index_growing";
    /// Bytes of memory the store may use for everything.
    pub(crate) static STORE_LIMIT_BYTES: "shoebill_memory_limit_bytes";
    /// Bytes of segments in use: not free, not withdrawn.
    pub(crate) static STORE_SEGMENT_BYTES: "shoebill_memory_segment_bytes";
    /// Bytes that others than the store use and that count against its limit: buffers of connections.
    pub(crate) static STORE_RESERVED_BYTES: "shoebill_memory_reserved_bytes";
}

metrics::families! {
    /// Segments in use, by the shortest time to live in seconds of the class of items in them.
    pub(crate) static TTL_SEGMENT_CURRENT: "shoebill_ttl_class_segments" by "ttl_class";
    /// Items that can be read, by class. In a segment where only some have expired, these count too.
    pub(crate) static TTL_ITEM_CURRENT: "shoebill_ttl_class_items" by "ttl_class";
    /// Bytes of these items, by class.
    pub(crate) static TTL_ITEM_CURRENT_BYTES: "shoebill_ttl_class_item_bytes" by "ttl_class";
    /// Items that were overwritten, deleted or moved and whose bytes are still in segments, by class.
    pub(crate) static TTL_ITEM_DEAD: "shoebill_ttl_class_dead_items" by "ttl_class";
    /// Bytes of these items, by class.
    pub(crate) static TTL_ITEM_DEAD_BYTES: "shoebill_ttl_class_dead_item_bytes" by "ttl_class";
    /// Items of segments of which all items have expired or were cleared, by class.
    pub(crate) static TTL_ITEM_UNSWEPT: "shoebill_ttl_class_unswept_items" by "ttl_class";
    /// Bytes of these items, by class.
    pub(crate) static TTL_ITEM_UNSWEPT_BYTES: "shoebill_ttl_class_unswept_item_bytes" by "ttl_class";
    /// Bytes of segments that will be free within a minute if nothing more is written to them, by
    /// class.
    pub(crate) static TTL_DUE_1M_BYTES: "shoebill_ttl_class_due_1m_bytes" by "ttl_class";
    /// Bytes of segments that will be free within 10 minutes, those of a minute included, by class.
    pub(crate) static TTL_DUE_10M_BYTES: "shoebill_ttl_class_due_10m_bytes" by "ttl_class";
    /// Bytes of segments that will be free within an hour, those of 10 minutes included, by class.
    pub(crate) static TTL_DUE_1H_BYTES: "shoebill_ttl_class_due_1h_bytes" by "ttl_class";
}
