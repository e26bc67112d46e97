// SPDX-License-Identifier: Apache-2.0
//! In what a metric counts, and how that is shown in base units.

use std::fmt;

/// How a whole number as it is counted becomes one in base units: divided by a power of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Shown as it is counted: events, items, bytes.
    #[default]
    One,
    /// Counted in nanoseconds, shown in seconds.
    Nanoseconds,
    /// Counted in milliseconds, shown in seconds.
    Milliseconds,
    /// Counted in thousandths, shown as a ratio.
    Permille,
}

impl Unit {
    /// The unit of this name in a declaration.
    pub(crate) const fn named(name: &str) -> Option<Self> {
        match name.as_bytes() {
            b"one" => Some(Self::One),
            b"nanoseconds" => Some(Self::Nanoseconds),
            b"milliseconds" => Some(Self::Milliseconds),
            b"permille" => Some(Self::Permille),
            _ => None,
        }
    }

    /// Decimal places of the number that is shown.
    const fn places(self) -> usize {
        match self {
            Self::One => 0,
            Self::Nanoseconds => 9,
            Self::Milliseconds | Self::Permille => 3,
        }
    }

    /// The powers of two that histograms of the unit have bounds at.
    pub(crate) const fn powers(self) -> std::ops::RangeInclusive<u32> {
        match self {
            // From 128 ns to 17 s.
            Self::Nanoseconds => 7..=34,
            Self::One | Self::Milliseconds | Self::Permille => 0..=20,
        }
    }

    /// A counted number in base units.
    pub(crate) const fn show(self, counted: i128) -> Shown {
        Shown { counted, unit: self }
    }
}

/// A number in base units; exact, with no more decimals than it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    counted: i128,
    unit: Unit,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.unit.places();
        let one = 10_u128.pow(places as u32);
        let counted = self.counted.unsigned_abs();
        let (whole, part) = (counted / one, counted % one);
        let sign = if self.counted < 0 { "-" } else { "" };
        write!(f, "{sign}{whole}")?;
        if part == 0 {
            return Ok(());
        }
        let digits = format!("{part:0places$}");
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_base_units_without_loss() {
        for (unit, counted, shown) in [
            (Unit::One, 42, "42"),
            (Unit::One, u64::MAX.into(), "18446744073709551615"),
            (Unit::Nanoseconds, 0, "0"),
            (Unit::Nanoseconds, 1, "0.000000001"),
            (Unit::Nanoseconds, 2_500_000_000, "2.5"),
            (Unit::Nanoseconds, u64::MAX.into(), "18446744073.709551615"),
            (Unit::Milliseconds, 1_020, "1.02"),
            (Unit::Permille, -7, "-0.007"),
            (Unit::Permille, 1_000, "1"),
        ] {
            assert_eq!(unit.show(counted).to_string(), shown);
        }
    }

    #[test]
    fn units_are_found_by_their_names() {
        assert_eq!(Unit::named("permille"), Some(Unit::Permille));
        assert_eq!(Unit::named("hours"), None);
    }
}
