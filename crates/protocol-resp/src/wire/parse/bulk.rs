// SPDX-License-Identifier: Apache-2.0
//! One argument: `$<length>\r\n<bytes>\r\n`.
//!
//! [`short`] parses arguments of fewer than 10,000 bytes that have arrived, nearly all in practice, from a
//! window of six bytes. For everything else [`next`] falls back to a general parser. For short arguments both
//! give the same result, which a differential test checks.

use super::fault::Fault;
use super::number::integer;
use super::{Framing, LINE_MAX, Span, UNAUTHENTICATED_BULK_MAX};
use memchr::memchr;

/// Why there is no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// At least this many bytes of its header are missing.
    Header(usize),
    /// Exactly this many bytes of it are missing.
    Body(usize),
    Fault(Fault),
}

/// The fewest bytes of an argument, `$0\r\n\r\n`; and room for a length of four digits and its `\r`.
pub(super) const SHORTEST: usize = 6;

/// Finds the argument at `at` in `input`, which lies in it or at its end.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn next(framing: &Framing, input: &[u8], at: usize) -> Result<Span, Stop> {
    match short(input, at) {
        Some((start, end)) if (end - start) as usize <= framing.bulk_max => Ok((start, end)),
        _ => general(framing, input, at),
    }
}

/// Finds an argument of fewer than 10,000 bytes that has arrived; `None` for everything else. That
/// is below the limit of a client that has not authenticated.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn short(input: &[u8], at: usize) -> Option<Span> {
    let window = input.get(at..)?.first_chunk::<SHORTEST>()?;
    if window[0] != b'$' {
        return None;
    }
    let digit = |i: usize| {
        let digit = window[i].wrapping_sub(b'0');
        (digit <= 9).then_some(usize::from(digit))
    };
    let mut length = digit(1)?;
    let mut header = 2;
    // A number that starts with 0 ends there.
    while window[header] != b'\r' {
        if header == SHORTEST - 1 || length == 0 {
            return None;
        }
        length = length * 10 + digit(header)?;
        header += 1;
    }
    let start = at + header + 2;
    let end = start + length;
    // The two bytes after it must have arrived; Redis does not check their values.
    if end + 2 > input.len() {
        return None;
    }
    Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
}

/// Finds any argument, or what is wrong with it.
#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn general(framing: &Framing, input: &[u8], at: usize) -> Result<Span, Stop> {
    let rest = &input[at..];
    let line = match line(rest) {
        Ok(line) => line,
        Err(Some(missing)) => return Err(Stop::Header(missing)),
        Err(None) => return Err(Stop::Fault(Fault::LengthTooLong)),
    };
    let length = match length(framing, line) {
        Ok(length) => length,
        Err(fault) => return Err(Stop::Fault(fault)),
    };
    let start = at + line.len() + 2;
    let span = start.checked_add(length).and_then(|end| span(start, end));
    let Some((start, end)) = span else { return Err(Stop::Fault(Fault::RequestTooLarge)) };
    match (end as usize + 2).saturating_sub(input.len()) {
        0 => Ok((start, end)),
        missing => Err(Stop::Body(missing)),
    }
}

/// The offsets of an argument with its two bytes behind it, if they fit.
fn span(start: usize, end: usize) -> Option<Span> {
    u32::try_from(end.checked_add(2)?).ok()?;
    Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
}

/// The length in the line `$<length>`.
fn length(framing: &Framing, line: &[u8]) -> Result<usize, Fault> {
    let digits = match line {
        [b'$', digits @ ..] => digits,
        [other, ..] => return Err(Fault::NoDollar(*other)),
        [] => return Err(Fault::NoDollar(b'\r')),
    };
    let length = integer(digits).and_then(|length| usize::try_from(length).ok());
    let length = length.filter(|&length| length <= framing.bulk_max).ok_or(Fault::BadLength)?;
    if framing.restricted && length > UNAUTHENTICATED_BULK_MAX {
        return Err(Fault::UnauthenticatedLength);
    }
    Ok(length)
}

/// The first line of `rest`, which ends with `\r` and any byte. Or a lower bound on the missing
/// bytes; or `None` when the line is too long.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn line(rest: &[u8]) -> Result<&[u8], Option<usize>> {
    let window = &rest[..rest.len().min(LINE_MAX + 1)];
    match memchr(b'\r', window) {
        Some(end) if end + 2 <= rest.len() => Ok(&rest[..end]),
        Some(_) => Err(Some(1)),
        None if rest.len() > LINE_MAX => Err(None),
        None => Err(Some(2.min(LINE_MAX + 1 - rest.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FRAMING: Framing = Framing { restricted: false, bulk_max: 100_000 };

    #[test]
    fn the_short_way_takes_what_has_arrived_below_ten_thousand_bytes() {
        for (length, digits) in [(0, 1), (9, 1), (10, 2), (99, 2), (100, 3), (1000, 4), (9999, 4)] {
            let mut input = format!("xx${length}\r\n").into_bytes();
            input.extend(vec![b'v'; length + 2]);
            let start = 2 + 1 + digits + 2;
            let span = (start as u32, (start + length) as u32);
            assert_eq!(short(&input, 2), Some(span), "{length}");
            assert_eq!(general(&FRAMING, &input, 2), Ok(span), "{length}");
            input.pop();
            assert_eq!(short(&input, 2), None, "{length}, and a byte is missing");
            assert_eq!(general(&FRAMING, &input, 2), Err(Stop::Body(1)), "{length}");
        }
        let ten_thousand = [b"$10000\r\n", &[b'v'; 10_002][..]].concat();
        assert_eq!(short(&ten_thousand, 0), None);
        assert_eq!(next(&FRAMING, &ten_thousand, 0), Ok((8, 10_008)));
    }

    #[test]
    fn the_limit_holds_for_short_arguments_too() {
        let framing = Framing { restricted: false, bulk_max: 3 };
        assert_eq!(next(&framing, b"$3\r\nabc\r\n", 0), Ok((4, 7)));
        let refused = Err(Stop::Fault(Fault::BadLength));
        assert_eq!(next(&framing, b"$4\r\nabcd\r\n", 0), refused);
    }

    #[test]
    fn offsets_end_at_4_gib() {
        if usize::BITS < 64 {
            return;
        }
        let framing = Framing { restricted: false, bulk_max: usize::MAX };
        let refused = Err(Stop::Fault(Fault::RequestTooLarge));
        assert_eq!(general(&framing, b"$4294967281\r\n", 0), refused);
        assert_eq!(general(&framing, b"$9223372036854775807\r\n", 0), refused);
        let waits = Err(Stop::Body(4_294_967_282));
        assert_eq!(general(&framing, b"$4294967280\r\n", 0), waits);
    }

    proptest! {
        #[test]
        fn both_ways_agree(
            header in "[$x]?[0-9]{0,6}\r?[\nx]?",
            body in 0_usize..200,
            at in 0_usize..3,
        ) {
            let mut input = vec![b' '; at];
            input.extend(header.as_bytes());
            input.extend(vec![b'v'; body]);
            if let Some(span) = short(&input, at) {
                prop_assert_eq!(general(&FRAMING, &input, at), Ok(span));
            }
        }
    }
}
