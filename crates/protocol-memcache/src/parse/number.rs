// SPDX-License-Identifier: Apache-2.0
//! Numbers as memcached reads them.
//!
//! Most words must be digits and nothing else ([`digits_u64`] and its like). The flags and the expiry time of a
//! storage line, and the values that `incr` changes, are read with all the quirks of C's `strtoul` family
//! ([`unsigned`], [`signed`]): white space and a sign may precede the digits, and white space or a NUL with anything
//! behind it may follow them.

/// The most digits of a number of 32 bits, its sign included.
const LEN_MAX_32: usize = 11;

/// The most digits of a number of 64 bits.
const LEN_MAX_64: usize = 22;

/// Reads a word of digits.
pub(crate) fn digits_u64(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > LEN_MAX_64 {
        return None;
    }
    magnitude(word)
}

/// Reads a word of digits.
pub(crate) fn digits_u32(word: &[u8]) -> Option<u32> {
    if word.len() > LEN_MAX_32 {
        return None;
    }
    u32::try_from(digits_u64(word)?).ok()
}

/// Reads a word of digits, which a `-` may precede; a `-` alone is 0.
pub(crate) fn digits_i32(word: &[u8]) -> Option<i32> {
    if word.is_empty() || word.len() > LEN_MAX_32 {
        return None;
    }
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let magnitude = i64::try_from(magnitude(digits)?).ok()?;
    i32::try_from(if negative { magnitude.checked_neg()? } else { magnitude }).ok()
}

/// Reads the unsigned number of 64 bits at the start of `text`. It may have a minus sign: it is then negated modulo
/// 2^64, and refused if the top bit of the result is set.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    let (negative, magnitude) = scan(text)?;
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    (value as i64 >= 0 || !negative).then_some(value)
}

/// Reads the signed number of 64 bits at the start of `text`.
pub(crate) fn signed(text: &[u8]) -> Option<i64> {
    let (negative, magnitude) = scan(text)?;
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Sign and magnitude of the number at the start of `text`; `None` when there is no number, when
/// something else follows it, or when it needs more than 64 bits.
fn scan(text: &[u8]) -> Option<(bool, u64)> {
    let start = text.iter().position(|&byte| !is_space(byte))?;
    let (negative, digits) = match &text[start..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let (magnitude, rest) = leading(digits)?;
    let ends_well = rest.first().is_none_or(|&byte| is_space(byte) || byte == 0);
    (rest.len() < digits.len() && ends_well).then_some((negative, magnitude))
}

/// The number that `digits` are, if they are digits and it has at most 64 bits.
fn magnitude(digits: &[u8]) -> Option<u64> {
    leading(digits).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
}

/// The number that the digits at the start of `text` are, and what follows them; `None` if it has more than 64 bits.
#[inline]
fn leading(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut rest) = (0_u64, text);
    while let [first, behind @ ..] = rest {
        let digit = first.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        rest = behind;
    }
    Some((number, rest))
}

/// C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_nothing_else() {
        type Case = (&'static str, Option<u64>, Option<u32>, Option<i32>);
        let cases: &[Case] = &[
            ("0", Some(0), Some(0), Some(0)),
            ("007", Some(7), Some(7), Some(7)),
            ("2147483647", Some(2_147_483_647), Some(2_147_483_647), Some(i32::MAX)),
            ("2147483648", Some(2_147_483_648), Some(2_147_483_648), None),
            ("4294967295", Some(4_294_967_295), Some(u32::MAX), None),
            ("4294967296", Some(4_294_967_296), None, None),
            ("00000000001", Some(1), Some(1), Some(1)),
            ("000000000001", Some(1), None, None),
            ("18446744073709551615", Some(u64::MAX), None, None),
            ("18446744073709551616", None, None, None),
            ("0000000000000000000001", Some(1), None, None),
            ("00000000000000000000001", None, None, None),
            ("-1", None, None, Some(-1)),
            ("-2147483648", None, None, Some(i32::MIN)),
            ("-2147483649", None, None, None),
            ("-", None, None, Some(0)),
            ("--1", None, None, None),
            ("+1", None, None, None),
            ("", None, None, None),
            ("1x", None, None, None),
            ("1\t", None, None, None),
            ("\t1", None, None, None),
            ("1\0", None, None, None),
        ];
        for &(text, u64_, u32_, i32_) in cases {
            let word = text.as_bytes();
            assert_eq!(digits_u64(word), u64_, "{text:?}");
            assert_eq!(digits_u32(word), u32_, "{text:?}");
            assert_eq!(digits_i32(word), i32_, "{text:?}");
        }
    }

    #[test]
    fn numbers_read_as_by_strtoul() {
        let max = u64::MAX;
        let cases: &[(&str, Option<u64>)] = &[
            ("0", Some(0)),
            ("007", Some(7)),
            ("+1", Some(1)),
            ("\t1", Some(1)),
            ("\t 1 2", Some(1)),
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
            ("18446744073709551615\t-", Some(max)),
            ("1\t-", Some(1)),
            ("", None),
            (" ", None),
            ("\0", None),
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
