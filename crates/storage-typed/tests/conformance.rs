// SPDX-License-Identifier: Apache-2.0
//! The contract of `keyspace`, on one shard and on several.

use keyspace::conformance;
use storage_typed::TypedStore;

fn store(shards: usize) -> TypedStore {
    // The same hashes in every run; the first test to come here decides.
    values::seed_hashes(1);
    TypedStore::builder().shards(shards).seed(1).build()
}

#[test]
fn one_shard_keeps_the_contract() {
    conformance::check_shared(|| store(1));
}

#[test]
fn sixteen_shards_keep_the_contract() {
    conformance::check_shared(|| store(16));
}

#[test]
fn sixty_four_shards_keep_the_contract() {
    conformance::check_shared(|| store(64));
}
