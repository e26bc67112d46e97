// SPDX-License-Identifier: Apache-2.0
//! RULE-RESIZE: another memory limit while the store is used.

use super::Limits;
use super::subject::Subject;
use crate::{Put, ResizeError, Stats, Store};

const LIMITS: Limits = Limits { memory_bytes: 8 << 20, value_bytes: 64 << 10 };

/// How many times the memory the limit is raised to.
const TIMES: u64 = 3;

/// Bytes of a value.
const VALUE_BYTES: usize = 1_000;

/// Turns in which a store must get below a lower limit, whatever it has to do.
const TURNS: usize = 100_000;

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    if is_fixed(make) {
        return;
    }
    refused(make);
    up_and_down(make);
    what_fits(make);
}

/// Whether the engine takes no other limit than the first.
fn is_fixed<S: Store>(make: &impl Fn(Limits) -> S) -> bool {
    let mut subject = Subject::new(make, LIMITS);
    let limit = subject.stats().limit_bytes;
    assert_eq!(subject.store.resize(limit), Ok(()), "RULE-RESIZE: it has this limit");
    let higher = subject.store.resize(limit + LIMITS.memory_bytes);
    let is_fixed = higher == Err(ResizeError::TooLarge { most: limit });
    let is_right = is_fixed || subject.stats().limit_bytes == limit + LIMITS.memory_bytes;
    assert!(is_right, "RULE-RESIZE: {higher:?}, but the limit is {:?}", subject.stats());
    is_fixed
}

/// What is too little is refused, and the least that is not is enough for the largest value.
fn refused<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, LIMITS);
    let before = subject.stats().limit_bytes;
    let result = subject.store.resize(0);
    let Err(ResizeError::TooSmall { least }) = result else {
        panic!("RULE-RESIZE: no store works without memory, but: {result:?}")
    };
    assert!(least <= before, "RULE-RESIZE: at least {least} bytes, and there are {before}");
    assert_eq!(subject.stats().limit_bytes, before, "RULE-RESIZE: a limit that is refused");
    let below = subject.store.resize(least - 1);
    assert_eq!(below, Err(ResizeError::TooSmall { least }), "RULE-RESIZE: {least} bytes or more");
    resize(&mut subject, least);
    let largest = vec![1; LIMITS.value_bytes as usize];
    for round in 0..least / LIMITS.value_bytes * 2 {
        let result = subject.put(Put::new(&round.to_le_bytes(), &largest));
        assert!(result.is_ok(), "RULE-RESIZE: the largest value in {least} bytes: {result:?}");
    }
    subject.finish();
}

/// Sets the limit and waits until the store is within it.
fn resize<S: Store>(subject: &mut Subject<S>, limit: u64) {
    assert_eq!(subject.store.resize(limit), Ok(()), "RULE-RESIZE: {limit} bytes");
    subject.limits.memory_bytes = subject.limits.memory_bytes.max(limit);
    assert_eq!(subject.stats().limit_bytes, limit, "RULE-RESIZE: it takes effect at once");
    let (mut items, most) = (subject.stats().items, subject.stats().items / 8 + 100);
    for _ in 0..TURNS {
        subject.expire(16);
        let stats = subject.stats();
        let gone = items.saturating_sub(stats.items);
        assert!(gone <= most, "RULE-RESIZE: {gone} of {items} items went in one turn");
        items = stats.items;
        if stats.used_bytes <= limit && !subject.store.is_shrinking() {
            return;
        }
    }
    let stats = subject.stats();
    panic!("RULE-RESIZE: still not within a lower limit after {TURNS} turns: {stats:?}");
}

/// Writes items from `first` on, in so many bytes.
fn write<S: Store>(subject: &mut Subject<S>, first: u64, bytes: u64) -> u64 {
    let end = first + bytes / VALUE_BYTES as u64;
    for number in first..end {
        let result = subject.put(Put::new(&number.to_le_bytes(), &[number as u8; VALUE_BYTES]));
        assert!(result.is_ok(), "RULE-RESIZE: item {number} fits, but: {result:?}");
        if number.is_multiple_of(16) {
            subject.expire(16);
        }
    }
    end
}

/// How many of the items up to `end` there are; those that are, are whole.
fn kept<S: Store>(subject: &mut Subject<S>, end: u64) -> u64 {
    let mut kept = 0;
    for number in 0..end {
        if let Some(seen) = subject.read(&number.to_le_bytes()) {
            assert!(seen.value == [number as u8; VALUE_BYTES], "RULE-READ: item {number}");
            kept += 1;
        }
    }
    kept
}

/// More fits at once under a higher limit, and as much as before under the old one.
fn up_and_down<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, LIMITS);
    let low = subject.stats().limit_bytes;
    let mut next = write(&mut subject, 0, 2 * low);
    let few = kept(&mut subject, next);
    for round in 0..2 {
        resize(&mut subject, TIMES * low);
        let evicted = subject.stats().evicted;
        next = write(&mut subject, next, low * (TIMES - 1) / 2);
        let Stats { evicted: now, .. } = subject.stats();
        assert_eq!(now, evicted, "RULE-RESIZE: evictions while more memory is free, round {round}");
        next = write(&mut subject, next, 2 * TIMES * low);
        let many = kept(&mut subject, next);
        let enough = few * TIMES / 10 * 9;
        assert!(many >= enough, "RULE-RESIZE: {many} items in {TIMES} times the memory of {few}");
        resize(&mut subject, low);
        let left = kept(&mut subject, next);
        assert!(left >= few / 2, "RULE-RESIZE: {left} items are left where {few} fit");
        next = write(&mut subject, next, 2 * low);
        let again = kept(&mut subject, next);
        assert!(again >= few / 10 * 9, "RULE-RESIZE: {again} items fit, {few} before it");
    }
    subject.finish();
}

/// No item goes that fits the lower limit, too.
fn what_fits<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, LIMITS);
    let low = subject.stats().limit_bytes;
    resize(&mut subject, TIMES * low);
    let mut end = 0;
    // Written over again and again, with memory to spare.
    for _ in 0..10 {
        end = write(&mut subject, 0, low / 2);
    }
    resize(&mut subject, low);
    assert_eq!(kept(&mut subject, end), end, "RULE-RESIZE: half of the memory was enough");
    assert_eq!(subject.stats().evicted, 0, "RULE-RESIZE: half of the memory was enough");
    subject.finish();
}
