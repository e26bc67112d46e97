// SPDX-License-Identifier: Apache-2.0
//! Loom models of index, epochs and the store's order of operations together: loom runs a small
//! store (`models/store.rs`) through the possible interleavings of its threads.
//!
//! A reader reads the memory of the item it finds, and a writer that has waited for the epoch writes
//! it again: loom fails a model in which the two can overlap. A thread must find under a key the
//! value published last, or nothing if it was removed since, as far as the thread can know
//! (`models/history.rs`).
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p shoebill-storage-seg --lib models`

mod history;
mod store;

use loom::thread;
use store::{Fate, Handle, Store};

/// A model's initial state, and how many interleavings are tried.
#[derive(Clone, Copy)]
struct Model {
    /// Keys that are present at the start, oldest first, with the value 0.
    keys: &'static [u64],
    /// Places for items.
    places: usize,
    homes: usize,
    /// The number of homes that the index is about to move to, if it is.
    next_homes: Option<usize>,
    /// How often threads are interrupted at most, other than to wait. Few are enough for most faults;
    /// `LOOM_MAX_PREEMPTIONS` makes them fewer.
    preemptions: usize,
    /// How often a write waits for memory.
    patience: usize,
}

impl Model {
    const fn new(keys: &'static [u64], places: usize, preemptions: usize) -> Self {
        Model { keys, places, homes: 1, next_homes: None, preemptions, patience: usize::MAX }
    }

    const fn growing(self, homes: usize, next_homes: usize) -> Self {
        Model { homes, next_homes: Some(next_homes), ..self }
    }

    /// Makes writes not wait: each wait multiplies the number of interleavings.
    const fn impatient(self) -> Self {
        Model { patience: 0, ..self }
    }

    /// Checks the threads in all these interleavings.
    ///
    /// Loom remembers only the last access to an atomic and so misses some interleavings, depending
    /// on which thread runs first. So each thread runs first once.
    fn check<const N: usize>(self, threads: [fn(&mut Handle); N]) {
        for first in 0..N {
            let mut threads = threads;
            threads.rotate_left(first);
            let mut builder = loom::model::Builder::new();
            let most = builder.preemption_bound.unwrap_or(usize::MAX);
            builder.preemption_bound = Some(self.preemptions.min(most));
            builder.max_branches = 10_000;
            builder.check(move || self.run(threads));
        }
    }

    fn run<const N: usize>(self, threads: [fn(&mut Handle); N]) {
        let store = Store::new(self.homes, self.places, N + 1);
        let mut start = Handle::new(&store, self.patience);
        self.keys.iter().for_each(|&key| assert!(start.put(key, 0)));
        start.rest();
        if let Some(homes) = self.next_homes {
            store.grow(homes);
        }
        let mut work = threads.map(|work| (work, Handle::new(&store, self.patience))).into_iter();
        let main = work.next();
        let others: Vec<_> =
            work.map(|(work, mut handle)| thread::spawn(move || work(&mut handle))).collect();
        main.into_iter().for_each(|(work, mut handle)| work(&mut handle));
        others.into_iter().for_each(|thread| thread.join().expect("the thread ends well"));
        store.check_end();
    }
}

fn get<const KEY: u64>(handle: &mut Handle) {
    if let Some(found) = handle.get(KEY) {
        found.check();
    }
}

/// As `get`, with fewer orders: it writes nothing.
fn peek<const KEY: u64>(handle: &mut Handle) {
    if let Some(found) = handle.peek(KEY) {
        found.check();
    }
}

fn put<const KEY: u64, const VALUE: u64>(handle: &mut Handle) {
    handle.put(KEY, VALUE);
}

fn increment(handle: &mut Handle) {
    handle.increment(0);
}

fn delete(handle: &mut Handle) {
    handle.delete(0);
}

fn evict(handle: &mut Handle) {
    handle.evict(Fate::Drop);
}

fn merge(handle: &mut Handle) {
    handle.evict(Fate::Keep);
}

fn migrate(handle: &mut Handle) {
    handle.migrate(1);
}

fn merge_and_release(handle: &mut Handle) {
    handle.evict(Fate::Keep);
    handle.quiesce();
    handle.release();
}

/// Two turns of a reader.
fn read(handle: &mut Handle) {
    get::<0>(handle);
    handle.quiesce();
    get::<0>(handle);
}

/// A reader that is offline between its turns.
fn read_and_rest(handle: &mut Handle) {
    get::<0>(handle);
    handle.rest();
    get::<0>(handle);
    handle.rest();
}

fn merge_and_put(handle: &mut Handle) {
    merge(handle);
    put::<2, 1>(handle);
}

// Insert, get, evict, quiesce.

#[test]
fn memory_of_an_evicted_item_is_used_for_a_new_one() {
    let read = |handle: &mut Handle| {
        get::<0>(handle);
        get::<2>(handle);
        handle.quiesce();
        get::<0>(handle);
    };
    Model::new(&[0], 1, 3).check([put::<2, 1>, read]);
}

#[test]
fn one_evicts_another_inserts_and_a_third_reads() {
    let read = |handle: &mut Handle| {
        peek::<0>(handle);
        handle.quiesce();
        peek::<2>(handle);
    };
    Model::new(&[0], 1, 2).impatient().check([evict, put::<2, 1>, read]);
}

// Two writers of one key.

#[test]
fn two_writers_of_a_key_use_the_memory_of_each_others_items() {
    let one = |handle: &mut Handle| {
        handle.put(0, 1);
        get::<0>(handle);
    };
    let other = |handle: &mut Handle| {
        handle.put(0, 2);
        handle.quiesce();
        get::<0>(handle);
    };
    Model::new(&[0], 2, 3).check([one, other]);
}

#[test]
fn an_overwritten_item_is_read_until_its_memory_is_used_again() {
    let write = |handle: &mut Handle| {
        handle.put(0, 1);
        handle.put(0, 2);
    };
    Model::new(&[0], 2, 3).check([write, read]);
}

#[test]
fn two_write_a_key_and_a_third_reads() {
    Model::new(&[0], 2, 2).impatient().check([put::<0, 1>, put::<0, 2>, peek::<0>]);
}

#[test]
fn no_update_of_two_is_lost() {
    Model::new(&[0], 3, 4).check([increment, increment]);
}

#[test]
fn an_update_tells_the_item_it_saw_from_one_in_the_same_place() {
    // The update waits for room. Meanwhile its item may go, and the place get another of that key.
    Model::new(&[0, 2], 2, 3).check([increment, put::<0, 10>]);
}

// Delete and relocation.

#[test]
fn a_deleted_item_is_not_brought_back_by_a_merge_that_uses_its_memory() {
    let delete = |handle: &mut Handle| {
        handle.delete(0);
        assert!(handle.get(0).is_none(), "nobody wrote it");
    };
    Model::new(&[0], 2, 3).check([merge_and_put, delete]);
}

#[test]
fn an_overwritten_item_is_not_brought_back_by_a_merge_that_uses_its_memory() {
    let write = |handle: &mut Handle| {
        handle.put(0, 1);
        get::<0>(handle);
    };
    Model::new(&[0], 3, 2).impatient().check([merge_and_put, write]);
}

#[test]
fn an_item_is_read_while_it_is_merged_and_its_memory_used_again() {
    Model::new(&[0], 2, 3).check([merge_and_put, read]);
}

/// As when a wide segment is emptied and its memory goes to another one.
#[test]
fn an_item_is_read_or_deleted_while_its_memory_goes_elsewhere() {
    Model::new(&[0], 2, 3).check([merge_and_release, read]);
    Model::new(&[0], 2, 3).check([merge_and_release, delete]);
}

#[test]
fn one_deletes_another_uses_the_memory_and_a_third_reads() {
    // Whoever evicts may find the item dead, and then does not look at the index.
    let use_again = |handle: &mut Handle| {
        handle.evict(Fate::Drop);
        handle.put(2, 1);
    };
    Model::new(&[0], 1, 2).impatient().check([delete, use_again, peek::<0>]);
}

#[test]
fn one_deletes_another_merges_and_a_third_reads() {
    Model::new(&[0], 2, 1).impatient().check([delete, merge_and_put, peek::<0>]);
}

// Growth of the index during all that. Three threads have few interruptions each, so two have the
// same with one of them moving the index, as writers do.

#[test]
fn the_index_grows_while_one_evicts_and_another_reads() {
    Model::new(&[0], 1, 2).growing(1, 2).impatient().check([migrate, put::<2, 1>, get::<0>]);
}

#[test]
fn the_index_grows_while_two_write_a_key() {
    let one = |handle: &mut Handle| {
        handle.put(0, 1);
        get::<0>(handle);
    };
    Model::new(&[0], 2, 1).growing(1, 2).check([migrate, one, put::<0, 2>]);
}

#[test]
fn the_index_grows_while_one_deletes_and_another_merges() {
    Model::new(&[0], 2, 1).growing(1, 2).impatient().check([migrate, delete, merge_and_put]);
}

#[test]
fn a_writer_grows_the_index_while_a_reader_comes_and_goes() {
    let write = |handle: &mut Handle| {
        handle.migrate(1);
        handle.put(2, 1);
        handle.migrate(1);
    };
    Model::new(&[0], 1, 3).growing(1, 2).check([write, read_and_rest]);
}

#[test]
fn a_writer_grows_the_index_while_another_writes_the_key() {
    let grow = |handle: &mut Handle| {
        handle.put(0, 1);
        handle.migrate(1);
        get::<0>(handle);
    };
    Model::new(&[0], 2, 3).growing(1, 2).impatient().check([grow, put::<0, 2>]);
}

#[test]
fn a_merger_grows_the_index_while_another_deletes() {
    let grow = |handle: &mut Handle| {
        merge(handle);
        handle.migrate(1);
        handle.put(2, 1);
    };
    Model::new(&[0], 2, 3).growing(1, 2).impatient().check([grow, delete]);
}

#[test]
fn the_index_shrinks_while_one_merges_and_another_reads() {
    let merge = |handle: &mut Handle| {
        handle.migrate(1);
        merge(handle);
        handle.migrate(1);
        handle.put(2, 1);
    };
    let read = |handle: &mut Handle| {
        peek::<4>(handle);
        peek::<0>(handle);
    };
    Model::new(&[4, 0], 3, 2).growing(2, 1).impatient().check([merge, read]);
}

// A reader that goes offline and comes back.

#[test]
fn a_reader_that_was_away_finds_nothing_of_before() {
    let read = |handle: &mut Handle| {
        get::<0>(handle);
        handle.rest();
        get::<2>(handle);
        get::<0>(handle);
    };
    Model::new(&[0], 1, 3).check([put::<2, 1>, read]);
}
