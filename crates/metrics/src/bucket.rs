// SPDX-License-Identifier: Apache-2.0
//! Log-linear buckets: 32 equal ones to each power of two, over the whole range of `u64`.
//!
//! Values below 64 have a bucket each and are exact. Above, a bucket is at most 1/32 of its lowest
//! value wide, and percentiles report its middle: within 1/64 (1.6 %) of the value recorded. That
//! is 1920 buckets, 15 KiB, whatever the values.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::block::add_owned;

/// Buckets to a power of two, as a power of two itself.
const GROUPING: u32 = 5;

/// The number of buckets.
pub(crate) const BUCKETS: usize = ((u64::BITS - GROUPING + 1) as usize) << GROUPING;

/// The bucket of a value.
#[inline]
pub(crate) fn index_of(value: u64) -> usize {
    if value < 1 << GROUPING {
        return value as usize;
    }
    let power = value.ilog2();
    let shift = power - GROUPING;
    // The top `GROUPING + 1` bits: 32..=63 within each power of two.
    let mantissa = (value >> shift) as usize;
    ((shift as usize) << GROUPING) + mantissa
}

/// The lowest and the highest value of a bucket.
pub(crate) fn range_of(index: usize) -> (u64, u64) {
    if index < 1 << GROUPING {
        return (index as u64, index as u64);
    }
    let shift = (index >> GROUPING) as u32 - 1;
    let mantissa = (index - ((shift as usize) << GROUPING)) as u64;
    let low = mantissa << shift;
    (low, low + ((1 << shift) - 1))
}

/// One thread's counts for one histogram. Fits in 16 KiB.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Buckets {
    counts: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

impl Buckets {
    pub(crate) fn new() -> Self {
        Self { counts: [const { AtomicU64::new(0) }; BUCKETS], sum: AtomicU64::new(0) }
    }

    /// Counts a value; only the owner of these buckets may call this.
    #[inline]
    pub(crate) fn record_owned(&self, value: u64) {
        add_owned(&self.counts[index_of(value)], 1);
        add_owned(&self.sum, value);
    }

    /// Counts a value; any thread may call this, at the price of a read-modify-write.
    pub(crate) fn record_shared(&self, value: u64) {
        self.counts[index_of(value)].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
    }
}

/// Counts summed over threads, at one moment or over a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) counts: Box<[u64]>,
    /// The sum of all values, wrapping.
    pub(crate) sum: u64,
}

impl Counts {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into_boxed_slice(), sum: 0 }
    }

    /// No values, and no memory for any: for what may never be recorded.
    pub(crate) fn none() -> Self {
        Self { counts: Box::default(), sum: 0 }
    }

    pub(crate) fn add(&mut self, buckets: &Buckets) {
        for (sum, count) in self.counts.iter_mut().zip(&buckets.counts) {
            *sum += count.load(Relaxed);
        }
        self.sum = self.sum.wrapping_add(buckets.sum.load(Relaxed));
    }

    /// How many values there are.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The highest value, as exactly as its bucket tells. `None` without values.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.percentile(10_000)
    }

    /// The value such that `per_10_000` of ten thousand are at most that high (nearest rank).
    /// `None` without values.
    pub(crate) fn percentile(&self, per_10_000: u32) -> Option<u64> {
        let total = self.total();
        let rank = (u128::from(total) * u128::from(per_10_000)).div_ceil(10_000).max(1);
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += u128::from(count);
            seen >= rank
        })?;
        let (low, high) = range_of(index);
        Some(low.midpoint(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buckets_cover_every_value_once_and_in_order() {
        let mut expected_low = 0;
        for index in 0..BUCKETS {
            let (low, high) = range_of(index);
            assert_eq!(low, expected_low, "bucket {index} leaves a gap or overlaps");
            assert_eq!(index_of(low), index);
            assert_eq!(index_of(high), index);
            expected_low = high.wrapping_add(1);
        }
        assert_eq!(expected_low, 0, "the last bucket ends at u64::MAX");
    }

    #[test]
    fn the_middle_of_a_bucket_is_within_a_64th_of_every_value_in_it() {
        for index in 0..BUCKETS {
            let (low, high) = range_of(index);
            let middle = low.midpoint(high);
            let error = (high - middle).max(middle - low);
            assert!(u128::from(error) * 64 <= u128::from(low), "bucket {index}");
        }
    }

    #[test]
    fn a_thread_pays_at_most_16_kib_for_a_histogram() {
        assert!(size_of::<Buckets>() <= 16 * 1024, "{}", size_of::<Buckets>());
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let buckets = Buckets::new();
        (1..=50).for_each(|value| buckets.record_owned(value));
        let mut counts = Counts::new();
        assert_eq!(counts.percentile(5_000), None);
        counts.add(&buckets);
        assert_eq!(counts.total(), 50);
        assert_eq!(counts.sum, 1275);
        // Rank 0.5 * 50 = 25, 0.9 * 50 = 45, 0.99 * 50 = 49.5 rounded up.
        assert_eq!(counts.percentile(5_000), Some(25));
        assert_eq!(counts.percentile(9_000), Some(45));
        assert_eq!(counts.percentile(9_900), Some(50));
        assert_eq!(counts.percentile(0), Some(1));
        assert_eq!(counts.percentile(10_000), Some(50));
    }
}
