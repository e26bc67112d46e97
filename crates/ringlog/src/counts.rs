// SPDX-License-Identifier: Apache-2.0
//! What became of the lines, per ring and for the process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static PROCESS: Tally = Tally::new();

/// What became of the lines given to one ring. Lines still queued are in none of the numbers.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Lines written to their output.
    pub written: u64,
    /// Lines dropped by the caller because no buffer was free.
    pub dropped: u64,
    /// Lines taken from the ring that their output refused (disk full, folder deleted).
    pub failed: u64,
}

/// Lines written since the process started, by all logs including the command log.
#[must_use]
pub fn written() -> u64 {
    PROCESS.snapshot().written
}

/// Lines dropped because a ring was full, since the process started, by all logs.
#[must_use]
pub fn dropped() -> u64 {
    PROCESS.snapshot().dropped
}

/// Lines that could not be written (disk full, folder deleted), since the process started.
#[must_use]
pub fn failed() -> u64 {
    PROCESS.snapshot().failed
}

/// The live form of [`Counts`]. Each event is counted for the ring and for the process.
#[derive(Debug)]
pub(crate) struct Tally {
    written: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl Tally {
    pub(crate) const fn new() -> Self {
        Self { written: AtomicU64::new(0), dropped: AtomicU64::new(0), failed: AtomicU64::new(0) }
    }

    pub(crate) fn written(&self, lines: u64) {
        self.written.fetch_add(lines, Relaxed);
        PROCESS.written.fetch_add(lines, Relaxed);
    }

    pub(crate) fn dropped(&self) {
        self.dropped.fetch_add(1, Relaxed);
        PROCESS.dropped.fetch_add(1, Relaxed);
    }

    pub(crate) fn failed(&self, lines: u64) {
        self.failed.fetch_add(lines, Relaxed);
        PROCESS.failed.fetch_add(lines, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Counts {
        Counts {
            written: self.written.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            failed: self.failed.load(Relaxed),
        }
    }
}
