// SPDX-License-Identifier: Apache-2.0
//! The promise of `rds`, counted in a whole server made as `servers/rds` makes it: once warm, its
//! workers allocate nothing for the requests that caches get most.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod counted;

use benches::workload::DEPTH;
use counted::{Traffic, allocations, depths_and_engines};
use keyspace::Keyspace;
use protocol_resp::client::Encoder;
use protocol_resp::service::{Host, RespService};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use storage_typed::TypedStore;
use test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

/// Numbers of as many digits as they will have in the end.
const COUNTER: u64 = 1_000_000;

/// Keys of each kind: each request of a pipeline is about another one.
const KEYS: usize = DEPTH;

/// A value of 64 bytes, and another.
const VALUES: [&str; 2] = [
    "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv",
    "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
];

/// A request with its name, `{}` for the number of the key, how the reply to it begins, and how long
/// it is.
const CASES: [(&str, &str, &str, usize); 8] = [
    ("GET hit", "GET text:{}", "$64\r\nv", "$64\r\n\r\n".len() + 64),
    ("GET hit of a number", "GET counter:{}", "$7\r\n1000000\r\n", 13),
    ("GET miss", "GET missing:{}", "$-1\r\n", 5),
    ("INCR", "INCR counter:{}", ":100", 10),
    ("SET of as many bytes", "SET text:{} {value}", "+OK\r\n", 5),
    ("HGET", "HGET hash:{} field", "$5\r\nvalue\r\n", 11),
    ("EXISTS hit", "EXISTS text:{}", ":1\r\n", 4),
    ("EXISTS miss", "EXISTS missing:{}", ":0\r\n", 4),
];

fn encoded(line: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Encoder::new(&mut bytes).request(line);
    bytes
}

/// What there is when it begins, and the replies to that.
fn prepare() -> (Vec<u8>, Vec<u8>) {
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    for number in 0..KEYS {
        requests.extend(encoded(&["SET", &format!("text:{number}"), VALUES[0]]));
        requests.extend(encoded(&["SET", &format!("counter:{number}"), &COUNTER.to_string()]));
        requests.extend(encoded(&["HSET", &format!("hash:{number}"), "field", "value", "b", "2"]));
        replies.extend(b"+OK\r\n+OK\r\n:2\r\n");
    }
    (requests, replies)
}

fn nothing_is_allocated(workers: usize, tally: &'static AtomicU64) {
    let (prepare, prepared) = prepare();
    for (name, line, starts, reply_bytes) in CASES {
        for (depth, engine) in depths_and_engines([1, DEPTH]) {
            let words = |number: usize| {
                let line = line.replace("{value}", VALUES[1]).replace("{}", &number.to_string());
                encoded(&line.split(' ').collect::<Vec<_>>())
            };
            let request: Vec<u8> = (0..depth).flat_map(words).collect();
            let store = TypedStore::builder().shards(16 * workers).databases(16).build();
            let host = Arc::new(Host::new(store.databases()));
            let connections = Arc::clone(&host);
            let traffic = Traffic {
                prepare: &prepare,
                prepared: &prepared,
                request: &request,
                starts: starts.as_bytes(),
                reply_bytes: depth * reply_bytes,
            };
            let count = allocations(
                engine,
                workers,
                move |_| connections.connection(),
                |_| RespService::new(store.clone(), Arc::clone(&host)),
                &traffic,
                tally,
            );
            assert_eq!(count, 0, "{name}, {depth} at a time, {workers} workers, {engine:?}");
        }
    }
}

#[test]
fn one_worker_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    nothing_is_allocated(1, &TALLY);
}

#[test]
fn two_workers_allocate_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    nothing_is_allocated(2, &TALLY);
}
