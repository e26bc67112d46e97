// SPDX-License-Identifier: Apache-2.0
//! The storage commands: a line with numbers, then a body of the length it says.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input, and lengths of 31 bits behind them"
)]

use super::line::Words;
use super::{Step, found, number};
use crate::exptime::Exptime;
use crate::reply;
use crate::request::{KEY_MAX, Request, Verb, Write};
use protocol::{ErrorReply, Malformed, Parsed};

/// memcached refuses a longer body as a malformed line.
const LEN_MAX: i32 = i32::MAX - 2;

/// Parses a storage command whose line takes up the first `header` bytes of `input`.
pub(super) fn parse<'a>(
    verb: Verb,
    words: &Words<'a>,
    input: &'a [u8],
    header: usize,
    value_max: usize,
) -> Step<'a> {
    let quiet = words.quiet();
    let Some((write, len)) = fields(verb, words, quiet) else {
        let reply = if quiet { ErrorReply::NONE } else { reply::BAD_FORMAT };
        return Err(Malformed::skip(reply, header));
    };
    if len > value_max {
        let request = Request::Oversized { key: write.key, verb, quiet };
        return found(request, header + len + 2);
    }
    body(input, header, len, write)
}

/// The fields of the line and the length of the body; `None` when one is not what it should be.
fn fields<'a>(verb: Verb, words: &Words<'a>, quiet: bool) -> Option<(Write<'a>, usize)> {
    let key = words.get(0);
    if key.len() > KEY_MAX {
        return None;
    }
    // memcached keeps the low 32 bits of each.
    let flags = number::unsigned(words.get(1))? as u32;
    let exptime = number::signed(words.get(2))? as i32;
    let len = number::signed(words.get(3))? as i32;
    let cas = match verb {
        Verb::Cas => number::unsigned(words.get(4))?,
        _ => 0,
    };
    if !(0..=LEN_MAX).contains(&len) {
        return None;
    }
    let write = Write { key, value: b"", cas, flags, exptime: Exptime(exptime), verb, quiet };
    Some((write, len.unsigned_abs() as usize))
}

/// Completes `write` with the `len` bytes behind its line, once they and their line end are there.
///
/// A body without its line end is dropped, as long as it was announced to be; what comes behind it
/// is parsed as the next line.
#[inline]
pub(super) fn body<'a>(input: &'a [u8], header: usize, len: usize, write: Write<'a>) -> Step<'a> {
    let total = header + len + 2;
    if input.len() < total {
        let at_least = total - input.len();
        return Ok(Parsed::NeedMore { at_least });
    }
    if &input[header + len..total] != b"\r\n" {
        let reply = if write.quiet { ErrorReply::NONE } else { reply::BAD_DATA };
        return Err(Malformed::skip(reply, total));
    }
    let value = &input[header..header + len];
    found(Request::Write(Write { value, ..write }), total)
}
