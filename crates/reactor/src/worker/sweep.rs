// SPDX-License-Identifier: Apache-2.0
//! The time-limit sweep: looks at a part of the connections each tick, for those that ran out of time and
//! those that need not be held any more, and gives memory back that they no longer need. After a nap it makes
//! up for the ticks that the worker has slept through.

use super::Worker;
use super::handshakes::report_failed;
use super::nap::Calm;
use crate::connection::{Overdue, Rest};
use crate::metrics::*;
use log::debug;
use protocol::{Execute, Protocol};

/// The fewest connections that are looked at per tick.
const SWEEP_MIN: usize = 64;

/// Ticks in which all connections are looked at.
const ROUND: usize = 10;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Looks at a part of the connections each tick, and at all of them within ten ticks.
    pub(super) fn sweep(&mut self) {
        if self.now.ticks < self.sweep_at {
            return;
        }
        let tick = self.options.tick;
        let missed = self.now.ticks.since(self.sweep_at).as_millis() / tick.as_millis().max(1);
        self.sweep_at = self.now.ticks + tick;
        self.pool.trim();
        if self.connections.is_empty() {
            // Slots that were in use are still there, all of them empty.
            self.calm.go_on(self.connections.capacity().max(1));
            return;
        }
        let slots = self.connections.capacity();
        let parts = 1 + usize::try_from(missed).map_or(ROUND, |missed| missed.min(ROUND));
        let part = ((slots / ROUND).max(SWEEP_MIN) * parts).min(slots);
        let mut is_calm = true;
        for step in 0..part {
            is_calm &= self.look_at((self.sweep_from + step) % slots);
        }
        self.sweep_from = (self.sweep_from + part) % slots;
        if is_calm {
            self.calm.go_on(part);
        } else {
            self.calm = Calm::default();
        }
    }

    /// Looks at the connection in a slot, if there is one. Returns whether it, as it was, needs no further look before
    /// the time that has been noted.
    fn look_at(&mut self, slot: usize) -> bool {
        let (now, tick) = (self.now.ticks, self.options.tick);
        let Some((connection, desk)) = self.at(slot) else { return true };
        connection.count_stall(now, tick);
        if connection.is_held_in_vain(&desk) {
            self.queue(slot);
        }
        let is_in_doubt = self.look_for_unreported(slot);
        let connection = &mut self.connections[slot];
        let rest = connection.rest(&self.options);
        if let Rest::Until(at) = rest {
            self.calm.end_by(at);
        }
        let Some(overdue) = connection.overdue(now, &self.options) else {
            return rest != Rest::None && !is_in_doubt;
        };
        match overdue {
            Overdue::Unread => connection.overflow(),
            Overdue::Handshake => {
                CONNECTIONS_HANDSHAKE_TIMEOUT.increment();
                report_failed(&connection.peer, &"it has not ended in time", now.as_millis());
            }
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
        false
    }
}
