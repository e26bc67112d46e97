// SPDX-License-Identifier: Apache-2.0
//! The service's side of the contract: [`Execute`], [`Control`], [`Context`].

use crate::{ConnectionId, Directory, Malformed, Outbox, Protocol};
use buffer::SendBuf;
use clock::Now;

/// A service: carries out the requests of protocol `P`. Each worker has its own.
pub trait Execute<P: Protocol> {
    /// Asks the CPU for the memory this request will need. Called for all requests of a batch at each
    /// [`Stage`] before the first of them is executed; must change nothing.
    #[inline]
    fn prefetch(&self, request: &P::Request<'_>, stage: Stage) {
        let _ = (request, stage);
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
    fn rejected(&mut self, malformed: &Malformed) {
        let _ = malformed;
    }

    /// Does background work for at most `budget` small steps. Called once per turn of the worker's
    /// event loop, also while no request arrives. Returns whether there is more to do at once: then
    /// the worker does not sleep before its next turn.
    #[inline]
    fn maintain(&mut self, now: Now, budget: usize) -> bool {
        let _ = (now, budget);
        false
    }

    /// Hears that the worker is about to sleep, or ends: nothing is executed or maintained before
    /// it wakes up. A service over a store passes it on to the store's `rest`, for other workers may
    /// wait for this one's handle.
    #[inline]
    fn rest(&mut self) {}

    /// Hears how many bytes the buffers of the worker's connections take, lent and kept: called
    /// before `maintain`, once per turn of the loop at most, when it has changed by enough to
    /// matter. A service over a store passes it on to the store's `reserve`, so that one limit
    /// bounds both.
    #[inline]
    fn buffers(&mut self, bytes: u64) {
        let _ = bytes;
    }
}

/// How far a prefetch goes; see [`Execute::prefetch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Memory whose address follows from the request alone.
    First,
    /// Memory whose address is found in what [`Stage::First`] brought.
    Second,
    /// Memory whose address is found in what [`Stage::Second`] brought.
    Third,
}

impl Stage {
    /// All stages, in the order in which they are gone through.
    pub const ALL: [Stage; 3] = [Stage::First, Stage::Second, Stage::Third];
}

/// What becomes of the connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Control {
    /// It goes on.
    Continue,
    /// It is closed, after everything written to it has been sent.
    Close,
}

/// What a service may know and do besides its reply.
#[derive(Debug)]
#[non_exhaustive]
pub struct Context<'a> {
    /// The time of this turn of the event loop.
    pub now: Now,
    /// The connection that sent the request.
    pub connection: ConnectionId,
    /// Bytes for other connections.
    pub outbox: &'a mut Outbox,
    /// Who is connected to this process.
    pub directory: &'a Directory,
}

impl<'a> Context<'a> {
    /// A context for requests of `connection` at `now`.
    pub fn new(
        now: Now,
        connection: ConnectionId,
        outbox: &'a mut Outbox,
        directory: &'a Directory,
    ) -> Self {
        Context { now, connection, outbox, directory }
    }
}
