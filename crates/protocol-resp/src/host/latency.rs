// SPDX-License-Identifier: Apache-2.0
//! [`Latency`]: events that took longer than a threshold (`latency-monitor-threshold`).

use crate::table::{Flags, Spec};
use keyspace::Chore;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Samples kept of an event.
const SAMPLES_MAX: usize = 160;

/// The settings of latency monitoring, and the events that took too long.
#[derive(Debug)]
pub(crate) struct Latency {
    /// `latency-monitor-threshold` in milliseconds; 0: nothing is recorded.
    pub(crate) threshold_ms: AtomicU64,
    /// `latency-tracking`: whether each command has a histogram.
    pub(crate) is_tracking: AtomicBool,
    events: Mutex<BTreeMap<&'static str, History>>,
}

/// The latest samples of an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// The latest last, one for each second with any.
    pub(crate) samples: VecDeque<Sample>,
    /// The longest since the server started, or since the event was reset.
    pub(crate) max_ms: u64,
}

/// The longest time that an event took within a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) unix_seconds: u64,
    pub(crate) ms: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Latency {
            threshold_ms: AtomicU64::new(0),
            is_tracking: AtomicBool::new(true),
            events: Mutex::default(),
        }
    }
}

impl Latency {
    /// Whether events are recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.threshold_ms.load(Relaxed) != 0
    }

    /// Whether times are recorded in histograms.
    #[inline]
    pub(crate) fn is_tracking(&self) -> bool {
        self.is_tracking.load(Relaxed)
    }

    /// Records the nanoseconds of an event, if they are over the threshold.
    #[inline]
    pub(crate) fn note(&self, event: &'static str, nanos: u64, unix_seconds: u64) {
        let threshold_ms = self.threshold_ms.load(Relaxed);
        if threshold_ms != 0 {
            let ms = nanos / 1_000_000;
            if ms >= threshold_ms {
                self.enter(event, ms, unix_seconds);
            }
        }
    }

    /// [`Latency::note`] of a command.
    #[inline]
    pub(crate) fn note_command(&self, spec: &Spec, nanos: u64, unix_seconds: u64) {
        let is_fast = spec.flags.has(Flags::FAST);
        self.note(if is_fast { "fast-command" } else { "command" }, nanos, unix_seconds);
    }

    /// [`Latency::note`] of a part of the keyspace's background work. Freeing memory has no event in Redis.
    pub(crate) fn note_chore(&self, chore: Chore, nanos: u64, unix_seconds: u64) {
        let event = match chore {
            Chore::Free => return,
            Chore::Expire => "expire-cycle",
            Chore::Evict => "eviction-cycle",
            Chore::Defragment => "active-defrag-cycle",
        };
        self.note(event, nanos, unix_seconds);
    }

    #[cold]
    fn enter(&self, event: &'static str, ms: u64, unix_seconds: u64) {
        let mut events = self.events.lock();
        let history = events.entry(event).or_default();
        history.max_ms = history.max_ms.max(ms);
        match history.samples.back_mut() {
            Some(last) if last.unix_seconds == unix_seconds => last.ms = last.ms.max(ms),
            _ => history.samples.push_back(Sample { unix_seconds, ms }),
        }
        if history.samples.len() > SAMPLES_MAX {
            history.samples.pop_front();
        }
    }

    /// The events by name.
    pub(crate) fn events(&self) -> BTreeMap<&'static str, History> {
        self.events.lock().clone()
    }

    /// The samples of the event with this name.
    pub(crate) fn event(&self, name: &[u8]) -> Option<History> {
        let events = self.events.lock();
        events
            .iter()
            .find(|(event, _)| event.as_bytes() == name)
            .map(|(_, history)| history.clone())
    }

    /// Removes the events for which `is_meant` returns true; returns how many there were.
    pub(crate) fn reset(&self, is_meant: impl Fn(&str) -> bool) -> usize {
        let mut events = self.events.lock();
        let before = events.len();
        events.retain(|event, _| !is_meant(event));
        before - events.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_each_second_is_kept() {
        let latency = Latency::default();
        let note = |ms: u64, second| latency.note("command", ms * 1_000_000, second);
        note(500, 1);
        assert!(latency.events().is_empty(), "nothing is noted without a threshold");
        latency.threshold_ms.store(10, Relaxed);
        for (ms, second) in [(9, 1), (10, 1), (30, 1), (20, 1), (11, 2)] {
            note(ms, second);
        }
        let history = latency.event(b"command").expect("it was noted");
        let samples: Vec<_> = history.samples.iter().map(|at| (at.unix_seconds, at.ms)).collect();
        assert_eq!((samples, history.max_ms), (vec![(1, 30), (2, 11)], 30));
        assert_eq!(latency.reset(|event| event == "fork"), 0);
        assert_eq!(latency.reset(|_| true), 1);
        assert!(latency.event(b"command").is_none());
    }

    #[test]
    fn the_oldest_samples_go_first() {
        let latency = Latency::default();
        latency.threshold_ms.store(1, Relaxed);
        for second in 0..SAMPLES_MAX as u64 + 5 {
            latency.note("command", 1_000_000, second);
        }
        let history = latency.event(b"command").expect("it was noted");
        assert_eq!(history.samples.len(), SAMPLES_MAX);
        assert_eq!(history.samples[0].unix_seconds, 5);
    }
}
