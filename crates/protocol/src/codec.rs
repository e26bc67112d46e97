// SPDX-License-Identifier: Apache-2.0
//! The codec's side of the contract: [`Protocol`], [`Parsed`], [`Malformed`].

use crate::Foreign;
use std::borrow::Cow;

/// A codec, and at the same time one connection's protocol state: what its requests have set up, such
/// as a RESP version, a selected database or a transaction's queue.
///
/// Parsing only reads that state ([`Protocol::parse`] takes `&self`); executing a request may change
/// it. What parsing itself must remember between two calls is its [`Protocol::Cursor`].
pub trait Protocol {
    /// The name for logs and metrics.
    const NAME: &'static str;

    /// What a client is told, before its connection is closed, when there are too many.
    const TOO_MANY_CONNECTIONS: &'static [u8];

    /// The same, where it depends on the kind of connection that the client wanted to make: a server
    /// asks a value made for each of its listeners.
    fn too_many_connections(&self) -> &'static [u8] {
        Self::TOO_MANY_CONNECTIONS
    }

    /// One request. Borrows the input: no copy, no allocation.
    type Request<'a>;

    /// Where the parser stands between two requests, for protocols in which one line can hold many (a
    /// multi-get), and what it has seen of an unfinished one; `()` for all others.
    ///
    /// The caller parses a batch ahead of executing it, and returns to an earlier cursor for those
    /// that were not executed.
    type Cursor: Copy + Default + PartialEq + Send + std::fmt::Debug;

    /// Finds the first request in `input`.
    ///
    /// `cursor` moves with every request and every rejection. On [`Parsed::NeedMore`] it may note how
    /// far the input has been looked at, so that a long request is not looked through again for each
    /// piece that arrives; from the cursor before, the same must be found.
    ///
    /// What it returns must depend on the bytes alone and never on how many of them have arrived: a
    /// request found in `input` is found, the same, in any longer input that starts with it.
    ///
    /// # Errors
    ///
    /// [`Malformed`]: the reply to send, and how to find the next request.
    fn parse<'a>(
        &self,
        cursor: &mut Self::Cursor,
        input: &'a [u8],
    ) -> Result<Parsed<Self::Request<'a>>, Malformed>;

    /// Whether the requests behind this one can only be parsed once it has been executed (it
    /// changes limits, authentication or the framing itself).
    fn ends_batch(request: &Self::Request<'_>) -> bool {
        let _ = request;
        false
    }

    /// The reply to a request that does not fit the receive limit. The connection closes after it.
    fn too_large(&self) -> ErrorReply;

    /// Whether a message from another connection may be sent to this one now; asked for each. One
    /// that was on its way while the connection stopped listening is dropped where it would be
    /// taken for a reply.
    fn takes_messages(&self) -> bool {
        true
    }

    /// Whether the connection has asked for messages that others send: how many of them it may leave unread
    /// is another limit than that of replies.
    fn is_subscriber(&self) -> bool {
        false
    }

    /// Whether the connection is in a state in which a client is right to send nothing for ever: it
    /// waits for messages. Such a connection is exempt from the idle timeout.
    fn may_idle(&self) -> bool {
        false
    }
}

/// What a codec found in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<R> {
    /// A whole request.
    Request {
        /// The request.
        request: R,
        /// How many bytes it takes up, at least 1. May be more than have arrived: the rest is
        /// dropped as it arrives (the body of a request that is refused for its size).
        consumed: usize,
    },
    /// The input ends inside a request.
    NeedMore {
        /// How many more bytes are missing at the least, at least 1. A lower bound that the request
        /// itself claims: the caller sets limits to it and allocates nothing for it.
        at_least: usize,
    },
}

impl<R> Parsed<R> {
    /// The same with another request in the place of a whole one.
    #[inline]
    pub fn map<S>(self, change: impl FnOnce(R) -> S) -> Parsed<S> {
        match self {
            Parsed::Request { request, consumed } => {
                Parsed::Request { request: change(request), consumed }
            }
            Parsed::NeedMore { at_least } => Parsed::NeedMore { at_least },
        }
    }
}

/// Input that is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What the client is told.
    pub reply: ErrorReply,
    /// How many bytes to drop before parsing goes on, at least 1; may be more than have arrived.
    /// `None`: the stream cannot be resynchronised, the connection closes after the reply.
    pub skip: Option<usize>,
    /// What it is instead of a request, if that is known: for the log.
    pub foreign: Option<Foreign>,
}

impl Malformed {
    /// Answer with `reply`, drop `skip` bytes, go on.
    #[must_use]
    pub fn skip(reply: ErrorReply, skip: usize) -> Self {
        Malformed { reply, skip: Some(skip), foreign: None }
    }

    /// Answer with `reply` and close.
    #[must_use]
    pub fn close(reply: ErrorReply) -> Self {
        Malformed { reply, skip: None, foreign: None }
    }

    /// The client speaks another protocol: answer with `reply` and close.
    #[must_use]
    pub fn foreign(reply: ErrorReply, foreign: Foreign) -> Self {
        Malformed { reply, skip: None, foreign: Some(foreign) }
    }
}

/// The bytes of an error reply: usually fixed, seldom made for the occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReply(Cow<'static, [u8]>);

impl ErrorReply {
    /// No reply at all: the connection is closed without a word.
    pub const NONE: ErrorReply = ErrorReply::fixed(b"");

    /// A reply that is always the same.
    #[must_use]
    pub const fn fixed(bytes: &'static [u8]) -> Self {
        ErrorReply(Cow::Borrowed(bytes))
    }

    /// A reply that quotes the input. Allocates.
    #[must_use]
    pub fn made(bytes: Vec<u8>) -> Self {
        ErrorReply(Cow::Owned(bytes))
    }

    /// The bytes to send.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
