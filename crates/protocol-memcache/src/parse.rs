// SPDX-License-Identifier: Apache-2.0
//! The codec: [`Memcache`] finds requests in bytes.
//!
//! The parsers of a dialect are a module of their own: `text/` for the classic text commands, `meta/` for the meta
//! commands, whose lines `text/` finds, `binary.rs`. The first byte of a connection tells whether its requests are
//! text or binary. `number.rs` reads numbers as memcached does.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub(crate) mod binary;
mod body;
mod login;
pub(crate) mod meta;
pub(crate) mod number;
pub(crate) mod text;

use crate::crowd::Crowd;
use crate::item_size::{AROUND_MAX, item_bytes};
use crate::op::Op;
use crate::reply::text as reply;
use crate::request::Request;
use body::Body;
use protocol::{ErrorReply, Foreign, Malformed, Parsed, Protocol};
use text::keys::List;

/// The longest line without a list of keys, in bytes before its `\n`. The connection of a client
/// that sends a longer one is closed without a word.
pub const LINE_MAX: usize = 2048;

/// How far a line with a list of keys is read before its first key is served. A line that ends
/// within these bytes is checked as a whole, as memcached does: one bad key and nothing of it is
/// served. A longer one is served key by key, and a bad key then closes the connection.
pub const LIST_CHECKED_MAX: usize = 64 * 1024;

/// Larger values are taken in pieces as they arrive, unless [set](Memcache::pieces_above) otherwise. Up to this size
/// collecting a value, and copying it past the caches, costs less than receiving it into a draft.
pub const WHOLE_MAX: usize = 512 * 1024;

/// The same while buffers are [crowded](Crowd).
pub const WHOLE_MAX_CROWDED: usize = 64 * 1024;

/// The same while they have more than half of the memory limit.
pub const WHOLE_MAX_PACKED: usize = 4 * 1024;

/// What parsing one request comes to.
pub(crate) type Step<'a> = Result<Parsed<Request<'a>>, Malformed>;

/// The memcache protocol, in both its forms: text and binary.
///
/// A connection has no state besides its [`Cursor`] and whether its client has logged in, so this type holds what all
/// connections share.
///
/// ```
/// use protocol::{Parsed, Protocol};
/// use protocol_memcache::{CommandId, Memcache, Op, Request, Text};
///
/// let codec = Memcache::new(1 << 20);
/// let mut cursor = Default::default();
/// let parsed = codec.parse(&mut cursor, b"delete key\r\nget").unwrap();
/// let request = Request::text(CommandId::Delete, Op::Delete { key: b"key", cas: 0 }, Text::Whole);
/// assert_eq!(parsed, Parsed::Request { request, consumed: 12 });
/// ```
#[derive(Clone, Debug)]
pub struct Memcache {
    sizes: Sizes,
    forms: Forms,
    login: Login,
}

/// Sizes in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// The largest [item](item_bytes) that is accepted.
    item_max: usize,
    /// The largest value that is collected before it is stored, at most `item_max`.
    whole_max: usize,
    /// The largest value that is accepted whatever its key and flags, and collected if it is there as a whole.
    sure_max: usize,
    /// While this is there, smaller ones are not collected either.
    crowd: Crowd,
}

impl Sizes {
    fn new(item_max: usize, whole_max: usize, crowd: Crowd) -> Self {
        let whole_max = whole_max.min(item_max);
        let sure_max = whole_max.min(WHOLE_MAX_CROWDED).min(item_max.saturating_sub(AROUND_MAX));
        Sizes { item_max, whole_max, sure_max, crowd }
    }

    /// Whether an item is too large.
    #[inline]
    fn refuse(&self, key_len: usize, flags: u32, value_len: usize) -> bool {
        item_bytes(key_len, flags, value_len) > self.item_max
    }

    /// Whether a value is taken in pieces.
    #[inline]
    fn is_large(&self, len: usize) -> bool {
        len > self.whole_max || len > WHOLE_MAX_PACKED && len > self.crowd.whole_max()
    }
}

/// Whether the client of a connection has logged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Login {
    /// It need not.
    #[default]
    Needless,
    /// It has to.
    Missing,
    Done,
}

/// What a connection speaks, and where the parser is: before the first byte, at the start of a request, inside a
/// list of keys or of a large value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(Position);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Before the first byte, which will tell what is spoken.
    #[default]
    First,
    /// At the start of a line.
    Line,
    /// Inside a line of text.
    List(List),
    /// At the start of a binary request.
    Frame,
    /// Inside a large value, or behind it.
    Body(Body),
    /// At the start of a line of a client that has yet to log in.
    GuestLine,
    /// At the start of a binary request of such a client.
    GuestFrame,
}

/// Which forms of the protocol a port speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forms {
    /// Both: the first byte of a connection tells.
    #[default]
    Auto,
    /// Only text. The binary protocol is refused with its first byte.
    Text,
    /// Only the binary protocol. Text is refused with its first byte.
    Binary,
}

impl Forms {
    /// memcached's name of it, in `stats settings`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Forms::Auto => "auto-negotiate",
            Forms::Text => "ascii",
            Forms::Binary => "binary",
        }
    }
}

impl Memcache {
    /// A codec that accepts items of up to `item_max` bytes.
    ///
    /// They are counted as memcached counts them for its `-I`: those of the key and of the value, 4 for flags that are not
    /// 0, and 59 more, of which its header is the most. So the largest value is a little shorter.
    #[must_use]
    pub fn new(item_max: usize) -> Self {
        let sizes = Sizes::new(item_max, WHOLE_MAX, Crowd::default());
        Memcache { sizes, forms: Forms::Auto, login: Login::Needless }
    }

    /// Sets the size in bytes above which values are taken in pieces; [`WHOLE_MAX`] unless set, `usize::MAX` for none.
    #[must_use]
    pub fn pieces_above(mut self, bytes: usize) -> Self {
        self.sizes = Sizes::new(self.sizes.item_max, bytes, self.sizes.crowd);
        self
    }

    /// Takes values in pieces above [`WHOLE_MAX_CROWDED`] or [`WHOLE_MAX_PACKED`] while there is this crowd, which the service
    /// knows of. There never is unless set.
    #[must_use]
    pub fn crowd(mut self, crowd: Crowd) -> Self {
        self.sizes.crowd = crowd;
        self
    }

    /// Sets which forms are spoken; both unless set.
    #[must_use]
    pub fn forms(mut self, forms: Forms) -> Self {
        self.forms = forms;
        self
    }

    /// Makes clients log in before anything else. The service must have users.
    #[must_use]
    pub fn with_login(mut self) -> Self {
        self.login = Login::Missing;
        self
    }

    /// Notes that the client of this connection has logged in, or that it has failed to and is none of the users
    /// any more.
    pub(crate) fn set_logged_in(&mut self, is_in: bool) {
        self.login = if is_in { Login::Done } else { Login::Missing };
    }

    /// The largest request in bytes when items have up to `item_max` bytes: a storage command
    /// with its body, or the checked part of a list of keys.
    #[must_use]
    pub fn request_max(item_max: usize) -> usize {
        item_max.saturating_add(LINE_MAX + 4).max(2 * LIST_CHECKED_MAX)
    }

    /// The largest item in bytes, as memcached counts them.
    #[must_use]
    pub fn item_max(&self) -> usize {
        self.sizes.item_max
    }
}

impl Memcache {
    /// Parses the first request of a connection, and all of a client that has yet to log in. So those of others are
    /// parsed without asking for it.
    #[cold]
    fn first<'a>(&self, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
        let is_guest = self.login == Login::Missing;
        cursor.0 = match (cursor.0, is_guest) {
            (Position::First, _) => return self.begin(cursor, input),
            (Position::GuestLine, true) => return login::line(input),
            (Position::GuestFrame, true) => {
                return binary::of_guest(&mut cursor.0, input, &self.sizes);
            }
            (Position::GuestLine, false) => Position::Line,
            (Position::GuestFrame, false) => Position::Frame,
            (
                known @ (Position::Line | Position::List(_) | Position::Frame | Position::Body(_)),
                _,
            ) => known,
        };
        self.parse(cursor, input)
    }

    /// Decides by the first byte of a connection what it speaks.
    fn begin<'a>(&self, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
        let Some(&first) = input.first() else { return Ok(Parsed::NeedMore { at_least: 1 }) };
        let is_binary = first == binary::MAGIC;
        let speaks = match self.forms {
            Forms::Auto => true,
            Forms::Text => !is_binary,
            Forms::Binary => is_binary,
        };
        if !speaks {
            return Err(if is_binary {
                Malformed::foreign(Foreign::BINARY_REPLY, Foreign::BinaryMemcache)
            } else {
                Malformed::close(ErrorReply::NONE)
            });
        }
        if !is_binary && let Some(step) = text::foreign(input) {
            return step;
        }
        cursor.0 = if is_binary { Position::GuestFrame } else { Position::GuestLine };
        self.first(cursor, input)
    }
}

impl Protocol for Memcache {
    const NAME: &'static str = "memcache";
    const TOO_MANY_CONNECTIONS: &'static [u8] = reply::TOO_MANY_CONNECTIONS;

    type Request<'a> = Request<'a>;
    type Cursor = Cursor;

    #[inline]
    fn is_inside_request(cursor: &Cursor) -> bool {
        matches!(cursor.0, Position::List(_) | Position::Body(_))
    }

    #[inline]
    fn parse<'a>(&self, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
        match cursor.0 {
            Position::Line => text::parse(&self.sizes, &mut cursor.0, input),
            Position::List(list) => text::keys::next(list, &mut cursor.0, input),
            Position::Frame => binary::parse(&mut cursor.0, input, &self.sizes),
            Position::Body(body) => body.next(&mut cursor.0, input),
            Position::First | Position::GuestLine | Position::GuestFrame => {
                self.first(cursor, input)
            }
        }
    }

    #[inline]
    fn body_left(cursor: &Cursor) -> usize {
        if let Position::Body(body) = cursor.0 { body.left() } else { 0 }
    }

    fn skip_body(cursor: &mut Cursor, n: usize) {
        if let Position::Body(body) = &mut cursor.0 {
            *body = body.behind(n);
        }
    }

    /// Whether the client has logged in decides how all behind is parsed.
    #[inline]
    fn ends_batch(request: &Request<'_>) -> bool {
        matches!(request.op, Op::Login(_))
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(reply::TOO_LARGE)
    }

    fn answer_too_large(&self, request: &[u8]) -> ErrorReply {
        crate::reply::binary::too_large_for(request).unwrap_or_else(|| self.too_large())
    }
}
