// SPDX-License-Identifier: Apache-2.0
//! RULE-READ, RULE-DELETE and RULE-PREFETCH: any bytes under any key, and no others.

use super::Limits;
use super::subject::{Noise, Subject, show};
use crate::{Put, Store};

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    keys(make);
    values(make);
    deletes(make);
    prefetches(make);
}

/// Keys that are easily taken for one another.
fn similar_keys() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for len in [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 128, 249, 250] {
        keys.push(vec![0; len]);
        keys.push(vec![0xFF; len]);
        for at in [0, len / 2, len - 1] {
            let mut key = vec![b'k'; len];
            key[at] = b'l';
            keys.push(key);
        }
    }
    keys.extend([&b"get a\r\n"[..], b"a b", b"A", b"\r\n", b"\0\0a"].map(<[u8]>::to_vec));
    keys.sort();
    keys.dedup();
    keys
}

fn keys<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let keys = similar_keys();
    for (number, key) in keys.iter().enumerate() {
        let before = subject.read(key);
        assert_eq!(before, None, "RULE-READ: {} was never written", show(key));
        let value = [key.as_slice(), &number.to_le_bytes()].concat();
        subject.write(Put::new(key, &value).flags(number as u32));
    }
    for (number, key) in keys.iter().enumerate() {
        let seen = subject.live(key);
        let value = [key.as_slice(), &number.to_le_bytes()].concat();
        assert!(seen.value == value, "RULE-READ: {} has another's value", show(key));
        assert_eq!(seen.flags, number as u32, "RULE-READ: the flags of {}", show(key));
    }
    subject.finish();
}

fn values<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut noise = Noise::new(1);
    let powers = (0..=20).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
    let largest = subject.limits.value_bytes as usize;
    let mut sizes: Vec<usize> = (0..300).chain(powers).filter(|&size| size <= largest).collect();
    // All sizes on one key in any order: the item grows and shrinks in place or moves.
    while !sizes.is_empty() {
        let size = sizes.swap_remove(noise.below(sizes.len()));
        let value = noise.bytes(size);
        subject.write(Put::new(b"sized", &value).flags(size as u32));
    }
    let texts =
        ["", "0", "007", "-1", "+1", " 1", "1 ", "1e3", "18446744073709551615", "\0", "\r\n"];
    for text in texts {
        subject.write(Put::new(b"text", text.as_bytes()).flags(u32::MAX));
        subject.write(Put::new(b"text", text.as_bytes()).flags(0));
    }
    subject.finish();
}

fn deletes<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    assert!(!subject.delete(b"never"), "RULE-DELETE: there was no item to delete");
    let keys = similar_keys();
    for key in &keys {
        subject.set(key, key);
    }
    for key in keys.iter().step_by(2) {
        assert!(subject.delete(key), "RULE-DELETE: {} had a live item", show(key));
        assert_eq!(subject.read(key), None, "RULE-DELETE: {} was deleted", show(key));
        assert!(!subject.delete(key), "RULE-DELETE: {} was deleted before", show(key));
    }
    for (number, key) in keys.iter().enumerate() {
        match number % 2 {
            0 => assert_eq!(subject.read(key), None, "RULE-DELETE: {} was deleted", show(key)),
            _ => assert!(subject.live(key).value == *key, "RULE-DELETE: another key's went"),
        }
    }
    subject.finish();
}

fn prefetches<S: Store>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    subject.prefetch(b"in an empty store");
    subject.write(Put::new(b"lasting", b"1"));
    subject.write(Put::new(b"expired", b"2").expiry(subject.within(5)));
    subject.advance(5);
    let stats = subject.stats();
    for key in [&b"lasting"[..], b"expired", b"absent", b"x", &[0xFF; 250]] {
        subject.prefetch(key);
    }
    assert_eq!(subject.stats(), stats, "RULE-PREFETCH: the store before and after");
    assert_eq!(subject.live(b"lasting").value, b"1", "RULE-PREFETCH: the item is what it was");
    assert_eq!(subject.read(b"absent"), None, "RULE-PREFETCH: nothing appears");
    subject.finish();
}
