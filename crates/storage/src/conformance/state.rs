// SPDX-License-Identifier: Apache-2.0
//! RULE-MARKS, RULE-READS and RULE-VERSION-GIVEN: what is known of an item besides its content.

use super::Limits;
use super::subject::{Seen, Subject};
use crate::{
    Amend, Change, Condition, Content, Digits, Expiry, Idle, Item, Marks, Put, Store, StoreError,
    Version, Write,
};
use std::time::Duration;

const STALE: Marks = Marks { stale: true, claimed: false };
const CLAIMED: Marks = Marks { stale: false, claimed: true };
const BOTH: Marks = Marks { stale: true, claimed: true };

/// The most by which a noted access may be wrong.
const COARSE: Duration = Duration::from_secs(64);

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    marks(make);
    marks_at_once(make);
    nothing(make);
    reads(make);
    versions(make);
}

fn mark(marks: Marks) -> Change<'static> {
    Change::Amend(Amend { marks: Some(marks), ..Amend::default() })
}

/// Marks come and go on items of many sizes, beside every other change.
fn marks<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for size in [0, 1, 20, 1_000, 20_000, 300_000] {
        let value = vec![b'v'; size];
        let soon = subject.within(50_000);
        for marks in [STALE, CLAIMED, BOTH, Marks::NONE] {
            subject.write(Put::new(b"key", &value).flags(9).expiry(soon));
            let before = subject.live(b"key");
            assert_eq!(before.marks, Marks::NONE, "RULE-MARKS: of a new item of {size} bytes");
            subject.change(b"key", mark(marks)).expect("RULE-MARKS: an item can be marked");
            let marked = Seen { marks, ..before };
            assert_eq!(subject.live(b"key"), marked, "RULE-MARKS: nothing else changes");
            let later = subject.within(70_000);
            let keeping = [
                Change::Keep,
                Change::Expire(later),
                Change::Expire(Expiry::NEVER),
                Change::Write(Write { flags: Some(3), ..Write::new(Content::Same) }),
                Change::Number(Digits::new(b"123")),
            ];
            for change in keeping {
                subject.change(b"key", change).expect("RULE-UPDATE: it is there");
                assert_eq!(subject.live(b"key").marks, marks, "RULE-MARKS: after {change:?}");
            }
            let whole = Write::new(Content::Whole(b"new"));
            let ending = [
                Change::Extend { before: b"1", after: b"" },
                Change::Put { value: b"new", flags: 0, expiry: soon },
                Change::Write(whole),
            ];
            for change in ending {
                subject.change(b"key", mark(marks)).expect("RULE-MARKS: it can be marked again");
                subject.change(b"key", change).expect("RULE-UPDATE: it is there");
                let now = subject.live(b"key").marks;
                assert_eq!(now, Marks::NONE, "RULE-MARKS: after {change:?}");
            }
            subject.change(b"key", mark(marks)).expect("RULE-MARKS: it can be marked again");
            let change = Change::Write(Write { marks: Some(STALE), ..whole });
            subject.change(b"key", change).expect("RULE-UPDATE: it is there");
            assert_eq!(subject.live(b"key").marks, STALE, "RULE-MARKS: after {change:?}");
        }
    }
    subject.finish();
}

/// An expiry and a mark in one step.
fn marks_at_once<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for (first, second) in [(5, 3_000_000), (3_000_000, 5)] {
        subject.write(Put::new(b"key", b"value").expiry(subject.within(first * 1000)));
        for marks in [STALE, BOTH, CLAIMED] {
            let expiry = subject.within(second * 1000);
            let before = subject.live(b"key");
            let amend = Amend { expiry: Some(expiry), marks: Some(marks), read: true, timed: true };
            let result = subject.change(b"key", Change::Amend(amend));
            assert!(result.is_ok(), "RULE-MARKS: {amend:?}: {result:?}");
            let expected = Seen { expiry, marks, ..before };
            assert_eq!(subject.live(b"key"), expected, "RULE-MARKS: {amend:?}");
        }
        let over = Amend { expiry: Some(Expiry::at(subject.now())), ..Amend::default() };
        subject.change(b"key", Change::Amend(over)).expect("RULE-UPDATE: it is there");
        assert_eq!(subject.read(b"key"), None, "RULE-EXPIRY: {over:?}");
    }
    subject.finish();
}

/// The changes on a key without an item.
fn nothing<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let needing = [
        mark(STALE),
        Change::Amend(Amend::default()),
        Change::Write(Write::new(Content::Same)),
        Change::Write(Write::new(Content::Number(Digits::new(b"1")))),
        Change::Write(Write::new(Content::Around { before: b"a", after: b"b" })),
    ];
    for change in needing {
        let result = subject.change(b"key", change);
        assert_eq!(result, Err(StoreError::NotFound), "RULE-UPDATE: {change:?} of nothing");
    }
    let plain = Write::new(Content::Whole(b"value"));
    for marks in [None, Some(CLAIMED)] {
        let write = Write { marks, ..plain };
        subject.change(b"key", Change::Write(write)).expect("RULE-UPDATE: it needs no item");
        let seen = subject.live(b"key");
        let shown = (&seen.value[..], seen.flags, seen.expiry, seen.marks);
        let expected = (&b"value"[..], 0, Expiry::NEVER, marks.unwrap_or_default());
        assert_eq!(shown, expected, "RULE-UPDATE, RULE-MARKS: {write:?} of nothing");
        subject.delete(b"key");
    }
    subject.finish();
}

/// What the item under `key` says when it is only looked at.
fn peek<S: Store>(subject: &mut Subject<S>, key: &[u8]) -> (bool, Idle) {
    let now = subject.now();
    let item = subject.store.peek(key, now).expect("RULE-READS: it is there");
    (item.was_read(), item.idle(now))
}

fn reads<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for timed in [false, true] {
        for size in [3, 300_000] {
            let value = vec![b'7'; size];
            subject.put(Put::new(b"key", &value)).expect("RULE-EVICTION: it fits");
            if timed {
                let amend = Amend { timed, ..Amend::default() };
                subject.change(b"key", Change::Amend(amend)).expect("RULE-UPDATE: it is there");
            }
            for _ in 0..2 {
                assert!(!peek(&mut subject, b"key").0, "RULE-READS: nobody has read it");
            }
            subject.advance(100_000);
            idles(peek(&mut subject, b"key").1, 100, timed);
            let now = subject.now();
            let item = subject.store.get(b"key", now).expect("RULE-READ: it is there");
            assert!(!item.was_read(), "RULE-READS: this read does not count itself");
            idles(item.idle(now), 100, timed);
            drop(item);
            subject.advance(1_000_000);
            for _ in 0..2 {
                let (was_read, idle) = peek(&mut subject, b"key");
                assert!(was_read, "RULE-READS: it was read");
                idles(idle, 1_000, timed);
            }
            let number = Change::Number(Digits::new(b"1"));
            for change in [number, Change::Write(Write::new(Content::Same))] {
                subject.change(b"key", change).expect("RULE-UPDATE: it is there");
                assert!(peek(&mut subject, b"key").0, "RULE-READS: after {change:?}");
            }
            for change in [
                Change::Extend { before: b"1", after: b"" },
                Change::Put { value: &value, flags: 0, expiry: Expiry::NEVER },
            ] {
                subject.change(b"key", change).expect("RULE-UPDATE: it is there");
                assert!(!peek(&mut subject, b"key").0, "RULE-READS: {change:?} is another value");
                subject.live(b"key");
                assert!(peek(&mut subject, b"key").0, "RULE-READS: it was read");
            }
            for expiry in [None, Some(subject.within(9_000_000))] {
                subject.put(Put::new(b"key", &value)).expect("RULE-EVICTION: it fits");
                let amend = Amend { expiry, read: true, ..Amend::default() };
                subject.change(b"key", Change::Amend(amend)).expect("RULE-UPDATE: it is there");
                assert!(peek(&mut subject, b"key").0, "RULE-READS: {amend:?}");
            }
        }
    }
    subject.finish();
}

/// Checks a time that nobody has used an item, if the engine notes it.
fn idles(idle: Idle, seconds: u64, timed: bool) {
    if let (Idle::Noted(noted), true) = (idle, timed) {
        let expected = Duration::from_secs(seconds);
        let is_right = noted.abs_diff(expected) <= COARSE;
        assert!(is_right, "RULE-READS: noted are {noted:?}, and it was {expected:?}");
    }
}

fn versions<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in [1, 7, u64::from(u32::MAX), 1 << 63, u64::MAX - 1, u64::MAX] {
        let version = Version::new(number);
        for content in [
            Content::Whole(b"5"),
            Content::Same,
            Content::Number(Digits::new(b"6")),
            Content::Around { before: b"1", after: b"2" },
        ] {
            let change = Change::Write(Write { version, ..Write::new(content) });
            let told = subject.change_versioned(b"key", change).map(|(_, told)| told);
            assert_eq!(told, Ok(version), "RULE-VERSION-TOLD, RULE-VERSION-GIVEN: {change:?}");
            let has = subject.live(b"key").version;
            assert_eq!(Some(has), version, "RULE-VERSION-GIVEN: {change:?}");
            subject.change(b"key", mark(STALE)).expect("RULE-UPDATE: it is there");
            subject.change(b"key", Change::Expire(subject.within(99_000))).expect("it is there");
            let has = subject.live(b"key").version;
            assert_eq!(Some(has), version, "RULE-VERSION-KEPT: by marks and expiries");
            let condition = Condition::IfVersion(has);
            let new = subject.put(Put::new(b"key", b"0").condition(condition));
            let new = new.expect("RULE-CONDITION: it has this version");
            assert_ne!(new, has, "RULE-VERSION-NEW: after {change:?}");
        }
    }
    subject.finish();
}
