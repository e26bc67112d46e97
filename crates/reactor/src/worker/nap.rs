// SPDX-License-Identifier: Apache-2.0
//! Naps: sleeps of more than a tick, of a worker with nothing to watch over.
//!
//! A worker wakes up by the tick because of what no event reports: time limits, blocks to give back, memory of its
//! messages to count out, background work of its service. It naps once a sweep has gone over all connections since anything last happened and has found
//! each of them at rest, if the service agrees. So a busy worker never asks, and one that has just come to rest goes
//! on by the tick for a while.

use super::Worker;
use clock::Ticks;
use protocol::{Execute, Protocol};
use std::time::Duration;

/// How far sweeps have come since anything last happened.
#[derive(Debug, Default)]
pub(super) struct Calm {
    /// Slots that were looked at, each of them empty or with a connection at rest.
    looked: usize,
    /// When the first of these connections will have been idle for too long.
    until: Option<Ticks>,
}

impl Calm {
    /// Notes that so many more slots were looked at.
    pub(super) fn go_on(&mut self, slots: usize) {
        self.looked = self.looked.saturating_add(slots);
    }

    /// Notes when a connection will have been idle for too long.
    pub(super) fn end_by(&mut self, at: Ticks) {
        self.until = Some(self.until.map_or(at, |until| until.min(at)));
    }
}

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// The longest sleep before the next turn.
    #[inline]
    pub(super) fn longest_sleep(&self) -> Duration {
        if self.calm.looked < self.connections.capacity().max(1) {
            return self.options.tick;
        }
        self.nap()
    }

    #[cold]
    fn nap(&self) -> Duration {
        let (tick, nap) = (self.options.tick, self.options.nap);
        let until = self.calm.until.map_or(nap, |until| until.since(self.now.ticks));
        let nap = nap.min(until);
        // Messages of this worker that others hold are counted here, and nothing tells when they let go of them.
        let shared = self.outbox.shared_bytes();
        let is_due = self.deadline.is_some()
            || self.pool.idle_bytes() > 0
            || shared > 0
            || self.footprint.has_news(&self.pool, shared)
            || self.ports.as_ref().is_some_and(|ports| ports.are_waiting());
        if nap > tick && !is_due && self.service.may_nap(self.now, nap) { nap } else { tick }
    }
}
