// SPDX-License-Identifier: Apache-2.0
//! [`State`]: the word of an item that was marked, or whose reads are noted.

use clock::Ticks;
use std::time::Duration;
use storage::Marks;

/// Set in each state, and in no word of lengths.
const STATE: u32 = 1 << 31;
const STALE: u32 = 1 << 30;
const CLAIMED: u32 = 1 << 29;
/// The time of the last access in seconds since the clock's start; after 17 years it begins anew.
const ACCESSED: u32 = (1 << 29) - 1;

/// Marks, and when the item was last read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(u32);

impl State {
    /// All bits set, for tests.
    #[cfg(test)]
    pub(super) const ALL_BITS: State = State(u32::MAX);

    /// The state of an item that is accessed now.
    pub(crate) fn new(marks: Marks, now: Ticks) -> Self {
        State(STATE).with_marks(marks).accessed(now)
    }

    /// Reads the word of a state.
    #[inline]
    pub(crate) fn from_word(word: u32) -> Self {
        debug_assert!(State::is_state(word), "INV-LENGTHS");
        State(word)
    }

    /// Whether word 1 of an item is a state, and not a part of its lengths.
    #[inline]
    pub(super) fn is_state(word: u32) -> bool {
        word & STATE != 0
    }

    #[inline]
    pub(crate) fn word(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn marks(self) -> Marks {
        Marks { stale: self.0 & STALE != 0, claimed: self.0 & CLAIMED != 0 }
    }

    pub(crate) fn with_marks(self, marks: Marks) -> Self {
        let stale = if marks.stale { STALE } else { 0 };
        let claimed = if marks.claimed { CLAIMED } else { 0 };
        State(self.0 & !(STALE | CLAIMED) | stale | claimed)
    }

    /// The state after an access.
    #[inline]
    pub(crate) fn accessed(self, now: Ticks) -> Self {
        State(self.0 & !ACCESSED | seconds(now))
    }

    /// How long ago the last access was.
    pub(crate) fn idle(self, now: Ticks) -> Duration {
        // Another worker, whose clock is a little ahead, may have noted it.
        let since = seconds(now).wrapping_sub(self.0) & ACCESSED;
        Duration::from_secs(if since > ACCESSED / 2 { 0 } else { u64::from(since) })
    }
}

fn seconds(now: Ticks) -> u32 {
    (now.as_millis() / 1000) as u32 & ACCESSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_the_last_access_do_not_touch_each_other() {
        let at = |seconds: u64| Ticks::from_millis(seconds * 1000 + 999);
        for seconds in [0, 1, 59, (1 << 29) - 1, 1 << 29, 1 << 40] {
            for (stale, claimed) in [(false, false), (true, false), (false, true), (true, true)] {
                let marks = Marks { stale, claimed };
                let state = State::new(marks, at(seconds));
                assert!(State::is_state(state.word()) && state.marks() == marks);
                assert_eq!(State::from_word(state.word()), state);
                assert_eq!(state.idle(at(seconds + 60)), Duration::from_secs(60));
                assert_eq!(state.with_marks(Marks::NONE), State::new(Marks::NONE, at(seconds)));
                assert_eq!(state.accessed(at(seconds + 7)).marks(), marks);
            }
        }
        let ahead = State::new(Marks::NONE, at(5));
        assert_eq!(ahead.idle(at(4)), Duration::ZERO);
    }
}
