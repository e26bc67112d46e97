// SPDX-License-Identifier: Apache-2.0
//! Floating-point numbers as C's `strtod` reads them, which is how Redis reads scores, weights and
//! times.

/// The longest number at the front of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// The nearest `f64`; may be infinite, or no number ("nan").
    pub(crate) number: f64,
    /// How many bytes it takes, with the white space before it; 0 if there is none.
    pub(crate) len: usize,
    /// The number is finite and its `f64` is not, or it is not zero and its `f64` is.
    pub(crate) is_out_of_range: bool,
}

/// The number that a whole text is: a score, a weight, an increment. `None`: it is none, or out of
/// range.
#[inline]
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let found = find(text);
    let is_whole = found.len == text.len() && !text.is_empty() && !is_space(text[0]);
    (is_whole && !found.is_out_of_range && !found.number.is_nan()).then_some(found.number)
}

/// Reads the number that a text begins with.
pub(crate) fn find(text: &[u8]) -> Found {
    let spaces = text.iter().take_while(|&&byte| is_space(byte)).count();
    let (is_negative, signs) = match text.get(spaces) {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    };
    let start = spaces + signs;
    let Some(found) = unsigned(&text[start..]) else {
        return Found { number: 0.0, len: 0, is_out_of_range: false };
    };
    let number = if is_negative { -found.number } else { found.number };
    Found { number, len: start + found.len, ..found }
}

/// White space in C.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Reads a number without a sign.
fn unsigned(text: &[u8]) -> Option<Found> {
    match text.first()? {
        b'0'..=b'9' | b'.' => hexadecimal(text).or_else(|| decimal(text)),
        _ => {
            let is_next = |word: &&str| {
                text.get(..word.len())
                    .is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
            };
            let word = ["infinity", "inf", "nan"].into_iter().find(is_next)?;
            let number = if word == "nan" { f64::NAN } else { f64::INFINITY };
            Some(Found { number, len: word.len(), is_out_of_range: false })
        }
    }
}

/// How many digits a text begins with.
fn digits(text: &[u8], is_digit: fn(&u8) -> bool) -> usize {
    text.iter().take_while(|&byte| is_digit(byte)).count()
}

/// How many bytes the digits at the front of a text take with a point among them, and how many of
/// the digits are behind the point; `None` if there is no digit.
fn mantissa(text: &[u8], is_digit: fn(&u8) -> bool) -> Option<(usize, usize)> {
    let whole = digits(text, is_digit);
    if text.get(whole) != Some(&b'.') {
        return (whole > 0).then_some((whole, 0));
    }
    let fraction = digits(&text[whole + 1..], is_digit);
    (whole + fraction > 0).then_some((whole + 1 + fraction, fraction))
}

/// The exponent at the front of a text behind this letter, and how many bytes it takes. One that is
/// far out of range is brought nearer.
fn exponent(text: &[u8], letter: u8) -> (i64, usize) {
    if !text.first().is_some_and(|first| first.eq_ignore_ascii_case(&letter)) {
        return (0, 0);
    }
    let sign = usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    let behind = &text[1 + sign..];
    let len = digits(behind, u8::is_ascii_digit);
    if len == 0 {
        return (0, 0);
    }
    let number = behind[..len].iter().fold(0_i64, |number, digit| {
        number.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(i64::MAX / 8)
    });
    (if text[1] == b'-' { -number } else { number }, 1 + sign + len)
}

fn decimal(text: &[u8]) -> Option<Found> {
    let (len, _) = mantissa(text, u8::is_ascii_digit)?;
    let is_zero = !text[..len].iter().any(|byte| matches!(byte, b'1'..=b'9'));
    let len = len + exponent(&text[len..], b'e').1;
    let number: f64 = std::str::from_utf8(&text[..len]).ok()?.parse().ok()?;
    let is_out_of_range = number.is_infinite() || (number == 0.0 && !is_zero);
    Some(Found { number, len, is_out_of_range })
}

/// Bits of a mantissa that are kept apart; what is below them can only be told from nothing.
const KEPT: u32 = 60;

fn hexadecimal(text: &[u8]) -> Option<Found> {
    let text = text.strip_prefix(b"0x").or(text.strip_prefix(b"0X"))?;
    let (len, fraction) = mantissa(text, u8::is_ascii_hexdigit)?;
    let (mut bits, mut dropped) = (0_u64, 0_i64);
    for digit in text[..len].iter().filter_map(|&byte| char::from(byte).to_digit(16)) {
        if bits >> (KEPT - 4) == 0 {
            bits = bits << 4 | u64::from(digit);
        } else {
            bits |= u64::from(digit != 0);
            dropped += 1;
        }
    }
    let (power, behind) = exponent(&text[len..], b'p');
    let power = power + 4 * (dropped - fraction as i64);
    let number = scale(bits as f64, power);
    let is_out_of_range = number.is_infinite() || (number == 0.0 && bits != 0);
    Some(Found { number, len: 2 + len + behind, is_out_of_range })
}

/// `number` times two to the power of `power`.
fn scale(number: f64, power: i64) -> f64 {
    // In steps, since a factor may be out of range where the product is not.
    let power = power.clamp(-3000, 3000) as i32;
    let step = power / 4;
    number * 2_f64.powi(step) * 2_f64.powi(step) * 2_f64.powi(step) * 2_f64.powi(power - 3 * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_c() {
        let cases: [(&str, f64); 22] = [
            ("0", 0.0),
            ("12", 12.0),
            ("-1.5", -1.5),
            ("+3", 3.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("007", 7.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
            ("1e+2", 100.0),
            ("0e999999999999999999999", 0.0),
            ("5e-324", 5e-324),
            ("1.7976931348623157e308", f64::MAX),
            ("inf", f64::INFINITY),
            ("-INFINITY", f64::NEG_INFINITY),
            ("+Inf", f64::INFINITY),
            ("0x10", 16.0),
            ("-0X1.8p1", -3.0),
            ("0x.8", 0.5),
            ("0xfffffffffffffffffp-4", 18_446_744_073_709_551_616.0),
            ("0x1p-1074", 5e-324),
            ("9007199254740993", 9_007_199_254_740_992.0),
        ];
        for (text, number) in cases {
            assert_eq!(parse(text.as_bytes()), Some(number), "{text}");
        }
        assert!(parse(b"-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    #[test]
    fn what_is_no_number_is_none() {
        let cases = [
            "",
            " ",
            " 1",
            "1 ",
            "1\0",
            "x",
            "-",
            ".",
            "-.",
            "e5",
            "1e",
            "1e+",
            "0x",
            "0xg",
            "1.2.3",
            "--1",
            "nan",
            "-nan",
            "infinit",
            "1e309",
            "-1e999999999999999999999",
            "1e-400",
            "0x1p-1080",
            "0x1p1024",
            "\u{661}",
        ];
        for text in cases {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_number_ends_where_something_else_begins() {
        for (text, number, len) in [
            ("1.5abc", 1.5, 3),
            (" \t\n\x0b\x0c\r7 ", 7.0, 7),
            ("1e", 1.0, 1),
            ("1e-x", 1.0, 1),
            ("0xg", 0.0, 1),
            ("0x.p1", 0.0, 1),
            ("infinitx", f64::INFINITY, 3),
            ("1e400", f64::INFINITY, 5),
            ("abc", 0.0, 0),
            ("", 0.0, 0),
        ] {
            let found = find(text.as_bytes());
            assert_eq!((found.number, found.len), (number, len), "{text}");
        }
    }
}
