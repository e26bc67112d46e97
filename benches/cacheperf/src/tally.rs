// SPDX-License-Identifier: Apache-2.0
//! [`Tally`]: the counts and latencies of one thread or of all.

use crate::absences::Absences;
use crate::player::Window;
use histogram::Histogram;
use std::ops::RangeInclusive;

/// How many errors are reported with their text; the others are only counted.
pub(crate) const TOLD_MAX: usize = 5;

/// Bits of a latency that are kept: an error of at most 1/128.
const GROUPING_POWER: u8 = 7;
/// Longer latencies count as 2^40 ns (18 minutes).
const MAX_POWER: u8 = 40;
const LATENCY_MAX: u64 = (1 << MAX_POWER) - 1;

/// Latencies in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    histogram: Histogram,
    /// The longest, exactly.
    max: u64,
    sum: u128,
    count: u64,
}

impl Latencies {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new(GROUPING_POWER, MAX_POWER).expect("the powers are in range");
        Latencies { histogram, max: 0, sum: 0, count: 0 }
    }

    /// Counts one. No allocation.
    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        // It fails only for what is too long.
        let _ = self.histogram.increment(ns.min(LATENCY_MAX));
        self.max = self.max.max(ns);
        self.sum += u128::from(ns);
        self.count += 1;
    }

    pub(crate) fn merge(&mut self, other: &Latencies) {
        if other.count == 0 {
            return;
        }
        let own = self.histogram.as_mut_slice();
        own.iter_mut().zip(other.histogram.as_slice()).for_each(|(own, other)| *own += other);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.count += other.count;
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The latencies that these shares of all requests do not exceed; 0 if there were none. The shares
    /// ascend.
    pub(crate) fn quantiles<const N: usize>(&self, quantiles: [f64; N]) -> [u64; N] {
        let mut buckets = self.buckets();
        let (mut seen, mut end) = (0, 0);
        quantiles.map(|quantile| {
            let wanted = (self.count as f64 * quantile).ceil().max(1.0) as u64;
            while seen < wanted {
                let Some((range, count)) = buckets.next() else { break };
                (seen, end) = (seen + count, *range.end());
            }
            end.min(self.max)
        })
    }

    /// The latency that this share of all requests does not exceed; 0 if there were none.
    #[cfg(test)]
    pub(crate) fn quantile(&self, quantile: f64) -> u64 {
        self.quantiles([quantile])[0]
    }

    /// How many took how long, the shortest first.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (RangeInclusive<u64>, u64)> {
        let buckets = self.histogram.iter();
        buckets.filter(|bucket| bucket.count() > 0).map(|bucket| (bucket.range(), bucket.count()))
    }
}

/// Keys that were asked for, and those that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finds {
    /// Keys that were asked for.
    pub(crate) gets: u64,
    /// Keys that were found.
    pub(crate) hits: u64,
    /// Bytes of the keys and values that were asked for.
    pub(crate) get_bytes: u64,
    /// Bytes of the keys and values that were found.
    pub(crate) hit_bytes: u64,
}

impl Finds {
    /// A key with its value, so many bytes, was asked for.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u64, found: bool) {
        self.gets += 1;
        self.get_bytes += bytes;
        if found {
            self.hits += 1;
            self.hit_bytes += bytes;
        }
    }

    fn merge(&mut self, other: &Finds) {
        self.gets += other.gets;
        self.hits += other.hits;
        self.get_bytes += other.get_bytes;
        self.hit_bytes += other.hit_bytes;
    }

    /// The share of the keys that were found, if any was asked for.
    pub(crate) fn hit_ratio(&self) -> Option<f64> {
        share(self.hits, self.gets)
    }

    /// The share of the bytes.
    pub(crate) fn byte_hit_ratio(&self) -> Option<f64> {
        share(self.hit_bytes, self.get_bytes)
    }
}

/// `part` of `whole`, where there is a whole.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What was counted and measured.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// Latencies of requests whose time to be sent was in the measured time.
    pub(crate) latencies: Latencies,
    /// Connections that were opened in place of others.
    pub(crate) reconnected: u64,
    /// Connections that broke.
    pub(crate) lost: u64,
    /// Replies that came.
    pub(crate) answered: u64,
    /// Keys that were asked for, and those that were found.
    pub(crate) finds: Finds,
    /// The part of them that is behind the warm-up of a trace.
    pub(crate) warm: Finds,
    /// Items that were written.
    pub(crate) sets: u64,
    /// Items that were to be written and were refused.
    pub(crate) set_errors: u64,
    /// Deletes that were answered.
    pub(crate) deletes: u64,
    /// Refusals, broken connections, replies that make no sense.
    pub(crate) errors: u64,
    /// Values that are not what was written.
    pub(crate) wrong: u64,
    /// Requests that were not answered, or not even sent, when the run ended.
    pub(crate) unanswered: u64,
    /// The first errors in words.
    pub(crate) told: Vec<String>,
    /// When the generator did not run.
    pub(crate) absences: Absences,
    /// In a fan-out: how long the slowest of each user's request took.
    pub(crate) fan_out: Option<Latencies>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Tally {
            latencies: Latencies::new(),
            reconnected: 0,
            lost: 0,
            answered: 0,
            finds: Finds::default(),
            warm: Finds::default(),
            sets: 0,
            set_errors: 0,
            deletes: 0,
            errors: 0,
            wrong: 0,
            unanswered: 0,
            told: Vec::new(),
            absences: Absences::default(),
            fan_out: None,
        }
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        self.latencies.merge(&other.latencies);
        self.count_all(other);
        self.complain(other);
        self.absences.merge(&other.absences);
        if let Some(other) = &other.fan_out {
            self.fan_out().merge(other);
        }
    }

    /// Latencies of users' requests, in a fan-out.
    pub(crate) fn fan_out(&mut self) -> &mut Latencies {
        self.fan_out.get_or_insert_with(Latencies::new)
    }

    /// Takes over what another has counted, without its latencies and its errors.
    pub(crate) fn count_all(&mut self, other: &Tally) {
        self.reconnected += other.reconnected;
        self.answered += other.answered;
        self.finds.merge(&other.finds);
        self.warm.merge(&other.warm);
        self.sets += other.sets;
        self.set_errors += other.set_errors;
        self.deletes += other.deletes;
    }

    /// Takes over another's errors alone.
    pub(crate) fn complain(&mut self, other: &Tally) {
        self.lost += other.lost;
        self.errors += other.errors;
        self.wrong += other.wrong;
        self.unanswered += other.unanswered;
        let room = TOLD_MAX.saturating_sub(self.told.len());
        self.told.extend(other.told.iter().take(room).cloned());
    }

    /// A request that was to be sent `at` is not answered, and waited for no longer.
    pub(crate) fn give_up(&mut self, at: u64, now: u64, window: Window) {
        if window.contains(at) {
            self.unanswered += 1;
            self.latencies.add(now.saturating_sub(at));
        }
    }

    /// Counts an error and keeps its words if it is one of the first.
    #[cold]
    pub(crate) fn error(&mut self, words: impl FnOnce() -> String) {
        self.errors += 1;
        if self.told.len() < TOLD_MAX {
            self.told.push(words());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_their_error() {
        let mut latencies = Latencies::new();
        (1..=100_000).for_each(|ns| latencies.add(ns));
        for (quantile, expected) in [(0.5, 50_000), (0.99, 99_000), (0.999, 99_900), (1.0, 100_000)]
        {
            let found = latencies.quantile(quantile);
            assert!(found >= expected && found <= expected + expected / 100, "{quantile}: {found}");
        }
        assert_eq!(latencies.max(), 100_000);
        assert_eq!(latencies.mean(), 50_000.5);
        assert_eq!(Latencies::new().quantile(0.99), 0);
    }

    #[test]
    fn shares_of_nothing_are_none() {
        assert_eq!((share(1, 4), share(0, 0)), (Some(0.25), None));
    }

    #[test]
    fn tallies_add_up() {
        let mut sum = Tally::new();
        let mut part = Tally::new();
        part.latencies.add(u64::MAX);
        part.finds.hits = 3;
        (0..7).for_each(|n| part.error(|| format!("error {n}")));
        sum.merge(&part);
        sum.merge(&part);
        assert_eq!((sum.finds.hits, sum.errors, sum.told.len()), (6, 14, TOLD_MAX));
        assert_eq!((sum.latencies.count(), sum.latencies.max()), (2, u64::MAX));
    }
}
