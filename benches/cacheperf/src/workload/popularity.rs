// SPDX-License-Identifier: Apache-2.0
//! [`Popularity`]: how often which key is asked for.

use rand::Rng;
use rand_distr::{Distribution, Zipf};
use std::fmt;
use std::str::FromStr;

/// How requests spread over the keys.
///
/// ```
/// use cacheperf::Popularity;
///
/// assert_eq!("zipf:0.99".parse(), Ok(Popularity::Zipf(0.99)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Popularity {
    /// Every key as often as every other.
    Uniform,
    /// The key of rank r in proportion to r^-s. Real caches have an s of 0.6 to 1.3.
    Zipf(f64),
}

impl Popularity {
    /// What draws key numbers below `count`.
    pub(crate) fn sampler(self, count: u64) -> Sampler {
        match self {
            Popularity::Uniform => Sampler::Uniform(count),
            Popularity::Zipf(s) => match Zipf::new(count as f64, s) {
                Ok(zipf) => Sampler::Zipf(zipf, count),
                // One key, which every distribution hits.
                Err(_) => Sampler::Uniform(count),
            },
        }
    }
}

/// Draws key numbers. The most popular key is number 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sampler {
    Uniform(u64),
    Zipf(Zipf<f64>, u64),
}

impl Sampler {
    /// The number of the next key.
    #[inline]
    pub(crate) fn sample(&self, rng: &mut impl Rng) -> u64 {
        match self {
            Sampler::Uniform(count) => {
                ((u128::from(rng.next_u64()) * u128::from(*count)) >> 64) as u64
            }
            Sampler::Zipf(zipf, count) => (zipf.sample(rng) as u64 - 1).min(count - 1),
        }
    }
}

impl FromStr for Popularity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "uniform" {
            return Ok(Popularity::Uniform);
        }
        let exponent = text.strip_prefix("zipf:").ok_or(format!(
            "`{text}` is no distribution of keys; write uniform or zipf:EXPONENT, as in zipf:0.99"
        ))?;
        match exponent.parse::<f64>() {
            Ok(s) if s > 0.0 && s <= 10.0 => Ok(Popularity::Zipf(s)),
            _ => Err(format!("`{exponent}` in `{text}` is no exponent above 0 and up to 10")),
        }
    }
}

impl fmt::Display for Popularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Popularity::Uniform => f.write_str("uniform"),
            Popularity::Zipf(s) => write!(f, "zipf:{s}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    const DRAWS: u32 = 100_000;

    fn counts(popularity: &str, keys: u64) -> Vec<u32> {
        let sampler = popularity.parse::<Popularity>().unwrap().sampler(keys);
        let mut rng = SmallRng::seed_from_u64(7);
        let mut counts = vec![0; keys as usize];
        for _ in 0..DRAWS {
            counts[sampler.sample(&mut rng) as usize] += 1;
        }
        counts
    }

    /// Chi squared of what was drawn against `weights`.
    fn chi_squared(counts: &[u32], weights: &[f64]) -> f64 {
        let sum: f64 = weights.iter().sum();
        let expected = |weight: f64| weight / sum * f64::from(DRAWS);
        counts
            .iter()
            .zip(weights)
            .map(|(&count, &weight)| {
                (f64::from(count) - expected(weight)).powi(2) / expected(weight)
            })
            .sum()
    }

    #[test]
    fn draws_follow_the_law() {
        let keys = 100;
        // With 99 degrees of freedom chi squared is below 149 in 999 of 1,000 cases.
        let uniform = chi_squared(&counts("uniform", keys), &[1.0; 100]);
        assert!(uniform < 149.0, "{uniform}");
        for s in [0.5, 0.99, 1.0, 1.2] {
            let weights: Vec<f64> = (1..=keys).map(|rank| (rank as f64).powf(-s)).collect();
            let zipf = chi_squared(&counts(&format!("zipf:{s}"), keys), &weights);
            assert!(zipf < 149.0, "{s}: {zipf}");
        }
    }

    #[test]
    fn one_key_is_hit_always() {
        assert_eq!(counts("zipf:1", 1), [DRAWS]);
        assert_eq!(counts("uniform", 1), [DRAWS]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in
            [("normal", "`normal` is no"), ("zipf:", "`` in `zipf:`"), ("zipf:0", "`0` in")]
        {
            let error = text.parse::<Popularity>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
