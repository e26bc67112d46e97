// SPDX-License-Identifier: Apache-2.0
//! RULE-FITS: whatever clients overwrite, delete or change in size, live items stay while there is
//! room for them.

use super::Limits;
use super::subject::{Noise, Subject};
use crate::{Expiry, Put, Store};

const LIMITS: Limits = Limits { memory_bytes: 16 << 20, value_bytes: 64 << 10 };

/// Bytes of a value, on average.
const VALUE_BYTES: usize = 1_000;

/// How full the store is kept, in percent of the items that the engine held when it first evicted.
/// A log-structured engine has to copy more the fuller it is.
const PERCENT: u64 = 70;

/// How often each item is overwritten, on average.
const TIMES: usize = 4;

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    let items = (fitting(make) * PERCENT / 100) as usize;
    let mut noise = Noise::new(6);
    written_over(make, items, "at random", |_| noise.below(items));
    written_over(make, items, "in order", |step| step % items);
    let mut skewed = |_| {
        let end = 1 + noise.below(items);
        noise.below(end)
    };
    written_over(make, items, "some more than others", &mut skewed);
    deleted(make, items);
    resized(make, items);
}

/// How many items an engine holds when it evicts the first.
fn fitting<S: Store>(make: &impl Fn(Limits) -> S) -> u64 {
    let mut subject = Subject::new(make, LIMITS);
    let most = LIMITS.memory_bytes / VALUE_BYTES as u64;
    let mut written = 0;
    while subject.stats().evicted == 0 {
        assert!(written <= most, "RULE-LIMIT: {written} items and none evicted");
        set(&mut subject, written as usize, VALUE_BYTES);
        written += 1;
    }
    written - subject.stats().evicted
}

/// Writes an item; of every four, one expires in an hour and one in a day.
fn set<S: Store>(subject: &mut Subject<S>, key: usize, value_bytes: usize) {
    const SECOND: u64 = 1000;
    let value = [key as u8; VALUE_BYTES * 2];
    let expiry = match key % 4 {
        0 => subject.within(3_600 * SECOND),
        1 => subject.within(86_400 * SECOND),
        _ => Expiry::NEVER,
    };
    let key = (key as u64).to_be_bytes();
    let result = subject.put(Put::new(&key, &value[..value_bytes]).expiry(expiry));
    assert!(result.is_ok(), "RULE-EVICTION: it fits, but: {result:?}");
}

fn check<S: Store>(mut subject: Subject<S>, keys: impl Iterator<Item = usize>, how: &str) {
    for key in keys {
        let seen = subject.read(&(key as u64).to_be_bytes());
        assert!(seen.is_some(), "RULE-FITS: item {key} is gone; items were {how}");
    }
    let evicted = subject.stats().evicted;
    assert_eq!(evicted, 0, "RULE-FITS: there was room for all items; they were {how}");
    subject.finish();
}

fn written_over<S: Store>(
    make: &impl Fn(Limits) -> S,
    items: usize,
    how: &str,
    mut key: impl FnMut(usize) -> usize,
) {
    let mut subject = Subject::new(make, LIMITS);
    (0..items).for_each(|key| set(&mut subject, key, VALUE_BYTES));
    (0..items * TIMES).for_each(|step| set(&mut subject, key(step), VALUE_BYTES));
    check(subject, 0..items, &format!("written over, {how}"));
}

/// Half of the items go, as many others come, again and again.
fn deleted<S: Store>(make: &impl Fn(Limits) -> S, items: usize) {
    let mut subject = Subject::new(make, LIMITS);
    let mut noise = Noise::new(7);
    let mut live: Vec<usize> = (0..items).collect();
    live.iter().for_each(|&key| set(&mut subject, key, VALUE_BYTES));
    let mut next = items;
    for _ in 0..TIMES * 2 {
        for _ in 0..items / 2 {
            let key = live.swap_remove(noise.below(live.len()));
            assert!(subject.delete(&(key as u64).to_be_bytes()), "RULE-FITS: item {key} is gone");
        }
        while live.len() < items {
            set(&mut subject, next, VALUE_BYTES);
            live.push(next);
            next += 1;
        }
    }
    check(subject, live.into_iter(), "deleted, and others written");
}

/// Values grow and shrink between a half and three halves.
fn resized<S: Store>(make: &impl Fn(Limits) -> S, items: usize) {
    let mut subject = Subject::new(make, LIMITS);
    let mut noise = Noise::new(8);
    (0..items).for_each(|key| set(&mut subject, key, VALUE_BYTES));
    for _ in 0..items * TIMES {
        let bytes = VALUE_BYTES / 2 + noise.below(VALUE_BYTES);
        set(&mut subject, noise.below(items), bytes);
    }
    check(subject, 0..items, "written over, in other sizes");
}
