// SPDX-License-Identifier: Apache-2.0
//! RULE-CLEAR: old items are gone for every operation, newer ones stay, memory comes back.

use super::Limits;
use super::subject::Subject;
use crate::{Change, Condition, Digits, Expiry, Put, Store, StoreError};

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    every_operation(make);
    memory_comes_back(make);
    when_full(make);
    many_clears(make);
}

fn every_operation<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.store.clear();
    for key in [&b"get"[..], b"delete", b"see", b"add", b"touch", b"count", b"extend", b"write"] {
        subject.write(Put::new(key, b"1").flags(2).expiry(subject.within(60_000)));
    }
    let version = subject.set(b"condition", b"1");
    subject.store.clear();
    assert_eq!(subject.read(b"get"), None, "RULE-CLEAR: an item of before");
    assert!(!subject.delete(b"delete"), "RULE-CLEAR: nothing to delete");
    assert_eq!(subject.change(b"see", Change::Keep), Ok(None), "RULE-CLEAR: nothing to see");
    for condition in [Condition::IfPresent, Condition::IfVersion(version)] {
        let put = Put::new(b"condition", b"x").condition(condition);
        subject.refused(put, StoreError::NotFound, "RULE-CLEAR");
    }
    let added = subject.put(Put::new(b"add", b"x").condition(Condition::IfAbsent));
    assert!(added.is_ok(), "RULE-CLEAR: the key is free, but {added:?}");
    assert_eq!(subject.live(b"add").value, b"x", "RULE-CLEAR: an item of after");
    let needing = [
        (&b"touch"[..], Change::Expire(Expiry::NEVER)),
        (b"count", Change::Number(Digits::new(b"2"))),
        (b"extend", Change::Extend { before: b"x", after: b"x" }),
    ];
    for (key, change) in needing {
        assert_eq!(
            subject.change(key, change),
            Err(StoreError::NotFound),
            "RULE-CLEAR: {change:?}"
        );
        assert_eq!(subject.read(key), None, "RULE-CLEAR: revived by {change:?}");
    }
    let put = Change::Put { value: b"x", flags: 0, expiry: Expiry::NEVER };
    assert_eq!(subject.change(b"write", put), Ok(None), "RULE-CLEAR: nothing to see");
    assert_eq!(subject.live(b"write").value, b"x", "RULE-CLEAR: an item of after");
    subject.finish();
}

/// Half of the keys are written again while the memory of the old items comes back.
fn memory_comes_back<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..2_000_u32 {
        let expiry = if number % 2 == 0 { Expiry::NEVER } else { subject.within(60_000) };
        subject.write(Put::new(&number.to_le_bytes(), &[1; 100]).expiry(expiry));
    }
    let before = subject.stats();
    assert_eq!(before.cleared, 0, "RULE-STATS: {before:?}");
    subject.store.clear();
    subject.check_live(0);
    for number in 0..1_000_u32 {
        subject.set(&number.to_le_bytes(), b"again");
        subject.check_live(u64::from(number) + 1);
        subject.expire(3);
        subject.check_live(u64::from(number) + 1);
    }
    subject.drain(1_000);
    let after = subject.stats();
    assert_eq!(after.cleared, 0, "RULE-STATS: {after:?}");
    assert!(after.item_bytes < before.item_bytes, "RULE-RECLAIM: {after:?}");
    for number in 0..2_000_u32 {
        let seen = subject.read(&number.to_le_bytes()).map(|seen| seen.value);
        let expected = (number < 1_000).then(|| b"again".to_vec());
        assert_eq!(seen, expected, "RULE-CLEAR: item {number} after the memory came back");
    }
    let lost = (after.evicted, after.expired);
    assert_eq!(lost, (0, 0), "RULE-STATS: cleared items are neither evicted nor expired");
    subject.store.clear();
    subject.drain(0);
    assert_eq!(subject.stats().item_bytes, 0, "RULE-RECLAIM: no items, no bytes of items");
    subject.finish();
}

/// A full store that is cleared takes new items at once, `expire` or not.
fn when_full<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::TIGHT);
    let value = vec![7; 10_000];
    for round in 0..3_u32 {
        for number in 0..600_u32 {
            subject.set(&[round, number].map(u32::to_le_bytes).concat(), &value);
        }
        subject.store.clear();
        for number in 0..600_u32 {
            let key = [round, number].map(u32::to_le_bytes).concat();
            assert_eq!(subject.read(&key), None, "RULE-CLEAR: an item of before");
        }
    }
    subject.drain(0);
    subject.finish();
}

/// An item from before a clear stays gone however often the store is cleared after it, also where an engine's
/// counter of clears wraps.
fn many_clears<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    // Each key is read once only: reading may be what removes a dead item.
    let looks = [1_u32, 2, 255, 256, 257, 512, 1_024, 4_096, 32_768, 65_535, 65_536, 65_537];
    for look in looks {
        subject.set(&look.to_le_bytes(), b"old");
    }
    for clears in 1..=65_537_u32 {
        subject.store.clear();
        if looks.contains(&clears) {
            let seen = subject.read(&clears.to_le_bytes());
            assert_eq!(seen, None, "RULE-CLEAR: after {clears} clears");
        }
    }
    subject.set(b"key", b"new");
    subject.drain(1);
    assert_eq!(subject.live(b"key").value, b"new", "RULE-CLEAR: an item of after");
    subject.finish();
}
