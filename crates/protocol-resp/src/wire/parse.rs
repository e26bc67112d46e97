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
//! hand, as a line (`GET k`). The accepted input and the texts of errors are those of Redis 7.0.15.
//! The files in `tests/framing/sessions` are transcripts of it; the cases with another reply here
//! are in `differs.txt`. Like Redis, the parser is lenient: the byte after the `\r` of a length and
//! the two bytes after an argument may have any value.
//!
//! Empty requests, that is, an empty line or an array without elements, are skipped without a reply: they
//! result in a [`Malformed`] with [`ErrorReply::NONE`] and the number of bytes to skip. All other rejected
//! input is answered with an error, and the connection closes.
//!
//! [`ErrorReply::NONE`]: protocol::ErrorReply::NONE

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
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

/// The most arguments of a request from a client that has not authenticated.
pub const UNAUTHENTICATED_ARGS_MAX: usize = 10;

/// The largest argument of such a client.
pub const UNAUTHENTICATED_BULK_MAX: usize = 16 * 1024;

/// The reply to a client that begins a TLS handshake.
const NO_TLS: ErrorReply =
    ErrorReply::fixed(b"-ERR Protocol error: this port does not speak TLS\r\n");

/// The limits of accepted requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Whether requests must be small, because the client has not authenticated.
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

/// How far the unfinished request at the front of the input has been parsed, so that a request with
/// a million arguments is not parsed from its start for every piece that arrives.
///
/// It only saves time: parsing from the default cursor gives the same result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Offset of the first argument that has not arrived whole, from the request's first byte.
    at: u32,
    /// How many arguments are left from there; 0 if nothing is recorded.
    left: u32,
}

/// The result of parsing one request.
pub type Step<'a> = Result<Parsed<Request<'a>>, Malformed>;

/// Finds the first request in `input`, as [`Protocol::parse`] asks for.
///
/// `Parsed::NeedMore` asks for the fewest bytes after which the parser could make progress, even if
/// only to find the request malformed: so a broken client gets its error at once.
///
/// Reads each header once and the arguments' bytes not at all. Allocates only for an inline request
/// with quotes or more than four words, and then a few bytes per byte of the line.
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

/// The words of a line of a configuration file, which has the syntax of an inline request; `None` if there are none, or
/// a quote has no end.
///
/// ```
/// let words = protocol_resp::parse::words(b"save '900 1' \"\"");
/// assert_eq!(words.unwrap(), [&b"save"[..], b"900 1", b""]);
/// ```
#[must_use]
pub fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let input = [line, b"\n"].concat();
    let parsed = parse(&Framing::default(), &mut Cursor::default(), &input).ok()?;
    let mut words = Vec::new();
    parsed.map(|request| words.extend(request.iter().map(<[u8]>::to_vec)));
    (!words.is_empty()).then_some(words)
}

/// Parses a line whose first byte begins no command name. The client may speak another protocol; it
/// is then rejected at once, instead of waiting for the end of a line that it may never send.
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
