// SPDX-License-Identifier: Apache-2.0
//! Bytes to requests.
//!
//! ```text
//!   input ─┬─ `*`: multibulk.rs ── bulk.rs: one argument, the short ones without a general parser
//!          └─ else: inline.rs ──── quoted.rs: a line with quotes, or with many words
//!                        │
//!                        └──▶ Request (request.rs) ──▶ Args (args.rs): every argument in O(1)
//! ```
//!
//! A client sends a request as an array of byte strings (`*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`) or, by
//! hand, as a line (`GET k`). What is accepted, what is refused and with which words is as in
//! Redis 7.0.15; the files in `tests/framing/sessions` are recordings of it, those that it answers
//! otherwise are in `differs.txt`. Some of it is lenient: the byte behind the `\r` of a length and
//! the two bytes behind an argument may be any.
//!
//! Requests that ask for nothing, an empty line or an array without elements, are skipped without a
//! word: they come out as a [`Malformed`] with [`ErrorReply::NONE`] and the bytes to skip. Everything
//! else that is refused is answered with an error, and the connection closes.
//!
//! [`ErrorReply::NONE`]: protocol::ErrorReply::NONE

// What clients send are numbers, too, and what is computed of them must not wrap: no operation that can, unless
// a reason says why it does not. The lint is for all that is below this module.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod args;
mod bulk;
mod fault;
mod inline;
mod multibulk;
mod number;
mod oversized;
mod quoted;
mod request;

pub use args::{Args, Span};
pub use fault::REQUEST_TOO_LARGE;
pub use number::integer;
pub(crate) use number::leading_integer;
pub(crate) use oversized::{drop_argument, oversized};
pub use request::Request;

use protocol::{ErrorReply, FirstBytes, Foreign, Malformed, Parsed};

/// The longest inline request, and the longest line with a length, in bytes before its end.
pub const LINE_MAX: usize = 64 * 1024;

/// The largest argument unless the configuration says otherwise: Redis's `proto-max-bulk-len`.
pub const BULK_MAX: usize = 512 << 20;

/// The most arguments of a request from a client that has yet to authenticate.
pub const UNAUTHENTICATED_ARGS_MAX: usize = 10;

/// The largest argument of such a client.
pub const UNAUTHENTICATED_BULK_MAX: usize = 16 * 1024;

/// What a client is told that begins a TLS handshake.
const NO_TLS: ErrorReply =
    ErrorReply::fixed(b"-ERR Protocol error: this port does not speak TLS\r\n");

/// Which requests are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Whether they must be small, as those of a client that has yet to authenticate.
    pub restricted: bool,
    /// The largest argument in bytes. A request as a whole ends before 4 GiB in any case.
    pub bulk_max: usize,
}

impl Default for Framing {
    /// Requests of any size, and arguments of up to [`BULK_MAX`].
    fn default() -> Self {
        Framing { restricted: false, bulk_max: BULK_MAX }
    }
}

/// How far the unfinished request at the front of the input has been looked at, so that one with a
/// million arguments is not walked through from its start for every piece that arrives.
///
/// It only saves time: from the default cursor the same is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Where the first argument starts that has not arrived, counted from the request's first byte.
    at: u32,
    /// How many arguments are left from there; 0 where nothing is remembered.
    left: u32,
}

/// What parsing one request comes to.
pub type Step<'a> = Result<Parsed<Request<'a>>, Malformed>;

/// Finds the first request in `input`, as [`Protocol::parse`] asks for.
///
/// `Parsed::NeedMore` asks for the fewest bytes after which something could be said, be it that the
/// request is malformed: a broken client is told so at once.
///
/// Costs one look at each header and none at the arguments' bytes. Allocates only for an inline
/// request with quotes or more than four words, and then a few bytes per byte of the line.
///
/// ```
/// use protocol::Parsed;
/// use protocol_resp::parse::{self, Cursor, Framing};
///
/// let input = b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*1\r\n";
/// let step = parse::parse(&Framing::default(), &mut Cursor::default(), input);
/// let Ok(Parsed::Request { request, consumed }) = step else { panic!() };
/// assert_eq!((request.name(), request.get(1), consumed), (&b"GET"[..], Some(&b"key"[..]), 22));
/// ```
///
/// # Errors
///
/// [`Malformed`], see the top of this module.
///
/// [`Protocol::parse`]: protocol::Protocol::parse
#[inline]
pub fn parse<'a>(framing: &Framing, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
    match input.first() {
        Some(b'*') => multibulk::parse(framing, cursor, input),
        Some(..b'\x20' | b'\x80') => unprintable(input),
        Some(_) => inline::parse(input),
        None => need(1),
    }
}

/// Parses a line that begins with what no name begins with: maybe of a client that speaks something
/// else, which is not kept waiting for the end of a line that it may never send.
#[cold]
fn unprintable(input: &[u8]) -> Step<'_> {
    match Foreign::of_first_bytes(input) {
        FirstBytes::Text => inline::parse(input),
        FirstBytes::Foreign(Foreign::BinaryMemcache) => {
            Err(Malformed::foreign(Foreign::BINARY_REPLY, Foreign::BinaryMemcache))
        }
        FirstBytes::Foreign(foreign) => Err(Malformed::foreign(NO_TLS, foreign)),
        FirstBytes::TooFew => need(1),
    }
}

/// A whole request.
#[inline]
fn found(request: Request<'_>, consumed: usize) -> Step<'_> {
    Ok(Parsed::Request { request, consumed })
}

/// The request has not arrived.
#[inline]
fn need<'a>(at_least: usize) -> Step<'a> {
    Ok(Parsed::NeedMore { at_least })
}

#[cfg(test)]
mod tests;
