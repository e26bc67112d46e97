// SPDX-License-Identifier: Apache-2.0
//! The promise of the hot path: once warm, neither a worker nor a server allocates for a request.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod counting;
mod support;

use cacheperf::{Length, Plan, Protocol};
use server::Process;
use support::{memcache, outcome, plan, resp, target};

/// Allocations of this whole process during a load: the generator's and the server's.
fn allocations(protocol: Protocol, process: &Process, requests: u64) -> u64 {
    let plan = Plan {
        length: Length::Requests(requests),
        threads: 1,
        workload: support::workload("get=80,set=10,multiget=10"),
        ..plan(target(protocol, process))
    };
    let before = counting::count();
    let outcome = outcome(&plan);
    assert_eq!((outcome.errors, outcome.answered), (0, requests));
    counting::count() - before
}

#[test]
fn requests_cost_no_allocation() {
    for (protocol, process) in [(Protocol::Memcache, memcache()), (Protocol::Resp2, resp())] {
        // The first fills the store and warms everything up.
        let _ = allocations(protocol, &process, 5_000);
        let few = allocations(protocol, &process, 5_000);
        let many = allocations(protocol, &process, 25_000);
        // Slices of time are left, of which each costs two.
        let more = many.saturating_sub(few);
        assert!(more < 200, "{protocol}: {more} more for 20,000 more requests");
        process.stop().unwrap();
    }
}
