// SPDX-License-Identifier: Apache-2.0
//! Integers as decimal digits, and back.

/// Bytes of the longest `i64`, sign included.
const DIGITS_MAX: usize = 20;

/// Room on the stack for the digits of one `i64`.
///
/// ```
/// let mut digits = values::Digits::new();
/// assert_eq!(digits.format(-17), b"-17");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    /// The text is at the end, from `start` on.
    bytes: [u8; DIGITS_MAX],
    start: u8,
}

impl Digits {
    /// Room without digits.
    pub const fn new() -> Self {
        Digits { bytes: [0; DIGITS_MAX], start: DIGITS_MAX as u8 }
    }

    /// Writes `value` in decimal digits, in place of what was there.
    #[inline]
    pub fn format(&mut self, value: i64) -> &[u8] {
        let mut rest = value.unsigned_abs();
        let mut start = DIGITS_MAX;
        loop {
            start -= 1;
            self.bytes[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            start -= 1;
            self.bytes[start] = b'-';
        }
        self.start = start as u8;
        self.as_bytes()
    }

    /// The digits that were written last.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[usize::from(self.start)..]
    }
}

impl Default for Digits {
    fn default() -> Self {
        Self::new()
    }
}

/// The integer that `text` spells, if formatting the integer gives exactly `text` again.
///
/// No sign but a minus, no leading zero, no space, no "-0": so a string that is stored as an
/// integer is read back byte for byte.
///
/// ```
/// use values::parse_i64;
///
/// assert_eq!(parse_i64(b"-17"), Some(-17));
/// assert_eq!(parse_i64(b"007"), None);
/// ```
#[inline]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    if text.len() > DIGITS_MAX {
        return None;
    }
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let magnitude = match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] => magnitude(digits)?,
        _ => return None,
    };
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn magnitude(digits: &[u8]) -> Option<u64> {
    let mut magnitude = 0_u64;
    for &digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(value))?;
    }
    Some(magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_printed_form_is_a_number() {
        for text in [
            "",
            "-",
            "+1",
            "-0",
            "00",
            "01",
            "-01",
            " 1",
            "1 ",
            "1.0",
            "1e3",
            "0x1",
            "--1",
            "1-",
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551616",
            "99999999999999999999",
            "100000000000000000000",
            "١",
        ] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_extremes_are_numbers() {
        for value in [0, 1, -1, 9, 10, -10, i64::MAX, i64::MIN, i64::MIN + 1] {
            assert_eq!(Digits::new().format(value), value.to_string().as_bytes());
            assert_eq!(parse_i64(value.to_string().as_bytes()), Some(value));
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back_and_match_the_standard_library(value: i64) {
            let (mut digits, text) = (Digits::new(), value.to_string());
            prop_assert_eq!(digits.format(value), text.as_bytes());
            prop_assert_eq!(parse_i64(digits.as_bytes()), Some(value));
        }

        #[test]
        fn text_is_a_number_if_printing_the_number_gives_the_text(text in "-?[0-9]{0,21}") {
            let expected = text.parse::<i64>().ok().filter(|value| value.to_string() == text);
            prop_assert_eq!(parse_i64(text.as_bytes()), expected);
        }
    }
}
