// SPDX-License-Identifier: Apache-2.0
//! [`Unprefetched`]: a service without its prefetches, to measure what it costs then.

use buffer::SendBuf;
use clock::{Now, Ticks};
use protocol::{Buffers, Context, Control, Ending, Execute, Malformed, Outbox, Protocol};
use std::time::Duration;

/// A service that does not prefetch, and is otherwise the one inside.
#[derive(Clone, Debug)]
pub struct Unprefetched<E>(pub E);

impl<P: Protocol, E: Execute<P>> Execute<P> for Unprefetched<E> {
    #[inline]
    fn execute(
        &mut self,
        connection: &mut P,
        request: P::Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.0.execute(connection, request, out, context)
    }

    fn rejected(&mut self, connection: &P, malformed: &Malformed) {
        self.0.rejected(connection, malformed);
    }

    fn opened(&mut self, connection: &mut P, context: &mut Context<'_>) {
        self.0.opened(connection, context);
    }

    fn closed(&mut self, connection: &mut P, ending: Ending, context: &mut Context<'_>) {
        self.0.closed(connection, ending, context);
    }

    #[inline]
    fn post(&mut self, outbox: &mut Outbox) {
        self.0.post(outbox);
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.0.maintain(now, budget, outbox)
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.0.wake_at()
    }

    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        self.0.may_nap(now, nap)
    }

    fn rest(&mut self) {
        self.0.rest();
    }

    fn buffers(&mut self, buffers: Buffers) {
        self.0.buffers(buffers);
    }
}
