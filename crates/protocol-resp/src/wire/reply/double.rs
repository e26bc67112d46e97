// SPDX-License-Identifier: Apache-2.0
//! [`Digits`]: floating-point numbers as text, with the fewest digits that tell a number from all others, as Redis has them
//! since 7.2.
//!
//! Numbers without a fraction come without a point and with all their digits, up to 2^62. Larger ones have zeros for the
//! digits that do not count, and an exponent if these are more than seven. A number with more than six digits behind the
//! point has an exponent, too, unless that is between -3 and 3: `12345.67`, but `1.23456789012e+4`.

use std::io::Write;

/// The most digits that a number needs.
const DIGITS_MAX: usize = 17;

/// Up to this every number without a fraction is shown with all its digits.
const WHOLE_MAX: f64 = (1_u64 << 62) as f64;

/// The most zeros that stand for digits which do not count.
const ZEROS_MAX: i32 = 7;

/// The most digits behind the point that a number without an exponent has whatever its size, and the largest exponent up or
/// down that is not shown with more of them.
const PLACES_MAX: i32 = 6;
const HIDDEN_EXPONENT_MAX: i32 = 3;

/// Bytes of the longest text: sign, 17 digits, 7 zeros.
const MOST: usize = 25;

/// A number's text on the stack.
///
/// ```
/// use protocol_resp::reply::Digits;
///
/// assert_eq!(Digits::new(3.0).as_str(), "3");
/// assert_eq!(Digits::new(0.1).as_str(), "0.1");
/// assert_eq!(Digits::new(1e20).as_str(), "1e+20");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    bytes: [u8; MOST],
    len: usize,
}

impl Digits {
    /// The text of `number`. Costs little for one without a fraction.
    #[inline]
    pub fn new(number: f64) -> Self {
        let mut digits = Digits { bytes: [0; MOST], len: 0 };
        let whole = number as i64;
        if number.abs() <= WHOLE_MAX && whole as f64 == number && (whole != 0 || is_plus(number)) {
            digits.push(itoa::Buffer::new().format(whole).as_bytes());
        } else if number.is_nan() {
            digits.push(b"nan");
        } else if number.is_infinite() {
            digits.push(if number > 0.0 { b"inf" } else { b"-inf" });
        } else {
            digits.push_general(number);
        }
        digits
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("it is ASCII")
    }

    /// The text as bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline]
    fn push(&mut self, text: &[u8]) {
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text);
        self.len += text.len();
    }

    /// A finite number of any size.
    #[inline(never)]
    fn push_general(&mut self, number: f64) {
        if !is_plus(number) {
            self.push(b"-");
        }
        let (digits, len, exponent) = scientific(number.abs());
        let significant = &digits[..len];
        // How many digits of the whole part are not among these, or, below zero, how many of these come behind the point.
        let zeros = exponent + 1 - len as i32;
        if (0..=ZEROS_MAX).contains(&zeros) {
            self.push(significant);
            self.push(&[b'0'; ZEROS_MAX as usize][..zeros as usize]);
        } else if zeros < 0 && (zeros >= -PLACES_MAX || exponent.abs() <= HIDDEN_EXPONENT_MAX) {
            if exponent < 0 {
                self.push(&b"0.00000"[..1 + (-exponent) as usize]);
                self.push(significant);
            } else {
                let (whole, fraction) = significant.split_at(exponent as usize + 1);
                self.push(whole);
                self.push_fraction(fraction);
            }
        } else {
            self.push(&significant[..1]);
            self.push_fraction(&significant[1..]);
            self.push(if exponent < 0 { b"e-" } else { b"e+" });
            self.push(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
        }
    }

    fn push_fraction(&mut self, fraction: &[u8]) {
        if !fraction.is_empty() {
            self.push(b".");
            self.push(fraction);
        }
    }
}

/// Whether it has no minus sign; zero can have one.
fn is_plus(number: f64) -> bool {
    !number.is_sign_negative()
}

/// The fewest digits that a finite number that is not negative needs, how many they are, and the decimal exponent of
/// the first of them.
fn scientific(number: f64) -> ([u8; DIGITS_MAX], usize, i32) {
    // d.dddde-xxx
    let mut text = [0; MOST];
    let mut rest = &mut text[..];
    write!(rest, "{number:e}").expect("there is room for it");
    let left = rest.len();
    let text = &text[..MOST - left];
    let end = text.iter().position(|&byte| byte == b'e').expect("it ends with an exponent");
    let mut digits = [text[0]; DIGITS_MAX];
    let fraction = text[..end].get(2..).unwrap_or_default();
    digits[1..=fraction.len()].copy_from_slice(fraction);
    let exponent = std::str::from_utf8(&text[end + 1..]).ok();
    let exponent = exponent.and_then(|text| text.parse().ok()).expect("it is a number");
    (digits, 1 + fraction.len(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers and what redis-server 8.0 makes of them.
    const PRINTED: &[(f64, &str)] = &[
        (10_997.939_249_705_96, "1.099793924970596e+4"),
        (1_234.567_890_123_45, "1234.56789012345"),
        (12_345.678_901_2, "1.23456789012e+4"),
        (12_345.67, "12345.67"),
        (123_456.789_012_345, "1.23456789012345e+5"),
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (0.5, "0.5"),
        (-2.25, "-2.25"),
        (0.0001, "0.0001"),
        (0.1, "0.1"),
        (3.15, "3.15"),
        (1e-5, "0.00001"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1.5e-4, "0.00015"),
        (1.23456e-5, "1.23456e-5"),
        (0.0001234567, "1.234567e-4"),
        (0.001234567891, "0.001234567891"),
        (0.000123456789, "1.23456789e-4"),
        (1.5e-5, "0.000015"),
        (9.5367431640625e-7, "9.5367431640625e-7"),
        (1e17, "100000000000000000"),
        (123_456_789_012_345_678.0, "123456789012345680"),
        (4_611_686_018_427_387_904.0, "4611686018427387904"),
        (4_611_686_018_427_388_928.0, "4611686018427389000"),
        (9_223_372_036_854_775_807.0, "9223372036854776000"),
        (1e22, "1e+22"),
        (1e25, "1e+25"),
        (1e26, "1e+26"),
        (1e27, "1e+27"),
        (1e28, "1e+28"),
        (1e29, "1e+29"),
        (1e100, "1e+100"),
        (5e-324, "5e-324"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-1.5e30, "-1.5e+30"),
        (1.5e25, "1.5e+25"),
        (1.234e20, "1.234e+20"),
        (12345678.9e20, "1.23456789e+27"),
        (1_234_567.891, "1234567.891"),
        (0.00000123, "1.23e-6"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (123e-10, "1.23e-8"),
        (-123456789.123e15, "-1.23456789123e+23"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ];

    #[test]
    fn numbers_look_as_redis_prints_them() {
        for (number, text) in PRINTED {
            assert_eq!(Digits::new(*number).as_str(), *text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let digits = Digits::new(number);
            prop_assert_eq!(digits.as_str().parse(), Ok(number), "{}", digits.as_str());
        }

        #[test]
        fn so_is_what_people_use(whole in -1_000_000_i64..1_000_000, parts in 0_i32..1000) {
            let number = whole as f64 + f64::from(parts) / 1000.0;
            prop_assert_eq!(Digits::new(number).as_str().parse(), Ok(number));
        }
    }
}
