// SPDX-License-Identifier: Apache-2.0
//! [`Pause`]: a line of the log that is written once a minute at most.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Milliseconds between two lines of a kind.
const PAUSE_MS: u64 = 60_000;

/// The pause in which what happens is counted instead of logged.
#[derive(Debug)]
pub(crate) struct Pause {
    /// The end of the pause, in milliseconds since the clock's start.
    end_ms: AtomicU64,
    /// What was not logged since the pause began.
    held_back: AtomicU64,
}

impl Pause {
    pub(crate) const fn new() -> Self {
        Pause { end_ms: AtomicU64::new(0), held_back: AtomicU64::new(0) }
    }

    /// Begins a pause at `now_ms` and returns how much was not logged in the previous one, for the end of the line;
    /// `None` if the previous one has not ended.
    pub(crate) fn begin(&self, now_ms: u64) -> Option<Others> {
        let end_ms = self.end_ms.load(Relaxed);
        let next_ms = now_ms.saturating_add(PAUSE_MS);
        let begins = now_ms >= end_ms
            && self.end_ms.compare_exchange(end_ms, next_ms, Relaxed, Relaxed).is_ok();
        if begins {
            return Some(Others(self.held_back.swap(0, Relaxed)));
        }
        self.held_back.fetch_add(1, Relaxed);
        None
    }
}

/// How many others a line stands for; nothing if there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Others(u64);

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, ", as {} others since the last line", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_of_once_a_minute() {
        let pause = Pause::new();
        assert_eq!(pause.begin(0), Some(Others(0)), "the first");
        assert_eq!((pause.begin(1), pause.begin(PAUSE_MS - 1)), (None, None));
        assert_eq!(pause.begin(PAUSE_MS), Some(Others(2)), "a minute later");
        assert_eq!(pause.begin(PAUSE_MS + 1), None);
        assert_eq!(pause.begin(9 * PAUSE_MS), Some(Others(1)));
    }

    #[test]
    fn a_line_says_for_how_many_it_stands() {
        assert_eq!(format!("closed{}", Others(0)), "closed");
        assert_eq!(format!("closed{}", Others(3)), "closed, as 3 others since the last line");
    }
}
