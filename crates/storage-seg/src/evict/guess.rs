// SPDX-License-Identifier: Apache-2.0
//! [`Guess`]: whether new items need most of the memory, before the simulations can tell it.
//!
//! A client that fills what it misses can hold a cache in its state. Where each item is read once, after more than half of
//! the memory was written, a cache that begins with a small share misses all of it. So all of it is written again, twice as much
//! goes through the memory, and no share keeps an item until it is read. With a large share from the beginning nothing is
//! missed, and the simulations confirm it later.
//!
//! While the memory fills nothing is evicted, and so it can be seen when items are read for the first time.

/// When the guess is made: so much of the memory was written, as a quotient.
const FILLED: (u64, u64) = (9, 10);

/// The least number of reads for that.
const READS_MIN: u32 = 32;

/// What was read while the memory filled.
#[derive(Debug, Default)]
pub(super) struct Guess {
    reads: u32,
    /// What they are worth.
    hits: f64,
    /// Of that, what was read for the first time, and late.
    late: f64,
    is_made: bool,
}

impl Guess {
    /// Counts a request that found its item.
    pub(super) fn count(&mut self, worth: f64, is_late: bool) {
        if !self.is_made {
            self.reads += 1;
            self.hits += worth;
            self.late += if is_late { worth } else { 0.0 };
        }
    }

    pub(super) fn is_made(&self) -> bool {
        self.is_made
    }

    /// Whether it is made by this call, and says that items are read late.
    pub(super) fn is_made_now(&mut self, written: u64, memory: u64) -> bool {
        if self.is_made || written < memory / FILLED.1 * FILLED.0 {
            return false;
        }
        self.is_made = true;
        self.is_late()
    }

    /// Whether most of what was read was read late, and nothing else is known.
    pub(super) fn is_late(&self) -> bool {
        self.is_made && self.reads >= READS_MIN && self.late > self.hits / 2.0
    }
}
