// SPDX-License-Identifier: Apache-2.0
//! Integers, as Redis parses them everywhere.

/// Reads a signed 64-bit number in canonical form: digits without a leading zero, after an optional
/// minus sign; no plus sign, no space, no `-0`.
///
/// ```
/// use protocol_resp::parse::integer;
///
/// assert_eq!(integer(b"-17"), Some(-17));
/// assert_eq!(integer(b"017"), None);
/// ```
#[expect(clippy::arithmetic_side_effects, reason = "so few digits fit")]
pub fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        // 19 digits always fit in 64 bits without a sign.
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut magnitude = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// The number that a text begins with, as C's `atoi` reads it: truncated to 32 bits, 0 if there is none. The
/// command itself refuses such a number.
pub(crate) fn leading_integer(text: &[u8]) -> i32 {
    let text = text.trim_ascii_start();
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0_i64, |number, digit| {
        number.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0')))
    });
    (if is_negative { number.saturating_neg() } else { number }) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_one_form_and_64_bits() {
        let cases: &[(&str, Option<i64>)] = &[
            ("0", Some(0)),
            ("7", Some(7)),
            ("-1", Some(-1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("9999999999999999999", None),
            ("18446744073709551616", None),
            ("99999999999999999999", None),
            ("", None),
            ("-", None),
            ("-0", None),
            ("00", None),
            ("01", None),
            ("-01", None),
            ("+1", None),
            ("--1", None),
            (" 1", None),
            ("1 ", None),
            ("1a", None),
            ("1\0", None),
            ("1:", None),
            ("1/", None),
            ("0x1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(integer(text.as_bytes()), *expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_read_back(number in any::<i64>(), shift in 0_u32..64) {
            let number = number >> shift;
            prop_assert_eq!(integer(number.to_string().as_bytes()), Some(number));
        }

        #[test]
        fn only_the_form_that_is_printed_is_read(text in "[-+ 0-9]{0,21}") {
            let printed = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
            prop_assert_eq!(integer(text.as_bytes()), printed);
        }
    }

    #[test]
    fn leading_integers_are_those_of_c() {
        let cases = [
            ("1.5", 1),
            (" -2x", -2),
            ("+3", 3),
            ("4294967297", 1),
            ("9223372036854775807", -1),
            ("99999999999999999999", -1),
            ("x1", 0),
            ("", 0),
        ];
        for (text, number) in cases {
            assert_eq!(leading_integer(text.as_bytes()), number, "{text:?}");
        }
    }
}
