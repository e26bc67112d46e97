// SPDX-License-Identifier: Apache-2.0
//! The storage commands: a line with numbers, then a body of the length it says, which is dropped
//! when the line is refused.

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
const LEN_MAX: i64 = i32::MAX as i64 - 2;

/// The least words behind the name from which a length can be read.
const WORDS_MIN: usize = 4;

/// Parses a storage command whose line takes up the first `header` bytes of `input`.
///
/// # INV-BODY
///
/// Whatever is wrong with the line: as long as it says how long its body is, the body is dropped
/// with it, and no byte of a value is ever parsed as a command. Where the length is missing or no
/// number that a body can have, nothing says what belongs to the line, and parsing goes on behind
/// it; memcached does the same.
pub(super) fn parse<'a>(
    verb: Verb,
    words: &Words<'a>,
    input: &'a [u8],
    header: usize,
    value_max: usize,
) -> Step<'a> {
    let quiet = words.quiet();
    if words.count < WORDS_MIN {
        return Err(Malformed::skip(reply::UNKNOWN, header));
    }
    let refused = |skip| {
        let reply = if quiet { ErrorReply::NONE } else { reply::BAD_FORMAT };
        Err(Malformed::skip(reply, skip))
    };
    let Some(len) = length(words.get(3)) else {
        return refused(header);
    };
    let Some(write) = fields(verb, words, quiet) else {
        return refused(header + len + 2);
    };
    if len > value_max {
        let request = Request::Oversized { key: write.key, verb, quiet };
        return found(request, header + len + 2);
    }
    body(input, header, len, write)
}

/// How much to drop of an `ms`, the meta command that stores, which there is not here: its line of
/// `consumed` bytes and, as of every storage command (INV-BODY), the body that it announces.
pub(super) fn behind_meta_set(line: &[u8], consumed: usize) -> usize {
    // `ms <key> <bytes> <flag>*`: the name is the first word.
    let words = Words::split(line);
    length(words.get(2)).map_or(consumed, |len| consumed + len + 2)
}

/// The length of a body.
fn length(word: &[u8]) -> Option<usize> {
    let len = number::signed(word).filter(|len| (0..=LEN_MAX).contains(len))?;
    usize::try_from(len).ok()
}

/// The fields of the line, without the body; `None` when one is not what it should be.
fn fields<'a>(verb: Verb, words: &Words<'a>, quiet: bool) -> Option<Write<'a>> {
    let key = words.get(0);
    if key.len() > KEY_MAX {
        return None;
    }
    // memcached keeps the low 32 bits of each.
    let flags = number::unsigned(words.get(1))? as u32;
    let exptime = number::signed(words.get(2))? as i32;
    let cas = match verb {
        Verb::Cas => number::unsigned(words.get(4))?,
        Verb::Set | Verb::Add | Verb::Replace | Verb::Append | Verb::Prepend => 0,
    };
    Some(Write { key, value: b"", cas, flags, exptime: Exptime(exptime), verb, quiet })
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
