// SPDX-License-Identifier: Apache-2.0
//! [`Bell`]: wakes the writing thread out of a long sleep.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Wakes the thread that owns [`Drain`](crate::Drain)s when a line comes while it sleeps, so that it need not look again
/// and again. Drains are connected by [`Drain::wake_by`](crate::Drain::wake_by).
///
/// Only the line that finds the thread asleep costs its caller a system call.
///
/// INV-BELL: the sleeper says that it sleeps and then looks for lines; a caller queues a line and then looks for a sleeper.
/// Fences keep both in this order, so at least one of them sees the other, and no line waits for the end of a sleep.
#[derive(Debug, Default)]
pub struct Bell {
    sleeper: OnceLock<Thread>,
    is_asleep: AtomicBool,
}

impl Bell {
    /// Sleeps until a line is put into a connected drain, [`ring`](Bell::ring) is called, or `most` is over. Returns at once
    /// when `is_awaited` says that there is something to do already. The same thread must make all calls.
    pub fn sleep(&self, most: Duration, is_awaited: impl FnOnce() -> bool) {
        let sleeper = self.sleeper.get_or_init(thread::current);
        debug_assert_eq!(sleeper.id(), thread::current().id(), "another thread would be woken");
        let begun = Instant::now();
        self.is_asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !is_awaited() {
            while self.is_asleep.load(Ordering::Acquire)
                && let Some(left) = most.checked_sub(begun.elapsed())
            {
                thread::park_timeout(left);
            }
        }
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Ends a sleep that has begun. Whoever calls it must have made what `is_awaited` looks for true before.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed)
            && self.is_asleep.swap(false, Ordering::AcqRel)
            && let Some(sleeper) = self.sleeper.get()
        {
            sleeper.unpark();
        }
    }
}
