// SPDX-License-Identifier: Apache-2.0
//! A request as an array of byte strings: `*<count>\r\n`, then its arguments.

use super::bulk::{self, Stop};
use super::fault::Fault;
use super::number::integer;
use super::request::{FIRST, Request};
use super::{Cursor, Framing, Step, UNAUTHENTICATED_ARGS_MAX, found, need};
use protocol::{ErrorReply, Malformed};

/// The fewest bytes after which an argument can be found malformed: a line end instead of a `$`.
const FEWEST: usize = 2;

/// Parses `input`, which starts with `*`.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn parse<'a>(framing: &Framing, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
    let (count, mut at) = match count(framing, input) {
        Ok((0, consumed)) => return Err(Malformed::skip(ErrorReply::NONE, consumed)),
        Ok(header) => header,
        Err(other) => return other,
    };
    let mut first = [(0, 0); FIRST];
    for (done, span) in (0..count).zip(&mut first) {
        match bulk::next(framing, input, at) {
            Ok(argument) => {
                *span = argument;
                at = argument.1 as usize + 2;
            }
            Err(stop) => return unfinished(stop, count - done),
        }
    }
    if count as usize > FIRST {
        match rest(framing, cursor, input, at, count - FIRST as u32) {
            Ok(end) => at = end,
            Err(other) => return other,
        }
    }
    found(Request::borrowed(&input[..at], count, first), at)
}

/// The number of arguments, 0 for an empty array, and where the first of them starts. Or the result
/// of parsing if there are none.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn count<'a>(framing: &Framing, input: &[u8]) -> Result<(u32, usize), Step<'a>> {
    if let [b'*', digit @ b'1'..=b'9', b'\r', _, ..] = input {
        return Ok((u32::from(digit - b'0'), 4));
    }
    general_count(framing, input)
}

#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn general_count<'a>(framing: &Framing, input: &[u8]) -> Result<(u32, usize), Step<'a>> {
    let line = match bulk::line(input) {
        Ok(line) => line,
        Err(Some(missing)) => return Err(need(missing)),
        Err(None) => return Err(Err(Fault::CountTooLong.into())),
    };
    let count = match integer(&line[1..]) {
        Some(count) if count <= i64::from(i32::MAX) => count.max(0) as u32,
        _ => return Err(Err(Fault::BadCount.into())),
    };
    if framing.restricted && count as usize > UNAUTHENTICATED_ARGS_MAX {
        return Err(Err(Fault::UnauthenticatedCount.into()));
    }
    Ok((count, line.len() + 2))
}

/// Walks over the `left` arguments that start at `at`, beginning where the previous call stopped;
/// returns where they end.
#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn rest<'a>(
    framing: &Framing,
    cursor: &mut Cursor,
    input: &[u8],
    mut at: usize,
    mut left: u32,
) -> Result<usize, Step<'a>> {
    // The checks are for a caller that brings the cursor of another request.
    let seen = cursor.at as usize;
    if (1..left).contains(&cursor.left) && (at..=input.len()).contains(&seen) {
        (at, left) = (seen, cursor.left);
    }
    while left > 0 {
        match bulk::next(framing, input, at) {
            Ok((_, end)) => at = end as usize + 2,
            Err(Stop::Fault(fault)) => {
                *cursor = Cursor::default();
                return Err(Err(fault.into()));
            }
            Err(stop) => {
                *cursor = Cursor { at: u32::try_from(at).unwrap_or(0), left };
                return Err(unfinished(stop, left));
            }
        }
        left -= 1;
    }
    *cursor = Cursor::default();
    Ok(at)
}

/// The first of the `left` remaining arguments is incomplete or malformed.
#[cold]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn unfinished<'a>(stop: Stop, left: u32) -> Step<'a> {
    match stop {
        Stop::Header(missing) => need(missing),
        Stop::Body(missing) => need(missing + if left > 1 { FEWEST } else { 0 }),
        Stop::Fault(fault) => Err(fault.into()),
    }
}
