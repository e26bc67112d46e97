// SPDX-License-Identifier: Apache-2.0
//! [`Spread`]: a distribution of whole numbers, for sizes and times to live.

use crate::units;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, LogNormal};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Entries of a table of numbers. Enough that its largest entry is beyond the 99.9th percentile.
const ENTRIES: usize = 4096;

/// A distribution of whole numbers. Which of them it is follows from a random number, or from the
/// mixed bits of a key.
///
/// ```
/// use cacheperf::Spread;
///
/// let sizes: Spread = "64=9,1k=1".parse().unwrap();
/// assert_eq!((sizes.min(), sizes.max()), (64, 1024));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    text: String,
    numbers: Numbers,
}

#[derive(Clone, Debug, PartialEq)]
enum Numbers {
    One(u32),
    /// Each entry is as likely as every other.
    Table(Arc<[u32; ENTRIES]>),
}

impl Spread {
    /// Always the same number.
    pub fn fixed(number: u32) -> Self {
        Spread { text: number.to_string(), numbers: Numbers::One(number) }
    }

    /// The number that 64 random bits stand for. Costs one look into a table of 16 KiB at the most.
    #[inline]
    pub fn of(&self, bits: u64) -> u32 {
        match &self.numbers {
            Numbers::One(number) => *number,
            Numbers::Table(table) => table[(bits >> 52) as usize % ENTRIES],
        }
    }

    /// The least number.
    pub fn min(&self) -> u32 {
        match &self.numbers {
            Numbers::One(number) => *number,
            Numbers::Table(table) => table.iter().copied().min().unwrap_or_default(),
        }
    }

    /// The largest number.
    pub fn max(&self) -> u32 {
        match &self.numbers {
            Numbers::One(number) => *number,
            Numbers::Table(table) => table.iter().copied().max().unwrap_or_default(),
        }
    }

    fn table(text: &str, make: impl FnMut(usize) -> u32) -> Self {
        let mut table = Box::new([0; ENTRIES]);
        let numbers = (0..ENTRIES).map(make);
        table.iter_mut().zip(numbers).for_each(|(entry, number)| *entry = number);
        Spread { text: text.to_owned(), numbers: Numbers::Table(Arc::from(table)) }
    }
}

fn whole(text: &str, word: &str) -> Result<u32, String> {
    let number = units::count(word).ok().and_then(|number| u32::try_from(number).ok());
    number.ok_or(format!("`{word}` in `{text}` is no whole number, as 64, 4k or 1m are"))
}

fn uniform(text: &str, min: &str, max: &str) -> Result<Spread, String> {
    let (min, max) = (whole(text, min)?, whole(text, max)?);
    if min > max {
        return Err(format!("`{text}` goes from {min} down to {max}; write the lesser first"));
    }
    let width = u64::from(max - min) + 1;
    // The ends of the range are in the table however wide it is.
    let last = ENTRIES as u64 - 1;
    let entry = |at| {
        let at = at as u64;
        if width > ENTRIES as u64 { (width - 1) * at / last } else { width * at / (last + 1) }
    };
    Ok(Spread::table(text, |at| min + entry(at) as u32))
}

fn lognormal(text: &str, words: &str) -> Result<Spread, String> {
    let mut words = words.split(':');
    let usage = || format!("`{text}`: write lognormal:MEDIAN:SIGMA or lognormal:MEDIAN:SIGMA:MAX");
    let median = whole(text, words.next().ok_or_else(usage)?)?;
    let word = words.next().ok_or_else(usage)?;
    let sigma = word.parse::<f64>().ok().filter(|sigma| (0.0..=5.0).contains(sigma));
    let sigma = sigma.ok_or(format!("`{word}` in `{text}` is no sigma from 0 to 5"))?;
    let max = words.next().map_or(Ok(1 << 20), |word| whole(text, word))?;
    if words.next().is_some() || median == 0 {
        return Err(usage());
    }
    let normal = LogNormal::new(f64::from(median).ln(), sigma).map_err(|_| usage())?;
    let mut rng = SmallRng::seed_from_u64(1);
    Ok(Spread::table(text, |_| (normal.sample(&mut rng) as u32).clamp(1, max)))
}

fn weighted(text: &str) -> Result<Spread, String> {
    let mut list: Vec<(u32, u64)> = Vec::new();
    for part in text.split(',') {
        let (number, weight) = part
            .split_once('=')
            .ok_or(format!("`{part}` in `{text}` is no NUMBER=WEIGHT, as in 64=9,1k=1"))?;
        let number = whole(text, number)?;
        list.push((number, whole(text, weight)?.into()));
    }
    let sum: u64 = list.iter().map(|(_, weight)| weight).sum();
    if sum == 0 {
        return Err(format!("`{text}`: one weight must be above 0"));
    }
    let number = |at: usize| {
        let mut left = (2 * at as u64 + 1) * sum / (2 * ENTRIES as u64);
        let found = list.iter().find(|(_, weight)| match left.checked_sub(*weight) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        found.map_or(0, |(number, _)| *number)
    };
    Ok(Spread::table(text, number))
}

impl FromStr for Spread {
    type Err = String;

    /// `64` · `16-128` · `lognormal:MEDIAN:SIGMA[:MAX]` · `64=9,1k=1`
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(words) = text.strip_prefix("lognormal:") {
            lognormal(text, words)
        } else if text.contains('=') {
            weighted(text)
        } else if let Some((min, max)) = text.split_once('-') {
            uniform(text, min, max)
        } else {
            let number = whole(text, text)?;
            Ok(Spread { text: text.to_owned(), ..Spread::fixed(number) })
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scatter;
    use std::collections::HashMap;

    fn drawn(text: &str) -> (Spread, HashMap<u32, u32>) {
        let spread: Spread = text.parse().unwrap();
        let mut counts = HashMap::new();
        for id in 0..100_000 {
            *counts.entry(spread.of(scatter(id))).or_default() += 1;
        }
        (spread, counts)
    }

    #[test]
    fn a_range_is_hit_evenly_from_end_to_end() {
        let (_, counts) = drawn("10-19");
        assert_eq!(counts.len(), 10);
        assert!(counts.iter().all(|(number, count)| {
            (10..=19).contains(number) && (9_500..10_500).contains(count)
        }));
        let wide: Spread = "1-1m".parse().unwrap();
        assert_eq!((wide.min(), wide.max()), (1, 1 << 20));
    }

    #[test]
    fn a_list_is_hit_by_weight() {
        let (spread, counts) = drawn("64=9,1k=1");
        assert_eq!((spread.min(), spread.max()), (64, 1024));
        assert!((89_000..91_000).contains(&counts[&64]), "{counts:?}");
        assert_eq!(counts[&64] + counts[&1024], 100_000);
    }

    #[test]
    fn a_lognormal_has_its_median_and_its_limit() {
        let (spread, counts) = drawn("lognormal:200:1:3000");
        let below: u32 = counts.iter().filter(|(number, _)| **number < 200).map(|(_, n)| n).sum();
        assert!((48_000..52_000).contains(&below), "{below}");
        assert_eq!(spread.max(), 3_000);
        let sum: u64 = counts.iter().map(|(n, count)| u64::from(*n) * u64::from(*count)).sum();
        // e^(1/2) times the median, less what the limit takes.
        assert!((290..340).contains(&(sum / 100_000)), "{}", sum / 100_000);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("x", "`x` in `x` is no whole number"),
            ("9-1", "goes from 9 down to 1"),
            ("64=a", "`a` in `64=a`"),
            ("64=0", "one weight"),
            ("lognormal:64", "write lognormal:MEDIAN:SIGMA"),
            ("lognormal:64:9", "`9` in `lognormal:64:9` is no sigma"),
            ("5000000000", "no whole number"),
        ] {
            let error = text.parse::<Spread>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
