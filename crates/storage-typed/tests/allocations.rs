// SPDX-License-Identifier: Apache-2.0
//! Counts heap allocations and compares them with the typed keyspace's promises.
//!
//! The counting allocator serves the whole process, so this test has a process of its own.

use keyspace::Stage;
use keyspace::{Keyspace, Policy, Scope, View};
use storage_typed::TypedStore;
use test_support::counting::{Counting, allocations};
use values::{Digits, Entry};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const NOW_MS: u64 = 1_700_000_000_000;
const KEYS: u32 = 30_000;

fn filled() -> TypedStore {
    let mut store = TypedStore::builder().shards(8).seed(3).build();
    for number in 0..KEYS {
        let key = number.to_le_bytes();
        let scope = store.scope(&key);
        store.view(scope, NOW_MS).put(Entry::string(&key, &[b'v'; 100]), 0);
        // The handle takes note of where the buckets are, which allocates once for each thousand.
        for stage in [Stage::Index, Stage::Item] {
            store.prefetch(0, &key, stage);
        }
    }
    store
}

#[test]
fn reading_one_key_allocates_nothing() {
    for policy in [Policy::AllkeysLru, Policy::AllkeysLfu] {
        let mut store = filled();
        store.settings().set_policy(policy);
        let spent = allocations(|| {
            for number in 0..2 * KEYS {
                let key = number.to_le_bytes();
                for stage in [Stage::Index, Stage::Item, Stage::Value] {
                    store.prefetch(0, &key, stage);
                }
                let scope = store.scope(&key);
                let mut view = store.view(scope, NOW_MS + u64::from(number));
                let len = view.get(0, &key).map_or(0, |entry| entry.text(&mut Digits::new()).len());
                assert_eq!(len, if number < KEYS { 100 } else { 0 });
            }
        });
        assert_eq!(spent, 0, "{policy:?}");
    }
}

#[test]
fn reading_many_keys_in_one_view_allocates_nothing() {
    let mut store = filled();
    let spent = allocations(|| {
        for first in 0..KEYS - 50 {
            let keys = (first..first + 50).map(u32::to_le_bytes);
            let scope = keys.clone().fold(Scope::NONE, |scope, key| scope | store.scope(&key));
            let mut view = store.view(scope, NOW_MS);
            assert_eq!(keys.filter(|key| view.get(0, key).is_some()).count(), 50);
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn editing_within_the_size_class_and_an_idle_turn_allocate_nothing() {
    let mut store = filled();
    store.settings().set_maxmemory(1 << 30);
    let spent = allocations(|| {
        for number in 0..KEYS {
            let key = number.to_le_bytes();
            assert!(store.make_room(NOW_MS, &mut |_| ()));
            let scope = store.scope(&key);
            let mut view = store.view(scope, NOW_MS);
            let mut entry = view.get_mut(0, &key).expect("it is there");
            entry.set_string(&[b'w'; 103]);
            drop(entry);
            drop(view);
            assert!(!store.maintain(NOW_MS, 64, &mut |_| ()));
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn a_replaced_entry_costs_what_the_new_one_does() {
    let mut store = filled();
    let new: Vec<Entry> =
        (0..KEYS).map(|number| Entry::string(&number.to_le_bytes(), &[b'w'; 100])).collect();
    let spent = allocations(|| {
        for entry in new {
            let scope = store.scope(entry.key());
            let old = store.view(scope, NOW_MS).put(entry, 0);
            assert!(old.is_some());
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn eviction_allocates_nothing() {
    let mut store = filled();
    store.settings().set_policy(Policy::AllkeysLru);
    let limit = store.used_bytes() / 2;
    store.settings().set_maxmemory(limit);
    let spent = allocations(|| {
        while store.used_bytes() > limit {
            assert!(store.make_room(NOW_MS + 5000, &mut |_| ()));
        }
    });
    assert_eq!(spent, 0);
}
