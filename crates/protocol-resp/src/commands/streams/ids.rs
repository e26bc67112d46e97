// SPDX-License-Identifier: Apache-2.0
//! Ids of items, as clients write and read them.

use crate::wire::fault::Fault;
use crate::wire::reply::{Output, Writer};
use std::io::Write;
use values::StreamId;

/// An argument is no id.
pub(super) const INVALID: Fault =
    Fault::new("ERR Invalid stream ID specified as stream command argument");

/// Bytes of the longest id: two numbers of 20 digits, and a minus.
const TEXT_MAX: usize = 41;

/// The id for a new item, as a client asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `*`: by the clock.
    Any,
    /// `5-*`: the next of this millisecond.
    Within(u64),
    /// `5-1`, or `5` for `5-0`.
    Exactly(StreamId),
}

impl Wanted {
    /// Reads an argument.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Fault> {
        match text {
            b"*" => Ok(Wanted::Any),
            [ms @ .., b'-', b'*'] => number(ms).map(Wanted::Within).ok_or(INVALID),
            text => exact(text).map(Wanted::Exactly),
        }
    }

    /// The id for an item behind `last`, at `now`; `None` if it would not be greater.
    pub(super) fn resolve(self, last: StreamId, now: u64) -> Option<StreamId> {
        let first_of = |ms| StreamId::new(ms, u64::from(ms == 0));
        let id = match self {
            Wanted::Any if now > last.ms => StreamId::new(now, 0),
            Wanted::Any => last.next()?,
            Wanted::Within(ms) if ms == last.ms => StreamId::new(ms, last.seq.checked_add(1)?),
            Wanted::Within(ms) => first_of(ms),
            Wanted::Exactly(id) => id,
        };
        (id > last).then_some(id)
    }
}

/// An id that must be whole or `ms`, which stands for `ms-0`.
pub(super) fn exact(text: &[u8]) -> Result<StreamId, Fault> {
    parse(text, 0).ok_or(INVALID)
}

/// [`exact`], or `-` and `+` for the least and the greatest.
pub(super) fn loose(text: &[u8]) -> Result<StreamId, Fault> {
    edge(text, 0)
}

/// The start of an interval: `-`, `+`, an id, or `(` and an id, which is outside of the interval.
pub(super) fn start(text: &[u8]) -> Result<StreamId, Fault> {
    let outside = "ERR invalid start ID for the interval";
    match text {
        [b'(', rest @ ..] if !rest.is_empty() => {
            parse(rest, 0).ok_or(INVALID)?.next().ok_or(Fault::new(outside))
        }
        text => edge(text, 0),
    }
}

/// The end of an interval; an id without its second number means all of that millisecond.
pub(super) fn end(text: &[u8]) -> Result<StreamId, Fault> {
    let outside = "ERR invalid end ID for the interval";
    match text {
        [b'(', rest @ ..] if !rest.is_empty() => {
            parse(rest, u64::MAX).ok_or(INVALID)?.previous().ok_or(Fault::new(outside))
        }
        text => edge(text, u64::MAX),
    }
}

fn edge(text: &[u8], seq: u64) -> Result<StreamId, Fault> {
    match text {
        b"-" => Ok(StreamId::MIN),
        b"+" => Ok(StreamId::MAX),
        text => parse(text, seq).ok_or(INVALID),
    }
}

/// `ms-seq`, or `ms` alone with the `seq` that it stands for.
fn parse(text: &[u8], seq: u64) -> Option<StreamId> {
    match memchr::memchr(b'-', text) {
        Some(at) => {
            let (ms, seq) = text.split_at(at);
            Some(StreamId::new(number(ms)?, number(seq.get(1..)?)?))
        }
        None => Some(StreamId::new(number(text)?, seq)),
    }
}

/// Decimal digits, which may have zeros and a plus in front.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if digits.is_empty() || digits.len() > 100 {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

/// Writes an id.
pub(super) fn reply<O: Output>(out: &mut Writer<'_, O>, id: StreamId) {
    let mut room = [0; TEXT_MAX];
    let mut rest = &mut room[..];
    // Two numbers and a minus always fit.
    let written = write!(rest, "{}-{}", id.ms, id.seq);
    debug_assert!(written.is_ok());
    let len = TEXT_MAX.saturating_sub(rest.len());
    out.bulk(&room[..len]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_two_numbers_or_one() {
        assert_eq!(exact(b"5-7"), Ok(StreamId::new(5, 7)));
        assert_eq!(exact(b"5"), Ok(StreamId::new(5, 0)));
        assert_eq!(exact(b"18446744073709551615-18446744073709551615"), Ok(StreamId::MAX));
        for text in [
            "",
            "-",
            "+",
            "5-",
            "-5",
            "5-6-7",
            "a",
            "5-a",
            "18446744073709551616",
            "5-*",
            "*",
            " 5",
        ] {
            assert_eq!(exact(text.as_bytes()), Err(INVALID), "{text}");
        }
    }

    #[test]
    fn the_ends_of_an_interval_may_be_outside_of_it() {
        assert_eq!(start(b"-"), Ok(StreamId::MIN));
        assert_eq!(start(b"(5"), Ok(StreamId::new(5, 1)));
        assert_eq!(end(b"5"), Ok(StreamId::new(5, u64::MAX)));
        assert_eq!(end(b"(5-0"), Ok(StreamId::new(4, u64::MAX)));
        assert!(start(b"(18446744073709551615-18446744073709551615").is_err());
        assert!(end(b"(0-0").is_err() && start(b"(-").is_err() && start(b"(").is_err());
    }

    #[test]
    fn a_new_id_is_greater_than_the_last() {
        let last = StreamId::new(10, 5);
        let resolved = |text: &str| Wanted::parse(text.as_bytes()).unwrap().resolve(last, 9);
        assert_eq!(resolved("*"), Some(StreamId::new(10, 6)), "the clock went back");
        assert_eq!(Wanted::Any.resolve(last, 11), Some(StreamId::new(11, 0)));
        assert_eq!(resolved("10-*"), Some(StreamId::new(10, 6)));
        assert_eq!(resolved("11-*"), Some(StreamId::new(11, 0)));
        assert_eq!(resolved("9-*"), None);
        assert_eq!(resolved("10-5"), None);
        assert_eq!(Wanted::Within(0).resolve(StreamId::MIN, 0), Some(StreamId::new(0, 1)));
        assert_eq!(Wanted::Any.resolve(StreamId::MAX, 0), None);
    }
}
