// SPDX-License-Identifier: Apache-2.0
//! Measures the cost of operations in nanoseconds, with and without prefetching batches of 32 keys.
//!
//! ```text
//! cargo run --release -p shoebill-storage-hashmap --example lookup -- [items] [shards]
//! ```
//!
//! Keys have 20 bytes, values 64, and are drawn uniformly at random from all items. Only the store's
//! work is timed, not the making of keys. One thread. Each number is the median over all batches, so
//! that other work on the machine affects it little.

use clock::Ticks;
use std::hint::black_box;
use std::time::Instant;
use storage::{Item, Put, Stage, Store};
use storage_hashmap::HashMapStore;

const BATCH: usize = 32;
const BATCHES: usize = 100_000;
const VALUE: [u8; 64] = [b'v'; 64];

type Key = [u8; 20];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let items: u64 = arguments.next().unwrap_or(1_000_000);
    let shards = arguments.next().unwrap_or(1) as usize;
    let mut store = HashMapStore::builder().memory(items * 192 + (1 << 20)).shards(shards).build();
    let mut nanos = Vec::new();
    for first in (0..items).step_by(BATCH) {
        let keys = (first..items.min(first + BATCH as u64)).map(key).collect::<Vec<_>>();
        let started = Instant::now();
        keys.iter().for_each(|key| put(&mut store, key));
        nanos.push(started.elapsed().as_nanos());
    }
    let stats = store.stats();
    assert_eq!((stats.items, stats.evicted), (items, 0), "all items fit");
    println!("{items} items of 20 + 64 bytes in {shards} shards");
    println!("{:>6} bytes of memory for each", stats.used_bytes / items);
    print("put, new", nanos);

    report("get, hit", &mut store, 0..items, false, hit);
    report("get, hit, prefetched", &mut store, 0..items, true, hit);
    report("get, miss", &mut store, items..2 * items, false, miss);
    report("get, miss, prefetched", &mut store, items..2 * items, true, miss);
    report("put, over", &mut store, 0..items, false, put);
    report("put, over, prefetched", &mut store, 0..items, true, put);
    let hot = 0..items.min(1000);
    report("get, hit, 1000 hot keys", &mut store, hot.clone(), false, hit);
    report("get, hit, hot, prefetched", &mut store, hot.clone(), true, hit);
    report("put, over, hot", &mut store, hot, false, put);

    report("expire, idle", &mut store, 0..1, false, |store, _| {
        assert_eq!(store.expire(Ticks::ZERO, 64), 0);
    });
}

fn hit(store: &mut HashMapStore, key: &Key) {
    let item = store.get(key, Ticks::ZERO).expect("it is there");
    black_box(item.value()[0]);
}

fn miss(store: &mut HashMapStore, key: &Key) {
    assert!(store.get(key, Ticks::ZERO).is_none());
}

fn put(store: &mut HashMapStore, key: &Key) {
    store.put(Put::new(key, &VALUE), Ticks::ZERO).expect("it fits");
}

/// Times `operation` on keys drawn from `numbers` and prints the median.
fn report(
    name: &str,
    store: &mut HashMapStore,
    numbers: std::ops::Range<u64>,
    prefetch: bool,
    operation: impl Fn(&mut HashMapStore, &Key),
) {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut keys = [[0; 20]; BATCH];
    let mut nanos = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        for slot in &mut keys {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            *slot = key(numbers.start + random % (numbers.end - numbers.start));
        }
        let started = Instant::now();
        if prefetch {
            for stage in [Stage::Index, Stage::Item, Stage::Value] {
                keys.iter().for_each(|key| store.prefetch(key, stage));
            }
        }
        keys.iter().for_each(|key| operation(store, key));
        nanos.push(started.elapsed().as_nanos());
    }
    print(name, nanos);
}

/// Prints the median of the batches' times, for each operation.
fn print(name: &str, mut nanos: Vec<u128>) {
    nanos.sort_unstable();
    println!("{:>6.1} ns  {name}", nanos[nanos.len() / 2] as f64 / BATCH as f64);
}

/// A key of 20 bytes: `key:` and sixteen digits.
fn key(number: u64) -> Key {
    let mut key = *b"key:0000000000000000";
    let mut rest = number;
    for digit in key[4..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}
