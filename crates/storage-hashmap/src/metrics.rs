// SPDX-License-Identifier: Apache-2.0
//! What the tables count, over all stores of the process, beside what every engine does
//! ([`storage::metrics`]). Nothing is counted by a get.

metrics::counters! {
    /// Entries added to the hash table of `storage-hashmap`.
    pub(crate) static HASH_INSERT: "hash_insert";
    /// Entries removed from the hash table of `storage-hashmap`.
    pub(crate) static HASH_REMOVE: "hash_remove";
    /// Buckets added to the hash table of `storage-hashmap`.
    pub(crate) static HASH_SPLIT: "hash_split";
}
