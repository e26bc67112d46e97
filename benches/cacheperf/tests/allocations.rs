// SPDX-License-Identifier: Apache-2.0
//! The promise of the hot path: once warm, neither a worker nor a server allocates for a request.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use cacheperf::{KeySpace, Length, Plan, Protocol, Spread};
use server::Process;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use support::{memcache, outcome, plan, resp, target};
use test_support::counting::{Counting, of_process};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

/// All threads are counted, so tests take turns.
static ALONE: Mutex<()> = Mutex::new(());

/// Allocations of this whole process during a load: the generator's and the server's.
fn allocations(protocol: Protocol, process: &Process, requests: u64) -> u64 {
    let workload = support::workload("get=80,set=10,multiget=10");
    count(Plan { workload, ..plan(target(protocol, process)) }, requests)
}

fn count(plan: Plan, requests: u64) -> u64 {
    let plan = Plan { length: Length::Requests(requests), threads: 1, ..plan };
    let before = of_process();
    let outcome = outcome(&plan);
    assert_eq!((outcome.errors, outcome.answered), (0, requests));
    of_process() - before
}

/// Allocations that more requests cost, beyond those that come with time: the least of some tries.
fn more(mut load: impl FnMut(bool) -> u64) -> u64 {
    let mut tries = (0..5).map(|_| {
        let few = load(false);
        let started = Instant::now();
        let many = load(true);
        many.saturating_sub(few + UPKEEP * (started.elapsed().as_secs() + 1))
    });
    tries.find(|more| *more < MORE_MAX).unwrap_or(MORE_MAX)
}

/// More than a server's upkeep allocates in a second.
const UPKEEP: u64 = 500;

/// Slices of time are left, of which each costs two.
const MORE_MAX: u64 = 200;

#[test]
fn requests_cost_no_allocation() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (protocol, process) in [(Protocol::Memcache, memcache()), (Protocol::Resp2, resp())] {
        // The first fills the store and warms everything up.
        let _ = allocations(protocol, &process, 5_000);
        let more = more(|many| allocations(protocol, &process, if many { 25_000 } else { 5_000 }));
        assert!(more < MORE_MAX, "{protocol}: {more} or more for 20,000 more requests");
        process.stop().unwrap();
    }
}

/// A reply that is larger than the usual block has a block that it fits in.
#[test]
fn large_values_cost_no_allocation() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = memcache();
    let mut workload = support::workload("get=1");
    workload.keys = KeySpace::new(20, Spread::fixed(8), Spread::fixed(150_000)).unwrap();
    let large = |requests| {
        let plan = plan(target(Protocol::Memcache, &process));
        count(Plan { workload: workload.clone(), depth: Some(2), ..plan }, requests)
    };
    let _ = large(100);
    let more = more(|many| large(if many { 2_100 } else { 100 }));
    assert!(more < MORE_MAX, "{more} or more for 2,000 more requests");
    process.stop().unwrap();
}
