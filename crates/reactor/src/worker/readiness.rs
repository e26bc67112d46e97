// SPDX-License-Identifier: Apache-2.0
//! [`Readiness`]: the driver on epoll, through mio: its sessions read and write by themselves.

use super::Worker;
use super::ahead::Ready;
use crate::DatagramSocket;
use crate::metrics::{WORKER_EVENT_ERROR, WORKER_EVENT_READ, WORKER_EVENT_WRITE};
use crate::patience::Patience;
use mio::event::Event;
use mio::{Events, Interest, Poll, Token, Waker};
use protocol::{Execute, Protocol};
use session::Stream;
use std::io;
use std::time::Duration;

/// The token of the mailbox's waker; connections use their slot in the slab.
const WAKER: Token = Token(usize::MAX);

/// The token of the first socket for datagrams; that of the next is one less.
const DATAGRAMS: usize = usize::MAX - 1;

/// A poll and the events of its last wait.
#[derive(Debug)]
pub(super) struct Readiness {
    poll: Poll,
    events: Events,
}

impl Readiness {
    /// A poll that returns up to `events` events at once, and its waker.
    ///
    /// # Errors
    ///
    /// When the operating system refuses an event queue.
    pub(super) fn new(events: usize) -> io::Result<(Self, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        Ok((Readiness { poll, events: Events::with_capacity(events) }, waker))
    }

    pub(super) fn wait(&mut self, most: Duration) -> io::Result<()> {
        let mut patience = Patience::new(most);
        loop {
            match self.poll.poll(&mut self.events, Some(patience.left())) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => patience.interrupt(),
                other => return other,
            }
        }
    }

    pub(super) fn enter(&mut self, slot: usize, stream: &mut Stream) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(stream, Token(slot), interest)
    }

    /// Watches the socket for datagrams with this number.
    pub(super) fn watch_datagrams(
        &mut self,
        number: usize,
        socket: &mut DatagramSocket,
    ) -> io::Result<()> {
        socket.register(self.poll.registry(), Token(DATAGRAMS - number))
    }
}

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Serves the connections that have events, in the order of the events.
    pub(super) fn serve_ready(&mut self) {
        let Some(readiness) = self.driver.readiness() else { return };
        let events = std::mem::replace(&mut readiness.events, Events::with_capacity(0));
        self.count(events.iter().count());
        let mut ready = Ready::new();
        for event in &events {
            match self.note(event) {
                Some(slot) if self.is_to_wait(slot) => self.queue(slot),
                Some(slot) => self.serve_with_others(slot, &mut ready),
                None => {}
            }
        }
        self.serve_all(&mut ready);
        if let Some(readiness) = self.driver.readiness() {
            readiness.events = events;
        }
    }

    /// Records an event; returns the slot of its connection, if the connection is to be served now.
    fn note(&mut self, event: &Event) -> Option<usize> {
        let Token(slot) = event.token();
        let Some(connection) = self.connections.get_mut(slot) else {
            if let Some(ports) = &mut self.ports {
                ports.on_readable(DATAGRAMS.wrapping_sub(slot));
            }
            return None;
        };
        let hung_up = event.is_read_closed();
        if event.is_readable() || hung_up || event.is_error() {
            WORKER_EVENT_READ.increment();
            connection.on_readable(hung_up, self.woken);
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
}
