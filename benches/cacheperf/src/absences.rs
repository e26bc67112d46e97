// SPDX-License-Identifier: Apache-2.0
//! [`Absences`]: times in which the generator itself did not run, although it had something to do. What was due
//! then is late by the generator's fault, or its machine's, and not by the server's.

use serde::Serialize;

/// A shorter time is none: schedulers give each other program a time slice of some milliseconds.
pub(crate) const ABSENCE_MIN_NS: u64 = 1_000_000;

/// Absences of which the times are kept: the longest.
const TIMES_MAX: usize = 1_000;

/// The share of the time from which on absences decide p999.
const SHARE_MAX: f64 = 0.001;

/// Times in which one thread, or all, did not run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Absences {
    count: u64,
    total_ns: u64,
    longest_ns: u64,
    /// How long the threads waited for a CPU, by the scheduler's account, in shorter times as well.
    waited_ns: u64,
    /// Begin and length of each.
    times: Vec<(u64, u64)>,
}

impl Absences {
    /// A thread did not run for so long.
    pub(crate) fn add(&mut self, begun: u64, len: u64) {
        self.count += 1;
        self.total_ns += len;
        self.longest_ns = self.longest_ns.max(len);
        self.times.push((begun, len));
    }

    /// A thread has waited for a CPU.
    pub(crate) fn waited(&mut self, ns: u64) {
        self.waited_ns += ns;
    }

    pub(crate) fn merge(&mut self, other: &Absences) {
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.waited_ns += other.waited_ns;
        self.times.extend_from_slice(&other.times);
        if self.times.len() > 2 * TIMES_MAX {
            self.keep_longest();
        }
    }

    fn keep_longest(&mut self) {
        self.times.sort_unstable_by_key(|(_, len)| std::cmp::Reverse(*len));
        self.times.truncate(TIMES_MAX);
    }
}

/// Times in which the generator itself did not run for a millisecond or longer, though it had something to do.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GeneratorAbsences {
    /// How many.
    pub count: u64,
    /// How long all of them were, in nanoseconds; those of several threads add up.
    pub total_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
    /// Their share of the time of all threads.
    pub share: f64,
    /// How long the threads waited for a CPU, by the scheduler's account, in nanoseconds. Has shorter times as
    /// well.
    pub waited_ns: u64,
    /// Begin and end of each, in seconds since the start, warm-up included. Of many, the longest.
    pub times: Vec<(f64, f64)>,
}

impl GeneratorAbsences {
    /// Of a run with so many seconds and threads.
    pub(crate) fn of(absences: &Absences, seconds: f64, threads: usize) -> Self {
        let mut absences = absences.clone();
        absences.keep_longest();
        absences.times.sort_unstable();
        let seconds_of = |ns: u64| ns as f64 / 1e9;
        let times = absences.times.iter();
        GeneratorAbsences {
            count: absences.count,
            total_ns: absences.total_ns,
            longest_ns: absences.longest_ns,
            share: seconds_of(absences.total_ns) / (seconds * threads as f64).max(1e-9),
            waited_ns: absences.waited_ns,
            times: times.map(|(at, len)| (seconds_of(*at), seconds_of(at + len))).collect(),
        }
    }

    /// Whether so much of the time is missing that p999 may be the generator's own.
    pub fn decide_p999(&self) -> bool {
        self.share > SHARE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absences_add_up_and_the_longest_are_kept() {
        let mut all = Absences::default();
        for thread in 0..3 {
            let mut one = Absences::default();
            (1..=1_000).for_each(|number| one.add(number * 10_000_000, 1_000_000 + number));
            one.waited(thread);
            all.merge(&one);
        }
        let found = GeneratorAbsences::of(&all, 15.0, 2);
        assert_eq!((found.count, found.longest_ns, found.waited_ns), (3_000, 1_001_000, 3));
        assert_eq!(found.times.len(), TIMES_MAX);
        assert!(found.times.is_sorted());
        // All of the longest are there, in order.
        assert_eq!(found.times.last(), Some(&(10.0, 10.001_001)));
        assert!((found.share - 0.100_05).abs() < 1e-6, "{}", found.share);
        assert!(found.decide_p999());
        assert!(!GeneratorAbsences::of(&Absences::default(), 1.0, 1).decide_p999());
    }
}
