// SPDX-License-Identifier: Apache-2.0
//! RULE-SCAN, RULE-RANDOM: finding entries without their keys.

use super::subject::{Noise, Subject};
use crate::{Keyspace, View};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    scans_nothing(make);
    scans_all(make);
    scans_amid_changes(make);
    takes_any_cursor(make);
    draws_all(make);
    draws_evenly(make);
}

fn key(number: u32) -> Vec<u8> {
    format!("key:{number}").into_bytes()
}

/// A whole walk, with `between` done between two steps; how often each key was seen.
fn walk<K: Keyspace>(
    subject: &mut Subject<K>,
    db: usize,
    mut between: impl FnMut(&mut Subject<K>),
) -> BTreeMap<Vec<u8>, usize> {
    let mut seen = BTreeMap::new();
    let (mut cursor, mut steps) = (0, 0);
    loop {
        let mut step = 0;
        let scope = subject.keyspace.scan_scope(cursor);
        let mut view = subject.keyspace.view(scope, subject.now_ms);
        let now_ms = subject.now_ms;
        cursor = view.scan(db, cursor, &mut |entry| {
            let is_live = entry.expiry().is_none_or(|expiry| expiry > now_ms);
            assert!(is_live, "RULE-SCAN: a dead entry is shown");
            *seen.entry(entry.key().to_vec()).or_insert(0) += 1;
            step += 1;
        });
        drop(view);
        assert!(step <= 200, "RULE-SCAN: {step} entries in one step");
        if cursor == 0 {
            return seen;
        }
        steps += 1;
        assert!(steps < 100_000, "RULE-SCAN: a walk without an end");
        between(subject);
    }
}

fn scans_nothing<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    assert!(walk(&mut subject, 0, |_| ()).is_empty(), "RULE-SCAN: an empty database");
    subject.put(1, b"key", b"value");
    assert!(walk(&mut subject, 0, |_| ()).is_empty(), "RULE-SCAN: another database");
    subject.finish();
}

fn scans_all<K: Keyspace>(make: &impl Fn() -> K) {
    for len in [1, 2, 7, 100, 5000] {
        let mut subject = Subject::new(make);
        for number in 0..len {
            subject.put(2, &key(number), b"value");
            subject.put_for(2, &key(number + len), b"dead", 10);
        }
        subject.now_ms += 10;
        let seen = walk(&mut subject, 2, |_| ());
        let expected: BTreeSet<Vec<u8>> = (0..len).map(key).collect();
        assert!(seen.keys().eq(expected.iter()), "RULE-SCAN: {} of {len} are seen", seen.len());
        // Though the walk removes the dead ones, and tables shrink under it.
        assert!(seen.values().all(|&times| times == 1), "RULE-SCAN: one is seen twice");
        subject.finish();
    }
}

/// Entries come and go in numbers while the walk goes on, so that the tables grow and shrink.
fn scans_amid_changes<K: Keyspace>(make: &impl Fn() -> K) {
    for grows in [true, false] {
        let mut subject = Subject::new(make);
        let mut noise = Noise::new(7);
        let others = if grows { 0 } else { 6000 };
        (0..1000).for_each(|number| drop(subject.put(0, &key(number), b"stays")));
        (0..others).for_each(|number| drop(subject.put(0, &key(10_000 + number), b"other")));
        let mut next = 0;
        let seen = walk(&mut subject, 0, |subject| {
            for _ in 0..20 {
                if grows && next < 6000 {
                    subject.put(0, &key(10_000 + next), b"other");
                } else if !grows {
                    subject.delete(0, &key(10_000 + next));
                }
                next += 1;
            }
            let stays = key(noise.below(1000) as u32);
            subject.put(0, &stays, &[b'x'; 50]);
        });
        let other = (0..1000).find(|&number| seen.get(&key(number)) != Some(&1));
        assert_eq!(other, None, "RULE-SCAN: not once, but there throughout (grows: {grows})");
        subject.finish();
    }
}

fn takes_any_cursor<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    (0..1000).for_each(|number| drop(subject.put(0, &key(number), b"value")));
    let mut noise = Noise::new(3);
    for _ in 0..500 {
        let mut cursor = noise.next() >> noise.below(64);
        for _ in 0..3 {
            let scope = subject.keyspace.scan_scope(cursor);
            let mut view = subject.keyspace.view(scope, subject.now_ms);
            cursor = view.scan(0, cursor, &mut |_| ());
        }
    }
    for cursor in [u64::MAX, u64::MAX - 1, 1 << 63, 1] {
        subject.whole().scan(0, cursor, &mut |_| ());
    }
    subject.finish();
}

fn draws_all<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let mut noise = Noise::new(11);
    assert!(subject.whole().random(0, 1).is_none(), "RULE-RANDOM: an empty database");
    // One live entry among many dead ones.
    for number in 0..2000 {
        subject.put_for(0, &key(number), b"dead", 10);
    }
    subject.put(0, b"live", b"value");
    subject.now_ms += 10;
    let drawn = subject.whole().random(0, noise.next()).map(|entry| entry.key().to_vec());
    assert_eq!(drawn, Some(b"live".to_vec()), "RULE-RANDOM: the only live one");
    for number in 0..50 {
        subject.put(1, &key(number), b"value");
    }
    let mut drawn = BTreeSet::new();
    for _ in 0..3000 {
        let mut view = subject.whole();
        let entry = view.random(1, noise.next()).expect("RULE-RANDOM: there are some");
        drawn.insert(entry.key().to_vec());
    }
    assert_eq!(drawn.len(), 50, "RULE-RANDOM: all of 50 are drawn at times");
    subject.finish();
}

fn draws_evenly<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let mut noise = Noise::new(12);
    for number in 0..1000 {
        subject.put(0, &key(number), b"value");
    }
    let mut counts = BTreeMap::new();
    for _ in 0..50_000 {
        let mut view = subject.whole();
        let entry = view.random(0, noise.next()).expect("RULE-RANDOM: there are some");
        *counts.entry(entry.key().to_vec()).or_insert(0_u32) += 1;
    }
    // 50 on average.
    let most = counts.values().max().copied().unwrap_or(0);
    assert!(counts.len() > 990, "RULE-RANDOM: only {} of 1000 are drawn", counts.len());
    assert!(most < 250, "RULE-RANDOM: one is drawn {most} times");
    subject.finish();
}
