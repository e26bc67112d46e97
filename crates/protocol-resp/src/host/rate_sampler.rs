// SPDX-License-Identifier: Apache-2.0
//! [`RateSampler`]: samples counts and memory in use ten times a second, for rates and the peak. The first
//! worker that finds a sample due takes it.

use clock::Ticks;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Milliseconds between two samples.
const BEAT_MS: u64 = 100;

/// Number of samples from which rates are computed.
const BEATS: usize = 16;

/// Before how long a sample may have been taken from which rates are computed: while all workers nap there are fewer.
const SPAN: Duration = Duration::from_secs(2);

/// Counts that only grow, since the process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) commands: u64,
    pub(crate) input_bytes: u64,
    pub(crate) output_bytes: u64,
    /// Reads and writes of sockets that have moved bytes.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) turns: u64,
    pub(crate) connections: u64,
    pub(crate) rejected: u64,
    /// Connections closed for what they had not read.
    pub(crate) output_limit: u64,
    /// Connections closed for a request larger than the limit.
    pub(crate) request_limit: u64,
}

impl Counts {
    /// The counts of the reactor, which are for the whole process, and the given number of
    /// commands.
    pub(crate) fn of_process(commands: u64) -> Self {
        let of =
            |name| metrics::value(name).and_then(|value| u64::try_from(value).ok()).unwrap_or(0);
        Counts {
            commands,
            input_bytes: of("shoebill_received_bytes_total"),
            output_bytes: of("shoebill_sent_bytes_total"),
            reads: of("shoebill_socket_reads_total"),
            writes: of("shoebill_socket_writes_total"),
            turns: of("shoebill_worker_turns_total"),
            connections: of("shoebill_connections_accepted_total"),
            rejected: of("shoebill_connections_rejected_total"),
            output_limit: of("shoebill_connections_broken_total{reason=\"output_limit\"}"),
            request_limit: of("shoebill_connections_broken_total{reason=\"request_limit\"}"),
        }
    }

    /// The difference to `before`.
    pub(crate) fn since(&self, before: &Counts) -> Counts {
        Counts {
            commands: self.commands.saturating_sub(before.commands),
            input_bytes: self.input_bytes.saturating_sub(before.input_bytes),
            output_bytes: self.output_bytes.saturating_sub(before.output_bytes),
            reads: self.reads.saturating_sub(before.reads),
            writes: self.writes.saturating_sub(before.writes),
            turns: self.turns.saturating_sub(before.turns),
            connections: self.connections.saturating_sub(before.connections),
            rejected: self.rejected.saturating_sub(before.rejected),
            output_limit: self.output_limit.saturating_sub(before.output_limit),
            request_limit: self.request_limit.saturating_sub(before.request_limit),
        }
    }
}

/// Rates per second, over the last second and a half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    pub(crate) commands: f64,
    pub(crate) input_bytes: f64,
    pub(crate) output_bytes: f64,
    pub(crate) turns: f64,
}

/// Takes samples ten times a second while any worker runs.
#[derive(Debug, Default)]
pub(crate) struct RateSampler {
    /// When the next sample is due, in milliseconds of the monotonic clock.
    next_ms: AtomicU64,
    beats: Mutex<VecDeque<(Ticks, Counts)>>,
    peak_bytes: AtomicU64,
    /// The counts at the last CONFIG RESETSTAT.
    base: Mutex<Counts>,
}

impl RateSampler {
    /// Whether a sample is due. Returns true to one worker only.
    #[inline]
    pub(crate) fn is_due(&self, now: Ticks) -> bool {
        let next_ms = self.next_ms.load(Relaxed);
        let now_ms = now.as_millis();
        now_ms >= next_ms
            && self.next_ms.compare_exchange(next_ms, now_ms + BEAT_MS, Relaxed, Relaxed).is_ok()
    }

    /// Takes a sample.
    pub(crate) fn beat(&self, now: Ticks, counts: Counts, used_bytes: u64) {
        self.peak(used_bytes);
        let mut beats = self.beats.lock();
        // The first sample reserves room for all, so that later ones allocate nothing.
        let missing = BEATS.saturating_sub(beats.len());
        beats.reserve(missing);
        if beats.len() == BEATS {
            beats.pop_front();
        }
        // A rate is that between two samples at least.
        while beats.len() > 1 && beats.front().is_some_and(|&(then, _)| now.since(then) > SPAN) {
            beats.pop_front();
        }
        beats.push_back((now, counts));
    }

    /// The most bytes that were in use, including `used_bytes` now.
    pub(crate) fn peak(&self, used_bytes: u64) -> u64 {
        self.peak_bytes.fetch_max(used_bytes, Relaxed).max(used_bytes)
    }

    /// The present rates.
    pub(crate) fn rates(&self) -> Rates {
        let beats = self.beats.lock();
        let (Some((from, first)), Some((to, last))) = (beats.front(), beats.back()) else {
            return Rates::default();
        };
        let seconds = (to.as_millis() - from.as_millis()) as f64 / 1000.0;
        if seconds == 0.0 {
            return Rates::default();
        }
        let counts = last.since(first);
        Rates {
            commands: counts.commands as f64 / seconds,
            input_bytes: counts.input_bytes as f64 / seconds,
            output_bytes: counts.output_bytes as f64 / seconds,
            turns: counts.turns as f64 / seconds,
        }
    }

    /// Whether the rates of what clients do are 0, and so need no samples until something happens. Each sample is taken
    /// in a turn, so turns never rest and say nothing.
    pub(crate) fn is_still(&self) -> bool {
        let Rates { commands, input_bytes, output_bytes, turns: _ } = self.rates();
        [commands, input_bytes, output_bytes] == [0.0; 3]
    }

    /// Counts since the last [`RateSampler::reset`].
    pub(crate) fn since_reset(&self, counts: Counts) -> Counts {
        counts.since(&self.base.lock())
    }

    /// Makes counts begin at zero again. Those of commands are reset elsewhere.
    pub(crate) fn reset(&self, counts: Counts) {
        *self.base.lock() = Counts { commands: 0, ..counts };
        self.beats.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_beats() {
        let rate_sampler = RateSampler::default();
        let mut due = 0;
        for ms in (0..10_000).step_by(10) {
            let now = Ticks::from_millis(ms);
            if rate_sampler.is_due(now) {
                due += 1;
                let counts = Counts { commands: 3 * ms, input_bytes: ms / 2, ..Counts::default() };
                rate_sampler.beat(now, counts, 10_000 - ms);
            }
        }
        assert_eq!(due, 100);
        let rates = rate_sampler.rates();
        assert_eq!((rates.commands, rates.input_bytes, rates.output_bytes), (3000.0, 500.0, 0.0));
        assert_eq!(rate_sampler.peak(5), 10_000);
    }

    #[test]
    fn rates_are_those_of_the_last_moments_after_a_rest() {
        let rate_sampler = RateSampler::default();
        let beat = |ms, commands| {
            let counts = Counts { commands, turns: ms / 100, ..Counts::default() };
            rate_sampler.beat(Ticks::from_millis(ms), counts, 0);
        };
        (0..30).for_each(|second| beat(1000 * second, 5));
        assert!(rate_sampler.is_still());
        (1..=20).for_each(|tick| beat(29_000 + 100 * tick, 5 + 100 * tick));
        assert_eq!(rate_sampler.rates().commands, 1000.0);
        assert!(!rate_sampler.is_still());
        beat(60_000, 2005);
        beat(61_000, 2105);
        assert_eq!(rate_sampler.rates().commands, 100.0);
    }

    #[test]
    fn counts_begin_again_when_they_are_reset() {
        let rate_sampler = RateSampler::default();
        let counts = Counts { commands: 5, connections: 7, ..Counts::default() };
        rate_sampler.reset(counts);
        let since = rate_sampler.since_reset(Counts { commands: 2, connections: 10, ..counts });
        assert_eq!((since.commands, since.connections), (2, 3));
    }
}
