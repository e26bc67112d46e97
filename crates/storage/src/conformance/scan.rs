// SPDX-License-Identifier: Apache-2.0
//! RULE-SCAN: a walk over all items, in steps of any size, while they stay and while they change.

use super::Limits;
use super::subject::{Noise, Seen, Subject, show};
use crate::{Change, Cursor, Expiry, Item, Put, Scan, Stats};
use std::collections::BTreeMap;

/// How many items more than its budget a step may show.
const OVERSHOOT: usize = 63;
/// More steps than any walk of these takes.
const STEPS_MAX: usize = 4_000_000;

pub(super) fn run<S: Scan>(make: &impl Fn(Limits) -> S) {
    nothing(make);
    everything(make);
    classes(make);
    only_the_living(make);
    any_cursor(make);
    while_all_changes(make);
    when_full(make);
}

/// Takes a step; what it shows goes to `seen`.
#[track_caller]
fn step<S: Scan>(
    subject: &mut Subject<S>,
    cursor: Cursor,
    budget: usize,
    seen: &mut BTreeMap<Vec<u8>, Seen>,
) -> Option<Cursor> {
    let now = subject.now();
    let mut shown = 0;
    let next = subject.store.scan(cursor, budget, now, |item| {
        shown += 1;
        seen.insert(item.key().to_vec(), Seen::of(&item));
    });
    let most = budget.max(1).saturating_add(OVERSHOOT);
    assert!(shown <= most, "RULE-SCAN: {shown} items in a step of {budget}");
    assert_ne!(next, Some(Cursor::START), "RULE-SCAN: a step ends where the walk begins");
    next
}

/// Walks from `cursor` to the end, calling `between` after each step but the last.
#[track_caller]
fn walk<S: Scan>(
    subject: &mut Subject<S>,
    mut cursor: Cursor,
    budget: usize,
    mut between: impl FnMut(&mut Subject<S>),
) -> BTreeMap<Vec<u8>, Seen> {
    let mut seen = BTreeMap::new();
    for _ in 0..STEPS_MAX {
        match step(subject, cursor, budget, &mut seen) {
            Some(next) => cursor = next,
            None => return seen,
        }
        between(subject);
    }
    panic!("RULE-SCAN: a walk in steps of {budget} does not end");
}

fn nothing<S: Scan>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for budget in [0, 1, 1_000, usize::MAX] {
        let seen = walk(&mut subject, Cursor::START, budget, |_| {});
        assert!(seen.is_empty(), "RULE-SCAN: an empty store shows {seen:?}");
    }
    subject.finish();
}

/// Each item exactly as it is read, whatever the steps, and nothing is changed by the walk.
fn everything<S: Scan>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut expected = BTreeMap::new();
    for number in 0..3_000_u32 {
        let key = number.to_le_bytes();
        let expiry = if number % 2 == 0 { Expiry::NEVER } else { subject.within(60_000) };
        subject.write(Put::new(&key, &key[..2]).flags(number).expiry(expiry));
        expected.insert(key.to_vec(), subject.live(&key));
    }
    subject.set(b"", &vec![1; subject.limits.value_bytes as usize]);
    expected.insert(Vec::new(), subject.live(b""));
    let counts = |Stats { items, item_bytes, stored, evicted, expired, .. }| {
        [items, item_bytes, stored, evicted, expired]
    };
    let before = counts(subject.stats());
    for budget in [0, 1, 7, 500, 1_000_000, usize::MAX] {
        let seen = walk(&mut subject, Cursor::START, budget, |_| {});
        for (key, item) in &expected {
            let shown = seen.get(key);
            assert_eq!(shown, Some(item), "RULE-SCAN: {} in steps of {budget}", show(key));
        }
        assert_eq!(seen.len(), expected.len(), "RULE-SCAN: more than there is");
    }
    assert_eq!(counts(subject.stats()), before, "RULE-SCAN: a walk changes nothing");
    subject.finish();
}

/// Each item says the class that it is counted in.
fn classes<S: Scan>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..3_000_u32 {
        let expiry = match number % 3 {
            0 => Expiry::NEVER,
            1 => subject.within(60_000),
            _ => subject.within(10_000_000),
        };
        subject.write(Put::new(&number.to_le_bytes(), b"x").expiry(expiry));
    }
    let (now, mut said) = (subject.now(), BTreeMap::new());
    let next = subject.store.scan(Cursor::START, usize::MAX, now, |item| {
        said.insert(item.key().to_vec(), item.class());
    });
    assert_eq!(next, None, "RULE-SCAN: a walk in one step");
    let mut counted = BTreeMap::new();
    subject.store.classes(now, &mut |class| {
        counted.insert(class.number, class.items);
    });
    for (class, items) in counted {
        let shown = said.values().filter(|&&said| said == class).count() as u64;
        assert_eq!(shown, items, "RULE-STATS: class {class} has as many items as say so");
    }
    assert_eq!(said.len(), 3_000, "RULE-SCAN: all items");
    subject.finish();
}

/// Items that were deleted, have expired or were cleared are not shown, freed or not.
fn only_the_living<S: Scan>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..900_u32 {
        let expiry = if number % 3 == 1 { subject.within(10) } else { Expiry::NEVER };
        subject.write(Put::new(&number.to_le_bytes(), b"x").expiry(expiry));
    }
    for number in (2..900_u32).step_by(3) {
        subject.delete(&number.to_le_bytes());
    }
    subject.advance(9);
    let seen = walk(&mut subject, Cursor::START, 20, |_| {});
    assert_eq!(seen.len(), 600, "RULE-SCAN: a millisecond before a third expires");
    subject.advance(1);
    let seen = walk(&mut subject, Cursor::START, 20, |_| {});
    assert_eq!(seen.len(), 300, "RULE-SCAN: at the moment of their expiry");
    subject.clear();
    subject.set(b"after", b"the clear");
    let seen = walk(&mut subject, Cursor::START, 20, |_| {});
    let keys: Vec<&[u8]> = seen.keys().map(Vec::as_slice).collect();
    assert_eq!(keys, [b"after"], "RULE-SCAN: after a clear");
    subject.finish();
}

/// A client may hand in any number.
fn any_cursor<S: Scan>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..1_000_u32 {
        subject.set(&number.to_le_bytes(), b"x");
    }
    let mut noise = Noise::new(8);
    let edges = [1, 2, 0xFFFF_FFFF, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];
    for number in edges.into_iter().chain((0..20).map(|_| noise.next())) {
        let cursor = Cursor::new(number);
        assert_eq!(cursor.get(), number);
        let seen = walk(&mut subject, cursor, 100, |_| {});
        let whole = seen.iter().all(|(key, seen)| key.len() == 4 && seen.value == b"x");
        assert!(whole, "RULE-SCAN: from cursor {number}");
    }
    subject.finish();
}

/// Items that stay are seen even though they are overwritten, resized and touched, while others
/// come and go, memory comes back and the index grows.
fn while_all_changes<S: Scan>(make: &impl Fn(Limits) -> S) {
    for budget in [3, 40] {
        let mut subject = Subject::new(make, Limits::ROOMY);
        for number in 0..1_000_u32 {
            subject.set(&number.to_le_bytes(), b"stays");
        }
        let mut noise = Noise::new(9);
        let mut added = 1_000_u32;
        let seen = walk(&mut subject, Cursor::START, budget, |subject| {
            let key = (noise.below(1_000) as u32).to_le_bytes();
            let len = noise.below(300);
            let long = noise.bytes(len);
            subject.set(&key, &long);
            subject.change(&key, Change::Expire(Expiry::NEVER)).expect("RULE-UPDATE: it is live");
            if added < 30_000 {
                for _ in 0..40 {
                    let expiry = subject.within(u64::from(added % 7));
                    subject.write(Put::new(&added.to_le_bytes(), b"goes").expiry(expiry));
                    added += 1;
                }
                subject.delete(&(added - 3).to_le_bytes());
            }
            subject.advance(1);
            subject.expire(64);
        });
        for number in 0..1_000_u32 {
            let key = number.to_le_bytes();
            assert!(seen.contains_key(&key[..]), "RULE-SCAN: item {number} was there throughout");
        }
        subject.finish();
    }
}

/// In a full store, while items are evicted: what is shown is whole.
fn when_full<S: Scan>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::TIGHT);
    let value = |number: u32| number.to_le_bytes().repeat(100);
    let mut number = 0_u32;
    let mut write = |subject: &mut Subject<S>, items: u32| {
        for _ in 0..items {
            subject.set(&number.to_le_bytes(), &value(number));
            number += 1;
        }
    };
    write(&mut subject, 20_000);
    let seen = walk(&mut subject, Cursor::START, 100, |subject| write(subject, 20));
    assert!(!seen.is_empty(), "RULE-SCAN: a full store has items");
    for (key, seen) in seen {
        assert!(seen.value == key.repeat(100), "RULE-SCAN: {} is torn", show(&key));
    }
    subject.finish();
}
