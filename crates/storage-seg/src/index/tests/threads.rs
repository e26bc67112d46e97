// SPDX-License-Identifier: Apache-2.0
//! Real threads on one index that grows and shrinks under them.
//!
//! * *Lasting* keys are replaced by all threads and never removed: every search finds a copy, and
//!   never an older one than before.
//! * *Own* keys are written by one thread, which knows what it must find.
//! * *Shared* keys are put and removed by everybody.

use super::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const THREADS: u64 = 4;
const ROUNDS: u64 = if cfg!(debug_assertions) { 40_000 } else { 300_000 };
const LASTING: std::ops::Range<u64> = 0..400;
const SHARED: std::ops::Range<u64> = 400..440;
const OWN: u64 = 300;

/// One of the threads.
struct Worker<'a> {
    index: &'a Index,
    epochs: &'a Epochs,
    participant: Participant,
    copies: &'a AtomicU64,
    dice: Dice,
    own: std::ops::Range<u64>,
    items: Items,
    /// What this thread has seen last, or put, under own and lasting keys.
    known: HashMap<u64, Location>,
}

impl Worker<'_> {
    /// Puts a copy under a key; returns it. Copies of lasting keys are numbered under the lock, so
    /// they are written in order.
    fn put(&mut self, key: u64) -> Location {
        let home = self.index.lock(mix(key));
        let is_lasting = LASTING.contains(&key);
        let number = if is_lasting { self.copies.fetch_add(1, Relaxed) } else { self.dice.0 };
        let location = item(key, number % COPIES);
        match home.find(|other| key_of(other) == key) {
            Some(entry) => home.replace(&entry, location, entry.frequency()),
            None => home.insert(location, 0).expect("there is room"),
        }
        location
    }

    fn remove(&mut self, key: u64) {
        let home = self.index.lock(mix(key));
        if let Some(entry) = home.find(|other| key_of(other) == key) {
            home.remove(&entry, self.dice.below(2) == 0);
        }
    }

    /// Reads a key and counts the read.
    fn read(&mut self, key: u64) -> Option<Location> {
        let entry = self.index.find(mix(key), |location| key_of(location) == key)?;
        entry.set_frequency(entry.frequency().wrapping_add(1));
        Some(entry.location())
    }

    fn use_lasting(&mut self) {
        let key = LASTING.start + self.dice.below(LASTING.end - LASTING.start);
        let found = if self.dice.below(4) == 0 { Some(self.put(key)) } else { self.read(key) };
        let location = found.expect("a lasting key is always there");
        let before = self.known.insert(key, location);
        assert!(before.is_none_or(|before| copy_of(before) <= copy_of(location)), "brought back");
    }

    fn use_own(&mut self) {
        let key = self.own.start + self.dice.below(self.own.end - self.own.start);
        assert_eq!(self.read(key), self.known.get(&key).copied(), "own key {key}");
        match self.dice.below(4) {
            0 | 1 => {
                let location = self.put(key);
                self.known.insert(key, location);
            }
            2 => {
                self.remove(key);
                self.known.remove(&key);
            }
            _ => {}
        }
    }

    fn use_shared(&mut self) {
        let key = SHARED.start + self.dice.below(SHARED.end - SHARED.start);
        match self.dice.below(3) {
            0 => drop(self.read(key)),
            1 => drop(self.put(key)),
            _ => self.remove(key),
        }
    }

    fn run(mut self) -> HashMap<u64, Location> {
        for round in 0..ROUNDS {
            match self.dice.below(3) {
                0 => self.use_lasting(),
                1 => self.use_own(),
                _ => self.use_shared(),
            }
            if round % 8 == 0 {
                self.index.migrate(1, self.epochs, &mut self.items);
                self.participant.quiesce();
            }
            if round % (ROUNDS / 12) == 0 {
                let buckets = 260 + self.dice.below(300) as usize;
                self.index.grow(buckets).expect("memory");
            }
        }
        assert!(self.items.dropped.is_empty());
        assert!(self.copies.load(Relaxed) < COPIES, "the order of copies is by number");
        self.known.retain(|key, _| self.own.contains(key));
        self.known
    }
}

#[test]
fn nothing_is_lost_doubled_or_brought_back() {
    let epochs = Arc::new(Epochs::new(THREADS as usize));
    let index = Index::new(300, false, false).expect("memory");
    let copies = AtomicU64::new(1);
    LASTING.for_each(|key| insert(&index, key, item(key, 0)));

    let known = std::thread::scope(|scope| {
        let start = |number: u64| {
            let own = 1000 + number * OWN..1000 + (number + 1) * OWN;
            let mut participant = Epochs::register(&epochs).expect("a free place");
            participant.enter();
            let worker = Worker {
                index: &index,
                epochs: &epochs,
                participant,
                copies: &copies,
                dice: Dice(number << 32),
                own,
                items: Items::new(mix),
                known: HashMap::new(),
            };
            scope.spawn(move || worker.run())
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        let known = threads.into_iter().map(|thread| thread.join().expect("no thread fails"));
        known.fold(HashMap::new(), |mut all, known| {
            all.extend(known);
            all
        })
    });

    let entries = index.check_integrity(|location| mix(key_of(location)));
    while index.is_growing() {
        index.migrate(10, &epochs, &mut Items::new(mix));
    }
    assert_eq!(index.check_integrity(|location| mix(key_of(location))), entries);
    let mut left = HashMap::new();
    index.for_each(|location, _| {
        let twin = left.insert(key_of(location), location);
        assert_eq!(twin, None, "two entries of one key");
    });
    assert!(LASTING.into_iter().all(|key| left.remove(&key).is_some()));
    left.retain(|key, _| !SHARED.contains(key));
    assert_eq!(left, known);
}
