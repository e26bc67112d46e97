// SPDX-License-Identifier: Apache-2.0
//! The client's side: requests to write and replies to read.

/// A request, ready to send.
pub const REQUEST: &[u8] = b"PING\r\n";

/// What a server answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The reply to a ping.
    Pong,
    /// The server did not understand the request.
    Error,
}

/// Finds the first reply in `input` and its length in bytes; `None` while the reply is incomplete.
///
/// ```
/// use protocol_ping::client::{Reply, parse_reply};
///
/// assert_eq!(parse_reply(b"PONG\r\nPO"), Some((Reply::Pong, 6)));
/// assert_eq!(parse_reply(b"PO"), None);
/// ```
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub fn parse_reply(input: &[u8]) -> Option<(Reply, usize)> {
    let end = input.iter().position(|&byte| byte == b'\n')? + 1;
    let reply = if &input[..end] == b"PONG\r\n" { Reply::Pong } else { Reply::Error };
    Some((reply, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_a_pong_is_an_error() {
        assert_eq!(parse_reply(b"ERROR\r\nPONG\r\n"), Some((Reply::Error, 7)));
        assert_eq!(parse_reply(b"pong\r\n"), Some((Reply::Error, 6)));
        assert_eq!(parse_reply(b""), None);
    }
}
