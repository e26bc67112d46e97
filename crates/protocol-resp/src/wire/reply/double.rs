// SPDX-License-Identifier: Apache-2.0
//! [`Digits`]: floating-point numbers as text, with 17 significant digits as C's `%.17g` has them.
//!
//! 17 digits tell any two numbers apart, so nothing is lost; trailing zeros are left out. Numbers
//! without a fraction come without a point, and those of 10^17 and more, or below 10^-4, with an
//! exponent.

use std::io::Write;

/// Significant digits.
const PRECISION: usize = 17;

/// Below this every number without a fraction has at most [`PRECISION`] digits.
const WHOLE_END: f64 = 1e17;

/// Bytes of the longest text: sign, digit, point, 16 digits, `e-308`.
const MOST: usize = 24;

/// A number's text on the stack.
///
/// ```
/// use protocol_resp::reply::Digits;
///
/// assert_eq!(Digits::new(3.0).as_str(), "3");
/// assert_eq!(Digits::new(0.1).as_str(), "0.10000000000000001");
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
        if number.abs() < WHOLE_END && whole as f64 == number && (whole != 0 || is_plus(number)) {
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
        let (significant, exponent) = scientific(number.abs());
        let len = significant.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
        let significant = &significant[..len];
        match exponent {
            0..17 => {
                let (whole, fraction) = significant.split_at((exponent as usize + 1).min(len));
                self.push(whole);
                // As many as the exponent asks for, if trailing zeros of the whole part are gone.
                self.push(&[b'0'; PRECISION][..exponent as usize + 1 - whole.len()]);
                self.push_fraction(fraction);
            }
            -4..0 => {
                self.push(&b"0.000"[..1 + (-exponent) as usize]);
                self.push(significant);
            }
            _ => {
                self.push(&significant[..1]);
                self.push_fraction(&significant[1..]);
                self.push(if exponent < 0 { b"e-" } else { b"e+" });
                let exponent = exponent.unsigned_abs();
                if exponent < 10 {
                    self.push(b"0");
                }
                self.push(itoa::Buffer::new().format(exponent).as_bytes());
            }
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

/// The significant digits of a finite number that is not negative, and the decimal exponent of the
/// first of them.
fn scientific(number: f64) -> ([u8; PRECISION], i32) {
    let mut text = [0; MOST];
    let mut rest = &mut text[..];
    write!(rest, "{number:.*e}", PRECISION - 1).expect("there is room for it");
    let left = rest.len();
    let text = &text[..MOST - left];
    // d.dddddddddddddddde-xxx
    let mut significant = [text[0]; PRECISION];
    significant[1..].copy_from_slice(&text[2..=PRECISION]);
    let exponent = std::str::from_utf8(&text[PRECISION + 2..]).ok();
    (significant, exponent.and_then(|text| text.parse().ok()).expect("it ends with an exponent"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers and what C's `printf("%.17g")` makes of them.
    const PRINTED: &[(f64, &str)] = &[
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (3.15, "3.1499999999999999"),
        (0.1, "0.10000000000000001"),
        (0.5, "0.5"),
        (1.5, "1.5"),
        (-2.25, "-2.25"),
        (1e-4, "0.0001"),
        (1.5e-4, "0.00014999999999999999"),
        (1e-5, "1.0000000000000001e-05"),
        (9.5367431640625e-7, "9.5367431640625e-07"),
        (1e15, "1000000000000000"),
        (1e16, "10000000000000000"),
        (99_999_999_999_999_984.0, "99999999999999984"),
        (1e17, "1e+17"),
        (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
        (1e22, "1e+22"),
        (1e100, "1e+100"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (5e-324, "4.9406564584124654e-324"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (1234567.891, "1234567.8910000001"),
        (1e14 + 0.125, "100000000000000.12"),
        (1e14 + 0.375, "100000000000000.38"),
        (0.000123456789, "0.000123456789"),
        (10.25, "10.25"),
        (1e3 + 0.5, "1000.5"),
        (9_223_372_036_854_775_808.0, "9.2233720368547758e+18"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ];

    #[test]
    fn numbers_look_as_c_prints_them() {
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
