// SPDX-License-Identifier: Apache-2.0
//! [`Worker`]: one event loop over many connections.
//!
//! A turn of the loop:
//!
//! 1. Wait for the driver's events. If the wait may sleep, tell the service to rest first.
//! 2. Read the clock once.
//! 3. Take messages from the mailbox.
//! 4. Serve the connections that have events, then those that yielded in the turn before.
//! 5. Serve the datagrams that wait, if the worker receives any.
//! 6. Go on with TLS handshakes that have input.
//! 7. Let the service do background work.
//! 8. Look for connections that ran out of time.
//! 9. Send what was written to connections of other workers.
//!
//! INV-SHORT: once a turn has taken [`Options::turn_time`], no further connection is served in it, unless
//! none has been. Messages may take half of that time. The connection that is being served then ends with its
//! batch of requests or its write.
//! The connections that are left are queued, and the next turn begins with that queue. Connections in a TLS
//! handshake have a queue of their own, whose turn comes after all others: one step is taken in each turn, and
//! further ones for [`Options::handshake_time`]. So however many clients connect, the others wait for no more than that.

mod ahead;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod completions;
mod datagrams;
mod driver;
mod edge;
mod footprint;
mod handshakes;
mod nap;
mod post;
mod readiness;
mod slots;
mod stopwatch;
mod sweep;

use crate::connection::{Connection, Desk, Next};
use crate::datagram::Ports;
use crate::mailbox::{Inbox, Mail, Mailbox, Message, mailbox};
use crate::metrics::*;
use crate::turn::Until;
use crate::{Dials, Options, Seat};
use buffer::Pool;
use clock::{Clock, CpuClock, Now, Ticks, Timer};
use driver::Driver;
pub use driver::EventQueue;
use footprint::Footprint;
use log::{debug, trace, warn};
use nap::Calm;
pub(crate) use post::Outgoing;
use protocol::{Directory, Ending, Execute, Outbox, Peer, Protocol};
use session::Session;
use slab::Slab;
use slots::Slots;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;
pub use stopwatch::METRICS as TURN_CPU_METRICS;
use stopwatch::Stopwatch;

/// Initial capacity of the queue of connections to serve again: enough that the queue of a small
/// server never grows.
const LINE: usize = 256;

/// One event loop and the connections it serves; its owner gives it a thread of its own.
///
/// `P` is the protocol of its connections, `E` its service. `M` makes the protocol value of a new
/// connection from the tag of the listener that accepted it.
pub struct Worker<P: Protocol, E, M> {
    driver: Driver,
    index: usize,
    inbox: Inbox,
    mailbox: Mailbox,
    /// Messages and letters taken from the mailbox in this turn; empty between turns.
    messages: Vec<Message>,
    mail: Mail,
    /// Errands for connections of other workers.
    outgoing: Outgoing,
    directory: Arc<Directory>,
    clock: Clock,
    options: Options,
    /// The options that may change, and the version of them that is in `options`.
    dials: Option<(Dials, u64)>,
    service: E,
    make_protocol: M,
    pool: Pool,
    footprint: Footprint,
    outbox: Outbox,
    connections: Slab<Connection<P>>,
    slots: Slots,
    /// Its sockets for datagrams, if it has any.
    ports: Option<Box<Ports>>,
    /// Slots of connections that have more to do and need no event.
    again: VecDeque<usize>,
    /// Slots of connections whose TLS handshake can go on.
    handshakes: VecDeque<usize>,
    now: Now,
    /// When this turn of the loop began.
    woken: Timer,
    /// When the time of this turn is up; `None` for never.
    until: Option<Until>,
    /// Nanoseconds from the begin of the turn to the end of the last served connection; `None` if it has
    /// served none.
    taken: Option<u64>,
    /// The time of the turn is up.
    is_spent: bool,
    /// Set when the CPU time of turns is to be recorded.
    stopwatch: Option<Stopwatch>,
    sweep_at: Ticks,
    sweep_from: usize,
    /// For how long nothing has happened.
    calm: Calm,
    /// Set when the worker drains: the time by which it ends.
    deadline: Option<Ticks>,
    /// The service has more background work to do at once.
    more_upkeep: bool,
    /// Events of this turn.
    events: usize,
}

impl<P: Protocol, E, M> std::fmt::Debug for Worker<P, E, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("index", &self.index)
            .field("connections", &self.connections.len())
            .finish_non_exhaustive()
    }
}

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// A worker without connections, number `index` of the process.
    ///
    /// # Errors
    ///
    /// When the operating system refuses an event queue.
    pub fn new(
        index: usize,
        service: E,
        make_protocol: M,
        options: Options,
        clock: Clock,
        directory: Arc<Directory>,
    ) -> io::Result<Self> {
        let queue = EventQueue::new(&options)?;
        Ok(Worker::on(queue, index, service, make_protocol, options, clock, directory))
    }

    /// As [`Worker::new`], on a queue that was made for `options`.
    pub fn on(
        queue: EventQueue,
        index: usize,
        service: E,
        make_protocol: M,
        options: Options,
        clock: Clock,
        directory: Arc<Directory>,
    ) -> Self {
        let EventQueue { driver, waker } = queue;
        let (mailbox, inbox) = mailbox(waker, options.mail_bytes);
        let now = clock.now();
        let stopwatch = options.turn_cpu_time.then(|| Stopwatch::new(CpuClock::thread()));
        Worker {
            driver,
            index,
            inbox,
            mailbox,
            messages: Vec::new(),
            mail: Mail::default(),
            outgoing: Outgoing::default(),
            directory,
            clock,
            service,
            make_protocol,
            pool: Pool::new(options.recv_block, options.send_block, options.pool_blocks),
            footprint: Footprint::default(),
            options,
            dials: None,
            outbox: Outbox::new(),
            connections: Slab::new(),
            slots: Slots::default(),
            ports: None,
            again: VecDeque::with_capacity(LINE),
            handshakes: VecDeque::new(),
            now,
            woken: Timer::start(),
            until: None,
            taken: None,
            is_spent: false,
            stopwatch,
            sweep_at: now.ticks,
            sweep_from: 0,
            calm: Calm::default(),
            deadline: None,
            more_upkeep: false,
            events: 0,
        }
    }

    /// The mailbox through which other threads reach this worker.
    pub fn mailbox(&self) -> Mailbox {
        self.mailbox.clone()
    }

    /// Makes the workers of a process known to each other: `peers` in the order of their index.
    pub fn introduce(&mut self, peers: Vec<Mailbox>) {
        self.outgoing = Outgoing::new(self.index, peers);
    }

    /// Takes the limits that `dials` contain from them.
    pub fn follow(&mut self, dials: Dials) {
        self.dials = Some((dials, 0));
    }

    /// Runs until a [`Message::Drain`](crate::Message::Drain) has been carried out. After that the
    /// worker can only be dropped, and its service with it.
    ///
    /// # Errors
    ///
    /// When the operating system's event queue fails. An error of a connection ends only that
    /// connection.
    pub fn run(&mut self) -> io::Result<()> {
        self.begin()?;
        while !self.step()? {}
        Ok(())
    }

    /// One turn of the loop; returns whether it was the last.
    fn step(&mut self) -> io::Result<bool> {
        let sleep = self.sleep();
        if sleep.is_some() {
            self.service.rest();
        }
        self.wait(sleep.unwrap_or(Duration::ZERO))?;
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.lap();
        }
        self.check_edge();
        (self.now, self.woken) = self.clock.now_with_timer();
        self.until = Some(Until::new(self.woken, self.options.turn_time));
        self.taken = None;
        let is_behind = std::mem::take(&mut self.is_spent);
        if let Some((dials, version)) = &mut self.dials {
            dials.apply(version, &mut self.options);
        }
        self.read_mail();
        let waiting = self.again.len();
        if is_behind {
            self.take_back();
            self.serve_queue(waiting);
            self.serve_events();
        } else {
            self.serve_events();
            self.serve_queue(waiting);
        }
        self.serve_datagrams();
        self.serve_handshakes();
        let before = self.footprint.told();
        if let Some(buffers) = self.footprint.news(&self.pool, self.outbox.shared_bytes()) {
            note_buffers(buffers.bytes as i64 - before as i64);
            self.driver.note_received(self.pool.lent_bytes() - self.pool.lent_send_bytes());
            self.service.buffers(buffers);
        }
        let budget = self.options.maintain_budget;
        self.more_upkeep = self.service.maintain(self.now, budget, &mut self.outbox);
        self.sweep();
        let is_last = self.is_finished();
        self.deliver();
        self.outgoing.send();
        if is_last {
            self.service.rest();
        }
        self.check_edge();
        debug_assert!(!is_last || self.connections.is_empty(), "a worker ends without connections");
        Ok(is_last)
    }

    /// How long to sleep before the next turn; `None` when there is something to do.
    fn sleep(&self) -> Option<Duration> {
        let is_queued = !self.again.is_empty() || !self.handshakes.is_empty();
        let has_more = is_queued || self.more_upkeep || self.has_datagrams();
        if has_more || self.inbox.has_mail() {
            return None;
        }
        let most = self.longest_sleep();
        let Some(at) = self.service.wake_at() else { return Some(most) };
        // The clock rounds down to milliseconds and the poll rounds up, so that the worker does not
        // wake up a moment too early, again and again.
        let left = at.since(self.clock.now().ticks);
        (left > Duration::ZERO).then_some(left.min(most))
    }

    /// Counts `n` events of this turn.
    fn count(&mut self, n: usize) {
        self.events = n;
        WORKER_TURNS.increment();
        if n > 0 {
            self.calm = Calm::default();
            WORKER_EVENTS.add(n as u64);
            WORKER_EVENTS_PER_POLL.record(n as u64);
        }
        if n == self.options.events {
            WORKER_FULL_POLLS.increment();
        }
    }

    /// The connection in `slot`, and what the worker lends it.
    fn at(&mut self, slot: usize) -> Option<(&mut Connection<P>, Desk<'_, E>)> {
        let connection = self.connections.get_mut(slot)?;
        let desk = Desk {
            service: &mut self.service,
            pool: &mut self.pool,
            outbox: &mut self.outbox,
            outgoing: &mut self.outgoing,
            inbox: &self.inbox,
            directory: &self.directory,
            limits: &self.options.limits,
            output: &self.options.output,
            now: self.now,
            until: self.until,
        };
        Some((connection, desk))
    }

    /// Serves one connection, if it is still there, and carries out the errands of its requests.
    fn serve(&mut self, slot: usize) {
        self.serve_only(slot);
        self.settle(slot);
        self.deliver();
    }

    /// Serves one connection without carrying out its errands.
    fn serve_only(&mut self, slot: usize) {
        let woken = self.woken;
        let Some((connection, mut desk)) = self.at(slot) else { return };
        let next = connection.serve(&mut desk);
        let elapsed = woken.nanos();
        let waited = connection.take_wait(woken);
        if connection.take_input() {
            REQUEST_DURATION.record(waited + elapsed);
        }
        let next = next.unwrap_or_else(|error| {
            connection.note_ending(Ending::Error);
            CONNECTIONS_ERROR.increment();
            debug!("{}: {error}", connection.peer.remote);
            if connection.session.is_handshaking() {
                handshakes::report(&connection.peer, &error, desk.now.ticks.as_millis());
            }
            Next::Remove
        });
        if next == Next::Event {
            connection.session.release(desk.pool);
        }
        connection.tell_held();
        self.is_spent |= self.until.is_some_and(|until| until.is_over(elapsed));
        self.taken = Some(elapsed);
        match next {
            Next::Event => {}
            Next::Again => self.queue(slot),
            Next::Remove => self.remove(slot),
        }
    }

    fn admit(
        &mut self,
        session: Session,
        is_tls: bool,
        tag: u16,
        peer: Arc<Peer>,
        seat: Seat,
    ) -> io::Result<()> {
        let entry = self.connections.vacant_entry();
        let slot = entry.key();
        let protocol = (self.make_protocol)(tag);
        let connection = Connection::new(session, protocol, peer.clone(), seat, self.now.ticks);
        entry.insert(connection).is_tls = is_tls;
        if let Err(error) = self.attach(slot) {
            self.connections.remove(slot);
            return Err(error);
        }
        if self.deadline.is_some() {
            self.drain_one(slot);
        }
        self.footprint.enter(is_tls);
        self.slots.insert(peer.id, slot);
        trace!("{}: connected", peer.remote);
        self.directory.enter(peer);
        if let Some((connection, mut desk)) = self.at(slot) {
            connection.tell_opened(&mut desk);
        }
        CONNECTIONS_ACCEPTED.increment();
        CONNECTIONS.increment();
        Ok(())
    }

    fn remove(&mut self, slot: usize) {
        let Some((connection, mut desk)) = self.at(slot) else { return };
        connection.end(&mut desk);
        let connection = self.connections.remove(slot);
        trace!("{}: ended", connection.peer.remote);
        self.footprint.leave(connection.is_tls);
        self.slots.remove(&connection.peer.id);
        self.detach(connection);
        CONNECTIONS_CLOSED.increment();
        CONNECTIONS.decrement();
    }

    fn drain(&mut self, deadline: Ticks) {
        self.deadline = Some(deadline);
        let slots: Vec<usize> = self.connections.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.drain_one(slot);
        }
    }

    /// Queues a connection to be served without an event.
    fn queue(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if !connection.queued {
            connection.queued = true;
            self.calm = Calm::default();
            let is_handshaking = connection.session.is_handshaking();
            let queue = if is_handshaking { &mut self.handshakes } else { &mut self.again };
            queue.push_back(slot);
        }
    }

    fn is_finished(&mut self) -> bool {
        let Some(deadline) = self.deadline else { return false };
        if !self.connections.is_empty() && self.now.ticks < deadline {
            return false;
        }
        let late: Vec<usize> = self.connections.iter().map(|(slot, _)| slot).collect();
        if !late.is_empty() {
            warn!("{} connections could not be flushed in time", late.len());
        }
        for slot in late {
            self.connections[slot].note_ending(Ending::Shutdown);
            self.remove(slot);
        }
        true
    }
}

#[cfg(test)]
mod tests;
