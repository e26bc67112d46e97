// SPDX-License-Identifier: Apache-2.0
//! The promise of the hot path in whole servers: once warm, a worker allocates nothing for a request
//! that arrives over TCP, from the readiness event to the write.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod counting;

use benches::workload::{DEPTH, get, segments, service, set, store};
use buffer::SendBuf;
use clock::{Now, Ticks};
use protocol::{Context, Control, Execute, Malformed, Outbox, Protocol, Stage};
use protocol_memcache::Memcache;
use protocol_ping::{PingProtocol, PingService};
use server::{Builder, Endpoint};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::Store;

const KEYS: u64 = 1000;
const CONNECTIONS: usize = 8;
const ROUNDS: usize = 500;

/// Rounds until everything is warm: buffers have their blocks, and pipelined sets have filled a small
/// store.
const WARM_UP: usize = 100;

/// Makes the request about a numbered key.
type Request = fn(u64) -> Vec<u8>;

/// A service that has the thread it runs on counted: a worker's, and no other thread of the server
/// or of the test.
struct Counted<E> {
    inner: E,
    tally: &'static AtomicU64,
}

impl<P: Protocol, E: Execute<P>> Execute<P> for Counted<E> {
    fn prefetch(&self, request: &P::Request<'_>, stage: Stage) {
        self.inner.prefetch(request, stage);
    }

    fn execute(
        &mut self,
        connection: &mut P,
        request: P::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.inner.execute(connection, request, out, context)
    }

    fn rejected(&mut self, connection: &P, malformed: &Malformed) {
        self.inner.rejected(connection, malformed);
    }

    fn closed(&mut self, connection: &mut P, context: &mut Context<'_>) {
        self.inner.closed(connection, context);
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        counting::count_here(self.tally);
        self.inner.maintain(now, budget, outbox)
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.inner.wake_at()
    }

    fn rest(&mut self) {
        self.inner.rest();
    }

    fn buffers(&mut self, bytes: u64) {
        self.inner.buffers(bytes);
    }
}

/// Sends `request` on each connection in turn and reads the whole reply to it.
fn round(connections: &mut [TcpStream], request: &[u8], reply: &mut [u8]) {
    for connection in connections {
        connection.write_all(request).unwrap();
        connection.read_exact(reply).unwrap();
    }
}

/// Warms a server up with `request`, whose reply has `reply_bytes`, then sends it [`ROUNDS`] times
/// on each of several connections; the worker's allocations for those. `starts` is how each reply
/// begins.
fn allocations<P, E>(
    make_protocol: impl Fn(u16) -> P + Clone + Send + 'static,
    inner: E,
    request: &[u8],
    (starts, reply_bytes): (&[u8], usize),
    tally: &'static AtomicU64,
) -> u64
where
    P: Protocol + Send + 'static,
    E: Execute<P> + Send + 'static,
{
    let mut service = Some(Counted { inner, tally });
    let process = Builder::new("test", "0")
        .listen(Endpoint::Tcp(([127, 0, 0, 1], 0).into()), false)
        .spawn(make_protocol, |_| service.take().expect("one worker"))
        .unwrap();
    let address = process.address().unwrap();
    let connect = || {
        let connection = TcpStream::connect(address).unwrap();
        connection.set_nodelay(true).unwrap();
        connection
    };
    let mut connections: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect()).collect();
    let mut reply = vec![0; reply_bytes];
    for _ in 0..WARM_UP {
        round(&mut connections, request, &mut reply);
        assert!(reply.starts_with(starts), "{}", reply.escape_ascii());
    }
    let before = tally.load(Ordering::Relaxed);
    assert!(before > 0, "a worker that takes connections in allocates, so nothing was counted");
    for _ in 0..ROUNDS {
        round(&mut connections, request, &mut reply);
    }
    let after = tally.load(Ordering::Relaxed);
    process.stop().unwrap();
    after - before
}

#[test]
fn a_worker_of_the_ping_server_allocates_nothing() {
    static TALLY: AtomicU64 = AtomicU64::new(0);
    for depth in [1, DEPTH] {
        let request = b"PING\r\n".repeat(depth);
        let reply = (&b"PONG\r\n"[..], 6 * depth);
        let count = allocations(|_| PingProtocol, PingService, &request, reply, &TALLY);
        assert_eq!(count, 0, "{depth} at a time");
    }
}

/// Each kind of request to a cache over what `make_store` makes.
fn the_cache_allocates_nothing<S>(make_store: impl Fn() -> S, tally: &'static AtomicU64)
where
    S: Store + Send + 'static,
{
    let hit = b"VALUE key:0000000000000000 0 64\r\nEND\r\n".len() + 66;
    let cases: [(&str, Request, &[u8], usize); 3] = [
        ("get hit", get, b"VALUE key:", hit),
        ("get miss", |number| get(KEYS + number), b"END\r\n", 5),
        ("set overwrite", set, b"STORED\r\n", 8),
    ];
    for (name, request, starts, reply_bytes) in cases {
        for depth in [1, DEPTH] {
            let request: Vec<u8> = (0..depth as u64).flat_map(request).collect();
            let reply = (starts, depth * reply_bytes);
            let service = service(make_store());
            let count = allocations(|_| Memcache::new(1 << 20), service, &request, reply, tally);
            assert_eq!(count, 0, "{name}, {depth} at a time");
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
