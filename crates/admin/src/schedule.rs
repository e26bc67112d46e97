// SPDX-License-Identifier: Apache-2.0
//! Periodic work on the admin thread: when each task is due, and running it.

use std::fmt;
use std::time::{Duration, Instant};

/// The shortest interval: a task asked for more often than this still leaves room for HTTP.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

struct Task {
    interval: Duration,
    due: Instant,
    work: Box<dyn FnMut()>,
}

/// All periodic tasks of one admin thread. The caller owns the clock.
#[derive(Default)]
pub(crate) struct Schedule {
    tasks: Vec<Task>,
}

impl Schedule {
    /// Adds a task that is first due one `interval` after `now`.
    pub(crate) fn add(&mut self, interval: Duration, work: Box<dyn FnMut()>, now: Instant) {
        let interval = interval.max(INTERVAL_MIN);
        self.tasks.push(Task { interval, due: now + interval, work });
    }

    /// When the next task is due; `None` without tasks.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.tasks.iter().map(|task| task.due).min()
    }

    /// Runs what is due at `now`, each task once however late it is, in the order they were added.
    ///
    /// A task keeps its beat when it runs a little late. After a stall longer than its interval it
    /// starts a new beat: the missed runs are not made up for, because one drain or one tick does
    /// the work of all of them.
    pub(crate) fn run_due(&mut self, now: Instant) {
        for task in self.tasks.iter_mut().filter(|task| task.due <= now) {
            task.due += task.interval;
            if task.due <= now {
                task.due = now + task.interval;
            }
            (task.work)();
        }
    }

    /// Runs every task once, due or not.
    pub(crate) fn run_all(&mut self) {
        for task in &mut self.tasks {
            (task.work)();
        }
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let intervals = self.tasks.iter().map(|task| task.interval);
        f.debug_list().entries(intervals).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    const SECOND: Duration = Duration::from_secs(1);

    fn counting(schedule: &mut Schedule, interval: Duration, now: Instant) -> Rc<Cell<u32>> {
        let runs = Rc::new(Cell::new(0));
        let count = Rc::clone(&runs);
        schedule.add(interval, Box::new(move || count.set(count.get() + 1)), now);
        runs
    }

    #[test]
    fn a_task_runs_once_per_interval_and_not_before() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        let runs = counting(&mut schedule, SECOND, start);

        schedule.run_due(start + SECOND / 2);
        assert_eq!(runs.get(), 0);
        assert_eq!(schedule.next_due(), Some(start + SECOND));

        schedule.run_due(start + SECOND);
        schedule.run_due(start + SECOND);
        assert_eq!(runs.get(), 1);
        assert_eq!(schedule.next_due(), Some(start + 2 * SECOND));
    }

    #[test]
    fn a_little_late_keeps_the_beat_and_a_stall_starts_a_new_one() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        let runs = counting(&mut schedule, SECOND, start);

        schedule.run_due(start + SECOND + SECOND / 4);
        assert_eq!(schedule.next_due(), Some(start + 2 * SECOND));

        let after_stall = start + 10 * SECOND;
        schedule.run_due(after_stall);
        assert_eq!(runs.get(), 2, "missed runs are not made up for");
        assert_eq!(schedule.next_due(), Some(after_stall + SECOND));
    }

    #[test]
    fn the_earliest_task_sets_the_alarm_and_the_last_run_reaches_all() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        assert_eq!(schedule.next_due(), None);
        let slow = counting(&mut schedule, 60 * SECOND, start);
        let fast = counting(&mut schedule, SECOND, start);
        assert_eq!(schedule.next_due(), Some(start + SECOND));

        schedule.run_due(start + SECOND);
        schedule.run_all();
        assert_eq!((slow.get(), fast.get()), (1, 2));
    }

    #[test]
    fn a_zero_interval_cannot_monopolise_the_thread() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        let runs = counting(&mut schedule, Duration::ZERO, start);
        schedule.run_due(start);
        assert_eq!(runs.get(), 0);
        assert!(schedule.next_due() > Some(start));
    }
}
