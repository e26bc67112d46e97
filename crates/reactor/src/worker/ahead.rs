// SPDX-License-Identifier: Apache-2.0
//! Look-ahead: prefetching for several connections before the first of them is served.
//!
//! Single requests, each on its own connection, would each wait for their own cache misses: index, item,
//! value, one after the other. But a busy worker gets events of many connections at once. So it takes
//! [`AHEAD`] of them, reads from each, prefetches what their first requests need, stage by stage, and then
//! serves them. RULE-BATCH does the same within a pipeline.

use super::Worker;
use arrayvec::ArrayVec;
use protocol::{Execute, Protocol, Stage};

/// Number of connections that are read before the first of them is served. Enough for their cache misses to
/// overlap; few enough that the memory that the kernel touched in reading is still in the cache when replies
/// are written.
pub(super) const AHEAD: usize = 8;

/// The slots of connections that are about to be served.
pub(super) type Ready = ArrayVec<usize, AHEAD>;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Adds a connection to `ready`, and serves them all once `ready` is full.
    #[inline]
    pub(super) fn serve_with_others(&mut self, slot: usize, ready: &mut Ready) {
        ready.push(slot);
        if ready.is_full() {
            self.serve_all(ready);
        }
    }

    /// Serves the first `waiting` connections of the queue.
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

    /// Serves the connections in `ready`. Those that are left when the time of the turn is up are the first
    /// in the next turn.
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
        while served < ready.len() && !self.is_spent {
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

    /// Prefetches for the first requests of some connections.
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
            if !self.service.goes_on_after(stage) {
                break;
            }
        }
    }
}
