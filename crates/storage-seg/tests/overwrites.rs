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

/// A segment of which nothing lives is free at once: no item of it is looked at, and none is moved.
#[test]
fn a_few_keys_that_are_written_over_take_a_few_segments() {
    for workers in [1, 2] {
        let mut store = store("scored", 64 << 20, workers);
        for round in 0..200_000 {
            write(&mut store, round % 50, &[1; 200]);
            store.expire(NOW, 0);
            let used = store.report(NOW).memory.segments;
            assert!(round % 1_000 > 0 || used <= 4 * SEGMENT, "{used} bytes in round {round}");
        }
        let writes = store.report(NOW).writes;
        assert_eq!(writes.compacted_bytes, 0, "{writes:?}");
        store.check_integrity();
    }
}

/// Values in segments of their own have no dead bytes. However many there are, what small keys leave behind is cleaned up.
#[test]
fn large_values_do_not_let_dead_items_spread() {
    let mut store = store("scored", 256 << 20, 1);
    (0..64).for_each(|key| write(&mut store, key, &vec![1; 1 << 20]));
    let large = store.report(NOW).memory.segments;
    let keys = 4_000;
    for round in 0..400_000_u64 {
        let key = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        write(&mut store, 1_000 + key % keys, &[1; 200]);
        store.expire(NOW, 0);
    }
    let small = store.report(NOW).memory.segments - large;
    let most = 2 * keys * 250 + 12 * SEGMENT;
    assert!(small <= most, "{small} bytes, {most} expected");
    store.check_integrity();
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
