// SPDX-License-Identifier: Apache-2.0
//! [`WarmUp`]: how much of a trace only fills the cache, before its misses are meaningful.

use crate::units;
use std::fmt;
use std::str::FromStr;

/// The first records of a trace, which an empty cache misses however good it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    /// A share of all, from 0 to 1.
    Share(f64),
    /// So many.
    Records(u64),
}

impl WarmUp {
    /// How many of `all` records it is.
    pub fn of(self, all: usize) -> usize {
        match self {
            WarmUp::Share(share) => (all as f64 * share) as usize,
            WarmUp::Records(records) => usize::try_from(records).unwrap_or(all).min(all),
        }
    }
}

impl FromStr for WarmUp {
    type Err = String;

    /// `20%`, or a number of records with `k` or `m` for thousands and millions.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some(percent) = text.strip_suffix('%') else {
            return units::decimal(text).map(WarmUp::Records);
        };
        let share = percent.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
        let share =
            share.ok_or(format!("`{text}` is no share, as 20% is, nor a number, as 100k"))?;
        Ok(WarmUp::Share(share / 100.0))
    }
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WarmUp::Share(share) => write!(f, "{}%", 100.0 * share),
            WarmUp::Records(records) => write!(f, "{records}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_numbers_are_read() {
        let of = |text: &str| text.parse::<WarmUp>().map(|warm_up| warm_up.of(1_000));
        assert_eq!([of("20%"), of("0"), of("7"), of("2k")], [Ok(200), Ok(0), Ok(7), Ok(1_000)]);
        for text in ["", "%", "101%", "-1%", "nan%", "0.2", "many"] {
            assert!(of(text).is_err(), "{text}");
        }
        assert_eq!(WarmUp::Share(0.2).to_string(), "20%");
    }
}
