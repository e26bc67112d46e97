// SPDX-License-Identifier: Apache-2.0
//! RULE-LINEAR: the operations of several threads on a key are linearizable. There is one order in
//! which each operation happens at one moment between its call and its return, and does what the
//! contract says.
//!
//! Threads play random operations on a few keys, and others keep the store full: items are evicted, moved
//! and expire all the time. Each value tells which write made it (`value`). Each operation is recorded with
//! its result and with the numbers of its call and its return (`history`, `play`). Then each key's records
//! are searched for an order (`check`) in which the contract allows every result (`spec`).
//!
//! An engine may drop an item at any moment, so a miss proves little. A hit proves much: no replaced or
//! dropped value comes back, no write is lost while its item stays, no two values share a version, and a
//! put by version takes place only on the item that it names.

mod check;
mod history;
mod play;
mod spec;
#[cfg(test)]
mod tests;
mod value;

use super::Limits;
use super::subject::{Noise, Subject};
use crate::{Stats, Store};
use check::{Checker, THREADS_MAX};
use history::Record;
use play::{KEYS, Player, Table};
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::thread;

/// The environment variable that sets the number of operations of a history, in place of the test's
/// own.
const OPERATIONS_VARIABLE: &str = "SHOEBILL_LINEAR_OPERATIONS";

/// Operations of all threads together, after which they wait for each other and are checked.
const LEG: u64 = 2_048;

/// What a store may do by itself.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    /// Drop items that have not expired.
    evicts: bool,
    /// Give an item another version.
    moves: bool,
}

/// A history to be played and checked: [`check_history`](super::check_history).
///
/// Unless it says otherwise, it has 100,000 operations, or as many as the variable
/// `SHOEBILL_LINEAR_OPERATIONS` of the environment says; other keys fill some megabytes; and the store must
/// neither evict nor give items new versions.
#[derive(Clone, Debug)]
pub struct History {
    operations: u64,
    seed: u64,
    allowed: Allowed,
    fillers: usize,
    value_bytes: usize,
}

impl Default for History {
    fn default() -> Self {
        let allowed = Allowed { evicts: false, moves: false };
        History { operations: 100_000, seed: 1, allowed, fillers: 8_192, value_bytes: 20_000 }
            .operations(100_000)
    }
}

impl History {
    /// How many operations are played, unless the environment says it.
    #[must_use]
    pub fn operations(self, operations: u64) -> Self {
        let given = std::env::var(OPERATIONS_VARIABLE).ok();
        let given = given.map(|text| text.parse().expect("a number of operations"));
        History { operations: given.unwrap_or(operations), ..self }
    }

    /// From what all random choices follow. Which thread comes when does not.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        History { seed, ..self }
    }

    /// The store may drop items that have not expired, and must: the other keys are more than fit.
    #[must_use]
    pub fn evicts(mut self) -> Self {
        self.allowed.evicts = true;
        self
    }

    /// The store may give an item another version, one that no item of the key had before.
    #[must_use]
    pub fn moves(mut self) -> Self {
        self.allowed.moves = true;
        self
    }

    /// How many other keys are written, with 750 bytes on average.
    #[must_use]
    pub fn fillers(self, fillers: usize) -> Self {
        History { fillers, ..self }
    }

    /// The largest value, up to 128 KiB; few are larger than a tenth of it.
    #[must_use]
    pub fn value_bytes(self, value_bytes: usize) -> Self {
        History { value_bytes: value_bytes.min(value::FILLING_MAX), ..self }
    }

    /// Plays on these handles of one empty store, a thread for each, and checks.
    pub(super) fn run<S: Store + Send>(&self, handles: Vec<S>) {
        let threads = handles.len();
        assert!((1..=THREADS_MAX).contains(&threads), "{threads} handles");
        let table = Table::new();
        let players = handles.into_iter().enumerate();
        let mut players: Vec<Player<S>> =
            players.map(|(number, store)| Player::new(store, number, self.seed)).collect();
        let mut checkers: Vec<Checker> = (0..KEYS).map(|_| Checker::new(self.allowed)).collect();
        let mut noise = Noise::new(self.seed);
        let (mut played, mut hits) = (0, 0);
        while played < self.operations {
            let leg = LEG.min(self.operations - played);
            play(&mut players, leg / threads as u64 + 1, &table, self);
            for player in &mut players {
                hits += player.records.iter().filter(|record| record.op.read().is_some()).count();
                played += player.records.len() as u64;
            }
            self.check(&mut players, &mut checkers);
            if noise.below(8) == 0 {
                players[0].store.clear();
                players[0].store.rest();
                checkers.iter_mut().for_each(Checker::clear);
            }
        }
        let store = &mut players[0].store;
        store.expire(table.now(), 0);
        store.check_integrity();
        self.check_load(store.stats(), hits as u64);
    }

    /// Checks the operations played since the last check.
    fn check<S>(&self, players: &mut [Player<S>], checkers: &mut [Checker]) {
        let mut records: Vec<Vec<Record>> = vec![Vec::new(); checkers.len()];
        for player in players {
            for record in player.records.drain(..) {
                records[record.key as usize].push(record);
            }
        }
        for (key, (checker, records)) in checkers.iter_mut().zip(records).enumerate() {
            if let Err(text) = checker.take_in(&records) {
                panic!("RULE-LINEAR: key {key}, seed {}, {:?}: {text}", self.seed, self.allowed);
            }
        }
    }

    /// A history in which nothing was found, or nothing dropped, would prove nothing.
    fn check_load(&self, stats: Stats, hits: u64) {
        let operations = self.operations;
        assert!(hits > operations / 200, "{hits} reads of {operations} operations found an item");
        let is_long = operations > 20_000;
        assert!(!is_long || !self.allowed.evicts || stats.evicted > 100, "{stats:?}");
        println!("{operations} operations, {hits} found an item, {} evicted", stats.evicted);
    }
}

/// All players play at once, this many operations each.
fn play<S: Store + Send>(
    players: &mut [Player<S>],
    operations: u64,
    table: &Table,
    history: &History,
) {
    let barrier = Barrier::new(players.len());
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for player in players {
            let barrier = &barrier;
            threads.push(scope.spawn(move || {
                barrier.wait();
                player.play(operations, table, history);
            }));
        }
        for thread in threads {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

/// Any engine whose handles are shared: it may evict, and give an item another version.
pub(super) fn run<S: Store + Clone + Send>(make: &impl Fn(Limits) -> S) {
    let store = Subject::new(make, Limits::TIGHT).store;
    let handles = vec![store.clone(), store.clone(), store.clone(), store];
    History::default().operations(16_000).evicts().moves().fillers(16_384).run(handles);
}
