// SPDX-License-Identifier: Apache-2.0
//! [`Timer`]: how long something takes.

use nix::time::{ClockId, clock_gettime};

/// Measures real time in nanoseconds, on the machine's monotonic clock.
///
/// For times taken at every request. It counts whole nanoseconds, because two
/// [`Instant`](std::time::Instant)s and the [`Duration`](std::time::Duration) between them cost several times
/// as many instructions as reading the clock.
///
/// ```
/// use clock::Timer;
///
/// let timer = Timer::start();
/// let first = timer.nanos();
/// assert!(first <= timer.nanos());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// The clock's reading at the start, in nanoseconds.
    started: u64,
}

impl Timer {
    /// Starts a timer.
    #[inline]
    pub fn start() -> Self {
        Timer { started: monotonic() }
    }

    /// The clock's reading at the start.
    #[inline]
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Nanoseconds since the start.
    #[inline]
    pub fn nanos(&self) -> u64 {
        monotonic().saturating_sub(self.started)
    }

    /// Nanoseconds from this timer's start to that of `later`. Reads no clock.
    #[inline]
    pub fn nanos_until(&self, later: Timer) -> u64 {
        later.started.saturating_sub(self.started)
    }
}

/// The machine's monotonic clock, in nanoseconds. It counts from the start of the machine.
#[inline]
pub(crate) fn monotonic() -> u64 {
    nanos(ClockId::CLOCK_MONOTONIC)
}

/// The wall clock, in nanoseconds since the unix epoch; one that is set to an earlier time reads as zero.
#[inline]
pub(crate) fn wall() -> u64 {
    nanos(ClockId::CLOCK_REALTIME)
}

/// 64 bits of nanoseconds last for some 500 years.
#[inline]
fn nanos(clock: ClockId) -> u64 {
    // Every machine has such clocks; without them all times would be zero.
    clock_gettime(clock)
        .map_or(0, |time| time.tv_sec().max(0) as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
