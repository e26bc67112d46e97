// SPDX-License-Identifier: Apache-2.0
//! [`Spreads`]: median, minimum and maximum of several measurements.

use super::{Comparison, Contender, Sample};
use serde::Serialize;

/// The least, the median and the largest of some measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spreads {
    /// The least.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Spreads {
    /// Of these; all 0 if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (values.first(), values.last()) else {
            return Spreads::default();
        };
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Spreads { min: *min, median, max: *max }
    }
}

impl Contender {
    /// What `of` says of its samples.
    pub fn spreads(&self, of: impl Fn(&Sample) -> f64) -> Spreads {
        Spreads::of(self.samples.iter().map(of))
    }

    /// The sample whose p999 is the median, or nearest above.
    pub fn typical(&self) -> Option<&Sample> {
        let mut samples: Vec<&Sample> = self.samples.iter().collect();
        samples.sort_by_key(|sample| sample.outcome.latency.p999);
        samples.get(samples.len() / 2).copied()
    }
}

impl Comparison {
    /// What `of` says of a contender in proportion to the first contender, round by round.
    pub fn ratios(&self, contender: &Contender, of: impl Fn(&Sample) -> f64) -> Spreads {
        let Some(first) = self.contenders.first() else { return Spreads::default() };
        let pairs = contender.samples.iter().zip(&first.samples);
        Spreads::of(pairs.map(|(sample, first)| of(sample) / of(first)).filter(|r| r.is_finite()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::report::text::tests::example;

    #[test]
    fn a_median_is_in_the_middle() {
        let of = |values: &[f64]| Spreads::of(values.iter().copied());
        assert_eq!(of(&[3.0, 1.0, 2.0]), Spreads { min: 1.0, median: 2.0, max: 3.0 });
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(of(&[]), Spreads::default());
    }

    #[test]
    fn ratios_are_taken_within_rounds() {
        let contender = |rates: [f64; 3]| {
            let sample = |(round, rate)| {
                let outcome = Outcome { rate, ..example() };
                Sample { round, server_cpu_ns: None, outcome }
            };
            let samples = rates.into_iter().enumerate().map(sample).collect();
            Contender { name: String::new(), command: String::new(), version: None, samples }
        };
        // The machine is twice as fast in the last round.
        let contenders = vec![contender([10.0, 10.0, 20.0]), contender([15.0, 14.0, 32.0])];
        let comparison =
            Comparison { name: String::new(), load: String::new(), peak: None, contenders };
        let ratios = comparison.ratios(&comparison.contenders[1], |sample| sample.outcome.rate);
        assert_eq!(ratios, Spreads { min: 1.4, median: 1.5, max: 1.6 });
        let own = comparison.ratios(&comparison.contenders[0], |sample| sample.outcome.rate);
        assert_eq!(own, Spreads { min: 1.0, median: 1.0, max: 1.0 });
    }
}
