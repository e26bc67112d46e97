// SPDX-License-Identifier: Apache-2.0
//! [`LongDouble`]: the numbers of INCRBYFLOAT.
//!
//! Redis adds in the `long double` of its processor, which has 64 significant bits on x86, and
//! shows the sum with 17 digits after the point. So the sum of 0.1 and 0.2 is shown as 0.3, which
//! an `f64` with its 53 bits would not give. Three operations are needed: read, add and show, each
//! rounded once, to even.

use num_bigint::BigUint;
use std::cmp::Ordering;

/// A number with 64 significant bits: `mantissa` times two to the power of `exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongDouble {
    is_negative: bool,
    /// 0, or the highest bit is set.
    mantissa: u64,
    exponent: i32,
}

/// The exponent, as counted here, from which on a number is infinite.
const EXPONENT_MAX: i32 = 16_384 - 64;

/// The exponent of the last bit of the smallest numbers, which have fewer than 64 significant bits.
const EXPONENT_MIN: i32 = -16_445;

/// Digits that are shown behind the point.
const PLACES: u32 = 17;

/// The longest text that is read as a number: Redis copies it, and a zero, to a buffer of 5 KiB.
const TEXT_MAX: usize = 5 * 1024 - 1;

/// Powers of ten beyond this are out of range whatever their digits are.
const POWER_MAX: i64 = 20_000;

impl LongDouble {
    /// Nothing.
    pub(crate) const ZERO: LongDouble = LongDouble { is_negative: false, mantissa: 0, exponent: 0 };

    /// One.
    pub(crate) const ONE: LongDouble =
        LongDouble { is_negative: false, mantissa: 1 << 63, exponent: -63 };

    /// The largest number.
    pub(crate) const MAX: LongDouble =
        LongDouble { is_negative: false, mantissa: u64::MAX, exponent: EXPONENT_MAX };

    /// The number with the other sign.
    pub(crate) const fn negative(self) -> Self {
        LongDouble { is_negative: !self.is_negative, ..self }
    }

    /// Reads a number, as `strtold` does: sign, digits, a point among them, an exponent; all of this
    /// to the base of 16 behind `0x`. `None`: it is none, or out of range.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > TEXT_MAX {
            return None;
        }
        let (is_negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if let [b'0', b'x' | b'X', rest @ ..] = text {
            return Self::parse_hex(is_negative, rest);
        }
        let (number, power) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&text[..at], power(&text[at + 1..])?),
            None => (text, 0),
        };
        let point = number.iter().position(|&byte| byte == b'.').unwrap_or(number.len());
        let fraction = number.get(point + 1..).unwrap_or_default();
        let digits = [&number[..point], fraction].concat();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let digits = BigUint::parse_bytes(&digits, 10)?;
        let power = power - fraction.len() as i64;
        if digits == BigUint::ZERO {
            return Some(LongDouble { is_negative, ..Self::ZERO });
        }
        if power.abs() > POWER_MAX + fraction.len() as i64 {
            return None;
        }
        let ten = BigUint::from(10_u32).pow(power.unsigned_abs() as u32);
        let one = BigUint::from(1_u32);
        let (above, below) = if power < 0 { (digits, ten) } else { (digits * ten, one) };
        Self::quotient(is_negative, above, &below)
    }

    /// Reads what follows the `0x` of a number to the base of 16: digits, a point among them, and
    /// a power of two.
    fn parse_hex(is_negative: bool, text: &[u8]) -> Option<Self> {
        let (number, power) = match text.iter().position(|byte| matches!(byte, b'p' | b'P')) {
            Some(at) => (&text[..at], power(&text[at + 1..])?),
            None => (text, 0),
        };
        let point = number.iter().position(|&byte| byte == b'.').unwrap_or(number.len());
        let fraction = number.get(point + 1..).unwrap_or_default();
        let digits = [&number[..point], fraction].concat();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let digits = BigUint::parse_bytes(&digits, 16)?;
        if digits == BigUint::ZERO {
            return Some(LongDouble { is_negative, ..Self::ZERO });
        }
        let power = power - 4 * fraction.len() as i64;
        if power.abs() > 4 * POWER_MAX + 4 * fraction.len() as i64 {
            return None;
        }
        let one = BigUint::from(1_u32);
        let two = &one << power.unsigned_abs();
        let (above, below) = if power < 0 { (digits, two) } else { (digits * two, one) };
        Self::quotient(is_negative, above, &below)
    }

    /// `above / below`, rounded; neither is 0. `None`: out of range.
    fn quotient(is_negative: bool, above: BigUint, below: &BigUint) -> Option<Self> {
        // At least 66 bits of quotient, so that what is cut off decides about the rounding alone.
        let shift = 66 + below.bits() as i64 - above.bits() as i64;
        let above = if shift >= 0 { above << shift } else { above >> 0_u32 };
        let shift = shift.max(0);
        let (quotient, rest) = (&above / below, &above % below);
        let bits = quotient.bits() as i64;
        let extra = (bits - 64).max(i64::from(EXPONENT_MIN) + shift) as u64;
        let kept = &quotient >> extra;
        let cut = &quotient - (&kept << extra);
        let half = BigUint::from(1_u32) << (extra - 1);
        let is_exact = rest == BigUint::ZERO;
        let mantissa = kept.iter_u64_digits().next().unwrap_or(0);
        let up = cut > half || cut == half && (!is_exact || mantissa & 1 == 1);
        let exponent = i32::try_from(extra as i64 - shift).ok()?;
        Self::rounded(is_negative, mantissa, exponent, up)
    }

    /// A mantissa that is rounded up or not. `None`: out of range, be it too large or rounded to nothing.
    fn rounded(is_negative: bool, mantissa: u64, exponent: i32, up: bool) -> Option<Self> {
        let (mantissa, exponent) = match mantissa.checked_add(u64::from(up)) {
            Some(mantissa) => (mantissa, exponent),
            None => (1 << 63, exponent + 1),
        };
        let spare = mantissa.leading_zeros();
        let mantissa = mantissa.checked_shl(spare)?;
        let exponent = exponent - spare as i32;
        (exponent <= EXPONENT_MAX).then_some(LongDouble { is_negative, mantissa, exponent })
    }

    /// The product with 1000, rounded as all numbers are, and then up to a whole number; the last integer at
    /// either end stands for what is beyond it.
    pub(crate) fn thousandfold(self) -> i64 {
        if self.mantissa == 0 {
            return 0;
        }
        let wide = u128::from(self.mantissa) * 1000;
        let extra = u64::BITS - wide.leading_zeros();
        let (kept, cut) = ((wide >> extra) as u64, wide & ((1 << extra) - 1));
        let half = 1 << (extra - 1);
        let up = cut > half || cut == half && kept & 1 == 1;
        let product = Self::rounded(self.is_negative, kept, self.exponent + extra as i32, up);
        let size = product.filter(|product| product.exponent < 0).map(|product| {
            let shift = product.exponent.unsigned_abs();
            let whole = product.mantissa.checked_shr(shift).unwrap_or(0);
            let is_whole = shift < u64::BITS && whole << shift == product.mantissa;
            // It has been shifted at least once, so it fits.
            (whole as i64).saturating_add(i64::from(!is_whole && !self.is_negative))
        });
        match size {
            Some(size) if self.is_negative => -size,
            Some(size) => size,
            None if self.is_negative => i64::MIN,
            None => i64::MAX,
        }
    }

    /// The sum. `None`: it is out of range.
    pub(crate) fn add(self, other: Self) -> Option<Self> {
        if self.mantissa == 0 || other.mantissa == 0 {
            return Some(if self.mantissa == 0 { other } else { self });
        }
        let (large, small) = if (self.exponent, self.mantissa) < (other.exponent, other.mantissa) {
            (other, self)
        } else {
            (self, other)
        };
        // 62 bits of room below the larger number's last bit, one above for the carry. What the
        // smaller has below that can only be told from nothing, which the lowest bit remembers.
        let distance = (large.exponent - small.exponent) as u32;
        let above = u128::from(large.mantissa) << 62;
        let wide = u128::from(small.mantissa) << 62;
        let moved = wide.checked_shr(distance).unwrap_or(0);
        let is_cut = distance >= 128 || moved << distance != wide;
        let below = moved | u128::from(is_cut);
        let sum =
            if large.is_negative == small.is_negative { above + below } else { above - below };
        if sum == 0 {
            return Some(Self::ZERO);
        }
        let extra = (128 - sum.leading_zeros()).saturating_sub(64);
        let up_shift = 64_u32.saturating_sub(128 - sum.leading_zeros());
        let mantissa = ((sum << up_shift) >> extra) as u64;
        let cut = sum & ((1_u128 << extra) - 1);
        let half = (1_u128 << extra) >> 1;
        let up = extra > 0 && (cut > half || cut == half && mantissa & 1 == 1);
        let exponent = large.exponent - 62 + extra as i32 - up_shift as i32;
        Self::rounded(large.is_negative, mantissa, exponent, up)
    }

    /// The number with up to 17 digits behind the point, none of which is a 0 at the end.
    pub(crate) fn text(self) -> String {
        let (whole, fraction) = if self.exponent >= 0 {
            ((BigUint::from(self.mantissa) << self.exponent as u32).to_string(), 0)
        } else {
            let scale = 10_u64.pow(PLACES);
            let scaled = u128::from(self.mantissa) * u128::from(scale);
            let shift = self.exponent.unsigned_abs();
            let kept = scaled.checked_shr(shift).unwrap_or(0);
            // A shift by 128 and more leaves less than half of a last digit.
            let cut = if shift < 128 { scaled - (kept << shift) } else { 0 };
            let half = if shift < 128 { 1 << (shift - 1) } else { u128::MAX };
            let kept = kept + u128::from(cut > half || cut == half && kept & 1 == 1);
            let scale = u128::from(scale);
            ((kept / scale).to_string(), kept % scale)
        };
        let mut text = whole;
        if fraction != 0 {
            let places = format!(".{fraction:0width$}", width = PLACES as usize);
            text.push_str(places.trim_end_matches('0'));
        }
        if self.is_negative && text != "0" {
            text.insert(0, '-');
        }
        text
    }
}

impl PartialEq for LongDouble {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for LongDouble {}

impl PartialOrd for LongDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LongDouble {
    /// By value: there is one zero.
    fn cmp(&self, other: &Self) -> Ordering {
        // The highest bit of a mantissa is set, so the exponent decides first.
        let size = |number: &Self| match number.mantissa {
            0 => (i32::MIN, 0),
            mantissa => (number.exponent, mantissa),
        };
        let is_below = |number: &Self| number.is_negative && number.mantissa != 0;
        match (is_below(self), is_below(other)) {
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

/// Whether a text stands for a number without bounds.
pub(crate) fn is_infinite(text: &[u8]) -> bool {
    let word = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity")
}

/// The exponent of a decimal number, its sign included.
fn power(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let is_negative = text.first() == Some(&b'-');
    // More digits than fit are out of range in any case.
    let number = digits
        .iter()
        .fold(0_i64, |number, digit| (number * 10 + i64::from(digit - b'0')).min(POWER_MAX * 10));
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &str, b: &str) -> Option<String> {
        let (a, b) = (LongDouble::parse(a.as_bytes())?, LongDouble::parse(b.as_bytes())?);
        a.add(b).map(LongDouble::text)
    }

    #[test]
    fn sums_are_those_of_redis() {
        // As redis-server 7.0.15 on x86-64 answered.
        let cases = [
            ("0.1", "0.2", "0.3"),
            ("10.50", "0.1", "10.6"),
            ("5.0e3", "2.0e2", "5200"),
            ("3", "-1.5", "1.5"),
            ("1", "-1", "0"),
            ("-0", "0", "0"),
            ("1e17", "0.3", "100000000000000000.296875"),
            ("3.0e-17", "0", "0.00000000000000003"),
            ("17179869184", "1.5", "17179869185.5"),
            ("1", "1e-19", "1"),
            ("9223372036854775807", "1", "9223372036854775808"),
            ("1e20", "1", "100000000000000000000"),
            (".5", "5.", "5.5"),
            ("1.0000000000000000001", "-1", "0"),
            ("0x10", "0", "16"),
            ("-0xA.8p+1", "0X1p-1", "-20.5"),
        ];
        for (a, b, expected) in cases {
            assert_eq!(sum(a, b).as_deref(), Some(expected), "{a} + {b}");
            assert_eq!(sum(b, a).as_deref(), Some(expected), "{b} + {a}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", ".", "-", "1e", "abc", "1.2.3", " 1", "1 ", "0x10g", "0x", "1e5000", "--1"]
        {
            assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text}");
        }
        assert!(LongDouble::parse(&[b'1'; TEXT_MAX + 1]).is_none());
        assert!(LongDouble::parse(&[b'0'; TEXT_MAX]).is_some());
    }

    #[test]
    fn the_smallest_numbers_have_fewer_digits() {
        let read = |text: &str| LongDouble::parse(text.as_bytes());
        let least = read("0x1p-16445").expect("one bit");
        assert_eq!(least.mantissa, 1 << 63);
        assert_eq!(read("0x1p-16446"), None, "half of it, to even");
        assert_eq!(read("0x1.00000000000000000001p-16446"), Some(least));
        assert_eq!(read("0x1.8p-16445"), read("0x1p-16444"), "to even");
        assert_eq!(read("1e-4950").map(|number| number > least), Some(true));
        assert_eq!(read("2e-4951"), Some(least));
        assert_eq!(read("1e-4951"), None);
        assert_eq!(
            sum("0x1p-16382", "-0x1.8p-16382").as_deref(),
            Some("0"),
            "no less than the least"
        );
    }

    #[test]
    fn a_thousand_times_a_number_is_rounded_twice() {
        let cases = [
            ("0", 0),
            ("0.001", 1),
            ("0.0011", 2),
            ("1e-4950", 1),
            ("-0.001", 0),
            ("-0.0010000000001", -1),
            ("-1e-4950", 0),
            ("-0.002", -1),
            ("-2.5", -2500),
            ("9223372036854775.5", 9_223_372_036_854_775_500),
            ("9223372036854775.8075", i64::MAX),
            ("1e4932", i64::MAX),
            ("-1e4932", i64::MIN),
        ];
        for (text, expected) in cases {
            let number = LongDouble::parse(text.as_bytes()).expect(text);
            assert_eq!(number.thousandfold(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let texts =
            ["-1e4000", "-2", "-1.5", "-1e-4000", "0", "1e-4000", "0.5", "1", "3", "1e4000"];
        let numbers = texts.map(|text| LongDouble::parse(text.as_bytes()).expect(text));
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert_eq!(LongDouble::parse(b"-0"), Some(LongDouble::ZERO));
        assert_eq!(LongDouble::parse(b"1"), Some(LongDouble::ONE));
        let most = "1.18973149535723176502126385303097020517e4932";
        assert_eq!(LongDouble::parse(most.as_bytes()), Some(LongDouble::MAX));
        assert!(numbers.iter().all(|number| *number > LongDouble::MAX.negative()));
    }

    #[test]
    fn numbers_far_apart_and_close_together_add_up() {
        assert_eq!(sum("1e300", "1e-300"), sum("1e300", "0"));
        assert_eq!(sum("1.00000000000000001", "-1").as_deref(), Some("0.00000000000000001"));
    }
}
