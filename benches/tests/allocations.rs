// SPDX-License-Identifier: Apache-2.0
//! The promise of the hot path, counted: once warm, a request allocates nothing between the receive
//! buffer and the send buffer.

use benches::workload::{get, key, segments, service, set, store};
use benches::{Connection, Unprefetched};
use protocol::{Execute, Protocol};
use protocol_memcache::Memcache;
use protocol_ping::{PingProtocol, PingService};
use std::sync::atomic::{AtomicU64, Ordering};
use test_support::counting::{Counting, count_here};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const KEYS: u64 = 1000;
const ROUNDS: usize = 500;

/// Rounds until everything is warm: buffers have their blocks, and sets have filled a small store.
const WARM_UP: usize = 1000;

/// Serves `input` [`WARM_UP`] times, then [`ROUNDS`] times more; the allocations of those.
fn allocations<P: Protocol, E: Execute<P>>(
    mut connection: Connection<P, E>,
    input: &[u8],
    tally: &'static AtomicU64,
) -> u64 {
    count_here(tally);
    for _ in 0..WARM_UP {
        connection.serve(input);
    }
    let before = tally.load(Ordering::Relaxed);
    for _ in 0..ROUNDS {
        connection.serve(input);
    }
    tally.load(Ordering::Relaxed) - before
}

/// Serves a pipeline of 50 requests over stores of [`KEYS`] keys, one of each engine.
fn memcache(request: impl Fn(u64) -> Vec<u8>, tally: &'static AtomicU64) -> u64 {
    let input: Vec<u8> = (0..50).flat_map(request).collect();
    let codec = Memcache::new(1 << 20);
    let table = Connection::new(codec.clone(), service(store(8 << 20, KEYS)));
    // So little that writes fill it several times over.
    let segments = Connection::new(codec, service(segments(2 << 20, KEYS)));
    allocations(table, &input, tally) + allocations(segments, &input, tally)
}

#[test]
fn the_count_sees_an_allocation() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    count_here(&TALLY);
    let mut bytes = vec![1_u8];
    bytes.reserve(1000);
    assert_eq!(TALLY.load(Ordering::Relaxed), 2, "one to make it, one to grow it");
}

#[test]
fn a_ping_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    let connection = Connection::new(PingProtocol, PingService);
    assert_eq!(allocations(connection, &b"PING\r\n".repeat(50), &TALLY), 0);
}

#[test]
fn a_get_that_hits_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    assert_eq!(memcache(get, &TALLY), 0);
}

#[test]
fn a_get_that_misses_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    assert_eq!(memcache(|number| get(KEYS + number), &TALLY), 0);
}

#[test]
fn a_get_of_many_keys_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    let line = |number: u64| {
        let keys = (number..number + 10).flat_map(|number| [&b" "[..], &key(number)].concat());
        [b"gets", &keys.collect::<Vec<u8>>()[..], b"\r\n"].concat()
    };
    assert_eq!(memcache(line, &TALLY), 0);
}

#[test]
fn a_set_that_overwrites_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    assert_eq!(memcache(set, &TALLY), 0);
}

#[test]
fn counting_and_touching_allocate_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    let numbers = "set n 0 0 20\r\n00000000000000000001\r\nincr n 7\r\ndecr n 3\r\ntouch n 100\r\n";
    assert_eq!(memcache(|_| format!("{numbers}gat 100 n\r\n").into_bytes(), &TALLY), 0);
}

#[test]
fn a_single_request_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    let service = Unprefetched(service(store(8 << 20, KEYS)));
    let connection = Connection::new(Memcache::new(1 << 20), service);
    assert_eq!(allocations(connection, &get(5), &TALLY), 0);
}

#[test]
fn an_error_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    let lines = b"nonsense\r\nset k x 0 1\r\nincr k y\r\nset k 0 0 1\r\nxy\r\n\r\n";
    assert_eq!(memcache(|_| lines.to_vec(), &TALLY), 0);
}
