// SPDX-License-Identifier: Apache-2.0
//! The contract of the `storage` crate, for a store with one handle and for one with many.

use storage::conformance::{self, Limits};
use storage_seg::{Builder, Eviction, SegStore};

fn builder(limits: Limits) -> Builder {
    SegStore::builder().memory(limits.memory_bytes).value_max(limits.value_bytes).seed(5)
}

#[test]
fn an_exclusive_store_keeps_the_contract() {
    conformance::check(|limits| builder(limits).build().expect("the options are possible"));
}

#[test]
fn a_shared_store_keeps_the_contract() {
    conformance::check_shared(|limits| {
        builder(limits).workers(16).build().expect("the options are possible")
    });
}

#[test]
fn a_walk_shows_every_item() {
    conformance::check_scan(|limits| builder(limits).build().expect("the options are possible"));
    conformance::check_scan(|limits| {
        builder(limits).workers(2).integrity(true).build().expect("the options are possible")
    });
}

#[test]
fn every_policy_that_evicts_keeps_the_contract() {
    for name in ["fifo", "merge", "s3fifo"] {
        let eviction: Eviction = name.parse().expect("it is a policy");
        conformance::check(|limits| {
            builder(limits).eviction(eviction).build().expect("the options are possible")
        });
    }
}

#[test]
fn checksums_change_nothing_else() {
    conformance::check(|limits| {
        builder(limits).integrity(true).build().expect("the options are possible")
    });
}

#[test]
fn values_arrive_in_pieces() {
    for integrity in [false, true] {
        conformance::check_receive(|limits| {
            let builder = builder(limits).integrity(integrity);
            builder.build().expect("the options are possible")
        });
    }
}

#[test]
fn values_arrive_in_pieces_at_several_handles() {
    conformance::check_receive_shared(|limits| {
        builder(limits).workers(16).build().expect("the options are possible")
    });
}
