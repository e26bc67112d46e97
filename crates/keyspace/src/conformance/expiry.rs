// SPDX-License-Identifier: Apache-2.0
//! RULE-EXPIRY, RULE-GONE, RULE-ACTIVE, RULE-KEEP, RULE-FIELD: entries and fields that expire.

use super::subject::{BUDGET, Subject, Told};
use crate::{Keyspace, Policy, Reason, View};
use std::collections::BTreeSet;
use std::sync::Arc;
use values::{Entry, Limits};

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    every_operation_sees_it(make);
    past_expiry(make);
    later_in_one_view(make);
    told_once(make);
    told_each_as_itself(make);
    told_to_listeners_only(make);
    active(make);
    active_off(make);
    nothing_goes(make);
    active_within_budget(make);
    rare_among_many(make);
    fields(make);
    fields_by_name(make);
    fields_beside_own_expiry(make);
    many_fields(make);
}

/// Each operation at the last moment of an entry's life and at the first after it.
fn every_operation_sees_it<K: Keyspace>(make: &impl Fn() -> K) {
    for operation in 0..7 {
        for late_ms in [0, 1, 999, 5000] {
            let mut subject = Subject::new(make);
            subject.put_for(0, b"key", b"value", 4321);
            subject.now_ms += 4320;
            assert!(finds(&mut subject, operation), "RULE-EXPIRY: {operation} a moment before");
            let mut subject = Subject::new(make);
            subject.put_for(0, b"key", b"value", 4321);
            subject.now_ms += 4321 + late_ms;
            assert!(!finds(&mut subject, operation), "RULE-EXPIRY: {operation}, {late_ms} ms late");
            assert_eq!(subject.read(0, b"key"), None, "RULE-EXPIRY: after {operation}");
            subject.put(0, b"key", b"new");
            let read = subject.read(0, b"key");
            assert_eq!(read, Some(b"new".to_vec()), "RULE-EXPIRY: in place of a dead one");
            subject.finish();
        }
    }
}

/// Whether one of the operations finds the key live.
fn finds<K: Keyspace>(subject: &mut Subject<K>, operation: usize) -> bool {
    let now_ms = subject.now_ms;
    let mut whole = subject.whole();
    match operation {
        0 => whole.get(0, b"key").is_some(),
        1 => whole.peek(0, b"key").is_some(),
        2 => whole.get_mut(0, b"key").is_some(),
        3 => whole.take(0, b"key").is_some(),
        4 => whole.set_expiry(0, b"key", Some(now_ms)),
        5 => whole.random(0, 77).is_some(),
        _ => {
            let (mut seen, mut cursor) = (false, 0);
            loop {
                cursor = whole.scan(0, cursor, &mut |_| seen = true);
                if cursor == 0 {
                    return seen;
                }
            }
        }
    }
}

fn past_expiry<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put(0, b"key", b"old");
    for ttl_ms in [0, 1] {
        // An expiry of now or of a moment ago.
        subject.now_ms += 1;
        let mut entry = Entry::string(b"key", b"value");
        entry.set_expiry(Some(subject.now_ms - ttl_ms));
        subject.put_entry(0, entry);
        assert_eq!(subject.read(0, b"key"), None, "RULE-EXPIRY: put with a past expiry");
    }
    subject.put(0, b"key", b"value");
    let now_ms = subject.now_ms;
    assert!(subject.view(b"key").set_expiry(0, b"key", Some(now_ms)), "RULE-EDIT: it is there");
    assert_eq!(subject.read(0, b"key"), None, "RULE-EXPIRY: set to a past expiry");
    subject.put_for(0, b"key", b"value", 5);
    subject.now_ms += 5;
    assert_eq!(subject.put(0, b"key", b"new"), None, "RULE-EXPIRY: a dead one is not replaced");
    subject.finish();
}

/// A view whose time is set sees what has expired by then as gone.
fn later_in_one_view<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put_for(0, b"early", b"value", 10);
    subject.put_for(0, b"late", b"value", 11);
    subject.now_ms += 9;
    let now_ms = subject.now_ms;
    let mut view = subject.whole();
    assert!(view.get(0, b"early").is_some(), "RULE-EXPIRY: a moment before");
    view.set_unix_ms(now_ms + 1);
    assert_eq!(view.unix_ms(), now_ms + 1, "RULE-EXPIRY: the time that was set");
    assert!(view.peek(0, b"early").is_none(), "RULE-EXPIRY: it is over meanwhile");
    assert!(view.get(0, b"early").is_none(), "RULE-EXPIRY: it is over meanwhile");
    assert!(view.get(0, b"late").is_some(), "RULE-EXPIRY: the other is not");
    drop(view);
    assert_eq!(subject.whole().len(0), 1, "RULE-EXPIRY: what was found expired is removed");
    subject.finish();
}

fn told_once<K: Keyspace>(make: &impl Fn() -> K) {
    let expired = |db: usize| -> Vec<Told> { vec![(db, b"key".to_vec(), Reason::Expired)] };
    for operation in [0, 2, 3, 4] {
        let mut subject = Subject::new(make);
        subject.keyspace.settings().add_listener();
        subject.put_for(0, b"key", b"value", 100);
        subject.now_ms += 100;
        assert!(subject.view(b"key").peek(0, b"key").is_none(), "RULE-EXPIRY: a peek");
        assert_eq!(subject.drained(), [], "RULE-GONE: a peek leaves it");
        finds(&mut subject, operation);
        assert_eq!(subject.drained(), expired(0), "RULE-GONE: {operation} met it");
        finds(&mut subject, operation);
        assert_eq!(subject.drained(), [], "RULE-GONE: {operation} told it before");
        assert_eq!(subject.pass(20_000), [], "RULE-GONE: {operation} told it before");
        subject.finish();
    }
    let mut subject = Subject::new(make);
    subject.keyspace.settings().add_listener();
    subject.put_for(1, b"key", b"value", 100);
    subject.now_ms += 100;
    let mut view = subject.view(b"key");
    assert!(view.put(Entry::string(b"key", b"new"), 1).is_none(), "RULE-EXPIRY: put");
    let mut told = 0;
    view.drain_gone(&mut |_| told += 1);
    assert_eq!(told, 1, "RULE-GONE: put met it, and the same view tells");
    drop(view);
    assert_eq!(subject.delete(1, b"key"), Some(b"new".to_vec()), "RULE-READ: the new one");
    assert_eq!(subject.pass(20_000), [], "RULE-GONE: what is taken is not told");
    subject.finish();
}

/// Of many expired entries, only the one that an operation meets is removed.
fn told_each_as_itself<K: Keyspace>(make: &impl Fn() -> K) {
    const KEYS: u32 = 4000;
    let mut subject = Subject::new(make);
    subject.keyspace.settings().add_listener();
    for number in 0..KEYS {
        subject.put_for(0, &number.to_le_bytes(), b"value", 100);
    }
    subject.now_ms += 100;
    for number in 0..KEYS {
        let key = number.to_le_bytes();
        assert_eq!(subject.read(0, &key), None, "RULE-EXPIRY: one of many");
        let expected: Vec<Told> = vec![(0, key.to_vec(), Reason::Expired)];
        assert_eq!(subject.drained(), expected, "RULE-GONE: another went than was met");
    }
    subject.finish();
}

fn told_to_listeners_only<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put_for(0, b"key", b"value", 1);
    subject.now_ms += 1;
    assert_eq!(subject.read(0, b"key"), None, "RULE-EXPIRY");
    subject.keyspace.settings().add_listener();
    assert_eq!(subject.drained(), [], "RULE-GONE: nobody listened");
    subject.put_for(0, b"key", b"value", 1);
    subject.now_ms += 1;
    assert_eq!(subject.read(0, b"key"), None, "RULE-EXPIRY");
    // Reports that were not drained are not lost.
    let told = subject.pass(100);
    assert_eq!(told, [(0, b"key".to_vec(), Reason::Expired)], "RULE-GONE: told by maintain");
    subject.finish();
}

/// Entries of several databases with all sorts of expiries, removed by maintenance alone.
fn active<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let key = |number: usize| format!("key:{number}").into_bytes();
    for number in 0..4000 {
        let (db, key) = (number % 3, key(number));
        match number % 4 {
            0 => drop(subject.put(db, &key, b"stays")),
            1 => subject.put_for(db, &key, b"hour", 3_600_000),
            _ => subject.put_for(db, &key, b"goes", (number % 1000) as u64 * 7),
        }
    }
    let goes = |number: &usize| number % 4 >= 2;
    let mut told = subject.pass(7000);
    told.extend(subject.pass(10_000));
    told.sort();
    let mut expected: Vec<Told> =
        (0..4000).filter(goes).map(|number| (number % 3, key(number), Reason::Expired)).collect();
    expected.sort();
    assert_eq!(told.len(), expected.len(), "RULE-ACTIVE: how many were told");
    assert_eq!(told, expected, "RULE-ACTIVE: what was told");
    assert_eq!(subject.keyspace.stats().expired, 2000, "RULE-STATS: expired");
    let keys: u64 = subject.keyspace.stats().databases.iter().map(|database| database.keys).sum();
    assert_eq!(keys, 2000, "RULE-ACTIVE: what is left");
    for number in 0..4000 {
        let is_there = subject.read(number % 3, &key(number)).is_some();
        assert_eq!(is_there, !goes(&number), "RULE-ACTIVE: key {number}");
    }
    let told = subject.pass(3_600_000);
    assert_eq!(told.len(), 1000, "RULE-ACTIVE: after an hour");
    subject.finish();
}

fn active_off<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.keyspace.settings().set_active_expiry(false);
    subject.put_for(0, b"key", b"value", 10);
    assert_eq!(subject.pass(20_000), [], "RULE-ACTIVE: it is off");
    assert_eq!(subject.whole().len(0), 1, "RULE-ACTIVE: it is off");
    assert_eq!(subject.read(0, b"key"), None, "RULE-EXPIRY: also while active expiry is off");
    subject.put_for(0, b"key", b"value", 10);
    subject.keyspace.settings().set_active_expiry(true);
    assert_eq!(subject.pass(20_000).len(), 1, "RULE-ACTIVE: it is on again");
    subject.finish();
}

fn nothing_goes<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let settings = Arc::clone(subject.keyspace.settings());
    settings.set_policy(Policy::AllkeysLru);
    for number in 0..100_u32 {
        subject.put_for(0, &number.to_le_bytes(), b"value", 10);
    }
    settings.set_keeps_entries(true);
    settings.set_maxmemory(1);
    assert_eq!(subject.pass(20_000), [], "RULE-KEEP: nothing is due");
    assert_eq!(subject.make_room(), (true, vec![]), "RULE-KEEP: there is room");
    assert_eq!(subject.read(0, b"\0\0\0\0"), None, "RULE-EXPIRY: what stays is not seen");
    assert_eq!(subject.delete(0, b"\x01\0\0\0"), None, "RULE-EXPIRY: what stays is not seen");
    subject.put(0, b"\x02\0\0\0", b"new");
    assert!(subject.whole().random(0, 7).is_some(), "RULE-KEEP: a draw ends");
    assert_eq!(subject.whole().len(0), 99, "RULE-KEEP: reads remove nothing");
    settings.set_maxmemory(0);
    settings.set_keeps_entries(false);
    assert_eq!(subject.pass(20_000).len(), 98, "RULE-ACTIVE: nothing stays any more");
    assert_eq!(subject.whole().len(0), 1, "RULE-KEEP: what was put anew");
    subject.finish();
}

fn active_within_budget<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..20_000_u32 {
        subject.put_for(0, &number.to_le_bytes(), b"value", 1000);
    }
    subject.now_ms += 2000;
    let (mut calls, mut removed) = (0, 0);
    while removed < 20_000 {
        subject.now_ms += 1;
        let told = subject.maintain().0.len();
        assert!(told <= 4 * BUDGET, "RULE-ACTIVE: {told} removed in a call of {BUDGET} steps");
        removed += told;
        calls += 1;
        // Were it a thousand per second, as many as that come and go would be too many.
        assert!(calls < 2000, "RULE-ACTIVE: {removed} removed in {calls} calls");
    }
    subject.finish();
}

/// A few expiries among many entries without one, set on entries that were there before.
fn rare_among_many<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..20_000_u32 {
        subject.put(0, &number.to_le_bytes(), b"value");
    }
    subject.pass(1000);
    for number in [5, 10_000, 19_999_u32] {
        let (key, expiry) = (number.to_le_bytes(), Some(subject.now_ms + 5000));
        assert!(subject.view(&key).set_expiry(0, &key, expiry), "RULE-EDIT: it is there");
    }
    assert_eq!(subject.pass(4900), [], "RULE-ACTIVE: nothing is due");
    // One is brought forward, one is put off.
    let (key, expiry) = (5_u32.to_le_bytes(), Some(subject.now_ms));
    assert!(subject.view(&key).set_expiry(0, &key, expiry), "RULE-EDIT: it is there");
    let (key, expiry) = (10_000_u32.to_le_bytes(), Some(subject.now_ms + 3_600_000));
    assert!(subject.view(&key).set_expiry(0, &key, expiry), "RULE-EDIT: it is there");
    assert_eq!(subject.pass(15_000).len(), 2, "RULE-ACTIVE: two were due");
    assert_eq!(subject.pass(3_600_000).len(), 1, "RULE-ACTIVE: the one that was put off");
    subject.finish();
}

/// A hash whose fields, numbered from 0, each expire after this many milliseconds.
fn hash(key: &[u8], now_ms: u64, ttls_ms: impl Iterator<Item = Option<u64>>) -> Entry {
    let limits = Limits::default();
    let mut entry = Entry::new_hash(key);
    let mut hash = entry.hash_mut(&limits).expect("it is a hash");
    for (number, ttl_ms) in ttls_ms.enumerate() {
        let field = (number as u32).to_le_bytes();
        hash.set(&field, b"value", now_ms);
        let expiry = ttl_ms.map(|ttl_ms| now_ms + ttl_ms);
        assert!(expiry.is_none() || hash.set_expiry(&field, expiry, now_ms));
    }
    entry
}

fn fields<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let now_ms = subject.now_ms;
    let told = |key: &[u8], reason| (2, key.to_vec(), reason);
    subject.put_entry(2, hash(b"some", now_ms, [None, Some(100), Some(50_000)].into_iter()));
    subject.put_entry(2, hash(b"all", now_ms, [Some(100), Some(200)].into_iter()));
    subject.put_entry(2, hash(b"none", now_ms, [None, None].into_iter()));
    let seen = subject.pass(20_000);
    let of = |key: &[u8]| -> Vec<Reason> {
        seen.iter().filter(|told| told.1 == key).map(|told| told.2).collect()
    };
    assert_eq!(of(b"some"), [Reason::FieldExpired], "RULE-FIELD: one field");
    assert_eq!(of(b"all").last(), Some(&Reason::Emptied), "RULE-FIELD: all fields");
    assert_eq!(of(b"all")[0], Reason::FieldExpired, "RULE-FIELD: all fields");
    assert_eq!(of(b"none"), [], "RULE-FIELD: no fields");
    let mut view = subject.whole();
    assert_eq!(view.get(2, b"some").map(Entry::len), Some(2), "RULE-FIELD: what is left");
    assert!(view.get(2, b"all").is_none(), "RULE-FIELD: an empty hash disappears");
    assert_eq!(view.get(2, b"none").map(Entry::len), Some(2), "RULE-FIELD: untouched");
    assert_eq!(view.volatile_len(2), 0, "RULE-LEN: fields that expire do not count");
    drop(view);
    let stats = subject.keyspace.stats();
    assert_eq!((stats.expired, stats.expired_fields), (0, 3), "RULE-STATS: fields");
    let seen = subject.pass(60_000);
    assert_eq!(seen, [told(b"some", Reason::FieldExpired)], "RULE-FIELD: a later one");
    subject.finish();
}

/// Fields that expire are named to a listener.
fn fields_by_name<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.keyspace.settings().add_listener();
    let ttls = [Some(100), None, Some(50_000), Some(200)];
    subject.put_entry(1, hash(b"hash", subject.now_ms, ttls.into_iter()));
    let mut names = BTreeSet::new();
    for _ in 0..100 {
        subject.now_ms += 100;
        subject.keyspace.maintain(subject.now_ms, BUDGET, &mut |gone| {
            assert_eq!((gone.key, gone.reason), (&b"hash"[..], Reason::FieldExpired));
            names.extend(gone.fields.iter().cloned());
        });
    }
    let expired = [0_u32, 3].map(|field| Box::from(field.to_le_bytes()));
    assert_eq!(names, BTreeSet::from(expired), "RULE-FIELD: the names of the fields");
    subject.keyspace.settings().remove_listener();
    subject.finish();
}

fn fields_beside_own_expiry<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let now_ms = subject.now_ms;
    // Either the hash expires first, or a field does.
    for (key, own_ms) in [(b"first", 1000), (b"later", 30_000)] {
        let mut entry = hash(key, now_ms, [Some(10_000), None].into_iter());
        entry.set_expiry(Some(now_ms + own_ms));
        subject.put_entry(0, entry);
    }
    let told = subject.pass(5000);
    assert_eq!(told, [(0, b"first".to_vec(), Reason::Expired)], "RULE-FIELD: the hash is due");
    let told = subject.pass(20_000);
    assert_eq!(told, [(0, b"later".to_vec(), Reason::FieldExpired)], "RULE-FIELD: a field is due");
    let told = subject.pass(20_000);
    assert_eq!(told, [(0, b"later".to_vec(), Reason::Expired)], "RULE-FIELD: the hash is due");
    // A field's expiry that is set in place.
    subject.put_entry(0, hash(b"late", subject.now_ms, [None, None].into_iter()));
    subject.pass(1000);
    let (now_ms, limits) = (subject.now_ms, Limits::default());
    let mut view = subject.view(b"late");
    let mut entry = view.get_mut(0, b"late").expect("RULE-EDIT: it is there");
    let mut fields = entry.hash_mut(&limits).expect("it is a hash");
    assert!(fields.set_expiry(&0_u32.to_le_bytes(), Some(now_ms + 500), now_ms));
    drop(entry);
    drop(view);
    let told = subject.pass(10_000);
    assert_eq!(told, [(0, b"late".to_vec(), Reason::FieldExpired)], "RULE-FIELD: set in place");
    subject.finish();
}

/// A large hash, all of whose fields but one expire, beside entries that expire too.
fn many_fields<K: Keyspace>(make: &impl Fn() -> K) {
    const FIELDS: usize = 20_000;
    let mut subject = Subject::new(make);
    let ttls = (0..FIELDS).map(|field| (field > 0).then_some(100 + field as u64 % 500));
    subject.put_entry(0, hash(b"hash", subject.now_ms, ttls));
    for number in 0..1000_u32 {
        subject.put_for(0, &number.to_le_bytes(), b"value", 300);
    }
    let told = subject.pass(30_000);
    let expired = told.iter().filter(|told| told.2 == Reason::Expired).count();
    assert_eq!(expired, 1000, "RULE-ACTIVE: beside a large hash");
    let len = subject.whole().peek(0, b"hash").map(Entry::len);
    assert_eq!(len, Some(1), "RULE-FIELD: what is left of a large hash");
    let fields = subject.keyspace.stats().expired_fields;
    assert_eq!(fields, FIELDS as u64 - 1, "RULE-STATS: fields");
    subject.finish();
}
