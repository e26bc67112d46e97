// SPDX-License-Identifier: Apache-2.0
//! RULE-ATOMIC: several threads at once, each with its own handle.

use super::Limits;
use super::subject::{Noise, Subject};
use crate::{Change, Condition, Digits, Expiry, Item, Put, Store, StoreError, Version};
use clock::Ticks;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub(super) const THREADS: usize = 4;
/// The time of all these checks: nothing expires in them.
pub(super) const NOW: Ticks = Ticks::from_millis(1_234_567);

pub(super) fn run<S: Store + Clone + Send + 'static>(make: &impl Fn(Limits) -> S) {
    counters(make);
    versions(make);
    one_winner(make);
    appends(make);
    clears(make);
    super::churn::run(make);
}

/// Counts itself out when a thread is done, also by a panic.
pub(super) struct Running<'a>(pub(super) &'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Runs `work` on all threads at once, each with a handle and its number.
///
/// A thread that is done goes on calling `expire` as an idle worker does, until all are: an engine
/// may wait for every handle before it uses memory again.
pub(super) fn race<S: Store + Clone + Send, R: Send>(
    store: S,
    work: impl Fn(&mut S, usize) -> R + Sync,
) -> (S, Vec<R>) {
    let (barrier, running) = (Barrier::new(THREADS), AtomicUsize::new(THREADS));
    let body = |mut handle: S, number: usize| {
        let guard = Running(&running);
        barrier.wait();
        let result = work(&mut handle, number);
        drop(guard);
        while running.load(Ordering::Acquire) > 0 {
            handle.expire(NOW, 1);
            thread::yield_now();
        }
        (handle, result)
    };
    let handles: Vec<S> = (1..THREADS).map(|_| store.clone()).chain([store.clone()]).collect();
    drop(store);
    let mut finished = thread::scope(|scope| {
        let threads: Vec<_> = handles
            .into_iter()
            .enumerate()
            .map(|(number, handle)| {
                let body = &body;
                scope.spawn(move || body(handle, number))
            })
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, (S, R)>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    let last = finished.pop().expect("there are threads");
    let mut results: Vec<R> = finished.into_iter().map(|(_, result)| result).collect();
    results.push(last.1);
    last.0.check_integrity();
    (last.0, results)
}

pub(super) fn fresh<S: Store>(make: &impl Fn(Limits) -> S, limits: Limits) -> S {
    Subject::new(make, limits).store
}

fn read_number<S: Store>(store: &mut S, key: &[u8]) -> u64 {
    let item = store.get(key, NOW).expect("RULE-ATOMIC: the counter is always there");
    number(item.value())
}

pub(super) fn number(value: &[u8]) -> u64 {
    let text = std::str::from_utf8(value).ok();
    text.and_then(|text| text.parse().ok()).expect("RULE-ATOMIC: the counter is always a number")
}

/// Increments by update: none is lost, and each thread is told a different number.
fn counters<S: Store + Clone + Send>(make: &impl Fn(Limits) -> S) {
    const ROUNDS: u64 = 1_000;
    let mut store = fresh(make, Limits::ROOMY);
    assert!(store.put(Put::new(b"counter", b"0"), NOW).is_ok(), "RULE-EVICTION: memory is free");
    let (mut store, told) = race(store, |store, _| {
        let mut told = Vec::new();
        for round in 0..ROUNDS {
            let result = store.update(b"counter", NOW, |item| {
                let item = item.expect("RULE-ATOMIC: the counter is always there");
                let next = number(item.value()) + 1;
                (Change::Number(Digits::new(next.to_string().as_bytes())), next)
            });
            told.push(result.expect("RULE-EVICTION: memory is free"));
            if round % 16 == 0 {
                store.expire(NOW, 4);
            }
        }
        told
    });
    let mut told: Vec<u64> = told.into_iter().flatten().collect();
    told.sort_unstable();
    let all: Vec<u64> = (1..=THREADS as u64 * ROUNDS).collect();
    assert!(told == all, "RULE-ATOMIC: two updates of several threads came to the same number");
    assert_eq!(read_number(&mut store, b"counter"), all.len() as u64, "RULE-ATOMIC: the sum");
}

/// Increments by version: a put goes through only if nobody wrote since the read.
fn versions<S: Store + Clone + Send>(make: &impl Fn(Limits) -> S) {
    const ROUNDS: u64 = 200;
    let mut store = fresh(make, Limits::ROOMY);
    assert!(store.put(Put::new(b"counter", b"0"), NOW).is_ok(), "RULE-EVICTION: memory is free");
    let (mut store, seen) = race(store, |store, _| {
        let mut seen = Vec::new();
        while seen.len() < ROUNDS as usize {
            let item = store.get(b"counter", NOW).expect("RULE-ATOMIC: always there");
            let (next, version) = (number(item.value()) + 1, item.version());
            drop(item);
            let text = next.to_string();
            let put = Put::new(b"counter", text.as_bytes());
            match store.put(put.condition(Condition::IfVersion(version)), NOW) {
                Ok(version) => seen.push(version),
                Err(error) => assert_eq!(error, StoreError::Exists, "RULE-CONDITION: in a race"),
            }
        }
        seen
    });
    let total = THREADS as u64 * ROUNDS;
    assert_eq!(read_number(&mut store, b"counter"), total, "RULE-ATOMIC: puts by version");
    let distinct: HashSet<Version> = seen.into_iter().flatten().collect();
    assert_eq!(distinct.len() as u64, total, "RULE-VERSION-NEW: over all threads");
}

/// Of many that add one key, one succeeds; of many that delete it, one too.
fn one_winner<S: Store + Clone + Send>(make: &impl Fn(Limits) -> S) {
    const KEYS: u32 = 400;
    let store = fresh(make, Limits::ROOMY);
    let (store, added) = race(store, |store, thread| {
        let wins = (0..KEYS).filter(|key| {
            let (key, flags) = (key.to_le_bytes(), thread as u32);
            let put = Put::new(&key, b"mine").flags(flags).condition(Condition::IfAbsent);
            let result = store.put(put, NOW);
            let refused = result.is_err_and(|error| error != StoreError::Exists);
            assert!(!refused, "RULE-CONDITION: an add gives {result:?}");
            result.is_ok()
        });
        wins.count()
    });
    let wins: usize = added.iter().sum();
    assert_eq!(wins, KEYS as usize, "RULE-ATOMIC: each key is added once");
    let (store, deleted) = race(store, |store, _| {
        (0..KEYS).filter(|key| store.delete(&key.to_le_bytes(), NOW)).count()
    });
    let wins: usize = deleted.iter().sum();
    assert_eq!(wins, KEYS as usize, "RULE-ATOMIC: each item is deleted once");
    drop(store);
}

/// Appends: every piece is there once, and those of one thread in its order.
fn appends<S: Store + Clone + Send>(make: &impl Fn(Limits) -> S) {
    const PIECES: u16 = 200;
    let mut store = fresh(make, Limits::ROOMY);
    assert!(store.put(Put::new(b"log", b""), NOW).is_ok(), "RULE-EVICTION: memory is free");
    let (mut store, _) = race(store, |store, thread| {
        for piece in 0..PIECES {
            let after = [thread as u16, piece].map(u16::to_le_bytes).concat();
            let change = Change::Extend { before: b"", after: &after };
            let result = store.update(b"log", NOW, |_| (change, ()));
            assert_eq!(result, Ok(()), "RULE-UPDATE: an append");
        }
    });
    let item = store.get(b"log", NOW).expect("RULE-ATOMIC: the log is always there");
    let mut next = [0; THREADS];
    for piece in item.value().chunks(4) {
        let &[thread, 0, low, high] = piece else {
            panic!("RULE-ATOMIC: a broken piece {piece:?}");
        };
        let piece = u16::from_le_bytes([low, high]);
        assert_eq!(piece, next[usize::from(thread)], "RULE-ATOMIC: a piece of thread {thread}");
        next[usize::from(thread)] += 1;
    }
    assert_eq!(next, [PIECES; THREADS], "RULE-ATOMIC: all pieces are there");
}

/// After its own clear a thread finds nothing of what it wrote before, whoever clears besides.
fn clears<S: Store + Clone + Send>(make: &impl Fn(Limits) -> S) {
    let store = fresh(make, Limits::ROOMY);
    let (mut store, _) = race(store, |store, thread| {
        let mut noise = Noise::new(thread as u64);
        for round in 0..300_u16 {
            let key = [thread as u16, round % 7].map(u16::to_le_bytes).concat();
            let put = Put::new(&key, b"old").expiry(Expiry::NEVER);
            assert!(store.put(put, NOW).is_ok(), "RULE-EVICTION: memory is free");
            store.clear();
            assert!(store.get(&key, NOW).is_none(), "RULE-CLEAR: with several threads");
            if noise.below(4) == 0 {
                store.expire(NOW, 10);
            }
        }
    });
    for _ in 0..1_000 {
        store.expire(NOW, 10);
    }
    assert_eq!(store.stats().items, 0, "RULE-RECLAIM: after clears by several threads");
}
