// SPDX-License-Identifier: Apache-2.0
//! Time for a cache server: read once per loop, owned by tests.
//!
//! A worker reads the [`Clock`] once per turn of its event loop and hands the same [`Now`] to every
//! request of that turn. Nothing below the loop asks the operating system for the time, so a test
//! with a manual clock decides when an item expires.
//!
//! Two scales are kept apart:
//!
//! * [`Ticks`]: milliseconds since the clock was made. Monotonic: a step of the wall clock never
//!   moves it, so it is what expiry and timeouts are measured in.
//! * unix milliseconds: wall time, for log lines and for the absolute expiry times that clients
//!   send. [`Now::at_unix`] converts such a time to ticks.
//!
//! ```
//! use clock::Clock;
//! use std::time::Duration;
//!
//! let clock = Clock::manual(1_700_000_000_000);
//! let start = clock.now();
//! clock.advance(Duration::from_secs(5));
//! assert_eq!(clock.now().ticks, start.ticks + Duration::from_secs(5));
//! assert_eq!(clock.now().unix_seconds(), 1_700_000_005);
//! ```
#![forbid(unsafe_code)]

mod ticks;

pub use ticks::Ticks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time of one turn of an event loop, on both scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time since the clock was made.
    pub ticks: Ticks,
    /// Wall time in milliseconds since the unix epoch.
    pub unix_ms: u64,
}

impl Now {
    /// Wall time in whole seconds since the unix epoch.
    pub fn unix_seconds(&self) -> u64 {
        self.unix_ms / 1000
    }

    /// The ticks at which wall time reaches `unix_ms`; [`Ticks::ZERO`] when that is before the
    /// clock was made, and saturating far in the future.
    ///
    /// ```
    /// let clock = clock::Clock::manual(10_000);
    /// let now = clock.now();
    /// assert_eq!(now.at_unix(12_500).since(now.ticks).as_millis(), 2_500);
    /// assert_eq!(now.at_unix(0), clock::Ticks::ZERO);
    /// ```
    pub fn at_unix(&self, unix_ms: u64) -> Ticks {
        if unix_ms >= self.unix_ms {
            Ticks::from_millis(self.ticks.as_millis().saturating_add(unix_ms - self.unix_ms))
        } else {
            Ticks::from_millis(self.ticks.as_millis().saturating_sub(self.unix_ms - unix_ms))
        }
    }
}

/// A source of [`Now`]: the operating system's, or one that a test moves by hand.
///
/// Clones share one time line. Reading the system clock costs two vDSO calls and no system call.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    System { start: Instant },
    Manual(Arc<Manual>),
}

#[derive(Debug)]
struct Manual {
    start_unix_ms: u64,
    elapsed_ms: AtomicU64,
}

impl Clock {
    /// The operating system's clock; its ticks start at zero here.
    pub fn system() -> Self {
        Clock { source: Source::System { start: Instant::now() } }
    }

    /// A clock that stands still at `unix_ms` until [`Clock::advance`] moves it.
    pub fn manual(unix_ms: u64) -> Self {
        let manual = Manual { start_unix_ms: unix_ms, elapsed_ms: AtomicU64::new(0) };
        Clock { source: Source::Manual(Arc::new(manual)) }
    }

    /// Reads both scales.
    pub fn now(&self) -> Now {
        match &self.source {
            Source::System { start } => {
                let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
                Now {
                    ticks: Ticks::ZERO + start.elapsed(),
                    unix_ms: since_epoch.map_or(0, |d| d.as_millis() as u64),
                }
            }
            Source::Manual(manual) => {
                let elapsed = manual.elapsed_ms.load(Ordering::Acquire);
                Now { ticks: Ticks::from_millis(elapsed), unix_ms: manual.start_unix_ms + elapsed }
            }
        }
    }

    /// Moves a manual clock forward, for all its clones.
    ///
    /// # Panics
    ///
    /// On the system clock: nobody moves that.
    pub fn advance(&self, by: Duration) {
        match &self.source {
            Source::System { .. } => panic!("only a manual clock can be advanced"),
            Source::Manual(manual) => {
                manual.elapsed_ms.fetch_add(by.as_millis() as u64, Ordering::AcqRel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_never_goes_back() {
        let clock = Clock::system();
        let mut last = clock.now().ticks;
        for _ in 0..1000 {
            let now = clock.now();
            assert!(now.ticks >= last);
            assert!(now.unix_seconds() > 1_600_000_000);
            last = now.ticks;
        }
    }

    #[test]
    fn clones_of_a_manual_clock_share_its_time() {
        let clock = Clock::manual(5_000);
        let other = clock.clone();
        clock.advance(Duration::from_millis(1));
        assert_eq!(other.now(), Now { ticks: Ticks::from_millis(1), unix_ms: 5_001 });
    }

    #[test]
    fn unix_times_convert_both_ways_and_saturate() {
        let clock = Clock::manual(100_000);
        clock.advance(Duration::from_secs(50));
        let now = clock.now();
        assert_eq!(now.at_unix(149_000), Ticks::from_millis(49_000));
        assert_eq!(now.at_unix(151_000), Ticks::from_millis(51_000));
        assert_eq!(now.at_unix(u64::MAX), Ticks::from_millis(u64::MAX - 150_000 + 50_000));
        assert_eq!(now.at_unix(1), Ticks::ZERO);
    }

    #[test]
    #[should_panic(expected = "only a manual clock")]
    fn the_system_clock_cannot_be_moved() {
        Clock::system().advance(Duration::from_secs(1));
    }
}
