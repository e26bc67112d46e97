// SPDX-License-Identifier: Apache-2.0
//! [`Player`]: a thread that plays all kinds of operations on a few keys, and keeps the store full
//! with other keys.

use super::super::subject::Noise;
use super::History;
use super::history::{Edit, Made, Op, Record, Seen};
use super::value::{Content, decode, header, record};
use crate::{Change, Condition, Digits, Expiry, Item, Put, Store, Version};
use clock::Ticks;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Keys that all threads use.
pub(super) const KEYS: u32 = 8;

/// Above this many bytes a value is not extended any more.
const EXTENDED_MAX: usize = 4_000;

/// What all threads share.
#[derive(Debug)]
pub(super) struct Table {
    /// Numbers calls and returns.
    stamps: AtomicU64,
    /// Numbers writes.
    serials: AtomicU64,
    millis: AtomicU64,
}

impl Table {
    pub(super) fn new() -> Self {
        let millis = AtomicU64::new(1_234_567);
        Table { stamps: AtomicU64::new(0), serials: AtomicU64::new(1), millis }
    }

    pub(super) fn now(&self) -> Ticks {
        Ticks::from_millis(self.millis.load(Ordering::SeqCst))
    }

    fn stamp(&self) -> u64 {
        self.stamps.fetch_add(1, Ordering::SeqCst)
    }

    fn serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed)
    }
}

/// A thread with its handle, between two legs.
pub(super) struct Player<S> {
    pub(super) store: S,
    number: u8,
    noise: Noise,
    /// The version of each key's item when this thread last saw it.
    versions: [Option<Version>; KEYS as usize],
    pub(super) records: Vec<Record>,
}

/// A value with what it is.
struct Fresh {
    bytes: Vec<u8>,
    made: Made,
}

impl Fresh {
    fn put<'a>(&'a self, name: &'a [u8], condition: Condition) -> Put<'a> {
        let Made { flags, expiry, .. } = self.made;
        Put::new(name, &self.bytes).flags(flags).expiry(expiry).condition(condition)
    }

    fn change(&self) -> (Change<'_>, Edit) {
        let Made { flags, expiry, .. } = self.made;
        (Change::Put { value: &self.bytes, flags, expiry }, Edit::Put(self.made))
    }
}

fn name(key: u32) -> [u8; 5] {
    let [a, b, c, d] = key.to_le_bytes();
    [b'k', a, b, c, d]
}

fn seen(key: u32, item: &impl Item) -> Seen {
    let content = if item.key() == name(key) { decode(key, item.value()) } else { Content::TORN };
    let made = Made { content, flags: item.flags(), expiry: item.expiry() };
    Seen { made, version: item.version() }
}

impl<S: Store> Player<S> {
    pub(super) fn new(store: S, number: usize, seed: u64) -> Self {
        let noise = Noise::new(seed << 8 | number as u64);
        let versions = [None; KEYS as usize];
        Player { store, number: number as u8, noise, versions, records: Vec::new() }
    }

    /// Plays this many operations, then rests.
    pub(super) fn play(&mut self, operations: u64, table: &Table, history: &History) {
        for _ in 0..operations {
            let key = self.noise.below(KEYS as usize) as u32;
            let now = table.now();
            let called = table.stamp();
            let op = self.operate(key, now, table, history);
            let returned = table.stamp();
            let (thread, until) = (self.number, table.now());
            self.records.push(Record { key, thread, called, returned, now, until, op });
            if let Some((version, _)) = op.versions().last() {
                self.versions[key as usize] = Some(version);
            }
            self.besides(now, table, history);
        }
        self.store.rest();
    }

    fn operate(&mut self, key: u32, now: Ticks, table: &Table, history: &History) -> Op {
        let condition = match self.noise.below(20) {
            0..5 => return self.get(key, now),
            5..8 => Condition::Always,
            8 => Condition::IfAbsent,
            9 => Condition::IfPresent,
            10..13 => match self.versions[key as usize] {
                Some(version) => Condition::IfVersion(version),
                None => return self.get(key, now),
            },
            13 => return Op::Delete { was_there: self.store.delete(&name(key), now) },
            14..16 => return self.touch(key, now),
            16 | 17 => return self.count(key, now, table),
            18 => return self.extend(key, now, table),
            _ => return self.put_by_update(key, now, table, history),
        };
        let fresh = self.fresh(key, now, table, history);
        let result = self.store.put(fresh.put(&name(key), condition), now);
        Op::Put { condition, made: fresh.made, result }
    }

    fn get(&mut self, key: u32, now: Ticks) -> Op {
        Op::Get { saw: self.store.get(&name(key), now).map(|item| seen(key, &item)) }
    }

    /// An update that decides by the present value and its length, and now and then lets other threads
    /// run between the read and the write.
    fn update<'v>(
        &mut self,
        key: u32,
        now: Ticks,
        decide: impl Fn(Option<(Seen, usize)>) -> (Change<'v>, Edit),
    ) -> Op {
        let yields = self.noise.below(4) == 0;
        let mut last = (None, Edit::Keep);
        let result = self.store.update_versioned(&name(key), now, |item| {
            let there = item.map(|item| (seen(key, &item), item.value().len()));
            if yields {
                thread::yield_now();
            }
            let (change, edit) = decide(there);
            last = (there.map(|(seen, _)| seen), edit);
            (change, ())
        });
        let (saw, edit) = last;
        Op::Update { saw, edit, result: result.map(|((), version)| version) }
    }

    fn touch(&mut self, key: u32, now: Ticks) -> Op {
        let (expiry, is_blind) = (self.expiry(now), self.noise.below(2) == 0);
        self.update(key, now, |there| match there {
            None if !is_blind => (Change::Keep, Edit::Keep),
            _ => (Change::Expire(expiry), Edit::Expire(expiry)),
        })
    }

    /// What an increment does: a value of a few bytes in place of another, which keeps flags and expiry.
    fn count(&mut self, key: u32, now: Ticks, table: &Table) -> Op {
        let serial = table.serial();
        let digits = Digits::new(&header(key, serial, 0));
        self.update(key, now, |_| (Change::Number(digits), Edit::Value(Content::of(serial))))
    }

    fn extend(&mut self, key: u32, now: Ticks, table: &Table) -> Op {
        let serial = table.serial();
        let after = record(key, serial, self.noise.below(100));
        let change = Change::Extend { before: b"", after: &after };
        self.update(key, now, |there| match there {
            Some((_, len)) if len > EXTENDED_MAX => (Change::Delete, Edit::Delete),
            Some((seen, _)) => (change, Edit::Value(seen.made.content.and(Content::of(serial)))),
            None => (change, Edit::Value(Content::of(serial))),
        })
    }

    fn put_by_update(&mut self, key: u32, now: Ticks, table: &Table, history: &History) -> Op {
        let (fresh, replaces) = (self.fresh(key, now, table, history), self.noise.below(2) == 0);
        self.update(key, now, |there| match there {
            Some(_) if !replaces => (Change::Delete, Edit::Delete),
            _ => fresh.change(),
        })
    }

    fn fresh(&mut self, key: u32, now: Ticks, table: &Table, history: &History) -> Fresh {
        let serial = table.serial();
        let len = match self.noise.below(400) {
            0 => self.noise.below(history.value_bytes),
            1..12 => self.noise.below(20_000.min(history.value_bytes)),
            12..100 => self.noise.below(2_000),
            100..200 => 0,
            _ => self.noise.below(100),
        };
        let flags = if self.noise.below(2) == 0 { 0 } else { self.noise.next() as u32 };
        let made = Made { content: Content::of(serial), flags, expiry: self.expiry(now) };
        Fresh { bytes: record(key, serial, len), made }
    }

    /// None, a few milliseconds, some seconds, or more than a small field of a header may hold.
    fn expiry(&mut self, now: Ticks) -> Expiry {
        let millis = match self.noise.below(8) {
            0..3 => return Expiry::NEVER,
            3..5 => self.noise.below(40),
            5..7 => 1_000 + self.noise.below(100_000),
            _ => 60 * 24 * 3_600_000,
        };
        Expiry::after(Duration::from_millis(millis as u64), now)
    }

    /// Other activity between operations: other keys fill the store, turns end, time passes.
    fn besides(&mut self, now: Ticks, table: &Table, history: &History) {
        if history.fillers > 0 {
            self.fill(now, history);
        }
        match self.noise.below(64) {
            0..16 => drop(self.store.expire(now, 8)),
            16..20 => self.store.rest(),
            20 => drop(table.millis.fetch_add(1 + self.noise.next() % 4, Ordering::SeqCst)),
            21 if self.noise.below(40) == 0 => {
                table.millis.fetch_add(2_000, Ordering::SeqCst);
            }
            _ => {}
        }
    }

    /// Reads one of the other keys, and writes one or deletes it.
    fn fill(&mut self, now: Ticks, history: &History) {
        let (read, write) = (self.noise.below(history.fillers), self.noise.below(history.fillers));
        let name = |number: usize| [b"f", &(number as u32).to_le_bytes()[..]].concat();
        drop(self.store.get(&name(read), now));
        // Where nothing is evicted, only this makes room.
        let deletes = if history.allowed.evicts { 8 } else { 2 };
        if self.noise.below(deletes) == 0 {
            self.store.delete(&name(write), now);
            return;
        }
        let len = self.noise.below(1_500);
        let expiry = if self.noise.below(2) == 0 { Expiry::NEVER } else { self.expiry(now) };
        // The history does not depend on whether it fits.
        let _ = self.store.put(Put::new(&name(write), &FILLER[..len]).expiry(expiry), now);
    }
}

static FILLER: [u8; 1_500] = [b'f'; 1_500];
