// SPDX-License-Identifier: Apache-2.0
//! One thread of a scene: it does any of the things a store is used for, and checks what it sees.

use crate::scene::{Common, Load, Report};
use crate::support::{HEADER, Random, check, describe, flags, name, stamps};
use bytes::Bytes;
use clock::Ticks;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::{Change, Condition, Digits, Expiry, Item, Put, Stage, Store, StoreError, Version};
use storage_seg::{Eviction, SegStore};

/// Keys that any thread writes.
const SHARED_KEYS: u64 = 1_500;
/// Keys that one thread alone writes.
const OWN_KEYS: u64 = 300;
/// Keys with counters.
const COUNTERS: u64 = 12;
const FIRST_OWN: u64 = 1 << 20;
const FIRST_COUNTER: u64 = 1 << 30;

/// Rounds of a wave.
const WAVE: u64 = 8_000;

/// The most pinned values that a thread keeps.
const PINS: usize = 4;
/// The most versions and counts that a thread records, to compare with those of others.
const NOTES: usize = 100_000;

/// What the owner of a key knows of its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own {
    stamp: u64,
    expiry: Expiry,
}

/// A pinned value.
struct Pinned {
    key: u64,
    bytes: Bytes,
    until: u64,
}

/// One thread.
pub(crate) struct Worker<'a> {
    common: &'a Common,
    number: u64,
    store: SegStore,
    random: Random,
    /// This thread's own items that may be there.
    own: HashMap<u64, Own>,
    /// The latest stamp seen of each key that is another's own.
    seen: HashMap<u64, u64>,
    pins: Vec<Pinned>,
    report: Report,
    round: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(common: &'a Common, number: u64, store: SegStore) -> Self {
        let random = Random::new(common.scene.seed << 8 | number);
        let (own, seen, pins) = (HashMap::new(), HashMap::new(), Vec::new());
        let report = Report::default();
        Worker { common, number, store, random, own, seen, pins, report, round: 0 }
    }

    pub(crate) fn work(mut self) -> (SegStore, Report) {
        while self.round < self.common.scene.rounds {
            self.step();
            self.round += 1;
        }
        self.release_pins(u64::MAX);
        self.common.running.fetch_sub(1, Ordering::AcqRel);
        // A handle that is done must hold up nobody.
        self.store.rest();
        (self.store, self.report)
    }

    fn step(&mut self) {
        if self.is_tiny() && self.random.below(2) == 0 {
            // Enough of them to matter.
            self.write_shared();
        }
        let millis = self.random.below(50) / 49;
        self.common.millis.fetch_add(millis, Ordering::Relaxed);
        if self.round.is_multiple_of(8) {
            self.store.expire(self.common.now(), 16);
            self.release_pins(self.round);
        }
        match self.random.below(1_000) {
            0..330 => self.read(),
            330..500 => self.write_shared(),
            500..640 => self.write_own(),
            640..720 => self.update_shared(),
            720..780 => self.update_own(),
            780..820 => self.count(),
            820..860 => self.delete(),
            860..960 => self.read_own(),
            960..980 => self.pin(),
            980..990 => self.store.rest(),
            990..998 => self.change_handles(),
            998 if self.random.below(40) == 0 => {
                self.store.clear();
                self.own.clear();
            }
            _ => self.look_at_stats(),
        }
    }

    /// A length for a new value.
    fn length(&mut self) -> usize {
        let below = match self.common.scene.load {
            Load::Waves if self.is_tiny() => 12,
            Load::Waves => 30_000,
            Load::Mixed => match self.random.below(200) {
                0 => return 60_000 + self.random.below(140_000) as usize,
                1..4 => 50_000,
                4..40 => 3_000,
                _ => 120,
            },
        };
        self.random.below(below) as usize
    }

    /// Whether there are tiny items at present, where they come in waves.
    fn is_tiny(&self) -> bool {
        self.common.scene.load == Load::Waves && (self.round / WAVE).is_multiple_of(2)
    }

    /// Any of many keys while items are tiny.
    fn shared_key(&mut self) -> u64 {
        let keys = if self.is_tiny() { 20 * SHARED_KEYS } else { SHARED_KEYS };
        self.random.below(keys).min(self.random.below(keys))
    }

    fn own_key(&mut self) -> u64 {
        FIRST_OWN * (1 + self.number) + self.random.below(OWN_KEYS)
    }

    fn expiry(&mut self, now: Ticks) -> Expiry {
        match self.random.below(8) {
            0..3 => Expiry::NEVER,
            3 => Expiry::at(Ticks::from_millis(now.as_millis().saturating_sub(1))),
            4 => Expiry::after(Duration::from_millis(1 + self.random.below(40)), now),
            5 => Expiry::after(Duration::from_secs(1 + self.random.below(100)), now),
            _ => Expiry::after(Duration::from_millis(1 + self.random.below(1_500)), now),
        }
    }

    /// A write must take place, unless nothing may be evicted; a large one needs segments in a row,
    /// and may find other handles' in the way.
    fn may_refuse(&mut self, error: StoreError, len: usize) {
        let is_large = len > 60_000;
        self.report.no_row += u64::from(is_large);
        let may = is_large || self.common.scene.eviction == Eviction::None;
        assert!(
            error == StoreError::OutOfMemory && may || error == StoreError::TooLarge && is_large,
            "{error:?} for {len} bytes, though everything may be evicted: {:?}",
            self.store.stats()
        );
    }

    fn note(&mut self, key: u64, version: Version, len: usize) {
        self.report.written += 1;
        self.report.rows += u64::from(len > 64 << 10);
        if self.report.versions.len() < NOTES {
            self.report.versions.push((key, version));
        }
    }

    fn read(&mut self) {
        let key = match self.random.below(3) {
            0 => {
                let others = self.common.scene.threads as u64;
                let other = self.random.below(others);
                FIRST_OWN * (1 + other) + self.random.below(OWN_KEYS)
            }
            _ => self.shared_key(),
        };
        let now = self.common.now();
        let name = name(key);
        for stage in Stage::ALL {
            self.store.prefetch(&name, stage);
        }
        let Some(item) = self.store.get(&name, now) else { return };
        self.report.hits += 1;
        let stamps = check(&item, key);
        assert!(!item.expiry().is_past(now), "an item is read after its expiry");
        let (value, version) = (item.value().as_ptr(), item.version());
        if self.round.is_multiple_of(16) {
            std::thread::yield_now();
            assert_eq!(check(&item, key), stamps, "an item changed while it was borrowed");
            assert_eq!((item.value().as_ptr(), item.version()), (value, version));
        }
        if key >= FIRST_OWN {
            // One thread writes it, with rising stamps: they never fall.
            let newest = stamps.last().copied().expect("own values are not empty");
            let seen = self.seen.entry(key).or_default();
            assert!(*seen <= newest, "key {key}: {newest} is read after {seen}");
            *seen = newest;
        }
    }

    fn write_shared(&mut self) {
        let (key, now) = (self.shared_key(), self.common.now());
        let value = describe(key, self.common.stamp(), self.length());
        let name = name(key);
        let condition = match self.random.below(8) {
            0 => Condition::IfAbsent,
            1 => Condition::IfPresent,
            2 => match self.store.get(&name, now) {
                Some(item) => Condition::IfVersion(item.version()),
                None => Condition::IfAbsent,
            },
            3 => Condition::IfVersion(Version::new(1).expect("not zero")),
            _ => Condition::Always,
        };
        let expiry = self.expiry(now);
        let put = Put::new(&name, &value).flags(flags(key)).expiry(expiry).condition(condition);
        match self.store.put(put, now) {
            Ok(version) => self.note(key, version, value.len()),
            Err(StoreError::Exists | StoreError::NotFound) if condition != Condition::Always => {}
            Err(error) => self.may_refuse(error, value.len()),
        }
    }

    fn write_own(&mut self) {
        let (key, now) = (self.own_key(), self.common.now());
        let stamp = self.common.stamp();
        let value = describe(key, stamp, self.length());
        let expiry = self.expiry(now);
        let name = name(key);
        let put = Put::new(&name, &value).flags(flags(key)).expiry(expiry);
        match self.store.put(put, now) {
            Ok(version) => {
                self.note(key, version, value.len());
                self.own.insert(key, Own { stamp, expiry });
            }
            Err(error) => self.may_refuse(error, value.len()),
        }
    }

    /// A read of an own key returns the value that this thread wrote last, or nothing.
    fn read_own(&mut self) {
        let (key, now) = (self.own_key(), self.common.now());
        let Some(item) = self.store.get(&name(key), now) else { return };
        let newest = *check(&item, key).last().expect("own values are not empty");
        let Some(own) = self.own.get(&key) else {
            panic!("key {key} was deleted or cleared, and {newest} is read");
        };
        assert_eq!(newest, own.stamp, "key {key}: an older value is read");
        assert_eq!(item.expiry(), own.expiry, "key {key}: another expiry is read");
        assert!(!own.expiry.is_past(now), "key {key} is read after its expiry");
        self.report.hits += 1;
    }

    fn update_shared(&mut self) {
        let (key, now) = (self.shared_key(), self.common.now());
        let (one, two) = (self.random.below(200) as usize, self.random.below(200) as usize);
        let before = describe(key, self.common.stamp(), one);
        let after = describe(key, self.common.stamp(), two);
        let expiry = self.expiry(now);
        let kind = self.random.below(5);
        let mut len = 0;
        let result = self.store.update(&name(key), now, |item| {
            let Some(item) = item else {
                return (Change::Put { value: &before, flags: flags(key), expiry }, ());
            };
            let records = check(&item, key).len();
            len = item.value().len() + one + two + 2 * HEADER;
            let change = match kind {
                0 => Change::Keep,
                1 => Change::Delete,
                2 => Change::Expire(expiry),
                3 if records < 50 => Change::Extend { before: &before, after: &after },
                _ => Change::Put { value: &before, flags: flags(key), expiry },
            };
            (change, ())
        });
        match result {
            Ok(()) => self.report.written += 1,
            Err(error) => self.may_refuse(error, len),
        }
    }

    /// Changes of an item that nobody else changes are exact.
    fn update_own(&mut self) {
        let (key, now) = (self.own_key(), self.common.now());
        let stamp = self.common.stamp();
        let after = describe(key, stamp, self.random.below(100) as usize);
        let expiry = self.expiry(now);
        let (kind, known) = (self.random.below(4), self.own.get(&key).copied());
        let mut len = 0;
        let result = self.store.update(&name(key), now, |item| {
            let Some(item) = item else { return (Change::Keep, None) };
            let own = known.expect("deleted or cleared, and shown to an update");
            let records = check(&item, key);
            assert_eq!(
                records.last(),
                Some(&own.stamp),
                "key {key}: an update sees an older value"
            );
            assert_eq!(item.expiry(), own.expiry, "key {key}: an update sees another expiry");
            len = item.value().len() + after.len();
            let change = match kind {
                0 => Change::Delete,
                1 | 2 => Change::Expire(expiry),
                _ if records.len() < 20 => Change::Extend { before: b"", after: &after },
                _ => Change::Put { value: &after, flags: flags(key), expiry },
            };
            (change, Some((change, own)))
        });
        match result {
            Ok(None) => {}
            Ok(Some((change, own))) => {
                let next = match change {
                    Change::Delete => None,
                    Change::Expire(expiry) => Some(Own { expiry, ..own }),
                    Change::Extend { .. } => Some(Own { stamp, ..own }),
                    _ => Some(Own { stamp, expiry }),
                };
                match next {
                    Some(next) => self.own.insert(key, next),
                    None => self.own.remove(&key),
                };
            }
            Err(error) => self.may_refuse(error, len),
        }
    }

    /// Increments a counter. Its first digits say which life of the counter it is, so each result is
    /// there once.
    fn count(&mut self) {
        let (key, now) = (FIRST_COUNTER + self.random.below(COUNTERS), self.common.now());
        let life = format!("{:011}.{:012}", self.common.stamp(), 0);
        let expiry = self.expiry(now);
        let result = self.store.update(&name(key), now, |item| {
            let Some(item) = item else {
                let change = Change::Put { value: life.as_bytes(), flags: 7, expiry };
                return (change, Digits::new(life.as_bytes()));
            };
            assert_eq!(item.flags(), 7, "a counter's flags");
            let text = std::str::from_utf8(item.value()).expect("a counter is text");
            let (life, count) = text.split_once('.').expect("a counter has two parts");
            let count: u64 = count.parse().expect("the second part is a number");
            let next = Digits::new(format!("{life}.{:012}", count + 1).as_bytes());
            (Change::Number(next), next)
        });
        match result {
            Ok(count) if self.report.counts.len() < NOTES => {
                let text = count.as_bytes().try_into().expect("it has all the digits there are");
                self.report.counts.push(text);
            }
            Ok(_) => {}
            Err(error) => self.may_refuse(error, 24),
        }
    }

    fn delete(&mut self) {
        let now = self.common.now();
        if self.random.below(2) == 0 {
            let key = self.shared_key();
            self.store.delete(&name(key), now);
            return;
        }
        let key = self.own_key();
        let was_there = self.store.delete(&name(key), now);
        let own = self.own.remove(&key);
        assert!(own.is_some() || !was_there, "key {key} was deleted twice");
        assert!(self.store.get(&name(key), now).is_none(), "key {key} was just deleted");
    }

    fn pin(&mut self) {
        let now = self.common.now();
        for _ in 0..20 {
            if self.pins.len() == PINS {
                return;
            }
            let key = self.shared_key();
            let Some(item) = self.store.get(&name(key), now) else { continue };
            if let Some(bytes) = item.pin() {
                assert!(bytes == item.value(), "a pin is not the value");
                let until = self.round + 10 + self.random.below(500);
                self.pins.push(Pinned { key, bytes, until });
            }
        }
    }

    /// A pinned value has stayed as it was.
    fn release_pins(&mut self, round: u64) {
        for pinned in self.pins.extract_if(.., |pinned| pinned.until <= round) {
            stamps(pinned.key, &pinned.bytes);
        }
    }

    /// The handle is exchanged for a clone, or a second one is used for a moment.
    fn change_handles(&mut self) {
        if self.common.scene.threads == 1 {
            return;
        }
        let mut other = self.store.clone();
        if self.random.below(2) == 0 {
            self.store = other;
            return;
        }
        // A handle that is used beside another on one thread: each rests before the other may wait.
        self.store.rest();
        let (key, now) = (self.shared_key(), self.common.now());
        let value = describe(key, self.common.stamp(), 40);
        let result = other.put(Put::new(&name(key), &value).flags(flags(key)), now);
        if let Err(error) = result {
            self.may_refuse(error, value.len());
        }
    }

    fn look_at_stats(&mut self) {
        let stats = self.store.stats();
        assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
        assert_eq!(stats.limit_bytes, self.common.scene.memory);
        self.report.slots.insert(stats.index_slots);
    }
}
