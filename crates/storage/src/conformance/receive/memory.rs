// SPDX-License-Identifier: Apache-2.0
//! What drafts do to memory: they have bounds, are counted, keep nobody from writing, and leave nothing.

use super::{Arriving, send};
use crate::conformance::Limits;
use crate::conformance::subject::{Noise, Subject, show};
use crate::{Announced, Condition, Draft, Put, Receive, StoreError};

/// Drafts of the largest value that an engine takes at once, whatever else it holds.
const AT_ONCE: usize = 4;

pub(super) fn run<S: Receive>(make: &impl Fn(Limits) -> S) {
    for limits in [Limits::ROOMY, Limits::TIGHT] {
        largest(make, limits);
    }
    leave_nothing(make);
    when_full(make);
    outlive_the_store(make);
}

/// The largest value arrives, one byte more does not.
fn largest<S: Receive>(make: &impl Fn(Limits) -> S, limits: Limits) {
    let mut subject = Subject::new(make, limits);
    let fits = vec![b'F'; limits.value_bytes as usize];
    let over = vec![b'O'; limits.value_bytes as usize + 1];
    let key = [b'k'; 250];
    for round in 0..2 {
        send(&mut subject, Put::new(&key, &fits), 50_000).commit(&mut subject, Condition::Always);
        let before = subject.set(&key, b"small");
        let result = Arriving::try_begin(&mut subject, Put::new(&key, &over)).and_then(|draft| {
            let mut draft = draft;
            while draft.left() > 0 {
                draft.try_more(&mut subject, 50_000)?;
            }
            draft.try_commit(&mut subject, Condition::Always)
        });
        assert_eq!(result, Err(StoreError::TooLarge), "RULE-RECEIVE: a byte too many");
        assert_eq!(subject.live(&key).version, before, "RULE-RECEIVE: the item of before");
        for value_len in [limits.memory_bytes as usize, usize::MAX - 1_000, usize::MAX] {
            // Nothing is allocated for a claim. To be found too large it would have to arrive.
            let now = subject.now();
            let begun = subject.store.begin(Announced::new(&key, value_len), now);
            let refused = matches!(begun, Err(StoreError::TooLarge));
            let outside = begun.as_ref().map_or(0, Draft::outside_bytes);
            assert!(refused || begun.is_ok(), "RULE-RECEIVE: a claim of {value_len} bytes");
            assert!(outside <= 1_000, "RULE-RECEIVE: {outside} bytes for a claim in round {round}");
            drop(begun);
            subject.settle();
        }
        // The second round is in a full store, if that is quickly filled.
        for number in 0..limits.memory_bytes.min(4 << 20) / limits.value_bytes {
            subject.set(&[b'f', number as u8], &fits);
        }
    }
    subject.finish();
}

fn expire<S: Receive>(subject: &mut Subject<S>, turns: usize) {
    for _ in 0..turns {
        subject.expire(64);
    }
}

/// Drafts that are dropped, refused or replaced leave nothing: together they have several times the memory.
fn leave_nothing<S: Receive>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let largest = subject.limits.value_bytes as usize;
    let value = vec![b'g'; largest];
    let kept = subject.set(b"kept", b"value");
    let committed = send(&mut subject, Put::new(b"replaced", &value), largest);
    committed.commit(&mut subject, Condition::Always);
    let before = subject.stats().used_bytes;
    for round in 0..200 {
        let put = Put::new(if round % 4 == 3 { b"replaced" } else { b"kept" }, &value);
        let mut arriving = Arriving::begin(&mut subject, put);
        if round % 4 == 0 {
            arriving.more(&mut subject, largest / 3);
            subject.clear();
            // What the clear has taken.
            subject.set(b"replaced", b"");
            subject.set(b"kept", b"value");
            drop(arriving);
        } else {
            while arriving.left() > 0 {
                arriving.more(&mut subject, 100_000);
            }
            match round % 4 {
                1 => drop(arriving),
                2 => {
                    let result = arriving.try_commit(&mut subject, Condition::IfAbsent);
                    assert_eq!(result, Err(StoreError::Exists), "RULE-RECEIVE: IfAbsent");
                }
                _ => drop(arriving.commit(&mut subject, Condition::IfPresent)),
            }
        }
        subject.settle();
        expire(&mut subject, 8);
        let stats = subject.stats();
        assert_eq!(stats.evicted, 0, "RULE-RECEIVE: drafts leave memory in use: {stats:?}");
    }
    subject.drain(2);
    expire(&mut subject, 200);
    let after = subject.stats().used_bytes;
    let most = before + subject.limits.value_bytes;
    assert!(after <= most, "RULE-RECEIVE: {after} bytes in use, {before} before all drafts");
    let seen = subject.live(b"kept");
    assert_eq!(seen.value, b"value", "RULE-RECEIVE: no draft was written here");
    assert_ne!(seen.version, kept, "RULE-VERSION-NEW: written again");
    subject.finish();
}

/// In a full store: others write as before while values arrive, and each of these is whole at its end.
fn when_full<S: Receive>(make: &impl Fn(Limits) -> S) {
    const VALUE_BYTES: usize = 2_000;
    let mut subject = Subject::new(make, Limits::TIGHT);
    let (memory, largest) = (subject.limits.memory_bytes as usize, subject.limits.value_bytes);
    let mut noise = Noise::new(23);
    let mut number = 0_u32;
    let mut fill = |subject: &mut Subject<S>, items: usize| {
        for _ in 0..items {
            let result = subject.put(Put::new(&number.to_le_bytes(), &[9; VALUE_BYTES]));
            assert!(result.is_ok(), "RULE-RECEIVE: others write, but: {result:?}");
            number += 1;
        }
        number
    };
    let whole = memory / VALUE_BYTES;
    let live = |subject: &mut Subject<S>, end: u32| {
        (0..end).filter(|number| subject.read(&number.to_le_bytes()).is_some()).count()
    };
    let end = fill(&mut subject, 2 * whole);
    let before = live(&mut subject, end);
    let slow = noise.bytes(largest as usize);
    let mut endless = Arriving::begin(&mut subject, Put::new(b"endless", &slow).flags(5));
    for round in 0..10_u8 {
        let mut drafts: Vec<_> = (1..AT_ONCE as u8)
            .map(|draft| {
                let value = noise.bytes(largest as usize);
                let key = if draft == 1 { vec![b'k'] } else { vec![b'k', round, draft] };
                Arriving::begin(&mut subject, Put::new(&key, &value).flags(round.into()))
            })
            .collect();
        let outside = |drafts: &[Arriving<S::Draft>], endless: &Arriving<S::Draft>| {
            let all = drafts.iter().chain([endless]);
            all.map(|draft| draft.draft.outside_bytes() as u64).sum::<u64>()
        };
        while drafts[0].left() > 0 {
            fill(&mut subject, whole / 10);
            drafts.iter_mut().for_each(|draft| draft.more(&mut subject, 5_000));
            endless.more(&mut subject, 50);
            let reserved = outside(&drafts, &endless);
            subject.store.reserve(reserved);
            subject.expire(16);
            subject.check_limit();
        }
        while let Some(draft) = drafts.pop() {
            let reserved = outside(&drafts, &endless);
            subject.store.reserve(reserved);
            draft.commit(&mut subject, Condition::Always);
        }
    }
    endless.more(&mut subject, largest as usize);
    subject.store.reserve(0);
    endless.commit(&mut subject, Condition::IfAbsent);
    fill(&mut subject, 2 * whole);
    subject.expire(64);
    let end = fill(&mut subject, 2 * whole);
    let after = live(&mut subject, end);
    assert!(after >= before / 8 * 7, "RULE-RECEIVE: keeps {after} items, {before} before drafts");
    subject.finish();
}

/// Drafts may end in any order with their handle and their store.
fn outlive_the_store<S: Receive>(make: &impl Fn(Limits) -> S) {
    for size in [10, 60_000] {
        let mut subject = Subject::new(make, Limits::TIGHT);
        let value = vec![b'o'; size];
        let drafts = [(); 2].map(|()| send(&mut subject, Put::new(b"key", &value), 4_000));
        subject.set(b"key", b"item");
        subject.finish();
        for draft in drafts {
            assert!(draft.left() == 0, "RULE-RECEIVE: {}", show(&draft.value));
            drop(draft);
        }
    }
}
