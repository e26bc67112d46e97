// SPDX-License-Identifier: Apache-2.0
//! The distribution of a value.

use std::any::Any;
use std::sync::OnceLock;

use crate::block::{Block, HISTOGRAMS};
use crate::bucket::{Buckets, Counts};
use crate::slot::{Index, Indices};

static INDICES: Indices = Indices::new();

/// The distribution of a value: latencies in nanoseconds, sizes in bytes, batch lengths.
///
/// Declare it with [`histograms!`](crate::histograms). It takes any `u64`, in log-linear buckets
/// that keep it within 1.6 % (values below 64 exactly). Each thread has buckets of its own, 15 KiB
/// allocated on its first record; there is room for 64 histograms, and one past that still counts
/// right, in buckets all threads share.
///
/// Recent percentiles come from a [`Window`](crate::Window).
///
/// ```
/// metrics::histograms! {
///     /// Requests found in one read.
///     static BATCH_LENGTH: "batch_length";
/// }
/// BATCH_LENGTH.record(32);
/// BATCH_LENGTH.record(1);
/// assert_eq!(BATCH_LENGTH.count(), 2);
/// assert_eq!(BATCH_LENGTH.sum(), 33);
/// ```
#[derive(Debug)]
pub struct Histogram {
    index: Index,
    /// The counterpart of a slot's shared atomic.
    shared: OnceLock<Box<Buckets>>,
}

impl Histogram {
    /// A histogram without values.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "made for statics, which need a const")]
    pub const fn new() -> Self {
        Self { index: Index::new(), shared: OnceLock::new() }
    }

    /// Counts a value. Costs two relaxed loads and stores on cells only this thread writes.
    #[inline]
    pub fn record(&self, value: u64) {
        if let Some(block) = Block::current()
            && let Some(buckets) = block.buckets(self.index.get())
        {
            buckets.record_owned(value);
        } else {
            self.record_slow(value);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_slow(&self, value: u64) {
        let index = self.index.get_or_draw(&INDICES);
        match Block::attach().and_then(|block| block.buckets_or_new(index)) {
            Some(buckets) => buckets.record_owned(value),
            None => self.shared.get_or_init(|| Box::new(Buckets::new())).record_shared(value),
        }
    }

    /// How many values were recorded, over all threads.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts().total()
    }

    /// The sum of all values, exact, over all threads. Wraps past `u64::MAX`.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.counts().sum
    }

    /// Whether anything was recorded.
    pub(crate) fn is_used(&self) -> bool {
        let index = self.index.get();
        let is_recorded = |block: &Block| block.buckets(index).is_some();
        self.shared.get().is_some() || (index < HISTOGRAMS && Block::all().any(is_recorded))
    }

    /// The counts of all threads together.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::new();
        if let Some(shared) = self.shared.get() {
            counts.add(shared);
        }
        let index = self.index.get();
        if index < HISTOGRAMS {
            Block::all().filter_map(|block| block.buckets(index)).for_each(|b| counts.add(b));
        }
        counts
    }
}

#[doc(hidden)]
impl metriken_core::Metric for Histogram {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn value(&self) -> Option<metriken_core::Value<'_>> {
        Some(metriken_core::Value::Other(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_beyond_the_blocks_counts_in_its_shared_buckets() {
        let indices = Indices::new();
        let histogram = Histogram::new();
        // Draw all places, so that the histogram under test gets the first one beyond.
        (0..HISTOGRAMS).for_each(|_| _ = Index::new().get_or_draw(&indices));
        assert_eq!(histogram.index.get_or_draw(&indices), HISTOGRAMS);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|value| histogram.record(value)));
            }
        });
        assert_eq!(histogram.count(), 4000);
        assert_eq!(histogram.sum(), 4 * 499_500);
    }
}
