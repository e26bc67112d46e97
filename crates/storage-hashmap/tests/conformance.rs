// SPDX-License-Identifier: Apache-2.0
//! The contract of `storage`, on one shard and on several.

use storage::conformance::{self, Limits};
use storage_hashmap::HashMapStore;

fn store(limits: Limits, shards: usize) -> HashMapStore {
    seeded(limits, shards, 1)
}

fn seeded(limits: Limits, shards: usize, seed: u64) -> HashMapStore {
    HashMapStore::builder()
        .memory(limits.memory_bytes)
        .item_max(limits.value_bytes)
        .shards(shards)
        .seed(seed)
        .build()
}

#[test]
fn one_shard_keeps_the_contract() {
    conformance::check_shared(|limits| store(limits, 1));
}

#[test]
fn eight_shards_keep_the_contract() {
    conformance::check_shared(|limits| store(limits, 8));
}

/// With this seed an item of the pins' check goes for those that the check writes next.
#[test]
fn an_engine_may_evict_what_was_just_written() {
    conformance::check(|limits| seeded(limits, 4, 29));
}

#[test]
fn values_arrive_in_pieces() {
    for shards in [1, 8] {
        conformance::check_receive_shared(|limits| store(limits, shards));
    }
}

#[test]
fn a_walk_shows_every_item() {
    for shards in [1, 8] {
        conformance::check_scan(|limits| store(limits, shards));
    }
}
