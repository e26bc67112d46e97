// SPDX-License-Identifier: Apache-2.0
//! RULE-ATOMIC under pressure: threads write, read, pin, change and lose items in a full store
//! while time passes. Values identify themselves, so that a torn one is detected.

use super::Limits;
use super::subject::{Noise, Subject};
use super::threads::race;
use crate::{Change, Condition, Expiry, Item, Put, Stage, Stats, Store, StoreError, Version};
use bytes::Bytes;
use clock::Clock;
use std::collections::HashSet;
use std::time::Duration;

const ROUNDS: usize = 1_500;
const KEYS: usize = 700;
/// The most bytes of a value: all keys together come to several times the memory.
const VALUE_BYTES: usize = 32_000;

/// What a thread reports: the versions it made and the values it pinned, each with its key.
struct Report {
    versions: Vec<(usize, Version)>,
    pins: Vec<(usize, Bytes)>,
}

pub(super) fn run<S: Store + Clone + Send + 'static>(make: &impl Fn(Limits) -> S) {
    let store = Subject::new(make, Limits::TIGHT).store;
    let clock = Clock::manual(0);
    clock.advance(Duration::from_millis(1_234_567));
    let (mut store, reports) = race(store, |store, thread| churn(store, thread, &clock));
    let mut seen = HashSet::new();
    for Report { versions, pins } in reports {
        for (key, version) in versions {
            assert!(
                seen.insert((key, version)),
                "RULE-VERSION-NEW: {version:?} of several threads"
            );
        }
        for (key, pin) in pins {
            assert_whole(key, &pin, "RULE-PIN");
        }
    }
    for key in 0..KEYS {
        if let Some(item) = store.get(&name(key), clock.now().ticks) {
            assert_whole(key, item.value(), "RULE-ATOMIC");
        }
    }
    let Stats { used_bytes, limit_bytes, .. } = store.stats();
    assert!(used_bytes <= limit_bytes, "RULE-LIMIT: {used_bytes} used of {limit_bytes}");
}

fn name(key: usize) -> [u8; 2] {
    (key as u16).to_le_bytes()
}

/// A value of `key`: its name, then any number of the same byte.
fn value(key: usize, noise: &mut Noise) -> Vec<u8> {
    let mut value = vec![noise.next() as u8; 3 + noise.below(VALUE_BYTES)];
    value[..2].copy_from_slice(&name(key));
    value
}

#[track_caller]
fn assert_whole(key: usize, value: &[u8], rule: &str) {
    let whole = value.len() >= 3 && value[..2] == name(key) && uniform(&value[2..]);
    assert!(whole, "{rule}: a value of key {key} is torn ({} bytes)", value.len());
}

/// Whether all bytes are the same, in one comparison of slices: this runs unoptimised.
fn uniform(bytes: &[u8]) -> bool {
    bytes[1..] == bytes[..bytes.len() - 1]
}

fn churn<S: Store>(store: &mut S, thread: usize, clock: &Clock) -> Report {
    let mut noise = Noise::new(thread as u64 + 10);
    let every: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    let mut report = Report { versions: Vec::new(), pins: Vec::new() };
    for round in 0..ROUNDS {
        let now = clock.now().ticks;
        let key = noise.below(KEYS);
        let name = &name(key);
        for stage in Stage::ALL {
            store.prefetch(name, stage);
        }
        match noise.below(12) {
            0..5 => look(store, key, clock, &mut report),
            5..9 => {
                let value = value(key, &mut noise);
                let expiry = Expiry::after(Duration::from_millis(noise.below(300) as u64), now);
                let condition = [Condition::Always, Condition::IfAbsent, Condition::IfPresent];
                let put =
                    Put::new(name, &value).expiry(expiry).condition(condition[noise.below(3)]);
                match store.put(put, now) {
                    Ok(version) => report.versions.push((key, version)),
                    Err(StoreError::Exists | StoreError::NotFound) => {}
                    Err(error) => panic!("RULE-EVICTION: {} bytes fit: {error:?}", value.len()),
                }
            }
            9 => {
                // Doubles the last byte of whatever is there: still whole if nobody interferes.
                let result = store.update(name, now, |item| match item {
                    Some(item) => {
                        assert_whole(key, item.value(), "RULE-ATOMIC");
                        let last = item
                            .value()
                            .last()
                            .map_or(&[][..], |&byte| &every[usize::from(byte)..][..1]);
                        (Change::Extend { before: b"", after: last }, ())
                    }
                    None => (Change::Keep, ()),
                });
                assert_eq!(result, Ok(()), "RULE-EVICTION: one byte more fits");
            }
            10 => drop(store.delete(name, now)),
            _ => clock.advance(Duration::from_millis(1)),
        }
        if thread == 0 && round % 500 == 499 {
            store.clear();
        }
        store.expire(now, 3);
    }
    report
}

/// A live item is whole, is not past its expiry, and stays what it is while it is borrowed.
fn look<S: Store>(store: &mut S, key: usize, clock: &Clock, report: &mut Report) {
    let now = clock.now().ticks;
    let Some(item) = store.get(&name(key), now) else {
        return;
    };
    let (value, version) = (item.value().to_vec(), item.version());
    assert_whole(key, &value, "RULE-ATOMIC");
    assert!(!item.expiry().is_past(now), "RULE-EXPIRY: with several threads");
    for _ in 0..3 {
        std::thread::yield_now();
        let same = item.value() == value && item.version() == version && item.key() == name(key);
        assert!(same, "RULE-ATOMIC: an item changed while it was borrowed");
    }
    // A few pins per thread: they take memory from the store.
    if report.pins.len() < 10 {
        report.pins.extend(item.pin().map(|pin| (key, pin)));
    }
}
