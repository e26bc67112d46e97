// SPDX-License-Identifier: Apache-2.0
//! Other memory limits while the store is used: what fits, what goes, and that the parts agree.

mod support;

use clock::Ticks;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use storage::{Item, Put, ResizeError, Store, StoreError};
use storage_seg::{Builder, Eviction, SegStore};
use support::{Random, name, policies};

const NOW: Ticks = Ticks::ZERO;
const MIB: u64 = 1 << 20;

fn builder(mebibytes: u64) -> Builder {
    SegStore::builder().memory(mebibytes * MIB).value_max(256 << 10).seed(5)
}

fn build(builder: &Builder) -> SegStore {
    builder.build().expect("the options are possible")
}

/// Turns until the store is within its limit, as a worker without clients makes them.
fn settle(store: &mut SegStore) {
    for _ in 0..1_000_000 {
        store.expire(NOW, 64);
        let stats = store.stats();
        if stats.used_bytes <= stats.limit_bytes && !store.is_shrinking() {
            return store.check_integrity();
        }
    }
    panic!("not within the limit: {:?}", store.stats());
}

/// Writes keys in a range, each with a value of this length.
fn fill(store: &mut SegStore, keys: std::ops::Range<u64>, len: usize) {
    for key in keys {
        let put = store.put(Put::new(&name(key), &vec![key as u8; len]), NOW);
        assert!(put.is_ok(), "{key}: {put:?}");
    }
}

fn kept(store: &mut SegStore, keys: u64, len: usize) -> u64 {
    let mut kept = 0;
    for key in 0..keys {
        if let Some(item) = store.get(&name(key), NOW) {
            assert_eq!(item.value(), vec![key as u8; len], "{key}");
            kept += 1;
        }
    }
    kept
}

#[test]
fn an_index_that_was_right_for_more_memory_leaves_room_for_items_under_a_lower_limit() {
    for eviction in ["scored", "fifo"] {
        let eviction: Eviction = eviction.parse().expect("it is a policy");
        let mut fresh = build(&builder(2).eviction(eviction));
        fill(&mut fresh, 0..100_000, 10);
        let fitting = fresh.stats().items;
        let mut store = build(&builder(2).eviction(eviction));
        store.resize(16 * MIB).expect("it is 8 times the first limit");
        fill(&mut store, 0..600_000, 10);
        assert!(store.stats().index_bytes > 3 * MIB, "{:?}", store.stats());
        store.resize(2 * MIB).expect("it is the first limit");
        settle(&mut store);
        let left = store.stats().items;
        assert!(left > fitting / 2, "{eviction}: {left} items of {fitting}");
        fill(&mut store, 0..100_000, 10);
        settle(&mut store);
        let again = store.stats().items;
        assert!(again > fitting / 10 * 9, "{eviction}: {again} items of {fitting}");
        let stats = store.stats();
        assert!(stats.index_bytes < MIB, "{eviction}: {stats:?}");
    }
}

#[test]
fn a_store_whose_items_are_gone_gets_below_a_lower_limit() {
    let mut store = build(&builder(16));
    fill(&mut store, 0..600_000, 10);
    store.resize(2 * MIB).expect("there are enough segments");
    store.clear();
    settle(&mut store);
    let stats = store.stats();
    assert!(stats.items == 0 && stats.index_bytes < MIB, "{stats:?}");
    fill(&mut store, 0..3_000, 100);
    assert_eq!(kept(&mut store, 3_000, 100), 3_000);
}

#[test]
fn where_nothing_is_evicted_writes_are_refused_until_enough_was_deleted() {
    let mut store = build(&builder(16).eviction(Eviction::None));
    fill(&mut store, 0..12_000, 1_000);
    store.resize(8 * MIB).expect("there are enough segments");
    for _ in 0..1_000 {
        store.expire(NOW, 64);
    }
    assert!(!store.is_shrinking(), "there is nothing that it may take");
    assert_eq!(kept(&mut store, 12_000, 1_000), 12_000, "and so nothing went");
    let put = Put::new(b"another", &[1; 1_000]);
    // Open segments have room for some.
    let refused = (0..2_000).any(|_| store.put(put, NOW) == Err(StoreError::OutOfMemory));
    assert!(refused);
    (0..9_000).for_each(|key| assert!(store.delete(&name(key), NOW)));
    // It looks for something to do every few milliseconds of its clock.
    for turn in 0..10_000 {
        store.expire(Ticks::from_millis(turn * 50), 64);
    }
    let stats = store.stats();
    assert!(stats.used_bytes <= 8 * MIB, "{stats:?}");
    assert!(store.put(put, NOW).is_ok());
    assert_eq!(kept(&mut store, 12_000, 1_000), 3_000);
    store.check_integrity();
}

#[test]
fn items_that_lie_apart_fit_a_lower_limit_together() {
    for eviction in policies() {
        let mut store = build(&builder(64).eviction(eviction).segment_bytes(256 << 10));
        // In many TTL classes, each with a segment of its own.
        for key in 0..2_000_u64 {
            let expiry = storage::Expiry::after(Duration::from_secs(2 << (key % 20)), NOW);
            store
                .put(Put::new(&name(key), &[key as u8; 100]).expiry(expiry), NOW)
                .expect("it fits");
        }
        store.resize(2 * MIB).expect("it is room for eight segments");
        for _ in 0..1_000 {
            store.expire(NOW, 64);
        }
        assert_eq!(kept(&mut store, 2_000, 100), 2_000, "{eviction}");
        let stats = store.stats();
        let is_within = stats.used_bytes <= 2 * MIB;
        assert!(is_within || eviction == Eviction::None, "{eviction}: {stats:?}");
        store.check_integrity();
    }
}

#[test]
fn large_values_use_memory_that_came_later() {
    for len in [10_000, 60_000, 200_000] {
        let mut store = build(&builder(8));
        store.resize(64 * MIB).expect("it is 8 times the first limit");
        let keys = 48 * MIB / len as u64;
        fill(&mut store, 0..keys, len);
        assert_eq!(kept(&mut store, keys, len), keys, "all of {len} bytes fit");
        assert_eq!(store.stats().evicted, 0);
        store.check_integrity();
        store.resize(8 * MIB).expect("it is the first limit");
        settle(&mut store);
        let left = kept(&mut store, keys, len) * len as u64;
        assert!(left > 3 * MIB, "{left} bytes in values of {len}");
        fill(&mut store, keys..2 * keys, len);
        settle(&mut store);
    }
}

#[test]
fn a_value_in_a_row_of_segments_does_not_wait_until_a_lower_limit_is_reached() {
    let builder = SegStore::builder().memory(256 * MIB).value_max(34 * MIB).seed(1);
    let mut store = build(&builder);
    fill(&mut store, 0..25_000, 8_000);
    store.resize(136 * MIB).expect("it is room for four of the longest");
    let evicted = store.stats().evicted;
    let value = vec![9; 34 << 20];
    store.put(Put::new(b"long", &value), NOW).expect("it fits");
    let went = store.stats().evicted - evicted;
    assert!(went < 10_000, "{went} items went for a value as long as 4,500 of them");
    settle(&mut store);
}

#[test]
fn limits_that_are_too_low_or_too_high_change_nothing() {
    let mut store = build(&builder(1));
    assert_eq!(store.resize(MIB - 1), Err(ResizeError::TooSmall { least: MIB }));
    assert_eq!(store.resize(16 * MIB + 1), Err(ResizeError::TooLarge { most: 16 * MIB }));
    assert_eq!(store.stats().limit_bytes, MIB);
    assert_eq!(store.resize(16 * MIB), Ok(()));
    let mut store = build(&SegStore::builder().memory(64 * MIB).value_max(10 * MIB));
    assert_eq!(store.resize(MIB), Err(ResizeError::TooSmall { least: 40 * MIB }));
    let mut store = build(&builder(64).segment_bytes(8 << 20));
    assert_eq!(store.resize(MIB), Err(ResizeError::TooSmall { least: 64 * MIB }));
}

/// Threads read and write while one of them changes the limit all the time.
#[test]
fn the_limit_changes_under_threads() {
    for eviction in policies() {
        let builder = builder(2).segment_bytes(16 << 10).workers(3).eviction(eviction);
        let mut store = build(&builder);
        let others = [store.clone(), store.clone()];
        let is_done = AtomicBool::new(false);
        let (is_done, seeds) = (&is_done, 1..);
        std::thread::scope(|scope| {
            let threads: Vec<_> = others
                .into_iter()
                .zip(seeds)
                .map(|(handle, seed)| scope.spawn(move || work(handle, seed, is_done)))
                .collect();
            let mut random = Random::new(9);
            for round in 0..60 {
                let limit = MIB + random.below(20) * MIB / 4;
                store.resize(limit).expect("it is 1 to 6 MiB");
                for turn in 0..40 {
                    store.expire(Ticks::from_millis(round * 40 + turn), 64);
                    store.reserve(random.below(300_000));
                }
            }
            store.rest();
            is_done.store(true, Ordering::Relaxed);
            threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
        });
        store.reserve(0);
        store.resize(MIB).expect("it is the least");
        store.clear();
        for turn in 0..100_000 {
            store.expire(Ticks::from_millis(100_000 + turn * 50), 64);
            let stats = store.stats();
            if stats.used_bytes <= MIB && !store.is_shrinking() {
                break;
            }
        }
        let stats = store.stats();
        assert!(stats.used_bytes <= MIB, "{eviction}: {stats:?}");
        store.check_integrity();
    }
}

fn work(mut store: SegStore, seed: u64, is_done: &AtomicBool) {
    let mut random = Random::new(seed);
    let mut millis = 0;
    while !is_done.load(Ordering::Relaxed) {
        millis += 1;
        let now = Ticks::from_millis(millis);
        for _ in 0..20 {
            let key = random.below(4_000);
            if random.below(2) == 0 {
                let len = [10, 300, 3_000, 40_000][random.below(40) as usize % 5 % 4];
                let expiry = storage::Expiry::after(Duration::from_secs(1 + random.below(3)), now);
                let value = vec![key as u8; len + random.below(9) as usize];
                let result = store.put(Put::new(&name(key), &value).expiry(expiry), now);
                assert!(matches!(result, Ok(_) | Err(StoreError::OutOfMemory)), "{result:?}");
            } else if let Some(item) = store.get(&name(key), now) {
                assert!(item.value().iter().all(|&byte| byte == key as u8), "{key}");
            }
        }
        store.expire(now, 64);
    }
}

/// Many clients that do not read what they have asked for: values are pinned for some, and copied into buffers for the others.
#[test]
fn pinned_values_and_buffers_together_leave_memory_to_be_written() {
    let mut store = build(&builder(16));
    fill(&mut store, 0..250, 50_000);
    let mut pins = Vec::new();
    for key in 0..250 {
        pins.extend(store.get(&name(key), NOW).and_then(|item| item.pin()));
    }
    store.reserve(64 * MIB);
    for _ in 0..10_000 {
        store.expire(NOW, 64);
    }
    for (from, len) in [(1_000, 500), (3_000, 20_000), (5_000, 200_000)] {
        for key in from..from + 1_000 {
            fill(&mut store, key..key + 1, len);
            store.expire(NOW, 64);
        }
    }
    assert!(pins.len() > 20);
    store.check_integrity();
}
