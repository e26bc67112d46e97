// SPDX-License-Identifier: Apache-2.0
//! [`Time`]: what a cache goes by.

use clock::{Clock, Ticks};
use nix::time::{ClockId, clock_gettime};

/// The kernel keeps a monotonic time that costs a few nanoseconds to read. It advances in steps of a timer interrupt,
/// 1 to 10 ms.
#[cfg(any(target_os = "linux", target_os = "android"))]
const COARSE: ClockId = ClockId::CLOCK_MONOTONIC_COARSE;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const COARSE: ClockId = ClockId::CLOCK_MONOTONIC;

/// Where the time of each operation comes from.
#[derive(Debug)]
pub(crate) enum Time {
    /// The kernel's coarse clock, since this reading in milliseconds.
    Coarse(u64),
    /// A clock that was given, as tests do.
    Given(Clock),
}

impl Time {
    pub(crate) fn coarse() -> Self {
        Time::Coarse(coarse_ms())
    }

    #[inline]
    pub(crate) fn now(&self) -> Ticks {
        match self {
            Time::Coarse(start) => Ticks::from_millis(coarse_ms().saturating_sub(*start)),
            Time::Given(clock) => clock.now().ticks,
        }
    }
}

#[inline]
fn coarse_ms() -> u64 {
    // Every machine has this clock; without it nothing would expire.
    clock_gettime(COARSE)
        .map_or(0, |time| time.tv_sec().max(0) as u64 * 1000 + time.tv_nsec() as u64 / 1_000_000)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn coarse_time_goes_on_and_never_back() {
        let time = Time::coarse();
        let (mut last, mut steps) = (time.now(), 0);
        while steps < 3 {
            let now = time.now();
            assert!(now >= last);
            steps += u32::from(now > last);
            last = now;
        }
    }

    #[test]
    fn a_given_clock_is_gone_by() {
        let clock = Clock::manual(0);
        let time = Time::Given(clock.clone());
        clock.advance(Duration::from_millis(7));
        assert_eq!(time.now(), Ticks::from_millis(7));
    }
}
