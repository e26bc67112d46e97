// SPDX-License-Identifier: Apache-2.0
//! flush_all, at once and after a delay.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::exptime::Exptime;
use crate::metrics;
use crate::reply::Refusal;
use clock::{Now, Ticks};
use std::sync::atomic::{AtomicU64, Ordering};
use storage::Receive;

/// When the store is to be cleared. Shared by all workers. There is one deadline at a time; a new
/// one replaces it.
#[derive(Debug)]
pub(super) struct Deadline {
    /// The deadline in ticks; [`Deadline::NONE`] without one.
    at: AtomicU64,
    /// The latest flush in seconds since the start, past or to come; 0 without one.
    latest_s: AtomicU64,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline { at: AtomicU64::new(Self::NONE), latest_s: AtomicU64::new(0) }
    }
}

impl Deadline {
    const NONE: u64 = u64::MAX;

    fn set(&self, at: Option<Ticks>) {
        let at = at.map_or(Self::NONE, Ticks::as_millis);
        self.at.store(at, Ordering::Release);
    }

    /// The latest flush in seconds since the start, past or to come; 0 without one.
    pub(super) fn latest_s(&self) -> u64 {
        self.latest_s.load(Ordering::Relaxed)
    }

    /// The deadline, if it has passed.
    #[inline]
    pub(super) fn due(&self, now: Ticks) -> Option<u64> {
        let at = self.at.load(Ordering::Acquire);
        (at <= now.as_millis()).then_some(at)
    }

    /// Removes the deadline `at`, unless another has replaced it.
    fn strike_out(&self, at: u64) {
        // If the exchange fails, another deadline has replaced it already.
        let _ = self.at.compare_exchange(at, Self::NONE, Ordering::AcqRel, Ordering::Relaxed);
    }
}

impl<S: Receive> MemcacheService<S> {
    /// Clears the store, or sets the deadline at which it is cleared. Both replace the previous
    /// deadline.
    #[inline(never)]
    pub(super) fn flush_all(&mut self, delay: Option<Exptime>, now: Now) -> Outcome {
        if !self.shared.options.flush {
            return Outcome::Refused(Refusal::Flush);
        }
        let at = delay.and_then(|delay| delay.flush(now));
        let latest = at.flatten().unwrap_or(now.ticks);
        self.shared.flush.latest_s.store(latest.as_millis() / 1000, Ordering::Relaxed);
        self.shared.flush.set(at.flatten());
        if at.is_none() {
            self.store.clear();
        }
        Outcome::Ok
    }

    /// Refuses a flush whose delay is no time, which says less than that there are none.
    #[cold]
    pub(super) fn refuse_flush(&self) -> Outcome {
        metrics::MALFORMED.increment();
        let is_allowed = self.shared.options.flush;
        Outcome::Refused(if is_allowed { Refusal::FlushDelay } else { Refusal::Flush })
    }

    /// Clears the store if a delayed flush is due. Costs one load when none is.
    #[inline]
    pub(super) fn flush_if_due(&mut self, now: Now) {
        if let Some(at) = self.shared.flush.due(now.ticks) {
            self.flush_due(at);
        }
    }

    /// The store is cleared before the deadline is removed: a worker that no longer sees the
    /// deadline must not see the flushed items. Two workers that see the deadline at the same
    /// moment both clear, which may also flush a few items stored right after it.
    #[cold]
    fn flush_due(&mut self, at: u64) {
        self.store.clear();
        self.shared.flush.strike_out(at);
    }
}
