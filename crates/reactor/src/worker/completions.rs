// SPDX-License-Identifier: Apache-2.0
//! The driver on io_uring, as the worker sees it: applies completions to connections, and starts operations
//! after a connection was served. The ring itself is in `uring/`.

use super::ahead::{AHEAD, Ready};
use super::{Driver, Worker};
use crate::connection::Connection;
use crate::metrics::{WORKER_EVENT_ERROR, WORKER_EVENT_READ, WORKER_EVENT_WRITE, WORKER_EVENTS};
use crate::uring::{Completion, News, Uring};
use protocol::{Execute, Protocol};

/// Makes the ring carry the bytes of a new, unused connection.
pub(super) fn enter<P: Protocol>(uring: &mut Uring, slot: usize, connection: &mut Connection<P>) {
    connection.session.carry();
    connection.link = uring.enter(slot, connection.session.stream());
    let wants = connection.wants();
    uring.settle(connection.link, &mut connection.session, wants);
}

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Serves the connections that have completions, in the order of the completions, as many as fit in a
    /// turn. A few are served in any case, or the queued connections could keep them waiting for ever.
    pub(super) fn serve_completed(&mut self) {
        let mut ready = Ready::new();
        let mut events = 0;
        while events < self.options.events && (events < AHEAD || !self.is_spent) {
            let Some(completion) = self.pop() else { break };
            events += 1;
            if let Some(slot) = self.overfills(&completion) {
                self.serve_early(slot, &mut ready);
            }
            match self.hear(&completion) {
                Some(slot) if ready.contains(&slot) => {}
                Some(slot) if self.is_to_wait(slot) => self.queue(slot),
                Some(slot) => self.serve_with_others(slot, &mut ready),
                None => {}
            }
        }
        self.serve_all(&mut ready);
        self.count(events);
    }

    /// Serves a connection that already has input before more is delivered to it, so that a
    /// pipeline of any length needs only one block at a time. Its replies are sent later, with
    /// those of the others.
    fn serve_early(&mut self, slot: usize, ready: &mut Ready) {
        let Some(at) = ready.iter().position(|&other| other == slot) else { return };
        ready.remove(at);
        self.serve_only(slot);
        self.deliver();
    }

    fn overfills(&self, completion: &Completion) -> Option<usize> {
        let Driver::Completions(uring) = &self.driver else { return None };
        uring.overfills(completion, &self.connections)
    }

    fn pop(&mut self) -> Option<Completion> {
        let Driver::Completions(uring) = &mut self.driver else { return None };
        uring.pop()
    }

    /// Applies a completion to the ring's state and to the connection; returns the connection's
    /// slot, if it is to be served.
    fn hear(&mut self, completion: &Completion) -> Option<usize> {
        let Driver::Completions(uring) = &mut self.driver else { return None };
        let (slot, news) = uring.digest(completion, &mut self.connections, &mut self.pool)?;
        let connection = &mut self.connections[slot];
        let is_served = match news {
            News::Bytes(taken) => {
                WORKER_EVENT_READ.increment();
                connection.on_delivered(taken, self.now.ticks, self.woken);
                true
            }
            News::Readable { hung_up } => {
                WORKER_EVENT_READ.increment();
                connection.on_readable(hung_up, self.woken);
                true
            }
            News::End => {
                WORKER_EVENT_READ.increment();
                connection.on_readable(true, self.woken);
                true
            }
            News::HungUp => {
                connection.on_left();
                true
            }
            News::Sent { all } => {
                WORKER_EVENT_WRITE.increment();
                connection.on_sent(all, &self.options.output, self.now.ticks)
            }
            News::Failed(error) => {
                WORKER_EVENT_ERROR.increment();
                connection.fail(error);
                true
            }
            News::Silent => {
                self.settle(slot);
                false
            }
            News::Halted => {
                self.drain_one(slot);
                false
            }
        };
        (is_served && !self.connections[slot].queued).then_some(slot)
    }

    /// Sends what the session of a connection lets depart, and starts or stops receiving as the
    /// connection wants.
    pub(super) fn settle_completions(&mut self, slot: usize) {
        let Driver::Completions(uring) = &mut self.driver else { return };
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let wants = connection.wants();
        uring.settle(connection.link, &mut connection.session, wants);
        if uring.is_laden() {
            self.submit();
        }
    }

    /// Submits in the middle of a turn, and takes back the blocks of the replies that this has
    /// sent.
    fn submit(&mut self) {
        let Driver::Completions(uring) = &mut self.driver else { return };
        uring.submit();
        self.hear_of_sent();
    }

    /// Applies the completions of sends, also before others that came earlier.
    pub(super) fn hear_of_sent(&mut self) {
        while let Some(completion) = self.pop_sent() {
            WORKER_EVENTS.increment();
            if let Some(slot) = self.hear(&completion) {
                self.queue(slot);
            }
        }
    }

    fn pop_sent(&mut self) -> Option<Completion> {
        let Driver::Completions(uring) = &mut self.driver else { return None };
        uring.pop_sent()
    }
}
