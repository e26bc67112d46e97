// SPDX-License-Identifier: Apache-2.0
//! Serving the connections that have events, a few at a time and a step ahead.
//!
//! Requests that come alone, each on its own connection, would each wait for their own cache misses:
//! index, item, value, one after the other. But a busy worker learns of many connections at once. So it
//! takes [`AHEAD`] of them, reads from each, asks the CPU for what their first requests need, stage
//! by stage, and then serves them. RULE-BATCH does the same within a pipeline.

use super::Worker;
use crate::metrics::{WORKER_EVENT_ERROR, WORKER_EVENT_READ, WORKER_EVENT_WRITE};
use arrayvec::ArrayVec;
use mio::event::Event;
use mio::{Events, Token};
use protocol::{Execute, Protocol, Stage};

/// Connections that are read before the first of them is served: enough for their misses to overlap,
/// few enough that what the kernel touched in reading is still in the cache when they are written to.
pub(super) const AHEAD: usize = 8;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Serves the connections that `events` tell of, in their order.
    pub(super) fn serve_events(&mut self, events: &Events) {
        let mut ready = ArrayVec::<usize, AHEAD>::new();
        for event in events {
            if let Some(slot) = self.note(event) {
                ready.push(slot);
                if ready.is_full() {
                    self.serve_all(&mut ready);
                }
            }
        }
        self.serve_all(&mut ready);
    }

    /// Notes what an event says; the slot of its connection, if that is to be served for it.
    fn note(&mut self, event: &Event) -> Option<usize> {
        let Token(slot) = event.token();
        let connection = self.connections.get_mut(slot)?;
        let hung_up = event.is_read_closed();
        if event.is_readable() || hung_up || event.is_error() {
            WORKER_EVENT_READ.increment();
            connection.on_readable(hung_up);
        }
        if event.is_error() {
            WORKER_EVENT_ERROR.increment();
        }
        if event.is_writable() {
            WORKER_EVENT_WRITE.increment();
        }
        // A connection that yielded waits for its turn like the others.
        (!connection.queued).then_some(slot)
    }

    fn serve_all(&mut self, ready: &mut ArrayVec<usize, AHEAD>) {
        if ready.len() > 1 {
            for &slot in &*ready {
                if let Some((connection, mut desk)) = self.at(slot) {
                    connection.read_ahead(&mut desk);
                }
            }
            self.look_ahead(ready);
        }
        for slot in ready.drain(..) {
            self.serve(slot);
        }
    }

    /// Asks the CPU for what the first requests of some connections need.
    fn look_ahead(&self, ready: &[usize]) {
        let first = |&slot| self.connections.get(slot)?.first_request(&self.options.limits);
        let requests: ArrayVec<_, AHEAD> = ready.iter().filter_map(first).collect();
        for stage in Stage::ALL {
            for request in &requests {
                self.service.prefetch(request, stage);
            }
        }
    }
}
