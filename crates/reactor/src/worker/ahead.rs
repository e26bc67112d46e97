// SPDX-License-Identifier: Apache-2.0
//! Serving the connections that have events, a few at a time and a step ahead.
//!
//! Requests that come alone, each on its own connection, would each wait for their own cache misses:
//! index, item, value, one after the other. But a busy worker learns of many connections at once. So it
//! takes [`AHEAD`] of them, reads from each, asks the CPU for what their first requests need, stage
//! by stage, and then serves them. RULE-BATCH does the same within a pipeline.

use super::Worker;
use arrayvec::ArrayVec;
use protocol::{Execute, Protocol, Stage};
use std::time::Duration;

/// Connections that are read before the first of them is served: enough for their misses to overlap,
/// few enough that what the kernel touched in reading is still in the cache when they are written to.
pub(super) const AHEAD: usize = 8;

/// The slots of connections that are about to be served.
pub(super) type Ready = ArrayVec<usize, AHEAD>;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Serves a connection together with those in `ready`, once they are enough.
    #[inline]
    pub(super) fn serve_with_others(&mut self, slot: usize, ready: &mut Ready) {
        ready.push(slot);
        if ready.is_full() {
            self.serve_all(ready);
        }
    }

    /// Serves the first `waiting` of the connections that stand in line.
    pub(super) fn serve_queue(&mut self, waiting: usize) {
        let mut ready = Ready::new();
        for _ in 0..waiting {
            if self.is_spent {
                break;
            }
            let Some(slot) = self.again.pop_front() else { break };
            if let Some(connection) = self.connections.get_mut(slot) {
                connection.queued = false;
                self.serve_with_others(slot, &mut ready);
            }
        }
        self.serve_all(&mut ready);
    }

    /// Serves the connections in `ready`. Those that are left when the turn has taken its time are the
    /// first in the next one.
    pub(super) fn serve_all(&mut self, ready: &mut Ready) {
        if ready.len() > 1 && !self.is_spent {
            for &slot in &*ready {
                if let Some((connection, mut desk)) = self.at(slot) {
                    connection.read_ahead(&mut desk);
                }
            }
            self.look_ahead(ready);
        }
        let mut served = 0;
        while served < ready.len() && !self.is_over(ready[served]) {
            self.serve(ready[served]);
            served += 1;
        }
        for &slot in ready[served..].iter().rev() {
            if let Some(connection) = self.connections.get_mut(slot)
                && !connection.queued
            {
                connection.queued = true;
                self.again.push_front(slot);
            }
        }
        ready.clear();
    }

    /// Whether the turn has taken too much of its time to serve this connection in it: INV-SHORT. Nobody
    /// is served before those that are first in line, so a handshake that is too late ends the turn.
    fn is_over(&mut self, slot: usize) -> bool {
        if !self.is_spent
            && self
                .taken
                .is_some_and(|nanos| Duration::from_nanos(nanos) >= self.options.handshake_time)
            && let Some(connection) = self.connections.get(slot)
        {
            self.is_spent = connection.session.is_handshaking();
        }
        self.is_spent
    }

    /// Asks the CPU for what the first requests of some connections need.
    fn look_ahead(&self, ready: &[usize]) {
        let first = |&slot| {
            let connection = self.connections.get(slot)?;
            Some((connection.protocol(), connection.first_request(&self.options.limits)?))
        };
        let requests: ArrayVec<_, AHEAD> = ready.iter().filter_map(first).collect();
        for stage in Stage::ALL {
            for (protocol, request) in &requests {
                self.service.prefetch(protocol, request, stage);
            }
        }
    }
}
