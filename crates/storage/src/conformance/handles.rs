// SPDX-License-Identifier: Apache-2.0
//! RULE-HANDLES and RULE-REST: several handles in turn, on one thread. Each rests after every
//! operation; [`Subject`] sees to that.

use super::Limits;
use super::subject::Subject;
use crate::{Change, Condition, Digits, Expiry, Item, Put, Store, StoreError};
use std::time::Duration;

pub(super) fn run<S: Store + Clone>(make: &impl Fn(Limits) -> S) {
    see_each_other(make);
    come_and_go(make);
    clocks_apart(make);
    rested(make);
}

fn see_each_other<S: Store + Clone>(make: &impl Fn(Limits) -> S) {
    let mut one = Subject::new(make, Limits::ROOMY);
    let mut two = one.another();
    for number in 0..500_u32 {
        let key = number.to_le_bytes();
        let version = one.set(&key, b"one");
        let seen = two.read(&key);
        let expected = Some((b"one".to_vec(), version));
        let got = seen.map(|seen| (seen.value, seen.version));
        assert_eq!(got, expected, "RULE-HANDLES: a put by the other handle");
        let next = two.write(Put::new(&key, b"two").condition(Condition::IfVersion(version)));
        assert_ne!(next, version, "RULE-VERSION-NEW: by the other handle");
        let stale = Put::new(&key, b"x").condition(Condition::IfVersion(version));
        one.refused(stale, StoreError::Exists, "RULE-HANDLES");
        let seen = one.change(&key, Change::Number(Digits::new(b"3")));
        let seen = seen.ok().flatten().map(|seen| seen.value);
        assert_eq!(seen, Some(b"two".to_vec()), "RULE-HANDLES: an update after the other's put");
        assert_eq!(two.live(&key).value, b"3", "RULE-HANDLES: an update by the other handle");
        if number % 2 == 0 {
            assert!(two.delete(&key), "RULE-HANDLES: {number} is live");
            assert_eq!(one.read(&key), None, "RULE-HANDLES: a delete by the other handle");
        }
    }
    assert_eq!(one.stats(), two.stats(), "RULE-STATS: over all handles");
    two.clear();
    // One has done nothing since: it may still be about to write to where its items are.
    two.check_live(0);
    for number in 0..500_u32 {
        let seen = one.read(&number.to_le_bytes());
        assert_eq!(seen, None, "RULE-HANDLES: a clear by the other handle");
    }
    one.write(Put::new(b"key", b"1").expiry(one.within(10)));
    one.advance(10);
    assert_eq!(two.read(b"key"), None, "RULE-EXPIRY: at the other handle");
    for _ in 0..1_000 {
        one.expire(10);
        two.expire(10);
    }
    assert_eq!(two.stats().items, 0, "RULE-RECLAIM: with two handles");
    one.finish();
    two.finish();
}

/// Handles are made and dropped while the items stay.
fn come_and_go<S: Store + Clone>(make: &impl Fn(Limits) -> S) {
    let mut last = Subject::new(make, Limits::ROOMY);
    for number in 0..100_u32 {
        let mut next = last.another();
        last.set(&number.to_le_bytes(), b"stays");
        drop(last);
        let seen = next.live(&number.to_le_bytes());
        assert_eq!(seen.value, b"stays", "RULE-HANDLES: after the writer was dropped");
        last = next;
    }
    for number in 0..100_u32 {
        let seen = last.read(&number.to_le_bytes());
        assert!(seen.is_some(), "RULE-HANDLES: item {number} went with a handle");
    }
    assert_eq!(last.stats().items, 100, "RULE-STATS: over all handles there ever were");
    last.finish();
}

/// Workers read the clock at different moments: each sees what holds at its own.
fn clocks_apart<S: Store + Clone>(make: &impl Fn(Limits) -> S) {
    let subject = Subject::new(make, Limits::ROOMY);
    let (mut ahead, mut behind) = (subject.store.clone(), subject.store.clone());
    for number in 0..200_u32 {
        let key = number.to_le_bytes();
        let early = subject.now();
        let late = early + Duration::from_millis(u64::from(number % 20) + 1);
        let put = Put::new(&key, b"old").expiry(Expiry::at(late));
        assert!(behind.put(put, early).is_ok(), "RULE-EVICTION: memory is free");
        behind.rest();
        assert!(ahead.get(&key, late).is_none(), "RULE-EXPIRY: at the handle ahead");
        ahead.rest();
        // Whether the handle behind still finds it is open; what it finds must be whole.
        if let Some(item) = behind.get(&key, early) {
            assert_eq!(item.value(), b"old", "RULE-READ: at the handle behind");
        }
        behind.rest();
        let put = Put::new(&key, b"new").expiry(Expiry::after(Duration::from_secs(60), late));
        assert!(ahead.put(put, late).is_ok(), "RULE-EVICTION: memory is free");
        ahead.rest();
        behind.expire(early, 4);
        ahead.expire(late, 4);
        let seen = behind.get(&key, early).map(|item| item.value().to_vec());
        behind.rest();
        assert_eq!(seen, Some(b"new".to_vec()), "RULE-HANDLES: a put by the handle ahead");
        subject.advance(3);
    }
    ahead.check_integrity();
    subject.finish();
}

/// Handles that were used and rest hold up nobody: another writes the memory several times over.
fn rested<S: Store + Clone>(make: &impl Fn(Limits) -> S) {
    let mut busy = Subject::new(make, Limits::TIGHT);
    let mut resting = [busy.another(), busy.another()];
    let value = [7; 1_000];
    for number in 0..4 * busy.limits.memory_bytes / value.len() as u64 {
        if number % 1_000 == 0 {
            resting[0].set(b"written before the rest", b"1");
            resting[1].delete(b"written before the rest");
            resting[1].change(&number.to_le_bytes(), Change::Keep).expect("RULE-UPDATE: a look");
        }
        let result = busy.put(Put::new(&number.to_le_bytes(), &value));
        assert!(result.is_ok(), "RULE-REST: it fits, and all others rest, but: {result:?}");
    }
    let [one, two] = resting;
    one.finish();
    two.finish();
    busy.finish();
}
