// SPDX-License-Identifier: Apache-2.0
//! Counts heap allocations and compares them with the crate's promises.
//!
//! The counting allocator serves the whole process, so this test has a process of its own.

use clock::Ticks;
use storage::{Announced, Change, Condition, Digits, Item, Put, Receive, Stage, Store};
use storage_hashmap::{HashMapStore, PIN_MIN};
use test_support::counting::{Counting, allocations, requested};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const NOW: Ticks = Ticks::ZERO;
const KEYS: u32 = 10_000;

fn filled() -> HashMapStore {
    let mut store = HashMapStore::builder().memory(16 << 20).shards(4).seed(3).build();
    for number in 0..KEYS {
        store.put(Put::new(&number.to_le_bytes(), &[b'1'; 100]), NOW).expect("it fits");
    }
    store.put(Put::new(b"counter", b"18446744073709551615"), NOW).expect("it fits");
    store.put(Put::new(b"counter", b"1"), NOW).expect("it fits");
    store
}

#[test]
fn reading_allocates_nothing() {
    let mut store = filled();
    let spent = allocations(|| {
        for number in 0..2 * KEYS {
            let key = number.to_le_bytes();
            store.prefetch(&key, Stage::Index);
            store.prefetch(&key, Stage::Item);
            store.prefetch(&key, Stage::Value);
            let length = store.get(&key, NOW).map_or(0, |item| item.value().len());
            assert_eq!(length, if number < KEYS { 100 } else { 0 });
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn overwriting_with_about_the_same_length_allocates_nothing() {
    let mut store = filled();
    let value = [b'2'; 104];
    let spent = allocations(|| {
        for number in 0..KEYS {
            let length = 90 + (number % 15) as usize;
            store.put(Put::new(&number.to_le_bytes(), &value[..length]), NOW).unwrap();
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn counting_touching_and_idle_maintenance_allocate_nothing() {
    let mut store = filled();
    let expiry = storage::Expiry::at(Ticks::from_millis(1000));
    let spent = allocations(|| {
        for number in 0..1000_u32 {
            let mut digits = *b"000";
            digits.iter_mut().rev().fold(number, |rest, digit| {
                *digit = b'0' + (rest % 10) as u8;
                rest / 10
            });
            let change = Change::Number(Digits::new(&digits));
            store.update(b"counter", NOW, |_| (change, ())).unwrap();
            store.update(&number.to_le_bytes(), NOW, |_| (Change::Expire(expiry), ())).unwrap();
            assert_eq!(store.expire(NOW, 100), 0);
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn a_new_small_item_is_one_allocation() {
    let mut store = HashMapStore::builder().memory(1 << 20).shards(1).seed(3).build();
    let fill = |store: &mut HashMapStore, from: u32| {
        for number in from..from + 20_000 {
            store.put(Put::new(&number.to_le_bytes(), &[b'1'; 100]), NOW).unwrap();
        }
    };
    fill(&mut store, 0);
    assert!(store.stats().evicted > 0, "the index has its final size");
    assert_eq!(allocations(|| fill(&mut store, 20_000)), 20_000);
}

/// The value itself is taken over: a commit allocates what else an item has, whether it replaces one or evicts
/// others.
#[test]
fn a_commit_does_not_copy_a_large_value() {
    let mut store = HashMapStore::builder().memory(8 << 20).shards(4).item_max(2 << 20).build();
    for number in 0..200_u32 {
        store.put(Put::new(&number.to_le_bytes(), &[b'1'; 80_000]), NOW).expect("it fits");
    }
    assert!(store.stats().evicted > 0, "it is full");
    for len in [PIN_MIN, 100_000, 2 << 20] {
        for condition in [Condition::Always, Condition::IfPresent] {
            let value = vec![b'x'; len];
            let mut draft = store.begin(Announced::new(b"key", len), NOW).expect("it fits");
            value.chunks(7_000).for_each(|piece| {
                store.append(&mut draft, piece, NOW).expect("it fits");
            });
            let bytes = requested(|| {
                store.commit(draft, condition, NOW).expect("it fits");
            });
            // A chunk of the index may be among it.
            assert!(bytes < 10_000, "{bytes} bytes for a value of {len}");
            let item = store.get(b"key", NOW).expect("just written");
            assert!(item.value() == value, "{len} bytes");
        }
    }
}
