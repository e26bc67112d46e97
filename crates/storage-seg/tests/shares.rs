// SPDX-License-Identifier: Apache-2.0
//! The share of the memory for new items adapts to the load.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use clock::Ticks;
use storage::{Put, Store};
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

/// Of items that are read once, after others worth `part` of the memory were written: the share that is
/// missing, once as many went through as fill the memory some times.
fn missing(part: f64) -> f64 {
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

#[test]
fn what_is_read_once_and_late_is_kept_until_then() {
    for (part, most) in [(0.25, 0.0), (0.5, 0.01), (0.75, 0.05)] {
        let missing = missing(part);
        println!("{part}: {missing}");
        assert!(missing <= most, "{missing} are missing after {part} of the memory");
    }
}
