// SPDX-License-Identifier: Apache-2.0
//! The measurements of the program `pauses`: how long the longest step of a keyspace takes.
//!
//! A worker does one step after the other: a command, or a turn's share of background work. No other client
//! is served during a step, so the longest step is the longest pause that the keyspace causes.

use keyspace::{Gone, Keyspace, Scope, View};
use std::time::{Duration, Instant};
use storage_typed::TypedStore;
use values::{Entry, Limits};

/// Small steps of upkeep in a turn of a worker's loop, as servers have it.
const BUDGET: usize = 256;
/// Later than all expiries.
const LATER: u64 = 1_000_000;

/// The longest steps of one kind of work.
struct Steps {
    name: &'static str,
    count: u64,
    spent: Duration,
    longest: Duration,
    /// Those of a millisecond and more.
    long: u64,
}

impl Steps {
    fn new(name: &'static str) -> Self {
        Steps { name, count: 0, spent: Duration::ZERO, longest: Duration::ZERO, long: 0 }
    }

    fn time<R>(&mut self, step: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = step();
        let took = start.elapsed();
        self.count += 1;
        self.spent += took;
        self.longest = self.longest.max(took);
        self.long += u64::from(took >= Duration::from_millis(1));
        result
    }

    fn print(&self) {
        let mean = self.spent.as_nanos() as f64 / self.count.max(1) as f64;
        println!(
            "{:<32} {:>10} steps, mean {:>8.0} ns, longest {:>8.1} us, {} of 1 ms or more",
            self.name,
            self.count,
            mean,
            self.longest.as_nanos() as f64 / 1000.0,
            self.long
        );
    }
}

/// Measures with so many keys or fields and prints a line for each kind of work.
pub fn run(number: u64) {
    growth(2 * number);
    expiry(number);
    deletion(number);
}

fn store() -> TypedStore {
    TypedStore::builder().shards(1).build()
}

fn put(store: &mut TypedStore, number: u64, expiry: Option<u64>) {
    let key = format!("key:{number:016x}");
    let mut entry = Entry::string(key.as_bytes(), &[b'v'; 32]);
    entry.set_expiry(expiry);
    let mut view = store.view(store.scope(key.as_bytes()), 0);
    assert!(view.put(entry, 0).is_none(), "it is new");
}

fn upkeep(store: &mut TypedStore, unix_ms: u64) -> bool {
    store.maintain(unix_ms, BUDGET, &mut |_: Gone<'_>| {})
}

fn len(store: &mut TypedStore) -> usize {
    store.view(Scope::ALL, 0).len(0)
}

/// The table grows from nothing, one key after the other.
fn growth(keys: u64) {
    let (mut store, mut puts) = (store(), Steps::new("new keys while the table grows"));
    for number in 0..keys {
        puts.time(|| put(&mut store, number, None));
    }
    assert_eq!(len(&mut store) as u64, keys);
    puts.print();

    let mut steps = Steps::new("all of them flushed");
    steps.time(|| store.view(Scope::ALL, 0).clear(0));
    while steps.time(|| upkeep(&mut store, 0)) {}
    steps.print();
}

/// All keys expire in the same millisecond.
fn expiry(keys: u64) {
    let mut store = store();
    for number in 0..keys {
        put(&mut store, number, Some(1_000));
    }
    let (mut unix_ms, mut steps) = (LATER, Steps::new("upkeep while keys expire"));
    while len(&mut store) > 0 {
        // Where the sweep rests it goes on a few milliseconds later.
        if !steps.time(|| upkeep(&mut store, unix_ms)) {
            unix_ms += 5;
        }
    }
    steps.print();
}

/// A hash grows, and is deleted.
fn deletion(fields: u64) {
    let (mut store, limits) = (store(), Limits::default());
    let mut sets = Steps::new("new fields of a growing hash");
    store.view(Scope::ALL, 0).put(Entry::new_hash(b"hash"), 0);
    for number in 0..fields {
        let name = format!("field:{number:x}");
        sets.time(|| {
            let mut view = store.view(Scope::ALL, 0);
            let mut entry = view.get_mut(0, b"hash").expect("it is there");
            entry.hash_mut(&limits).expect("a hash").set(name.as_bytes(), b"value", 0);
        });
    }
    sets.print();

    let mut steps = Steps::new("the hash deleted, and its upkeep");
    steps.time(|| {
        let mut view = store.view(Scope::ALL, 0);
        let hash = view.take(0, b"hash").expect("it is there");
        view.dispose(hash);
    });
    while steps.time(|| upkeep(&mut store, 0)) {}
    assert_eq!(store.stats().leaving_bytes, 0, "all of it is free");
    steps.print();
}
