// SPDX-License-Identifier: Apache-2.0
//! Keys that are written over: what they leave behind is used again soon, and each write counts as a use.

mod support;

use clock::Ticks;
use storage::{Change, Digits, Put, Store};
use storage_seg::SegStore;
use support::name;

const NOW: Ticks = Ticks::from_millis(1_000);
const SEGMENT: u64 = 64 << 10;

fn store(eviction: &str, memory: u64, workers: usize) -> SegStore {
    let eviction = eviction.parse().expect("it is a policy");
    let builder = SegStore::builder().memory(memory).segment_bytes(SEGMENT).eviction(eviction);
    builder.workers(workers).seed(3).build().expect("the options are possible")
}

fn write(store: &mut SegStore, key: u64, value: &[u8]) {
    store.put(Put::new(&name(key), value), NOW).expect("there is memory");
}

/// Also where the number is written in place.
#[test]
fn a_number_that_is_only_incremented_is_used() {
    for (eviction, workers) in [("scored", 1), ("s3fifo", 1), ("merge", 1), ("scored", 2)] {
        let mut store = store(eviction, 4 << 20, workers);
        let counter = u64::MAX;
        write(&mut store, counter, b"1000");
        for round in 0..300_000_u64 {
            if round % 100 == 0 {
                let digits = Digits::new((1_000 + round / 100).to_string().as_bytes());
                let changed = store.update(&name(counter), NOW, |item| match item {
                    Some(_) => (Change::Number(digits), true),
                    None => (Change::Miss, false),
                });
                assert_eq!(changed, Ok(true), "{eviction}, {workers} workers, round {round}");
            }
            // Others are used as well, so that what is used just once goes.
            write(&mut store, round, &[1; 200]);
            if round >= 1_000 {
                store.get(&name(round - 1_000), NOW);
            }
            store.expire(NOW, 16);
        }
        assert!(store.stats().evicted > 100_000, "{eviction}: the memory is full");
    }
}
