// SPDX-License-Identifier: Apache-2.0
//! [`Codec`]: a codec for the wire format alone, without the connection state of commands.

use crate::wire::parse;
use crate::wire::parse::{Cursor, Framing, REQUEST_TOO_LARGE, Request, Step};
use protocol::{ErrorReply, Protocol};

/// RESP requests under limits that do not change: for tests, fuzzers and servers with commands of
/// their own.
///
/// ```
/// use protocol_resp::Codec;
///
/// protocol::conformance::check(Codec::default, &[b"PING\r\n*1\r\n$4\r\nPING\r\n"]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Codec {
    /// The limits of accepted requests.
    pub framing: Framing,
}

impl Protocol for Codec {
    const NAME: &'static str = "resp";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"-ERR max number of clients reached\r\n";

    type Request<'a> = Request<'a>;
    type Cursor = Cursor;

    #[inline]
    fn parse<'a>(&self, cursor: &mut Cursor, input: &'a [u8]) -> Step<'a> {
        parse::parse(&self.framing, cursor, input)
    }

    fn too_large(&self) -> ErrorReply {
        REQUEST_TOO_LARGE
    }
}
