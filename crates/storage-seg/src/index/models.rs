// SPDX-License-Identifier: Apache-2.0
//! Loom runs these models through the possible interleavings of threads, with buckets of two slots
//! and two buckets for each home.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p shoebill-storage-seg --lib index::models`

mod growth;

use super::{Index, Keys, Location};
use crate::epoch::Epochs;
use crate::sync::Arc;
use loom::thread;

/// The item that is the `copy`th of a key. Keys are below 8.
fn item(key: u64, copy: u64) -> Location {
    Location::new(1 + key + 8 * copy)
}

fn key_of(location: Location) -> u64 {
    (location.units() - 1) % 8
}

/// Keys from 4 on belong to the upper half of the homes.
fn hash(key: u64) -> u64 {
    key >> 2 << 63 | key
}

struct Items;

impl Keys for Items {
    fn hash(&mut self, location: Location) -> u64 {
        hash(key_of(location))
    }

    fn prefetch(&mut self, _: Location) {}

    fn dropped(&mut self, location: Location) {
        panic!("there is room for {location:?}");
    }
}

/// What the two threads of a model share.
struct Shared {
    index: Index,
    epochs: Arc<Epochs>,
}

/// An index with the first copies of some keys.
fn index_of(homes: usize, keys: &[u64]) -> Shared {
    let index = Index::new(homes, false, false).expect("memory");
    keys.iter().for_each(|&key| put(&index, key, 0));
    Shared { index, epochs: Arc::new(Epochs::new(1)) }
}

/// Checks two threads in all interleavings, and that in the end exactly these copies are present.
///
/// Loom remembers only the last access to an atomic and so misses some interleavings, depending on
/// which thread runs first. So each thread runs first once.
fn check(start: fn() -> Shared, threads: [fn(&Shared); 2], end: &'static [(u64, u64)]) {
    for [one, other] in [threads, [threads[1], threads[0]]] {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = builder.preemption_bound.or(Some(3));
        builder.check(move || {
            let shared = Arc::new(start());
            let thread = thread::spawn({
                let shared = Arc::clone(&shared);
                move || one(&shared)
            });
            other(&shared);
            thread.join().expect("the thread ends well");
            let index = &shared.index;
            assert_eq!(index.check_integrity(|location| hash(key_of(location))), end.len());
            for &(key, copy) in end {
                assert_eq!(find(index, key), Some(item(key, copy)));
            }
        });
    }
}

fn put(index: &Index, key: u64, copy: u64) {
    loop {
        let home = index.lock(hash(key));
        if let Some(entry) = home.find(|location| key_of(location) == key) {
            return home.replace(&entry, item(key, copy), 0);
        }
        if home.insert(item(key, copy), 0).is_ok() {
            return;
        }
        // There is room, but the home that would have to make it is locked.
        drop(home);
        thread::yield_now();
    }
}

fn remove(index: &Index, key: u64) {
    let home = index.lock(hash(key));
    if let Some(entry) = home.find(|location| key_of(location) == key) {
        home.remove(&entry, false);
    }
}

/// What eviction does: moves an item, if it is still there.
fn relocate(index: &Index, from: Location, to: Location) {
    let home = index.lock(hash(key_of(from)));
    if let Some(entry) = home.find_location(from) {
        home.replace(&entry, to, entry.frequency());
    }
}

fn find(index: &Index, key: u64) -> Option<Location> {
    let entry = index.find(hash(key), |location| key_of(location) == key)?;
    entry.set_frequency(entry.frequency() + 1);
    Some(entry.location())
}

#[test]
fn two_writers_of_a_new_key_make_one_entry() {
    let write = |shared: &Shared| put(&shared.index, 1, 0);
    check(|| index_of(1, &[]), [write, write], &[(1, 0)]);
}

#[test]
fn two_homes_after_one_slot_both_get_one() {
    // One slot is free in bucket 1, home of key 4 and next to home 0, which is full.
    check(
        || index_of(2, &[0, 1, 5]),
        [|shared| put(&shared.index, 2, 0), |shared| put(&shared.index, 4, 0)],
        &[(0, 0), (1, 0), (5, 0), (2, 0), (4, 0)],
    );
}

#[test]
fn a_key_is_found_while_another_comes_and_goes() {
    let write = |shared: &Shared| {
        put(&shared.index, 1, 0);
        remove(&shared.index, 1);
    };
    let read = |shared: &Shared| {
        let other = find(&shared.index, 1);
        assert!(other.is_none() || other == Some(item(1, 0)));
        assert_eq!(find(&shared.index, 0), Some(item(0, 0)));
    };
    check(|| index_of(1, &[0]), [write, read], &[(0, 0)]);
}

#[test]
fn a_displaced_key_is_found_while_the_reach_changes() {
    // 2 and 3 are displaced. When 2 goes, the next entry takes its slot.
    let write = |shared: &Shared| {
        remove(&shared.index, 2);
        put(&shared.index, 2, 1);
    };
    let read = |shared: &Shared| assert_eq!(find(&shared.index, 3), Some(item(3, 0)));
    let end = &[(0, 0), (1, 0), (2, 1), (3, 0)];
    check(|| index_of(1, &[0, 1, 2, 3]), [write, read], end);
}

#[test]
fn displaced_keys_come_and_go() {
    let one = |shared: &Shared| {
        put(&shared.index, 2, 0);
        remove(&shared.index, 2);
    };
    let other = |shared: &Shared| {
        put(&shared.index, 3, 0);
        assert_eq!(find(&shared.index, 3), Some(item(3, 0)));
    };
    check(|| index_of(1, &[0, 1]), [one, other], &[(0, 0), (1, 0), (3, 0)]);
}

/// Bucket 1 is full with entries of its own, one of which makes room when home 0 gets another.
const SHIFTED: [(u64, u64); 5] = [(0, 0), (1, 0), (2, 0), (4, 0), (5, 0)];

#[test]
fn a_key_is_found_while_it_is_shifted() {
    let read = |shared: &Shared| {
        assert_eq!(find(&shared.index, 4), Some(item(4, 0)));
        assert_eq!(find(&shared.index, 5), Some(item(5, 0)));
    };
    check(|| index_of(2, &[0, 1, 4, 5]), [|shared| put(&shared.index, 2, 0), read], &SHIFTED);
}

#[test]
fn a_shifted_key_is_written_and_removed() {
    let write = |shared: &Shared| {
        put(&shared.index, 4, 1);
        remove(&shared.index, 5);
    };
    let end = &[(0, 0), (1, 0), (2, 0), (4, 1)];
    check(|| index_of(2, &[0, 1, 4, 5]), [|shared| put(&shared.index, 2, 0), write], end);
}

#[test]
fn a_key_is_found_while_it_is_drawn_in() {
    // Key 2 is displaced until key 0 leaves it a slot and it is overwritten.
    let write = |shared: &Shared| {
        remove(&shared.index, 0);
        put(&shared.index, 2, 1);
    };
    let read = |shared: &Shared| assert!(find(&shared.index, 2).is_some());
    check(|| index_of(1, &[0, 1, 2]), [write, read], &[(1, 0), (2, 1)]);
}

#[test]
fn a_key_is_found_while_it_is_shifted_and_drawn_in() {
    let write = |shared: &Shared| {
        put(&shared.index, 2, 0);
        remove(&shared.index, 5);
        put(&shared.index, 4, 1);
    };
    let read = |shared: &Shared| assert!(find(&shared.index, 4).is_some());
    let end = &[(0, 0), (1, 0), (2, 0), (4, 1)];
    check(|| index_of(2, &[0, 1, 4, 5]), [write, read], end);
}

#[test]
fn an_overwritten_item_is_not_brought_back_by_its_relocation() {
    let write = |shared: &Shared| put(&shared.index, 0, 1);
    let evict = |shared: &Shared| relocate(&shared.index, item(0, 0), item(0, 2));
    check(|| index_of(1, &[0]), [write, evict], &[(0, 1)]);
}

#[test]
fn a_removed_item_is_not_brought_back_by_its_relocation() {
    let write = |shared: &Shared| remove(&shared.index, 0);
    let evict = |shared: &Shared| relocate(&shared.index, item(0, 0), item(0, 1));
    check(|| index_of(1, &[0, 1]), [write, evict], &[(1, 0)]);
}

#[test]
fn an_overwritten_item_is_not_brought_back_by_a_count() {
    let read = |shared: &Shared| assert!(find(&shared.index, 0).is_some());
    let write = |shared: &Shared| {
        put(&shared.index, 0, 1);
        remove(&shared.index, 1);
    };
    check(|| index_of(1, &[0, 1]), [read, write], &[(0, 1)]);
}
