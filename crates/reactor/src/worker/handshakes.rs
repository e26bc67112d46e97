// SPDX-License-Identifier: Apache-2.0
//! A worker's turn with TLS handshakes: after everybody else, because each step may take longer than all that the
//! others have to do. INV-SHORT. And the log of those that fail.

use super::Worker;
use crate::foreign;
use crate::pause::Pause;
use log::warn;
use protocol::{Execute, Foreign, Peer, Protocol};
use std::fmt::Display;
use std::io;
use std::time::Duration;

/// The last line about a handshake that has failed.
static FAILED: Pause = Pause::new();

/// Logs that the connection of `peer` has failed before its handshake was over.
#[cold]
pub(super) fn report(peer: &Peer, error: &io::Error, now_ms: u64) {
    if session::is_not_tls(error) {
        foreign::report_peer(Foreign::Plain, peer, now_ms);
    } else {
        report_failed(peer, error, now_ms);
    }
}

/// Logs one client a minute whose handshake has failed, with the number of the others: with a wrong certificate they
/// come again and again.
#[cold]
pub(super) fn report_failed(peer: &Peer, reason: &dyn Display, now_ms: u64) {
    let Some(others) = FAILED.begin(now_ms) else { return };
    let (remote, local) = (&peer.remote, &peer.local);
    warn!("{remote}: TLS handshake failed ({local}): {reason}{others}");
}

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
