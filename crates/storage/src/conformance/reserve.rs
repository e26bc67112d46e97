// SPDX-License-Identifier: Apache-2.0
//! RULE-RESERVE and RULE-REST: reservations and rests between operations.

use super::Limits;
use super::subject::Subject;
use crate::{Condition, Put, Stats, Store};

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    rests(make);
    free_memory(make);
    full_memory(make);
}

/// Rests before, between and after operations change nothing.
fn rests<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.store.rest();
    let mut versions = Vec::new();
    for number in 0..200_u32 {
        let version = subject.set(&number.to_le_bytes(), b"kept");
        (0..number % 3).for_each(|_| subject.store.rest());
        versions.push(version);
    }
    let Stats { items, stored, evicted, expired, .. } = subject.stats();
    let counts = [items, stored, evicted, expired];
    assert_eq!(counts, [200, 200, 0, 0], "RULE-REST: statistics");
    for (number, version) in (0_u32..).zip(versions) {
        let seen = subject.read(&number.to_le_bytes()).map(|seen| (seen.value, seen.version));
        assert_eq!(seen, Some((b"kept".to_vec(), version)), "RULE-REST: item {number}");
        subject.store.rest();
        let put = Put::new(b"other", b"").condition(Condition::IfVersion(version));
        assert!(subject.put(put).is_err(), "RULE-CONDITION: there is no such item");
    }
    subject.store.rest();
    subject.finish();
}

/// Where memory is free, no item goes for a reservation.
fn free_memory<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for number in 0..500_u32 {
        subject.set(&number.to_le_bytes(), &[1; 2_000]);
    }
    let memory = subject.limits.memory_bytes;
    for bytes in [1, 64 << 10, memory / 8, 0, memory / 16] {
        subject.store.reserve(bytes);
        for _ in 0..1_000 {
            subject.expire(10);
        }
        let stats = subject.stats();
        assert!(stats.used_bytes <= stats.limit_bytes, "RULE-LIMIT: {bytes} reserved: {stats:?}");
        assert_eq!(stats.evicted, 0, "RULE-RESERVE: {bytes} bytes are free: {stats:?}");
        for number in 0..500_u32 {
            let seen = subject.read(&number.to_le_bytes());
            assert!(seen.is_some(), "RULE-RESERVE: item {number} went for {bytes} free bytes");
        }
    }
    subject.finish();
}

/// Where it is not, items go and writes do not fail, whatever was reserved; and the memory comes
/// back.
fn full_memory<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::TIGHT);
    let memory = subject.limits.memory_bytes;
    let largest = vec![1; subject.limits.value_bytes as usize];
    let mut number = 0_u32;
    let mut fill = |subject: &mut Subject<S>, reserved: u64| {
        for _ in 0..memory / 1_000 {
            let result = subject.put(Put::new(&number.to_le_bytes(), &[2; 1_000]));
            assert!(result.is_ok(), "RULE-RESERVE: {reserved} bytes reserved: {result:?}");
            number += 1;
            if number.is_multiple_of(8) {
                subject.expire(4);
            }
        }
        let result = subject.put(Put::new(b"largest", &largest));
        assert!(result.is_ok(), "RULE-RESERVE: the largest, {reserved} reserved: {result:?}");
        // Which ones are kept is the engine's policy.
        (0..number).filter(|n| subject.read(&n.to_le_bytes()).is_some()).count() as u64
    };
    let kept = fill(&mut subject, 0);
    for bytes in [100_000, memory / 8, memory / 3, memory, u64::MAX, 1] {
        subject.store.reserve(bytes);
        fill(&mut subject, bytes);
    }
    subject.store.reserve(0);
    fill(&mut subject, 0);
    let again = fill(&mut subject, 0);
    assert!(again >= kept / 4 * 3, "RULE-RESERVE: keeps {again} items, {kept} before it");
    subject.finish();
}
