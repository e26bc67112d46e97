// SPDX-License-Identifier: Apache-2.0
//! [`ItemState`]: an item's marks, whether it was read, and when it was last used, in 18 bits.
//!
//! ```text
//!  17            3   2    1       0
//!  │ last access 15 │ READ │ CLAIMED │ STALE │
//! ```
//!
//! The time of the last access is counted in units of 64 seconds, and begins anew after 24 days.

use clock::Ticks;
use std::time::Duration;
use storage::Marks;

/// Bits that a state takes.
pub(crate) const STATE_BITS: u32 = 18;

const STALE: u32 = 1;
const CLAIMED: u32 = 1 << 1;
const READ: u32 = 1 << 2;
const ACCESSED_SHIFT: u32 = 3;
const ACCESSED: u32 = (1 << (STATE_BITS - ACCESSED_SHIFT)) - 1;

/// Milliseconds of a unit of time.
const UNIT_MS: u64 = 64_000;

/// What is known of an item besides its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemState(u32);

impl ItemState {
    /// The state of an item that is written now.
    #[inline]
    pub(crate) fn new(marks: Marks, was_read: bool, now: Ticks) -> Self {
        let read = if was_read { READ } else { 0 };
        ItemState(read | units(now) << ACCESSED_SHIFT).with_marks(marks)
    }

    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        ItemState(bits)
    }

    #[inline]
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn marks(self) -> Marks {
        Marks { stale: self.0 & STALE != 0, claimed: self.0 & CLAIMED != 0 }
    }

    pub(crate) fn with_marks(self, marks: Marks) -> Self {
        let stale = if marks.stale { STALE } else { 0 };
        let claimed = if marks.claimed { CLAIMED } else { 0 };
        ItemState(self.0 & !(STALE | CLAIMED) | stale | claimed)
    }

    pub(crate) fn was_read(self) -> bool {
        self.0 & READ != 0
    }

    /// The state after a read.
    #[inline]
    pub(crate) fn read(self, now: Ticks) -> Self {
        ItemState(self.0 & (STALE | CLAIMED) | READ | units(now) << ACCESSED_SHIFT)
    }

    /// How long ago the last access was.
    pub(crate) fn idle(self, now: Ticks) -> Duration {
        // Another worker, whose clock is a little ahead, may have noted it.
        let since = units(now).wrapping_sub(self.0 >> ACCESSED_SHIFT) & ACCESSED;
        let units = if since > ACCESSED / 2 { 0 } else { u64::from(since) };
        Duration::from_millis(units * UNIT_MS)
    }
}

#[inline]
fn units(now: Ticks) -> u32 {
    (now.as_millis() / UNIT_MS) as u32 & ACCESSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_kept_by_itself() {
        let at = |units: u64| Ticks::from_millis(units * UNIT_MS + 1);
        for now in [0, 1, (1 << 15) - 1, 1 << 15, 1 << 33] {
            for (stale, claimed) in [(false, false), (true, false), (false, true), (true, true)] {
                let marks = Marks { stale, claimed };
                let state = ItemState::new(marks, false, at(now));
                assert!(state.bits() < 1 << STATE_BITS && !state.was_read());
                assert_eq!(state.marks(), marks);
                assert_eq!(state.idle(at(now + 9)), Duration::from_secs(9 * 64));
                let read = state.read(at(now + 9));
                assert_eq!(read, ItemState::new(marks, true, at(now + 9)));
                assert_eq!(read.idle(at(now + 9)), Duration::ZERO);
                assert_eq!(read.idle(at(now + 8)), Duration::ZERO, "from a clock behind");
            }
        }
    }
}
