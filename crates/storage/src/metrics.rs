// SPDX-License-Identifier: Apache-2.0
//! The metrics that every engine keeps, over all stores of the process. They are declared here, so
//! that a name means the same whichever engine runs, and a process with two engines has it once.
//!
//! What only one engine can tell is declared in that engine.

metrics::gauges! {
    /// Items that can be read, and expired or cleared ones whose memory has not come back.
    pub static ITEM_CURRENT: "item_current";
    /// Bytes of these items: keys, values and per-item overhead.
    pub static ITEM_CURRENT_BYTES: "item_current_bytes";
}

metrics::counters! {
    /// Items written under a key that had none.
    pub static ITEM_ALLOCATE: "item_allocate";
    /// Items written over one that was there.
    pub static ITEM_REPLACE: "item_replace";
    /// Items removed on request.
    pub static ITEM_DELETE: "item_delete";
    /// Items dropped before their expiry to make room.
    pub static ITEM_EVICT: "item_evict";
    /// Items whose memory came back because they had expired.
    pub static ITEM_EXPIRE: "item_expire";
    /// Items whose memory came back because the store was cleared.
    pub static ITEM_CLEAR: "item_clear";
}
