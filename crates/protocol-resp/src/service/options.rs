// SPDX-License-Identifier: Apache-2.0
//! Arguments that several groups of commands have in common.

// What clients send are numbers, too, and what is computed of them must not wrap: no operation that can, unless a
// reason says why it does not.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use super::double;
use super::fault::Fault;
use crate::parse::Args;
use std::time::Duration;

/// Splits `numkeys key ... rest` into the keys and the rest.
pub(crate) fn numkeys(args: Args<'_>) -> Result<(Args<'_>, Args<'_>), Fault> {
    let number = args.get(0).and_then(values::parse_i64);
    let text = "ERR numkeys should be greater than 0";
    let number = number.filter(|number| *number > 0).ok_or(Fault::new(text))?;
    let number = usize::try_from(number).map_err(|_| Fault::SYNTAX)?;
    let keys = args.tail(1);
    if number >= keys.len() {
        return Err(Fault::SYNTAX);
    }
    Ok((keys.head(number), keys.tail(number)))
}

/// `[COUNT count]` and nothing else; 1 without it.
pub(crate) fn count_option(args: Args<'_>) -> Result<usize, Fault> {
    let Some(word) = args.get(0) else { return Ok(1) };
    let number = args.get(1).filter(|_| word.eq_ignore_ascii_case(b"count"));
    let number = values::parse_i64(number.ok_or(Fault::SYNTAX)?).filter(|number| *number > 0);
    let number = number.and_then(|number| usize::try_from(number).ok());
    let number = number.ok_or(Fault::new("ERR count should be greater than 0"))?;
    if args.len() > 2 { Err(Fault::SYNTAX) } else { Ok(number) }
}

/// So many seconds are too long a wait: their milliseconds do not fit an `i64`.
const TIMEOUT_MAX: f64 = i64::MAX as f64 / 1000.0;

/// For how long a client wants to wait, in seconds that may have a fraction; `None` for ever.
pub(crate) fn timeout(text: &[u8]) -> Result<Option<Duration>, Fault> {
    let seconds = double::parse(text);
    let seconds = seconds.ok_or(Fault::new("ERR timeout is not a float or out of range"))?;
    if seconds < 0.0 {
        return Err(Fault::new("ERR timeout is negative"));
    }
    if seconds >= TIMEOUT_MAX {
        return Err(Fault::new("ERR timeout is out of range"));
    }
    // Rounded up to a millisecond: a wait that is short is no wait for ever.
    let millis = (seconds * 1000.0).ceil() as u64;
    Ok((millis > 0).then(|| Duration::from_millis(millis)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_seconds_with_a_fraction() {
        assert_eq!(timeout(b"0"), Ok(None));
        assert_eq!(timeout(b"0.0001"), Ok(Some(Duration::from_millis(1))));
        assert_eq!(timeout(b"1.5"), Ok(Some(Duration::from_millis(1500))));
        for text in ["x", "", "nan", "inf", "-1", "1e300"] {
            assert!(timeout(text.as_bytes()).is_err(), "{text}");
        }
    }
}
