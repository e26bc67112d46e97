// SPDX-License-Identifier: Apache-2.0
//! Numbers as memcached reads them, with all the quirks of C's `strtoul` family.
//!
//! Leading white space and a sign are allowed. The digits must extend to the end of the word, a NUL
//! or white space; anything after that is ignored. An unsigned number may have a minus sign; it is
//! then negated modulo 2^64, and refused if the top bit of the result is set.

/// Reads an unsigned number of 64 bits.
pub(crate) fn unsigned(word: &[u8]) -> Option<u64> {
    let word = cut_at_nul(word);
    let (negative, magnitude) = scan(word)?;
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    // memcached looks for a minus sign in the whole word, even after the number.
    (value as i64 >= 0 || !word.contains(&b'-')).then_some(value)
}

/// Reads a signed number of 64 bits.
pub(crate) fn signed(word: &[u8]) -> Option<i64> {
    let (negative, magnitude) = scan(cut_at_nul(word))?;
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Sign and magnitude of the number at the start of `word`; `None` when there is no number, when
/// something else follows it, or when it needs more than 64 bits.
fn scan(word: &[u8]) -> Option<(bool, u64)> {
    let start = word.iter().position(|&byte| !is_space(byte))?;
    let (negative, digits) = match &word[start..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let ends_well = digits.get(end).is_none_or(|&byte| is_space(byte));
    if end == 0 || !ends_well {
        return None;
    }
    let magnitude = digits[..end].iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit.wrapping_sub(b'0')))
    })?;
    Some((negative, magnitude))
}

fn cut_at_nul(word: &[u8]) -> &[u8] {
    memchr::memchr(0, word).map_or(word, |end| &word[..end])
}

/// C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_by_strtoul() {
        let max = u64::MAX;
        let cases: &[(&str, Option<u64>)] = &[
            ("0", Some(0)),
            ("007", Some(7)),
            ("+1", Some(1)),
            ("\t1", Some(1)),
            ("1\tx", Some(1)),
            ("7 x", Some(7)),
            ("7\0x", Some(7)),
            ("18446744073709551615", Some(max)),
            ("18446744073709551616", None),
            ("99999999999999999999999", None),
            ("-0", Some(0)),
            ("-1", None),
            ("-18446744073709551615", Some(1)),
            ("-18446744073709551616", None),
            ("-9223372036854775809", Some(i64::MAX as u64)),
            ("-9223372036854775808", None),
            ("18446744073709551615\t-", None),
            ("1\t-", Some(1)),
            ("", None),
            (" ", None),
            ("-", None),
            ("+", None),
            ("--1", None),
            ("- 1", None),
            ("1x", None),
            ("1.5", None),
            ("0x1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(unsigned(text.as_bytes()), *expected, "{text:?}");
        }
    }

    #[test]
    fn signed_numbers_end_at_their_range() {
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed(b"-9223372036854775809"), None);
        assert_eq!(signed(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(signed(b"9223372036854775808"), None);
        assert_eq!(signed(b"-0"), Some(0));
        assert_eq!(signed(b"a"), None);
    }
}
