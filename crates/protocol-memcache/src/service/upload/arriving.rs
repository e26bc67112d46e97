// SPDX-License-Identifier: Apache-2.0
//! [`Uploads`]: which values are arriving on a worker's connections, and what they hold outside of the store.

use super::all::AllUploads;
use super::announcement::Announcement;
use super::incoming::Incoming;
use super::queue::{Queue, Queued};
use clock::Ticks;
use protocol::ConnectionId;
use std::collections::HashMap;
use std::time::Duration;
use storage::Draft;

/// A worker looks more often than this, as long as it has the time.
const AWAY: Duration = Duration::from_millis(300);

/// A value that is not whole after so long is slow: it counts with what it will have soon, not with all that it has
/// announced. Others need not wait for memory that it does not use.
const SLOW: Duration = Duration::from_secs(1);

/// How far ahead that is: it has then what comes in so long at its speed.
const SOON: Duration = Duration::from_secs(1);

/// Between two looks no more than this counts as time that a value was under way: in the rest its worker had no time for it.
const STEP: Duration = Duration::from_millis(25);

/// How often it is reckoned how much slow values need.
const RECKON_EVERY: Duration = Duration::from_millis(50);

/// The values that are arriving on a worker's connections.
#[derive(Debug)]
pub(in crate::service) struct Uploads<D> {
    arriving: HashMap<ConnectionId, Arriving<D>>,
    queue: Queue,
    /// When it was last looked whether one has stalled.
    looked: Ticks,
    /// The time in which the worker could have received values.
    active: Duration,
    /// When it was last reckoned what slow ones need.
    reckoned: Ticks,
    /// Bytes that drafts hold outside of the store.
    outside: u64,
    /// Bytes of the buffers of the worker's connections.
    buffers: u64,
}

/// A value that is arriving.
#[derive(Debug)]
pub(super) struct Arriving<D> {
    /// `None` once another value has needed its memory: its client is told when it is heard of next.
    pub(super) incoming: Option<Incoming<D>>,
    /// When its last bytes came.
    fed: Ticks,
    /// Its share of [`Uploads::outside`].
    outside: u64,
    /// [`Uploads::active`] when it began.
    begun: Duration,
    /// Bytes that have arrived.
    arrived: u64,
    /// Bytes that it needs; none once it was given up.
    needed: u64,
    pub(super) request: Announcement,
}

impl<D> Arriving<D> {
    /// Whether it needs less than it has announced for now.
    fn is_slow(&self) -> bool {
        self.needed < self.request.value_len() as u64
    }

    /// What it needs, if it goes on as in this time.
    fn needed_after(&self, under_way: Duration) -> u64 {
        let announced = self.request.value_len() as u64;
        if under_way < SLOW {
            return announced;
        }
        let pace = SOON.as_secs_f64() / under_way.as_secs_f64();
        announced.min(self.arrived + (self.arrived as f64 * pace) as u64)
    }
}

impl<D> Default for Uploads<D> {
    fn default() -> Self {
        Uploads {
            arriving: HashMap::new(),
            queue: Queue::default(),
            looked: Ticks::default(),
            active: Duration::ZERO,
            reckoned: Ticks::default(),
            outside: 0,
            buffers: 0,
        }
    }
}

/// Those of another worker are its own.
impl<D> Clone for Uploads<D> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<D: Draft> Uploads<D> {
    /// Sets what the buffers of the worker's connections have. Returns what they had.
    pub(super) fn set_buffers(&mut self, bytes: u64) -> u64 {
        std::mem::replace(&mut self.buffers, bytes)
    }

    /// What the worker holds outside of the store.
    pub(super) fn held(&self) -> u64 {
        self.buffers + self.outside
    }

    pub(in crate::service) fn is_empty(&self) -> bool {
        self.arriving.is_empty() && self.queue.is_empty()
    }

    /// Whether values wait for others.
    #[inline]
    pub(in crate::service) fn are_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// When to look at those.
    pub(in crate::service) fn look_at(&self) -> Option<Ticks> {
        self.queue.look_at()
    }

    pub(super) fn queue(&mut self, queued: Queued, all: &AllUploads) {
        self.queue.push(queued, all.line_up());
    }

    /// Whether the worker has not looked for so long that it may have had no time for bytes that are there.
    pub(super) fn was_away(&mut self, now: Ticks) -> bool {
        let looked = std::mem::replace(&mut self.looked, now);
        self.active += now.since(looked).min(STEP);
        looked + AWAY < now
    }

    /// Reckons how much slow values need, from time to time.
    pub(super) fn reckon(&mut self, now: Ticks, all: &AllUploads) {
        if now < self.reckoned + RECKON_EVERY {
            return;
        }
        self.reckoned = now;
        for arriving in self.arriving.values_mut().filter(|arriving| arriving.incoming.is_some()) {
            let needed = arriving.needed_after(self.active - arriving.begun);
            all.set_needed(&mut arriving.needed, needed);
        }
    }

    /// The next one, if it may begin: as `admits` tells for its length, or because it has waited for long. It is counted.
    pub(super) fn next_queued(
        &mut self,
        now: Ticks,
        admits: impl FnOnce(usize) -> bool,
        all: &AllUploads,
    ) -> Option<Queued> {
        let (next, number) = self.queue.pop(now, |number, len, is_due| {
            if is_due {
                all.admit_anyway(len);
            }
            is_due || all.is_next(number) && admits(len)
        })?;
        all.leave_line(number);
        Some(next)
    }

    /// The value of a connection to which so many bytes have come, if it has one that is arriving.
    pub(super) fn feed(
        &mut self,
        connection: ConnectionId,
        bytes: usize,
        now: Ticks,
    ) -> Option<&mut Option<Incoming<D>>> {
        let arriving = self.arriving.get_mut(&connection)?;
        arriving.fed = now;
        arriving.arrived += bytes as u64;
        Some(&mut arriving.incoming)
    }

    /// Gives up the value that has waited longest for its next bytes, of those that have waited as long as `is_stalled`
    /// says of the time of the last ones; slow ones first. That of `connection` is the one that the memory is for. Returns whether there was
    /// one.
    pub(super) fn give_up_stalled(
        &mut self,
        connection: Option<ConnectionId>,
        is_stalled: impl Fn(Ticks) -> bool,
        all: &AllUploads,
    ) -> bool {
        let others = self.arriving.iter_mut().filter(|(id, arriving)| {
            Some(**id) != connection && arriving.incoming.is_some() && is_stalled(arriving.fed)
        });
        let Some((_, stalled)) =
            others.min_by_key(|(_, arriving)| (!arriving.is_slow(), arriving.fed))
        else {
            return false;
        };
        stalled.incoming = None;
        all.set_needed(&mut stalled.needed, 0);
        let held = std::mem::take(&mut stalled.outside);
        self.outside -= held;
        all.sub(held);
        true
    }

    /// Begins a value that was counted; without one if there was no memory for it after all.
    pub(super) fn begin(
        &mut self,
        connection: ConnectionId,
        incoming: Option<Incoming<D>>,
        request: Announcement,
        now: Ticks,
        all: &AllUploads,
    ) {
        let (begun, needed) = (self.active, request.value_len() as u64);
        let mut arriving =
            Arriving { incoming, fed: now, outside: 0, begun, arrived: 0, needed, request };
        if arriving.incoming.is_none() {
            all.set_needed(&mut arriving.needed, 0);
        }
        let before = self.arriving.insert(connection, arriving);
        debug_assert!(before.is_none(), "the value before has ended");
    }

    /// Counts the memory of a value. Returns what it is if it has changed.
    pub(super) fn recount(&mut self, connection: ConnectionId, all: &AllUploads) -> Option<u64> {
        let arriving = self.arriving.get_mut(&connection)?;
        let now = arriving.incoming.as_ref()?.outside_bytes() as u64;
        let before = std::mem::replace(&mut arriving.outside, now);
        if now == before {
            return None;
        }
        self.outside = self.outside - before + now;
        all.add(now);
        all.sub(before);
        Some(now)
    }

    pub(super) fn end(
        &mut self,
        connection: ConnectionId,
        all: &AllUploads,
    ) -> Option<Arriving<D>> {
        let Some(mut ended) = self.arriving.remove(&connection) else {
            if let Some(number) = self.queue.remove(connection) {
                all.leave_line(number);
            }
            return None;
        };
        all.set_needed(&mut ended.needed, 0);
        self.outside -= ended.outside;
        all.sub(ended.outside);
        Some(ended)
    }
}
