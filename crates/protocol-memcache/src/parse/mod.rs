// SPDX-License-Identifier: Apache-2.0
//! The codec: [`Memcache`] finds requests in bytes.
//!
//! ```text
//!   input ─┬─ fast.rs: `get <key>` and `set …` as every client writes them
//!          ├─ line.rs: any other line ── words ─┬─ write.rs: storage commands and their body
//!          │                                    ├─ simple.rs: one key or none
//!          │                                    └─ keys.rs: the first key of a list
//!          └─ keys.rs: inside a list, the next key
//! ```
//!
//! What `fast.rs` does not recognise falls through to the general parser, which would answer the
//! same to what `fast.rs` recognises: a test holds the two together.

// What clients send are numbers, too, and what is computed of them must not wrap: no operation that can, unless
// a reason says why it does not. The lint is for all that is below this module.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod fast;
mod keys;
mod line;
pub(crate) mod number;
mod simple;
mod write;

use crate::reply;
use crate::request::Request;
use keys::List;
use protocol::{ErrorReply, Malformed, Parsed, Protocol};

/// The longest line without a list of keys, in bytes before its `\n`. The connection of a client
/// that sends a longer one is closed without a word.
pub const LINE_MAX: usize = 2048;

/// How far a line with a list of keys is read before its first key is served. A line that ends
/// within these bytes is checked as a whole, as memcached does: one bad key and nothing of it is
/// served. A longer one is served key by key, and a bad key then closes the connection.
pub const LIST_CHECKED_MAX: usize = 64 * 1024;

/// What parsing one request comes to.
pub(crate) type Step<'a> = Result<Parsed<Request<'a>>, Malformed>;

/// The memcache text protocol.
///
/// A connection has no state besides its [`Cursor`], so this is only what all connections share.
///
/// ```
/// use protocol::{Parsed, Protocol};
/// use protocol_memcache::{Memcache, Request};
///
/// let codec = Memcache::new(1 << 20);
/// let mut cursor = Default::default();
/// let parsed = codec.parse(&mut cursor, b"delete key\r\nget").unwrap();
/// let request = Request::Delete { key: b"key", quiet: false };
/// assert_eq!(parsed, Parsed::Request { request, consumed: 12 });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Memcache {
    value_max: usize,
}

/// Where the parser stands: at the start of a line, or inside a list of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(pub(crate) Option<List>);

impl Memcache {
    /// A codec that accepts values of up to `value_max` bytes.
    ///
    /// The limit is on the value alone. memcached's (`-I`) is on the value, the key and about 50
    /// bytes of header together, so with the same number its largest value is a little shorter.
    #[must_use]
    pub fn new(value_max: usize) -> Self {
        Memcache { value_max }
    }

    /// The largest request in bytes that must be waited for when values have up to `value_max`: a
    /// storage command with its body, or the checked part of a list of keys.
    #[must_use]
    pub fn request_max(value_max: usize) -> usize {
        value_max.saturating_add(LINE_MAX + 4).max(2 * LIST_CHECKED_MAX)
    }

    /// The largest value in bytes.
    #[must_use]
    pub fn value_max(&self) -> usize {
        self.value_max
    }
}

impl Protocol for Memcache {
    const NAME: &'static str = "memcache";
    const TOO_MANY_CONNECTIONS: &'static [u8] = reply::TOO_MANY_CONNECTIONS;

    type Request<'a> = Request<'a>;
    type Cursor = Cursor;

    #[inline]
    fn parse<'a>(&self, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
        if let Some(list) = cursor.0 {
            return keys::next(list, &mut cursor.0, input);
        }
        if let Some(step) = fast::parse(input, self.value_max) {
            return step;
        }
        line::parse(self.value_max, &mut cursor.0, input)
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(reply::TOO_LARGE)
    }
}

/// A whole request.
#[inline]
fn found(request: Request<'_>, consumed: usize) -> Step<'_> {
    Ok(Parsed::Request { request, consumed })
}

/// The end of the line has not arrived.
fn unfinished<'a>() -> Step<'a> {
    Ok(Parsed::NeedMore { at_least: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exptime::Exptime;
    use crate::request::{Read, Verb, Write};

    fn parse(input: &[u8]) -> Step<'_> {
        Memcache::new(100).parse(&mut Cursor::default(), input)
    }

    #[test]
    fn a_value_that_is_too_large_is_never_waited_for() {
        let request = Request::Oversized { key: b"k", verb: Verb::Add, quiet: false };
        let step = parse(b"add k 0 0 2000000000\r\n");
        assert_eq!(step, found(request, 22 + 2_000_000_000 + 2));
    }

    #[test]
    fn a_body_asks_for_exactly_what_is_missing() {
        assert_eq!(parse(b"set k 0 0 10\r\n012"), Ok(Parsed::NeedMore { at_least: 9 }));
        assert_eq!(parse(b"append k 0 0 10\r\n"), Ok(Parsed::NeedMore { at_least: 12 }));
    }

    #[test]
    fn the_general_parser_agrees_with_the_fast_one() {
        let samples: [&[u8]; 8] = [
            b"get key\r\n",
            b"gets key\r\nget other\r\n",
            b"set k 0 0 1\r\nx\r\n",
            b"set k 4294967295 2147483647 3\r\nxyz\r\nget k\r\n",
            b"set key 0007 1795218495 0 noreply\r\n\r\n",
            b"set k 0 0 3\r\nxyzz\r\n",
            b"set k 0 0 3 noreply\r\nxyzz\r\n",
            b"set k 0 0 3\r\nx",
        ];
        for sample in samples {
            let fast = fast::parse(sample, 100).expect("the form every client uses");
            let general = line::parse(100, &mut None, sample);
            assert_eq!(fast, general, "{}", sample.escape_ascii());
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_general_parser() {
        let samples: [&[u8]; 11] = [
            b"get",
            b"get a b\r\n",
            b"get  a\r\n",
            b"get a\n",
            b"get a\t\r\n",
            b"gat 0 a\r\n",
            b"set k 0 0 101\r\n",
            b"set k 4294967296 0 1\r\nx\r\n",
            b"set k 0 2147483648 1\r\nx\r\n",
            b"set k 0 -1 1\r\nx\r\n",
            b"set k 0 0 1 no\r\nx\r\n",
        ];
        for sample in samples {
            let step = fast::parse(sample, 100);
            assert_eq!(step, None, "{}", sample.escape_ascii());
        }
    }

    #[test]
    fn a_list_is_one_request_per_key_and_one_for_its_end() {
        let input: &[u8] = b"gats 5  a b  \r\nget c\r\n";
        let codec = Memcache::new(100);
        let mut cursor = Cursor::default();
        let mut at = 0;
        let mut requests = Vec::new();
        while let Ok(Parsed::Request { request, consumed }) = codec.parse(&mut cursor, &input[at..])
        {
            requests.push(request);
            at += consumed;
        }
        let read = |key, read, exptime, only| Request::Read { key, read, exptime, only };
        let gats = |key| read(key, Read::Gats, Some(Exptime(5)), false);
        let expected = [
            gats(&b"a"[..]),
            gats(b"b"),
            Request::End { read: Read::Gats, keys: 2 },
            read(b"c", Read::Get, None, true),
        ];
        assert_eq!(requests, expected);
        assert_eq!(at, input.len());
    }

    #[test]
    fn a_write_has_all_its_fields() {
        let write = Write {
            key: b"k",
            value: b"ab",
            cas: 77,
            flags: 5,
            exptime: Exptime(-6),
            verb: Verb::Cas,
            quiet: true,
        };
        let input = b"cas k 5 -6 2 77 noreply\r\nab\r\n";
        assert_eq!(parse(input), found(Request::Write(write), input.len()));
    }
}
