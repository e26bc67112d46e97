// SPDX-License-Identifier: Apache-2.0
//! [`Connection`]: one connection's state, and the codec over it.

use crate::session::client::Client;
use crate::session::command::Command;
use crate::session::replies::Replies;
use crate::session::user::User;
use crate::wire::parse;
use crate::wire::parse::Framing;
use crate::wire::reply::Version;
use protocol::{ErrorReply, Malformed, Parsed, Protocol};
use std::sync::Arc;

/// The longest key of any store. Keys are arguments, too, so arguments may always be this long.
const KEY_MAX: usize = 64 << 10;

/// The reply to a request with a value over the size limit: that of
/// [`Fault::TOO_LONG`](crate::wire::fault::Fault::TOO_LONG).
const TOO_LONG: ErrorReply =
    ErrorReply::fixed(b"-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");

/// A RESP connection to [`RespStrings`](super::RespStrings): the state that its requests have set
/// up.
#[derive(Debug)]
pub struct Connection {
    framing: Framing,
    pub(super) user: User,
    /// The protocol version of its replies.
    pub(super) version: Version,
    /// Which replies are sent.
    pub(super) replies: Replies,
    /// This connection's entry in the list of clients; made by its first request.
    pub(super) client: Option<Arc<Client>>,
}

const _: () = assert!(size_of::<Connection>() <= 64, "a connection costs little");

impl Connection {
    /// The state of a new connection, whose values may have up to `value_max` bytes.
    #[must_use]
    pub fn new(value_max: usize) -> Self {
        let framing = Framing { bulk_max: value_max.max(KEY_MAX), ..Framing::default() };
        Connection {
            framing,
            user: User::new(true),
            version: Version::Resp2,
            replies: Replies::On,
            client: None,
        }
    }

    /// The same connection, with the protocol version set as if by `HELLO`.
    #[must_use]
    pub fn speaking(self, version: Version) -> Self {
        Connection { version, ..self }
    }

    /// The largest request in bytes that a server should accept for values of up to `value_max`
    /// bytes: twice that, and a mebibyte for the keys of long lists.
    #[must_use]
    pub fn request_max(value_max: usize) -> usize {
        value_max.saturating_mul(2).saturating_add(1 << 20)
    }
}

/// The parser's position of a [`Connection`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// How far the unfinished request has been parsed.
    request: parse::Cursor,
    /// How many arguments of a refused request are still to be dropped.
    refused: u32,
}

impl Cursor {
    /// Drops further arguments of a refused request.
    #[cold]
    fn drop_argument<'a>(&mut self, input: &[u8]) -> Result<Parsed<Command<'a>>, Malformed> {
        match parse::drop_argument(input) {
            Ok(malformed) => {
                self.refused = self.refused.saturating_sub(1);
                Err(malformed)
            }
            Err(missing) => Ok(Parsed::NeedMore { at_least: missing }),
        }
    }

    /// The rejection of malformed input. A value that is too large is dropped as it arrives, and the
    /// connection stays open.
    #[cold]
    fn refuse(&mut self, malformed: Malformed, framing: &Framing, input: &[u8]) -> Malformed {
        if malformed.skip.is_some() || malformed.foreign.is_some() {
            return malformed;
        }
        let Some(oversized) = parse::oversized(framing, input) else { return malformed };
        *self = Cursor { refused: oversized.left, ..Cursor::default() };
        Malformed::skip(TOO_LONG, oversized.end)
    }
}

impl Protocol for Connection {
    const NAME: &'static str = "resp";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"-ERR max number of clients reached\r\n";
    type Request<'a> = Command<'a>;
    type Cursor = Cursor;

    #[inline]
    fn parse<'a>(
        &self,
        cursor: &mut Cursor,
        input: &'a [u8],
    ) -> Result<Parsed<Command<'a>>, Malformed> {
        if cursor.refused > 0 {
            return cursor.drop_argument(input);
        }
        match parse::parse(&self.framing, &mut cursor.request, input) {
            Ok(parsed) => Command::of(parsed),
            Err(malformed) => Err(cursor.refuse(malformed, &self.framing, input)),
        }
    }

    fn too_large(&self) -> ErrorReply {
        parse::REQUEST_TOO_LARGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fault::Fault;

    #[test]
    fn the_codec_keeps_the_contract() {
        let long = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$70000\r\n{}\r\n", "x".repeat(70_000));
        let with_options = format!(
            "*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$65537\r\n{}\r\n$2\r\nEX\r\n$2\r\n10\r\n$1\r\nx\r\nPING\r\n",
            "x".repeat(65_537)
        );
        let several = format!("*2\r\n$65537\r\n{0}\r\n$99999\r\n{0}", "x".repeat(65_537));
        protocol::conformance::check(
            || Connection::new(100),
            &[
                b"PING\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
                long.as_bytes(),
                with_options.as_bytes(),
                several.as_bytes(),
                b"*3\r\n$65537\r\n",
                b"*1\r\n$-1\r\n",
            ],
        );
    }

    #[test]
    fn both_ways_to_refuse_a_large_value_say_the_same() {
        let reply = [b"-", Fault::TOO_LONG.text(), b"\r\n"].concat();
        assert_eq!(TOO_LONG.as_bytes(), reply);
    }
}
