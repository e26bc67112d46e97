// SPDX-License-Identifier: Apache-2.0
//! RULE-EXPIRY: to the millisecond, for every operation.

use super::Limits;
use super::subject::{Subject, show};
use crate::{Change, Condition, Digits, Expiry, Put, Store, StoreError};
use clock::Ticks;
use std::time::Duration;

const DAY: u64 = 86_400_000;

/// Times to live in milliseconds, around everything an engine may round to.
const TTLS: [u64; 22] = [
    1,
    2,
    3,
    7,
    8,
    9,
    999,
    1_000,
    1_001,
    1_023,
    1_024,
    1_025,
    8_191,
    8_193,
    65_535,
    65_537,
    3_600_001,
    DAY - 1,
    30 * DAY + 1,
    // 2^32 milliseconds are 49.7 days.
    (1 << 32) - 1,
    (1 << 32) + 1,
    36_500 * DAY,
];

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    around_each_expiry(make);
    every_operation(make);
    past_expiries(make);
    changed_expiries(make);
    never(make);
}

/// Items of all times to live side by side, each looked at a millisecond before and at its expiry.
fn around_each_expiry<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let start = subject.now();
    let key = |ttl: u64, kind: &str| format!("{kind} {ttl}").into_bytes();
    for ttl in TTLS {
        for kind in ["looked at", "left alone"] {
            let expiry = subject.within(ttl);
            subject.write(Put::new(&key(ttl, kind), &ttl.to_le_bytes()).expiry(expiry));
        }
    }
    let advance_to = |subject: &Subject<S>, ttl: u64| {
        let passed = subject.now().since(start).as_millis() as u64;
        subject.advance(ttl.saturating_sub(passed));
    };
    for ttl in TTLS {
        advance_to(&subject, ttl - 1);
        let seen = subject.read(&key(ttl, "looked at"));
        let expiry = Expiry::after(Duration::from_millis(ttl), start);
        let found = seen.map(|seen| seen.expiry);
        assert_eq!(found, Some(expiry), "RULE-EXPIRY: {ttl} ms to live, 1 ms left");
        subject.expire(1_000);
        let found = subject.read(&key(ttl, "looked at")).map(|seen| seen.expiry);
        assert_eq!(found, Some(expiry), "RULE-RECLAIM: {ttl} ms to live, 1 ms left");
        advance_to(&subject, ttl);
        for kind in ["looked at", "left alone"] {
            let seen = subject.read(&key(ttl, kind));
            assert_eq!(seen, None, "RULE-EXPIRY: {ttl} ms to live have passed");
        }
    }
    subject.finish();
}

/// At its expiry an item is gone for every operation, also for the first that comes across it.
fn every_operation<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let expiry = subject.within(500);
    let mut bring = |key: &[u8]| subject.write(Put::new(key, b"9").flags(9).expiry(expiry));
    for key in [&b"delete"[..], b"add", b"see", b"touch", b"count", b"extend", b"write", b"early"] {
        bring(key);
    }
    let version = bring(b"condition");
    subject.advance(499);
    assert!(subject.delete(b"early"), "RULE-EXPIRY: deleted a millisecond before");
    subject.advance(1);
    assert!(!subject.delete(b"delete"), "RULE-EXPIRY: nothing to delete");
    for condition in [Condition::IfPresent, Condition::IfVersion(version)] {
        let put = Put::new(b"condition", b"x").condition(condition);
        subject.refused(put, StoreError::NotFound, "RULE-EXPIRY");
    }
    let added = subject.put(Put::new(b"add", b"x").condition(Condition::IfAbsent));
    assert!(added.is_ok(), "RULE-EXPIRY: the key is free, but {added:?}");
    assert_eq!(subject.change(b"see", Change::Keep), Ok(None), "RULE-EXPIRY: nothing to see");
    let needing = [
        (&b"touch"[..], Change::Expire(Expiry::NEVER)),
        (b"count", Change::Number(Digits::new(b"10"))),
        (b"extend", Change::Extend { before: b"", after: b"x" }),
    ];
    for (key, change) in needing {
        let result = subject.change(key, change);
        assert_eq!(result, Err(StoreError::NotFound), "RULE-EXPIRY: {change:?}");
        assert_eq!(subject.read(key), None, "RULE-EXPIRY: {change:?} revived {}", show(key));
    }
    let put = Change::Put { value: b"new", flags: 1, expiry: Expiry::NEVER };
    assert_eq!(subject.change(b"write", put), Ok(None), "RULE-EXPIRY: nothing to see");
    assert_eq!(subject.live(b"write").value, b"new", "RULE-UPDATE: {put:?}");
    subject.finish();
}

/// A write whose expiry is past takes place: the old item goes and nothing is read.
fn past_expiries<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let now = subject.now().as_millis();
    for at in [0, 1, now - 1, now] {
        let expiry = Expiry::at(Ticks::from_millis(at));
        // `write` expects to read nothing back.
        subject.write(Put::new(b"absent", b"x").expiry(expiry));
        subject.set(b"key", b"old");
        subject.write(Put::new(b"key", b"x").expiry(expiry));
        assert!(!subject.delete(b"key"), "RULE-EXPIRY: the write left no live item");
        subject.set(b"key", b"old");
        let put = Change::Put { value: b"x", flags: 0, expiry };
        assert!(subject.change(b"key", put).is_ok(), "RULE-EXPIRY: {put:?}");
        assert_eq!(subject.read(b"key"), None, "RULE-EXPIRY: {put:?}");
        subject.set(b"key", b"old");
        assert!(subject.change(b"key", Change::Expire(expiry)).is_ok(), "RULE-EXPIRY: {expiry:?}");
        assert_eq!(subject.read(b"key"), None, "RULE-EXPIRY: {expiry:?}");
    }
    subject.finish();
}

/// A touch or an overwrite moves the expiry; the old one is forgotten.
fn changed_expiries<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let keys = [&b"longer"[..], b"shorter", b"forever", b"mortal", b"overwritten", b"counted"];
    for key in keys {
        subject.write(Put::new(key, b"1").expiry(subject.within(1_000)));
    }
    subject.set(b"mortal", b"1");
    let touches = [
        (&b"longer"[..], subject.within(5_000)),
        (b"shorter", subject.within(20)),
        (b"forever", Expiry::NEVER),
        (b"mortal", subject.within(1_000)),
    ];
    for (key, expiry) in touches {
        assert!(subject.change(key, Change::Expire(expiry)).is_ok(), "RULE-UPDATE: {expiry:?}");
        assert_eq!(subject.live(key).expiry, expiry, "RULE-READ: the expiry of {}", show(key));
    }
    subject.set(b"overwritten", b"2");
    let counted = subject.change(b"counted", Change::Number(Digits::new(b"2")));
    assert!(counted.is_ok(), "RULE-UPDATE: {counted:?}");
    let mut live_after = |millis: u64, expected: [bool; 6]| {
        subject.advance(millis);
        subject.expire(1_000);
        for (key, live) in keys.into_iter().zip(expected) {
            let seen = subject.read(key);
            assert_eq!(seen.is_some(), live, "RULE-EXPIRY: {} is {seen:?}", show(key));
        }
    };
    live_after(19, [true; 6]);
    live_after(1, [true, false, true, true, true, true]);
    live_after(979, [true, false, true, true, true, true]);
    live_after(1, [true, false, true, false, true, false]);
    live_after(3_999, [true, false, true, false, true, false]);
    live_after(1, [false, false, true, false, true, false]);
    subject.finish();
}

fn never<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.set(b"never", b"expires");
    let remote = Expiry::at(Ticks::from_millis(u64::MAX - 1));
    let written = subject.put(Put::new(b"remote", b"too").expiry(remote));
    assert!(written.is_ok(), "RULE-EXPIRY: {remote:?} gives {written:?}");
    for days in [1, 50, 36_500, 36_500] {
        subject.advance(days * DAY);
        subject.expire(1_000);
        assert_eq!(subject.live(b"never").value, b"expires", "RULE-EXPIRY: {days} days later");
        assert_eq!(subject.live(b"remote").value, b"too", "RULE-EXPIRY: {days} days later");
    }
    subject.finish();
}
