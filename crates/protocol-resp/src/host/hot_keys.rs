// SPDX-License-Identifier: Apache-2.0
//! [`HotKeys`]: which keys take the most time and the most bytes, while somebody wants to know (`HOTKEYS`).
//!
//! While a session is active every command is timed. Who wants to know nothing pays for nothing: the only question is
//! asked of commands that are timed anyway. All workers share one table; `SAMPLE` says how seldom they come there.

use super::heavy_hitters::HeavyHitters;
use crate::cluster::slots::slot_of;
use clock::Now;
use metrics::process;
use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Keys in a table for each that is shown: the more, the better those are known.
const KNOWN: usize = 16;

/// Keys of more bytes are left out: they would make tables large.
const KEY_BYTES_MAX: usize = 4 << 10;

/// CPU time of the process in user and in system mode, in nanoseconds.
pub(crate) fn cpu() -> [u64; 2] {
    let spent = process::cpu_time();
    [spent.user_ns, spent.system_ns]
}

/// What a session is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) by_time: bool,
    pub(crate) by_bytes: bool,
    /// How many keys are shown.
    pub(crate) count: usize,
    /// After how many milliseconds it ends; `None`: when somebody ends it.
    pub(crate) duration_ms: Option<u64>,
    /// One in so many commands is looked at.
    pub(crate) sample: u32,
    /// Only keys of these slots, in their order.
    pub(crate) slots: Option<Vec<u16>>,
}

impl Wanted {
    /// Whether a key is one of those that are looked at.
    fn takes(&self, key: &[u8]) -> bool {
        let slots = self.slots.as_ref();
        slots.is_none_or(|slots| slots.binary_search(&slot_of(key)).is_ok())
    }
}

/// A session, which may be over.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) wanted: Wanted,
    pub(crate) started_ms: u64,
    /// When it ended.
    pub(crate) ended_ms: Option<u64>,
    /// CPU time of the process in user and in system mode, when the session began and then when it ended.
    pub(crate) cpu: [u64; 2],
    pub(crate) cpu_in_end: Option<[u64; 2]>,
    /// Nanoseconds and bytes of all commands that were looked at.
    pub(crate) of_all: [u64; 2],
    /// Of those with keys of the slots that were named.
    pub(crate) of_slots: [u64; 2],
    pub(crate) by_time: HeavyHitters,
    pub(crate) by_bytes: HeavyHitters,
}

impl Session {
    pub(crate) fn new(wanted: Wanted, now: Now) -> Self {
        let most = wanted.count * KNOWN;
        let keys = || HeavyHitters::new(most);
        Session {
            wanted,
            started_ms: now.unix_ms,
            ended_ms: None,
            cpu: cpu(),
            cpu_in_end: None,
            of_all: [0; 2],
            of_slots: [0; 2],
            by_time: keys(),
            by_bytes: keys(),
        }
    }

    /// When its time is up.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        self.wanted.duration_ms.map(|duration| self.started_ms.saturating_add(duration))
    }

    /// Adds a command that took so long and had so many bytes.
    fn note<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]> + Clone, nanos: u64, bytes: u64) {
        let add = |sums: &mut [u64; 2]| {
            let [time, size] = *sums;
            *sums = [time.saturating_add(nanos), size.saturating_add(bytes)];
        };
        add(&mut self.of_all);
        let count = keys.clone().count().max(1) as u64;
        let mut is_meant = false;
        for key in keys.filter(|key| self.wanted.takes(key)) {
            is_meant = true;
            if key.len() > KEY_BYTES_MAX {
                continue;
            }
            if self.wanted.by_time {
                self.by_time.add(key, nanos / count);
            }
            if self.wanted.by_bytes {
                self.by_bytes.add(key, bytes / count);
            }
        }
        if is_meant {
            add(&mut self.of_slots);
        }
    }
}

/// The present session, or the last one.
#[derive(Debug, Default)]
pub(crate) struct HotKeys {
    is_active: AtomicBool,
    sample: AtomicU32,
    session: Mutex<Option<Session>>,
}

impl HotKeys {
    /// Whether a session is active.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Relaxed)
    }

    /// Whether a command with this random number is looked at.
    pub(crate) fn takes(&self, random: u64) -> bool {
        random.is_multiple_of(self.sample.load(Relaxed).max(1).into())
    }

    /// The session, if there was one since the last reset.
    pub(crate) fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock()
    }

    /// Begins a session in place of one that is over. Only [`Host`](super::Host) does that.
    pub(super) fn begin(&self, session: Session) {
        self.sample.store(session.wanted.sample, Relaxed);
        *self.session.lock() = Some(session);
        self.is_active.store(true, Relaxed);
    }

    /// Ends the session, if one is active.
    pub(super) fn end(&self, at_ms: u64) {
        if let Some(session) = &mut *self.session.lock()
            && session.ended_ms.is_none()
        {
            (session.ended_ms, session.cpu_in_end) = (Some(at_ms), Some(cpu()));
        }
        self.is_active.store(false, Relaxed);
    }

    /// Adds a command to the session; whether the time of the session is up.
    pub(crate) fn note<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]> + Clone,
        nanos: u64,
        bytes: u64,
        now: Now,
    ) -> bool {
        let mut session = self.session.lock();
        let Some(session) = session.as_mut().filter(|session| session.ended_ms.is_none()) else {
            return false;
        };
        if session.due_ms().is_some_and(|due| due <= now.unix_ms) {
            return true;
        }
        session.note(keys, nanos, bytes);
        false
    }
}
