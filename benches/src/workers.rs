// SPDX-License-Identifier: Apache-2.0
//! The measurements of the program `workers`: two workers of `rds` against one.
//!
//! Sockets are left out: on a machine of two cores the clients would take what the second worker
//! needs. What is measured is all that workers share: keyspace, host, counts, allocator.

use crate::Connection;
use protocol_resp::service::{Host, Resp, RespService};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};
use storage::keyspace::Keyspace;
use storage_hashmap::TypedStore;

const KEYS: u64 = 1_000_000;
/// Requests of a pipeline.
const DEPTH: u64 = 32;
/// Pipelines that are made beforehand, for each worker.
const PIPELINES: u64 = 4096;
/// Rounds of each measurement, the two taking turns.
const ROUNDS: usize = 7;

type Worker = Connection<Resp, RespService<TypedStore>>;

/// Measures GET and SET for so long a round, and prints a line for each.
pub fn run(millis: u64) {
    let store = TypedStore::builder().shards(64).build();
    let host = Arc::new(Host::new(store.databases()));
    let mut workers: Vec<Worker> = (0..2)
        .map(|_| {
            let service = RespService::new(store.clone(), Arc::clone(&host));
            Connection::new(host.connection(), service)
        })
        .collect();
    for key in 0..KEYS {
        workers[0].serve(&set(key));
    }
    for (name, request) in [("GET", get as fn(u64) -> Vec<u8>), ("SET", set)] {
        let pipelines: Vec<_> = (1..3).map(|seed| pipelines(seed, request)).collect();
        let mut ratios = Vec::new();
        let mut alone = Vec::new();
        for _ in 0..ROUNDS {
            let one = rate(&mut workers[..1], &pipelines, millis);
            let two = rate(&mut workers, &pipelines, millis);
            ratios.push(two / one);
            alone.push(1e9 / one);
        }
        ratios.sort_by(f64::total_cmp);
        alone.sort_by(f64::total_cmp);
        println!(
            "{name}: two workers {:.2} times one [{:.2}..{:.2}], one takes {:.0} ns for a request",
            ratios[ROUNDS / 2],
            ratios[0],
            ratios[ROUNDS - 1],
            alone[ROUNDS / 2]
        );
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
