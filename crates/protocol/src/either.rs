// SPDX-License-Identifier: Apache-2.0
//! [`Either`] and [`Both`]: two protocols in one server.
//!
//! A connection speaks one of them for all its life, chosen when it is made: by the tag of the listener
//! that accepted it. A server of three is `Either<A, Either<B, C>>`.

use crate::{
    Buffers, Context, Control, ErrorReply, Execute, Malformed, Outbox, Parsed, Protocol, Stage,
};
use buffer::SendBuf;
use clock::{Now, Ticks};

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
    /// The words of the first; [`Protocol::too_many_connections`] has the right ones.
    const TOO_MANY_CONNECTIONS: &'static [u8] = A::TOO_MANY_CONNECTIONS;
    type Request<'a> = Either<A::Request<'a>, B::Request<'a>>;
    /// A connection moves its own of the two; the other stays at its start.
    type Cursor = (A::Cursor, B::Cursor);

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

    fn takes_messages(&self) -> bool {
        match self {
            Either::A(a) => a.takes_messages(),
            Either::B(b) => b.takes_messages(),
        }
    }

    fn is_subscriber(&self) -> bool {
        match self {
            Either::A(a) => a.is_subscriber(),
            Either::B(b) => b.is_subscriber(),
        }
    }

    fn may_idle(&self) -> bool {
        match self {
            Either::A(a) => a.may_idle(),
            Either::B(b) => b.may_idle(),
        }
    }
}

/// Two services in one worker: the first serves the connections that speak [`Either::A`], the second
/// those that speak [`Either::B`].
///
/// Each is told of the worker's sleep and of all its buffers. So where both pass this on to one store,
/// let only one of them do it.
#[derive(Clone, Copy, Debug)]
pub struct Both<S, T>(pub S, pub T);

impl<A, B, S, T> Execute<Either<A, B>> for Both<S, T>
where
    A: Protocol,
    B: Protocol,
    S: Execute<A>,
    T: Execute<B>,
{
    /// # Panics
    ///
    /// As [`Both::execute`].
    #[inline]
    fn prefetch(
        &self,
        connection: &Either<A, B>,
        request: &Either<A::Request<'_>, B::Request<'_>>,
        stage: Stage,
    ) {
        match (connection, request) {
            (Either::A(a), Either::A(request)) => self.0.prefetch(a, request, stage),
            (Either::B(b), Either::B(request)) => self.1.prefetch(b, request, stage),
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => {
                unreachable!("a codec makes requests of its own protocol")
            }
        }
    }

    /// # Panics
    ///
    /// When the request is not one of the connection's own protocol: its codec makes no other.
    #[inline]
    fn execute(
        &mut self,
        connection: &mut Either<A, B>,
        request: Either<A::Request<'_>, B::Request<'_>>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        match (connection, request) {
            (Either::A(a), Either::A(request)) => self.0.execute(a, request, out, context),
            (Either::B(b), Either::B(request)) => self.1.execute(b, request, out, context),
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => {
                unreachable!("a codec makes requests of its own protocol")
            }
        }
    }

    fn rejected(&mut self, connection: &Either<A, B>, malformed: &Malformed) {
        match connection {
            Either::A(a) => self.0.rejected(a, malformed),
            Either::B(b) => self.1.rejected(b, malformed),
        }
    }

    fn closed(&mut self, connection: &mut Either<A, B>, context: &mut Context<'_>) {
        match connection {
            Either::A(a) => self.0.closed(a, context),
            Either::B(b) => self.1.closed(b, context),
        }
    }

    /// Each has half of the budget.
    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        let half = budget.div_ceil(2);
        let first = self.0.maintain(now, half, outbox);
        let second = self.1.maintain(now, half, outbox);
        first || second
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.0.wake_at().into_iter().chain(self.1.wake_at()).min()
    }

    fn rest(&mut self) {
        self.0.rest();
        self.1.rest();
    }

    fn buffers(&mut self, buffers: Buffers) {
        self.0.buffers(buffers);
        self.1.buffers(buffers);
    }
}

#[cfg(test)]
mod tests;
