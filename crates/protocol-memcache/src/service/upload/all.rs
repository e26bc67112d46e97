// SPDX-License-Identifier: Apache-2.0
//! [`AllUploads`]: what the values that are arriving on all workers need and hold, and in which order others begin.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The values that are arriving, on all workers, may hold this share of the store's memory limit outside of it: three
/// quarters. A value that arrives alone may have any size that the store takes.
const OUTSIDE_SHARE: (u64, u64) = (3, 4);

/// Values begin beside others as long as what all of them need is this part of the memory limit, as a divisor,
/// whatever the store admits: it may hold them outside.
const ADMITTED_PART: u64 = 2;

/// What the values that are arriving on all workers come to.
#[derive(Debug, Default)]
pub(in crate::service) struct AllUploads {
    /// Bytes that they need.
    needed: AtomicU64,
    /// Bytes that they hold outside of the store.
    outside: AtomicU64,
    /// How many wait for others.
    queued: AtomicUsize,
    line: Mutex<Line>,
}

/// The order in which values begin that wait, on whatever worker.
#[derive(Debug, Default)]
struct Line {
    /// Their numbers: the least is the next to begin.
    waiting: BTreeSet<u64>,
    /// The last number that was given.
    last: u64,
}

impl AllUploads {
    pub(super) fn add(&self, bytes: u64) {
        self.outside.fetch_add(bytes, Relaxed);
    }

    pub(super) fn sub(&self, bytes: u64) {
        self.outside.fetch_sub(bytes, Relaxed);
    }

    /// Counts a further one of so many bytes if it may begin under this limit, and if the store admits as much as all of
    /// them come to. One alone always may.
    pub(super) fn admit(&self, len: usize, limit: u64, admits: impl Fn(u64) -> bool) -> bool {
        let may_begin = |needed: u64| {
            let with_this = needed + len as u64;
            let fits = needed == 0 || with_this <= limit / ADMITTED_PART && admits(with_this);
            fits.then_some(with_this)
        };
        self.needed.fetch_update(Relaxed, Relaxed, may_begin).is_ok()
    }

    /// Counts one of so many bytes in any case.
    pub(super) fn admit_anyway(&self, len: usize) {
        self.needed.fetch_add(len as u64, Relaxed);
    }

    /// One of so many bytes that was counted does not begin.
    pub(super) fn refuse(&self, len: usize) {
        self.needed.fetch_sub(len as u64, Relaxed);
    }

    pub(super) fn set_needed(&self, needed: &mut u64, to: u64) {
        self.needed.fetch_add(to.wrapping_sub(std::mem::replace(needed, to)), Relaxed);
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a value that waits its number.
    pub(super) fn line_up(&self) -> u64 {
        self.queued.fetch_add(1, Relaxed);
        let mut line = self.line();
        line.last += 1;
        let number = line.last;
        line.waiting.insert(number);
        number
    }

    /// Takes a number back: its value begins, or has ended.
    pub(super) fn leave_line(&self, number: u64) {
        self.queued.fetch_sub(1, Relaxed);
        self.line().waiting.remove(&number);
    }

    /// Whether no value of any worker has waited for longer than that with this number.
    pub(super) fn is_next(&self, number: u64) -> bool {
        self.line().waiting.first() == Some(&number)
    }

    /// Whether they hold too much outside under this limit, of which `own` belong to the value that is asked about.
    pub(super) fn are_too_much(&self, own: u64, limit: u64) -> bool {
        let all = self.outside.load(Relaxed);
        let (of, parts) = OUTSIDE_SHARE;
        all > own && all > limit / parts * of
    }

    /// How many wait for others, on whatever worker.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Relaxed)
    }
}
