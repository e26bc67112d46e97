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
//! * `link.rs`: a connection's operations. `token.rs`: what they are known by.
//! * `queue.rs`: the ring. `buffers.rs`: what is received into. `parcel.rs`: what is sent from. Unsafe
//!   code is in these three.
//! * `probe.rs`: whether the kernel can.

#[allow(unsafe_code)]
mod buffers;
mod link;
#[allow(unsafe_code)]
mod parcel;
mod probe;
#[allow(unsafe_code)]
mod queue;
mod token;

use crate::bell::Bell;
use crate::connection::Connection;
use buffer::Pool;
use link::{Link, Receiving};
pub(crate) use probe::probe;
use protocol::Protocol;
pub(crate) use queue::Completion;
use queue::Queue;
use rustix::io::Errno;
use session::{Session, Stream};
use slab::Slab;
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use token::{Kind, Token};

/// Buffers to receive into: enough for all connections that a turn of the loop may learn of, as a rule;
/// with more of them the others wait for the next turn.
const BUFFERS: u16 = 256;

/// Bytes of one: 4 KiB and a cache line, so that their beginnings do not meet in the same cache set.
const BUFFER_BYTES: usize = (4 << 10) + 64;

/// Sends that wait for the end of the turn. More are submitted at once: so their blocks come back while
/// they are in the CPU's cache, and the first replies do not wait for the last.
pub(crate) const SENDS: usize = 32;

/// Bytes that may wait for a connection that has had its share of a turn, before it is not received from.
const UNDELIVERED_BYTES: usize = 64 << 10;

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
}

/// What a connection learns from a completion.
#[derive(Debug)]
pub(crate) enum News {
    /// Bytes were delivered to its session, so many of them to its receive buffer.
    Bytes(usize),
    /// Nothing more will be delivered: its session knows why.
    End,
    /// Its peer has closed its side, behind bytes that have not been received yet.
    HungUp,
    /// Bytes were sent; whether these were all that had departed.
    Sent {
        /// Nothing is on its way any more.
        all: bool,
    },
    /// Sending failed.
    Failed(io::Error),
    /// Nothing receives from it, for now.
    Silent,
    /// Nothing receives from it any more, since the worker drains: its session reads what is left.
    Halted,
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
        })
    }

    /// Begins, on the thread that drives it from now on.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.queue.enable()?;
        self.queue.listen(self.bell.as_fd(), Token::BELL);
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
        entry.insert(Link::new(place, self.generation, slot));
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
        let undelivered = session.undelivered();
        match link.receiving {
            Receiving::Off if wants != Wants::Nothing && !session.has_undelivered() => {
                session.read_directly(false);
                link.receiving = Receiving::On;
                let token = link.begin(Kind::Receive);
                self.queue.receive(session.stream().as_fd(), token);
            }
            Receiving::On if undelivered > wants.room() => {
                link.receiving = Receiving::Ending;
                let operation = link.token(Kind::Receive);
                self.queue.cancel(operation, link.begin(Kind::Cancel));
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
            link.receiving = Receiving::Ending;
            let operation = link.token(Kind::Receive);
            self.queue.cancel(operation, link.begin(Kind::Cancel));
        }
        link.receiving == Receiving::Off
    }

    /// The connection that a completion brings more bytes for than its session has room for.
    #[inline]
    pub(crate) fn overfills<P: Protocol>(
        &self,
        completion: &Completion,
        connections: &Slab<Connection<P>>,
    ) -> Option<usize> {
        if completion.token.kind != Kind::Receive {
            return None;
        }
        let slot = self.links.get(completion.token.link as usize)?.slot?;
        let bytes = usize::try_from(completion.result).ok()?;
        (connections[slot].session.room() < bytes).then_some(slot)
    }

    /// Carries out what a completion says; what it means to which connection.
    pub(crate) fn digest<P: Protocol>(
        &mut self,
        completion: &Completion,
        connections: &mut Slab<Connection<P>>,
        pool: &mut Pool,
    ) -> Option<(usize, News)> {
        let Token { kind, link: place, .. } = completion.token;
        let place = place as usize;
        if kind == Kind::Bell {
            self.answer(completion);
            return None;
        }
        let Some(link) = self.links.get_mut(place).filter(|link| link.knows(completion.token))
        else {
            debug_assert!(false, "INV-LATE: {completion:?}");
            drop(self.queue.take(completion));
            return None;
        };
        if !completion.has_more() {
            link.close(kind);
        }
        let may_grow = link.slot.is_some_and(|slot| connections[slot].may_grow());
        let mut session = link.slot.map(|slot| &mut connections[slot].session);
        let news = match kind {
            Kind::Receive => {
                let bytes = self.queue.take(completion);
                let halts = link.drains && link.receiving == Receiving::Off;
                let news = session
                    .map(|session| receive(completion, bytes.as_deref(), session, may_grow, pool));
                if halts { news.map(|_| News::Halted) } else { news }
            }
            Kind::Send => {
                let news = land(link, completion, session.as_deref_mut(), pool);
                if let (News::Sent { all: false }, Some(session)) = (&news, session) {
                    let token = link.begin(Kind::Send);
                    self.queue.send(session.stream().as_fd(), &mut link.parcel, token);
                }
                Some(news)
            }
            Kind::Watch => Some(News::HungUp),
            Kind::Bell | Kind::Cancel => None,
        };
        match link.slot {
            Some(slot) => news.map(|news| (slot, news)),
            None => {
                self.bury(place);
                None
            }
        }
    }

    fn answer(&mut self, completion: &Completion) {
        self.bell.quieten();
        if !completion.has_more() {
            self.queue.listen(self.bell.as_fd(), Token::BELL);
        }
    }
}

/// What a completion of receiving means to the session of a connection that is still there.
fn receive(
    completion: &Completion,
    bytes: Option<&[u8]>,
    session: &mut Session,
    may_grow: bool,
    pool: &mut Pool,
) -> News {
    match (completion.outcome(), bytes) {
        (Ok(n), Some(bytes)) if n > 0 => News::Bytes(session.deliver(bytes, may_grow, pool)),
        (Ok(_), _) => {
            session.deliver_end(Ok(()));
            News::End
        }
        // It goes on when buffers are lent again: before the next submission.
        (Err(_), _) if completion.is(Errno::NOBUFS) || completion.is(Errno::CANCELED) => {
            News::Silent
        }
        (Err(error), _) => {
            session.deliver_end(Err(error));
            News::End
        }
    }
}

/// Takes back what was sent, and gives its block back when that was all or nobody waits for it.
fn land(
    link: &mut Link,
    completion: &Completion,
    session: Option<&mut Session>,
    pool: &mut Pool,
) -> News {
    let sent = link.parcel.return_with(completion);
    let content = link.parcel.content();
    let news = match (sent, session) {
        (Ok(n), Some(session)) => {
            session.landed(n);
            News::Sent { all: content.is_empty() }
        }
        (Err(error), Some(session)) => {
            content.consume(content.waiting());
            session.lost();
            News::Failed(error)
        }
        (_, None) => {
            content.consume(content.waiting());
            News::Sent { all: true }
        }
    };
    content.release(pool);
    news
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
