// SPDX-License-Identifier: Apache-2.0
//! RULE-LINEAR on heaps that are tiny and full, with one handle and with four, for policies of each kind.

use storage::conformance::{self, History};
use storage_seg::{Builder, SegStore};

const HANDLES: [usize; 2] = [1, 4];

fn builder(eviction: &str, memory: u64) -> Builder {
    let eviction = eviction.parse().expect("it is a policy");
    let builder = SegStore::builder().memory(memory).segment_bytes(64 << 10).value_max(256 << 10);
    builder.eviction(eviction).seed(1)
}

fn check(builder: Builder, handles: usize, history: &History) {
    let first = builder.workers(handles).build().expect("the options are possible");
    let others: Vec<_> = (1..handles).map(|_| first.clone()).collect();
    conformance::check_history(others.into_iter().chain([first]).collect(), history);
}

/// Values up to more than a segment.
fn evicting() -> History {
    History::default().value_bytes(100_000).evicts().moves()
}

#[test]
fn histories_are_linearizable_with_scored_eviction() {
    for (seed, handles) in (1..).zip(HANDLES) {
        check(builder("scored", 1 << 20), handles, &evicting().seed(seed));
    }
    check(builder("scored", 2 << 20).integrity(true), 4, &evicting().seed(3));
}

#[test]
fn histories_are_linearizable_with_s3fifo() {
    for (seed, handles) in (11..).zip(HANDLES) {
        check(builder("s3fifo", 1 << 20), handles, &evicting().seed(seed));
    }
}

#[test]
fn histories_are_linearizable_with_fifo_and_merge() {
    for (seed, eviction) in (21..).zip(["fifo", "merge"]) {
        check(builder(eviction, 1 << 20), 4, &evicting().seed(seed));
    }
}

/// With memory to spare, so that items move only in compaction; and full to the last byte.
#[test]
fn nothing_is_lost_where_nothing_is_evicted() {
    for (seed, handles) in (31..).zip(HANDLES) {
        for (memory, fillers) in [(16, 4_096), (1, 4_096)] {
            let history = History::default().seed(seed).fillers(fillers);
            check(builder("none", memory << 20), handles, &history);
        }
    }
}
