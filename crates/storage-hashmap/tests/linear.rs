// SPDX-License-Identifier: Apache-2.0
//! RULE-LINEAR on tables that are tiny and full, with one shard and with several.

use storage::conformance::{self, History};
use storage_hashmap::HashMapStore;

fn check(memory: u64, shards: usize, history: &History) {
    let builder = HashMapStore::builder().memory(memory).item_max(256 << 10).shards(shards);
    let store = builder.seed(1).build();
    conformance::check_history(vec![store.clone(), store.clone(), store.clone(), store], history);
}

#[test]
fn histories_are_linearizable_in_a_full_table() {
    for (seed, shards) in (1..).zip([1, 8]) {
        let history = History::default().seed(seed).value_bytes(100_000).evicts();
        check(2 << 20, shards, &history);
    }
}

#[test]
fn nothing_is_lost_with_memory_to_spare() {
    for (seed, shards) in (11..).zip([1, 8]) {
        check(64 << 20, shards, &History::default().seed(seed).fillers(2_048));
    }
}
