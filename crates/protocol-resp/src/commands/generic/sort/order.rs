// SPDX-License-Identifier: Apache-2.0
//! Which element comes before which, and putting them in order.

use crate::commands::double;
use memchr::memchr;
use std::cmp::Ordering;
use std::ops::Range;
use values::Text;

/// An element that is sorted by a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored<'k> {
    pub(super) text: Text<'k>,
    /// Never "not a number".
    pub(super) score: f64,
}

impl Scored<'_> {
    /// By the number, then by the text.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_score = self.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
        by_score.then_with(|| self.text.cmp(&other.text))
    }
}

/// An element that is sorted by another text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyed<'k> {
    pub(super) text: Text<'k>,
    /// Without one it comes first.
    pub(super) key: Option<Text<'k>>,
    /// Where it was before.
    pub(super) at: usize,
}

impl Keyed<'_> {
    /// By the other text; equal ones stay as they were, in either direction.
    pub(super) fn compare(&self, other: &Self, descends: bool) -> Ordering {
        let by_key = self.key.as_deref().cmp(&other.key.as_deref());
        directed(by_key, descends).then(self.at.cmp(&other.at))
    }
}

/// The other way round if it `descends`.
pub(super) fn directed(order: Ordering, descends: bool) -> Ordering {
    if descends { order.reverse() } else { order }
}

/// Sorts in place, and keeps those within `window`. Only they are sorted in full.
pub(super) fn arrange<T>(
    items: &mut Vec<T>,
    window: Range<usize>,
    compare: impl Fn(&T, &T) -> Ordering,
) {
    if window.is_empty() {
        return items.clear();
    }
    if window.end < items.len() {
        items.select_nth_unstable_by(window.end, &compare);
        items.truncate(window.end);
    }
    if window.start > 0 {
        items.select_nth_unstable_by(window.start, &compare);
        items.drain(..window.start);
    }
    items.sort_unstable_by(&compare);
}

/// A number as `strtod` reads it: white space may come before it, and nothing behind it but a zero byte
/// and whatever follows that; of no text at all it is 0. `None`: there is none, or it is too large or
/// too near to 0 for an `f64` of full precision.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    let text = &text[..memchr(0, text).unwrap_or(text.len())];
    let found = double::find(text);
    let is_number = found.len == text.len() && !found.number.is_nan();
    (is_number && !found.is_out_of_range && !found.number.is_subnormal()).then_some(found.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtod_does() {
        for (text, expected) in [
            ("", Some(0.0)),
            ("1.5", Some(1.5)),
            (" \t1", Some(1.0)),
            ("-3e2", Some(-300.0)),
            ("inf", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("0e5", Some(0.0)),
            ("0x1p3", Some(8.0)),
            ("7\0a", Some(7.0)),
            ("\0", Some(0.0)),
            ("1 ", None),
            (" ", None),
            ("nan", None),
            ("1e400", None),
            ("1e-400", None),
            ("1e-310", None),
            ("abc", None),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_window_of_what_is_sorted_is_that_of_all_sorted() {
        let all: Vec<u32> = (0..50).map(|n| n * 37 % 53).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        for window in [0..50, 0..1, 49..50, 10..20, 0..0, 50..50, 7..50] {
            let mut items = all.clone();
            arrange(&mut items, window.clone(), u32::cmp);
            assert_eq!(items, sorted[window]);
        }
    }
}
