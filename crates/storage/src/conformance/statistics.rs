// SPDX-License-Identifier: Apache-2.0
//! RULE-STATS and RULE-RECLAIM: the numbers of [`Stats`](crate::Stats) mean what they say.

use super::Limits;
use super::subject::Subject;
use crate::{Change, Condition, Digits, Expiry, Put, Stats, Store, StoreError};

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    items_and_bytes(make);
    stored(make);
    expired(make);
    budgets(make);
    deleted(make);
}

#[track_caller]
fn sums_up(stats: Stats) {
    let Stats { item_bytes, index_bytes, used_bytes, .. } = stats;
    assert!(item_bytes + index_bytes <= used_bytes, "RULE-STATS: parts and whole: {stats:?}");
}

fn items_and_bytes<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let empty = subject.stats();
    let Stats { items, item_bytes, stored, evicted, expired, .. } = empty;
    assert_eq!([items, item_bytes, stored, evicted, expired], [0; 5], "RULE-STATS: {empty:?}");
    sums_up(empty);
    let mut bytes = 0;
    for number in 1..=500_u64 {
        let value = vec![1; number as usize * 7];
        subject.set(&number.to_le_bytes(), &value);
        bytes += 8 + value.len() as u64;
        let stats = subject.stats();
        assert_eq!(stats.items, number, "RULE-STATS: {number} live items: {stats:?}");
        assert!(stats.item_bytes >= bytes, "RULE-STATS: {bytes} bytes written: {stats:?}");
        let is_table = stats.index_slots > 0;
        assert!(!is_table || stats.index_bytes > 0, "RULE-STATS: slots of no bytes: {stats:?}");
        sums_up(stats);
    }
    let live = subject.stats();
    for number in 1..=500_u64 {
        subject.set(&number.to_le_bytes(), b"");
        assert!(subject.stats().items >= 500, "RULE-STATS: 500 live items");
        sums_up(subject.stats());
    }
    let stats = subject.stats();
    let (evicted, limit) = (stats.evicted, stats.limit_bytes);
    assert_eq!((evicted, limit), (0, live.limit_bytes), "RULE-STATS: {stats:?}");
    subject.finish();
}

/// Each write that takes place counts once; what writes nothing does not count.
fn stored<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.set(b"key", b"1");
    subject.set(b"key", b"2");
    let never = Expiry::NEVER;
    let writes = [
        Change::Put { value: b"3", flags: 0, expiry: never },
        Change::Number(Digits::new(b"4")),
        Change::Extend { before: b"", after: b"5" },
    ];
    for (count, change) in (3..).zip(writes) {
        assert!(subject.change(b"key", change).is_ok(), "RULE-UPDATE: {change:?}");
        assert_eq!(subject.stats().stored, count, "RULE-STATS: stored, after {change:?}");
    }
    let put = Put::new(b"key", b"x").condition(Condition::IfAbsent);
    subject.refused(put, StoreError::Exists, "RULE-CONDITION");
    let put = Put::new(b"none", b"x").condition(Condition::IfPresent);
    subject.refused(put, StoreError::NotFound, "RULE-CONDITION");
    for change in [Change::Keep, Change::Expire(never), Change::Delete, Change::Delete] {
        assert!(subject.change(b"key", change).is_ok(), "RULE-UPDATE: {change:?}");
    }
    let result = subject.change(b"key", Change::Number(Digits::new(b"1")));
    assert_eq!(result, Err(StoreError::NotFound), "RULE-UPDATE: a number needs an item");
    let stats = subject.stats();
    assert_eq!(stats.stored, 5, "RULE-STATS: nothing more was stored: {stats:?}");
    subject.finish();
}

/// Memory of expired items comes back through `expire`, which counts and leaves the others.
fn expired<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..1_500_u32 {
        let expiry = match number % 3 {
            0 => Expiry::NEVER,
            1 => subject.within(1_000),
            _ => subject.within(10_000_000),
        };
        subject.write(Put::new(&number.to_le_bytes(), &[2; 50]).expiry(expiry));
    }
    let full = subject.stats();
    subject.advance(999);
    for _ in 0..100 {
        assert_eq!(subject.expire(64), 0, "RULE-RECLAIM: nothing has expired");
    }
    for (millis, left, total) in [(1, 1_000, 500), (10_000_000, 500, 1_000)] {
        subject.advance(millis);
        let freed = subject.drain(left);
        assert_eq!(freed, 500, "RULE-RECLAIM: expire says how many it freed");
        let stats = subject.stats();
        assert_eq!(stats.expired, total, "RULE-STATS: items that expired: {stats:?}");
        assert!(stats.item_bytes < full.item_bytes, "RULE-RECLAIM: bytes come back: {stats:?}");
        assert_eq!(stats.evicted, 0, "RULE-STATS: expired items are not evicted: {stats:?}");
        sums_up(stats);
    }
    for number in 0..1_500_u32 {
        let live = subject.read(&number.to_le_bytes()).is_some();
        assert_eq!(live, number % 3 == 0, "RULE-RECLAIM: item {number}");
    }
    subject.finish();
}

/// Never more than the budget is freed ([`Subject::expire`] checks), and nothing with none.
fn budgets<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..300_u32 {
        let expiry = subject.within(u64::from(number % 10) + 1);
        subject.write(Put::new(&number.to_le_bytes(), b"soon").expiry(expiry));
    }
    subject.advance(5);
    for budget in [0, 1, 2, 10, 100, usize::MAX] {
        subject.expire(budget);
        subject.store.check_integrity();
    }
    for number in (0..300_u32).filter(|number| number % 10 >= 5) {
        let seen = subject.live(&number.to_le_bytes());
        assert_eq!(seen.value, b"soon", "RULE-RECLAIM: item {number} is live");
    }
    subject.advance(10_000);
    subject.drain(0);
    subject.finish();
}

/// Memory of deleted items comes back, at once or through `expire`.
fn deleted<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..500_u32 {
        subject.set(&number.to_le_bytes(), &[3; 500]);
    }
    for number in 0..500_u32 {
        assert!(subject.delete(&number.to_le_bytes()), "RULE-DELETE: item {number} is live");
    }
    subject.drain(0);
    let stats = subject.stats();
    let numbers = [stats.item_bytes, stats.evicted, stats.expired];
    assert_eq!(numbers, [0; 3], "RULE-STATS: all items were deleted: {stats:?}");
    sums_up(stats);
    subject.finish();
}
