// SPDX-License-Identifier: Apache-2.0
//! Percentiles of what happened lately.

use std::collections::VecDeque;

use crate::Histogram;
use crate::bucket::Counts;
use crate::registry;

/// The percentiles every text form shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Percentile {
    /// A quarter of the values are at most this high.
    P25,
    /// The median.
    P50,
    /// Three quarters are at most this high.
    P75,
    /// Nine of ten.
    P90,
    /// 99 of a hundred.
    P99,
    /// 999 of a thousand.
    P999,
    /// 9999 of ten thousand.
    P9999,
}

impl Percentile {
    /// All of them, lowest first.
    pub const ALL: [Self; 7] =
        [Self::P25, Self::P50, Self::P75, Self::P90, Self::P99, Self::P999, Self::P9999];

    /// The `quantile` label in Prometheus text: `0.25` to `0.9999`.
    #[must_use]
    pub const fn quantile(self) -> &'static str {
        self.numbers().0
    }

    const fn per_10_000(self) -> u32 {
        self.numbers().1
    }

    const fn numbers(self) -> (&'static str, u32) {
        match self {
            Self::P25 => ("0.25", 2_500),
            Self::P50 => ("0.5", 5_000),
            Self::P75 => ("0.75", 7_500),
            Self::P90 => ("0.9", 9_000),
            Self::P99 => ("0.99", 9_900),
            Self::P999 => ("0.999", 9_990),
            Self::P9999 => ("0.9999", 9_999),
        }
    }
}

/// Recent percentiles of every histogram, over the last `n` ticks.
///
/// One thread owns the window and ticks it once a second, so 60 ticks are the last minute. A value
/// recorded after a tick is included from the next tick on, and leaves `n` ticks later. Nothing happens by
/// itself: without ticks the percentiles do not change.
///
/// A tick reads the 1920 cells each thread has for each histogram. From its first value on a histogram takes 30 KiB here,
/// and 16 bytes for each bucket that a tick saw change.
///
/// ```
/// use metrics::{Percentile, Window};
///
/// metrics::histograms! {
///     /// Nanoseconds a request takes.
///     static LATENCY: "latency";
/// }
///
/// let mut window = Window::new(2);
/// LATENCY.record(50);
/// window.tick();
/// assert_eq!(window.percentile("latency", Percentile::P99), Some(50));
/// window.tick();
/// window.tick();
/// assert_eq!(window.percentile("latency", Percentile::P99), None);
/// ```
#[derive(Debug)]
pub struct Window {
    ticks_max: usize,
    tracks: Vec<Track>,
}

/// One histogram's recent past.
#[derive(Debug)]
struct Track {
    /// Its name, with labels if it has any.
    name: String,
    histogram: &'static Histogram,
    /// All counts as of the last tick.
    previous: Counts,
    /// The sum of `deltas`.
    recent: Counts,
    /// What each tick saw change, oldest first.
    deltas: VecDeque<Vec<Change>>,
}

/// How much a bucket grew during one tick.
#[derive(Clone, Copy, Debug)]
struct Change {
    bucket: usize,
    count: u64,
}

impl Default for Window {
    /// 60 ticks: a minute, ticked once a second.
    fn default() -> Self {
        Self::new(60)
    }
}

impl Window {
    /// A window over the last `ticks` ticks. It begins empty: values recorded earlier are not included.
    ///
    /// # Panics
    ///
    /// If `ticks` is zero.
    #[must_use]
    pub fn new(ticks: usize) -> Self {
        assert!(ticks > 0, "a window spans at least one tick");
        let tracks = registry::histograms()
            .map(|(name, histogram)| Track {
                name,
                histogram,
                previous: if histogram.is_used() { histogram.counts() } else { Counts::none() },
                recent: Counts::none(),
                deltas: VecDeque::with_capacity(ticks),
            })
            .collect();
        Self { ticks_max: ticks, tracks }
    }

    /// Adds the values recorded since the last tick and removes those of the oldest tick.
    pub fn tick(&mut self) {
        for track in &mut self.tracks {
            track.tick(self.ticks_max);
        }
    }

    /// A percentile of a histogram's recent values, within 1.6 %. `None` if there are none, or no
    /// such histogram.
    #[must_use]
    pub fn percentile(&self, histogram: &str, percentile: Percentile) -> Option<u64> {
        self.track(histogram)?.recent.percentile(percentile.per_10_000())
    }

    /// How many values of a histogram are in the window; 0 for an unknown name.
    #[must_use]
    pub fn count(&self, histogram: &str) -> u64 {
        self.track(histogram).map_or(0, |track| track.recent.total())
    }

    fn track(&self, histogram: &str) -> Option<&Track> {
        self.tracks.iter().find(|track| track.name == histogram)
    }
}

impl Track {
    fn tick(&mut self, ticks_max: usize) {
        if !self.histogram.is_used() {
            return;
        }
        for counts in [&mut self.previous, &mut self.recent] {
            if counts.counts.is_empty() {
                *counts = Counts::new();
            }
        }
        let mut delta = Vec::new();
        if self.deltas.len() == ticks_max
            && let Some(mut oldest) = self.deltas.pop_front()
        {
            for &Change { bucket, count } in &oldest {
                self.recent.counts[bucket] -= count;
            }
            oldest.clear();
            delta = oldest;
        }
        let current = self.histogram.counts();
        for (bucket, (now, then)) in current.counts.iter().zip(&self.previous.counts).enumerate() {
            // A bucket only grows: each thread's cell does, and a reader never sees one go back.
            let count = now - then;
            if count > 0 {
                delta.push(Change { bucket, count });
                self.recent.counts[bucket] += count;
            }
        }
        self.deltas.push_back(delta);
        self.previous = current;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Percentile::{P25, P50, P99, P9999};

    const MOVING_NAME: &str = "test_window_moving";

    crate::histograms! {
        /// Moved by one test alone.
        static MOVING: "test_window_moving";
        /// Recorded before the window begins.
        static EARLIER: "test_window_earlier";
        /// One value in ten thousand is slow.
        static TAIL: "test_window_tail";
    }

    #[test]
    fn percentiles_move_with_the_ticks() {
        let mut window = Window::new(3);
        assert_eq!(window.percentile(MOVING_NAME, P50), None);
        // Each row: what is recorded during a tick, and the median after it.
        let rows: [(&[u64], Option<u64>, u64); 8] = [
            (&[10, 10, 10], Some(10), 3),
            (&[20, 20, 20, 20], Some(20), 7),
            (&[], Some(20), 7),
            // The three tens leave.
            (&[30], Some(20), 5),
            // The four twenties leave.
            (&[40], Some(30), 2),
            (&[], Some(30), 2),
            (&[], Some(40), 1),
            (&[], None, 0),
        ];
        for (row, (values, median, count)) in rows.into_iter().enumerate() {
            values.iter().for_each(|&value| MOVING.record(value));
            window.tick();
            assert_eq!(window.percentile(MOVING_NAME, P50), median, "row {row}");
            assert_eq!(window.count(MOVING_NAME), count, "row {row}");
        }
        assert_eq!(MOVING.count(), 9, "the histogram itself forgets nothing");
    }

    #[test]
    fn what_was_recorded_before_the_window_is_not_in_it() {
        EARLIER.record(5);
        let mut window = Window::new(2);
        window.tick();
        assert_eq!(window.count("test_window_earlier"), 0);
        EARLIER.record(7);
        assert_eq!(window.percentile("test_window_earlier", P25), None, "not before the tick");
        window.tick();
        assert_eq!(window.percentile("test_window_earlier", P25), Some(7));
    }

    #[test]
    fn the_tail_shows_only_in_the_high_percentiles() {
        let mut window = Window::default();
        (0..9_998).for_each(|_| TAIL.record(50));
        (0..2).for_each(|_| TAIL.record(1_000_000));
        window.tick();
        assert_eq!(window.percentile("test_window_tail", P99), Some(50));
        let slowest = window.percentile("test_window_tail", P9999).unwrap();
        assert!(slowest.abs_diff(1_000_000) <= 1_000_000 / 64, "{slowest}");
    }

    #[test]
    fn an_unknown_histogram_has_no_percentiles() {
        let window = Window::default();
        assert_eq!(window.percentile("nobody", P50), None);
        assert_eq!(window.count("nobody"), 0);
    }

    #[test]
    #[should_panic(expected = "at least one tick")]
    fn an_empty_window_is_refused() {
        let _ = Window::new(0);
    }
}
