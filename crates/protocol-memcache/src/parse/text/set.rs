// SPDX-License-Identifier: Apache-2.0
//! The storage commands: a line that states the length of the body, then the body, which is dropped
//! when the line is refused.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input, and lengths of 31 bits behind them"
)]

use super::found;
use super::words::Words;
use crate::command::{Command, CommandId};
use crate::exptime::Exptime;
use crate::op::{KEY_MAX, Mode, Op, Set, Upload};
use crate::parse::body::Body;
use crate::parse::{Position, Sizes, Step, number};
use crate::reply::Text;
use crate::reply::text as reply;
use crate::request::Request;
use protocol::{ErrorReply, Malformed, Parsed};

/// memcached refuses a longer body as a malformed line.
const LEN_MAX: i32 = i32::MAX - 2;

/// A line that may announce a body, and what stands behind it.
pub(in crate::parse) struct Announced<'a, 'p> {
    /// The line and what has arrived behind it.
    pub(in crate::parse) input: &'a [u8],
    /// Bytes of the line, its end included.
    pub(in crate::parse) header: usize,
    pub(in crate::parse) sizes: &'p Sizes,
    pub(in crate::parse) position: &'p mut Position,
}

impl Announced<'_, '_> {
    /// Whether a body of `len` bytes is taken in pieces: then what follows is parsed as these.
    pub(in crate::parse) fn is_large(&self, len: usize) -> bool {
        self.sizes.is_large(len)
    }

    /// The body that follows is taken in pieces. Returns its length.
    pub(in crate::parse) fn take_in_pieces(&mut self, len: usize) -> u32 {
        let len = len as u32;
        *self.position = Position::Body(Body::new(len, true));
        len
    }
}

/// Parses a storage command.
///
/// # INV-BODY
///
/// No byte of a value is ever parsed as a command. Whatever is wrong with the line, as long as it
/// states the length of its body, the body is dropped together with the line. If the length is
/// missing or impossible, the end of the body is unknown, and parsing continues after the line, as
/// in memcached; the client is told even if it wants no reply.
pub(super) fn parse<'a>(
    command: &Command,
    mode: Mode,
    words: &Words<'a>,
    mut announced: Announced<'a, '_>,
) -> Step<'a> {
    let Announced { input, header, sizes, .. } = announced;
    let Some(len) = length(words.get(3)) else {
        return Err(Malformed::skip(reply::BAD_FORMAT, header));
    };
    let quiet = words.say_noreply();
    let Some(set) = fields(mode, words) else {
        let reply = if quiet { ErrorReply::NONE } else { reply::BAD_FORMAT };
        return Err(Malformed::skip(reply, header + len + 2));
    };
    if sizes.refuse(set.key.len(), set.flags, len) {
        let op = Op::Oversized { key: set.key, mode };
        let request = Request::text(command.id, op, Text::unless(quiet));
        return found(request, header + len + 2);
    }
    if announced.is_large(len) {
        let upload = Upload::of(&set, announced.take_in_pieces(len));
        return found(Request::text(command.id, Op::Upload(upload), Text::unless(quiet)), header);
    }
    body(command.id, input, header, len, set, quiet)
}

/// The length of a body.
pub(crate) fn length(word: &[u8]) -> Option<usize> {
    let len = number::digits_i32(word).filter(|len| (0..=LEN_MAX).contains(len))?;
    usize::try_from(len).ok()
}

/// The fields of the line, without the body; `None` when one of them is invalid.
fn fields<'a>(mode: Mode, words: &Words<'a>) -> Option<Set<'a>> {
    let key = words.get(0);
    if key.len() > KEY_MAX {
        return None;
    }
    // memcached keeps the low 32 bits of each.
    let flags = number::unsigned(words.from(1))? as u32;
    let exptime = number::signed(words.from(2))? as i32;
    let cas = match mode {
        Mode::Cas => number::digits_u64(words.get(4))?,
        Mode::Set | Mode::Add | Mode::Replace | Mode::Append | Mode::Prepend => 0,
    };
    Some(Set { key, value: b"", cas, flags, exptime: Exptime(exptime.into()), mode })
}

/// Completes `set` with the `len` bytes of the body, once the body and its line end have arrived.
///
/// If the body does not end with a line end, `len` bytes are dropped, and the bytes after them are
/// parsed as the next line.
#[inline(always)]
pub(super) fn body<'a>(
    command: CommandId,
    input: &'a [u8],
    header: usize,
    len: usize,
    set: Set<'a>,
    quiet: bool,
) -> Step<'a> {
    let total = header + len + 2;
    if input.len() < total {
        let at_least = total - input.len();
        return Ok(Parsed::NeedMore { at_least });
    }
    if &input[header + len..total] != b"\r\n" {
        let reply = if quiet { ErrorReply::NONE } else { reply::BAD_DATA };
        return Err(Malformed::bad_value(reply, total));
    }
    let value = &input[header..header + len];
    let op = Op::Set(Set { value, ..set });
    found(Request::text(command, op, Text::unless(quiet)), total)
}
