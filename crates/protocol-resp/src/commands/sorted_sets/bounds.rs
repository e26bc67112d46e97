// SPDX-License-Identifier: Apache-2.0
//! The ends of ranges as clients write them.

use super::super::double;
use values::{LexBound, ScoreBound};

/// Reads an end of a range of scores: a number, behind a parenthesis if its score does not belong to
/// the range.
///
/// As `strtod` reads it: white space may come before the number, no text at all is 0, and a zero byte
/// ends it. One that is out of range is infinite.
pub(super) fn score(text: &[u8]) -> Option<ScoreBound> {
    let (number, is_exclusive) = match text.strip_prefix(b"(") {
        Some(number) => (number, true),
        None => (text, false),
    };
    let found = double::find(number);
    let is_whole = number.get(found.len).is_none_or(|&next| next == 0);
    if !is_whole || found.number.is_nan() {
        return None;
    }
    Some(match is_exclusive {
        true => ScoreBound::Exclusive(found.number),
        false => ScoreBound::Inclusive(found.number),
    })
}

/// Reads an end of a range of names: `-` and `+` for the first and the last there may be, or a name
/// behind a bracket, or behind a parenthesis if it does not belong to the range itself.
pub(super) fn name(text: &[u8]) -> Option<LexBound<'_>> {
    match text {
        [b'-'] | [b'-', 0, ..] => Some(LexBound::Min),
        [b'+'] | [b'+', 0, ..] => Some(LexBound::Max),
        [b'[', name @ ..] => Some(LexBound::Inclusive(name)),
        [b'(', name @ ..] => Some(LexBound::Exclusive(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_scores_are_numbers_with_a_parenthesis_or_without() {
        assert_eq!(score(b"1.5"), Some(ScoreBound::Inclusive(1.5)));
        assert_eq!(score(b"(1.5"), Some(ScoreBound::Exclusive(1.5)));
        assert_eq!(score(b"-inf"), Some(ScoreBound::Inclusive(f64::NEG_INFINITY)));
        assert_eq!(score(b"(+inf"), Some(ScoreBound::Exclusive(f64::INFINITY)));
        assert_eq!(score(b"1e999"), Some(ScoreBound::Inclusive(f64::INFINITY)));
        assert_eq!(score(b""), Some(ScoreBound::Inclusive(0.0)));
        assert_eq!(score(b"("), Some(ScoreBound::Exclusive(0.0)));
        assert_eq!(score(b" 7"), Some(ScoreBound::Inclusive(7.0)));
        assert_eq!(score(b"7\0x"), Some(ScoreBound::Inclusive(7.0)));
        for text in ["x", "1x", "((1", "nan", "(nan", "1 ", "[1"] {
            assert_eq!(score(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn ends_of_names_say_whether_they_belong() {
        assert_eq!(name(b"-"), Some(LexBound::Min));
        assert_eq!(name(b"+"), Some(LexBound::Max));
        assert_eq!(name(b"[a"), Some(LexBound::Inclusive(b"a")));
        assert_eq!(name(b"("), Some(LexBound::Exclusive(b"")));
        for text in ["", "a", "-a", "++", "1"] {
            assert_eq!(name(text.as_bytes()), None, "{text}");
        }
    }
}
