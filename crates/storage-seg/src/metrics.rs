// SPDX-License-Identifier: Apache-2.0
//! What stores of this engine show as metrics of the process, beside what every engine does
//! ([`storage::metrics`]).
//!
//! Counters are over all stores of the process: handles count in tallies of their own and bring them
//! up to date once per turn. Levels and families describe one store, the one that was looked at last;
//! a handle looks about once a second ([`crate::export`]).

use crate::tally::Count;
use ::metrics::Counter;
use storage::metrics as common;

metrics::counters! {
    /// Writes that took place.
    pub(crate) static ITEM_STORE: "item_store";
    /// Bytes of the items that were written, with headers and padding.
    pub(crate) static ITEM_STORE_BYTES: "item_store_bytes";
    /// Items copied because a new expiry did not fit where they were.
    pub(crate) static ITEM_RETIME: "item_retime";
    /// Items that the policy dropped to make room. With `item_evict_displaced` these are `item_evict` and
    /// `hash_crowded`.
    pub(crate) static ITEM_EVICT_NEEDED: "item_evict_needed";
    /// Items that went although the policy would have kept them or was not asked: `item_squeeze`,
    /// `hash_crowded`, and what was in the way of a value larger than a segment.
    pub(crate) static ITEM_EVICT_DISPLACED: "item_evict_displaced";
    /// Of `item_evict`, items that had a time to live, which was not over.
    pub(crate) static ITEM_EVICT_EARLY: "item_evict_early";
    /// Sum of the times since the segments of the items of `item_evict` were opened, in milliseconds.
    pub(crate) static ITEM_EVICT_AGE_MS: "item_evict_age_ms";
    /// Items that an eviction kept, by copying them into another segment.
    pub(crate) static ITEM_RELOCATE: "item_relocate";
    /// Bytes of the items that evictions kept. Divided by `item_examine_bytes` it is the merge yield.
    pub(crate) static ITEM_RELOCATE_BYTES: "item_relocate_bytes";
    /// Items that an eviction was to keep and dropped for want of room.
    pub(crate) static ITEM_SQUEEZE: "item_squeeze";
    /// Live items that evictions looked at, to keep or to drop them.
    pub(crate) static ITEM_EXAMINE: "item_examine";
    /// Bytes of the live items that evictions looked at.
    pub(crate) static ITEM_EXAMINE_BYTES: "item_examine_bytes";
    /// Items dropped because the hash table had no place near theirs for another key.
    pub(crate) static HASH_CROWDED: "hash_crowded";
    /// Items whose bytes did not match their checksum; they are dropped.
    pub(crate) static ITEM_CORRUPT: "item_corrupt";
    /// Segments emptied to make room.
    pub(crate) static SEGMENT_EVICT: "segment_evict";
    /// Sum of the ages of the segments emptied to make room, in milliseconds. Divided by
    /// `segment_evict` it is the mean eviction age.
    pub(crate) static SEGMENT_EVICT_AGE_MS: "segment_evict_age_ms";
    /// Segments that came back because all their items had expired or were cleared.
    pub(crate) static SEGMENT_EXPIRE: "segment_expire";
    /// Segments emptied for the dead bytes in them; what was alive was moved.
    pub(crate) static SEGMENT_COMPACT: "segment_compact";
    /// Bytes of these segments: what was alive in them is `item_compact_bytes`, the rest was gained.
    pub(crate) static SEGMENT_COMPACT_BYTES: "segment_compact_bytes";
    /// Items moved out of these segments.
    pub(crate) static ITEM_COMPACT: "item_compact";
    /// Bytes of these items.
    pub(crate) static ITEM_COMPACT_BYTES: "item_compact_bytes";
    /// Of `item_evict` and `hash_crowded`, items that nobody had read.
    pub(crate) static ITEM_EVICT_UNREAD: "item_evict_unread";
    /// Of `item_evict` and `hash_crowded`, items that were read and had been used lately.
    pub(crate) static ITEM_EVICT_ACTIVE: "item_evict_active";
    /// Of `item_expire`, items that nobody had read.
    pub(crate) static ITEM_EXPIRE_UNREAD: "item_expire_unread";
    /// Reads that found an item that had expired.
    pub(crate) static ITEM_READ_EXPIRED: "item_read_expired";
    /// Reads that found an item of before a clear.
    pub(crate) static ITEM_READ_CLEARED: "item_read_cleared";
    /// Times a write waited for other workers to let go of a segment.
    pub(crate) static SEGMENT_WAIT: "segment_wait";
}

/// The counters and their names in the order of [`Count`], after its two gauges.
pub(crate) static COUNTERS: [(&str, &Counter); Count::Waits as usize - 1] = [
    ("item_store", &ITEM_STORE),
    ("item_store_bytes", &ITEM_STORE_BYTES),
    ("item_allocate", &common::ITEM_ALLOCATE),
    ("item_replace", &common::ITEM_REPLACE),
    ("item_retime", &ITEM_RETIME),
    ("item_delete", &common::ITEM_DELETE),
    ("item_evict", &common::ITEM_EVICT),
    ("item_evict_needed", &ITEM_EVICT_NEEDED),
    ("item_evict_displaced", &ITEM_EVICT_DISPLACED),
    ("item_evict_early", &ITEM_EVICT_EARLY),
    ("item_evict_age_ms", &ITEM_EVICT_AGE_MS),
    ("item_expire", &common::ITEM_EXPIRE),
    ("item_clear", &common::ITEM_CLEAR),
    ("item_relocate", &ITEM_RELOCATE),
    ("item_relocate_bytes", &ITEM_RELOCATE_BYTES),
    ("item_squeeze", &ITEM_SQUEEZE),
    ("item_examine", &ITEM_EXAMINE),
    ("item_examine_bytes", &ITEM_EXAMINE_BYTES),
    ("hash_crowded", &HASH_CROWDED),
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
    /// Segments that hold items: open, sealed and claimed ones.
    pub(crate) static SEGMENT_CURRENT: "segment_current";
    /// Segments that are free.
    pub(crate) static SEGMENT_FREE: "segment_free";
    /// Segments that workers write into.
    pub(crate) static SEGMENT_OPEN: "segment_open";
    /// Segments that are full, or closed before they were.
    pub(crate) static SEGMENT_SEALED: "segment_sealed";
    /// Segments that workers are emptying.
    pub(crate) static SEGMENT_CLAIMED: "segment_claimed";
    /// Segments that are empty and wait until nobody can be reading them.
    pub(crate) static SEGMENT_LIMBO: "segment_limbo";
    /// Segments whose memory went back to the system, to make room for the index or for what others
    /// reserve.
    pub(crate) static SEGMENT_WITHDRAWN: "segment_withdrawn";
    /// Segments with values that replies in progress refer to.
    pub(crate) static SEGMENT_PINNED: "segment_pinned";
    /// Bytes of items that can be read. With the next two they are those of all segments in service.
    pub(crate) static SEGMENT_LIVE_BYTES: "segment_live_bytes";
    /// Bytes that come back with their segment: dead and unswept items, what closed segments have left
    /// unwritten, and segments in limbo.
    pub(crate) static SEGMENT_DEAD_BYTES: "segment_dead_bytes";
    /// Bytes that can be written: free segments, and the rest of open ones.
    pub(crate) static SEGMENT_FREE_BYTES: "segment_free_bytes";
    /// Of 1000 sealed segments, those with items as clients wrote them: the tier of new items.
    pub(crate) static SEGMENT_NEW_PERMILLE: "segment_new_permille";
    /// Of 1000 segments, those that new items may have with `scored`, as it has learned.
    pub(crate) static SEGMENT_NEW_TARGET_PERMILLE: "segment_new_target_permille";
    /// Mean age of the segments emptied to make room since the start, in milliseconds from their first
    /// item to their end; 0 when there was none.
    pub(crate) static SEGMENT_EVICT_AGE_MEAN_MS: "segment_evict_age_mean_ms";
    /// The same of the last minute.
    pub(crate) static SEGMENT_EVICT_AGE_RECENT_MS: "segment_evict_age_recent_ms";
    /// Mean time since the segment of an evicted item was opened, since the start, in milliseconds: since
    /// the item was written or last kept; 0 when there was none.
    pub(crate) static ITEM_EVICT_AGE_MEAN_MS: "item_evict_age_mean_ms";
    /// The same of the last minute.
    pub(crate) static ITEM_EVICT_AGE_RECENT_MS: "item_evict_age_recent_ms";
    /// Bytes of items that evictions and compaction copied for each 1000 that were written, since the
    /// start.
    pub(crate) static ITEM_COPY_PERMILLE: "item_copy_permille";
    /// Bytes that evictions kept, of 1000 live bytes they looked at, since the start.
    pub(crate) static SEGMENT_YIELD_PERMILLE: "segment_yield_permille";
    /// Items that were overwritten, deleted or moved and whose bytes are still in segments.
    pub(crate) static ITEM_DEAD: "item_dead";
    /// Bytes of these items.
    pub(crate) static ITEM_DEAD_BYTES: "item_dead_bytes";
    /// Items of segments of which all items have expired or were cleared: they are about to be swept.
    pub(crate) static ITEM_UNSWEPT: "item_unswept";
    /// Bytes of these items.
    pub(crate) static ITEM_UNSWEPT_BYTES: "item_unswept_bytes";
    /// Slots of the hash table.
    pub(crate) static HASH_SLOTS: "hash_slots";
    /// Bytes of the hash table.
    pub(crate) static HASH_BYTES: "hash_bytes";
    /// Items per 1000 slots of the hash table.
    pub(crate) static HASH_LOAD_PERMILLE: "hash_load_permille";
    /// Of 1000 items, those that the hash table keeps in another bucket than their home; a sample.
    pub(crate) static HASH_DISPLACED_PERMILLE: "hash_displaced_permille";
    /// Buckets, each a cache line, that 1000 look-ups of absent keys read; a sample.
    pub(crate) static HASH_LINES_PERMILLE: "hash_lines_permille";
    /// 1 while the hash table moves to another size, else 0.
    pub(crate) static HASH_GROWING: "hash_growing";
    /// Bytes of memory the store may use for everything.
    pub(crate) static STORE_LIMIT_BYTES: "store_limit_bytes";
    /// Bytes of segments in use: not free, not withdrawn.
    pub(crate) static STORE_SEGMENT_BYTES: "store_segment_bytes";
    /// Bytes that others than the store use and that count against its limit: buffers of connections.
    pub(crate) static STORE_RESERVED_BYTES: "store_reserved_bytes";
}

metrics::families! {
    /// Segments in use, by the shortest time to live in seconds of the class of items in them.
    pub(crate) static TTL_SEGMENT_CURRENT: "ttl_segment_current" by "ttl";
    /// Items that can be read, by class. In a segment where only some have expired, these count too.
    pub(crate) static TTL_ITEM_CURRENT: "ttl_item_current" by "ttl";
    /// Bytes of these items, by class.
    pub(crate) static TTL_ITEM_CURRENT_BYTES: "ttl_item_current_bytes" by "ttl";
    /// Items that were overwritten, deleted or moved and whose bytes are still in segments, by class.
    pub(crate) static TTL_ITEM_DEAD: "ttl_item_dead" by "ttl";
    /// Bytes of these items, by class.
    pub(crate) static TTL_ITEM_DEAD_BYTES: "ttl_item_dead_bytes" by "ttl";
    /// Items of segments of which all items have expired or were cleared, by class.
    pub(crate) static TTL_ITEM_UNSWEPT: "ttl_item_unswept" by "ttl";
    /// Bytes of these items, by class.
    pub(crate) static TTL_ITEM_UNSWEPT_BYTES: "ttl_item_unswept_bytes" by "ttl";
    /// Bytes of segments that will be free within a minute if nothing more is written to them, by
    /// class.
    pub(crate) static TTL_DUE_1M_BYTES: "ttl_due_1m_bytes" by "ttl";
    /// Bytes of segments that will be free within 10 minutes, those of a minute included, by class.
    pub(crate) static TTL_DUE_10M_BYTES: "ttl_due_10m_bytes" by "ttl";
    /// Bytes of segments that will be free within an hour, those of 10 minutes included, by class.
    pub(crate) static TTL_DUE_1H_BYTES: "ttl_due_1h_bytes" by "ttl";
}
