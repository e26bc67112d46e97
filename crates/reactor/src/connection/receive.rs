// SPDX-License-Identifier: Apache-2.0
//! Receiving: what a connection reads, and where it goes.

use super::{Connection, Desk};
use crate::turn::Share;
use clock::Ticks;
use protocol::{Context, Execute, Protocol};
use session::Fill;
use std::io;

impl<P: Protocol> Connection<P> {
    /// Reads once; returns whether there may be something new to parse. A body that is taken in parts goes straight to
    /// its place, if the service has one.
    #[inline]
    pub(super) fn receive<E: Execute<P>>(
        &mut self,
        missing: usize,
        share: &mut Share,
        desk: &mut Desk<'_, E>,
    ) -> io::Result<bool> {
        let left = self.pipeline.body_left();
        if left > 0 && self.session.can_place() {
            return self.fill_place(left, share, desk);
        }
        self.fill(missing, desk)
    }

    #[cold]
    fn fill_place<E: Execute<P>>(
        &mut self,
        left: usize,
        share: &mut Share,
        desk: &mut Desk<'_, E>,
    ) -> io::Result<bool> {
        let mut context = Context::new(desk.now, self.peer.id, desk.outbox, desk.directory);
        let Some(place) = desk.service.place(left.min(share.body), &mut context) else {
            return self.fill(1, desk);
        };
        let (n, fill) = self.session.fill_place(desk.pool, place)?;
        desk.service.placed(n, &mut context);
        self.pipeline.skip_body(n);
        share.body -= n;
        Ok(self.note_fill(fill, desk.now.ticks))
    }

    /// Reads once, with room for what the request misses; returns whether there may be something new to parse.
    pub(super) fn fill<E>(&mut self, missing: usize, desk: &mut Desk<'_, E>) -> io::Result<bool> {
        let fill = match self.session.fill(desk.pool, missing) {
            // The stream ended without a TLS close, as many clients do it. The requests that
            // arrived whole are genuine, and their replies are still to be flushed.
            Err(error) if self.is_cut(&error) => Fill::Closed,
            fill => fill?,
        };
        Ok(self.note_fill(fill, desk.now.ticks))
    }

    /// What a read says of the socket; returns whether something has come.
    #[inline]
    fn note_fill(&mut self, fill: Fill, now: Ticks) -> bool {
        match fill {
            Fill::Some { drained } => {
                self.readable = !drained || self.hung_up;
                self.has_input = true;
                self.active_at = now;
                self.peer.touch(now);
                true
            }
            Fill::Blocked => {
                self.readable = false;
                false
            }
            Fill::Closed => {
                self.readable = false;
                self.hung_up = true;
                false
            }
        }
    }

    /// Whether a read error is the end of an established TLS stream without the TLS close.
    fn is_cut(&self, error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::UnexpectedEof && !self.session.is_handshaking()
    }
}
