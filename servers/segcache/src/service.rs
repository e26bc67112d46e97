// SPDX-License-Identifier: Apache-2.0
//! [`Service`]: memcache and RESP over the same items, through one store handle per worker.
//!
//! Two independent services would need a handle each, which has three drawbacks:
//!
//! 1. An idle handle must be rested all the same, or it delays the others.
//! 2. Memory for buffers would be reserved twice.
//! 3. A store of segments for one worker has only one handle.
//!
//! So the memcache service owns the handle and lends it for each RESP request.

use buffer::SendBuf;
use clock::Now;
use protocol::{Buffers, Context, Control, Either, Execute, Malformed, Outbox, Protocol, Stage};
use protocol_memcache::{Memcache, MemcacheService};
use protocol_resp::strings::{self, Commands};
use storage::Scan;

/// The tag of the listeners for RESP. All others are memcache's.
pub(crate) const RESP: u16 = 1;

/// Why a connection never gets a request of the other protocol.
const OWN: &str = "a codec makes requests of its own protocol";

/// A connection that speaks one of the two.
pub(crate) type Connection = Either<Memcache, strings::Connection>;

/// A new connection of the listener with this tag.
pub(crate) fn connection(tag: u16, memcache: Memcache) -> Connection {
    match tag {
        RESP => Either::B(strings::Connection::new(memcache.value_max())),
        _ => Either::A(memcache),
    }
}

/// Executes the requests of both protocols. Each worker has its own; clones are for other workers.
#[derive(Clone, Debug)]
pub(crate) struct Service<S> {
    memcache: MemcacheService<S>,
    resp: Commands,
}

impl<S> Service<S> {
    /// Serves the store of `memcache`.
    pub(crate) fn new(memcache: MemcacheService<S>, resp: Commands) -> Self {
        Service { memcache, resp }
    }
}

impl<S: Scan + 'static> Execute<Connection> for Service<S> {
    #[inline]
    fn prefetch(
        &self,
        connection: &Connection,
        request: &<Connection as Protocol>::Request<'_>,
        stage: Stage,
    ) {
        match (connection, request) {
            (Either::A(connection), Either::A(request)) => {
                self.memcache.prefetch(connection, request, stage);
            }
            (Either::B(_), Either::B(command)) => {
                self.resp.prefetch(self.memcache.store(), command, stage);
            }
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => unreachable!("{OWN}"),
        }
    }

    #[inline]
    fn execute(
        &mut self,
        connection: &mut Connection,
        request: <Connection as Protocol>::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        match (connection, request) {
            (Either::A(connection), Either::A(request)) => {
                self.memcache.execute(connection, request, out, context)
            }
            (Either::B(connection), Either::B(command)) => {
                let store = self.memcache.store_at(context.now);
                self.resp.execute(store, connection, &command, out, context)
            }
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => unreachable!("{OWN}"),
        }
    }

    fn rejected(&mut self, connection: &Connection, malformed: &Malformed) {
        match connection {
            Either::A(connection) => self.memcache.rejected(connection, malformed),
            Either::B(_) => self.resp.rejected(malformed),
        }
    }

    fn closed(&mut self, connection: &mut Connection, context: &mut Context<'_>) {
        match connection {
            Either::A(connection) => self.memcache.closed(connection, context),
            Either::B(connection) => self.resp.closed(connection),
        }
    }

    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.memcache.maintain(now, budget, outbox)
    }

    #[inline]
    fn rest(&mut self) {
        self.memcache.rest();
    }

    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        self.memcache.buffers(buffers);
    }
}
