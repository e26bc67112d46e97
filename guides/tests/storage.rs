// SPDX-License-Identifier: Apache-2.0
//! The test of `add-a-storage.md`, of an engine that there is.

use storage_hashmap::HashMapStore;

/// Stands for the engine of the guide's reader.
struct MyStore;

impl MyStore {
    #[expect(clippy::new_ret_no_self, reason = "the guide's engine is its own handle")]
    fn new(memory_bytes: u64, value_bytes: u64) -> HashMapStore {
        HashMapStore::builder().memory(memory_bytes).item_max(value_bytes).seed(1).build()
    }
}

include!(concat!(env!("OUT_DIR"), "/storage_test.rs"));
