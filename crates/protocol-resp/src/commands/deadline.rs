// SPDX-License-Identifier: Apache-2.0
//! [`Deadline`]: how a client writes when something expires.

// Clients send these numbers, and arithmetic on them must not wrap: an operation that could overflow is
// allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use crate::wire::fault::Fault;

/// A unit of time and where it is counted from: `EX`, `PX`, `EXAT`, `PXAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// Seconds, not milliseconds.
    pub(crate) in_seconds: bool,
    /// Counted from 1970, not from now.
    pub(crate) is_absolute: bool,
}

impl Deadline {
    /// Seconds from now.
    pub(crate) const EX: Deadline = Deadline { in_seconds: true, is_absolute: false };
    /// Milliseconds from now.
    pub(crate) const PX: Deadline = Deadline { in_seconds: false, is_absolute: false };
    /// Seconds since 1970.
    pub(crate) const EXAT: Deadline = Deadline { in_seconds: true, is_absolute: true };
    /// Milliseconds since 1970.
    pub(crate) const PXAT: Deadline = Deadline { in_seconds: false, is_absolute: true };

    /// The option with this name.
    pub(crate) fn option(word: &[u8]) -> Option<Self> {
        let options: [(&[u8], Deadline); 4] =
            [(b"ex", Self::EX), (b"px", Self::PX), (b"exat", Self::EXAT), (b"pxat", Self::PXAT)];
        let found = options.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        found.map(|(_, deadline)| *deadline)
    }

    /// The moment that `number` means, in unix milliseconds; it must lie in the range of a signed
    /// integer, and may be before 1970. `None`: it does not.
    pub(crate) fn moment(self, number: i64, unix_ms: u64) -> Option<i64> {
        let millis = if self.in_seconds { number.checked_mul(1000)? } else { number };
        if self.is_absolute { Some(millis) } else { millis.checked_add(unix_ms as i64) }
    }

    /// [`Deadline::moment`] of an argument that must be a positive integer.
    pub(crate) fn positive(self, text: &[u8], unix_ms: u64, command: &str) -> Result<u64, Fault> {
        let number = values::parse_i64(text).ok_or(Fault::NOT_INTEGER)?;
        let moment = if number > 0 { self.moment(number, unix_ms) } else { None };
        moment.map(|moment| moment as u64).ok_or_else(|| invalid(command))
    }
}

/// The time of an expiry makes no sense.
pub(crate) fn invalid(command: &str) -> Fault {
    Fault::made(format!("ERR invalid expire time in '{command}' command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_counted_from_where_it_says() {
        assert_eq!(Deadline::EX.moment(2, 500), Some(2500));
        assert_eq!(Deadline::PX.moment(2, 500), Some(502));
        assert_eq!(Deadline::EXAT.moment(-2, 500), Some(-2000));
        assert_eq!(Deadline::option(b"PxAt"), Some(Deadline::PXAT));
        assert_eq!(Deadline::option(b"exact"), None);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(Deadline::EX.moment(i64::MAX / 1000 + 1, 0), None);
        assert_eq!(Deadline::PX.moment(i64::MAX, 1), None);
        for text in ["0", "-1", "9223372036854775807"] {
            let refused = Deadline::EX.positive(text.as_bytes(), 1, "set");
            assert_eq!(refused, Err(invalid("set")), "{text}");
        }
        assert_eq!(Deadline::EX.positive(b"1.0", 1, "set"), Err(Fault::NOT_INTEGER));
    }
}
