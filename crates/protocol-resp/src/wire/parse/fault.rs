// SPDX-License-Identifier: Apache-2.0
//! [`Fault`]: why a request is malformed, and the error reply to it.

use protocol::{ErrorReply, Malformed};

/// The reply to a request that is larger than what a connection may hold. Redis closes such a
/// connection without a reply.
pub const REQUEST_TOO_LARGE: ErrorReply =
    ErrorReply::fixed(b"-ERR Protocol error: request exceeds the limit of the server\r\n");

/// Why input is no request. Each closes the connection: where the next request starts is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    InlineTooLong,
    UnbalancedQuotes,
    CountTooLong,
    BadCount,
    UnauthenticatedCount,
    LengthTooLong,
    /// Where an argument should start.
    NoDollar(u8),
    BadLength,
    UnauthenticatedLength,
    /// Its offsets would not fit in 32 bits.
    RequestTooLarge,
}

impl Fault {
    fn reply(self) -> ErrorReply {
        ErrorReply::fixed(match self {
            Fault::InlineTooLong => b"-ERR Protocol error: too big inline request\r\n",
            Fault::UnbalancedQuotes => b"-ERR Protocol error: unbalanced quotes in request\r\n",
            Fault::CountTooLong => b"-ERR Protocol error: too big mbulk count string\r\n",
            Fault::BadCount => b"-ERR Protocol error: invalid multibulk length\r\n",
            Fault::UnauthenticatedCount => {
                b"-ERR Protocol error: unauthenticated multibulk length\r\n"
            }
            Fault::LengthTooLong => b"-ERR Protocol error: too big bulk count string\r\n",
            Fault::BadLength => b"-ERR Protocol error: invalid bulk length\r\n",
            Fault::UnauthenticatedLength => b"-ERR Protocol error: unauthenticated bulk length\r\n",
            Fault::NoDollar(got) => return no_dollar(got),
            Fault::RequestTooLarge => return REQUEST_TOO_LARGE,
        })
    }
}

/// Quotes the byte, unless it is a line end, which would end the reply.
fn no_dollar(got: u8) -> ErrorReply {
    let got = if matches!(got, b'\r' | b'\n') { b' ' } else { got };
    let mut reply = b"-ERR Protocol error: expected '$', got '".to_vec();
    reply.push(got);
    reply.extend_from_slice(b"'\r\n");
    ErrorReply::made(reply)
}

impl From<Fault> for Malformed {
    #[cold]
    fn from(fault: Fault) -> Self {
        Malformed::close(fault.reply())
    }
}
