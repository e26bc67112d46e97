// SPDX-License-Identifier: Apache-2.0
//! `watch`: lines about what the server does, for clients that want to see them.
//!
//! ```text
//!   worker 0: request ──▶ Ring ─┐                       ┌▶ backlog of a watcher ──▶ its worker ──▶ its connection
//!   worker 1: request ──▶ Ring ─┴▶ once per turn, try ──┴▶ backlog of a watcher ──▶ its worker ──▶ its connection
//! ```
//!
//! Each worker writes lines into a ring of its own, and once per turn of its loop moves them to those who watch. A
//! worker that finds the list of watchers locked keeps its lines for the next turn. Both the ring and what waits for a
//! watcher are bounded: a line for which there is no room is dropped and counted, so a watcher that does not read costs
//! others nothing but the writing. It is told how many lines it has missed before the next that it gets.
//!
//! A watcher's connection is blocked by its request, so it takes no further ones.

mod lines;
mod ring;
mod watchers;

pub(super) use lines::Found;
pub use watchers::WATCHERS_MAX;
pub(super) use watchers::{SOMEBODY, Watchers};

use super::MemcacheService;
use super::outcome::Outcome;
use crate::reply::Refusal;
use crate::topics::Topics;
use buffer::SendBuf;
use clock::Now;
use protocol::{ConnectionId, Context, Ending, Outbox};
use ring::Ring;
use storage::Receive;

/// Bytes of lines that a worker keeps between two turns of its loop.
pub(crate) const RING_BYTES: usize = 64 << 10;

/// Bytes of lines that wait for a watcher to read those before.
pub(crate) const BACKLOG_BYTES: usize = 64 << 10;

/// A worker's part.
#[derive(Debug, Default)]
pub(super) struct OwnWatch {
    ring: Ring,
    /// The watchers whose connections are this worker's.
    here: Vec<ConnectionId>,
    /// The store notes what it evicts.
    notes_evicted: bool,
    /// Whose `shutdown` ends the server.
    stopped_by: Option<ConnectionId>,
}

/// That of another worker is its own.
impl Clone for OwnWatch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl OwnWatch {
    /// Whether something is left of what was done for watchers.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.notes_evicted || !self.ring.is_empty()
    }
}

impl<S: Receive> MemcacheService<S> {
    /// Notes that the server ends because this client has asked for it.
    pub(super) fn note_stop(&mut self, client: ConnectionId) {
        self.own_watch.stopped_by = Some(client);
    }

    /// A client wants to watch; `None` is something that there is not.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(
        &mut self,
        topics: Option<Topics>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        if !self.shared.options.watch {
            return Outcome::Refused(Refusal::Watch);
        }
        let Some(topics) = topics else {
            return Outcome::Refused(Refusal::Wrong(b"ERROR\r\n"));
        };
        if context.is_datagram {
            return Outcome::Refused(Refusal::Datagram);
        }
        let peer = context.directory.get(context.connection);
        if !self.shared.watchers.add(context.connection, topics, peer, &self.shared.observers) {
            return Outcome::Refused(Refusal::TooManyWatchers);
        }
        self.own_watch.here.push(context.connection);
        out.put(b"OK\r\n");
        Outcome::Watching
    }

    /// A connection has ended, which may have watched.
    #[cold]
    pub(super) fn end_watch(&mut self, ending: Ending, context: &Context<'_>) {
        let connection = context.connection;
        if self.shared.observers.watch(Topics::CONNEVENTS)
            && let Some(peer) = context.directory.get(connection)
        {
            let has_stopped = self.own_watch.stopped_by == Some(connection);
            let ending = if has_stopped { Ending::Shutdown } else { ending };
            self.show_closed(&peer, ending, context.now);
        }
        let before = self.own_watch.here.len();
        self.own_watch.here.retain(|&id| id != connection);
        if self.own_watch.here.len() < before {
            self.shared.watchers.remove(connection, &self.shared.observers);
        }
    }

    /// Moves the lines of this worker to those who watch, and sends its own watchers what waits for them.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_on(&mut self, now: Now, outbox: &mut Outbox) {
        self.show_evicted(now);
        if !self.shared.observers.are_watching() {
            self.own_watch.ring = Ring::default();
            return;
        }
        let OwnWatch { ring, here, .. } = &mut self.own_watch;
        if !ring.is_empty() && self.shared.watchers.take(ring) {
            ring.clear();
        }
        if !here.is_empty() {
            self.shared.watchers.send(here, outbox);
        }
    }
}
