// SPDX-License-Identifier: Apache-2.0
//! [`Either`]: two protocols in one server.
//!
//! A connection speaks one of them for all its life. The tag of the listener that accepted it decides which.
//! A server of three protocols uses `Either<A, Either<B, C>>`. If the protocols share a store,
//! [`Sharing`](crate::Sharing) makes one service of theirs.

use crate::{ErrorReply, Malformed, Parsed, Protocol};

/// A connection that speaks `A` or `B`; also a request of such a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first.
    A(A),
    /// The second.
    B(B),
}

impl<A: Protocol, B: Protocol> Protocol for Either<A, B> {
    const NAME: &'static str = "either";
    /// The text of `A`; [`Protocol::too_many_connections`] returns that of the connection's own
    /// protocol.
    const TOO_MANY_CONNECTIONS: &'static [u8] = A::TOO_MANY_CONNECTIONS;
    type Request<'a> = Either<A::Request<'a>, B::Request<'a>>;
    /// A connection moves the cursor of its own protocol; the other stays at its start.
    type Cursor = (A::Cursor, B::Cursor);

    #[inline]
    fn is_inside_request((a, b): &Self::Cursor) -> bool {
        A::is_inside_request(a) || B::is_inside_request(b)
    }

    fn too_many_connections(&self) -> &'static [u8] {
        match self {
            Either::A(a) => a.too_many_connections(),
            Either::B(b) => b.too_many_connections(),
        }
    }

    #[inline]
    fn parse<'a>(
        &self,
        cursor: &mut Self::Cursor,
        input: &'a [u8],
    ) -> Result<Parsed<Self::Request<'a>>, Malformed> {
        match self {
            Either::A(a) => Ok(a.parse(&mut cursor.0, input)?.map(Either::A)),
            Either::B(b) => Ok(b.parse(&mut cursor.1, input)?.map(Either::B)),
        }
    }

    #[inline]
    fn body_left((a, b): &Self::Cursor) -> usize {
        A::body_left(a) + B::body_left(b)
    }

    #[inline]
    fn skip_body((a, b): &mut Self::Cursor, n: usize) {
        // The other one is at its start.
        if A::body_left(a) > 0 { A::skip_body(a, n) } else { B::skip_body(b, n) }
    }

    #[inline]
    fn ends_batch(request: &Self::Request<'_>) -> bool {
        match request {
            Either::A(request) => A::ends_batch(request),
            Either::B(request) => B::ends_batch(request),
        }
    }

    fn too_large(&self) -> ErrorReply {
        match self {
            Either::A(a) => a.too_large(),
            Either::B(b) => b.too_large(),
        }
    }

    fn answer_too_large(&self, request: &[u8]) -> ErrorReply {
        match self {
            Either::A(a) => a.answer_too_large(request),
            Either::B(b) => b.answer_too_large(request),
        }
    }

    fn takes_messages(&self) -> bool {
        match self {
            Either::A(a) => a.takes_messages(),
            Either::B(b) => b.takes_messages(),
        }
    }

    fn takes_late_reply(&self) -> bool {
        match self {
            Either::A(a) => a.takes_late_reply(),
            Either::B(b) => b.takes_late_reply(),
        }
    }

    fn is_subscriber(&self) -> bool {
        match self {
            Either::A(a) => a.is_subscriber(),
            Either::B(b) => b.is_subscriber(),
        }
    }

    fn is_stranger(&self) -> bool {
        match self {
            Either::A(a) => a.is_stranger(),
            Either::B(b) => b.is_stranger(),
        }
    }

    fn may_idle(&self) -> bool {
        match self {
            Either::A(a) => a.may_idle(),
            Either::B(b) => b.may_idle(),
        }
    }
}

#[cfg(test)]
mod tests;
