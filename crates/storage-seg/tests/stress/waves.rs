// SPDX-License-Identifier: Apache-2.0
//! Waves in which the index grows and shrinks. A wave ends when the index has changed its size, however long
//! that takes on a busy machine.

use std::sync::atomic::{AtomicU64, Ordering};

/// Waves of growth, and as many of shrinkage.
const PAIRS: u32 = 8;
/// How many times as large, or as small, the index becomes in a wave.
const FACTOR: u32 = 2;

/// One wave after the other. Threads that share it do not wait for each other.
#[derive(Debug)]
pub(crate) struct Waves(AtomicU64);

/// A wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wave {
    number: u32,
    /// The size of the index at its start.
    slots: u32,
}

impl Waves {
    /// Begins with an index of this size.
    pub(crate) fn new(slots: u32) -> Self {
        Waves(AtomicU64::new(Wave { number: 0, slots }.bits()))
    }

    /// The wave that is under way; none at the end.
    pub(crate) fn current(&self) -> Option<Wave> {
        let bits = self.0.load(Ordering::Relaxed);
        let wave = Wave { number: (bits >> 32) as u32, slots: bits as u32 };
        (wave.number < 2 * PAIRS).then_some(wave)
    }

    /// Ends the wave if the index, which was seen to be of this size in it, has changed enough.
    pub(crate) fn see(&self, wave: Wave, slots: u32) {
        if wave.is_over_at(slots) {
            let next = Wave { number: wave.number + 1, slots };
            // Unless the other thread has ended it.
            let _ = self.0.compare_exchange(
                wave.bits(),
                next.bits(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }
}

impl Wave {
    /// Whether the index is to grow.
    pub(crate) fn grows(self) -> bool {
        self.number.is_multiple_of(2)
    }

    fn is_over_at(self, slots: u32) -> bool {
        match self.grows() {
            true => slots >= FACTOR * self.slots,
            false => FACTOR * slots <= self.slots,
        }
    }

    fn bits(self) -> u64 {
        u64::from(self.number) << 32 | u64::from(self.slots)
    }
}
