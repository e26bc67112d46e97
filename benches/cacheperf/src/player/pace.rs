// SPDX-License-Identifier: Apache-2.0
//! [`Schedule`]: when the requests of an open loop are due to be sent.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, Exp1};
use std::fmt;
use std::str::FromStr;

/// How the requests of an open loop follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    #[default]
    Even,
    /// At random, independent of each other, as those of many clients do.
    Poisson,
}

impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "even" => Ok(Arrivals::Even),
            "poisson" => Ok(Arrivals::Poisson),
            _ => Err(format!("`{text}` is neither even nor poisson")),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Arrivals::Even => "even",
            Arrivals::Poisson => "poisson",
        })
    }
}

/// The times at which requests are due to be sent, whether or not earlier ones have been answered. They are
/// decided beforehand, so a server that stalls does not slow them down.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    interval_ns: f64,
    next_ns: f64,
    random: Option<SmallRng>,
}

impl Schedule {
    /// `rate` requests per second, the first of them `offset` intervals after 0.
    pub(crate) fn new(rate: f64, offset: f64, arrivals: Arrivals, seed: u64) -> Self {
        let interval_ns = 1e9 / rate;
        let random = (arrivals == Arrivals::Poisson).then(|| SmallRng::seed_from_u64(seed));
        Schedule { interval_ns, next_ns: interval_ns * offset, random }
    }

    /// When the next request is to be sent, in nanoseconds.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next_ns as u64
    }

    /// Moves on to the next request.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let intervals: f64 = self.random.as_mut().map_or(1.0, |rng| Exp1.sample(rng));
        self.next_ns += self.interval_ns * intervals;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals) -> Vec<u64> {
        let mut schedule = Schedule::new(1_000.0, 0.5, arrivals, 1);
        (0..10_000)
            .map(|_| {
                let at = schedule.next();
                schedule.advance();
                at
            })
            .collect()
    }

    #[test]
    fn even_arrivals_have_equal_distances() {
        let times = times(Arrivals::Even);
        assert_eq!(&times[..3], [500_000, 1_500_000, 2_500_000]);
        assert_eq!(times[9_999], 9_999_500_000);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_scatter() {
        let times = times(Arrivals::Poisson);
        let end_s = times[9_999] as f64 / 1e9;
        assert!((9.7..10.3).contains(&end_s), "{end_s}");
        // The distances of a Poisson process are longer than their mean in e^-1 of all cases.
        let long = times.windows(2).filter(|pair| pair[1] - pair[0] > 1_000_000).count();
        assert!((3_500..3_860).contains(&long), "{long}");
    }
}
