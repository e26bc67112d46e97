// SPDX-License-Identifier: Apache-2.0
//! The service's side of the contract: [`Execute`], [`Control`], [`Context`].

use crate::{ConnectionId, Directory, Malformed, Outbox, Protocol, Stage, Ticket};
use buffer::SendBuf;
use clock::{Now, Ticks};

/// A service: carries out the requests of protocol `P`. Each worker has its own.
pub trait Execute<P: Protocol> {
    /// Asks the CPU for the memory this request will need. Called for a request of a batch at each
    /// [`Stage`], some time before it is executed and while those before it are; must change nothing.
    ///
    /// `connection` is as those requests leave it that have been executed by now: one between them and
    /// this request may change it yet, so what is read of it is good for a guess.
    #[inline]
    fn prefetch(&self, connection: &P, request: &P::Request<'_>, stage: Stage) {
        let _ = (connection, request, stage);
    }

    /// Carries out one request and appends its reply to `out`.
    ///
    /// `connection` is the codec of this connection with the state its requests have set up.
    fn execute(
        &mut self,
        connection: &mut P,
        request: P::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control;

    /// Hears of input that was no request, after its reply was written: for counting and logging.
    #[inline]
    fn rejected(&mut self, connection: &P, malformed: &Malformed) {
        let _ = (connection, malformed);
    }

    /// Hears that a connection has ended, whoever ended it and also if it never sent a request: the
    /// last call for it. A service gives up here what it keeps on the connection's behalf, such as
    /// subscriptions and its place in a queue of those who wait.
    #[inline]
    fn closed(&mut self, connection: &mut P, context: &mut Context<'_>) {
        let _ = (connection, context);
    }

    /// Does background work for at most `budget` small steps, and sends what is due to connections:
    /// the end of a wait that took too long, word of an expired key. Called once per turn of the
    /// worker's event loop, also while no request arrives. Returns whether there is more to do at
    /// once: then the worker does not sleep before its next turn.
    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        let _ = (now, budget, outbox);
        false
    }

    /// When `maintain` has something to do at the latest, in which the worker's sleep ends; asked each
    /// time before it sleeps. A moment that has passed keeps the worker awake, so `maintain` must
    /// move it on. A worker sleeps for a fraction of a second at most, whatever is said here.
    #[inline]
    fn wake_at(&self) -> Option<Ticks> {
        None
    }

    /// Hears that the worker is about to sleep, or ends: nothing is executed or maintained before
    /// it wakes up. A service over a store passes it on to the store's `rest`, for other workers may
    /// wait for this one's handle.
    #[inline]
    fn rest(&mut self) {}

    /// Hears what the buffers of the worker's connections take, lent and kept: called before
    /// `maintain`, once per turn of the loop at most, when it has changed by enough to matter. A
    /// service over a store passes it on to the store's `reserve`, so that one limit bounds both.
    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        let _ = buffers;
    }
}

/// What the buffers of a worker's connections take; see [`Execute::buffers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Bytes of memory in all.
    pub bytes: u64,
    /// Those of them that hold replies and messages which wait to be sent.
    pub unsent: u64,
}

/// What becomes of the connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// It goes on.
    Continue,
    /// It is closed, after everything written to it has been sent.
    Close,
    /// The request was executed and its reply comes later, by [`Outbox::resume`] with the
    /// [`Context::ticket`] that the request saw. Until then nothing more of this connection is executed,
    /// its pipelined requests wait, and its idle and read timeouts stand still. Messages reach it, and
    /// when its peer closes it is removed.
    Block,
    /// As [`Control::Block`], but the request was **not** executed: once the connection is resumed it
    /// is parsed and executed again. The service must have written nothing for it.
    Defer,
}

/// What a service may know and do besides its reply.
#[derive(Debug)]
#[non_exhaustive]
pub struct Context<'a> {
    /// The time of this turn of the event loop.
    pub now: Now,
    /// The connection that sent the request.
    pub connection: ConnectionId,
    /// The number of the connection's next block: what resumes it if this request returns
    /// [`Control::Block`] or [`Control::Defer`].
    pub ticket: Ticket,
    /// Bytes for other connections.
    pub outbox: &'a mut Outbox,
    /// Who is connected to this process.
    pub directory: &'a Directory,
}

impl<'a> Context<'a> {
    /// A context for requests of `connection` at `now`. Its ticket is the first; the loop over requests
    /// sets the right one.
    pub fn new(
        now: Now,
        connection: ConnectionId,
        outbox: &'a mut Outbox,
        directory: &'a Directory,
    ) -> Self {
        Context { now, connection, ticket: Ticket::default(), outbox, directory }
    }
}
