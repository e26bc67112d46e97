// SPDX-License-Identifier: Apache-2.0
//! The measurements of the program `storebench`.

use clock::Ticks;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use storage::{Expiry, Item, Put, Stage, Store};
use storage_hashmap::HashMapStore;
use storage_seg::{Eviction, SegStore};

const VALUE: [u8; 64] = [b'v'; 64];
/// Keys that are prefetched together, and operations of a turn.
const BATCH: usize = 16;
/// Rounds of each measurement.
const ROUNDS: usize = 7;
/// Bytes an item takes at most, to know how many are resident.
const ITEM_BYTES: u64 = 120;

/// What to measure, and on what.
#[derive(Clone, Debug)]
pub struct Options {
    what: String,
    memory: u64,
    millis: u64,
    storage: String,
    eviction: Eviction,
    huge_pages: bool,
    integrity: bool,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    ///
    /// The argument that makes no sense.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options {
            what: "all".into(),
            memory: 1 << 30,
            millis: 500,
            storage: "seg".into(),
            eviction: Eviction::default(),
            huge_pages: false,
            integrity: false,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
            match arg.as_str() {
                "--memory" => options.memory = number(value()?)?,
                "--millis" => options.millis = number(value()?)?,
                "--storage" => options.storage = value()?,
                "--eviction" => options.eviction = value()?.parse().map_err(|e| format!("{e}"))?,
                "--huge-pages" => options.huge_pages = true,
                "--integrity" => options.integrity = true,
                "get" | "set" | "scale" | "all" => options.what = arg,
                _ => return Err(format!("what is {arg}?")),
            }
        }
        Ok(options)
    }
}

/// Measures and prints.
///
/// # Panics
///
/// When the store cannot be built.
pub fn run(options: &Options) {
    match options.storage.as_str() {
        "hashmap" => measure(options, |memory, workers| {
            HashMapStore::builder().memory(memory).shards(workers * 16).build()
        }),
        _ => measure(options, |memory, workers| {
            let store = SegStore::builder().memory(memory).workers(workers);
            let store = store.huge_pages(options.huge_pages).integrity(options.integrity);
            store.eviction(options.eviction).build().expect("the options are possible")
        }),
    }
}

fn measure<S: Store + Clone + Send>(options: &Options, build: impl Fn(u64, usize) -> S) {
    let is = |what| options.what == what || options.what == "all";
    if is("get") {
        reads(options, build(options.memory, 1));
    }
    if is("set") {
        writes(options, build(options.memory / 16, 1));
    }
    if is("scale") {
        scaling(options, &build);
    }
}

/// A small generator: splitmix64.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    /// One that gives other numbers than those before it: what is new to one round is new to all.
    fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(1);
        Random(Random(MADE.fetch_add(1, Ordering::Relaxed)).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

fn key(number: u64) -> [u8; 20] {
    let mut key = *b"key-0000000000000000";
    for (digit, place) in key[4..].iter_mut().rev().zip(0..) {
        *digit = b"0123456789abcdef"[(number >> (4 * place)) as usize & 15];
    }
    key
}

fn put<S: Store>(store: &mut S, key: &[u8], expiry: Expiry) {
    store.put(Put::new(key, &VALUE).expiry(expiry), Ticks::ZERO).expect("there is room");
}

fn fill<S: Store>(store: &mut S, items: u64) {
    for number in 0..items {
        put(store, &key(number), Expiry::NEVER);
        if number % 64 == 0 {
            store.expire(Ticks::ZERO, 64);
        }
    }
}

/// Batches for which keys are made at a time, which is not measured.
const BATCHES: usize = 256;

/// Runs `work` on batches of keys for the time of a round and gives nanoseconds per key.
fn timed(millis: u64, mut name: impl FnMut() -> u64, mut work: impl FnMut(&Keys)) -> f64 {
    let (mut spent, mut done) = (Duration::ZERO, 0);
    let mut batches = vec![[[0; 20]; BATCH]; BATCHES];
    while spent < Duration::from_millis(millis) {
        batches.as_flattened_mut().iter_mut().for_each(|key| *key = self::key(name()));
        let start = Instant::now();
        batches.iter().for_each(&mut work);
        spent += start.elapsed();
        done += BATCHES * BATCH;
    }
    spent.as_nanos() as f64 / done as f64
}

/// The keys of a batch.
type Keys = [[u8; 20]; BATCH];

fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let (median, last) = (values[values.len() / 2], values[values.len() - 1]);
    format!("{median:.1} [{:.1}..{last:.1}]", values[0])
}

fn read_batch<S: Store>(store: &mut S, keys: &Keys) {
    for key in keys {
        let item = store.get(key, Ticks::ZERO).expect("it is resident");
        assert_eq!(item.value()[0], b'v');
    }
}

fn reads<S: Store>(options: &Options, mut store: S) {
    let items = options.memory / ITEM_BYTES;
    fill(&mut store, items);
    let mut random = Random::new();
    let (mut plain, mut batched, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let one = timed(
            options.millis,
            || random.below(items),
            |keys| {
                read_batch(&mut store, keys);
            },
        );
        let many = timed(
            options.millis,
            || random.below(items),
            |keys| {
                for stage in Stage::ALL {
                    keys.iter().for_each(|key| store.prefetch(key, stage));
                }
                read_batch(&mut store, keys);
            },
        );
        plain.push(one);
        batched.push(many);
        ratios.push(one / many);
    }
    println!("get, {items} items: {} ns plain", spread(plain));
    println!("get: {} ns in batches of {BATCH}", spread(batched));
    println!("get: batches are {} times as fast", spread(ratios));
}

fn writes<S: Store>(options: &Options, mut store: S) {
    let memory = options.memory / 16;
    let mut number = 0;
    while number < 2 * memory / ITEM_BYTES {
        put(&mut store, &key(number), Expiry::NEVER);
        number += 1;
    }
    let mut next = || {
        number += 1;
        number
    };
    let mean = (0..ROUNDS).map(|_| {
        timed(options.millis, &mut next, |keys| {
            keys.iter().for_each(|key| put(&mut store, key, Expiry::NEVER));
            store.expire(Ticks::ZERO, 64);
        })
    });
    let mean = spread(mean.collect());
    let evicted = store.stats().evicted;
    let mut nanos: Vec<u64> = (0..2_000_000)
        .map(|_| {
            let key = key(next());
            let start = Instant::now();
            put(&mut store, &key, Expiry::NEVER);
            start.elapsed().as_nanos() as u64
        })
        .collect();
    nanos.sort_unstable();
    let at = |share: f64| nanos[(nanos.len() as f64 * share) as usize];
    let (median, p9999) = (at(0.5), at(0.9999));
    println!("set with eviction ({evicted} so far): {mean} ns");
    println!(
        "set: p50 {median} p90 {} p99 {} p999 {} p9999 {p9999} max {} ns; p9999 / p50 = {:.1}",
        at(0.9),
        at(0.99),
        at(0.999),
        nanos[nanos.len() - 1],
        p9999 as f64 / median as f64,
    );
}

/// Operations per second of several threads together.
fn rate<S: Store + Clone + Send>(
    store: &S,
    threads: usize,
    millis: u64,
    name: impl Fn(&mut Random) -> u64 + Sync,
    work: impl Fn(&mut S, &[u8]) + Sync,
) -> f64 {
    let barrier = Barrier::new(threads);
    let handles: Vec<S> = (0..threads).map(|_| store.clone()).collect();
    thread::scope(|scope| {
        let started: Vec<_> = handles
            .into_iter()
            .map(|mut handle| {
                let (barrier, name, work) = (&barrier, &name, &work);
                scope.spawn(move || {
                    let mut random = Random::new();
                    barrier.wait();
                    let nanos = timed(
                        millis,
                        || name(&mut random),
                        |keys| {
                            keys.iter().for_each(|key| work(&mut handle, key));
                            handle.expire(Ticks::ZERO, 64);
                        },
                    );
                    1e9 / nanos
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    })
}

fn scaling<S: Store + Clone + Send>(options: &Options, build: &impl Fn(u64, usize) -> S) {
    let memory = options.memory / 4;
    let items = memory / ITEM_BYTES;
    let mut store = build(memory, 4);
    fill(&mut store, items);
    store.rest();
    type Name<'a> = dyn Fn(&mut Random) -> u64 + Sync + 'a;
    let compare = |title: &str, name: &Name<'_>, work: &(dyn Fn(&mut S, &[u8]) + Sync)| {
        // Until the index has the size that this load needs.
        for _ in 0..ROUNDS {
            rate(&store, 2, options.millis, name, work);
        }
        let mut nanos = Vec::new();
        let ratios = (0..ROUNDS).map(|_| {
            let one = rate(&store, 1, options.millis, name, work);
            nanos.push(1e9 / one);
            rate(&store, 2, options.millis, name, work) / one
        });
        let ratios = spread(ratios.collect());
        println!("{title}: {} ns; two threads do {ratios} times the work of one", spread(nanos));
    };
    let resident = |random: &mut Random| random.below(items);
    let new = Random::next;
    compare("reads", &resident, &|store, key| {
        assert!(store.get(key, Ticks::ZERO).is_some(), "it is resident");
    });
    compare("overwrites", &resident, &|store, key| put(store, key, Expiry::NEVER));
    let ttl = |seconds| Expiry::after(Duration::from_secs(seconds), Ticks::ZERO);
    compare("new items of one TTL", &new, &|store, key| put(store, key, ttl(1000)));
    compare("new items of two TTLs", &new, &|store, key| {
        put(store, key, if key[19] & 1 == 0 { ttl(1000) } else { ttl(100_000) });
    });
}
