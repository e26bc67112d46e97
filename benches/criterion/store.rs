// SPDX-License-Identifier: Apache-2.0
//! What `storage-hashmap` costs per operation with a million keys of 20 bytes and values of 64,
//! looked up in random order: each meets a cold cache.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "criterion's macros make public items")]

use benches::workload::{KEY_BYTES, KEYS, VALUE_BYTES, key, large_store, shuffled, store};
use clock::Ticks;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use storage::{Item, Put, Store};

const NOW: Ticks = Ticks::from_millis(1000);

/// Keys in random order, of numbers from `first` on.
fn random_keys(first: u64) -> Vec<[u8; KEY_BYTES]> {
    shuffled(KEYS).take(1 << 18).map(|number| key(first + number)).collect()
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("store");
    group.throughput(Throughput::Elements(1));
    let mut large = large_store();

    let present = random_keys(0);
    let mut keys = present.iter().cycle();
    group.bench_function("get hit", |b| {
        b.iter(|| {
            let item = large.get(keys.next().expect("endless"), NOW).expect("a hit");
            black_box(item.value()[0])
        });
    });

    let absent = random_keys(KEYS);
    let mut keys = absent.iter().cycle();
    group.bench_function("get miss", |b| {
        b.iter(|| large.get(keys.next().expect("endless"), NOW).is_none());
    });

    let mut keys = present.iter().cycle();
    group.bench_function("put overwrite", |b| {
        b.iter(|| large.put(Put::new(keys.next().expect("endless"), &[b'w'; VALUE_BYTES]), NOW));
    });
    assert_eq!(large.stats().items, KEYS);
    drop(large);

    // Memory for about a million items, and full.
    let mut full = store(128 << 20, 2 * KEYS);
    let evicted = full.stats().evicted;
    assert!(evicted > 0, "the store is not full");
    let mut number = 2 * KEYS;
    group.bench_function("put new, evicting", |b| {
        b.iter(|| {
            number += 1;
            full.put(Put::new(&key(number), &[b'w'; VALUE_BYTES]), NOW)
        });
    });
    assert!(full.stats().evicted > evicted, "nothing was evicted");
    group.finish();
}

criterion_group!(all, bench);
criterion_main!(all);
