// SPDX-License-Identifier: Apache-2.0
//! Properties that hold under every eviction policy, and without evictions.

mod support;

use clock::Ticks;
use std::time::Duration;
use storage::{Change, Digits, Expiry, Item, Put, Store, StoreError};
use storage_seg::{Builder, Eviction, SegStore};
use support::{Random, name, policies};

const NOW: Ticks = Ticks::from_millis(1_000);

fn builder(eviction: Eviction) -> Builder {
    SegStore::builder().memory(2 << 20).eviction(eviction).seed(2)
}

fn never_evicting() -> SegStore {
    builder(Eviction::None).build().expect("the options are possible")
}

/// Writes until there is no room. Returns how many keys were written.
fn fill(store: &mut SegStore, length: usize) -> u64 {
    for key in 0..10_000 {
        let result = store.put(Put::new(&name(key), &vec![1; length]), NOW);
        assert_eq!(store.stats().evicted, 0, "evicts, but was told not to");
        if let Err(error) = result {
            assert_eq!(error, StoreError::OutOfMemory);
            return key;
        }
        store.expire(NOW, 16);
    }
    panic!("ten megabytes fit in two");
}

#[test]
fn without_eviction_a_full_store_refuses_and_keeps_all() {
    let mut store = never_evicting();
    let count = fill(&mut store, 1_000);
    assert!(count > 1_500, "{count} items of a kilobyte in two megabytes");
    for key in 0..count {
        assert!(store.get(&name(key), NOW).is_some(), "key {key} of {count} is gone");
    }
    assert_eq!(store.stats().evicted, 0);
    store.check_integrity();
}

/// Memory of deleted items is memory: what fitted once fits again.
#[test]
fn without_eviction_deleted_items_make_room() {
    let mut store = never_evicting();
    let first = fill(&mut store, 1_000);
    let mut count = first;
    for round in 0..5 {
        for key in 0..count {
            assert!(store.delete(&name(key), NOW), "key {key} in round {round}");
        }
        for _ in 0..100 {
            store.expire(NOW, 100);
        }
        count = fill(&mut store, 1_000);
        assert!(count >= first * 9 / 10, "round {round}: {count} instead of {first}");
    }
}

/// Dead items make room, even where each segment has a live item.
#[test]
fn without_eviction_keys_may_be_written_over_for_ever() {
    for live in [5, 8, 11, 14] {
        let mut store = never_evicting();
        let mut random = Random::new(3);
        let keys = live * 1_000;
        for round in 0..keys * 20 {
            let key = if round < keys { round } else { random.below(keys) };
            let result = store.put(Put::new(&name(key), &[round as u8; 80]), NOW);
            assert!(result.is_ok(), "{result:?} in round {round}: {:?}", store.stats());
        }
        assert_eq!((store.stats().items, store.stats().evicted), (keys, 0));
        store.check_integrity();
    }
}

/// One item that is overwritten again and again takes the room of one item.
#[test]
fn without_eviction_an_item_may_be_written_over_for_ever() {
    let mut store = never_evicting();
    for round in 0..20_000_u64 {
        let value = vec![round as u8; 1_000];
        let result = store.put(Put::new(&name(round % 3), &value), NOW);
        assert!(result.is_ok(), "{result:?} in round {round}: {:?}", store.stats());
        store.expire(NOW, 16);
    }
    assert_eq!(store.stats().items, 3);
}

#[test]
fn without_eviction_expired_items_make_room() {
    let mut store = never_evicting();
    for round in 0..10_u64 {
        let now = Ticks::from_millis(1_000 + round * 10_000);
        let expiry = Expiry::after(Duration::from_secs(5), now);
        for key in 0..1_500 {
            let (name, value) = (name(key), vec![1; 1_000]);
            let result = store.put(Put::new(&name, &value).expiry(expiry), now);
            assert!(result.is_ok(), "{result:?} for key {key} in round {round}");
        }
    }
}

/// A version is never that of another write of the same key, wherever its items have been.
#[test]
fn no_version_comes_again() {
    for eviction in policies() {
        for workers in [1, 2] {
            let mut store =
                builder(eviction).workers(workers).build().expect("the options are possible");
            let (mut random, mut seen) = (Random::new(1), std::collections::HashSet::new());
            for number in 0..30_000_u64 {
                let key = random.below(20);
                let filler = vec![0; random.below(3_000) as usize];
                if let Ok(version) = store.put(Put::new(&name(key), &filler), NOW) {
                    assert!(seen.insert((key, version)), "{version:?} came again");
                }
                let number = Digits::new(number.to_string().as_bytes());
                let changed = store.update(&name(key), NOW, |item| match item {
                    Some(_) => (Change::Number(number), true),
                    None => (Change::Keep, false),
                });
                if changed == Ok(true) {
                    let item = store.get(&name(key), NOW).expect("it was just written");
                    assert!(seen.insert((key, item.version())), "a number's version came again");
                }
                store.expire(NOW, 16);
                if random.below(3_000) == 0 {
                    store.clear();
                }
            }
        }
    }
}

/// A number that the store shows under this name.
fn detail(store: &SegStore, wanted: &str) -> u64 {
    let mut found = None;
    store.details(NOW, &mut |name, value| {
        if name == wanted {
            found = value.to_string().parse().ok();
        }
    });
    found.unwrap_or_else(|| panic!("{wanted} is not shown"))
}

/// Items that a policy wants to keep are kept: there is always a segment for them, whichever tier
/// they go to.
#[test]
fn a_policy_keeps_the_share_that_it_means_to_keep() {
    for (name_of, least, most) in [("merge", 0.22, 0.35), ("scored", 0.40, 0.60)] {
        for workers in [1, 2] {
            let eviction = name_of.parse().expect("it is a policy");
            let builder = builder(eviction).memory(4 << 20).workers(workers);
            let mut store = builder.build().expect("the options are possible");
            let mut random = Random::new(3);
            for round in 0..300_000_u64 {
                // Low keys are popular.
                let range = 1 + random.below(100_000);
                let key = random.below(range);
                if store.get(&name(key), NOW).is_none() {
                    let value = vec![1; 20 + (key % 200) as usize];
                    store.put(Put::new(&name(key), &value), NOW).expect("others can go");
                }
                if round % 16 == 0 {
                    store.expire(NOW, 16);
                }
            }
            let evictions = store.report(NOW).evictions;
            let kept = evictions.kept_bytes as f64 / evictions.examined_bytes as f64;
            assert!((least..most).contains(&kept), "{name_of} keeps {kept:.2}: {evictions:?}");
            assert_eq!(detail(&store, "item_squeeze"), 0, "{name_of}: no room for what is kept");
        }
    }
}
