// SPDX-License-Identifier: Apache-2.0
//! [`Stats`]: calls, times and errors of each command.

use super::histogram::{Distribution, Histogram};
use crate::host::command_metrics::ERROR_REPLIES;
use crate::table::{self, Flags, Spec};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The first `TIMED_ONE_IN` runs of a command that takes no time worth mentioning are timed, then one run in
/// `TIMED_ONE_IN`. All runs of other commands are timed.
const TIMED_ONE_IN: u64 = 16;

/// The longest request of a [brief](Flags::BRIEF) command that takes no time worth mentioning.
const BRIEF_BYTES: usize = 16 << 10;

/// The counts of all workers.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    workers: Mutex<Vec<Arc<WorkerCounts>>>,
    errors: Mutex<Errors>,
}

/// The most codes of errors that are told apart, as in Redis. Scripts can make any number of them.
const CODES_MAX: usize = 128;

/// The only code from then on.
const TOO_MANY: &[u8] = b"ERRORSTATS_DISABLED";

/// Error replies.
#[derive(Debug, Default)]
struct Errors {
    /// By their code.
    by_code: BTreeMap<Box<[u8]>, u64>,
    all: u64,
    /// There were too many codes, and they are not counted until the next reset.
    are_many: bool,
}

impl Errors {
    fn count(&mut self, code: &[u8]) {
        self.all += 1;
        if self.are_many {
            return;
        }
        if let Some(count) = self.by_code.get_mut(code) {
            *count += 1;
        } else if self.by_code.len() < CODES_MAX {
            self.by_code.insert(code.into(), 1);
        } else {
            self.are_many = true;
            self.by_code = BTreeMap::from([(TOO_MANY.into(), 1)]);
        }
    }
}

/// The counts of one worker. Only that worker writes them, so an addition is a plain load and
/// store.
#[derive(Debug)]
pub(crate) struct WorkerCounts {
    commands: Box<[CommandCounts]>,
}

/// The counts of one command in one worker.
#[derive(Debug, Default)]
pub(crate) struct CommandCounts {
    pub(crate) calls: Count,
    /// Keys that were looked up and found, and that were not found.
    hits: Count,
    misses: Count,
    /// Nanoseconds of the runs that were timed.
    pub(crate) nanos: Count,
    /// How many runs were timed.
    pub(crate) timed: Count,
    /// Calls that were refused before they ran.
    pub(crate) rejected: Count,
    /// Calls that ran and were answered with an error.
    pub(crate) failed: Count,
    /// The times of the runs that were timed, from the first on.
    times: OnceLock<Histogram>,
}

/// How many keys a run of a command has looked up: in one word those that it found, in the lower half, and those
/// that it did not find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lookups(u64);

impl Lookups {
    /// Counts a key.
    #[inline]
    pub(crate) fn add(&mut self, is_hit: bool) {
        self.0 = self.0.wrapping_add(if is_hit { 1 } else { 1 << u32::BITS });
    }
}

/// The counts of one command in all workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandStats {
    pub(crate) calls: u64,
    pub(crate) rejected: u64,
    pub(crate) failed: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    nanos: u64,
    timed: u64,
}

impl CommandStats {
    /// Whether the command was ever called.
    pub(crate) fn is_used(&self) -> bool {
        self.calls + self.rejected + self.failed > 0
    }

    /// The text of INFO about the command.
    pub(crate) fn describe(&self) -> String {
        format!(
            "calls={},usec={},usec_per_call={:.2},rejected_calls={},failed_calls={}",
            self.calls,
            self.micros(),
            self.mean_micros(),
            self.rejected,
            self.failed
        )
    }

    /// Microseconds of all runs, extrapolated from those that were timed.
    pub(crate) fn micros(&self) -> u64 {
        (self.mean_micros() * self.calls as f64) as u64
    }

    /// Mean microseconds of a run.
    pub(crate) fn mean_micros(&self) -> f64 {
        if self.timed == 0 { 0.0 } else { self.nanos as f64 / self.timed as f64 / 1000.0 }
    }
}

/// A number that one thread adds to and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed) + n, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Sets it to zero. The owner may add to the old number at the same time.
    pub(crate) fn reset(&self) {
        self.0.store(0, Relaxed);
    }
}

impl CommandCounts {
    /// Whether the next run, of a request of so many bytes, is to be timed.
    #[inline]
    pub(crate) fn is_next_timed(&self, spec: &Spec, request_bytes: usize) -> bool {
        let calls = self.calls.get();
        let is_quick = spec.flags.has(Flags::FAST)
            || (spec.flags.has(Flags::BRIEF) && request_bytes <= BRIEF_BYTES);
        calls < TIMED_ONE_IN || calls.is_multiple_of(TIMED_ONE_IN) || !is_quick
    }

    /// Adds what a run has looked up.
    #[inline]
    pub(crate) fn look(&self, lookups: Lookups) {
        if lookups.0 != 0 {
            self.hits.add(lookups.0 & u64::from(u32::MAX));
            self.misses.add(lookups.0 >> u32::BITS);
        }
    }

    /// Records the time of a run in nanoseconds; with `is_tracking`, in the histogram too.
    pub(crate) fn time(&self, nanos: u64, is_tracking: bool) {
        self.timed.add(1);
        self.nanos.add(nanos);
        if is_tracking {
            self.times.get_or_init(Histogram::default).record(nanos);
        }
    }
}

impl WorkerCounts {
    /// The counts of a command, by its index in the table.
    #[inline]
    pub(crate) fn of(&self, command: usize) -> &CommandCounts {
        &self.commands[command]
    }
}

impl Stats {
    /// The counts of one more worker.
    pub(crate) fn enter(&self) -> Arc<WorkerCounts> {
        let commands = (0..table::COUNT).map(|_| CommandCounts::default()).collect();
        let counts = Arc::new(WorkerCounts { commands });
        self.workers.lock().push(Arc::clone(&counts));
        counts
    }

    fn workers(&self) -> Vec<Arc<WorkerCounts>> {
        self.workers.lock().clone()
    }

    /// The counts of each command, by its index in the table.
    pub(crate) fn commands(&self) -> Vec<CommandStats> {
        let mut sums = vec![CommandStats::default(); table::COUNT];
        for counts in self.workers() {
            for (sum, command) in sums.iter_mut().zip(&counts.commands) {
                sum.calls += command.calls.get();
                sum.rejected += command.rejected.get();
                sum.failed += command.failed.get();
                sum.hits += command.hits.get();
                sum.misses += command.misses.get();
                sum.nanos += command.nanos.get();
                sum.timed += command.timed.get();
            }
        }
        sums
    }

    /// How many commands ran. Allocates nothing, because it is called ten times a second
    /// (`rate_sampler.rs`).
    pub(crate) fn calls(&self) -> u64 {
        let of = |counts: &Arc<WorkerCounts>| {
            counts.commands.iter().map(|one| one.calls.get()).sum::<u64>()
        };
        self.workers.lock().iter().map(of).sum()
    }

    /// The times of a command, by its index in the table.
    pub(crate) fn times(&self, command: usize) -> Distribution {
        let mut sum = Distribution::default();
        for counts in self.workers() {
            if let Some(times) = counts.of(command).times.get() {
                sum.add(times);
            }
        }
        sum
    }

    /// Counts an error reply.
    pub(crate) fn error(&self, code: &[u8]) {
        ERROR_REPLIES.increment();
        self.errors.lock().count(code);
    }

    /// How many replies were errors.
    pub(crate) fn error_replies(&self) -> u64 {
        self.errors.lock().all
    }

    /// Error replies, by their code.
    pub(crate) fn errors(&self) -> BTreeMap<Box<[u8]>, u64> {
        self.errors.lock().by_code.clone()
    }

    /// Resets all counts (CONFIG RESETSTAT).
    pub(crate) fn reset(&self) {
        *self.errors.lock() = Errors::default();
        for counts in self.workers() {
            for command in &counts.commands {
                if let Some(times) = command.times.get() {
                    times.reset();
                }
                for count in [
                    &command.calls,
                    &command.hits,
                    &command.misses,
                    &command.nanos,
                    &command.timed,
                    &command.rejected,
                    &command.failed,
                ] {
                    count.reset();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::CommandId;

    #[test]
    fn so_many_codes_of_errors_are_told_apart() {
        let stats = Stats::default();
        for number in 0..CODES_MAX {
            stats.error(format!("E{number}").as_bytes());
            stats.error(b"E0");
        }
        assert_eq!((stats.errors().len(), stats.errors()[&b"E0"[..]]), (CODES_MAX, 129));
        for number in 0..1_000 {
            stats.error(format!("F{number}").as_bytes());
        }
        assert_eq!(stats.errors(), BTreeMap::from([(TOO_MANY.into(), 1)]));
        assert_eq!(stats.error_replies(), 256 + 1_000);
        stats.reset();
        stats.error(b"E0");
        assert_eq!((stats.errors().len(), stats.error_replies()), (1, 1));
    }

    #[test]
    fn what_may_take_long_is_always_timed() {
        let counts = CommandCounts::default();
        counts.calls.add(TIMED_ONE_IN + 1);
        let is_timed = |id: CommandId, bytes| counts.is_next_timed(id.spec(), bytes);
        let brief = [CommandId::Set, CommandId::Setex, CommandId::Mset, CommandId::Del];
        assert!(!is_timed(CommandId::Get, 100) && !is_timed(CommandId::Get, 1 << 20));
        assert!(brief.iter().all(|&id| !is_timed(id, BRIEF_BYTES)));
        assert!(brief.iter().all(|&id| is_timed(id, BRIEF_BYTES + 1)));
        assert!(is_timed(CommandId::Keys, 100) && is_timed(CommandId::Lrange, 100));
        counts.calls.add(TIMED_ONE_IN - 1);
        assert!(is_timed(CommandId::Get, 100) && is_timed(CommandId::Set, 100));
    }
}
