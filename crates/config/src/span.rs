// SPDX-License-Identifier: Apache-2.0
//! Lengths of time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::quantity::{Scale, Unit};

const NANOS_PER_SECOND: u128 = 1_000_000_000;

const MILLISECOND: Unit = Unit { names: &["ms"], size: NANOS_PER_SECOND / 1000 };

static NANOSECONDS: Scale = Scale {
    units: &[
        Unit { names: &["d"], size: 24 * 60 * 60 * NANOS_PER_SECOND },
        Unit { names: &["h"], size: 60 * 60 * NANOS_PER_SECOND },
        Unit { names: &["m", "min"], size: 60 * NANOS_PER_SECOND },
        Unit { names: &["s"], size: NANOS_PER_SECOND },
        MILLISECOND,
        Unit { names: &["us", "µs"], size: 1000 },
        Unit { names: &["ns"], size: 1 },
    ],
    plain: &MILLISECOND,
    max: u64::MAX as u128 * NANOS_PER_SECOND + (NANOS_PER_SECOND - 1),
    ignore_case: false,
};

/// What a setting of this type wants, as error messages put it.
const EXPECTED: &str = "a duration, such as \"250ms\", or a whole number of milliseconds";

/// A length of time, written `"250ms"`, `"30s"`, `"5m"`, `"1.5h"` or `"7d"`.
///
/// Units are `d`, `h`, `m` (minutes), `s`, `ms`, `us` and `ns`, in lower case. A plain integer is a
/// number of milliseconds. Printing gives the shortest text that reads back as exactly the same
/// duration.
///
/// ```
/// use config::Span;
/// use std::time::Duration;
///
/// let span: Span = "250ms".parse()?;
/// assert_eq!(span, Span(Duration::from_millis(250)));
/// assert_eq!(Span(Duration::from_secs(3600)).to_string(), "1h");
/// assert_eq!(
///     "5 fortnights".parse::<Span>().unwrap_err().to_string(),
///     "unknown unit \"fortnights\" (known: d, h, m, s, ms, us, ns); \
///      write a duration, such as \"250ms\""
/// );
/// # Ok::<(), config::Error>(())
/// ```
///
/// # Errors
///
/// Parsing fails with [`Error::Quantity`] on anything else, and beyond [`Duration::MAX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let quantity =
            |reason| Error::Quantity { reason, expected: "a duration", example: "250ms" };
        let nanos = NANOSECONDS.read(text).map_err(quantity)?;
        // The scale's maximum is Duration::MAX, and a remainder is below 10^9.
        let seconds = u64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(u64::MAX);
        let rest = u32::try_from(nanos % NANOS_PER_SECOND).unwrap_or(0);
        Ok(Span(Duration::new(seconds, rest)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&NANOSECONDS.write(self.0.as_nanos()))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

struct SpanVisitor;

impl Visitor<'_> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_u64<E: de::Error>(self, millis: u64) -> Result<Span, E> {
        Ok(Span(Duration::from_millis(millis)))
    }

    fn visit_i64<E: de::Error>(self, millis: i64) -> Result<Span, E> {
        let negative = |_| E::invalid_value(de::Unexpected::Signed(millis), &self);
        u64::try_from(millis).map(|millis| Span(Duration::from_millis(millis))).map_err(negative)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_documented_form() {
        for (text, duration) in [
            ("0", Duration::ZERO),
            ("1500", Duration::from_millis(1500)),
            ("250ms", Duration::from_millis(250)),
            ("0.5ms", Duration::from_micros(500)),
            ("10us", Duration::from_micros(10)),
            ("10 µs", Duration::from_micros(10)),
            ("7ns", Duration::from_nanos(7)),
            ("1.5s", Duration::from_millis(1500)),
            ("5m", Duration::from_secs(300)),
            ("5min", Duration::from_secs(300)),
            ("1h", Duration::from_secs(3600)),
            ("7d", Duration::from_secs(604_800)),
            ("18446744073709551615.999999999s", Duration::MAX),
        ] {
            assert_eq!(text.parse::<Span>().unwrap(), Span(duration), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_the_rest() {
        for (text, reason) in [
            ("soon", "\"soon\" does not begin with a number"),
            ("-5s", "\"-5s\" does not begin with a number"),
            ("1h30m", "unknown unit \"h30m\" (known: d, h, m, s, ms, us, ns)"),
            ("5M", "unknown unit \"M\" (known: d, h, m, s, ms, us, ns)"),
            ("0.5ns", "\"0.5ns\" has a fraction of the smallest unit"),
            ("0.0001us", "\"0.0001us\" is too small"),
            ("18446744073709551616s", "\"18446744073709551616s\" is too large"),
        ] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert_eq!(error, format!("{reason}; write a duration, such as \"250ms\""), "{text}");
        }
    }

    #[test]
    fn prints_the_shortest_exact_form() {
        for (duration, text) in [
            (Duration::ZERO, "0ms"),
            (Duration::from_millis(250), "250ms"),
            (Duration::from_millis(1500), "1.5s"),
            (Duration::from_secs(60), "1m"),
            (Duration::from_secs(90), "90s"),
            (Duration::from_secs(86_400), "1d"),
            (Duration::from_nanos(1), "1ns"),
            (Duration::MAX, "18446744073709551615999999999ns"),
        ] {
            assert_eq!(Span(duration).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(
            seconds: u64,
            shift in 0_u32..64,
            nanos in 0_u32..1_000_000_000,
        ) {
            for nanos in [nanos, 0, nanos / 1_000_000 * 1_000_000] {
                let span = Span(Duration::new(seconds >> shift, nanos));
                prop_assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
            }
        }
    }
}
