// SPDX-License-Identifier: Apache-2.0
//! The promise of the hot path in whole servers: once warm, a worker allocates nothing for a request
//! that arrives over TCP, from the readiness event to the write.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod counted;

use benches::workload::{DEPTH, get, segments, service, set, store};
use counted::{Traffic, allocations, depths_and_engines};
use protocol_memcache::Memcache;
use protocol_ping::{PingProtocol, PingService};
use std::sync::atomic::AtomicU64;
use storage::{Receive, Scan};
use test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const KEYS: u64 = 1000;

/// Makes the request about a numbered key.
type Request = fn(u64) -> Vec<u8>;

#[test]
fn a_worker_of_the_ping_server_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    for (depth, engine) in depths_and_engines([1, DEPTH]) {
        let traffic = Traffic {
            prepare: b"",
            prepared: b"",
            request: &b"PING\r\n".repeat(depth),
            starts: b"PONG\r\n",
            reply_bytes: depth * b"PONG\r\n".len(),
        };
        let count = allocations(engine, 1, |_| PingProtocol, |_| PingService, &traffic, &TALLY);
        assert_eq!(count, 0, "{depth} at a time, {engine:?}");
    }
}

/// Each kind of request to a cache over what `make_store` makes.
fn the_cache_allocates_nothing<S>(make_store: impl Fn() -> S, tally: &'static AtomicU64)
where
    S: Scan + Receive + Send + 'static,
{
    let hit = b"VALUE key:0000000000000000 0 64\r\nEND\r\n".len() + 66;
    let cases: [(&str, Request, &[u8], usize); 3] = [
        ("get hit", get, b"VALUE key:", hit),
        ("get miss", |number| get(KEYS + number), b"END\r\n", 5),
        ("set overwrite", set, b"STORED\r\n", 8),
    ];
    for (name, request, starts, reply_bytes) in cases {
        for (depth, engine) in depths_and_engines([1, DEPTH]) {
            let request: Vec<u8> = (0..depth as u64).flat_map(request).collect();
            let reply_bytes = depth * reply_bytes;
            let traffic =
                Traffic { prepare: b"", prepared: b"", request: &request, starts, reply_bytes };
            let codec = |_| Memcache::new(1 << 20);
            let count = allocations(engine, 1, codec, |_| service(make_store()), &traffic, tally);
            assert_eq!(count, 0, "{name}, {depth} at a time, {engine:?}");
        }
    }
}

#[test]
fn a_worker_over_the_hash_table_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    the_cache_allocates_nothing(|| store(8 << 20, KEYS), &TALLY);
}

#[test]
fn a_worker_over_segments_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    // So little that the sets fill it several times over.
    the_cache_allocates_nothing(|| segments(2 << 20, KEYS), &TALLY);
}
