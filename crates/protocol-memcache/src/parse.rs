// SPDX-License-Identifier: Apache-2.0
//! The codec: [`Memcache`] finds requests in bytes.
//!
//! The parsers of a dialect are a folder of their own: `text/` for the classic text commands. Which
//! of them a request is for, its first bytes tell. `number.rs` reads numbers as memcached does.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub(crate) mod number;
pub(crate) mod text;

use crate::reply::text as reply;
use crate::request::Request;
use protocol::{ErrorReply, Malformed, Parsed, Protocol};
use text::keys::List;

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
/// A connection has no state besides its [`Cursor`], so this type holds only what all connections
/// share.
///
/// ```
/// use protocol::{Parsed, Protocol};
/// use protocol_memcache::{CommandId, Memcache, Op, Request, Text};
///
/// let codec = Memcache::new(1 << 20);
/// let mut cursor = Default::default();
/// let parsed = codec.parse(&mut cursor, b"delete key\r\nget").unwrap();
/// let request = Request::text(CommandId::Delete, Op::Delete { key: b"key" }, Text::Whole);
/// assert_eq!(parsed, Parsed::Request { request, consumed: 12 });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Memcache {
    value_max: usize,
}

/// The parser's position: at the start of a line, or inside a list of keys.
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

    /// The largest request in bytes when values have up to `value_max` bytes: a storage command
    /// with its body, or the checked part of a list of keys.
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
        text::parse(self.value_max, &mut cursor.0, input)
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(reply::TOO_LARGE)
    }
}
