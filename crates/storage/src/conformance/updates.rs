// SPDX-License-Identifier: Apache-2.0
//! RULE-UPDATE and RULE-VERSION-TOLD: every [`Change`] on a live item and on none.

use super::Limits;
use super::subject::{Seen, Subject, show};
use crate::{Amend, Change, Content, Digits, Expiry, Item, Put, Store, StoreError, Write};

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    results(make);
    present(make);
    absent(make);
    counter(make);
    growing(make);
}

/// The caller's closure sees the item with its key, and its result comes back.
fn results<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let now = subject.now();
    let version = subject.write(Put::new(b"key", b"value").flags(5));
    let result = subject.store.update(b"key", now, |item| {
        let item = item.expect("RULE-UPDATE: the caller sees the live item");
        (Change::Keep, (item.key().to_vec(), Seen::of(&item)))
    });
    let (key, seen) = result.expect("RULE-UPDATE: Keep always succeeds");
    assert_eq!(key, b"key", "RULE-UPDATE: the caller sees the item's key");
    assert_eq!((seen.flags, seen.version), (5, version), "RULE-UPDATE: what the caller sees");
    // What is done depends on what is seen.
    for expected in [Some(5), Some(6), Some(7), None] {
        let result = subject.store.update(b"key", now, |item| match item {
            Some(item) if item.flags() < 7 => {
                let flags = item.flags() + 1;
                (Change::Put { value: b"", flags, expiry: Expiry::NEVER }, Some(flags - 1))
            }
            Some(item) => (Change::Delete, Some(item.flags())),
            None => (Change::Keep, None),
        });
        assert_eq!(result, Ok(expected), "RULE-UPDATE: the caller's result");
    }
    subject.finish();
}

/// What a change must make of the item in `before`; the version aside.
fn expected(change: Change<'_>, before: &Seen) -> Option<Seen> {
    let mut after = before.clone();
    match change {
        Change::Keep | Change::Miss => {}
        Change::Delete => return None,
        Change::Expire(expiry) => after.expiry = expiry,
        Change::Number(digits) => after.value = digits.as_bytes().to_vec(),
        Change::Extend { before: head, after: tail } => {
            after.value = [head, &after.value, tail].concat();
        }
        Change::Put { value, flags, expiry } => {
            let (value, version) = (value.to_vec(), before.version);
            after = Seen { value, flags, expiry, version, marks: before.marks };
        }
        Change::Amend(Amend { expiry, .. }) => after.expiry = expiry.unwrap_or(after.expiry),
        Change::Write(Write { content, flags, expiry, .. }) => {
            after.value = match content {
                Content::Same => after.value,
                Content::Number(digits) => digits.as_bytes().to_vec(),
                Content::Around { before: head, after: tail } => {
                    [head, &after.value, tail].concat()
                }
                Content::Whole(value) => value.to_vec(),
            };
            after.flags = flags.unwrap_or(after.flags);
            after.expiry = expiry.unwrap_or(after.expiry);
        }
    }
    Some(after)
}

/// Every change on items of many sizes.
fn present<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let long = vec![b'l'; 70_000];
    let expiry = subject.within(1_000);
    let around = Content::Around { before: b"head", after: b"tail" };
    let changes = [
        Change::Keep,
        Change::Miss,
        Change::Delete,
        Change::Expire(subject.within(77)),
        Change::Expire(Expiry::NEVER),
        Change::Number(Digits::new(b"")),
        Change::Number(Digits::new(b"7")),
        Change::Number(Digits::new(b"18446744073709551615")),
        Change::Number(Digits::new(&[0xFF; Digits::MAX])),
        Change::Extend { before: b"", after: b"" },
        Change::Extend { before: b"\0head", after: b"" },
        Change::Extend { before: b"", after: b"tail\r\n" },
        Change::Extend { before: b"head", after: b"tail" },
        Change::Extend { before: &long, after: &long },
        Change::Put { value: b"", flags: 0, expiry: Expiry::NEVER },
        Change::Put { value: b"put", flags: u32::MAX, expiry: subject.within(99) },
        Change::Put { value: &long, flags: 1, expiry: Expiry::NEVER },
        Change::Amend(Amend { expiry: Some(Expiry::NEVER), ..Amend::default() }),
        Change::Amend(Amend { timed: true, read: true, ..Amend::default() }),
        Change::Write(Write { flags: Some(0), ..Write::new(Content::Same) }),
        Change::Write(Write { flags: Some(8), ..Write::new(Content::Number(Digits::new(b"9"))) }),
        Change::Write(Write { expiry: Some(expiry), ..Write::new(around) }),
        Change::Write(Write::new(Content::Whole(&long))),
    ];
    for size in [0, 1, 2, 19, 20, 21, 24, 25, 63, 64, 65, 1_000, 5_000, 100_000] {
        let value: Vec<u8> = (0..size).map(|n: u32| n.to_le_bytes()[0]).collect();
        for (number, change) in changes.into_iter().enumerate() {
            let key = [number as u8, 1, 2];
            subject.write(Put::new(&key, &value).flags(3).expiry(expiry));
            let before = subject.live(&key);
            let result = subject.change_versioned(&key, change);
            let what = format!("change {number} on {size} bytes");
            let (seen, told) =
                result.unwrap_or_else(|error| panic!("RULE-UPDATE: {what}: {error:?}"));
            assert_eq!(seen, Some(before.clone()), "RULE-UPDATE: what {what} saw");
            let after = subject.read(&key);
            let now_has = after.as_ref().map(|seen| seen.version);
            assert_eq!(told, now_has, "RULE-VERSION-TOLD: by {what}");
            let version = after.as_ref().map_or(before.version, |seen| seen.version);
            let expected = expected(change, &before).map(|seen| Seen { version, ..seen });
            assert_eq!(after, expected, "RULE-UPDATE: {what}");
        }
    }
    subject.finish();
}

/// Every change on a key without an item.
fn absent<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.set(b"gone", b"1");
    subject.delete(b"gone");
    for key in [&b"never"[..], b"gone"] {
        for change in [Change::Keep, Change::Miss, Change::Delete] {
            let result = subject.change_versioned(key, change);
            assert_eq!(result, Ok((None, None)), "RULE-UPDATE: {change:?} of nothing");
            assert_eq!(subject.read(key), None, "RULE-UPDATE: {change:?} made {}", show(key));
        }
        let needing = [
            Change::Expire(Expiry::NEVER),
            Change::Number(Digits::new(b"1")),
            Change::Extend { before: b"a", after: b"b" },
        ];
        for change in needing {
            let result = subject.change(key, change);
            assert_eq!(result, Err(StoreError::NotFound), "RULE-UPDATE: {change:?} of nothing");
            assert_eq!(subject.read(key), None, "RULE-UPDATE: {change:?} made {}", show(key));
        }
        let put = Change::Put { value: b"made", flags: 8, expiry: subject.within(8) };
        let result = subject.change_versioned(key, put);
        let seen = subject.live(key);
        let told = Some(seen.version);
        assert_eq!(result, Ok((None, told)), "RULE-UPDATE, RULE-VERSION-TOLD: {put:?} of nothing");
        let expected = (&b"made"[..], 8, subject.within(8));
        assert_eq!((&seen.value[..], seen.flags, seen.expiry), expected, "RULE-UPDATE: {put:?}");
    }
    subject.finish();
}

/// A counter runs through every number of digits and back.
fn counter<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.write(Put::new(b"counter", b"0").flags(4));
    let ups = (0..20).map(|power| 10_u64.pow(power) - 1).chain([u64::MAX]);
    let numbers: Vec<u64> = ups.clone().chain(ups.rev()).collect();
    for number in numbers {
        let text = number.to_string();
        let result = subject.change(b"counter", Change::Number(Digits::new(text.as_bytes())));
        assert!(result.is_ok(), "RULE-UPDATE: {number} gives {result:?}");
        let seen = subject.live(b"counter");
        let (value, flags) = (String::from_utf8_lossy(&seen.value).into_owned(), seen.flags);
        assert_eq!((value, flags), (text, 4), "RULE-UPDATE: the counter's digits");
    }
    subject.finish();
}

/// An item that grows at both ends, a little at a time.
fn growing<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.write(Put::new(b"log", b"|").flags(6));
    let mut value = b"|".to_vec();
    for step in 0..200_usize {
        let (before, after) = (vec![b'<'; step % 7], vec![b'>'; step * 3 % 11]);
        let result = subject.change(b"log", Change::Extend { before: &before, after: &after });
        assert!(result.is_ok(), "RULE-UPDATE: step {step} gives {result:?}");
        value = [before, value, after].concat();
        let seen = subject.live(b"log");
        assert!(seen.value == value && seen.flags == 6, "RULE-UPDATE: step {step}: {seen:?}");
    }
    subject.finish();
}
