// SPDX-License-Identifier: Apache-2.0
//! Arguments that several groups of commands have in common.

// Clients send these numbers, and arithmetic on them must not wrap: an operation that could overflow is
// allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use super::double;
use super::long_double::{LongDouble, is_infinite};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
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

/// For how long a client wants to wait, in seconds that may have a fraction; `None` for ever. It is
/// refused if it ends, on a clock that shows `unix_ms`, after the last moment that fits an `i64`.
pub(crate) fn timeout(text: &[u8], unix_ms: u64) -> Result<Option<Duration>, Fault> {
    // Rounded up to a millisecond: a wait that is short is no wait for ever, and less than a millisecond
    // below 0 is 0. What a double cannot tell is read as Redis's wider type. That is not asked first, because
    // its product with 1000 may be a little more than a whole number, and the wait a millisecond longer.
    let millis = match double::parse(text) {
        Some(seconds) if seconds >= 0.0 => (seconds * 1000.0).ceil() as i64,
        Some(_) if is_infinite(text) => i64::MIN,
        _ => LongDouble::parse(text)
            .ok_or(Fault::new("ERR timeout is not a float or out of range"))?
            .thousandfold(),
    };
    let millis = u64::try_from(millis).map_err(|_| Fault::TIMEOUT_NEGATIVE)?;
    let wait = in_time(millis, unix_ms)?;
    Ok((!wait.is_zero()).then_some(wait))
}

/// [`timeout`] in whole milliseconds, where 0 is no time.
pub(crate) fn timeout_ms(text: &[u8], unix_ms: u64) -> Result<Duration, Fault> {
    let millis = values::parse_i64(text);
    let millis = millis.ok_or(Fault::new("ERR timeout is not an integer or out of range"))?;
    in_time(u64::try_from(millis).map_err(|_| Fault::TIMEOUT_NEGATIVE)?, unix_ms)
}

fn in_time(millis: u64, unix_ms: u64) -> Result<Duration, Fault> {
    match millis.checked_add(unix_ms) {
        Some(end) if i64::try_from(end).is_ok() => Ok(Duration::from_millis(millis)),
        _ => Err(Fault::new("ERR timeout is out of range")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000;

    #[test]
    fn timeouts_are_seconds_with_a_fraction() {
        assert_eq!(timeout(b"0", NOW), Ok(None));
        assert_eq!(timeout(b"0.0001", NOW), Ok(Some(Duration::from_millis(1))));
        assert_eq!(timeout(b"1.5", NOW), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(timeout(b"0.003", NOW), Ok(Some(Duration::from_millis(3))));
        assert_eq!(timeout(b"1e-4940", NOW), Ok(Some(Duration::from_millis(1))));
        assert_eq!(timeout(b"-0.0005", NOW), Ok(None));
        for text in ["x", "", "nan", "inf", "-inf", "-1", "-0.0015", "1e300", "1e4000"] {
            assert!(timeout(text.as_bytes(), NOW).is_err(), "{text}");
        }
    }

    #[test]
    fn no_timeout_ends_behind_the_last_moment() {
        let last = i64::MAX as u64 - NOW;
        assert_eq!(timeout_ms(last.to_string().as_bytes(), NOW), Ok(Duration::from_millis(last)));
        let refused = Fault::new("ERR timeout is out of range");
        for millis in [last + 1, i64::MAX as u64] {
            let wait = timeout_ms(millis.to_string().as_bytes(), NOW);
            assert_eq!(wait, Err(refused.clone()), "{millis} ms");
        }
        for seconds in ["9223372036854775", "9223371000000000", "1e16", "1e300"] {
            assert_eq!(timeout(seconds.as_bytes(), NOW), Err(refused.clone()), "{seconds} s");
        }
        assert!(timeout(b"9223370000000000", NOW).is_ok());
    }
}
