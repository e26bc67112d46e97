// SPDX-License-Identifier: Apache-2.0
//! The metrics that every engine keeps, over all stores of the process. They are declared here, so
//! that a name means the same whichever engine runs, and a process with two engines has it once.
//!
//! What only one engine can tell is declared in that engine.

/// The metrics of every engine.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::gauges! {
    /// Items that can be read, and expired or cleared ones whose memory has not come back.
    pub static ITEM_CURRENT: "shoebill_items";
    /// Bytes of these items: keys, values and per-item overhead.
    pub static ITEM_CURRENT_BYTES: "shoebill_item_bytes";
}

metrics::counters! {
    /// Items written under a key that had none.
    pub static ITEM_ALLOCATE: "shoebill_items_added_total";
    /// Items written over one that was there; those changed in place are not among them.
    pub static ITEM_REPLACE: "shoebill_items_replaced_total";
    /// Items that left: they were removed on request, or their memory came back because they had expired or the
    /// store was cleared. Those that left to make room are evictions.
    "shoebill_items_removed_total" {
        pub static ITEM_DELETE: reason = "deleted";
        pub static ITEM_EXPIRE: reason = "expired";
        pub static ITEM_CLEAR: reason = "cleared";
    }
    /// Items dropped before their expiry to make room, by reason. Needed: the policy chose them. All others it would have
    /// kept, or was not asked about.
    "shoebill_evictions_total" {
        pub static EVICT_NEEDED: reason = "needed";
    }
}
