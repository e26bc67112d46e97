// SPDX-License-Identifier: Apache-2.0
//! What the tables count, over all stores of the process. Nothing is counted by a get.

metrics::gauges! {
    /// Items in memory, dead ones whose memory has not come back included.
    pub(crate) static ITEM_CURRENT: "item_current";
    /// Bytes of items in memory: keys, values and per-item overhead.
    pub(crate) static ITEM_CURRENT_BYTES: "item_current_bytes";
}

metrics::counters! {
    /// Items written under a key that had none.
    pub(crate) static ITEM_ALLOCATE: "item_allocate";
    /// Items written over one that was there.
    pub(crate) static ITEM_REPLACE: "item_replace";
    /// Items removed on request.
    pub(crate) static ITEM_DELETE: "item_delete";
    /// Items dropped before their expiry to make room.
    pub(crate) static ITEM_EVICT: "item_evict";
    /// Items whose memory came back because they had expired.
    pub(crate) static ITEM_EXPIRE: "item_expire";
    /// Items whose memory came back because the store was cleared.
    pub(crate) static ITEM_CLEAR: "item_clear";
    /// Entries added to the hash table.
    pub(crate) static HASH_INSERT: "hash_insert";
    /// Entries removed from the hash table.
    pub(crate) static HASH_REMOVE: "hash_remove";
    /// Buckets added to the hash table.
    pub(crate) static HASH_SPLIT: "hash_split";
}
