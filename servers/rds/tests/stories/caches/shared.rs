// SPDX-License-Identifier: Apache-2.0
//! [`Shared`]: what caches and writers know of each other. [`Rounds`]: when they write, and when they compare.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use test_support::random::Random;

pub(super) const WRITERS: usize = 3;

/// Keys of each writer.
const KEYS: usize = 8;

/// Keys that all write, caches as well.
const COMMON: usize = 3;

/// What caches and writers share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The number that was written last.
    last: AtomicU64,
    /// For each key of a writer, of which only its changes tell caches, the number of its last change that was answered.
    /// The others have 0.
    answered: [AtomicU64; WRITERS * KEYS + COMMON],
    /// What is wrong.
    findings: Mutex<Vec<String>>,
    pub(super) rounds: Rounds,
}

/// The key of a number.
pub(super) fn name(key: usize) -> String {
    format!("x:{key}")
}

impl Shared {
    pub(super) fn new(clients: usize) -> Self {
        Shared {
            last: AtomicU64::new(0),
            answered: std::array::from_fn(|_| AtomicU64::new(0)),
            findings: Mutex::default(),
            rounds: Rounds::new(clients),
        }
    }

    /// A number that nobody has written.
    pub(super) fn number(&self) -> u64 {
        self.last.fetch_add(1, SeqCst) + 1
    }

    /// Any key.
    pub(super) fn key(&self, random: &mut Random) -> usize {
        random.below(self.answered.len())
    }

    /// A key that only this writer writes.
    pub(super) fn key_of(&self, writer: usize, random: &mut Random) -> usize {
        writer * KEYS + random.below(KEYS)
    }

    /// A key that all write.
    pub(super) fn common_key(&self, random: &mut Random) -> usize {
        WRITERS * KEYS + random.below(COMMON)
    }

    /// The only writer of a key has got the reply to a change. All changes of the key must be noted so.
    pub(super) fn note_answer(&self, key: usize, number: u64) {
        self.answered[key].store(number, SeqCst);
    }

    pub(super) fn answered(&self) -> Vec<u64> {
        self.answered.iter().map(|number| number.load(SeqCst)).collect()
    }

    pub(super) fn find(&self, finding: String) {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
    }

    pub(super) fn findings(self) -> Vec<String> {
        self.findings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All clients meet before each part of a round: the writers write, then the caches compare.
#[derive(Debug)]
pub(super) struct Rounds {
    clients: usize,
    /// How many have come, in all meetings; `usize::MAX` once one of them never will.
    come: Mutex<usize>,
    changed: Condvar,
    /// Writers that still write in this round.
    writing: AtomicUsize,
}

impl Rounds {
    fn new(clients: usize) -> Self {
        let (come, changed) = Default::default();
        Rounds { clients, come, changed, writing: AtomicUsize::new(WRITERS) }
    }

    /// Waits for all.
    pub(super) fn meet(&self) {
        let mut come = self.come.lock().unwrap_or_else(PoisonError::into_inner);
        assert_ne!(*come, usize::MAX, "another client has failed");
        *come += 1;
        let all = come.next_multiple_of(self.clients);
        self.changed.notify_all();
        while *come < all {
            come = self.changed.wait(come).unwrap_or_else(PoisonError::into_inner);
        }
        assert_ne!(*come, usize::MAX, "another client has failed");
    }

    /// A writer has written all that it writes in this round.
    pub(super) fn end_writing(&self) {
        self.writing.fetch_sub(1, SeqCst);
    }

    /// A writer begins the next round, before a meeting.
    pub(super) fn begin_writing(&self) {
        self.writing.fetch_add(1, SeqCst);
    }

    /// Whether a writer still writes.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.load(SeqCst) > 0
    }
}

/// A client that takes part in the rounds: if it fails, nobody waits for it.
#[derive(Debug)]
pub(super) struct Member<'a>(pub(super) &'a Rounds);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.come.lock().unwrap_or_else(PoisonError::into_inner) = usize::MAX;
            self.0.changed.notify_all();
        }
    }
}
