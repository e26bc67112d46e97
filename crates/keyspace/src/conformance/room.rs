// SPDX-License-Identifier: Apache-2.0
//! RULE-ROOM, RULE-POLICY: eviction.

use super::subject::{Noise, Subject};
use crate::{Keyspace, Policy, Reason};
use std::collections::BTreeSet;

const LIMIT: u64 = 2 << 20;
/// How far above the limit memory may be after a write for which there was room, besides what was
/// written.
const SLACK: u64 = 32 << 10;

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    no_limit(make);
    refuses(make);
    for policy in Policy::ALL.into_iter().filter(|&policy| policy != Policy::NoEviction) {
        holds_the_limit(make, policy);
        evicts_what_it_may(make, policy);
        comes_down(make, policy);
    }
    large_values_among_small(make);
    reserved(make);
    prefers(make, Policy::AllkeysLru);
    prefers(make, Policy::VolatileLru);
    prefers(make, Policy::AllkeysLfu);
    prefers(make, Policy::VolatileLfu);
    prefers(make, Policy::VolatileTtl);
}

fn key(number: usize) -> Vec<u8> {
    format!("key:{number}").into_bytes()
}

fn limited<K: Keyspace>(make: &impl Fn() -> K, policy: Policy) -> Subject<K> {
    let subject = Subject::new(make);
    subject.keyspace.settings().set_policy(policy);
    subject.keyspace.settings().set_maxmemory(LIMIT);
    subject
}

fn no_limit<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.keyspace.settings().set_policy(Policy::AllkeysLru);
    for number in 0..1000 {
        assert_eq!(subject.make_room(), (true, vec![]), "RULE-ROOM: there is no limit");
        subject.put(0, &key(number), &[7; 1000]);
    }
    subject.keyspace.settings().set_maxmemory(64 << 20);
    assert_eq!(subject.make_room(), (true, vec![]), "RULE-ROOM: far below the limit");
    subject.finish();
}

fn refuses<K: Keyspace>(make: &impl Fn() -> K) {
    for policy in [Policy::NoEviction, Policy::VolatileLru, Policy::VolatileTtl] {
        let mut subject = limited(make, policy);
        let mut written = 0;
        loop {
            let (room, told) = subject.make_room();
            assert_eq!(told, [], "RULE-POLICY: {policy:?} spares what has no expiry");
            if !room {
                break;
            }
            subject.put(0, &key(written), &[7; 1000]);
            written += 1;
            assert!(written < 10_000, "RULE-ROOM: {policy:?} writes without an end");
        }
        let used = subject.keyspace.used_bytes();
        assert!(used > LIMIT && used < LIMIT + SLACK, "RULE-ROOM: refused at {used}");
        assert_eq!(subject.make_room(), (false, vec![]), "RULE-ROOM: {policy:?}, again");
        assert_eq!(subject.keyspace.stats().evicted, 0, "RULE-POLICY: {policy:?}");
        (0..50).for_each(|number| drop(subject.delete(0, &key(number))));
        assert_eq!(subject.make_room(), (true, vec![]), "RULE-ROOM: after deletes");
        subject.finish();
    }
}

/// Memory stays at the limit while much more is written, and is used.
fn holds_the_limit<K: Keyspace>(make: &impl Fn() -> K, policy: Policy) {
    let mut subject = limited(make, policy);
    let mut noise = Noise::new(policy as u64);
    let mut evicted = 0;
    for number in 0..8000 {
        subject.now_ms += 3;
        let (room, told) = subject.make_room();
        assert!(room, "RULE-ROOM: refused by {policy:?}");
        evicted += told.len() as u64;
        for (db, key, reason) in told {
            assert_eq!(reason, Reason::Evicted, "RULE-ROOM: {policy:?}");
            assert_eq!(subject.read(db, &key), None, "RULE-GONE: told as evicted");
        }
        let len = noise.below(6000) >> noise.below(8);
        subject.put_for(number % 3, &key(number), &vec![7; len], 100_000_000);
        let used = subject.keyspace.used_bytes();
        let most = LIMIT + len as u64 * 2 + SLACK;
        assert!(used <= most, "RULE-ROOM: {used} used by {policy:?}");
        assert!(evicted == 0 || used > LIMIT / 2, "RULE-ROOM: only {used} used by {policy:?}");
    }
    assert!(evicted > 1000, "RULE-ROOM: {evicted} evicted by {policy:?}");
    assert_eq!(subject.keyspace.stats().evicted, evicted, "RULE-STATS: evicted");
    subject.finish();
}

/// A policy for entries with an expiry spares all others.
fn evicts_what_it_may<K: Keyspace>(make: &impl Fn() -> K, policy: Policy) {
    let mut subject = limited(make, policy);
    for number in 0..400 {
        subject.put(0, &key(number), &[7; 1000]);
    }
    let mut number = 400;
    let mut evicted = BTreeSet::new();
    while evicted.len() < 500 && number < 8000 {
        // Of entries that were all used just now a policy may prefer one sort.
        subject.now_ms += 100;
        let (room, told) = subject.make_room();
        assert!(room, "RULE-ROOM: refused by {policy:?}");
        evicted.extend(told.into_iter().map(|told| told.1));
        subject.put_for(0, &key(number), &[7; 1000], 1_000_000 + number as u64);
        number += 1;
    }
    let spared = (0..400).filter(|&number| !evicted.contains(&key(number))).count();
    if policy.is_volatile() {
        assert_eq!(spared, 400, "RULE-POLICY: {policy:?} spares what has no expiry");
    } else {
        assert!(spared < 400, "RULE-POLICY: {policy:?} evicts all sorts");
    }
    subject.finish();
}

/// A limit that is lowered is reached, by writes and by maintenance.
fn comes_down<K: Keyspace>(make: &impl Fn() -> K, policy: Policy) {
    for by_writes in [true, false] {
        let mut subject = Subject::new(make);
        subject.keyspace.settings().set_policy(policy);
        for number in 0..6000 {
            subject.put_for(number % 2, &key(number), &[7; 1000], 100_000_000);
        }
        subject.keyspace.settings().set_maxmemory(LIMIT);
        let mut calls = 0;
        while subject.keyspace.used_bytes() > LIMIT {
            if by_writes {
                assert!(subject.make_room().0, "RULE-ROOM: refused by {policy:?}");
                // What is written then may be above it again.
                if subject.keyspace.used_bytes() <= LIMIT {
                    break;
                }
                subject.put_for(0, &key(calls), &[8; 1000], 100_000_000);
            } else {
                subject.pass(25);
            }
            calls += 1;
            assert!(calls < 4000, "RULE-ROOM: {policy:?} does not reach a lowered limit");
        }
        assert!(subject.keyspace.used_bytes() > LIMIT / 2, "RULE-ROOM: {policy:?} goes too far");
        subject.finish();
    }
}

/// Values of a quarter of the limit push out hundreds of small ones each, and large ones push out
/// large ones.
fn large_values_among_small<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = limited(make, Policy::AllkeysLru);
    for number in 0..20_000 {
        subject.now_ms += 10;
        assert!(subject.make_room().0, "RULE-ROOM: refused");
        let len = if number % 1000 == 999 { LIMIT as usize / 4 } else { 10 };
        subject.put(0, &key(number), &vec![7; len]);
        let used = subject.keyspace.used_bytes();
        assert!(used <= LIMIT + len as u64 + SLACK, "RULE-ROOM: {used} used");
    }
    for number in 0..50 {
        assert!(subject.make_room().0, "RULE-ROOM: refused");
        subject.put(1, &key(number), &vec![7; LIMIT as usize / 3]);
        let used = subject.keyspace.used_bytes();
        assert!(used <= LIMIT + LIMIT / 3 + SLACK, "RULE-ROOM: {used} used");
    }
    subject.finish();
}

fn reserved<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = limited(make, Policy::AllkeysRandom);
    for number in 0..3000 {
        subject.make_room();
        subject.put(0, &key(number), &[7; 1000]);
    }
    subject.keyspace.reserve(LIMIT / 2);
    subject.pass(2000);
    assert!(subject.make_room().0, "RULE-ROOM: for what is reserved");
    let used = subject.keyspace.used_bytes();
    assert!(used <= LIMIT + SLACK, "RULE-ROOM: {used} used, with what is reserved");
    subject.keyspace.reserve(2 * LIMIT);
    while subject.make_room().0 {}
    let keys: u64 = subject.keyspace.stats().databases.iter().map(|database| database.keys).sum();
    assert_eq!(keys, 0, "RULE-ROOM: it is refused when nothing is left to evict");
    subject.finish();
}

/// Of two halves, the one that the policy prefers to evict loses many more.
fn prefers<K: Keyspace>(make: &impl Fn() -> K, policy: Policy) {
    const HALF: usize = 1000;
    let mut subject = Subject::new(make);
    subject.keyspace.settings().set_policy(policy);
    for number in 0..2 * HALF {
        let ttl_ms = if number < HALF { 100_000_000 } else { 200_000_000 };
        subject.put_for(0, &key(number), &[7; 500], ttl_ms);
    }
    for _ in 0..20 {
        subject.now_ms += 10_000;
        (HALF..2 * HALF).for_each(|number| drop(subject.read(0, &key(number))));
    }
    let limit = subject.keyspace.used_bytes() * 3 / 4;
    subject.keyspace.settings().set_maxmemory(limit);
    while subject.keyspace.used_bytes() > limit {
        assert!(subject.make_room().0, "RULE-ROOM: refused by {policy:?}");
    }
    let left = |subject: &mut Subject<K>, from: usize| {
        (from..from + HALF).filter(|&number| subject.read(0, &key(number)).is_some()).count()
    };
    let (preferred, other) = (left(&mut subject, 0), left(&mut subject, HALF));
    assert!(preferred < HALF * 6 / 10, "RULE-POLICY: {policy:?} leaves {preferred} and {other}");
    assert!(other > HALF * 9 / 10, "RULE-POLICY: {policy:?} leaves {preferred} and {other}");
    subject.finish();
}
