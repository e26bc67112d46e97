// SPDX-License-Identifier: Apache-2.0
//! [`Uring`]: the io_uring driver of a worker: it works with completions.
//!
//! ```text
//!   receive ──▶ Queue ──▶ buffer ──▶ Session::deliver        serve        Session::depart ──▶ Parcel
//!   (once per connection)            (and the buffer is lent again)                            │
//!   Session::landed ◀── completion ◀── Queue ◀── one submission per turn of the loop ◀── send ─┘
//! ```
//!
//! One operation per connection receives until it is cancelled, into buffers that all connections of the
//! worker share. Replies are sent by one operation at a time per connection, from a block that belongs to the
//! kernel during the operation. The sends of a turn of the loop are submitted together, by the same system
//! call that waits for the next completions. `docs/dev/io-uring.md` describes who owns which memory until
//! when.
//!
//! * `worker/completions.rs`: applies completions to connections.
//! * `digest.rs`: applies a completion to a link. `link.rs`: a connection's operations. `token.rs`: the ids
//!   of operations.
//! * `ring.rs`: a ring. `queue.rs`: the ring of a worker, with `buffers.rs`, the memory for receiving, and
//!   `parcel.rs`, the memory for sending. Unsafe code is in these four.
//! * `probe.rs`: tells whether the kernel can do all this.

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
mod ring;
mod token;

use crate::Seat;
use crate::bell::Bell;
use crate::connection::SEND_MAX;
use crate::datagram::Ports;
pub(crate) use digest::News;
use link::{Link, Receiving, Way};
pub(crate) use probe::{probe, refusal};
use queue::Queue;
pub(crate) use ring::Completion;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use session::{Session, Stream};
use slab::Slab;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
use token::{Kind, Token};

/// Number of receive buffers. Connections share them, so they suffice for all connections with input in one
/// turn of the loop, unless these send much; then some input waits for the next turn.
const BUFFERS: u16 = 64;

/// Bytes of a receive buffer: those of a receive block, less a cache line, so that the beginnings of the
/// buffers do not fall into the same cache set. Memory that was never written to is not resident.
const BUFFER_BYTES: usize = (16 << 10) - 64;

/// The most sends that wait for the end of the turn. When there are more, they are submitted at once, so that
/// their blocks come back while they are in the CPU's cache and the first replies do not wait for the last.
pub(crate) const SENDS: usize = 32;

/// The same in copied bytes: large replies go before many more of them are made, so that few are in memory at the same time.
const SENDS_BYTES: usize = 1 << 20;

/// Number of waiting bytes at which receiving stops for a connection that has had its share of a turn.
const UNDELIVERED_BYTES: usize = 64 << 10;

/// Number of bytes between two turns of a connection that counts as much. Receiving so many ahead of the
/// turn, and copying them once more in it, costs more than the system call that this saves.
const MUCH: usize = 8 << 10;

/// The same, after which a connection's session reads its socket itself at once: all that is received ahead is in memory
/// at the same time.
const FLOOD: usize = 128 << 10;

/// Number of consecutive turns with much input after which a connection's session reads its socket itself.
const STREAK: u8 = 4;

/// Bytes in the receive buffers of a worker's connections from which on sessions read their sockets themselves. The ring takes some
/// hundred kilobytes from a socket before it can be told to stop, also for a request that has to wait; a session takes what
/// it is to.
const CROWDED_BYTES: usize = 8 << 20;

/// A worker's ring and the links of its connections.
#[derive(Debug)]
pub(crate) struct Uring {
    queue: Queue,
    links: Slab<Link>,
    /// Completions that were popped early and are still to be handled.
    early: VecDeque<Completion>,
    bell: Arc<Bell>,
    /// The number of links made so far.
    generation: u32,
    /// Sends of connections that were served since the last submission.
    sends: usize,
    /// Copied bytes of all sends since then.
    send_bytes: usize,
    /// Sockets at which datagrams have arrived, and whether the ring will tell of the next.
    datagrams: Vec<(usize, bool)>,
    /// An error of submitting within a turn.
    failed: Option<io::Error>,
    /// Receive buffers have much, until they have half of [`CROWDED_BYTES`].
    is_crowded: bool,
    /// How a new link receives: as [`first_way`] says, except in tests.
    first_way: fn(&Stream) -> Way,
}

/// How much a connection wants received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// All input.
    Input,
    /// A limited amount, while it waits for its next turn.
    Some,
    /// Nothing for now: receiving stops.
    Later,
    /// Nothing: receiving is not started again.
    Nothing,
}

impl Wants {
    /// Number of waiting bytes at which receiving stops.
    fn room(self) -> usize {
        match self {
            Wants::Some => UNDELIVERED_BYTES,
            Wants::Input | Wants::Later | Wants::Nothing => 0,
        }
    }

    /// Whether receiving starts.
    fn more(self) -> bool {
        matches!(self, Wants::Input | Wants::Some)
    }
}

impl Uring {
    /// How many buffers there are to receive into.
    #[cfg(test)]
    pub(crate) const BUFFERS: usize = BUFFERS as usize;

    /// How many of them are lent to the kernel.
    #[cfg(test)]
    pub(crate) fn buffers_lent(&self) -> usize {
        self.queue.buffers_lent()
    }

    /// Whether a link's bytes are on their way.
    #[cfg(test)]
    pub(crate) fn is_sending(&self, place: usize) -> bool {
        self.links[place].parcel.is_away()
    }

    /// From now on the sessions of new connections read their sockets themselves.
    #[cfg(test)]
    pub(crate) fn leave_reading_to_sessions(&mut self) {
        self.first_way = |_| Way::Session;
    }

    /// From now on the ring receives for all new connections, as it may where nobody writes during a step.
    #[cfg(test)]
    pub(crate) fn receive_for_all(&mut self) {
        self.first_way = |_| Way::Ring;
    }

    /// Whether a link's session reads its socket itself.
    #[cfg(test)]
    pub(crate) fn is_read_by_session(&self, place: usize) -> bool {
        self.links[place].way == Way::Session
    }

    /// Lets a link receive from `other`, at which nothing happens, as if bytes had come but the kernel reported nothing
    /// more.
    #[cfg(test)]
    pub(crate) fn deafen(&mut self, place: usize, other: BorrowedFd<'_>) {
        let link = &mut self.links[place];
        let token = link.begin(Kind::Receive);
        self.queue.cancel(token, link.begin(Kind::Cancel));
        for _ in 0..2 {
            while self.early.is_empty() {
                self.queue.wait(Duration::from_secs(1)).expect("it waits");
                self.early.extend(self.queue.pop());
            }
            link.close(self.early.pop_front().expect("it has come").token.kind);
        }
        link.receiving = Receiving::On;
        self.queue.receive(other, token);
        link.arrive(1);
    }

    /// How many links there are.
    #[cfg(test)]
    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// A driver that is woken by `bell`.
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
            send_bytes: 0,
            datagrams: Vec::new(),
            failed: None,
            is_crowded: false,
            first_way,
        })
    }

    /// Starts the driver, on the thread that uses it from now on.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.queue.enable()?;
        self.queue.listen(self.bell.as_fd());
        Ok(())
    }

    /// Has the ring tell of datagrams at the sockets of `ports`, on the thread that [`Uring::begin`] was called on.
    pub(crate) fn await_datagrams(&mut self, ports: &mut Ports) {
        for (number, socket) in ports.sockets().enumerate() {
            self.queue.await_input(socket.as_fd(), Token::datagrams(number));
        }
    }

    /// Tells `ports` where datagrams have arrived.
    pub(crate) fn hear_of_datagrams(&mut self, ports: &mut Ports) {
        for (number, has_more) in self.datagrams.drain(..) {
            ports.on_readable(number);
            if !has_more && let Some(socket) = ports.sockets().nth(number) {
                self.queue.await_input(socket.as_fd(), Token::datagrams(number));
            }
        }
    }

    /// Submits the prepared operations and waits for a completion, for at most `most`.
    ///
    /// # Errors
    ///
    /// When the ring fails.
    pub(crate) fn wait(&mut self, most: Duration) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        (self.sends, self.send_bytes) = (0, 0);
        self.queue.wait(if self.early.is_empty() { most } else { Duration::ZERO })
    }

    /// The next completion.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Completion> {
        self.early.pop_front().or_else(|| self.queue.pop())
    }

    /// Whether so many sends are prepared that they should be submitted before the end of the turn.
    #[inline]
    pub(crate) fn is_laden(&self) -> bool {
        self.sends >= SENDS || self.send_bytes >= SENDS_BYTES
    }

    /// Submits the prepared operations. Completions of sends can then be popped first; the others
    /// keep their order.
    pub(crate) fn submit(&mut self) {
        (self.sends, self.send_bytes) = (0, 0);
        if let Err(error) = self.queue.submit() {
            self.failed = Some(error);
        }
    }

    /// The next completion of a send that [`Uring::submit`] has brought.
    pub(crate) fn pop_sent(&mut self) -> Option<Completion> {
        loop {
            let completion = self.queue.pop()?;
            if completion.token.kind == Kind::Send {
                return Some(completion);
            }
            self.early.push_back(completion);
        }
    }

    /// Learns how many bytes the receive buffers of the worker's connections have.
    pub(crate) fn note_received(&mut self, bytes: usize) {
        self.is_crowded = bytes > if self.is_crowded { CROWDED_BYTES / 2 } else { CROWDED_BYTES };
    }

    /// Makes a link for the connection in `slot`; receiving has not started.
    pub(crate) fn enter(&mut self, slot: usize, socket: &Stream) -> usize {
        let entry = self.links.vacant_entry();
        self.generation = self.generation.wrapping_add(1);
        let place = entry.key();
        let way = if self.is_crowded { Way::Session } else { (self.first_way)(socket) };
        entry.insert(Link::new(place, self.generation, slot, way));
        place
    }

    /// Ends a link: cancels its operations; its socket is closed once they have ended, and its seat is free then.
    pub(crate) fn leave(&mut self, place: usize, socket: (Stream, Seat)) {
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

    /// Closes the socket of a link whose operations have ended.
    fn bury(&mut self, place: usize) {
        if self.links[place].is_over() {
            self.links.remove(place);
        }
    }

    /// Called after a connection was served: sends what its session lets depart, and starts or stops
    /// receiving.
    #[inline]
    pub(crate) fn settle(&mut self, place: usize, session: &mut Session, wants: Wants) {
        let link = &mut self.links[place];
        if !link.parcel.is_away() && session.depart(link.parcel.content()) {
            self.sends += 1;
            self.send_bytes += send(&mut self.queue, link, session);
        }
        link.take_turn();
        let undelivered = session.undelivered();
        match link.receiving {
            Receiving::Off if wants.more() && !session.has_undelivered() => {
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
            Receiving::On if undelivered > wants.room() || wants == Wants::Later => {
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

    /// Called by each sweep: leaves reading to the session of a link while buffers have much, or looks whether the end of a
    /// link's stream, or a part of it, has come without being reported, and if so receives anew, which finds it.
    ///
    /// The kernel may keep it back for ever: if a reset comes before the receiving operation has taken the bytes that
    /// came before it, the operation takes those and waits for another event (liburing's issue 1549, of kernels before
    /// Linux 7.0, is the same of unix sockets).
    ///
    /// Returns whether the next sweep has to look, too.
    pub(crate) fn look_for_unreported(&mut self, place: usize, session: &mut Session) -> bool {
        let link = &mut self.links[place];
        let changes = self.is_crowded && link.leave_to_session();
        if changes || link.is_in_doubt() && is_readable(session.stream().as_fd()) {
            stop(&mut self.queue, link);
        }
        link.will_be_in_doubt()
    }

    /// Stops receiving before the connection's last turns. Returns whether receiving has stopped
    /// already; if not, [`News::Halted`] follows.
    pub(crate) fn halt(&mut self, place: usize) -> bool {
        let link = &mut self.links[place];
        link.drains = true;
        if link.receiving == Receiving::On {
            stop(&mut self.queue, link);
        }
        link.receiving == Receiving::Off
    }
}

/// How a connection receives until it has shown how much it sends.
///
/// A session of a unix socket always reads it itself. From Linux 6.17 on an operation that receives from a unix socket
/// again and again may leave bytes there that came while it took earlier ones, and wait for more (as with an end,
/// liburing's issue 1549); from a TCP socket it takes them.
fn first_way(socket: &Stream) -> Way {
    match socket {
        Stream::Tcp(_) => Way::Ring,
        Stream::Unix(_) => Way::Session,
    }
}

/// Whether bytes wait at `socket`, or its peer has closed its side.
fn is_readable(socket: BorrowedFd<'_>) -> bool {
    let mut sockets = [PollFd::from_borrowed_fd(socket, PollFlags::IN | PollFlags::RDHUP)];
    // What cannot be asked for is left to the next time.
    poll(&mut sockets, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Sends the parcel of a link, or a part of it. Returns how many bytes that are in memory for it alone.
#[inline]
fn send(queue: &mut Queue, link: &mut Link, session: &mut Session) -> usize {
    let token = link.begin(Kind::Send);
    let bytes = link.parcel.content().copied().min(SEND_MAX);
    queue.send(session.stream().as_fd(), &mut link.parcel, token);
    bytes
}

/// Stops receiving; completions of bytes that came before are still to follow.
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
                // Unsent bytes are lost, because their connection is gone.
                let _ = link.parcel.return_with(completion);
            }
        });
    }
}
