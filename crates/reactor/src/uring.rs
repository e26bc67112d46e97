// SPDX-License-Identifier: Apache-2.0
//! [`Uring`]: the driver of a worker that learns of completions.
//!
//! ```text
//!   receive ──▶ Queue ──▶ buffer ──▶ Session::deliver        serve        Session::depart ──▶ Parcel
//!   (once per connection)            (and the buffer is lent again)                            │
//!   Session::landed ◀── completion ◀── Queue ◀── one submission per turn of the loop ◀── send ─┘
//! ```
//!
//! One operation per connection receives until it is cancelled, into buffers that all connections of the
//! worker share. Replies are sent by one operation at a time per connection, from a block that belongs to
//! the kernel meanwhile; the sends of a turn of the loop are submitted together, with the wait for the
//! next completions. `docs/dev/io-uring.md` says who owns what until when.
//!
//! * `worker/completions.rs`: what a completion means to a connection.
//! * `digest.rs`: what a completion does to a link. `link.rs`: a connection's operations. `token.rs`: what they are known by.
//! * `ring.rs`: the ring. `queue.rs`: a worker's, with `buffers.rs`: what is received into, and `parcel.rs`:
//!   what is sent from. `reception.rs`: the listener thread's, which accepts. Unsafe code is in these five.
//! * `probe.rs`: whether the kernel can.

#[allow(unsafe_code)]
mod buffers;
mod digest;
mod link;
#[allow(unsafe_code)]
mod parcel;
mod probe;
#[allow(unsafe_code)]
mod queue;
#[allow(unsafe_code)]
mod reception;
#[allow(unsafe_code)]
mod ring;
mod token;

use crate::bell::Bell;
pub(crate) use digest::News;
use link::{Link, Receiving, Way};
pub(crate) use probe::probe;
use queue::Queue;
pub(crate) use reception::{Arrival, Reception};
pub(crate) use ring::Completion;
use session::{Session, Stream};
use slab::Slab;
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use token::Kind;

/// Buffers to receive into. As connections share them, they are enough for all that a turn of the loop may
/// learn of, unless these send much; then some wait for the next turn.
const BUFFERS: u16 = 256;

/// Bytes of one: what a receive block holds, less a cache line, so that their beginnings do not meet in
/// the same cache set. Memory that no bytes came to is not resident.
const BUFFER_BYTES: usize = (16 << 10) - 64;

/// Sends that wait for the end of the turn. More are submitted at once: so their blocks come back while
/// they are in the CPU's cache, and the first replies do not wait for the last.
pub(crate) const SENDS: usize = 32;

/// Bytes that may wait for a connection that has had its share of a turn, before it is not received from.
const UNDELIVERED_BYTES: usize = 64 << 10;

/// Bytes that come for a connection between two of its turns and are many. To receive them ahead of its turn,
/// and copy them once more then, costs more than the system call that this saves.
const MUCH: usize = 8 << 10;

/// Turns in a row before which much came, after which a connection's session reads its socket itself.
const STREAK: u8 = 4;

/// A worker's ring and the links of its connections.
#[derive(Debug)]
pub(crate) struct Uring {
    queue: Queue,
    links: Slab<Link>,
    /// Completions that came before their turn.
    early: VecDeque<Completion>,
    bell: Arc<Bell>,
    /// How many links there have been.
    generation: u32,
    /// Sends since the last submission.
    sends: usize,
    /// What submitting within a turn has met.
    failed: Option<io::Error>,
    /// What a link's streak begins with: 0, but for tests.
    streak: u8,
}

/// What a connection wants received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Whatever comes.
    Input,
    /// Some more, while it waits for its next turn.
    Some,
    /// Nothing: receiving does not begin again.
    Nothing,
}

impl Wants {
    /// Bytes that may wait for the session before it is not received from.
    fn room(self) -> usize {
        match self {
            Wants::Some => UNDELIVERED_BYTES,
            Wants::Input | Wants::Nothing => 0,
        }
    }
}

impl Uring {
    /// How many buffers there are to receive into.
    #[cfg(test)]
    pub(crate) const BUFFERS: usize = BUFFERS as usize;

    /// How many of them the kernel has.
    #[cfg(test)]
    pub(crate) fn buffers_lent(&self) -> usize {
        self.queue.buffers_lent()
    }

    /// Whether a link's bytes are on their way.
    #[cfg(test)]
    pub(crate) fn is_sending(&self, place: usize) -> bool {
        self.links[place].parcel.is_away()
    }

    /// From now on the sessions of new connections read their sockets.
    #[cfg(test)]
    pub(crate) fn leave_reading_to_sessions(&mut self) {
        self.streak = STREAK;
    }

    /// Whether a link's session reads its socket.
    #[cfg(test)]
    pub(crate) fn is_read_by_session(&self, place: usize) -> bool {
        self.links[place].way == Way::Session
    }

    /// How many links there are.
    #[cfg(test)]
    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// A driver that `bell` wakes.
    ///
    /// # Errors
    ///
    /// When the kernel refuses a ring.
    pub(crate) fn new(bell: Arc<Bell>) -> io::Result<Self> {
        Ok(Uring {
            queue: Queue::new(BUFFERS, BUFFER_BYTES)?,
            links: Slab::new(),
            early: VecDeque::new(),
            bell,
            generation: 0,
            sends: 0,
            failed: None,
            streak: 0,
        })
    }

    /// Begins, on the thread that drives it from now on.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.queue.enable()?;
        self.queue.listen(self.bell.as_fd());
        Ok(())
    }

    /// Submits what was prepared and waits for a completion, at most for as long as `most`.
    ///
    /// # Errors
    ///
    /// When the ring fails.
    pub(crate) fn wait(&mut self, most: Duration) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.sends = 0;
        self.queue.wait(if self.early.is_empty() { most } else { Duration::ZERO })
    }

    /// The next completion.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Completion> {
        self.early.pop_front().or_else(|| self.queue.pop())
    }

    /// Whether so much is to be sent that it should be submitted before the end of the turn.
    #[inline]
    pub(crate) fn is_laden(&self) -> bool {
        self.sends >= SENDS
    }

    /// Submits what was prepared. Completions of sending are next then; others keep their order.
    pub(crate) fn submit(&mut self) {
        self.sends = 0;
        if let Err(error) = self.queue.submit() {
            self.failed = Some(error);
        }
    }

    /// The next completion of sending that [`Uring::submit`] has brought.
    pub(crate) fn pop_sent(&mut self) -> Option<Completion> {
        loop {
            let completion = self.queue.pop()?;
            if completion.token.kind == Kind::Send {
                return Some(completion);
            }
            self.early.push_back(completion);
        }
    }

    /// A link for the connection in `slot`, not yet received from.
    pub(crate) fn enter(&mut self, slot: usize) -> usize {
        let entry = self.links.vacant_entry();
        self.generation = self.generation.wrapping_add(1);
        let place = entry.key();
        entry.insert(Link::new(place, self.generation, slot, self.streak));
        place
    }

    /// Ends a link: its socket is closed once its operations have ended, which this hastens.
    pub(crate) fn leave(&mut self, place: usize, socket: Stream) {
        let link = &mut self.links[place];
        let kinds = [
            (link.receiving != Receiving::Off, Kind::Receive),
            (link.is_watched, Kind::Watch),
            (link.parcel.is_away(), Kind::Send),
        ];
        for (_, kind) in kinds.into_iter().filter(|(is_open, _)| *is_open) {
            let operation = link.token(kind);
            self.queue.cancel(operation, link.begin(Kind::Cancel));
        }
        link.part(socket);
        self.bury(place);
    }

    /// Closes the socket of a link that nothing keeps.
    fn bury(&mut self, place: usize) {
        if self.links[place].is_over() {
            self.links.remove(place);
        }
    }

    /// After a connection was served: sends what its session lets depart, and receives or stops receiving.
    #[inline]
    pub(crate) fn settle(&mut self, place: usize, session: &mut Session, wants: Wants) {
        let link = &mut self.links[place];
        if !link.parcel.is_away() && session.depart(link.parcel.content()) {
            let token = link.begin(Kind::Send);
            self.queue.send(session.stream().as_fd(), &mut link.parcel, token);
            self.sends += 1;
        }
        link.take_turn();
        let undelivered = session.undelivered();
        match link.receiving {
            Receiving::Off if wants != Wants::Nothing && !session.has_undelivered() => {
                link.way = if link.sends_much() { Way::Session } else { Way::Ring };
                session.read_directly(link.way == Way::Session);
                link.receiving = Receiving::On;
                let token = link.begin(Kind::Receive);
                match link.way {
                    Way::Ring => self.queue.receive(session.stream().as_fd(), token),
                    Way::Session => self.queue.await_input(session.stream().as_fd(), token),
                }
            }
            Receiving::On if link.is_to_change_ways() => stop(&mut self.queue, link),
            Receiving::On if undelivered > wants.room() => {
                stop(&mut self.queue, link);
                if !link.is_watched {
                    link.is_watched = true;
                    let token = link.begin(Kind::Watch);
                    self.queue.watch(session.stream().as_fd(), token);
                }
            }
            _ => {}
        }
    }

    /// Stops receiving for the connection's last turns; whether nothing receives by now. If not,
    /// [`News::Halted`] follows.
    pub(crate) fn halt(&mut self, place: usize) -> bool {
        let link = &mut self.links[place];
        link.drains = true;
        if link.receiving == Receiving::On {
            stop(&mut self.queue, link);
        }
        link.receiving == Receiving::Off
    }
}

/// Stops receiving; what had come by then is still to be told.
fn stop(queue: &mut Queue, link: &mut Link) {
    link.receiving = Receiving::Ending;
    let operation = link.token(Kind::Receive);
    queue.cancel(operation, link.begin(Kind::Cancel));
}

impl Drop for Uring {
    fn drop(&mut self) {
        let links = &mut self.links;
        self.queue.end(|completion| {
            let link = links.get_mut(completion.token.link as usize);
            if let Some(link) = link.filter(|link| link.knows(completion.token))
                && completion.token.kind == Kind::Send
            {
                // What was not sent is lost: its connection is gone.
                let _ = link.parcel.return_with(completion);
            }
        });
    }
}
