// SPDX-License-Identifier: Apache-2.0
//! Threads that use one store of a megabyte or two in all ways, while it evicts all the time. Every
//! value describes itself, so any reader detects a torn, stale or foreign one.
//!
//! Each test runs for a number of rounds; with `SHOEBILL_STRESS_SECONDS` set it begins again with other
//! random numbers until that time is over.

mod scene;
#[path = "../support/mod.rs"]
mod support;
mod waves;
mod worker;

use clock::Ticks;
use scene::{Load, Scene};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use storage::{Change, Digits, Expiry, Item, Put, Store};
use storage_seg::{Eviction, SegStore};
use support::{Random, name, policies};
use waves::Waves;

/// Rounds of each thread.
const ROUNDS: u64 = 120_000;
/// Rounds of each thread where a test goes through all policies.
const SHORT_ROUNDS: u64 = 16_000;
/// More rounds than a thread needs until the last wave is over, by far.
const WAVES_ROUNDS: u64 = 100 * ROUNDS;

const SCENE: Scene = Scene {
    memory: 2 << 20,
    threads: 2,
    eviction: Eviction::Scored { size_exponent: 1.0 },
    integrity: false,
    load: Load::Mixed,
    rounds: ROUNDS,
    seed: 1,
};

#[test]
fn two_threads_in_two_mebibytes() {
    SCENE.run();
}

#[test]
fn four_threads_in_one_mebibyte() {
    Scene { threads: 4, memory: 1 << 20, rounds: ROUNDS / 2, ..SCENE }.run();
}

#[test]
fn one_thread_alone() {
    // One alone writes less than all of that memory holds.
    Scene { threads: 1, memory: SCENE.memory / 2, ..SCENE }.run();
}

#[test]
fn the_index_changes_its_size_all_the_time() {
    Scene { load: Load::Waves, rounds: ROUNDS / 2, ..SCENE }.run();
    Scene { load: Load::Waves, rounds: ROUNDS / 4, threads: 1, ..SCENE }.run();
}

#[test]
fn every_policy() {
    for (seed, eviction) in (100..).zip(policies()) {
        for load in [Load::Mixed, Load::Waves] {
            Scene { eviction, seed, load, rounds: SHORT_ROUNDS, ..SCENE }.play();
        }
    }
}

#[test]
fn every_checksum_matches() {
    Scene { integrity: true, rounds: ROUNDS / 2, ..SCENE }.run();
}

/// One thread changes the expiry of an item, the other its value, which keeps the expiry: whatever the
/// first has set is what it reads.
#[test]
fn no_touch_is_lost_beside_other_changes() {
    let builder = SegStore::builder().memory(8 << 20).value_max(1 << 20).workers(2).seed(1);
    let mut store = builder.build().expect("the options are possible");
    let now = Ticks::from_millis(1_000);
    let hour = Expiry::after(Duration::from_secs(3_600), now);
    store.put(Put::new(b"key", b"0").expiry(hour), now).expect("it fits");
    let mut other = store.clone();
    let is_done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut number = 0_u64;
            while is_done.load(Ordering::Relaxed) == 0 {
                number += 1;
                let digits = Digits::new(number.to_string().as_bytes());
                let result = other.update(b"key", now, |_| (Change::Number(digits), ()));
                assert_eq!(result, Ok(()), "the key is always there");
                other.expire(now, 1);
            }
        });
        for round in 0..ROUNDS / 4 {
            let expiry = Expiry::after(Duration::from_secs(10 + round % 1_000), now);
            let result = store.update(b"key", now, |_| (Change::Expire(expiry), ()));
            assert_eq!(result, Ok(()), "the key is always there");
            let seen = store.get(b"key", now).expect("the key is always there").expiry();
            if seen != expiry {
                is_done.store(1, Ordering::Relaxed);
            }
            assert_eq!(seen, expiry, "a touch is lost in round {round}");
            store.expire(now, 1);
        }
        is_done.store(1, Ordering::Relaxed);
        store.rest();
        // The end of the scope would do, but a sanitizer does not see that one wait.
        thread.join().expect("the other thread ends well");
    });
}

/// One thread clears and looks for what it wrote before, while the other makes room all the time, for
/// which it moves items that are read often.
#[test]
fn what_is_cleared_stays_cleared_wherever_it_is_moved() {
    let merge: Eviction = "merge".parse().expect("it is a policy");
    let builder = SegStore::builder().memory(1 << 20).value_max(1 << 18).workers(2).seed(1);
    let mut store = builder.eviction(merge).build().expect("the options are possible");
    let mut other = store.clone();
    let now = Ticks::from_millis(1_000);
    let is_done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut key = 1 << 32;
            while is_done.load(Ordering::Relaxed) == 0 {
                key += 1;
                other.put(Put::new(&name(key), &[0; 1_500]), now).expect("others can go");
                other.expire(now, 64);
            }
        });
        let mut found = 0;
        for round in 0..SHORT_ROUNDS / 4 {
            for key in 0..20 {
                store.put(Put::new(&name(key), b"small"), now).expect("others can go");
                for _ in 0..3 {
                    store.get(&name(key), now);
                }
            }
            if round % 2 == 0 {
                std::thread::yield_now();
            }
            store.clear();
            found += (0..20).filter(|&key| store.get(&name(key), now).is_some()).count();
            store.expire(now, 64);
        }
        is_done.store(1, Ordering::Relaxed);
        store.rest();
        // The end of the scope would do, but a sanitizer does not see that one wait.
        thread.join().expect("the other thread ends well");
        assert_eq!(found, 0, "cleared items came back");
    });
}

/// One thread looks at the memory in use all the time, while two others write tiny items until the index has
/// grown, then large ones until it has shrunk, and so on, so that segments come and go.
#[test]
fn no_look_finds_memory_beyond_the_limit() {
    let builder = SegStore::builder().memory(2 << 20).value_max(1 << 18).workers(3).seed(1);
    let watcher = builder.build().expect("the options are possible");
    let now = Ticks::from_millis(1_000);
    let waves = Waves::new(slots(&watcher));
    std::thread::scope(|scope| {
        let threads = [1_u64, 2].map(|thread| {
            let (mut store, waves) = (watcher.clone(), &waves);
            scope.spawn(move || {
                let mut random = Random::new(thread);
                let mut round = 0;
                while let Some(wave) = waves.current() {
                    round += 1;
                    assert!(round < WAVES_ROUNDS, "no end of {wave:?}");
                    let length = random.below(if wave.grows() { 12 } else { 30_000 });
                    let key = name(random.below(60_000));
                    let value = &[0; 30_000][..length as usize];
                    store.put(Put::new(&key, value), now).expect("others can go");
                    if round % 8 == 0 {
                        store.expire(now, 16);
                    }
                    if round % 64 == 0 {
                        waves.see(wave, slots(&store));
                    }
                }
                store.rest();
            })
        });
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            let stats = watcher.stats();
            assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
            std::thread::yield_now();
        }
        // The end of the scope would do, but a sanitizer does not see that one wait.
        threads.into_iter().for_each(|thread| thread.join().expect("the other thread ends well"));
    });
    assert!(waves.current().is_none(), "the index changed its size in each wave");
}

/// The size of the index.
fn slots(store: &SegStore) -> u32 {
    u32::try_from(store.stats().index_slots).expect("the memory is small")
}
