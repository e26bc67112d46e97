// SPDX-License-Identifier: Apache-2.0
//! Ranges of indices as clients write them: from the front, or from the end if they are negative.

// Clients send these numbers, and arithmetic on them must not wrap: an operation that could overflow is
// allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use std::ops::Range;

/// The indices from `start` to `stop`, both counted from the end if negative, of `len` elements.
pub(crate) fn clamp(start: i64, stop: i64, len: usize) -> Range<usize> {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { index.saturating_add(len) } else { index };
    let start = from_end(start).max(0);
    let end = from_end(stop).min(len.saturating_sub(1)).saturating_add(1);
    if start >= end { 0..0 } else { start as usize..end as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_clamped_to_what_there_is() {
        assert_eq!(clamp(0, -1, 5), 0..5);
        assert_eq!(clamp(-3, -2, 5), 2..4);
        assert_eq!(clamp(-100, 100, 5), 0..5);
        for (start, stop) in [(5, 9), (3, 2), (-1, -2), (0, -6), (i64::MAX, i64::MIN)] {
            assert!(clamp(start, stop, 5).is_empty(), "{start} {stop}");
        }
        assert!(clamp(0, -1, 0).is_empty());
    }
}
