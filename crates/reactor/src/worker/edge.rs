// SPDX-License-Identifier: Apache-2.0
//! What holds between two turns of a worker's loop, asserted in debug builds.

use super::Worker;
use protocol::Protocol;

impl<P: Protocol, E, M> Worker<P, E, M> {
    /// At the begin and at the end of a turn: no message is half delivered, and the worker knows its
    /// connections by their slots, by their numbers and by the queues alike.
    #[inline]
    pub(super) fn check_edge(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        assert!(self.mail.is_empty(), "messages from the mailbox are left");
        assert!(self.outbox.is_empty(), "errands of the outbox are left");
        assert!(self.outgoing.is_empty(), "errands for other workers are left");
        assert_eq!(self.connections.len(), self.slots.len(), "slots and connections");
        // A slot of a connection that was removed may still be in a queue.
        let queued = self.connections.iter().filter(|(_, connection)| connection.queued).count();
        let waiting = self.again.len() + self.handshakes.len();
        assert!(queued <= waiting, "{queued} connections wait in the queues");
    }
}
