// SPDX-License-Identifier: Apache-2.0
//! A whole server whose workers are counted.

use buffer::SendBuf;
use clock::{Now, Ticks};
use protocol::{Buffers, Context, Control, Ending, Execute, Malformed, Outbox, Protocol, Stage};
use server::settings::Engine;
use server::{Builder, Endpoint};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use test_support::counting::count_here;

/// Connections that send requests in turn; workers get about as many each.
const CONNECTIONS: usize = 8;

/// Rounds that are counted, each a pipeline on each connection.
const ROUNDS: usize = 125;

/// Rounds until everything is warm: buffers have their blocks, and pipelined writes have filled a
/// small store.
const WARM_UP: usize = 100;

/// Tries of which the best counts. A server may note once a second how it is doing, and writes down
/// which requests took long, as one does that the system has interrupted.
const TRIES: usize = 5;

/// What clients send, and how much comes back.
#[derive(Debug)]
pub(crate) struct Traffic<'a> {
    /// What is sent once, before everything else.
    pub(crate) prepare: &'a [u8],
    /// The reply to that.
    pub(crate) prepared: &'a [u8],
    /// The request or pipeline that is counted.
    pub(crate) request: &'a [u8],
    /// How each reply to it begins.
    pub(crate) starts: &'a [u8],
    /// Its length.
    pub(crate) reply_bytes: usize,
}

/// A service that has the thread it runs on counted: a worker's, and no other thread of the server
/// or of the test.
struct Counted<E> {
    inner: E,
    tally: &'static AtomicU64,
}

impl<P: Protocol, E: Execute<P>> Execute<P> for Counted<E> {
    fn prefetch(&self, connection: &P, request: &P::Request<'_>, stage: Stage) {
        self.inner.prefetch(connection, request, stage);
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

    fn opened(&mut self, connection: &mut P, context: &mut Context<'_>) {
        self.inner.opened(connection, context);
    }

    fn closed(&mut self, connection: &mut P, ending: Ending, context: &mut Context<'_>) {
        self.inner.closed(connection, ending, context);
    }

    fn post(&mut self, outbox: &mut Outbox) {
        self.inner.post(outbox);
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        count_here(self.tally);
        self.inner.maintain(now, budget, outbox)
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.inner.wake_at()
    }

    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        self.inner.may_nap(now, nap)
    }

    fn rest(&mut self) {
        self.inner.rest();
    }

    fn buffers(&mut self, buffers: Buffers) {
        self.inner.buffers(buffers);
    }
}

/// Sends the pipeline on each connection in turn and reads the whole reply to it.
fn round(connections: &mut [TcpStream], traffic: &Traffic<'_>, reply: &mut [u8]) {
    for connection in connections {
        connection.write_all(traffic.request).unwrap();
        connection.read_exact(reply).unwrap();
        assert!(reply.starts_with(traffic.starts), "{}", reply.escape_ascii());
    }
}

/// Each depth of a pipeline on each engine: nothing is to be allocated on any.
pub(crate) fn depths_and_engines(depths: [usize; 2]) -> Vec<(usize, Engine)> {
    let engines = Engine::usable();
    depths.into_iter().flat_map(|n| engines.iter().map(move |&on| (n, on))).collect()
}

/// Warms a server of some workers up, then sends 1,000 pipelines on several connections; the workers'
/// allocations for those.
pub(crate) fn allocations<P, E>(
    engine: Engine,
    workers: usize,
    make_protocol: impl Fn(u16) -> P + Clone + Send + 'static,
    mut make_service: impl FnMut(usize) -> E,
    traffic: &Traffic<'_>,
    tally: &'static AtomicU64,
) -> u64
where
    P: Protocol + Send + 'static,
    E: Execute<P> + Send + 'static,
{
    let process = Builder::new("test", "0")
        .listen(Endpoint::Tcp(([127, 0, 0, 1], 0).into()), false)
        .workers(workers)
        .engine(engine)
        .spawn(make_protocol, |worker| Counted { inner: make_service(worker), tally })
        .unwrap();
    let address = process.address().unwrap();
    let connect = || {
        let connection = TcpStream::connect(address).unwrap();
        connection.set_nodelay(true).unwrap();
        connection
    };
    let mut connections: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect()).collect();
    connections[0].write_all(traffic.prepare).unwrap();
    let mut reply = vec![0; traffic.prepared.len()];
    connections[0].read_exact(&mut reply).unwrap();
    assert_eq!(reply, traffic.prepared, "{}", reply.escape_ascii());
    reply.resize(traffic.reply_bytes, 0);
    for _ in 0..WARM_UP {
        round(&mut connections, traffic, &mut reply);
    }
    let before = tally.load(Ordering::Relaxed);
    assert!(before > 0, "a worker that takes connections in allocates, so nothing was counted");
    let mut least = u64::MAX;
    for _ in 0..TRIES {
        let before = tally.load(Ordering::Relaxed);
        for _ in 0..ROUNDS {
            round(&mut connections, traffic, &mut reply);
        }
        least = least.min(tally.load(Ordering::Relaxed) - before);
        if least == 0 {
            break;
        }
    }
    process.stop().unwrap();
    least
}
