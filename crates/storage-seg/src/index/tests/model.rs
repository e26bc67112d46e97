// SPDX-License-Identifier: Apache-2.0
//! Random operations on the index and on a plain map, which must agree.

use super::*;
use std::collections::HashMap;

const ROUNDS: u64 = if cfg!(debug_assertions) { 12_000 } else { 120_000 };

/// An index, the map it must agree with, and who moves it.
struct Model {
    index: Index,
    map: HashMap<u64, (Location, u8)>,
    items: Items,
    hash: fn(u64) -> u64,
    epochs: Arc<Epochs>,
    participant: Participant,
    dice: Dice,
    copies: u64,
    grown: u32,
}

impl Model {
    fn new(hash: fn(u64) -> u64, exclusive: bool, seed: u64) -> Model {
        let (epochs, participant) = alone();
        Model {
            index: Index::new(3, exclusive, false).expect("memory"),
            map: HashMap::new(),
            items: Items::new(hash),
            hash,
            epochs,
            participant,
            dice: Dice(seed << 32),
            copies: 0,
            grown: 0,
        }
    }

    fn forget(&mut self, location: Location) {
        let gone = self.map.remove(&key_of(location));
        assert_eq!(gone.map(|(location, _)| location), Some(location), "dropped what is in use");
    }

    fn put(&mut self, key: u64) {
        self.copies += 1;
        let (location, frequency) = (item(key, self.copies % COPIES), self.dice.below(256) as u8);
        let hash = (self.hash)(key);
        let home = self.index.lock(hash);
        let mut dropped = None;
        if let Some(entry) = home.find(|location| key_of(location) == key) {
            home.replace(&entry, location, frequency);
        } else if home.insert(location, frequency).is_err() {
            dropped = home.weakest();
            match dropped {
                Some(weakest) => home.replace(&weakest, location, frequency),
                None => return drop(home),
            }
        }
        drop(home);
        if let Some(entry) = dropped.map(|entry| entry.location()) {
            self.forget(entry);
        }
        self.map.insert(key, (location, frequency));
    }

    fn remove(&mut self, key: u64, ghost: bool) {
        let home = self.index.lock((self.hash)(key));
        let entry = home.find(|location| key_of(location) == key);
        assert_eq!(entry.map(|entry| entry.location()), self.map.get(&key).map(|item| item.0));
        if let Some(entry) = entry {
            home.remove(&entry, ghost);
            // It is in sight, and differs from an empty slot.
            if ghost && entry.seen.displacement() == 0 && entry.frequency() > 0 {
                assert!(home.ghost().is_some());
            }
        }
        drop(home);
        self.map.remove(&key);
    }

    fn read(&mut self, key: u64) {
        let entry = self.index.find((self.hash)(key), |location| key_of(location) == key);
        let found = entry.map(|entry| (entry.location(), entry.frequency()));
        assert_eq!(found, self.map.get(&key).copied(), "key {key}");
        if let Some(entry) = entry {
            let frequency = self.dice.below(256) as u8;
            entry.set_frequency(frequency);
            self.map.insert(key, (entry.location(), frequency));
        }
    }

    fn move_on(&mut self) {
        if self.index.is_growing() {
            let budget = 1 + self.dice.below(4) as usize;
            self.index.migrate(budget, &self.epochs, &mut self.items);
            for location in std::mem::take(&mut self.items.dropped) {
                self.forget(location);
            }
        } else if self.dice.below(40) == 0 {
            let buckets = self.map.len() / 8 + 1 + self.dice.below(100) as usize;
            self.grown += u32::from(self.index.grow(buckets).expect("memory"));
        }
    }

    fn check(&self) {
        let entries = self.index.check_integrity(|location| (self.hash)(key_of(location)));
        assert_eq!(entries, self.map.len());
        let mut met = HashMap::new();
        self.index.for_each(|location, frequency| {
            met.insert(key_of(location), (location, frequency));
        });
        assert_eq!(met, self.map);
    }

    fn run(mut self, keys: u64) {
        for round in 0..ROUNDS {
            let key = self.dice.below(keys);
            match self.dice.below(16) {
                0..6 => self.put(key),
                6..8 => self.remove(key, false),
                8..10 => self.remove(key, true),
                10..14 => self.read(key),
                14 => self.move_on(),
                _ => self.participant.quiesce(),
            }
            if round % 64 == 0 {
                self.check();
            }
        }
        self.check();
        assert!(self.grown > 5, "it grew only {} times", self.grown);
    }
}

#[test]
fn a_shared_index_agrees_with_a_map() {
    Model::new(mix, false, 1).run(2000);
}

#[test]
fn an_exclusive_index_agrees_with_a_map() {
    Model::new(mix, true, 2).run(2000);
}

/// Few homes are used and few tags, so that reaches are long, and homes full.
fn clustered(key: u64) -> u64 {
    let hash = mix(key);
    hash & 0xe000_0000_0000_0003 | hash & 0x0000_0fff_ffff_0000
}

#[test]
fn full_homes_and_equal_tags_are_no_different() {
    Model::new(clustered, false, 3).run(2000);
    Model::new(clustered, true, 4).run(500);
}
