// SPDX-License-Identifier: Apache-2.0
//! [`Percentile`]: the percentiles of a run's latencies, and how many requests a run needs before each means anything.

use crate::Latency;

/// Requests that must lie beyond a percentile. With fewer, a hiccup or two of the machine decide what it is.
const BEYOND_MIN: u64 = 10;

/// A percentile of a run's latencies.
///
/// ```
/// use cacheperf::{Latency, Percentile};
///
/// let latency = Latency { count: 2_000, p99: 130_000, p999: 1_500_000, ..Latency::default() };
/// assert!(Percentile::P99.is_known(&latency));
/// // Of 2,000 requests two lie beyond: chance.
/// assert!(!Percentile::P999.is_known(&latency));
/// assert_eq!(Percentile::P999.requests_min(), 10_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    /// Half of all took no longer.
    P50,
    /// 90 % took no longer.
    P90,
    /// 99 % took no longer.
    P99,
    /// 99.9 % took no longer.
    P999,
    /// 99.99 % took no longer.
    P9999,
}

impl Percentile {
    /// All, the least first.
    pub const ALL: [Percentile; 5] =
        [Percentile::P50, Percentile::P90, Percentile::P99, Percentile::P999, Percentile::P9999];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Percentile::P50 => "p50",
            Percentile::P90 => "p90",
            Percentile::P99 => "p99",
            Percentile::P999 => "p999",
            Percentile::P9999 => "p9999",
        }
    }

    /// Of so many requests one lies beyond it.
    fn one_in(self) -> u64 {
        match self {
            Percentile::P50 => 2,
            Percentile::P90 => 10,
            Percentile::P99 => 100,
            Percentile::P999 => 1_000,
            Percentile::P9999 => 10_000,
        }
    }

    /// The latency in nanoseconds.
    pub fn of(self, latency: &Latency) -> u64 {
        match self {
            Percentile::P50 => latency.p50,
            Percentile::P90 => latency.p90,
            Percentile::P99 => latency.p99,
            Percentile::P999 => latency.p999,
            Percentile::P9999 => latency.p9999,
        }
    }

    /// The requests that it takes: ten of them lie beyond.
    pub fn requests_min(self) -> u64 {
        self.one_in() * BEYOND_MIN
    }

    /// Whether there were enough requests to know it.
    pub fn is_known(self, latency: &Latency) -> bool {
        latency.count >= self.requests_min()
    }

    /// Whether it is another request than the longest: the least that it takes to draw it beside that.
    pub(crate) fn is_apart(self, latency: &Latency) -> bool {
        latency.count > self.one_in()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_depends_on_the_requests() {
        let known = |count| {
            let latency = Latency { count, ..Latency::default() };
            Percentile::ALL.map(|percentile| percentile.is_known(&latency))
        };
        assert_eq!(known(19), [false; 5]);
        assert_eq!(known(20), [true, false, false, false, false]);
        assert_eq!(known(9_999), [true, true, true, false, false]);
        assert_eq!(known(10_000), [true, true, true, true, false]);
        assert_eq!(known(100_000), [true; 5]);
    }

    #[test]
    fn a_percentile_stands_apart_from_the_longest_behind_its_first_request() {
        let of = |count| Latency { count, ..Latency::default() };
        assert!(!Percentile::P999.is_apart(&of(1_000)));
        assert!(Percentile::P999.is_apart(&of(1_001)));
    }
}
