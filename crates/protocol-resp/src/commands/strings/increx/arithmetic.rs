// SPDX-License-Identifier: Apache-2.0
//! [`Bounded`]: a sum with bounds, of integers or of floating-point numbers.

use super::super::super::long_double::{LongDouble, is_infinite};
use crate::commands::access::NewNumber;
use crate::wire::fault::Fault;
use crate::wire::reply::Writer;

/// What is added to a number, and where the sum must lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded<D> {
    pub(super) by: D,
    pub(super) lower: D,
    /// Not below the lower one.
    pub(super) upper: D,
    /// A sum beyond a bound becomes the bound.
    pub(super) saturates: bool,
}

/// What came of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome<D> {
    /// It lies beyond a bound.
    Refused,
    Sum {
        new: D,
        /// The difference to the number before.
        added: D,
    },
}

/// A kind of numbers.
pub(super) trait Decimal: Copy + PartialOrd {
    const ZERO: Self;
    /// What is added if nothing is said.
    const ONE: Self;
    /// The lower bound if none is given.
    const LEAST: Self;
    /// The upper bound if none is given.
    const MOST: Self;

    /// Reads the number that is there.
    fn value(text: &[u8]) -> Result<Self, Fault>;

    /// Reads what is added.
    fn increment(text: &[u8]) -> Result<Self, Fault>;

    /// Reads a bound with this name.
    fn bound(text: &[u8], name: &str) -> Result<Self, Fault>;

    /// The sum if it lies within bounds; else the bound that it lies beyond.
    fn add_within(self, by: Self, lower: Self, upper: Self) -> Result<Self, Self>;

    /// The difference to the number before.
    fn minus(self, before: Self) -> Result<Self, Fault>;

    /// The number as it is stored.
    fn stored(self) -> NewNumber;

    /// Writes the number.
    fn reply(self, out: &mut Writer<'_>);
}

impl<D: Decimal> Bounded<D> {
    /// Adds to a number.
    pub(super) fn add(&self, to: D) -> Result<Outcome<D>, Fault> {
        let new = match to.add_within(self.by, self.lower, self.upper) {
            Ok(sum) => sum,
            Err(bound) if self.saturates => bound,
            Err(_) => return Ok(Outcome::Refused),
        };
        Ok(Outcome::Sum { new, added: new.minus(to)? })
    }
}

impl Decimal for i64 {
    const ZERO: Self = 0;
    const ONE: Self = 1;
    const LEAST: Self = i64::MIN;
    const MOST: Self = i64::MAX;

    fn value(text: &[u8]) -> Result<Self, Fault> {
        values::parse_i64(text).ok_or(Fault::NOT_INTEGER)
    }

    fn increment(text: &[u8]) -> Result<Self, Fault> {
        Self::bound(text, "Increment")
    }

    fn bound(text: &[u8], name: &str) -> Result<Self, Fault> {
        let number = values::parse_i64(text);
        number.ok_or_else(|| Fault::made(format!("ERR {name} is not an integer or out of range")))
    }

    fn add_within(self, by: Self, lower: Self, upper: Self) -> Result<Self, Self> {
        let sum = i128::from(self).saturating_add(i128::from(by));
        if sum < i128::from(lower) {
            Err(lower)
        } else if sum > i128::from(upper) {
            Err(upper)
        } else {
            // The bounds are of this type, and it lies between them.
            Ok(sum as i64)
        }
    }

    fn minus(self, before: Self) -> Result<Self, Fault> {
        self.checked_sub(before).ok_or(Fault::new("ERR applied increment would overflow"))
    }

    fn stored(self) -> NewNumber {
        NewNumber::Integer(self)
    }

    fn reply(self, out: &mut Writer<'_>) {
        out.integer(self);
    }
}

/// A floating-point number, or a bound beyond all of them.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Float {
    Below,
    At(LongDouble),
    Above,
}

impl Float {
    fn parse(text: &[u8]) -> Option<Self> {
        if is_infinite(text) {
            return Some(if text.starts_with(b"-") { Float::Below } else { Float::Above });
        }
        LongDouble::parse(text).map(Float::At)
    }

    fn finite(self) -> Option<LongDouble> {
        match self {
            Float::At(number) => Some(number),
            Float::Below | Float::Above => None,
        }
    }

    fn text(self) -> String {
        match self {
            Float::Below => "-inf".to_owned(),
            Float::At(number) => number.text(),
            Float::Above => "inf".to_owned(),
        }
    }
}

impl Decimal for Float {
    const ZERO: Self = Float::At(LongDouble::ZERO);
    const ONE: Self = Float::At(LongDouble::ONE);
    const LEAST: Self = Float::At(LongDouble::MAX.negative());
    const MOST: Self = Float::At(LongDouble::MAX);

    fn value(text: &[u8]) -> Result<Self, Fault> {
        match Self::parse(text) {
            Some(Float::At(number)) => Ok(Float::At(number)),
            Some(Float::Below | Float::Above) => Err(Fault::new("ERR value cannot be Infinity")),
            None => Err(Fault::NOT_FLOAT),
        }
    }

    fn increment(text: &[u8]) -> Result<Self, Fault> {
        match Self::bound(text, "Increment")? {
            Float::At(number) => Ok(Float::At(number)),
            Float::Below | Float::Above => {
                Err(Fault::new("ERR BYFLOAT increment cannot be Infinity"))
            }
        }
    }

    fn bound(text: &[u8], name: &str) -> Result<Self, Fault> {
        let number = Self::parse(text);
        number.ok_or_else(|| Fault::made(format!("ERR {name} is not a valid float")))
    }

    fn add_within(self, by: Self, lower: Self, upper: Self) -> Result<Self, Self> {
        let sum = self.finite().zip(by.finite()).and_then(|(number, by)| number.add(by));
        // What is out of range is so in the direction in which it was going.
        let beyond = if by < Self::ZERO { Float::Below } else { Float::Above };
        let sum = sum.map_or(beyond, Float::At);
        if sum < lower {
            Err(lower)
        } else if sum > upper {
            Err(upper)
        } else {
            Ok(sum)
        }
    }

    fn minus(self, before: Self) -> Result<Self, Fault> {
        let numbers = self.finite().zip(before.finite());
        let difference = numbers.and_then(|(number, before)| number.add(before.negative()));
        difference.map(Float::At).ok_or(Fault::new("ERR applied increment would be Infinity"))
    }

    fn stored(self) -> NewNumber {
        NewNumber::Float(self.text())
    }

    fn reply(self, out: &mut Writer<'_>) {
        out.double_digits(&self.text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum<D: Decimal>(to: &str, by: &str, bounds: [Option<&str>; 2], saturates: bool) -> String {
        let [lower, upper] = bounds;
        let read = |text: &str| D::bound(text.as_bytes(), "bound").expect(text);
        let bounded = Bounded {
            by: read(by),
            lower: lower.map_or(D::LEAST, read),
            upper: upper.map_or(D::MOST, read),
            saturates,
        };
        let shown = |number: D| match number.stored() {
            NewNumber::Integer(integer) => integer.to_string(),
            NewNumber::Float(text) => text,
        };
        match bounded.add(read(to)) {
            Ok(Outcome::Refused) => "refused".to_owned(),
            Ok(Outcome::Sum { new, added }) => format!("{} {}", shown(new), shown(added)),
            Err(fault) => String::from_utf8_lossy(fault.text()).into_owned(),
        }
    }

    #[test]
    fn integers_stay_within_their_bounds() {
        let (most, least) = (i64::MAX.to_string(), i64::MIN.to_string());
        let free = [None, None];
        assert_eq!(sum::<i64>("10", "5", free, false), "15 5");
        assert_eq!(sum::<i64>("10", "5", [None, Some("12")], false), "refused");
        assert_eq!(sum::<i64>("10", "5", [None, Some("12")], true), "12 2");
        assert_eq!(sum::<i64>("10", "5", [None, Some("5")], true), "5 -5");
        assert_eq!(sum::<i64>("10", "-5", [Some("20"), None], true), "20 10");
        assert_eq!(sum::<i64>(&most, "1", free, false), "refused");
        assert_eq!(sum::<i64>(&most, "1", free, true), format!("{most} 0"));
        assert_eq!(
            sum::<i64>(&most, "-5", [None, Some(&least)], true),
            "ERR applied increment would overflow"
        );
    }

    #[test]
    fn floats_stay_within_their_bounds() {
        let free = [None, None];
        assert_eq!(sum::<Float>("10", "2.5", [Some("5.0"), Some("15.0")], false), "12.5 2.5");
        assert_eq!(sum::<Float>("0.1", "0.2", free, false), "0.3 0.2");
        assert_eq!(sum::<Float>("10", "5.5", [None, Some("12.5")], false), "refused");
        assert_eq!(sum::<Float>("10", "5.5", [None, Some("12.5")], true), "12.5 2.5");
        assert_eq!(sum::<Float>("10", "-6", [Some("8.0"), None], true), "8 -2");
        assert_eq!(sum::<Float>("10", "1", [None, Some("inf")], false), "11 1");
        assert_eq!(sum::<Float>("10", "1", [Some("-inf"), Some("-inf")], false), "refused");
        assert_eq!(sum::<Float>("10", "1", [Some("inf"), Some("inf")], false), "refused");
        let beyond = "ERR applied increment would be Infinity";
        assert_eq!(sum::<Float>("10", "1", [Some("-inf"), Some("-inf")], true), beyond);
        let big = "1.1e4932";
        assert_eq!(sum::<Float>(big, big, free, false), "refused");
        assert_eq!(sum::<Float>("10", &format!("-{big}"), [Some("-100"), None], true), "-100 -110");
        assert_eq!(sum::<Float>(&format!("-{big}"), big, [Some(big), None], true), beyond);
    }
}
