// SPDX-License-Identifier: Apache-2.0
//! Amounts of memory and disk space.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::quantity::{Scale, Unit};

const BYTE: Unit = Unit { names: &["B", "bytes", "byte"], size: 1 };

static BYTES: Scale = Scale {
    units: &[
        Unit { names: &["TB", "TiB", "T"], size: 1 << 40 },
        Unit { names: &["GB", "GiB", "G"], size: 1 << 30 },
        Unit { names: &["MB", "MiB", "M"], size: 1 << 20 },
        Unit { names: &["KB", "KiB", "K"], size: 1 << 10 },
        BYTE,
    ],
    plain: &BYTE,
    max: u64::MAX as u128,
    ignore_case: true,
};

/// What a setting of this type wants, as error messages put it.
const EXPECTED: &str = "a size, such as \"64MB\", or a whole number of bytes";

/// A number of bytes, written `"64MB"`, `"4GiB"`, `"1.5g"`, `"512B"` or as a plain integer.
///
/// Units are powers of 1024, with or without the `i`, as memcached's `-m` and `-I` mean them:
/// `"64MB"` is 64 · 1024 · 1024 bytes. Upper and lower case are the same. Printing gives the
/// shortest text that reads back as exactly the same size.
///
/// ```
/// use config::ByteSize;
///
/// let size: ByteSize = "1.5GB".parse()?;
/// assert_eq!(size, ByteSize(3 << 29));
/// assert_eq!(size.to_string(), "1.5GB");
/// assert_eq!(ByteSize(1_000).to_string(), "1000B");
/// assert_eq!(
///     "64 parsecs".parse::<ByteSize>().unwrap_err().to_string(),
///     "unknown unit \"parsecs\" (known: TB, GB, MB, KB, B); write a size, such as \"64MB\""
/// );
/// # Ok::<(), config::Error>(())
/// ```
///
/// # Errors
///
/// Parsing fails with [`Error::Quantity`] on anything else, and on sizes of 2^64 bytes and above.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let quantity = |reason| Error::Quantity { reason, expected: "a size", example: "64MB" };
        let bytes = BYTES.read(text).map_err(quantity)?;
        // The scale's maximum is u64::MAX.
        Ok(ByteSize(u64::try_from(bytes).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&BYTES.write(u128::from(self.0)))
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ByteSizeVisitor)
    }
}

struct ByteSizeVisitor;

impl Visitor<'_> for ByteSizeVisitor {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<ByteSize, E> {
        Ok(ByteSize(bytes))
    }

    fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<ByteSize, E> {
        let negative = |_| E::invalid_value(de::Unexpected::Signed(bytes), &self);
        u64::try_from(bytes).map(ByteSize).map_err(negative)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_documented_form() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("1 byte", 1),
            ("100KB", 100 << 10),
            ("64MB", 64 << 20),
            ("64MiB", 64 << 20),
            ("64 mb", 64 << 20),
            ("64m", 64 << 20),
            ("4GiB", 4 << 30),
            (" 1.5GB ", 3 << 29),
            ("0.25k", 256),
            ("2T", 2 << 40),
            ("0.1KB", 102),
            ("1.00000000000000000000000000000000000000000KB", 1024),
            ("18446744073709551615", u64::MAX),
            ("000000000000000000000000000000000000000000000000001", 1),
        ] {
            assert_eq!(text.parse::<ByteSize>().unwrap(), ByteSize(bytes), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_the_rest() {
        for (text, reason) in [
            ("", "\"\" does not begin with a number"),
            ("MB", "\"MB\" does not begin with a number"),
            ("-1MB", "\"-1MB\" does not begin with a number"),
            ("1.MB", "\"1.\" is not a number"),
            (".5MB", "\".5\" is not a number"),
            ("1.2.3MB", "\"1.2.3\" is not a number"),
            ("1.5B", "\"1.5B\" has a fraction of the smallest unit"),
            ("1.5", "\"1.5\" has a fraction of the smallest unit"),
            ("0.0000001KB", "\"0.0000001KB\" is too small"),
            ("16777216TB", "\"16777216TB\" is too large"),
            ("18446744073709551616", "\"18446744073709551616\" is too large"),
            (
                "9999999999999999999999999999999999999999999999",
                "\"999999999999999999999999…\" is too large",
            ),
            ("1e3", "unknown unit \"e3\" (known: TB, GB, MB, KB, B)"),
            ("1_000", "unknown unit \"_000\" (known: TB, GB, MB, KB, B)"),
        ] {
            let error = text.parse::<ByteSize>().unwrap_err().to_string();
            assert_eq!(error, format!("{reason}; write a size, such as \"64MB\""), "{text}");
        }
    }

    #[test]
    fn prints_the_shortest_exact_form() {
        for (bytes, text) in [
            (0, "0B"),
            (1, "1B"),
            (1000, "1000B"),
            (1024, "1KB"),
            (1536, "1536B"),
            (1 << 20, "1MB"),
            (512 << 20, "512MB"),
            (1536 << 20, "1.5GB"),
            (1280 << 20, "1280MB"),
            (1 << 40, "1TB"),
            (u64::MAX, "18446744073709551615B"),
        ] {
            assert_eq!(ByteSize(bytes).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(mantissa: u64, shift in 0_u32..64) {
            let size = ByteSize((mantissa >> shift) << (shift / 2));
            prop_assert_eq!(size.to_string().parse::<ByteSize>().unwrap(), size);
        }

        #[test]
        fn any_text_gives_a_size_or_a_bounded_error(text in "[0-9.]{0,50}.{0,100}") {
            if let Err(error) = text.parse::<ByteSize>() {
                prop_assert!(error.to_string().chars().count() < 300);
            }
        }
    }
}
