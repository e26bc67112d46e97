// SPDX-License-Identifier: Apache-2.0
//! RULE-VERSION-NEW, RULE-VERSION-NEWER, RULE-VERSION-KEPT and RULE-VERSION-GIVEN.

use super::Limits;
use super::subject::Subject;
use crate::{
    Change, Condition, Content, Digits, Expiry, Item, Marks, Put, Store, StoreError, Version, Write,
};
use std::collections::HashSet;

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    every_write(make);
    newer(make);
    kept(make);
    after_eviction(make);
    given(make);
}

/// The versions one key has had.
struct History(HashSet<u64>);

impl History {
    #[track_caller]
    fn add(&mut self, version: Version, after: &str) {
        let number = version.get();
        assert!(self.0.insert(number), "RULE-VERSION-NEW: {number} came again after {after}");
    }
}

/// Every way to write and every way to lose an item, in turn.
fn every_write<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut history = History(HashSet::new());
    for round in 0..100 {
        let first = subject.set(b"key", b"1");
        history.add(first, "a put");
        history.add(subject.set(b"key", b"1"), "a put of the same value");
        let stale = Put::new(b"key", b"x").condition(Condition::IfVersion(first));
        subject.refused(stale, StoreError::Exists, "RULE-CONDITION");
        history.add(subject.write(Put::new(b"key", b"1").condition(Condition::IfPresent)), "a put");
        let condition = Condition::IfVersion(subject.live(b"key").version);
        history.add(subject.write(Put::new(b"key", b"1").condition(condition)), "a put");
        let changes = [
            Change::Put { value: b"2", flags: 0, expiry: Expiry::NEVER },
            Change::Number(Digits::new(b"2")),
            Change::Extend { before: b"", after: b"0" },
            Change::Extend { before: b"1", after: b"" },
            Change::Number(Digits::new(b"121")),
        ];
        for change in changes {
            assert!(subject.change(b"key", change).is_ok(), "RULE-UPDATE: {change:?}");
            history.add(subject.live(b"key").version, &format!("{change:?}"));
        }
        lose(&mut subject, round);
    }
    subject.finish();
}

/// Makes the item unreadable in one of the ways there are, sometimes giving its memory back.
fn lose<S: Store>(subject: &mut Subject<S>, round: usize) {
    match round % 4 {
        0 => assert!(subject.delete(b"key"), "RULE-DELETE: a live item was there"),
        1 => {
            let seen = subject.change(b"key", Change::Delete);
            assert!(seen.is_ok(), "RULE-UPDATE: {seen:?}");
        }
        2 => {
            let touched = subject.change(b"key", Change::Expire(subject.within(5)));
            assert!(touched.is_ok(), "RULE-UPDATE: {touched:?}");
            subject.advance(5);
        }
        _ => subject.store.clear(),
    }
    assert_eq!(subject.read(b"key"), None, "RULE-READ: the item was lost in round {round}");
    if round.is_multiple_of(3) {
        subject.expire(100);
    }
}

/// Which of two versions is the older is known, wherever the items were: with times to live of seconds and days, small
/// and large, written anew or marked as stale.
fn newer<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut before: Vec<u64> = Vec::new();
    let stale = Marks { stale: true, claimed: false };
    for round in 0..60 {
        let millis = [60_000, 3_600_000, 86_400_000 * 20][round % 3];
        let value = vec![b'v'; [1, 500, 20_000][round / 3 % 3]];
        let put = Put::new(b"key", &value).expiry(subject.within(millis));
        before.push(subject.write(put).get());
        let expiry = Some(subject.within([30_000, 7_200_000][round % 2]));
        let mark = Write { expiry, marks: Some(stale), ..Write::new(Content::Same) };
        let marked = subject.change_versioned(b"key", Change::Write(mark));
        let Ok((_, Some(version))) = marked else { panic!("RULE-UPDATE: {marked:?}") };
        let now = subject.now();
        let item = subject.store.get(b"key", now).expect("RULE-READ: it was marked");
        for &older in &before {
            assert!(item.is_newer_than(older), "RULE-VERSION-NEWER: {version:?} than {older}");
        }
        for same_or_later in [version.get(), (1 << 61) + 7] {
            let is_newer = item.is_newer_than(same_or_later);
            assert!(!is_newer, "RULE-VERSION-NEWER: {version:?} than {same_or_later}");
        }
        before.push(version.get());
    }
    subject.finish();
}

/// What writes nothing changes no version.
fn kept<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let long = vec![b'v'; 10_000];
    for value in [&b""[..], b"small", &long] {
        let version = subject.set(b"key", value);
        let touched = subject.within(50);
        for change in [Change::Expire(touched), Change::Expire(Expiry::NEVER), Change::Keep] {
            assert!(subject.change(b"key", change).is_ok(), "RULE-UPDATE: {change:?}");
            let seen = subject.live(b"key");
            assert_eq!(seen.version, version, "RULE-VERSION-KEPT: by {change:?}");
            assert!(seen.value == value, "RULE-UPDATE: {change:?} left {seen:?}");
        }
        let add = Put::new(b"key", b"x").condition(Condition::IfAbsent);
        subject.refused(add, StoreError::Exists, "RULE-CONDITION");
        subject.set(b"another", b"write");
        subject.delete(b"another");
        subject.expire(100);
        assert_eq!(subject.live(b"key").version, version, "RULE-VERSION-KEPT: by other keys");
    }
    subject.finish();
}

/// Neither eviction nor the reuse of memory brings a version back.
fn after_eviction<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::TIGHT);
    let mut history = History(HashSet::new());
    let filler = vec![0; 30_000];
    let mut number = 0_u32;
    for _ in 0..4 {
        history.add(subject.set(b"key", b"value"), "an eviction");
        // Three times the memory in items that nobody reads.
        for _ in 0..3 * subject.limits.memory_bytes / 30_000 {
            subject.set(&number.to_le_bytes(), &filler);
            number += 1;
        }
    }
    subject.finish();
}

/// A version that a client gives says nothing of when the item was written: with any, it can be read after a clear
/// before it, and not after the next.
fn given<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in [1, 2, 77, u64::from(u32::MAX), 1 << 62, u64::MAX] {
        for _ in 0..10 {
            subject.set(b"another", b"value");
        }
        subject.store.clear();
        assert_eq!(subject.read(b"key"), None, "RULE-READ: cleared, with a version given before");
        subject.set(b"key", b"1");
        let version = Version::new(number);
        let write = Write { version, ..Write::new(Content::Whole(b"2")) };
        let seen = subject.change(b"key", Change::Write(write));
        assert!(seen.is_ok(), "RULE-UPDATE: {seen:?}");
        let seen = subject.live(b"key");
        assert_eq!(
            (Some(seen.version), &seen.value[..]),
            (version, &b"2"[..]),
            "RULE-VERSION-GIVEN: after a clear"
        );
        subject.expire(100);
        assert_eq!(subject.live(b"key").version, seen.version, "RULE-VERSION-KEPT: by the sweep");
    }
    subject.finish();
}
