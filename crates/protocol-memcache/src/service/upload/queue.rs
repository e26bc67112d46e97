// SPDX-License-Identifier: Apache-2.0
//! Values that wait for others to be whole, where memory does not suffice for all of them at once.
//!
//! Their clients' bytes stay in the sockets meanwhile. Without the wait each value would get a part of its memory, and then
//! some would have to be given up for the rest of others'.

use super::announcement::Announcement;
use clock::Ticks;
use protocol::{ConnectionId, Ticket};
use std::collections::VecDeque;
use std::time::Duration;

/// A value of which nothing has come for so long is given up while others wait, if these are few.
const STALL: Duration = Duration::from_secs(1);

/// If there are as many again, it is half of that, and so on, down to the least: no network leaves out so much for long.
const FEW: u32 = 32;
const STALL_MIN: Duration = Duration::from_millis(100);

/// After so long a value begins in any case. What finds no memory then gets that of others that are slower, or is refused.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the queue is looked at while nothing happens on its worker: values on others may have ended.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// For how long nothing may come of a value while so many others wait.
pub(super) fn stall(queued: usize) -> Duration {
    let queued = u32::try_from(queued).unwrap_or(u32::MAX);
    (STALL / (1 + queued / FEW)).max(STALL_MIN)
}

/// The values of a worker's connections that wait, in their order, with their numbers among those of all workers.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<(Queued, u64)>,
    look_at: Ticks,
}

/// A value that waits.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) connection: ConnectionId,
    /// Resumes its connection.
    pub(super) ticket: Ticket,
    pub(super) request: Announcement,
    pub(super) since: Ticks,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, queued: Queued, number: u64) {
        self.look_at = queued.since;
        self.waiting.push_back((queued, number));
    }

    /// Takes out the first one if it may begin, as `may_begin` tells for its number and length, and for whether it has waited
    /// for long.
    pub(super) fn pop(
        &mut self,
        now: Ticks,
        may_begin: impl FnOnce(u64, usize, bool) -> bool,
    ) -> Option<(Queued, u64)> {
        let (first, number) = self.waiting.front()?;
        let is_due = first.since + PATIENCE <= now;
        if !may_begin(*number, first.request.value_len(), is_due) {
            self.look_at = now + LOOK_EVERY;
            return None;
        }
        self.waiting.pop_front()
    }

    /// Takes out that of a connection that has ended. Returns its number, if there is one.
    pub(super) fn remove(&mut self, connection: ConnectionId) -> Option<u64> {
        let at = self.waiting.iter().position(|(queued, _)| queued.connection == connection)?;
        self.waiting.remove(at).map(|(_, number)| number)
    }

    /// When to look for the next one.
    pub(super) fn look_at(&self) -> Option<Ticks> {
        (!self.is_empty()).then_some(self.look_at)
    }
}
