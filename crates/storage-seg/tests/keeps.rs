// SPDX-License-Identifier: Apache-2.0
//! No item is evicted while all live items fit, whatever was overwritten and deleted.

use clock::Ticks;
use storage::{Put, Store};
use storage_seg::{Eviction, SegStore};

const NOW: Ticks = Ticks::ZERO;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % end
    }
}

fn store(memory: u64, value_max: u64) -> SegStore {
    let builder = SegStore::builder().memory(memory).value_max(value_max).seed(7);
    builder.build().expect("the options are possible")
}

fn put(store: &mut SegStore, key: u64, value: &[u8]) {
    store.put(Put::new(&key.to_be_bytes(), value), NOW).expect("others can go");
}

/// How many of the first keys are missing.
fn missing(store: &mut SegStore, keys: u64) -> u64 {
    (0..keys).filter(|key| store.get(&key.to_be_bytes(), NOW).is_none()).count() as u64
}

/// How many keys with such values there are when the first is evicted.
fn fitting(memory: u64, value: &[u8]) -> u64 {
    let mut store = store(memory, 64 << 10);
    let mut key = 0;
    while store.stats().evicted == 0 {
        put(&mut store, key, value);
        key += 1;
    }
    key - store.stats().evicted
}

/// The rule of the contract goes up to 70 %. Here up to 85 % next to nothing may go, and what is copied
/// for it is bounded.
#[test]
fn keys_that_are_written_over_stay_in_a_store_that_is_nearly_full() {
    const MEMORY: u64 = 16 << 20;
    for bytes in [24, 200, 3_000, 12_000, 20_000] {
        let value = vec![1; bytes];
        let keys = fitting(MEMORY, &value) * 85 / 100;
        let mut store = store(MEMORY, 64 << 10);
        let mut random = Random(3);
        (0..keys).for_each(|key| put(&mut store, key, &value));
        (0..4 * keys).for_each(|_| put(&mut store, random.below(keys), &value));
        let missing = missing(&mut store, keys);
        assert!(missing * 100 <= keys, "{missing} of {keys} with {bytes} bytes are missing");
        let copies = store.report(NOW).writes.copies().expect("much was written");
        assert!(copies < 2.0, "{copies} bytes copied for each that was written");
        store.check_integrity();
    }
}

/// Buffers take more memory from value to value: so much of the store's has to go back, but there are
/// free segments enough to give.
#[test]
fn large_values_stay_while_buffers_grow() {
    for (memory, bytes, count) in [(64 << 20, 1_000_000, 40), (256 << 20, 2_000_000, 80)] {
        let mut store = store(memory, 8 << 20);
        let value = vec![1; bytes];
        for key in 0..count {
            store.reserve((key + 1) * bytes as u64 / 5);
            put(&mut store, key, &value);
        }
        assert_eq!(missing(&mut store, count), 0, "of {count} values of {bytes} bytes");
    }
}

/// An index has no place for a key when it is full and there is no memory to let it grow.
#[test]
fn a_store_that_evicts_nothing_refuses_what_its_index_has_no_place_for() {
    let builder = SegStore::builder().memory(1 << 20).segment_bytes(64 << 10).seed(1);
    let mut store = builder.eviction(Eviction::None).build().expect("the options are possible");
    let stored = |&key: &u64| {
        if key.is_multiple_of(50) {
            store.expire(NOW, 8);
        }
        store.put(Put::new(&(key as u32).to_be_bytes(), b""), NOW).is_ok()
    };
    let kept: Vec<u64> = (0..60_000).filter(stored).collect();
    let is_there = |&&key: &&u64| store.get(&(key as u32).to_be_bytes(), NOW).is_some();
    assert_eq!(kept.iter().filter(is_there).count(), kept.len(), "some were dropped");
    assert!((40_000..50_000).contains(&kept.len()), "{} are kept", kept.len());
    assert_eq!(store.stats().evicted, 0);
    store.check_integrity();
}
