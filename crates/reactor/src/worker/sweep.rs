// SPDX-License-Identifier: Apache-2.0
//! The time-limit sweep: looks at a part of the connections each tick, for those that ran out of time and
//! those that need not be held any more, and gives memory back that they no longer need.

use super::Worker;
use crate::connection::Overdue;
use crate::metrics::*;
use log::debug;
use protocol::{Execute, Protocol};

/// The fewest connections that are looked at per tick.
const SWEEP_MIN: usize = 64;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Looks at a part of the connections each tick, and at all of them within ten ticks.
    pub(super) fn sweep(&mut self) {
        if self.now.ticks < self.sweep_at {
            return;
        }
        self.sweep_at = self.now.ticks + self.options.tick;
        self.pool.trim();
        if self.connections.is_empty() {
            return;
        }
        let slots = self.connections.capacity();
        let part = (slots / 10).max(SWEEP_MIN).min(slots);
        let tick = self.options.tick;
        for step in 0..part {
            let slot = (self.sweep_from + step) % slots;
            let Some((connection, desk)) = self.at(slot) else { continue };
            connection.count_stall(desk.now.ticks, tick);
            if connection.is_held_in_vain(&desk) {
                self.queue(slot);
            }
            self.look_for_unreported(slot);
            let connection = &mut self.connections[slot];
            let Some(overdue) = connection.overdue(self.now.ticks, &self.options) else { continue };
            match overdue {
                Overdue::Unread => connection.overflow(),
                Overdue::Handshake => CONNECTIONS_HANDSHAKE_TIMEOUT.increment(),
                Overdue::Read => CONNECTIONS_READ_TIMEOUT.increment(),
                Overdue::Write => CONNECTIONS_WRITE_TIMEOUT.increment(),
                Overdue::Idle => CONNECTIONS_IDLE_CLOSED.increment(),
                Overdue::Linger => {}
            }
            if let Some(ending) = overdue.ending() {
                connection.note_ending(ending);
            }
            debug!("{}: closed, {overdue:?} timeout", connection.peer.remote);
            self.remove(slot);
        }
        self.sweep_from = (self.sweep_from + part) % slots;
    }
}
