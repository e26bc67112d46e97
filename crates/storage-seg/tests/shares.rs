// SPDX-License-Identifier: Apache-2.0
//! The share of the memory for new items adapts to the load.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use clock::Ticks;
use storage::{Change, Expiry, Put, Store};
use storage_seg::SegStore;

const MEMORY: usize = 16 << 20;
const VALUE: [u8; 200] = [b'v'; 200];

/// Bytes that an item with such a value takes in a segment.
const ITEM_BYTES: usize = VALUE.len() + 12;

fn store() -> SegStore {
    SegStore::builder().memory(MEMORY as u64).seed(7).build().unwrap()
}

fn write(store: &mut SegStore, key: u64) {
    store.put(Put::new(&key.to_le_bytes(), &VALUE), Ticks::ZERO).unwrap();
}

fn is_there(store: &mut SegStore, key: u64) -> bool {
    store.get(&key.to_le_bytes(), Ticks::ZERO).is_some()
}

/// The same, as a client does that touches what it reads.
fn is_touched(store: &mut SegStore, key: u64) -> bool {
    let touched = store.update(&key.to_le_bytes(), Ticks::ZERO, |item| match item {
        Some(_) => (Change::Expire(Expiry::NEVER), true),
        None => (Change::Miss, false),
    });
    touched.unwrap()
}

/// Of items that are read once, after others worth `part` of the memory were written: the share that is
/// missing, once as many went through as fill the memory some times.
fn missing(part: f64, is_there: fn(&mut SegStore, u64) -> bool) -> f64 {
    let mut store = store();
    let items = (MEMORY / ITEM_BYTES) as u64;
    let distance = (items as f64 * part) as u64;
    let mut missing = 0;
    for key in 0..8 * items {
        write(&mut store, key);
        if key >= distance && !is_there(&mut store, key - distance) && key >= 6 * items {
            missing += 1;
        }
        if key % 64 == 0 {
            store.expire(Ticks::ZERO, 64);
        }
    }
    store.check_integrity();
    missing as f64 / (2 * items) as f64
}

/// Reads a key, and writes a value of this length where it is missing, as a client would. Returns whether it was there.
fn ask(store: &mut SegStore, key: u64, value_len: usize) -> bool {
    let is_there = is_there(store, key);
    if !is_there {
        let value = vec![b'v'; value_len];
        store.put(Put::new(&key.to_le_bytes(), &value), Ticks::ZERO).unwrap();
    }
    if key.is_multiple_of(64) {
        store.expire(Ticks::ZERO, 64);
    }
    is_there
}

#[test]
fn clients_that_go_over_to_values_five_hundred_times_as_large_find_them() {
    const SMALL: u64 = 200_000;
    const LARGE: u64 = 200;
    let mut store = store();
    let mut random = 1_u64;
    let mut draw = || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..1_000_000 {
        // Some much more often than others.
        ask(&mut store, (draw().powi(3) * SMALL as f64) as u64, 80);
    }
    // Half of the memory, in its place.
    let misses = [(); 2].map(|()| {
        let requests = 6_400;
        (0..requests)
            .filter(|_| !ask(&mut store, (1 << 40) + (draw() * LARGE as f64) as u64, 40_000))
            .count() as f64
            / f64::from(requests)
    });
    println!("{misses:?}");
    assert!(misses[1] <= 0.03, "of the second 6,400 requests {misses:?} miss");
    store.check_integrity();
}

#[test]
fn what_is_read_once_and_late_is_kept_until_then() {
    for (part, most) in [(0.25, 0.0), (0.5, 0.01), (0.75, 0.05)] {
        for is_there in [is_there, is_touched] {
            let missing = missing(part, is_there);
            println!("{part}: {missing}");
            assert!(missing <= most, "{missing} are missing after {part} of the memory");
        }
    }
}

/// Each key is asked for twice, and filled in by the client where it is missing: a cache that missed the second time would have
/// twice as much written to it, and would go on to miss.
#[test]
fn what_is_asked_for_twice_and_filled_in_is_found_from_the_beginning() {
    for part in [0.4, 0.65] {
        let mut store = store();
        let items = (MEMORY / ITEM_BYTES) as u64;
        let distance = (items as f64 * part) as u64;
        let mut missing = 0;
        for key in 0..8 * items {
            ask(&mut store, key, VALUE.len());
            let again = key.checked_sub(distance);
            missing += again.map_or(0, |again| u64::from(!ask(&mut store, again, VALUE.len())));
        }
        store.check_integrity();
        assert!(missing * 100 <= items, "{missing} of {} at {part}", 8 * items);
    }
}
