// SPDX-License-Identifier: Apache-2.0
//! What a connection may take before others have their turn: [`Limits`], which last, and [`Share`], what is left of one turn.

use buffer::SendBuf;
use clock::Timer;
use std::time::Duration;

/// Limits of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest accepted request in bytes.
    pub request_bytes: usize,
    /// The high-water mark: with this many unsent bytes the connection yields to others, and, if there is no
    /// memory for more, it is held until its peer reads.
    pub high_water: usize,
    /// Requests served before other connections have their turn.
    pub requests_per_turn: usize,
}

impl Default for Limits {
    /// 2 MiB requests, 48 KiB unsent, 256 requests.
    fn default() -> Self {
        Limits { request_bytes: 2 << 20, high_water: 48 << 10, requests_per_turn: 256 }
    }
}

/// What one connection may take before others have their turn: RULE-FAIR.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Requests that are left.
    pub(crate) requests: usize,
    /// Bytes of bodies that are taken in parts that are left.
    pub(crate) body: usize,
    /// When the share ends even if requests are left; `None` for never.
    pub(crate) until: Option<Until>,
    /// The mark: with this many unsent bytes the share ends, but for values by reference.
    pub(crate) unsent: usize,
    /// With this many unsent bytes the share ends in any case.
    pub(crate) gathered: usize,
}

impl Share {
    /// RULE-BOUND: whether so much waits to be sent that nothing more is executed.
    #[inline]
    pub(super) fn is_full(&self, send: &SendBuf) -> bool {
        // In this order it is one comparison as a rule.
        let pending = send.pending();
        pending >= self.unsent && (pending >= self.gathered || send.copied() >= self.unsent)
    }

    /// Whether its time is up. Reads the clock, so call it only after a good deal of work.
    #[inline]
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(Until::is_past)
    }
}

/// A deadline, relative to the begin of a turn of a worker's loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    since: Timer,
    nanos: u64,
}

impl Until {
    /// The deadline `span` after `since`.
    pub(crate) fn new(since: Timer, span: Duration) -> Self {
        Until { since, nanos: u64::try_from(span.as_nanos()).unwrap_or(u64::MAX) }
    }

    /// Whether the deadline has passed `nanos` nanoseconds after the begin.
    #[inline]
    pub(crate) fn is_over(&self, nanos: u64) -> bool {
        nanos >= self.nanos
    }

    /// Whether the deadline has passed. Reads the clock.
    #[inline]
    pub(crate) fn is_past(self) -> bool {
        self.is_over(self.since.nanos())
    }
}
