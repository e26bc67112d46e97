// SPDX-License-Identifier: Apache-2.0
//! [`PingProtocol`]: from bytes to requests.

use protocol::{ErrorReply, Malformed, Parsed, Protocol};

/// The longest accepted line in bytes, including its end. A client that sends more without a line
/// end does not speak this protocol.
pub const LINE_MAX: usize = 64;

/// The only request there is. It carries nothing, so it borrows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping;

/// The codec and the state of one connection. There is no state to keep, so the type is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct PingProtocol;

impl Protocol for PingProtocol {
    const NAME: &'static str = "ping";

    const TOO_MANY_CONNECTIONS: &'static [u8] = b"ERROR too many connections\r\n";

    /// A protocol whose requests hold keys and values borrows them from the
    /// input for `'a`.
    type Request<'a> = Ping;

    /// Every line is parsed by itself: nothing to remember between two of them.
    type Cursor = ();

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    fn parse(&self, _: &mut (), input: &[u8]) -> Result<Parsed<Ping>, Malformed> {
        // The usual case first: it needs no search for the end of the line.
        if input.starts_with(b"PING\r\n") {
            return Ok(Parsed::Request { request: Ping, consumed: 6 });
        }
        // Search only as far as the longest line, however much has arrived. A line that is too long
        // must get the same answer whether its end has arrived or not: the result of a parser may
        // depend on the bytes alone, never on how they were split into packets.
        let window = &input[..input.len().min(LINE_MAX)];
        let Some(end) = window.iter().position(|&byte| byte == b'\n') else {
            return if window.len() == LINE_MAX {
                Err(Malformed::close(self.too_large()))
            } else {
                Ok(Parsed::NeedMore { at_least: 1 })
            };
        };
        let line = &window[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.eq_ignore_ascii_case(b"ping") {
            Ok(Parsed::Request { request: Ping, consumed: end + 1 })
        } else {
            // The start of the next line is known, so the connection stays open.
            Err(Malformed::skip(ErrorReply::fixed(b"ERROR\r\n"), end + 1))
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"ERROR line too long\r\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_contract_of_a_protocol() {
        let samples: [&[u8]; 8] = [
            b"PING\r\nPING\r\n",
            b"ping\r\nPing\nPING\n",
            b"PIN",
            b"PING",
            b"\r\n\n",
            b"PONG\r\nPING\r\nPING \r\n",
            b"PING\rPING\r\n",
            &[b'x'; 2 * LINE_MAX],
        ];
        protocol::conformance::check(|| PingProtocol, &samples);
    }

    #[test]
    fn a_line_is_refused_at_its_limit_and_not_before() {
        let mut line = vec![b' '; LINE_MAX - 1];
        assert_eq!(PingProtocol.parse(&mut (), &line), Ok(Parsed::NeedMore { at_least: 1 }));
        line.push(b'\n');
        let refused = PingProtocol.parse(&mut (), &line).unwrap_err();
        assert_eq!(refused.skip, Some(LINE_MAX), "a whole line, however odd, can be skipped");
        line.insert(0, b' ');
        assert_eq!(PingProtocol.parse(&mut (), &line).unwrap_err().skip, None);
    }
}
