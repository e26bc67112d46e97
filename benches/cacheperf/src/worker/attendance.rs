// SPDX-License-Identifier: Apache-2.0
//! [`Attendance`]: notices when the thread did not run.
//!
//! 1. The scheduler accounts how long a thread was ready and waited for a CPU. That is exact, but it does not
//!    say when, and knows nothing of the time that a hypervisor took.
//! 2. A turn of the event loop that had nothing to do, and lasted longer than the sleep that it asked for, did
//!    not run meanwhile, whatever the reason.
//!
//! So turns of more than a millisecond are looked at: no system call for the others.

use crate::absences::{ABSENCE_MIN_NS, Absences};
use crate::player::Window;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The system's sleeps end on the next whole millisecond.
const SLEEP_NS: u64 = 1_000_000;

/// A turn of an event loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// When it began.
    pub(super) begun: u64,
    /// How long it was to sleep for at the most.
    pub(super) sleep_ns: u64,
    /// Something was sent or received.
    pub(super) worked: bool,
}

impl Turn {
    /// How long the thread did not run in a turn that ends now, and in which it waited so long for a CPU.
    fn absence(&self, now: u64, waited_ns: u64) -> u64 {
        let turn_ns = now.saturating_sub(self.begun);
        let waited_ns = waited_ns.min(turn_ns);
        if self.worked {
            return waited_ns;
        }
        let asleep = self.sleep_ns.div_ceil(SLEEP_NS) * SLEEP_NS;
        turn_ns.saturating_sub(asleep).max(waited_ns)
    }
}

/// Notices when the thread that has made it did not run.
#[derive(Debug)]
pub(super) struct Attendance {
    /// The scheduler's account of the thread; `None` where the system keeps none.
    account: Option<File>,
    waited_ns: u64,
    /// When the account was read.
    read_at: u64,
}

impl Attendance {
    pub(super) fn new() -> Self {
        let account = File::open("/proc/thread-self/schedstat").ok();
        let mut attendance = Attendance { account, waited_ns: 0, read_at: 0 };
        attendance.waited();
        attendance
    }

    /// How long the thread has waited for a CPU since this was last called.
    fn waited(&mut self) -> u64 {
        let Some(account) = &self.account else { return 0 };
        let mut text = [0; 64];
        let Ok(len) = account.read_at(&mut text, 0) else { return 0 };
        let Some(all) = second_number(&text[..len]) else { return 0 };
        let waited = all.saturating_sub(self.waited_ns);
        self.waited_ns = all;
        waited
    }

    /// Reads the account, and notes what it says if it is about the measured time.
    pub(super) fn account(&mut self, now: u64, window: Window, absences: &mut Absences) -> u64 {
        let waited = self.waited();
        if window.contains(self.read_at) {
            absences.waited(waited);
        }
        self.read_at = now;
        waited
    }

    /// A turn ends that took longer than an absence does.
    #[cold]
    pub(super) fn look(&mut self, turn: Turn, now: u64, window: Window, absences: &mut Absences) {
        let waited = self.account(now, window, absences);
        let absence = turn.absence(now, waited);
        let begun = now.saturating_sub(absence);
        if absence >= ABSENCE_MIN_NS && window.contains(begun) {
            absences.add(begun, absence.min(window.end.saturating_sub(begun)));
        }
    }
}

fn second_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_turn_without_work_shows_all_that_is_missing() {
        let turn = |sleep_ns, worked| Turn { begun: 5 * MS, sleep_ns, worked };
        // Asked for no sleep, and lost seven milliseconds, whatever the scheduler says of them.
        assert_eq!(turn(0, false).absence(12 * MS, 0), 7 * MS);
        assert_eq!(turn(0, false).absence(12 * MS, 7 * MS), 7 * MS);
        // Slept as it was to, but for the system's rounding.
        assert_eq!(turn(6 * MS + 1, false).absence(12 * MS, 0), 0);
        // Work takes time, so only the scheduler knows.
        assert_eq!(turn(0, true).absence(12 * MS, 3 * MS), 3 * MS);
        assert_eq!(turn(0, true).absence(12 * MS, 0), 0);
        // Waits of earlier turns are no part of this one.
        assert_eq!(turn(0, true).absence(12 * MS, 30 * MS), 7 * MS);
    }

    #[test]
    fn absences_are_those_of_the_measured_time() {
        let window = Window { start: 10 * MS, end: 20 * MS };
        let look = |begun, now| {
            let (mut absences, mut attendance) = (Absences::default(), Attendance::new());
            attendance.account = None;
            attendance.look(Turn { begun, ..Turn::default() }, now, window, &mut absences);
            let found = crate::GeneratorAbsences::of(&absences, 1.0, 1);
            (found.count, found.total_ns)
        };
        assert_eq!(look(2 * MS, 8 * MS), (0, 0));
        assert_eq!(look(12 * MS, 15 * MS), (1, 3 * MS));
        assert_eq!(look(18 * MS, 25 * MS), (1, 2 * MS), "to the end");
        assert_eq!(look(12 * MS, 12 * MS + 900_000), (0, 0));
    }

    #[test]
    fn the_account_is_read() {
        assert_eq!(second_number(b"123 456 7\n"), Some(456));
        assert_eq!(second_number(b"123"), None);
        let mut attendance = Attendance::new();
        let before = attendance.waited_ns;
        attendance.waited();
        assert!(attendance.waited_ns >= before);
    }
}
