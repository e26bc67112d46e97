// SPDX-License-Identifier: Apache-2.0
//! The measurements of the program `workers`: two workers of `rds` against one.
//!
//! Sockets are left out: on a machine of two cores the clients would take what the second worker
//! needs. What is measured is all that workers share: keyspace, host, counts, allocator. Two workers
//! with keyspaces of their own, which share nothing, tell what the machine itself allows.

use crate::Connection;
use keyspace::Keyspace;
use protocol_resp::service::{Host, Resp, RespService};
use std::fmt;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};
use storage_typed::TypedStore;

const KEYS: u64 = 1_000_000;
/// Requests of a pipeline.
const DEPTH: u64 = 32;
/// Pipelines that are made beforehand, for each worker.
const PIPELINES: u64 = 4096;
/// Rounds of each measurement, the two taking turns.
const ROUNDS: usize = 15;
/// Shards of a keyspace: those of `rds` with two workers.
const SHARDS: usize = 128;

type Worker = Connection<Resp, RespService<TypedStore>>;

/// Measures GET and SET for so long a round, and prints a line for each.
pub fn run(millis: u64) {
    let mut shared = workers(true);
    let mut apart = workers(false);
    for (name, request) in [("GET", get as fn(u64) -> Vec<u8>), ("SET", set)] {
        let pipelines: Vec<_> = (1..3).map(|seed| pipelines(seed, request)).collect();
        let [mut alone, mut together, mut ceiling] = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            let one = rate(&mut shared[..1], &pipelines, millis);
            alone.push(1e9 / one);
            together.push(rate(&mut shared, &pipelines, millis) / one);
            let one = rate(&mut apart[..1], &pipelines, millis);
            ceiling.push(rate(&mut apart, &pipelines, millis) / one);
        }
        println!("{name}: one worker takes {} ns for a request", Spread(alone));
        println!("{name}: two workers do {} times as much", Spread(together));
        println!("{name}: two with keyspaces of their own do {} times as much", Spread(ceiling));
    }
}

/// Two workers with one keyspace, or with one each, and all keys in it.
fn workers(is_shared: bool) -> Vec<Worker> {
    let new = || {
        let store = TypedStore::builder().shards(SHARDS).build();
        let host = Arc::new(Host::new(store.databases()));
        (store, host)
    };
    let (store, host) = new();
    let second = if is_shared { (store.clone(), Arc::clone(&host)) } else { new() };
    let worker = |(store, host): (TypedStore, Arc<Host>)| {
        Connection::new(host.connection(), RespService::new(store, host))
    };
    let mut workers = vec![worker((store, host)), worker(second)];
    for key in 0..KEYS {
        for worker in &mut workers {
            worker.serve(&set(key));
        }
    }
    workers
}

/// Shows the median of figures, the least and the largest.
struct Spread(Vec<f64>);

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        write!(f, "{:.2} [{least:.2}..{most:.2}]", sorted[sorted.len() / 2])
    }
}

fn get(key: u64) -> Vec<u8> {
    format!("*2\r\n$3\r\nGET\r\n$20\r\nkey-{key:016x}\r\n").into_bytes()
}

fn set(key: u64) -> Vec<u8> {
    let value = "v".repeat(64);
    format!("*3\r\n$3\r\nSET\r\n$20\r\nkey-{key:016x}\r\n$64\r\n{value}\r\n").into_bytes()
}

/// Pipelines of requests for keys at random.
fn pipelines(seed: u64, request: fn(u64) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut state = seed;
    let mut key = || {
        // The generator of Knuth's MMIX; its high bits are random enough.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % KEYS
    };
    (0..PIPELINES).map(|_| (0..DEPTH).flat_map(|_| request(key())).collect()).collect()
}

/// Requests in a second of all workers together.
fn rate(workers: &mut [Worker], pipelines: &[Vec<Vec<u8>>], millis: u64) -> f64 {
    let (span, barrier) = (Duration::from_millis(millis), Barrier::new(workers.len()));
    let work = |worker: &mut Worker, pipelines: &[Vec<u8>]| {
        barrier.wait();
        let (start, mut served) = (Instant::now(), 0);
        for pipeline in pipelines.iter().cycle() {
            if start.elapsed() >= span {
                break;
            }
            worker.serve(pipeline);
            served += DEPTH;
        }
        served as f64 / start.elapsed().as_secs_f64()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter_mut()
            .zip(pipelines)
            .map(|(worker, pipelines)| scope.spawn(|| work(worker, pipelines)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    })
}
