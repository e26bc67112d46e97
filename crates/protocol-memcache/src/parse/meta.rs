// SPDX-License-Identifier: Apache-2.0
//! The meta commands: `mg <key> <flags>*` and its like, each a line; that of `ms` announces a body.
//!
//! ```text
//!   input ── text.rs finds the line, by its first letters or its command's row ── here: name, key, length
//!                                                                                  ├─ flags.rs: checks the flags
//!                                                                                  └─ base64.rs: checks the key
//! ```
//!
//! A request borrows its key and its flags as they were written. The flags are checked once; what they ask for is read
//! again where it is needed, by the service and by the reply. So a request has no field for any flag, and a line with
//! few flags costs little. A key in base64 is decoded on the stack where the request is executed.

pub(crate) mod base64;
mod flags;
#[cfg(test)]
mod tests;

pub use flags::Flags;
pub(crate) use flags::Letters;

use super::text;
use super::text::set::Announced;
use super::text::words::next_word;
use super::{Sizes, Step};
use crate::command::CommandId;
use crate::op::{Act, Meta, Op};
use crate::reply::meta as reply;
use crate::request::{Form, Request};
use protocol::{Malformed, Parsed};

/// Parses a meta command. `line` is the content of its line, `consumed` the length of the line with
/// its end.
///
/// The body of an `ms` is dropped with a refused line whenever its length can be read (INV-BODY), also where memcached
/// goes on within the body.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "lengths of parts of a line")]
pub(super) fn parse<'a>(
    command: CommandId,
    act: Act,
    line: &'a [u8],
    announced: Announced<'a, '_>,
) -> Step<'a> {
    let consumed = announced.header;
    if act == Act::Noop {
        return found(command, Meta::new(act, b"", b"", Flags::NONE), consumed);
    }
    let mut rest = line;
    next_word(&mut rest);
    let Some(key) = next_word(&mut rest) else {
        return Err(Malformed::skip(reply::BAD_FORMAT, consumed));
    };
    let line = &line[line.len() - rest.len() - key.len()..];
    let flags = match act {
        Act::Set | Act::SetTooLarge => {
            return set(command, (line, key, rest), announced);
        }
        Act::Describe => Flags::of_describe(key, rest),
        Act::Get | Act::Delete | Act::Arith | Act::Noop => Flags::check(act, key, rest),
    };
    match flags {
        Ok(flags) => found(command, Meta::new(act, line, key, flags), consumed),
        Err(reply) => Err(Malformed::skip(reply, consumed)),
    }
}

#[inline]
fn found(command: CommandId, meta: Meta<'_>, consumed: usize) -> Step<'_> {
    Ok(Parsed::Request { request: Request::meta(command, meta), consumed })
}

/// `ms <key> <bytes> <flags>*`: a line from its key on, its key, and the rest.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input, and lengths of 31 bits behind them"
)]
fn set<'a>(
    command: CommandId,
    (line, key, mut rest): (&'a [u8], &'a [u8], &'a [u8]),
    mut announced: Announced<'a, '_>,
) -> Step<'a> {
    let Announced { input, header, sizes, .. } = announced;
    let Some(len) = next_word(&mut rest).and_then(text::set::length) else {
        return Err(Malformed::skip(reply::BAD_FORMAT, header));
    };
    let total = header + len + 2;
    let flags = match Flags::check(Act::Set, key, rest) {
        Ok(flags) => flags,
        Err(reply) => return Err(Malformed::skip(reply, total)),
    };
    if len > sizes.sure_max && is_too_large(sizes, key, &flags, len) {
        return found(command, Meta::new(Act::SetTooLarge, line, key, flags), total);
    }
    if announced.is_large(len) {
        announced.take_in_pieces(len);
        let op = Op::UploadMeta(Meta::new(Act::Set, line, key, flags));
        let request = Request { op, form: Form::Meta, command };
        return Ok(Parsed::Request { request, consumed: header });
    }
    body(command, Meta::new(Act::Set, line, key, flags), input, header, len)
}

/// Whether the item of an `ms` is too large.
fn is_too_large(sizes: &Sizes, key: &[u8], flags: &Flags<'_>, len: usize) -> bool {
    let written = flags.has(const { Letters::of(b"b") }).then(|| base64::decode(key)).flatten();
    let key_len = written.map_or(key.len(), |decoded| decoded.as_bytes().len());
    sizes.refuse(key_len, flags.client_flags(), len)
}

/// Completes an `ms` with the `len` bytes of its body, once the body and its line end have arrived.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input, and lengths of 31 bits behind them"
)]
pub(super) fn body<'a>(
    command: CommandId,
    meta: Meta<'a>,
    input: &'a [u8],
    header: usize,
    len: usize,
) -> Step<'a> {
    let total = header + len + 2;
    if input.len() < total {
        return Ok(Parsed::NeedMore { at_least: total - input.len() });
    }
    if &input[header + len..total] != b"\r\n" {
        return Err(Malformed::bad_value(reply::BAD_DATA, total));
    }
    found(command, meta.with_value(&input[header..header + len]), total)
}
