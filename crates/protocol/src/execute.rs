// SPDX-License-Identifier: Apache-2.0
//! The service's side of the contract: [`Execute`], [`Control`], [`Context`].

use crate::{ConnectionId, Directory, Malformed, Outbox, Protocol, Stage, Ticket};
use buffer::{Lent, SendBuf};
use clock::{Now, Ticks};
use std::time::Duration;

/// A service: carries out the requests of protocol `P`. Each worker has its own.
pub trait Execute<P: Protocol> {
    /// Prefetches the memory that this request will need. Called once per [`Stage`] for each request of a
    /// batch, while requests before it are executed; must change nothing.
    ///
    /// `connection` reflects the requests that have been executed so far. One that is still to be executed
    /// before this request may change it, so what is read from it is only a guess.
    #[inline]
    fn prefetch(&self, connection: &P, request: &P::Request<'_>, stage: Stage) {
        let _ = (connection, request, stage);
    }

    /// [Prefetches](Execute::prefetch) for several requests that follow each other. A service may do for all at once
    /// what it would do for each of them.
    ///
    /// Returns whether the next stage has anything to do for them. If not, it may be left out.
    #[inline]
    #[must_use]
    fn prefetch_all<'r, 'a: 'r>(
        &self,
        connection: &P,
        requests: impl Iterator<Item = &'r P::Request<'a>>,
        stage: Stage,
    ) -> bool
    where
        P::Request<'a>: 'r,
    {
        requests.for_each(|request| self.prefetch(connection, request, stage));
        self.goes_on_after(stage)
    }

    /// Whether [`Execute::prefetch`] has anything to do at the stage after this one.
    #[inline]
    fn goes_on_after(&self, stage: Stage) -> bool {
        let _ = stage;
        true
    }

    /// Carries out one request and appends its reply to `out`.
    ///
    /// `connection` is the codec of this connection with the state that its requests have set up.
    fn execute(
        &mut self,
        connection: &mut P,
        request: P::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control;

    /// A place for the next bytes of a body, `most` at the most, to receive them into. `None` if they are to come as
    /// [parts](crate::Parsed::Part).
    #[inline]
    fn place(&mut self, most: usize, context: &mut Context<'_>) -> Option<&mut [u8]> {
        let _ = (most, context);
        None
    }

    /// Called when `n` bytes have been received into the last place of the connection.
    #[inline]
    fn placed(&mut self, n: usize, context: &mut Context<'_>) {
        let _ = (n, context);
    }

    /// Called after the reply to malformed input was written: for counting and logging.
    #[inline]
    fn rejected(&mut self, connection: &P, malformed: &Malformed) {
        let _ = (connection, malformed);
    }

    /// Called when a connection has been accepted, before its first request: for logging. It is in the
    /// directory.
    #[inline]
    fn opened(&mut self, connection: &mut P, context: &mut Context<'_>) {
        let _ = (connection, context);
    }

    /// Called when a connection has ended, whichever side ended it, even if it never sent a
    /// request. It is in the directory for the last time. This is the last call for the connection: the service
    /// releases what it keeps for it, such as subscriptions and its place in a queue of waiting clients.
    #[inline]
    fn closed(&mut self, connection: &mut P, ending: Ending, context: &mut Context<'_>) {
        let _ = (connection, ending, context);
    }

    /// Puts into the outbox what requests have gathered for other connections, so that it is sent in one piece.
    /// Called before the replies of a connection are written: who has got a reply finds what the request has caused.
    #[inline]
    fn post(&mut self, outbox: &mut Outbox) {
        let _ = outbox;
    }

    /// Does background work of at most `budget` small steps, and sends what is due to connections,
    /// such as the timeout of a blocked request or the event of an expired key. Called once per
    /// turn of the worker's event loop, also while no request arrives. Returns whether there is
    /// more to do at once: then the worker does not sleep before its next turn.
    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        let _ = (now, budget, outbox);
        false
    }

    /// The time by which `maintain` must be called again; the worker's sleep ends then. Asked each time
    /// before the worker sleeps. A time in the past keeps the worker awake, so `maintain` must move it on. A
    /// worker sleeps for a fraction of a second at most, whatever is returned here, unless it
    /// [may nap](Execute::may_nap).
    #[inline]
    fn wake_at(&self) -> Option<Ticks> {
        None
    }

    /// Whether `maintain` has nothing to do for as long as `nap`, unless something comes to the worker
    /// meanwhile or the time of [`Execute::wake_at`] does. Then the worker may sleep for that long; else it
    /// wakes up by the tick. Asked only after a tick in which nothing has come, so it may take a microsecond.
    ///
    /// Other workers can give this one something to do while it naps. A service that shares such work lets
    /// the worker that has caused it do it, or does without it for `nap`.
    #[inline]
    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        let _ = (now, nap);
        false
    }

    /// Called before the worker sleeps or ends: nothing is executed or maintained before it wakes up. A
    /// service over a store calls the store's `rest`, because other workers may be waiting for this worker's
    /// handle.
    #[inline]
    fn rest(&mut self) {}

    /// Reports the memory of the buffers of the worker's connections, in use and pooled. Called
    /// before `maintain`, at most once per turn of the loop, when it has changed by enough to
    /// matter. A service over a store passes it on to the store's `reserve`, so that one limit
    /// bounds both.
    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        let _ = buffers;
    }
}

/// Why a connection has ended; see [`Execute::closed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its peer has closed it, or a request or an errand has asked for that.
    Normal,
    /// Its peer sent nothing, or no more of a request, for longer than it may.
    Idle,
    /// Something was wrong: with its socket, with TLS, with what its peer sent; or its peer did not read, or
    /// was over a limit.
    Error,
    /// The process ends.
    Shutdown,
}

/// Memory of the buffers of a worker's connections; see [`Execute::buffers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Bytes of memory in all.
    pub bytes: u64,
    /// The part that holds replies and messages waiting to be sent.
    pub unsent: u64,
}

/// What becomes of the connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The connection goes on.
    Continue,
    /// The connection is closed after everything written to it has been sent.
    Close,
    /// The request was executed and its reply comes later, by [`Outbox::resume`] with the [`Context::ticket`]
    /// that the request saw. Until then no further request of this connection is executed, its pipelined
    /// requests wait, and its idle and read timeouts are suspended. Messages still reach it, and it is
    /// removed when its peer closes.
    Block,
    /// As [`Control::Block`], but the request was **not** executed: once the connection is resumed it
    /// is parsed and executed again. The service must have written nothing for it.
    Defer,
    /// As [`Control::Block`], but the reply has begun: its pieces follow by [`Outbox::push`], and the last one by
    /// [`Outbox::resume`]. A peer that has closed its side still gets all of them, and a server that stops waits for
    /// them within its time for that.
    Stream,
}

/// What a service may read and use besides its reply.
#[derive(Debug)]
#[non_exhaustive]
pub struct Context<'a> {
    /// The time of this turn of the event loop.
    pub now: Now,
    /// The connection that sent the request.
    pub connection: ConnectionId,
    /// The number of the connection's next block: if this request returns [`Control::Block`] or
    /// [`Control::Defer`], this ticket resumes the connection.
    pub ticket: Ticket,
    /// The request came in a datagram: all that its client is sent is the reply, so a request that blocks has none.
    pub is_datagram: bool,
    /// Messages and commands for other connections.
    pub outbox: &'a mut Outbox,
    /// Who is connected to this process.
    pub directory: &'a Directory,
    /// The block that a large request has for itself: its value can be kept with [`Lent::share`] instead of a copy.
    pub lent: Option<Lent>,
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
        let ticket = Ticket::default();
        Context { now, connection, ticket, is_datagram: false, outbox, directory, lent: None }
    }
}
