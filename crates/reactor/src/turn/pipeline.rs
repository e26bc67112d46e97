// SPDX-License-Identifier: Apache-2.0
//! [`Pipeline`]: one connection's position in its stream of requests.

use buffer::RecvBuf;
use protocol::{Protocol, Ticket};

/// One connection's position in its stream of requests, with the state of its protocol.
#[derive(Debug, Default)]
pub struct Pipeline<P: Protocol> {
    pub(super) protocol: P,
    pub(super) cursor: P::Cursor,
    /// Bytes to drop before the next request, as they arrive.
    pub(super) skip: usize,
    /// The ticket of the present block, or of the next one.
    ticket: Ticket,
    blocked: Option<Blocked>,
}

/// Why a pipeline is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// A request waits for an event. Nobody waits for its reply once the peer has closed its side.
    Waiting,
    /// A reply has begun, and its pieces follow.
    Streaming,
}

impl<P: Protocol> Pipeline<P> {
    /// The start of a stream.
    pub fn new(protocol: P) -> Self {
        Pipeline {
            protocol,
            cursor: P::Cursor::default(),
            skip: 0,
            ticket: Ticket::default(),
            blocked: None,
        }
    }

    /// The codec, with the state that requests have set up.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// As [`Pipeline::protocol`], but mutable.
    pub fn protocol_mut(&mut self) -> &mut P {
        &mut self.protocol
    }

    /// Whether the connection is in the middle of a request, given the bytes that wait in `recv`.
    pub fn is_inside_request(&self, recv: &RecvBuf) -> bool {
        self.skip > 0 || !recv.is_empty() || P::is_inside_request(&self.cursor)
    }

    /// Whether a request waits for [`Pipeline::resume`].
    pub fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// Whether it waits for the rest of a reply that has begun.
    pub(crate) fn is_streaming(&self) -> bool {
        self.blocked == Some(Blocked::Streaming)
    }

    /// Ends the present block, if `ticket` is its ticket; returns whether it is.
    ///
    /// A resume cannot arrive before the block, so early tickets need not be stored: a ticket becomes known
    /// in `execute`, the loop over requests blocks the pipeline before it returns, and only then does its
    /// caller, on the same thread, take messages, from this worker or from another.
    pub fn resume(&mut self, ticket: Ticket) -> bool {
        if !self.is_blocked() || ticket != self.ticket {
            return false;
        }
        self.blocked = None;
        self.ticket = self.ticket.next();
        true
    }

    /// The ticket that resumes the present block, or the next one.
    pub(super) fn ticket(&self) -> Ticket {
        self.ticket
    }

    pub(super) fn block(&mut self, blocked: Blocked) {
        self.blocked = Some(blocked);
    }

    /// How many of the next bytes to arrive are a body that is taken in parts.
    #[inline]
    pub(crate) fn body_left(&self) -> usize {
        P::body_left(&self.cursor)
    }

    /// Whether a request is blocked whose body is taken in parts: these are still to come.
    #[inline]
    pub(crate) fn awaits_body(&self) -> bool {
        self.is_blocked() && self.body_left() > 0
    }

    /// Moves past `n` of them.
    pub(crate) fn skip_body(&mut self, n: usize) {
        P::skip_body(&mut self.cursor, n);
    }

    /// Drops the bytes that are to be skipped from the front of `recv`.
    pub(super) fn drop_skipped(&mut self, recv: &mut RecvBuf) {
        let n = self.skip.min(recv.filled().len());
        recv.consume(n);
        self.skip -= n;
    }

    /// Moves past the first `n` bytes of `recv`, some of which may not have arrived.
    pub(super) fn advance(&mut self, n: usize, recv: &mut RecvBuf) {
        self.skip = n;
        self.drop_skipped(recv);
    }
}
