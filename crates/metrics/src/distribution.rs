// SPDX-License-Identifier: Apache-2.0
//! A distribution as the text forms show it.

use crate::bucket::{Counts, index_of};

/// Powers of two for which the values below are counted: 2^0 to 2^40.
const POWERS: usize = 41;

/// How many values there were below each power of two, and their sum: what a histogram that is kept elsewhere hands
/// over, and what is shown of every histogram.
///
/// ```
/// let times = [120_u64, 900, 5_000];
/// let below = |bound| times.iter().filter(|&&time| time < bound).count() as u64;
/// let shown = metrics::Distribution::new(3, times.iter().sum(), below);
/// assert_eq!((shown.count(), shown.sum()), (3, 6_020));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    below: [u64; POWERS],
    count: u64,
    sum: u64,
}

impl Distribution {
    /// A distribution of `count` values with this sum, of which `below` tells how many are below a power of two.
    pub fn new(count: u64, sum: u64, below: impl Fn(u64) -> u64) -> Self {
        Self { below: std::array::from_fn(|power| below(1 << power)), count, sum }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// How many values are below 2^`power`.
    pub(crate) fn below(&self, power: u32) -> u64 {
        self.below[power as usize]
    }
}

impl From<&Counts> for Distribution {
    fn from(counts: &Counts) -> Self {
        let (mut sum, mut next) = (0, 0);
        let below = std::array::from_fn(|power| {
            // Every power of two begins a bucket.
            let end = index_of(1 << power);
            sum += counts.counts[next..end].iter().sum::<u64>();
            next = end;
            sum
        });
        Self { below, count: counts.total(), sum: counts.sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_of_two_begins_a_bucket() {
        for power in 0..POWERS {
            let bound = 1_u64 << power;
            assert_ne!(index_of(bound - 1), index_of(bound), "2^{power}");
        }
    }
}
