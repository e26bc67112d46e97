// SPDX-License-Identifier: Apache-2.0
//! Tests of the index. They need no heap: the location of an item is computed from the number of its key and
//! the number of its copy.

mod basics;
mod growth;
mod model;
mod threads;

use super::{Index, Keys, Location};
use crate::epoch::{Epochs, Participant};
use crate::sync::Arc;

/// More keys than any test has.
const KEYS: u64 = 1 << 19;

/// More copies than any key has.
const COPIES: u64 = 1 << 17;

/// The item that is the `copy`th of a key.
fn item(key: u64, copy: u64) -> Location {
    Location::new(1 + copy * KEYS + key)
}

fn key_of(location: Location) -> u64 {
    (location.units() - 1) % KEYS
}

fn copy_of(location: Location) -> u64 {
    (location.units() - 1) / KEYS
}

/// A mixer of 64 bits (the finalizer of splitmix64).
fn mix(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 += 1;
        mix(self.0) % end
    }
}

/// The items' side of growth.
struct Items {
    hash: fn(u64) -> u64,
    dropped: Vec<Location>,
}

impl Items {
    fn new(hash: fn(u64) -> u64) -> Self {
        Items { hash, dropped: Vec::new() }
    }
}

impl Keys for Items {
    fn hash(&mut self, location: Location) -> u64 {
        (self.hash)(key_of(location))
    }

    fn prefetch(&mut self, location: Location) {
        assert!(key_of(location) < KEYS);
    }

    fn dropped(&mut self, location: Location) {
        self.dropped.push(location);
    }
}

/// Epochs with one participant, that of the test's thread.
fn alone() -> (Arc<Epochs>, Participant) {
    let epochs = Arc::new(Epochs::new(1));
    let mut participant = Epochs::register(&epochs).expect("a free place");
    participant.enter();
    (epochs, participant)
}

fn find(index: &Index, key: u64) -> Option<Location> {
    let entry = index.find(mix(key), |location| key_of(location) == key);
    entry.map(|entry| entry.location())
}

fn insert(index: &Index, key: u64, location: Location) {
    index.lock(mix(key)).insert(location, 0).expect("there is room");
}

/// Moves to a table of that size, to the end.
fn grow_wholly(index: &Index, buckets: usize, epochs: &Epochs, participant: &mut Participant) {
    assert!(index.grow(buckets).expect("memory"));
    let mut items = Items::new(mix);
    while index.is_growing() {
        index.migrate(64, epochs, &mut items);
        participant.quiesce();
    }
    assert!(items.dropped.is_empty(), "no room for {:?}", items.dropped);
    assert_eq!(index.buckets(), buckets);
}
