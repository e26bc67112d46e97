// SPDX-License-Identifier: Apache-2.0
//! RULE-ATOMIC: several threads at once, each with its own handle.

use super::subject::{BUDGET, Noise};
use crate::{Keyspace, Policy, Scope, View};
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::thread;
use values::Entry;

const THREADS: usize = 4;
/// The time of all these checks.
const NOW_MS: u64 = 1_700_000_000_000;

pub(super) fn run<K: Keyspace + Send + 'static>(make: &impl Fn() -> K) {
    counters(make);
    transfers(make);
    moves(make);
    whole_databases(make);
    churn(make);
}

/// Runs `work` on all threads at once, each with a handle and its number.
fn race<K: Keyspace + Send, R: Send>(
    keyspace: &K,
    work: impl Fn(&mut K, usize) -> R + Sync,
) -> Vec<R> {
    let barrier = Barrier::new(THREADS);
    let handles: Vec<K> = (0..THREADS).map(|_| keyspace.clone()).collect();
    let results = thread::scope(|scope| {
        let body = |(number, mut handle): (usize, K)| {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(&mut handle, number)
            })
        };
        let threads: Vec<_> = handles.into_iter().enumerate().map(body).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, R>| thread.join();
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    keyspace.check_integrity();
    let result = |result: thread::Result<R>| result.unwrap_or_else(|panic| resume_unwind(panic));
    results.into_iter().map(result).collect()
}

fn number_of(view: &impl View, key: &[u8]) -> i64 {
    view.peek(0, key).and_then(Entry::as_integer).expect("RULE-ATOMIC: a number is lost")
}

/// All add to the same few numbers.
fn counters<K: Keyspace + Send>(make: &impl Fn() -> K) {
    const ADDED: usize = 8000;
    let mut keyspace = make();
    let keys: [&[u8]; 3] = [b"one", b"two", b"three"];
    for key in keys {
        keyspace.view(Scope::ALL, NOW_MS).put(Entry::integer(key, 0), 0);
    }
    race(&keyspace, |handle, _| {
        for added in 0..ADDED {
            let key = keys[added % 3];
            let scope = handle.scope(key);
            let mut view = handle.view(scope, NOW_MS);
            let mut entry = view.get_mut(0, key).expect("RULE-ATOMIC: a number is lost");
            let number = entry.as_integer().expect("it is one");
            entry.set_integer(number + 1);
        }
    });
    let view = keyspace.view(Scope::ALL, NOW_MS);
    let sum: i64 = keys.iter().map(|key| number_of(&view, key)).sum();
    assert_eq!(sum, (THREADS * ADDED) as i64, "RULE-ATOMIC: the sum of counters");
}

/// Amounts go from one key to another, in views of both; the sum is the same at every moment.
fn transfers<K: Keyspace + Send>(make: &impl Fn() -> K) {
    const KEYS: usize = 40;
    const START: i64 = 1000;
    let mut keyspace = make();
    let key = |number: usize| format!("account:{number}").into_bytes();
    for number in 0..KEYS {
        keyspace.view(Scope::ALL, NOW_MS).put(Entry::integer(&key(number), START), 0);
    }
    race(&keyspace, |handle, number| {
        let mut noise = Noise::new(number as u64);
        for step in 0..6000 {
            let (from, to) = (key(noise.below(KEYS)), key(noise.below(KEYS)));
            let scope = handle.scope(&from) | handle.scope(&to);
            let mut view = handle.view(scope, NOW_MS);
            let amount = noise.below(50) as i64;
            for (key, change) in [(&from, -amount), (&to, amount)] {
                let mut entry = view.get_mut(0, key).expect("RULE-ATOMIC: an account is lost");
                let before = entry.as_integer().expect("it is a number");
                entry.set_integer(before + change);
            }
            drop(view);
            if step % 100 == number {
                let view = handle.view(Scope::ALL, NOW_MS);
                let sum: i64 = (0..KEYS).map(|number| number_of(&view, &key(number))).sum();
                assert_eq!(sum, START * KEYS as i64, "RULE-ATOMIC: the sum amid transfers");
            }
        }
    });
}

/// Entries themselves go from key to key and from database to database; none is lost or doubled.
fn moves<K: Keyspace + Send>(make: &impl Fn() -> K) {
    const KEYS: usize = 60;
    let mut keyspace = make();
    let key = |number: usize| format!("place:{number}").into_bytes();
    for number in 0..KEYS / 2 {
        let value = number.to_string();
        keyspace.view(Scope::ALL, NOW_MS).put(Entry::string(&key(number), value.as_bytes()), 0);
    }
    race(&keyspace, |handle, number| {
        let mut noise = Noise::new(100 + number as u64);
        for _ in 0..8000 {
            let (from, to) = (key(noise.below(KEYS)), key(noise.below(KEYS)));
            let (from_db, to_db) = (noise.below(3), noise.below(3));
            let scope = handle.scope(&from) | handle.scope(&to);
            let mut view = handle.view(scope, NOW_MS);
            if view.peek(to_db, &to).is_none()
                && let Some(entry) = view.take(from_db, &from)
            {
                assert!(view.put(entry.rename(&to), to_db).is_none(), "RULE-ATOMIC: doubled");
            }
            drop(view);
            handle.maintain(NOW_MS, BUDGET, &mut |_| ());
        }
    });
    let view = keyspace.view(Scope::ALL, NOW_MS);
    let places = (0..3).flat_map(|db| (0..KEYS).map(move |number| (db, number)));
    let mut found: Vec<i64> = places
        .filter_map(|(db, number)| view.peek(db, &key(number)).and_then(Entry::as_integer))
        .collect();
    found.sort_unstable();
    assert!(found.into_iter().eq(0..KEYS as i64 / 2), "RULE-ATOMIC: what is left of moved ones");
}

/// Views of everything beside views of one key: swaps, clears and counts.
fn whole_databases<K: Keyspace + Send>(make: &impl Fn() -> K) {
    let keyspace = make();
    race(&keyspace, |handle, number| {
        for step in 0..1500_u32 {
            if number > 0 {
                let key = (step % 200).to_le_bytes();
                let scope = handle.scope(&key);
                let mut view = handle.view(scope, NOW_MS);
                // In both databases or in none, whatever happens to these as a whole.
                for db in 0..2 {
                    view.put(Entry::string(&key, b"value"), db);
                }
                continue;
            }
            let mut view = handle.view(Scope::ALL, NOW_MS);
            assert_eq!(view.len(0), view.len(1), "RULE-ATOMIC: two databases written as one");
            view.swap(0, 1);
            if step % 20 == 0 {
                view.clear(0);
                view.clear(1);
            }
        }
    });
}

/// A full keyspace in which all threads write, read and evict; memory stays at the limit.
fn churn<K: Keyspace + Send>(make: &impl Fn() -> K) {
    const LIMIT: u64 = 1 << 20;
    for policy in [Policy::AllkeysLru, Policy::VolatileLfu] {
        let keyspace = make();
        keyspace.settings().set_policy(policy);
        keyspace.settings().set_maxmemory(LIMIT);
        race(&keyspace, |handle, number| {
            let mut noise = Noise::new(number as u64);
            for step in 0..6000_u64 {
                let now_ms = NOW_MS + step;
                assert!(handle.make_room(now_ms, &mut |_| ()), "RULE-ROOM: refused amid churn");
                let key = (noise.below(20_000) as u32).to_le_bytes();
                let mut entry = Entry::string(&key, &vec![7; noise.below(1000)]);
                entry.set_expiry(Some(now_ms + 1 + noise.below(10_000) as u64));
                let scope = handle.scope(&key);
                let mut view = handle.view(scope, now_ms);
                if let Some(old) = view.put(entry, noise.below(4)) {
                    view.dispose(old);
                }
                drop(view);
                handle.maintain(now_ms, BUDGET, &mut |_| ());
            }
        });
        let used = keyspace.used_bytes();
        assert!(used < LIMIT + LIMIT / 8, "RULE-ROOM: {used} used after a churn");
        assert!(keyspace.stats().evicted > 100, "RULE-ROOM: there was a churn");
    }
}
