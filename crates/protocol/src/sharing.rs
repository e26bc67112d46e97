// SPDX-License-Identifier: Apache-2.0
//! [`Sharing`]: the services of two protocols over one store, through one handle per worker.
//!
//! Two services with a handle each have three drawbacks:
//!
//! 1. An idle handle must be rested all the same, or it delays the others.
//! 2. Memory for buffers is reserved twice.
//! 3. A store for one worker may have only one handle.
//!
//! So the first service owns the handle ([`Lend`]), and the second is lent it for each of its requests
//! ([`ExecuteOn`]).

use crate::{
    Buffers, Context, Control, Either, Ending, Execute, Malformed, Outbox, Protocol, Stage,
};
use buffer::SendBuf;
use clock::{Now, Ticks};
use std::time::Duration;

/// Why a connection never gets a request of the other protocol.
const OWN: &str = "a codec makes requests of its own protocol";

/// A service that lends its store handle to the service of another protocol.
pub trait Lend {
    /// The handle.
    type Store;

    /// The handle, to look at.
    fn store(&self) -> &Self::Store;

    /// The handle for a request at `now`, after what is due by then has been carried out.
    fn store_at(&mut self, now: Now) -> &mut Self::Store;
}

/// A service without a store: carries out the requests of protocol `P` on a handle that is lent for each.
/// The functions are those of [`Execute`].
pub trait ExecuteOn<P: Protocol, S> {
    /// See [`Execute::prefetch`].
    #[inline]
    fn prefetch(&self, store: &S, connection: &P, request: &P::Request<'_>, stage: Stage) {
        let _ = (store, connection, request, stage);
    }

    /// See [`Execute::execute`].
    fn execute(
        &mut self,
        store: &mut S,
        connection: &mut P,
        request: P::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control;

    /// See [`Execute::rejected`].
    #[inline]
    fn rejected(&mut self, connection: &P, malformed: &Malformed) {
        let _ = (connection, malformed);
    }

    /// See [`Execute::closed`].
    #[inline]
    fn closed(&mut self, connection: &mut P, ending: Ending, context: &mut Context<'_>) {
        let _ = (connection, ending, context);
    }
}

/// Executes the requests of two protocols on the store of the first one's service. Each worker has its own;
/// clones are for other workers.
#[derive(Clone, Debug)]
pub struct Sharing<A, B> {
    owner: A,
    other: B,
}

impl<A, B> Sharing<A, B> {
    /// Serves the store of `owner`.
    pub fn new(owner: A, other: B) -> Self {
        Sharing { owner, other }
    }
}

impl<P, Q, A, B> Execute<Either<P, Q>> for Sharing<A, B>
where
    P: Protocol,
    Q: Protocol,
    A: Execute<P> + Lend,
    B: ExecuteOn<Q, A::Store>,
{
    #[inline]
    fn prefetch(
        &self,
        connection: &Either<P, Q>,
        request: &<Either<P, Q> as Protocol>::Request<'_>,
        stage: Stage,
    ) {
        match (connection, request) {
            (Either::A(connection), Either::A(request)) => {
                self.owner.prefetch(connection, request, stage);
            }
            (Either::B(connection), Either::B(request)) => {
                self.other.prefetch(self.owner.store(), connection, request, stage);
            }
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => unreachable!("{OWN}"),
        }
    }

    /// As the owner has it, whose store it depends on.
    #[inline]
    fn goes_on_after(&self, stage: Stage) -> bool {
        self.owner.goes_on_after(stage)
    }

    #[inline]
    fn execute(
        &mut self,
        connection: &mut Either<P, Q>,
        request: <Either<P, Q> as Protocol>::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        match (connection, request) {
            (Either::A(connection), Either::A(request)) => {
                self.owner.execute(connection, request, out, context)
            }
            (Either::B(connection), Either::B(request)) => {
                let store = self.owner.store_at(context.now);
                self.other.execute(store, connection, request, out, context)
            }
            (Either::A(_), Either::B(_)) | (Either::B(_), Either::A(_)) => unreachable!("{OWN}"),
        }
    }

    /// Only the owner of the store receives bodies.
    #[inline]
    fn place(&mut self, most: usize, context: &mut Context<'_>) -> Option<&mut [u8]> {
        self.owner.place(most, context)
    }

    #[inline]
    fn placed(&mut self, n: usize, context: &mut Context<'_>) {
        self.owner.placed(n, context);
    }

    fn rejected(&mut self, connection: &Either<P, Q>, malformed: &Malformed) {
        match connection {
            Either::A(connection) => self.owner.rejected(connection, malformed),
            Either::B(connection) => self.other.rejected(connection, malformed),
        }
    }

    /// The owner of the store is told of all connections that are its own.
    fn opened(&mut self, connection: &mut Either<P, Q>, context: &mut Context<'_>) {
        match connection {
            Either::A(connection) => self.owner.opened(connection, context),
            Either::B(_) => {}
        }
    }

    fn closed(&mut self, connection: &mut Either<P, Q>, ending: Ending, context: &mut Context<'_>) {
        match connection {
            Either::A(connection) => self.owner.closed(connection, ending, context),
            Either::B(connection) => self.other.closed(connection, ending, context),
        }
    }

    #[inline]
    fn post(&mut self, outbox: &mut Outbox) {
        self.owner.post(outbox);
    }

    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.owner.maintain(now, budget, outbox)
    }

    #[inline]
    fn wake_at(&self) -> Option<Ticks> {
        self.owner.wake_at()
    }

    #[inline]
    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        self.owner.may_nap(now, nap)
    }

    #[inline]
    fn rest(&mut self) {
        self.owner.rest();
    }

    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        self.owner.buffers(buffers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionId, Directory, ErrorReply, Parsed};
    use clock::Clock;

    /// Every byte is a request.
    struct Bytewise;

    impl Protocol for Bytewise {
        const NAME: &'static str = "bytewise";
        const TOO_MANY_CONNECTIONS: &'static [u8] = b"no room";
        type Request<'a> = u8;
        type Cursor = ();

        fn parse(&self, _: &mut (), input: &[u8]) -> Result<Parsed<u8>, Malformed> {
            Ok(match input.first() {
                None => Parsed::NeedMore { at_least: 1 },
                Some(&request) => Parsed::Request { request, consumed: 1 },
            })
        }

        fn too_large(&self) -> ErrorReply {
            ErrorReply::NONE
        }
    }

    /// Its store is the bytes that it was sent, whatever protocol they came by.
    #[derive(Default)]
    struct Owner {
        store: Vec<u8>,
        rested: bool,
    }

    impl Lend for Owner {
        type Store = Vec<u8>;

        fn store(&self) -> &Vec<u8> {
            &self.store
        }

        fn store_at(&mut self, _: Now) -> &mut Vec<u8> {
            &mut self.store
        }
    }

    impl Execute<Bytewise> for Owner {
        fn execute(
            &mut self,
            _: &mut Bytewise,
            request: u8,
            out: &mut SendBuf,
            _: &mut Context<'_>,
        ) -> Control {
            self.store.push(request);
            out.put(&self.store);
            Control::Continue
        }

        fn rest(&mut self) {
            self.rested = true;
        }
    }

    /// Appends each byte twice.
    struct Twice;

    impl ExecuteOn<Bytewise, Vec<u8>> for Twice {
        fn execute(
            &mut self,
            store: &mut Vec<u8>,
            _: &mut Bytewise,
            request: u8,
            out: &mut SendBuf,
            _: &mut Context<'_>,
        ) -> Control {
            store.extend([request, request]);
            out.put(store);
            Control::Continue
        }
    }

    #[test]
    fn both_services_see_one_store() {
        let mut service = Sharing::new(Owner::default(), Twice);
        let (mut out, mut outbox, directory) = (SendBuf::new(), Outbox::new(), Directory::new());
        let now = Clock::system().now();
        let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
        for (connection, request) in [
            (Either::A(Bytewise), Either::A(b'a')),
            (Either::B(Bytewise), Either::B(b'b')),
            (Either::A(Bytewise), Either::A(b'c')),
        ] {
            let mut connection = connection;
            service.execute(&mut connection, request, &mut out, &mut context);
            out.put(b" ");
        }
        assert_eq!(out.front(), b"a abb abbc ");
        Execute::<Either<Bytewise, Bytewise>>::rest(&mut service);
        assert!(service.owner.rested);
    }
}
