// SPDX-License-Identifier: Apache-2.0
//! What the tables count, over all stores of the process, beside what every engine does
//! ([`storage::metrics`]). Nothing is counted by a get.

/// The metrics of this engine alone.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::counters! {
    /// Entries added to the hash table of `storage-hashmap`.
    pub(crate) static HASH_INSERT: "shoebill_hashmap_inserts_total";
    /// Entries removed from the hash table of `storage-hashmap`.
    pub(crate) static HASH_REMOVE: "shoebill_hashmap_removals_total";
    /// Buckets added to the hash table of `storage-hashmap`.
    pub(crate) static HASH_SPLIT: "shoebill_hashmap_splits_total";
}
