// SPDX-License-Identifier: Apache-2.0
//! [`Timer`]: how long something takes.

use nix::time::{ClockId, clock_gettime};

/// Measures real time in nanoseconds, on the machine's monotonic clock.
///
/// For what is timed at every request: whole nanoseconds, where two [`Instant`](std::time::Instant)s
/// and the [`Duration`](std::time::Duration) between them cost several times as many instructions as
/// the readings of the clock.
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
    /// Nanoseconds of the clock.
    started: u64,
}

impl Timer {
    /// Begins to measure.
    #[inline]
    pub fn start() -> Self {
        Timer { started: reading() }
    }

    /// Nanoseconds since it was started.
    #[inline]
    pub fn nanos(&self) -> u64 {
        reading().saturating_sub(self.started)
    }
}

/// The clock counts from when the machine was started, so nanoseconds last for some 500 years.
#[inline]
fn reading() -> u64 {
    // There is such a clock on every machine; without it everything takes no time.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
