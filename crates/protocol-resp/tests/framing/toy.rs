// SPDX-License-Identifier: Apache-2.0
//! A server of three commands, `PING`, `ECHO` and `AUTH`, that answers as Redis does; and a connection
//! to it without a socket.

use protocol::{Malformed, Parsed, Protocol};
use protocol_resp::parse::{Cursor, Framing};
use protocol_resp::{Codec, Request, Version, Writer};

/// The password of a server that wants one.
pub(crate) const PASSWORD: &[u8] = b"secret";

/// One connection: a codec and the bytes that wait for more.
#[derive(Debug)]
pub(crate) struct Connection {
    codec: Codec,
    cursor: Cursor,
    input: Vec<u8>,
    pub(crate) closed: bool,
}

impl Connection {
    /// A connection to a server that wants a password, or not.
    pub(crate) fn new(authenticated: bool) -> Self {
        let framing = Framing { restricted: !authenticated, ..Framing::default() };
        let codec = Codec { framing };
        Connection { codec, cursor: Cursor::default(), input: Vec::new(), closed: false }
    }

    /// Sends `input` in pieces of `piece` bytes; returns all replies.
    pub(crate) fn send(&mut self, input: &[u8], piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in input.chunks(piece.min(input.len()).max(1)) {
            self.input.extend_from_slice(piece);
            self.turn(&mut out);
        }
        out
    }

    fn turn(&mut self, out: &mut Vec<u8>) {
        let input = std::mem::take(&mut self.input);
        let mut at = 0;
        while at < input.len() && !self.closed {
            match self.codec.parse(&mut self.cursor, &input[at..]) {
                Ok(Parsed::Request { request, consumed }) => {
                    at += consumed;
                    self.execute(&request, out);
                }
                Ok(Parsed::Part { .. }) => panic!("requests of RESP are collected"),
                Ok(Parsed::NeedMore { .. }) => break,
                Err(Malformed { reply, skip, .. }) => {
                    out.extend_from_slice(reply.as_bytes());
                    at += skip.unwrap_or(0);
                    self.closed = skip.is_none();
                }
            }
        }
        self.input = input[at..].to_vec();
    }

    fn execute(&mut self, request: &Request<'_>, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out, Version::Resp2);
        let name = request.name().to_ascii_lowercase();
        let is_wrong = match &name[..] {
            b"ping" => false,
            b"echo" | b"auth" => request.len() != 2,
            _ => return writer.error(unknown(request)),
        };
        let is_allowed = !self.codec.framing.restricted || name == b"auth";
        // Redis knows how many arguments `PING` takes only when it is carried out.
        if is_wrong || (is_allowed && request.len() > 2) {
            let name = String::from_utf8_lossy(&name);
            writer.error(format!("ERR wrong number of arguments for '{name}' command"));
        } else if !is_allowed {
            writer.error("NOAUTH Authentication required.");
        } else if name == b"auth" {
            if request.arg(1) == PASSWORD {
                self.codec.framing.restricted = false;
                writer.ok();
            } else {
                writer.error("WRONGPASS invalid username-password pair or user is disabled.");
            }
        } else if let Some(message) = request.get(1) {
            writer.bulk(message);
        } else {
            writer.simple("PONG");
        }
    }
}

/// What Redis says to a command that it does not know.
fn unknown(request: &Request<'_>) -> Vec<u8> {
    let name = request.name();
    let mut message = b"ERR unknown command '".to_vec();
    message.extend_from_slice(&name[..name.len().min(128)]);
    message.extend_from_slice(b"', with args beginning with: ");
    let start = message.len();
    for arg in request.iter().skip(1) {
        let said = message.len() - start;
        if said >= 128 {
            break;
        }
        message.push(b'\'');
        message.extend_from_slice(&arg[..arg.len().min(128 - said)]);
        message.extend_from_slice(b"' ");
    }
    message
}
