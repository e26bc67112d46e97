// SPDX-License-Identifier: Apache-2.0
//! RULE-STATS: the statistics are right.

use super::subject::Subject;
use crate::{Keyspace, Policy, View};

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    begins_empty(make);
    hits_and_misses(make);
    keys(make);
    resets(make);
}

fn begins_empty<K: Keyspace>(make: &impl Fn() -> K) {
    let subject = Subject::new(make);
    let stats = subject.keyspace.stats();
    assert_eq!(stats.databases.len(), subject.keyspace.databases(), "RULE-STATS: databases");
    assert!(stats.databases.iter().all(|database| database.keys == 0), "RULE-STATS: keys");
    assert_eq!((stats.entry_bytes, stats.leaving_bytes), (0, 0), "RULE-STATS: bytes");
    assert_eq!((stats.hits, stats.misses, stats.evicted), (0, 0, 0), "RULE-STATS: counts");
}

fn hits_and_misses<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put(0, b"key", b"value");
    subject.put_for(0, b"dead", b"value", 10);
    subject.now_ms += 10;
    let mut view = subject.whole();
    view.set_touch(false);
    assert!(view.get(0, b"key").is_some() && view.get(0, b"key").is_some());
    assert!(view.get(1, b"key").is_none() && view.get(0, b"dead").is_none());
    assert!(view.get(0, b"dead").is_none());
    assert!(view.glance(0, b"key").is_some() && view.glance(0, b"none").is_none());
    // None of these counts.
    assert!(view.peek(0, b"key").is_some() && view.peek(0, b"none").is_none());
    assert!(view.get_mut(0, b"key").is_some() && view.get_mut(0, b"none").is_none());
    assert!(view.take(0, b"none").is_none() && view.random(0, 1).is_some());
    drop(view);
    let stats = subject.keyspace.stats();
    assert_eq!((stats.hits, stats.misses), (3, 4), "RULE-STATS: hits and misses");
    assert_eq!(stats.expired, 1, "RULE-STATS: expired, found by a read");
    subject.finish();
}

fn keys<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..500_u32 {
        subject.put(0, &number.to_le_bytes(), b"value");
        subject.put_for(3, &number.to_le_bytes(), b"value", 1000);
        subject.put(3, &(number / 2 + 1000).to_le_bytes(), b"value");
    }
    let stats = subject.keyspace.stats();
    let databases = |db: usize| (stats.databases[db].keys, stats.databases[db].volatile);
    assert_eq!(databases(0), (500, 0), "RULE-STATS: database 0");
    assert_eq!(databases(1), (0, 0), "RULE-STATS: database 1");
    assert_eq!(databases(3), (750, 500), "RULE-STATS: database 3");
    subject.finish();
}

fn resets<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put_for(0, b"dead", b"value", 10);
    subject.put(0, b"key", b"value");
    subject.now_ms += 10;
    assert!(subject.read(0, b"key").is_some() && subject.read(0, b"dead").is_none());
    subject.put(0, b"large", &[7; 100_000]);
    subject.keyspace.settings().set_policy(Policy::AllkeysRandom);
    subject.keyspace.settings().set_maxmemory(1);
    subject.make_room();
    assert!(subject.keyspace.stats().evicted > 0, "RULE-STATS: evicted");
    subject.keyspace.reset_stats();
    let stats = subject.keyspace.stats();
    let counts = [stats.hits, stats.misses, stats.expired, stats.expired_fields, stats.evicted];
    assert_eq!(counts, [0; 5], "RULE-STATS: after a reset");
    subject.finish();
}
