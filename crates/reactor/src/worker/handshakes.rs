// SPDX-License-Identifier: Apache-2.0
//! A worker's turn with TLS handshakes: after everybody else, because each step may take longer than all that the
//! others have to do. INV-SHORT.

use super::Worker;
use protocol::{Execute, Protocol};
use std::time::Duration;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Whether the connection in `slot`, which has an event, is queued: the time of the turn is up, or it is in a
    /// handshake.
    #[inline]
    pub(super) fn is_to_wait(&self, slot: usize) -> bool {
        self.is_spent || self.connections[slot].session.is_handshaking()
    }

    /// Goes on with the handshakes that wait, in their order: with the first in any case, with others until they have
    /// taken their time.
    #[inline]
    pub(super) fn serve_handshakes(&mut self) {
        if !self.handshakes.is_empty() {
            self.shake_hands();
        }
    }

    #[cold]
    fn shake_hands(&mut self) {
        let begun = self.woken.nanos();
        // It tells whether established connections are left for the next turn, and these steps leave none.
        let is_spent = self.is_spent;
        for _ in 0..self.handshakes.len() {
            let Some(slot) = self.handshakes.pop_front() else { break };
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            connection.queued = false;
            self.serve(slot);
            let taken = self.taken.unwrap_or(0).saturating_sub(begun);
            if Duration::from_nanos(taken) >= self.options.handshake_time {
                break;
            }
        }
        self.is_spent = is_spent;
    }
}
