// SPDX-License-Identifier: Apache-2.0
//! Large values lie together in wide segments: little memory is lost between them, and they take no more
//! from others than they need.

mod support;

use clock::Ticks;
use std::time::Duration;
use storage::{Expiry, Item, Put, Store};
use storage_seg::{Builder, PIN_MIN, SegStore};
use support::{HEADER, Random, check, describe, flags, name, stamps};

const NOW: Ticks = Ticks::from_millis(1_000);
const MEMORY: u64 = 64 << 20;

fn builder(eviction: &str) -> Builder {
    let eviction = eviction.parse().expect("it is a policy");
    SegStore::builder().memory(MEMORY).eviction(eviction).seed(7)
}

/// Writes a value of `length` bytes in all.
#[track_caller]
fn write(store: &mut SegStore, key: u64, stamp: u64, length: usize) {
    let (name, value) = (name(key), describe(key, stamp, length - HEADER));
    store.put(Put::new(&name, &value).flags(flags(key)), NOW).expect("others can go");
    let stats = store.stats();
    assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
}

#[track_caller]
fn reads(store: &mut SegStore, key: u64, stamp: u64) {
    let item = store.get(&name(key), NOW).expect("it fits");
    assert_eq!(check(&item, key), [stamp], "key {key}");
}

/// The share of a full store's memory that values of one size take on average.
fn share(stores: &mut [SegStore], length: usize) -> f64 {
    let round = MEMORY / length as u64;
    let (mut sum, handles) = (0.0, stores.len() as u64);
    for key in 0..6 * round {
        let store = &mut stores[(key % handles) as usize];
        write(store, key, 1, length);
        store.expire(NOW, 16);
        if handles > 1 {
            store.rest();
        }
        // Of what is full.
        if key >= 3 * round {
            sum += (store.stats().items * length as u64) as f64 / MEMORY as f64;
        }
    }
    stores[0].check_integrity();
    sum / (3 * round) as f64
}

#[test]
fn values_of_every_size_fill_nine_tenths() {
    for eviction in ["scored", "fifo"] {
        for length in [
            10_000, 13_200, 33_000, 66_000, 70_000, 100_000, 131_000, 140_000, 200_000, 300_000,
            350_000, 500_000, 800_000, 1_000_000,
        ] {
            let mut store = builder(eviction).build().expect("the options are possible");
            let share = share(std::slice::from_mut(&mut store), length);
            let least = if length == 500_000 { 0.94 } else { 0.9 };
            assert!(share >= least, "{eviction}: {share} of {length} bytes each");
        }
    }
}

/// Each handle has open segments and a reserve of its own.
#[test]
fn three_handles_fill_more_than_eight_tenths() {
    for length in [33_000, 100_000, 300_000, 1_000_000] {
        let first = builder("scored").workers(3).build().expect("the options are possible");
        let mut stores = [first.clone(), first.clone(), first];
        let share = share(&mut stores, length);
        assert!(share >= 0.82, "{share} of {length} bytes each");
    }
}

/// Values of sizes from a share of a segment to many of them lie together.
#[test]
fn mixed_sizes_fill_more_than_eight_tenths() {
    for eviction in ["scored", "fifo", "s3fifo", "merge", "util", "random"] {
        let mut store = builder(eviction).build().expect("the options are possible");
        let mut random = Random::new(3);
        let (mut sum, rounds) = (0.0, 2_000);
        for key in 0..rounds {
            write(&mut store, key, 1, 9_000 + random.below(600_000) as usize);
            store.expire(NOW, 16);
            if key >= rounds / 2 {
                sum += store.stats().item_bytes as f64 / MEMORY as f64;
            }
        }
        let share = sum / (rounds / 2) as f64;
        assert!(share >= 0.84, "{eviction}: {share}");
        store.check_integrity();
    }
}

/// Memory goes from small items to large ones and back, with every policy and any number of handles.
#[test]
fn small_and_large_items_change_places() {
    for (workers, memory) in [(1, 8 << 20), (3, 16 << 20)] {
        for eviction in support::policies().filter(|policy| policy.to_string() != "none") {
            let builder = SegStore::builder().memory(memory).workers(workers).seed(9);
            let first = builder.eviction(eviction).build().expect("the options are possible");
            let mut stores = vec![first];
            (1..workers).for_each(|_| stores.push(stores[0].clone()));
            let mut random = Random::new(5);
            for stamp in 0..4_000 {
                // Now most are small, now most are large.
                let is_large = random.below(100) < if stamp / 500 % 2 == 0 { 2 } else { 40 };
                let length = if is_large { 40_000 + random.below(120_000) } else { 100 };
                let store = &mut stores[stamp as usize % workers];
                let key = random.below(3_000);
                write(store, key, stamp, length as usize);
                reads(store, key, stamp);
                let other = random.below(3_000);
                if let Some(item) = store.get(&name(other), NOW) {
                    assert_eq!(check(&item, other).len(), 1);
                }
                store.expire(NOW, 16);
                if stamp % 400 == 0 {
                    store.check_integrity();
                }
                if workers > 1 {
                    store.rest();
                }
            }
            stores[0].check_integrity();
        }
    }
}

/// A row of large values that fit leaves all of them, whatever was there before.
#[test]
fn no_value_of_a_batch_evicts_an_elder_one() {
    for eviction in ["scored", "fifo"] {
        for is_full in [false, true] {
            let mut store = builder(eviction).build().expect("the options are possible");
            for key in 0..if is_full { 900_000 } else { 0 } {
                let key = (1_000 + key as u64).to_le_bytes();
                store.put(Put::new(&key, &[1; 60]), NOW).expect("others can go");
            }
            store.expire(NOW, 16);
            for key in 0..40 {
                write(&mut store, key, 1, 1_000_000);
                store.expire(NOW, 16);
            }
            (0..40).for_each(|key| reads(&mut store, key, 1));
            store.check_integrity();
        }
    }
}

/// What fits stays, of large values as well as of small ones.
#[test]
fn large_values_that_are_written_over_stay() {
    for eviction in ["scored", "fifo", "s3fifo"] {
        for length in [40_000, 100_000, 300_000, 500_000] {
            let keys = MEMORY * 7 / 10 / length as u64;
            let mut store = builder(eviction).build().expect("the options are possible");
            let mut random = Random::new(11);
            let mut written = vec![1; keys as usize];
            (0..keys).for_each(|key| write(&mut store, key, 1, length));
            for stamp in 2..6 * keys {
                let key = random.below(keys);
                write(&mut store, key, stamp, length);
                written[key as usize] = stamp;
                store.expire(NOW, 16);
            }
            for (key, &stamp) in (0..).zip(&written) {
                reads(&mut store, key, stamp);
            }
            assert_eq!(store.stats().evicted, 0, "{eviction}, {length} bytes each");
            store.check_integrity();
        }
    }
}

/// A value that is pinned stays while its wide segment grows and is emptied.
#[test]
fn pinned_values_of_wide_segments_stay() {
    let mut store = builder("scored").memory(16 << 20).build().expect("the options are possible");
    let mut pins = Vec::new();
    for key in 0..3_000 {
        let length = PIN_MIN + key as usize * 7_919 % 90_000;
        write(&mut store, key, 1, length);
        if key % 250 < 3 {
            let item = store.get(&name(key), NOW).expect("it was just written");
            pins.extend(item.pin().map(|pin| (key, pin)));
        }
        if pins.len() > 6 {
            let (key, pin) = pins.remove(0);
            assert_eq!(stamps(key, &pin), [1]);
        }
        store.expire(NOW, 16);
    }
    store.check_integrity();
    for (key, pin) in &pins {
        assert_eq!(stamps(*key, pin), [1]);
    }
    drop(pins);
    assert_eq!(store.report(NOW).segments.pinned, 0);
}

/// Expired large values give all their memory back, and so do cleared ones.
#[test]
fn memory_of_wide_segments_comes_back() {
    let mut store = builder("scored").build().expect("the options are possible");
    for round in 0..3 {
        let now = Ticks::from_millis(1_000 + round * 100_000);
        for key in 0..300 {
            let (name, value) = (name(key), describe(key, round, 20_000 + 300 * key as usize));
            let expiry = Expiry::after(Duration::from_secs(5 + key % 3), now);
            store.put(Put::new(&name, &value).expiry(expiry), now).expect("it fits");
        }
        let later = Ticks::from_millis(now.as_millis() + 10_000);
        if round == 2 {
            store.clear();
        }
        for _ in 0..100 {
            store.expire(later, 100);
        }
        let stats = store.stats();
        assert_eq!((stats.items, stats.used_bytes), (0, stats.index_bytes), "{stats:?}");
        store.check_integrity();
    }
}

/// Values above what a wide segment with several items takes are alone in theirs.
#[test]
fn the_largest_values_lie_in_wide_segments() {
    let builder = SegStore::builder().memory(256 << 20).value_max(40 << 20).seed(7);
    let mut store = builder.build().expect("the options are possible");
    let value = vec![7; 40 << 20];
    for key in 0..60 {
        store.put(Put::new(&name(key), &value[..300_000]), NOW).expect("it fits");
        if key % 10 == 0 {
            store.put(Put::new(&name(1_000 + key), &value), NOW).expect("others can go");
            let item = store.get(&name(1_000 + key), NOW).expect("it was just written");
            assert_eq!(item.value(), value);
        }
        store.expire(NOW, 16);
        store.check_integrity();
    }
}
