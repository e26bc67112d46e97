// SPDX-License-Identifier: Apache-2.0
//! When a field expires, as a client writes it.

use super::super::deadline::{Deadline, invalid};
use crate::wire::fault::Fault;

/// The latest moment, in unix milliseconds.
const LATEST: i64 = (1 << 46) - 1;

/// The moment that `text` means: it may have passed, but lies neither before 1970 nor too far ahead.
pub(super) fn parse(
    unit: Deadline,
    text: &[u8],
    unix_ms: u64,
    command: &str,
) -> Result<u64, Fault> {
    let number = values::parse_i64(text).ok_or(Fault::NOT_INTEGER)?;
    if number < 0 {
        return Err(Fault::new("ERR invalid expire time, must be >= 0"));
    }
    let moment = unit.moment(number, unix_ms).filter(|moment| *moment <= LATEST);
    moment.map(|moment| moment as u64).ok_or_else(|| invalid(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_lies_between_1970_and_the_latest() {
        assert_eq!(parse(Deadline::EX, b"2", 500, "hexpire"), Ok(2500));
        assert_eq!(parse(Deadline::PXAT, b"0", 500, "hexpire"), Ok(0));
        assert_eq!(parse(Deadline::PXAT, b"70368744177663", 500, "x"), Ok(LATEST as u64));
        assert_eq!(parse(Deadline::PXAT, b"70368744177664", 500, "x"), Err(invalid("x")));
        assert_eq!(parse(Deadline::PX, b"70368744177663", 500, "x"), Err(invalid("x")));
        assert_eq!(parse(Deadline::EX, b"9223372036854775807", 500, "x"), Err(invalid("x")));
        assert!(parse(Deadline::EX, b"-1", 500, "x").is_err());
        assert_eq!(parse(Deadline::EX, b"x", 500, "x"), Err(Fault::NOT_INTEGER));
    }
}
