// SPDX-License-Identifier: Apache-2.0
//! How long a connection may take over what it is doing: three phases, one deadline.
//!
//! ```text
//!  accepted ──► Reading ──first byte of a response──► Writing
//!                  ▲                                     │
//!                  └── a byte arrives ── Idle ◄── all bytes sent
//! ```
//!
//! The phase changes only when bytes cross the socket, so a client cannot keep a connection in a phase
//! without an end. `INV-DEADLINE`: every connection has a deadline at all times,
//! and no single byte moves it: only a complete response does.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long each phase may last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// From the first byte of a request (or the accept) to the end of its headers.
    pub(crate) header: Duration,
    /// From the first byte of a request to the last byte of its response.
    pub(crate) request: Duration,
    /// Between a response and the first byte of the next request.
    pub(crate) idle: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reading,
    Writing,
    Idle,
}

/// The phase of one connection and when it began. The socket advances it; the connection's task obeys it.
#[derive(Debug)]
pub(crate) struct Pace {
    timeouts: Timeouts,
    now: Cell<(Phase, Instant)>,
}

impl Pace {
    /// A connection accepted at `now`, whose first request is awaited.
    pub(crate) fn new(timeouts: Timeouts, now: Instant) -> Self {
        Self { timeouts, now: Cell::new((Phase::Reading, now)) }
    }

    /// Bytes have arrived. The first ones after a response begin the next request.
    pub(crate) fn received(&self, now: Instant) {
        if self.now.get().0 == Phase::Idle {
            self.now.set((Phase::Reading, now));
        }
    }

    /// A response is about to be sent. It shares the deadline of its request; a pipelined request,
    /// which arrived with the one before it, counts from here.
    pub(crate) fn sending(&self, now: Instant) {
        match self.now.get() {
            (Phase::Reading, since) => self.now.set((Phase::Writing, since)),
            (Phase::Idle, _) => self.now.set((Phase::Writing, now)),
            (Phase::Writing, _) => {}
        }
    }

    /// All bytes handed over are with the kernel.
    pub(crate) fn flushed(&self, now: Instant) {
        if self.now.get().0 == Phase::Writing {
            self.now.set((Phase::Idle, now));
        }
    }

    /// When to give the connection up.
    pub(crate) fn deadline(&self) -> Instant {
        let (phase, since) = self.now.get();
        since
            + match phase {
                Phase::Reading => self.timeouts.header,
                Phase::Writing => self.timeouts.request,
                Phase::Idle => self.timeouts.idle,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        header: Duration::from_secs(5),
        request: Duration::from_secs(10),
        idle: Duration::from_secs(60),
    };

    /// A pace and a function from seconds to instants.
    fn accepted_at_zero() -> (Pace, impl Fn(u64) -> Instant) {
        let start = Instant::now();
        (Pace::new(TIMEOUTS, start), move |seconds| start + Duration::from_secs(seconds))
    }

    #[test]
    fn a_drip_of_header_bytes_does_not_move_the_deadline() {
        let (pace, at) = accepted_at_zero();
        for second in 0..5 {
            pace.received(at(second));
            pace.flushed(at(second));
            assert_eq!(pace.deadline(), at(5));
        }
    }

    #[test]
    fn a_drip_of_reads_does_not_move_the_deadline_of_a_response() {
        let (pace, at) = accepted_at_zero();
        pace.received(at(1));
        for second in 2..9 {
            pace.sending(at(second));
            pace.received(at(second));
            assert_eq!(pace.deadline(), at(10), "counted from the accept");
        }
    }

    #[test]
    fn a_complete_response_earns_an_idle_time_and_the_next_request_a_full_one() {
        let (pace, at) = accepted_at_zero();
        pace.sending(at(1));
        pace.flushed(at(2));
        assert_eq!(pace.deadline(), at(62));
        pace.received(at(30));
        assert_eq!(pace.deadline(), at(35));
        pace.sending(at(31));
        assert_eq!(pace.deadline(), at(40));
    }

    #[test]
    fn a_pipelined_request_counts_from_its_own_response() {
        let (pace, at) = accepted_at_zero();
        pace.sending(at(1));
        pace.flushed(at(1));
        pace.sending(at(3));
        assert_eq!(pace.deadline(), at(13));
    }
}
