// SPDX-License-Identifier: Apache-2.0
//! [`Histogram`]: the distribution of a command's run times.

use super::stats::Count;

/// Buckets per power of two; a time is known to an eighth.
const PARTS: usize = 8;

/// Times below this power of two share a bucket.
const FIRST: u32 = 6;

/// Number of powers of two that are distinguished: from 64 ns to 17 s.
const DOUBLINGS: usize = 28;

const BUCKETS: usize = DOUBLINGS * PARTS;

/// Times in buckets. One thread records, any may read.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: Box<[Count; BUCKETS]>,
    sum: Count,
}

/// The sum of several histograms.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    buckets: Box<[u64; BUCKETS]>,
    sum: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            buckets: Box::new(std::array::from_fn(|_| Count::default())),
            sum: Count::default(),
        }
    }
}

/// The bucket of a time.
#[inline]
fn bucket(nanos: u64) -> usize {
    let doubling = nanos.max(1 << FIRST).ilog2();
    let part = (nanos.max(1 << FIRST) >> (doubling - 3)) as usize % PARTS;
    ((doubling - FIRST) as usize * PARTS + part).min(BUCKETS - 1)
}

/// The times below this are in this bucket or one before it.
fn end(bucket: usize) -> u64 {
    let (doubling, part) = (bucket / PARTS, bucket % PARTS);
    ((PARTS + part + 1) as u64) << (doubling as u32 + FIRST - 3)
}

impl Histogram {
    /// Records a time.
    #[inline]
    pub(crate) fn record(&self, nanos: u64) {
        self.buckets[bucket(nanos)].add(1);
        self.sum.add(nanos);
    }

    /// Removes all times.
    pub(crate) fn reset(&self) {
        self.buckets.iter().for_each(Count::reset);
        self.sum.reset();
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution { buckets: Box::new([0; BUCKETS]), sum: 0 }
    }
}

impl Distribution {
    /// Adds what a histogram has recorded.
    pub(crate) fn add(&mut self, histogram: &Histogram) {
        for (sum, count) in self.buckets.iter_mut().zip(histogram.buckets.iter()) {
            *sum += count.get();
        }
        self.sum += histogram.sum.get();
    }

    /// How many times there are.
    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The sum of all times in nanoseconds.
    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }

    /// How many of them are below `nanos`, to the end of the bucket of that time.
    pub(crate) fn below(&self, nanos: u64) -> u64 {
        let buckets = self.buckets.iter().enumerate();
        buckets.take_while(|(bucket, _)| end(*bucket) <= nanos).map(|(_, count)| count).sum()
    }

    /// The time in nanoseconds that `percent` of all times do not exceed; 0 if there are none.
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        let rank = (self.count() as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return end(bucket) - 1;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_a_bucket_of_about_its_size() {
        for nanos in [0, 1, 63, 64, 65, 71, 72, 1000, 1024, 123_456, 1 << 33, (1 << 34) - 1] {
            let end = end(bucket(nanos));
            assert!(nanos < end, "{nanos} is below {end}");
            assert!(nanos < 64 || end - 1 <= nanos + nanos / 8, "{end} is not far above {nanos}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert!((1..BUCKETS).all(|bucket| end(bucket) > end(bucket - 1)));
    }

    #[test]
    fn percentiles_and_counts_come_from_all_histograms() {
        let (a, b) = (Histogram::default(), Histogram::default());
        (0..90).for_each(|_| a.record(1_000));
        (0..10).for_each(|_| b.record(1_000_000));
        let mut sum = Distribution::default();
        assert_eq!(sum.percentile(50.0), 0);
        sum.add(&a);
        sum.add(&b);
        assert_eq!((sum.count(), sum.below(2048), sum.below(1 << 20)), (100, 90, 100));
        assert_eq!(sum.sum(), 90 * 1_000 + 10 * 1_000_000);
        assert_eq!(sum.percentile(50.0), 1023);
        assert_eq!(sum.percentile(90.0), 1023);
        assert!((1_000_000..1_125_000).contains(&sum.percentile(99.0)));
        a.reset();
        let mut sum = Distribution::default();
        sum.add(&a);
        assert_eq!(sum.count(), 0);
    }
}
