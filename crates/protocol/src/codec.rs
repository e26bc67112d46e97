// SPDX-License-Identifier: Apache-2.0
//! The codec's side of the contract: [`Protocol`], [`Parsed`], [`Malformed`].

use crate::Foreign;
use std::borrow::Cow;

/// A codec together with the protocol state of one connection: what its requests have set up, such as the
/// RESP version, the selected database or the queue of a transaction.
///
/// Parsing only reads that state ([`Protocol::parse`] takes `&self`); executing a request may change it.
/// State that the parser itself keeps between two calls goes into [`Protocol::Cursor`].
pub trait Protocol {
    /// The name for logs and metrics.
    const NAME: &'static str;

    /// The bytes that a client is sent before its connection is closed because there are too many.
    const TOO_MANY_CONNECTIONS: &'static [u8];

    /// As [`Protocol::TOO_MANY_CONNECTIONS`], for protocols in which the text depends on the listener: a
    /// server makes one protocol value per listener and asks it.
    fn too_many_connections(&self) -> &'static [u8] {
        Self::TOO_MANY_CONNECTIONS
    }

    /// One request. Borrows the input: no copy, no allocation.
    type Request<'a>;

    /// The parser's position between two calls: inside a line that holds many requests (a multi-get), or how
    /// far an unfinished request has been examined. `()` for protocols that need neither.
    ///
    /// The caller parses a batch ahead of executing it. For requests of the batch that were not
    /// executed it goes back to an earlier cursor and parses them again.
    type Cursor: Copy + Default + PartialEq + Send + std::fmt::Debug;

    /// Whether the parser has taken a part of a request and waits for the rest of it. A connection that stays so for
    /// long is closed.
    ///
    /// A cursor that also remembers what the connection speaks differs from the first one for good; its protocol has to
    /// look at the position alone.
    #[inline]
    fn is_inside_request(cursor: &Self::Cursor) -> bool {
        *cursor != Self::Cursor::default()
    }

    /// Finds the first request in `input`.
    ///
    /// `cursor` moves with every request and every rejection. On [`Parsed::NeedMore`] it may record how far
    /// the input has been examined, so that a long request is not scanned again for each piece that arrives.
    /// Parsing from the previous cursor must find the same request.
    ///
    /// The result must depend on the bytes alone and never on how many of them have arrived: a
    /// request found in `input` is also found, unchanged, in any longer input that starts with
    /// `input`. Only a [`Parsed::Part`] is as long as what has arrived of it.
    ///
    /// # Errors
    ///
    /// [`Malformed`]: the reply to send, and how to find the next request.
    fn parse<'a>(
        &self,
        cursor: &mut Self::Cursor,
        input: &'a [u8],
    ) -> Result<Parsed<Self::Request<'a>>, Malformed>;

    /// How many of the next bytes are nothing but a body that is taken in [parts](Parsed::Part). Its last byte comes as a
    /// part, if the body ends the request. The caller may receive them where the service [has a place for
    /// them](crate::Execute::place), and then [skips](Protocol::skip_body) them.
    #[inline]
    fn body_left(cursor: &Self::Cursor) -> usize {
        let _ = cursor;
        0
    }

    /// Moves past `n` bytes of a body, no more than are [left](Protocol::body_left).
    #[inline]
    fn skip_body(cursor: &mut Self::Cursor, n: usize) {
        let _ = (cursor, n);
    }

    /// Whether this request must be executed before those behind it can be parsed, because it
    /// changes limits, authentication or the framing itself.
    fn ends_batch(request: &Self::Request<'_>) -> bool {
        let _ = request;
        false
    }

    /// The reply to a request that does not fit the receive limit. The connection closes after it.
    fn too_large(&self) -> ErrorReply;

    /// The reply in place of an answer that takes more datagrams than are sent to one `request`, the payload of
    /// a datagram. Must fit in one datagram.
    fn answer_too_large(&self, request: &[u8]) -> ErrorReply {
        let _ = request;
        self.too_large()
    }

    /// Whether a message from another connection may be sent to this one now. Asked for each
    /// message: one that was still on its way when the connection unsubscribed is dropped if the
    /// client would take it for a reply.
    fn takes_messages(&self) -> bool {
        true
    }

    /// Whether the client wants the reply to the request that waits. Asked when the reply is there.
    fn takes_late_reply(&self) -> bool {
        true
    }

    /// Whether the connection has subscribed to messages of others. Its unread bytes then have the limit for
    /// messages instead of the limit for replies.
    fn is_subscriber(&self) -> bool {
        false
    }

    /// Whether the client has yet to say who it is. If it does not read its replies it is closed, however much memory
    /// there is for those of others.
    fn is_stranger(&self) -> bool {
        false
    }

    /// Whether the client may rightly send nothing for ever, because it waits for messages. Such a
    /// connection is exempt from the idle timeout.
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
        /// Length of the request in bytes, at least 1. May be more than have arrived: the rest is
        /// dropped as it arrives (the body of a request that is refused for its size).
        consumed: usize,
    },
    /// A part of a long body, so that it need not be collected: whatever has arrived of it. Parts follow each other
    /// behind the request that announced them, and the cursor knows how much is left. Where one part ends and the
    /// next begins means nothing.
    Part {
        /// The part, as a request.
        request: R,
        /// Length of the part in bytes, at least 1. They have arrived.
        consumed: usize,
    },
    /// The input ends inside a request.
    NeedMore {
        /// A lower bound on the missing bytes, at least 1. The client claims this number: the
        /// caller checks it against its limits and allocates nothing for it.
        at_least: usize,
    },
}

impl<R> Parsed<R> {
    /// Applies `change` to a request or a part; `NeedMore` stays as it is.
    #[inline]
    pub fn map<S>(self, change: impl FnOnce(R) -> S) -> Parsed<S> {
        match self {
            Parsed::Request { request, consumed } => {
                Parsed::Request { request: change(request), consumed }
            }
            Parsed::Part { request, consumed } => {
                Parsed::Part { request: change(request), consumed }
            }
            Parsed::NeedMore { at_least } => Parsed::NeedMore { at_least },
        }
    }
}

/// Input that is not a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The error reply to the client.
    pub reply: ErrorReply,
    /// How many bytes to drop before parsing goes on, at least 1; may be more than have arrived.
    /// `None`: the stream cannot be resynchronised, the connection closes after the reply.
    pub skip: Option<usize>,
    /// Which other protocol the client speaks, if that is known: for the log.
    pub foreign: Option<Foreign>,
    /// Whether only the end of a value is wrong, and the rest is a request: for the statistics, whatever the reply.
    pub is_bad_value: bool,
}

impl Malformed {
    /// Answer with `reply`, drop `skip` bytes, go on.
    #[must_use]
    pub fn skip(reply: ErrorReply, skip: usize) -> Self {
        Malformed { reply, skip: Some(skip), foreign: None, is_bad_value: false }
    }

    /// The same for a request whose value does not end where it has to.
    #[must_use]
    pub fn bad_value(reply: ErrorReply, skip: usize) -> Self {
        Malformed { is_bad_value: true, ..Malformed::skip(reply, skip) }
    }

    /// Answer with `reply` and close.
    #[must_use]
    pub fn close(reply: ErrorReply) -> Self {
        Malformed { reply, skip: None, foreign: None, is_bad_value: false }
    }

    /// The client speaks another protocol: answer with `reply` and close.
    #[must_use]
    pub fn foreign(reply: ErrorReply, foreign: Foreign) -> Self {
        Malformed { foreign: Some(foreign), ..Malformed::close(reply) }
    }
}

/// The bytes of an error reply: usually fixed, rarely built at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReply(Cow<'static, [u8]>);

impl ErrorReply {
    /// An empty reply: the connection is closed without one.
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
