// SPDX-License-Identifier: Apache-2.0
//! Takes messages from the mailbox and carries out the errands of the outbox: those for connections
//! of this worker at once, those for connections of others in batches.
//!
//! INV-BEFORE: who has got the reply to a request, and then gets the reply to another request on another connection,
//! has before that one got all that the first request sent to this other connection, whichever workers serve the two.
//! So a program that publishes and then pings a subscriber knows when it has seen all messages. For this
//!
//! * letters are in the mailbox before the replies of the connection that caused them leave: [`Outgoing::post`], and
//!   [`Execute::post`] for those that the service gathers;
//! * a connection that takes messages executes what it has read when the worker has taken the letters that were there
//!   then, in however many turns: `Connection::awaits_mail`.
//!
//! INV-FIRST: in each turn all newcomers are welcomed before any letter or errand is carried out, because these may
//! remove a connection. Its place is free for the next turn only, which waits for events anew: those of this turn may
//! tell of it.

use super::Worker;
use super::nap::Calm;
use crate::connection::Done;
use crate::mailbox::{Letter, Mail, Mailbox, Message, Newcomer};
use crate::metrics::{ACCEPT_ERROR, CONNECTIONS_PUSH_OVERFLOW};
use crate::pause::Pause;
use crate::turn::Until;
use log::warn;
use protocol::{ConnectionId, Ending, Errand, Execute, Outbox, Peer, Protocol};
use session::{Session, Stream};
use std::sync::Arc;

/// New connections and orders taken per turn of the loop, if its time suffices.
pub(super) const MESSAGES: usize = 1024;

/// Letters taken per turn of the loop, if its time suffices: enough that those for one connection are sent in one write.
pub(super) const LETTERS: usize = 8192;

/// Parts in which these are taken. After each the clock is read.
pub(super) const PARTS: usize = 32;

/// Number of errands for another worker at which they are sent. Fewer are sent before the replies of the connection
/// that caused them, or at the end of the turn.
const BATCH: usize = 1024;

/// Capacity in errands that an empty outbox keeps.
const KEPT: usize = 1024;

/// The last line about a newcomer that cannot be served.
static GIVEN_UP: Pause = Pause::new();

/// Errands on their way to connections of other workers.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// The index of this worker.
    home: usize,
    /// The mailboxes of all workers, each with the letters to be sent there.
    peers: Vec<(Mailbox, Vec<Letter>)>,
    /// Letters may be waiting in `peers`.
    has_letters: bool,
}

impl Outgoing {
    /// Of the worker with the index `home`, among workers with these mailboxes, in the order of their index.
    pub(super) fn new(home: usize, peers: Vec<Mailbox>) -> Self {
        let peers = peers.into_iter().map(|peer| (peer, Vec::new())).collect();
        Outgoing { home, peers, has_letters: false }
    }

    /// Sends the errands for connections of other workers.
    pub(crate) fn post(&mut self, outbox: &mut Outbox) {
        if self.peers.len() < 2 {
            return;
        }
        for (to, errand) in outbox.drain_foreign(self.home) {
            self.add(to, errand);
        }
        self.send();
    }

    /// Whether no letter waits to be sent.
    pub(super) fn is_empty(&self) -> bool {
        self.peers.iter().all(|(_, letters)| letters.is_empty())
    }

    fn add(&mut self, to: ConnectionId, errand: Errand) {
        let Some((mailbox, letters)) = self.peers.get_mut(to.worker()) else { return };
        letters.push((to, errand));
        self.has_letters = true;
        if letters.len() >= BATCH {
            send(mailbox, letters);
        }
    }

    /// Sends all gathered letters, with one wake-up per receiving worker.
    pub(super) fn send(&mut self) {
        if !std::mem::take(&mut self.has_letters) {
            return;
        }
        for (mailbox, letters) in &mut self.peers {
            if !letters.is_empty() {
                send(mailbox, letters);
            }
        }
    }
}

fn send(mailbox: &Mailbox, letters: &mut Vec<Letter>) {
    if let Err(error) = mailbox.deliver(letters) {
        warn!("another worker cannot be woken: {error}");
    }
}

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Takes messages and letters from the mailbox, up to the share of a turn: INV-SHORT. They may take half of its
    /// time, so that connections have the other half; what is left keeps the worker awake.
    pub(super) fn read_mail(&mut self) {
        if !self.inbox.has_mail() {
            return;
        }
        self.calm = Calm::default();
        let until = Until::new(self.woken, self.options.turn_time / 2);
        for part in [Self::read_messages, Self::read_letters] {
            for _ in 0..PARTS {
                let has_more = part(self);
                if !has_more || until.is_past() {
                    break;
                }
            }
            self.deliver(); // INV-FIRST
        }
    }

    /// Reads some messages, and returns whether there are more.
    fn read_messages(&mut self) -> bool {
        let mut messages = std::mem::take(&mut self.messages);
        let has_more = self.inbox.take_messages(MESSAGES / PARTS, &mut messages);
        for message in messages.drain(..) {
            match message {
                Message::Connection(newcomer) => self.welcome(*newcomer),
                Message::Drain { deadline } => self.drain(deadline),
            }
        }
        self.messages = messages;
        has_more
    }

    /// Carries out some letters, and returns whether there are more.
    fn read_letters(&mut self) -> bool {
        let mut mail = std::mem::take(&mut self.mail);
        let has_more = self.inbox.take_letters(LETTERS / PARTS, &mut mail);
        let Mail { overrun, letters } = &mut mail;
        for id in overrun.drain(..) {
            if let Some(&slot) = self.slots.get(&id) {
                self.overflow(slot);
            }
        }
        for (to, errand) in letters.drain(..) {
            self.carry_out(to, errand);
        }
        self.mail = mail;
        has_more
    }

    fn welcome(&mut self, newcomer: Newcomer) {
        let Newcomer { stream, from, tls, serial, local, tag, seat } = newcomer;
        let remote = from.map_or_else(|| stream.peer_name(), Stream::tcp_name);
        let session = match &tls {
            None => Ok(Session::plain(stream)),
            Some(acceptor) => Session::tls(stream, acceptor),
        };
        match session {
            Ok(session) => {
                let id = ConnectionId::new(self.index, serial);
                let peer = Arc::new(Peer::new(id, remote, local, self.now.ticks));
                if let Err(error) = self.admit(session, tls.is_some(), tag, peer, seat) {
                    self.give_up("cannot serve a connection", &error);
                }
            }
            Err(error) => self.give_up("cannot start TLS", &error),
        }
    }

    /// Counts and logs a newcomer that was closed because it cannot be served.
    #[cold]
    fn give_up(&self, what: &str, error: &dyn std::error::Error) {
        ACCEPT_ERROR.increment();
        if let Some(others) = GIVEN_UP.begin(self.now.ticks.as_millis()) {
            warn!("{what}: {error}{others}");
        }
    }

    /// Carries out the errands of the outbox, and passes on those for connections of other workers.
    ///
    /// Called after each turn of a connection, never during one, so that a resume always finds its
    /// connection blocked, whoever sends it. See `Pipeline::resume`.
    #[inline]
    pub(super) fn deliver(&mut self) {
        // Removing a connection that overflows may add errands.
        while !self.outbox.is_empty() {
            self.deliver_once();
        }
    }

    fn deliver_once(&mut self) {
        let mut outbox = self.outbox.take();
        let is_small = outbox.len() <= KEPT;
        for (to, errand) in outbox.drain() {
            if to.worker() == self.index {
                self.carry_out(to, errand);
            } else {
                self.outgoing.add(to, errand);
            }
        }
        if is_small && self.outbox.is_empty() {
            // Kept for the next errands; the memory of a large burst is given back.
            self.outbox = outbox;
        }
    }

    fn carry_out(&mut self, to: ConnectionId, errand: Errand) {
        let Some(&slot) = self.slots.get(&to) else { return };
        let Some((connection, mut desk)) = self.at(slot) else { return };
        match connection.carry_out(errand, &mut desk) {
            Done::Serve => self.queue(slot),
            Done::Dropped => {}
            Done::TooMuch => {
                connection.overflow();
                self.remove(slot);
            }
            Done::Cut => {
                connection.note_ending(Ending::Error);
                self.remove(slot);
            }
        }
    }

    /// Removes a connection for which letters pile up.
    fn overflow(&mut self, slot: usize) {
        CONNECTIONS_PUSH_OVERFLOW.increment();
        let connection = &mut self.connections[slot];
        connection.note_ending(Ending::Error);
        warn!("{}: closed, its messages pile up unread", connection.peer.remote);
        self.remove(slot);
    }
}
