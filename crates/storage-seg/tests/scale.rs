// SPDX-License-Identifier: Apache-2.0
//! The index grows and shrinks with the items while the store is in use, and all memory stays
//! within the limit.

mod support;

use clock::Ticks;
use storage::{Expiry, Put, Stats, Store};
use storage_seg::{Eviction, SegStore};
use support::{HEADER, Random, check, describe, flags, name};

const NOW: Ticks = Ticks::from_millis(1_000);

/// Writes an item of the key and lets the store look after itself every so often, as a worker does.
fn write(store: &mut SegStore, key: u64, length: usize) {
    let value = describe(key, key, length);
    let name = name(key);
    let put = Put::new(&name, &value).flags(flags(key)).expiry(Expiry::NEVER);
    let result = store.put(put, NOW);
    assert!(result.is_ok(), "{result:?} for {length} bytes of key {key}: {:?}", store.stats());
    if key.is_multiple_of(1_000) {
        store.expire(NOW, 100);
        within_limit(&store.stats());
    }
}

#[track_caller]
fn within_limit(stats: &Stats) {
    assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
}

/// How many of the keys have an item. Checks that each is the item that was written.
fn count(store: &mut SegStore, keys: std::ops::Range<u64>) -> u64 {
    let mut found = 0;
    for key in keys {
        if let Some(item) = store.get(&name(key), NOW) {
            assert_eq!(check(&item, key), [key]);
            found += 1;
        }
        if key.is_multiple_of(1_000) {
            store.expire(NOW, 100);
        }
    }
    found
}

/// From an index for some thousands of items to a million of them. Memory is ample, so none may be
/// missing at any step; then items become large, and the index gives its memory up.
fn a_million_items(workers: usize) {
    const ITEMS: u64 = 1_000_000;
    // 68 bytes each, with its header: half of the memory. The index takes a quarter at most.
    const MEMORY: u64 = 128 << 20;
    let mut store = SegStore::builder()
        .memory(MEMORY)
        .workers(workers)
        .eviction(Eviction::Fifo)
        .seed(3)
        .build()
        .expect("the options are possible");
    let smallest = store.stats().index_bytes;
    let (mut step, mut sizes) = (1_000, Vec::new());
    for key in 0..ITEMS {
        write(&mut store, key, 16);
        if key + 1 == step || key + 1 == ITEMS {
            let stats = store.stats();
            sizes.push(stats.index_slots);
            // In the middle of a growth or not.
            assert_eq!(count(&mut store, 0..key + 1), key + 1, "of {} items: {stats:?}", key + 1);
            store.check_integrity();
            step *= 4;
        }
    }
    let full = store.stats();
    assert_eq!((full.items, full.evicted), (ITEMS, 0), "{full:?}");
    assert!(full.index_bytes > 8 * smallest && sizes[0] > 0 && sizes.is_sorted(), "{sizes:?}");
    assert!(full.index_bytes < ITEMS * 24, "{full:?}");

    // The same memory in few items: the index is far too large.
    for key in ITEMS..ITEMS + 6 * MEMORY / 10_000 {
        write(&mut store, key, 10_000 - HEADER);
        store.expire(NOW, 100);
        if key.is_multiple_of(10_000) {
            store.check_integrity();
        }
    }
    let stats = store.stats();
    assert!(stats.index_bytes < full.index_bytes / 4, "{full:?} became {stats:?}");
    assert!(stats.items * 10_000 > MEMORY * 85 / 100, "memory is not used: {stats:?}");
    within_limit(&stats);
    store.check_integrity();
}

#[test]
fn a_million_items_come_and_go_with_one_worker() {
    a_million_items(1);
}

#[test]
fn a_million_items_come_and_go_with_many_workers() {
    a_million_items(4);
}

/// The limit holds at any moment of a growth, for stores of all sizes, also where a table is not much
/// larger than a piece of memory that it gives back.
#[test]
fn the_limit_holds_while_the_index_grows() {
    for memory in [1 << 20, 3 << 19, 2 << 20, 5 << 20] {
        for segment_bytes in [64 << 10, 128 << 10] {
            let mut store = SegStore::builder()
                .memory(memory)
                .value_max(memory / 4)
                .segment_bytes(segment_bytes);
            store = store.seed(5);
            let mut store = store.build().expect("the options are possible");
            for key in 0..memory / 20 {
                let value = [7; 2];
                store.put(Put::new(&name(key), &value), NOW).expect("it fits");
                if key.is_multiple_of(7) {
                    within_limit(&store.stats());
                }
                if key.is_multiple_of(100) {
                    store.expire(NOW, 10);
                    within_limit(&store.stats());
                }
                if key.is_multiple_of(10_000) {
                    store.check_integrity();
                }
            }
        }
    }
}

/// Reservations of handles reduce the segments, whatever the index does at the same time.
#[test]
fn the_limit_holds_while_reservations_change() {
    const MEMORY: u64 = 16 << 20;
    let mut random = Random::new(9);
    let mut store = SegStore::builder()
        .memory(MEMORY)
        .value_max(1 << 20)
        .seed(5)
        .build()
        .expect("the options are possible");
    for key in 0..400_000 {
        store.put(Put::new(&name(key), b"tiny"), NOW).expect("it fits");
        if key.is_multiple_of(200) {
            store.expire(NOW, 50);
        }
        if key.is_multiple_of(1_500) {
            store.reserve(random.below(MEMORY / 2));
        }
        if key.is_multiple_of(11) {
            within_limit(&store.stats());
        }
        if key.is_multiple_of(50_000) {
            store.check_integrity();
        }
    }
    store.reserve(0);
    for _ in 0..1_000 {
        store.expire(NOW, 100);
    }
    for key in 400_000..1_000_000 {
        write(&mut store, key, 0);
    }
    let stats = store.stats();
    assert!(stats.used_bytes > MEMORY * 85 / 100, "given up, and not taken back: {stats:?}");
}

/// An index that has changed its size a hundred times changes it as well as at first.
#[test]
fn sizes_of_items_may_change_for_ever() {
    const MEMORY: u64 = 1 << 20;
    let mut store = SegStore::builder().memory(MEMORY).value_max(100_000).seed(5);
    store = store.eviction(Eviction::Fifo);
    let mut store = store.build().expect("the options are possible");
    let (mut key, mut first) = (0, None);
    for wave in 0..50 {
        let begin = key;
        for _ in 0..2 * MEMORY / 60 {
            write(&mut store, key, 0);
            store.expire(NOW, 10);
            key += 1;
        }
        let found = count(&mut store, begin..key);
        let at_first = *first.get_or_insert(found);
        assert!(found > at_first * 3 / 4, "wave {wave}: {found} items instead of {at_first}");
        for _ in 0..2 * MEMORY / 20_000 {
            write(&mut store, key, 20_000);
            for _ in 0..20 {
                store.expire(NOW, 10);
            }
            key += 1;
        }
        store.check_integrity();
    }
}
