// SPDX-License-Identifier: Apache-2.0
//! How a connection ends: it is drained or closed, its last replies are flushed, it lingers, and its service is told
//! why.

use super::{Connection, Desk, Next, Phase};
use protocol::{Context, Ending, Execute, Protocol};
use session::{Fill, Flush};
use std::io;

/// Reads of one lingering connection before others have their turn.
const LINGER_READS: usize = 16;

impl<P: Protocol> Connection<P> {
    /// Closes the connection once everything that has arrived is served and flushed.
    pub(crate) fn drain(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Draining;
            self.readable = true;
        }
    }

    /// Reads and executes nothing more; the connection ends once its replies are flushed.
    pub(super) fn close(&mut self, ending: Ending) {
        self.phase = Phase::Closing;
        self.ending = ending;
    }

    /// As `close`, when nothing is left that could be served: its peer has closed its side, or it was drained.
    pub(super) fn close_drained(&mut self) {
        let is_ours = self.phase == Phase::Draining && !self.has_peer_gone();
        self.close(if is_ours { Ending::Shutdown } else { Ending::Normal });
    }

    /// Notes why the connection, which is about to be removed, ends.
    pub(crate) fn note_ending(&mut self, ending: Ending) {
        self.ending = ending;
    }

    /// Sends what is left of the replies of a closing connection, and then lingers if its peer may still send.
    pub(super) fn finish<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        if self.session.is_handshaking() {
            // During a handshake nothing can be sent, and nothing is read any more.
            return Ok(Next::Remove);
        }
        match self.flush(desk)? {
            Flush::Done => {}
            Flush::Blocked => return Ok(Next::Event),
            Flush::Partial => return Ok(self.yielded()),
        }
        let is_drained = !self.readable && !self.has_left;
        if is_drained && (self.hung_up || self.session.recv().is_empty()) {
            return Ok(Next::Remove);
        }
        self.session.shutdown();
        self.phase = Phase::Lingering { since: desk.now.ticks };
        self.linger(desk)
    }

    /// Drops what the peer still sends, until it closes its side.
    pub(super) fn linger<E>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        for _ in 0..LINGER_READS {
            let (recv, _) = self.session.buffers();
            recv.consume(recv.filled().len());
            match self.session.fill(desk.pool, 1) {
                Ok(Fill::Some { .. }) => {}
                Ok(Fill::Blocked) => return Ok(Next::Event),
                // A peer that does not close in order has no reply to lose.
                Ok(Fill::Closed) | Err(_) => return Ok(Next::Remove),
            }
        }
        Ok(Next::Again)
    }

    /// Ends the connection: tells the service, closes the socket's sending side, drops unserved input and unsent
    /// replies, and gives the blocks back, because the pool counts them.
    ///
    /// In this order: a client that sees its connection end finds nothing left of it in the service, and who finds nothing
    /// there does not take what is in the directory for a connection that the service does not know yet.
    pub(crate) fn end<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) {
        self.peer.end();
        let mut context = Context::new(desk.now, self.peer.id, desk.outbox, desk.directory);
        desk.service.closed(self.pipeline.protocol_mut(), self.ending, &mut context);
        desk.directory.leave(self.peer.id);
        self.session.shutdown();
        self.session.discard(desk.pool);
    }
}
