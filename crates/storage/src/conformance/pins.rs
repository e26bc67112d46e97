// SPDX-License-Identifier: Apache-2.0
//! RULE-PIN: bytes taken by reference count outlive their item.

use super::Limits;
use super::subject::{Noise, Subject, show};
use crate::{Change, Expiry, Item, Put, Store};
use bytes::Bytes;

/// A pinned value and what it must stay.
struct Pinned {
    pin: Bytes,
    value: Vec<u8>,
}

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    for limits in [Limits::ROOMY, Limits::TIGHT] {
        let mut subject = Subject::new(make, limits);
        let mut pins = Vec::new();
        for round in 0..5 {
            take(&mut subject, &mut pins, round);
            still(&pins, "other writes");
            lose(&mut subject, round);
            still(&pins, ["an overwrite", "a delete", "an expiry", "a clear", "evictions"][round]);
        }
        subject.finish();
        still(&pins, "the store was dropped");
    }
}

const SIZES: [usize; 9] = [0, 1, 20, 500, 1_500, 4_096, 16_000, 40_000, 65_536];

/// Writes items of all sizes and pins those that the engine lends, by `get` and within an update.
fn take<S: Store>(subject: &mut Subject<S>, pins: &mut Vec<Pinned>, round: usize) {
    let mut noise = Noise::new(round as u64);
    for size in SIZES {
        let value = noise.bytes(size);
        let key = size.to_string();
        let expiry = if round == 2 { subject.within(50) } else { Expiry::NEVER };
        subject.write(Put::new(key.as_bytes(), &value).expiry(expiry));
        let now = subject.now();
        let got = subject.store.get(key.as_bytes(), now).map(|item| item.pin());
        let got = got.expect("RULE-READ: just written");
        // In the middle of the rounds a pin is also taken while the item is being replaced.
        let put = Change::Put { value: b"replaced", flags: 0, expiry };
        let change = if round.is_multiple_of(2) { Change::Keep } else { put };
        let seen = subject
            .store
            .update(key.as_bytes(), now, |item| (change, item.and_then(|item| item.pin())));
        let seen = seen.expect("RULE-EVICTION: the change fits");
        for pin in [got, seen].into_iter().flatten() {
            pins.push(Pinned { pin, value: value.clone() });
        }
        still(pins, "it was taken");
    }
}

/// Makes the round's items unreadable and uses their memory for others if it can be had.
fn lose<S: Store>(subject: &mut Subject<S>, round: usize) {
    for size in SIZES {
        let key = size.to_string();
        match round {
            0 => drop(subject.set(key.as_bytes(), &vec![0xEE; size])),
            // A full store may have evicted the item for one of those written after it.
            1 => {
                let live = subject.read(key.as_bytes()).is_some();
                assert!(live || subject.limits == Limits::TIGHT, "RULE-EVICTION: {size} bytes");
                assert_eq!(subject.delete(key.as_bytes()), live, "RULE-DELETE: {size} bytes");
            }
            _ => {}
        }
    }
    match round {
        2 => subject.advance(50),
        3 => subject.store.clear(),
        _ => {}
    }
    for _ in 0..10 {
        subject.expire(100);
    }
    let value = vec![0xEE; 60_000];
    // Twice the memory of the tight store.
    for number in 0..150_u8 {
        subject.set(&[number, 0], &value);
    }
}

#[track_caller]
fn still(pins: &[Pinned], after: &str) {
    for Pinned { pin, value } in pins {
        assert!(pin == value, "RULE-PIN: {} instead of {} after {after}", show(pin), show(value));
    }
}
