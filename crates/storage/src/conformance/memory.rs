// SPDX-License-Identifier: Apache-2.0
//! RULE-LIMIT, RULE-EVICTION and RULE-TOO-LARGE. (Every write of the kit checks RULE-LIMIT.)

use super::Limits;
use super::subject::{Noise, Subject, show};
use crate::{Change, Digits, Expiry, Put, Store, StoreError};

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    free_memory(make);
    largest(make, Limits::ROOMY);
    largest(make, Limits::TIGHT);
    updates_when_full(make);
    full_memory(make);
    changing_sizes(make);
    many_items(make);
}

/// Nothing is evicted while most of the memory is free.
fn free_memory<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut noise = Noise::new(2);
    let mut written = Vec::new();
    let mut bytes = 0;
    while bytes < subject.limits.memory_bytes / 8 {
        let number = written.len() as u32;
        let size = [10, 100, 5_000, 200_000][noise.below(4)];
        let expiry = [Expiry::NEVER, subject.within(5_000), subject.within(900_000)];
        let value = noise.bytes(size);
        subject.write(Put::new(&number.to_le_bytes(), &value).expiry(expiry[noise.below(3)]));
        bytes += size as u64;
        written.push(size);
    }
    for (number, size) in written.into_iter().enumerate() {
        let seen = subject.read(&(number as u32).to_le_bytes());
        let len = seen.map(|seen| seen.value.len());
        assert_eq!(len, Some(size), "RULE-EVICTION: item {number} went with memory free");
    }
    assert_eq!(subject.stats().evicted, 0, "RULE-EVICTION: most of the memory is free");
    subject.finish();
}

/// Enough small items for the index to grow several times.
fn many_items<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut versions = Vec::new();
    for number in 0..10_000_u32 {
        let key = number.to_le_bytes();
        versions.push(subject.write(Put::new(&key, &key[..3]).flags(number)));
        // One written long ago is still there in the middle of a growth.
        let old = number / 3;
        let seen = subject.live(&old.to_le_bytes());
        assert_eq!(
            (seen.flags, seen.version),
            (old, versions[old as usize]),
            "RULE-READ: an older item"
        );
    }
    for (number, version) in (0_u32..).zip(versions) {
        let seen = subject.live(&number.to_le_bytes());
        assert_eq!((seen.flags, seen.version), (number, version), "RULE-READ: after growth");
    }
    assert_eq!(subject.stats().evicted, 0, "RULE-EVICTION: most of the memory is free");
    subject.finish();
}

/// Several times the memory in items of one size: every write succeeds, every loss is counted.
fn full_memory<S: Store>(make: &impl Fn(Limits) -> S) {
    const VALUE_BYTES: u64 = 2_000;
    let mut subject = Subject::new(make, Limits::TIGHT);
    let memory = subject.limits.memory_bytes;
    let value = vec![5; VALUE_BYTES as usize];
    let rounds = 4 * memory / VALUE_BYTES;
    for number in 1..=rounds {
        subject.set(&number.to_le_bytes(), &value);
        if number % (rounds / 4) == 0 {
            let live = (1..=number).filter(|n| subject.read(&n.to_le_bytes()).is_some()).count();
            let (live, stats) = (live as u64, subject.stats());
            let kept = live * VALUE_BYTES;
            assert!(kept >= memory / 8, "RULE-EVICTION: keeps {kept} bytes of {memory}");
            let evicted = number - live;
            assert_eq!(stats.evicted, evicted, "RULE-STATS: of {number} items {live} are left");
        }
    }
    assert!(subject.stats().evicted > 0, "RULE-LIMIT: four times the memory was written");
    subject.finish();
}

/// Memory full of items of one size takes those of any other.
fn changing_sizes<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::TIGHT);
    let largest = subject.limits.value_bytes as usize;
    let memory = subject.limits.memory_bytes as usize;
    let mut noise = Noise::new(3);
    let mut number = 0_u64;
    for size in [largest, 400, largest / 2, 3_000, largest - 1, 150] {
        let value = noise.bytes(size);
        // Every item costs more than its value, so this fills the memory once at least.
        for _ in 0..memory / (size + 60) {
            subject.set(&number.to_le_bytes(), &value);
            number += 1;
        }
    }
    for _ in 0..2_000 {
        let key = [noise.below(500) as u8, noise.below(8) as u8];
        let size = noise.below(largest + 1) >> noise.below(12);
        let value = noise.bytes(size);
        let expiry = if noise.below(3) == 0 { subject.within(1_000) } else { Expiry::NEVER };
        subject.write(Put::new(&key, &value).expiry(expiry));
    }
    subject.finish();
}

/// An update that needs room gets it, and is made of the item it saw even if that had to go.
fn updates_when_full<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::TIGHT);
    let filler = vec![1; 2_000];
    for number in 0..3_000_u32 {
        subject.set(&number.to_le_bytes(), &filler);
    }
    subject.set(b"log", b"");
    let piece = [b'p'; 3_000];
    for step in 1..=20_usize {
        let change = Change::Extend { before: b"", after: &piece };
        let result = subject.change(b"log", change);
        assert!(result.is_ok(), "RULE-EVICTION: step {step} fits, but: {result:?}");
        let value = subject.live(b"log").value;
        assert_eq!(value.len(), step * piece.len(), "RULE-UPDATE: step {step}");
    }
    for number in 0..200_u32 {
        let key = [number, u32::MAX].map(u32::to_le_bytes).concat();
        let put = Change::Put { value: &filler, flags: number, expiry: Expiry::NEVER };
        let result = subject.change(&key, put);
        assert_eq!(result, Ok(None), "RULE-EVICTION: a new item fits");
        let digits = Digits::new(number.to_string().as_bytes());
        let result = subject.change(&key, Change::Number(digits));
        assert!(result.is_ok(), "RULE-EVICTION: a number fits, but: {result:?}");
        assert_eq!(subject.live(&key).value, digits.as_bytes(), "RULE-UPDATE: a number");
    }
    subject.finish();
}

/// The largest value goes in by every way, one byte more by none, whether memory is free or full.
fn largest<S: Store>(make: &impl Fn(Limits) -> S, limits: Limits) {
    let mut subject = Subject::new(make, limits);
    let fits = vec![b'F'; limits.value_bytes as usize];
    let over = vec![b'O'; limits.value_bytes as usize + 1];
    let huge = vec![0; limits.memory_bytes as usize + 1];
    let key = [b'k'; 250];
    for round in 0..2 {
        for value in [&over, &huge] {
            let put = Put::new(&key, value);
            subject.refused(put, StoreError::TooLarge, "RULE-TOO-LARGE");
        }
        subject.set(&key, &fits);
        for value in [&over, &huge] {
            subject.set(&key, b"small");
            let put = Put::new(&key, value);
            subject.refused(put, StoreError::TooLarge, "RULE-TOO-LARGE");
            let put = Change::Put { value, flags: 0, expiry: Expiry::NEVER };
            refused_change(&mut subject, &key, put, round);
            refused_change(&mut subject, b"absent", put, round);
            refused_change(&mut subject, &key, Change::Extend { before: value, after: b"" }, round);
        }
        let nearly = &fits[..fits.len() - 1];
        let result =
            subject.change(&key, Change::Put { value: nearly, flags: 1, expiry: Expiry::NEVER });
        assert!(result.is_ok(), "RULE-TOO-LARGE: a byte to spare, but: {result:?}");
        let result = subject.change(&key, Change::Extend { before: b"F", after: b"" });
        assert!(result.is_ok(), "RULE-TOO-LARGE: exactly the largest, but: {result:?}");
        assert!(subject.live(&key).value == fits, "RULE-UPDATE: the largest value");
        for change in [
            Change::Extend { before: b"", after: b"x" },
            Change::Extend { before: b"x", after: b"" },
            Change::Extend { before: &fits, after: &fits },
        ] {
            refused_change(&mut subject, &key, change, round);
        }
        // The second round is in a full store, if that is quickly filled.
        for number in 0..limits.memory_bytes.min(4 << 20) / limits.value_bytes {
            subject.set(&[b'f', number as u8], &fits);
        }
    }
    subject.finish();
}

#[track_caller]
fn refused_change<S: Store>(
    subject: &mut Subject<S>,
    key: &[u8],
    change: Change<'_>,
    round: usize,
) {
    let before = subject.read(key);
    let result = subject.change(key, change).map(|_| ());
    assert_eq!(result, Err(StoreError::TooLarge), "RULE-TOO-LARGE: in round {round}");
    assert_eq!(subject.read(key), before, "RULE-REFUSED: {} after TooLarge", show(key));
}
