// SPDX-License-Identifier: Apache-2.0
//! The table compared with a plain map: growth, chains, shrinking and their memory.

use clock::Ticks;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use storage::{Change, Condition, Expiry, Item, Put, Store, StoreError};
use storage_hashmap::{HashMapStore, KEY_MAX, PIN_MIN};

const NOW: Ticks = Ticks::ZERO;

fn store(memory: u64, shards: usize) -> HashMapStore {
    HashMapStore::builder().memory(memory).shards(shards).seed(5).build()
}

fn read(store: &mut HashMapStore, key: &[u8]) -> Option<Vec<u8>> {
    store.get(key, NOW).map(|item| item.value().to_vec())
}

#[derive(Clone, Debug)]
enum Step {
    Put {
        key: u16,
        length: usize,
    },
    Extend {
        key: u16,
        before: usize,
        after: usize,
    },
    Delete {
        key: u16,
    },
    /// Writes this many keys in a row, or deletes them.
    Many {
        from: u16,
        count: u16,
        delete: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..3000_u16;
    let length = || prop_oneof![8 => 0..200_usize, 1 => PIN_MIN - 20..PIN_MIN + 20];
    prop_oneof![
        4 => (key(), length()).prop_map(|(key, length)| Step::Put { key, length }),
        2 => (key(), 0..40_usize, 0..40_usize)
            .prop_map(|(key, before, after)| Step::Extend { key, before, after }),
        2 => key().prop_map(|key| Step::Delete { key }),
        1 => (key(), 0..800_u16, any::<bool>())
            .prop_map(|(from, count, delete)| Step::Many { from, count, delete }),
    ]
}

type Model = BTreeMap<u16, Vec<u8>>;

fn apply(store: &mut HashMapStore, model: &mut Model, step: &Step, number: usize) {
    match *step {
        Step::Put { key, length } => {
            let value = vec![number as u8; length];
            store.put(Put::new(&key.to_le_bytes(), &value), NOW).expect("there is room");
            model.insert(key, value);
        }
        Step::Extend { key, before, after } => {
            let (head, tail) = (vec![b'<'; before], vec![b'>'; after]);
            let change = Change::Extend { before: &head, after: &tail };
            let outcome = store.update(&key.to_le_bytes(), NOW, |_| (change, ()));
            let expected = model.get_mut(&key).ok_or(StoreError::NotFound).map(|value| {
                *value = [&head[..], value, &tail].concat();
            });
            assert_eq!(outcome, expected);
        }
        Step::Delete { key } => {
            assert_eq!(store.delete(&key.to_le_bytes(), NOW), model.remove(&key).is_some());
        }
        Step::Many { from, count, delete } => {
            for key in from..from + count {
                let step = if delete { Step::Delete { key } } else { Step::Put { key, length: 9 } };
                apply(store, model, &step, number);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_table_is_a_map(steps in prop::collection::vec(step(), 1..60), shards in 1..5_usize) {
        let (mut store, mut model) = (store(8 << 20, shards), Model::new());
        for (number, step) in steps.iter().enumerate() {
            apply(&mut store, &mut model, step, number);
        }
        store.check_integrity();
        prop_assert_eq!(store.stats().items, model.len() as u64);
        for key in 0..4000_u16 {
            let value = read(&mut store, &key.to_le_bytes());
            prop_assert_eq!(value.as_ref(), model.get(&key));
        }
    }
}

#[test]
fn the_index_grows_with_the_items_and_shrinks_with_them() {
    let mut store = store(32 << 20, 1);
    let empty = store.stats();
    for number in 0..100_000_u32 {
        store.put(Put::new(&number.to_le_bytes(), b"value"), NOW).unwrap();
    }
    let full = store.stats();
    assert!(full.index_slots >= full.items, "{full:?}");
    assert!(full.index_bytes < 40 * full.items, "{full:?}");
    store.check_integrity();
    for number in 0..100_000_u32 {
        assert!(store.delete(&number.to_le_bytes(), NOW));
    }
    store.check_integrity();
    let after = store.stats();
    assert_eq!((after.items, after.item_bytes), (0, 0));
    assert!(after.index_bytes < empty.index_bytes + full.index_bytes / 5, "{after:?}");
}

#[test]
fn an_item_in_use_survives_those_that_are_not() {
    let mut store = store(1 << 20, 1);
    store.put(Put::new(b"in use", b"value"), NOW).unwrap();
    for number in 0..50_000_u32 {
        store.put(Put::new(&number.to_le_bytes(), &[0; 100]), NOW).unwrap();
        assert!(store.get(b"in use", NOW).is_some(), "lost after {number} writes");
    }
    assert!(store.stats().evicted > 40_000);
}

#[test]
fn a_full_store_turns_from_small_items_to_large_ones_and_back() {
    let mut store = store(4 << 20, 4);
    let mut fill = |count: u32, length: usize| {
        let value = vec![1; length];
        for number in 0..count {
            store.put(Put::new(&number.to_le_bytes(), &value), NOW).unwrap();
            let stats = store.stats();
            assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
        }
        store.check_integrity();
        store.stats()
    };
    let small = fill(80_000, 10);
    let large = fill(400, 60_000);
    let again = fill(80_000, 10);
    assert!(large.item_bytes > large.limit_bytes / 4 * 3, "{large:?}");
    assert!(large.index_bytes < small.index_bytes / 2, "{small:?} then {large:?}");
    assert!(again.items > small.items / 10 * 9, "{small:?} then {again:?}");
}

#[test]
fn an_item_may_be_larger_than_a_shard() {
    let mut store = store(8 << 20, 64);
    let value = vec![7; 1 << 20];
    for number in 0..20_000_u32 {
        store.put(Put::new(&number.to_le_bytes(), &[0; 500]), NOW).unwrap();
    }
    for number in 0..50_u32 {
        store.put(Put::new(&number.to_le_bytes(), &value), NOW).unwrap();
        assert_eq!(read(&mut store, &number.to_le_bytes()).as_deref(), Some(&value[..]));
        assert!(store.stats().used_bytes <= 8 << 20);
    }
    store.check_integrity();
}

#[test]
fn without_eviction_a_full_store_says_so_and_keeps_everything() {
    let mut store = HashMapStore::builder().memory(1 << 20).shards(4).evict(false).seed(5).build();
    let key = |number: u32| number.to_le_bytes();
    let mut stored = 0;
    while store.put(Put::new(&key(stored), &[0; 1000]), NOW).is_ok() {
        stored += 1;
    }
    assert!(stored > 900, "only {stored} items of 1000 bytes in a mebibyte");
    assert_eq!(store.put(Put::new(b"more", &[0; 1000]), NOW), Err(StoreError::OutOfMemory));
    let grow = Change::Extend { before: b"", after: &[0; 5000] };
    assert_eq!(store.update(&key(0), NOW, |_| (grow, ())), Err(StoreError::OutOfMemory));
    assert!((0..stored).all(|number| read(&mut store, &key(number)) == Some(vec![0; 1000])));
    assert_eq!(store.stats().evicted, 0);
    assert!(store.delete(&key(0), NOW) && store.delete(&key(1), NOW));
    store.put(Put::new(b"more", &[0; 1000]), NOW).expect("two have made room for one");
    store.check_integrity();
}

#[test]
fn one_call_of_expire_is_bounded_and_many_find_everything() {
    let mut store = store(16 << 20, 2);
    let soon = Expiry::after(Duration::from_millis(10), NOW);
    for number in 0..30_000_u32 {
        let expiry = if number.is_multiple_of(3) { soon } else { Expiry::NEVER };
        store.put(Put::new(&number.to_le_bytes(), b"value").expiry(expiry), NOW).unwrap();
    }
    assert_eq!(store.expire(Ticks::from_millis(9), usize::MAX), 0);
    let later = Ticks::from_millis(10);
    let mut freed = 0;
    for _ in 0..30_000 / 50 + 100 {
        let once = store.expire(later, 50);
        assert!(once <= 50);
        freed += once;
    }
    assert_eq!((freed, store.stats().items), (10_000, 20_000));
    store.check_integrity();
}

#[test]
fn keys_have_a_longest_length() {
    let mut store = store(1 << 20, 1);
    let key = vec![b'k'; KEY_MAX + 1];
    assert_eq!(store.put(Put::new(&key, b"v"), NOW), Err(StoreError::TooLarge));
    assert!(store.get(&key, NOW).is_none());
    store.put(Put::new(&key[1..], b"v").condition(Condition::IfAbsent), NOW).unwrap();
    assert_eq!(read(&mut store, &key[1..]).as_deref(), Some(&b"v"[..]));
}

#[test]
fn as_many_clears_as_eras_have_numbers_bring_nothing_back() {
    let mut store = store(1 << 20, 1);
    let put = |store: &mut HashMapStore, key: &[u8]| store.put(Put::new(key, b"x"), NOW).map(drop);
    put(&mut store, b"kept").unwrap();
    // Nothing is swept, so the first item lies there until numbers run out. Each clear finds an item.
    for _ in 0..20 {
        put(&mut store, b"other").unwrap();
        store.clear();
        assert_eq!(read(&mut store, b"kept"), None);
    }
    put(&mut store, b"kept").unwrap();
    assert_eq!(read(&mut store, b"kept").as_deref(), Some(&b"x"[..]));
    store.check_integrity();
}
