// SPDX-License-Identifier: Apache-2.0
//! Numbers with a unit: reading and writing them exactly.
//!
//! A quantity counts in a smallest unit (bytes, nanoseconds). Arithmetic is in whole numbers; no
//! floating point is involved.

use crate::source::quoted;

/// The most digits a whole number may have; more cannot fit any quantity.
const WHOLE_DIGITS: usize = 38;
/// The decimals that are read. A day has fewer than 10^15 nanoseconds, so the next decimal of the
/// largest unit is below the smallest one.
const FRACTION_DIGITS: usize = 15;

/// A kind of quantity.
#[derive(Debug)]
pub(crate) struct Scale {
    /// All units, the largest first and the smallest (of size 1) last.
    pub(crate) units: &'static [Unit],
    /// The unit of a number without one.
    pub(crate) plain: &'static Unit,
    /// The largest value in the smallest unit.
    pub(crate) max: u128,
    /// Whether `mb` is as good as `MB`.
    pub(crate) ignore_case: bool,
}

/// One unit of a scale.
#[derive(Debug)]
pub(crate) struct Unit {
    /// How it may be written; the first is how it is printed.
    pub(crate) names: &'static [&'static str],
    /// Its size in the smallest unit.
    pub(crate) size: u128,
}

impl Scale {
    /// Reads `text`; the error says what is wrong with it.
    pub(crate) fn read(&self, text: &str) -> Result<u128, String> {
        let text = text.trim();
        let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(number_end);
        let unit = unit.trim_start();
        if number.is_empty() {
            return Err(format!("{} does not begin with a number", quoted(text, 24)));
        }
        let (whole, fraction) = match number.split_once('.') {
            None => (number, ""),
            Some((whole, fraction)) if digits(whole) && digits(fraction) => (whole, fraction),
            Some(_) => return Err(format!("{} is not a number", quoted(number, 24))),
        };
        let unit = if unit.is_empty() { self.plain } else { self.unit(unit)? };
        if unit.size == 1 && !fraction.is_empty() {
            return Err(format!("{} has a fraction of the smallest unit", quoted(text, 24)));
        }
        match self.value(whole, fraction, unit) {
            None => Err(format!("{} is too large", quoted(text, 24))),
            Some(0) if number.bytes().any(|b| matches!(b, b'1'..=b'9')) => {
                Err(format!("{} is too small", quoted(text, 24)))
            }
            Some(value) => Ok(value),
        }
    }

    fn unit(&self, given: &str) -> Result<&Unit, String> {
        let same =
            |name: &str| name == given || (self.ignore_case && name.eq_ignore_ascii_case(given));
        self.units.iter().find(|unit| unit.names.iter().any(|name| same(name))).ok_or_else(|| {
            let known: Vec<&str> = self.units.iter().map(|unit| unit.names[0]).collect();
            format!("unknown unit {} (known: {})", quoted(given, 24), known.join(", "))
        })
    }

    /// `None` if the value is above the maximum. What is below the smallest unit is dropped.
    fn value(&self, whole: &str, fraction: &str, unit: &Unit) -> Option<u128> {
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        if whole.len() > WHOLE_DIGITS {
            return None;
        }
        let whole = if whole.is_empty() { 0 } else { whole.parse::<u128>().ok()? };
        let (mut numerator, mut divisor) = (0_u128, 1_u128);
        for digit in fraction.bytes().take(FRACTION_DIGITS) {
            numerator = numerator * 10 + u128::from(digit - b'0');
            divisor *= 10;
        }
        let part = numerator * unit.size / divisor;
        let value = whole.checked_mul(unit.size)?.checked_add(part)?;
        (value <= self.max).then_some(value)
    }

    /// The shortest text that reads back as exactly `value`.
    ///
    /// Between texts of equal length one without a fraction wins, then the larger unit.
    pub(crate) fn write(&self, value: u128) -> String {
        if value == 0 {
            return format!("0{}", self.plain.names[0]);
        }
        let texts = self.units.iter().filter_map(|unit| {
            let number = number(value, unit.size)?;
            Some(format!("{number}{}", unit.names[0]))
        });
        texts.min_by_key(|text| (text.chars().count(), text.contains('.'))).unwrap_or_default()
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `value` in units of `size`, if that has at most two decimals.
fn number(value: u128, size: u128) -> Option<String> {
    let hundredths = value.checked_mul(100)?;
    if !hundredths.is_multiple_of(size) {
        return None;
    }
    let hundredths = hundredths / size;
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    Some(match rest {
        0 => whole.to_string(),
        _ if rest.is_multiple_of(10) => format!("{whole}.{}", rest / 10),
        _ => format!("{whole}.{rest:02}"),
    })
}
