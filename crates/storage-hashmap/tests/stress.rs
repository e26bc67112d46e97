// SPDX-License-Identifier: Apache-2.0
//! Threads that write, read and drop the same keys in a memory far too small for them. Every value
//! describes itself, so any reader detects a torn, stale or foreign one.

use clock::Ticks;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::{Change, Condition, Expiry, Item, Put, Stage, Store, StoreError};
use storage_hashmap::HashMapStore;

const KEYS: u64 = 4_000;
const ROUNDS: u64 = 60_000;
const MEMORY: u64 = 512 * 1024;

/// A small generator of test data: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A value that names its key and its writer's stamp, and whose every byte follows from them.
fn describe(key: u64, stamp: u64, length: usize) -> Vec<u8> {
    let mut value = Vec::with_capacity(16 + length);
    value.extend_from_slice(&key.to_le_bytes());
    value.extend_from_slice(&stamp.to_le_bytes());
    value.extend((0..length).map(|at| (key ^ stamp ^ at as u64) as u8));
    value
}

fn check(item: &impl Item, key: u64) {
    assert_eq!(item.key(), key.to_le_bytes());
    let value = item.value();
    let (named, rest) = value.split_at(8);
    assert_eq!(named, key.to_le_bytes(), "a value of another key");
    let stamp = u64::from_le_bytes(rest[..8].try_into().expect("eight bytes"));
    assert_eq!(value, describe(key, stamp, value.len() - 16), "a torn value");
    assert_eq!(item.flags(), stamp as u32, "flags of another value");
}

fn write(store: &mut HashMapStore, random: &mut Random, key: u64, stamp: u64, now: Ticks) {
    let length = match random.below(100) {
        0 => 20_000 + random.below(12_000),
        1..20 => random.below(3_000),
        _ => random.below(120),
    };
    let value = describe(key, stamp, length as usize);
    let name = key.to_le_bytes();
    let expiry = match random.below(3) {
        0 => Expiry::after(Duration::from_millis(1 + random.below(50)), now),
        _ => Expiry::NEVER,
    };
    let condition = match random.below(4) {
        0 => Condition::IfAbsent,
        1 => Condition::IfPresent,
        _ => Condition::Always,
    };
    let put = Put::new(&name, &value).flags(stamp as u32).expiry(expiry).condition(condition);
    match store.put(put, now) {
        Ok(_) | Err(StoreError::Exists | StoreError::NotFound) => {}
        Err(error) => panic!("{error}, though everything may be evicted"),
    }
}

/// One thread's work. Returns how many reads found something.
fn work(mut store: HashMapStore, seed: u64, millis: &AtomicU64) -> u64 {
    let mut random = Random(seed);
    let mut hits = 0;
    for round in 0..ROUNDS {
        let now = Ticks::from_millis(millis.fetch_add(round % 64 / 63, Ordering::Relaxed));
        let key = random.below(KEYS).min(random.below(KEYS));
        let name = key.to_le_bytes();
        store.prefetch(&name, Stage::Index);
        store.prefetch(&name, Stage::Item);
        store.prefetch(&name, Stage::Value);
        match random.below(20) {
            0 => {
                store.delete(&name, now);
            }
            1 => {
                store.expire(now, 16);
            }
            2 => {
                let mut stamp = None;
                let value = describe(key, seed ^ round, 50);
                let outcome = store.update(&name, now, |item| {
                    stamp = item.map(|item| check(&item, key));
                    let flags = (seed ^ round) as u32;
                    (Change::Put { value: &value, flags, expiry: Expiry::NEVER }, ())
                });
                outcome.expect("everything may be evicted");
            }
            3..10 => write(&mut store, &mut random, key, seed ^ round, now),
            _ => {
                if let Some(item) = store.get(&name, now) {
                    check(&item, key);
                    hits += 1;
                }
            }
        }
        if round % 20_000 == 10_000 {
            store.clear();
        }
    }
    hits
}

fn stress(shards: usize) {
    let store =
        HashMapStore::builder().memory(MEMORY).item_max(64 << 10).shards(shards).seed(11).build();
    let millis = AtomicU64::new(0);
    let hits = std::thread::scope(|scope| {
        let threads = [0x1234_5678_9abc_def1, 0x0fed_cba9_8765_4321].map(|seed| {
            let (store, millis) = (store.clone(), &millis);
            scope.spawn(move || work(store, seed, millis))
        });
        for _ in 0..200 {
            store.check_integrity();
        }
        threads.map(|thread| thread.join().expect("no panic")).iter().sum::<u64>()
    });
    let stats = store.stats();
    assert!(hits > ROUNDS / 20, "{hits} hits");
    assert!(stats.evicted > 1_000 && stats.expired > 100, "{stats:?}");
    store.check_integrity();
}

#[test]
fn one_shard_withstands_two_threads() {
    stress(1);
}

#[test]
fn eight_shards_withstand_two_threads() {
    stress(8);
}
