// SPDX-License-Identifier: Apache-2.0
//! [`Peer`]: a connection of a client that caches or writes, and the replies to what it asks.

use crate::connect;
use protocol_resp::client::{self, Value};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use test_support::PATIENCE;

/// A connection, and what has come of a reply.
#[derive(Debug)]
pub(super) struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Peer {
    pub(super) fn new(address: SocketAddr) -> Self {
        let stream = connect(address);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Peer { stream, input: Vec::new() }
    }

    /// Sends lines, each a command.
    pub(super) fn send(&mut self, lines: &str) {
        self.stream.write_all(lines.as_bytes()).unwrap();
    }

    /// The next reply or message.
    pub(super) fn next(&mut self) -> Value {
        loop {
            if let Some((reply, len)) = client::parse(&self.input).expect("RESP") {
                let value = Value::from(reply);
                self.input.drain(..len);
                return value;
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece).expect("a reply") {
                0 => panic!("the server has closed the connection"),
                len => self.input.extend_from_slice(&piece[..len]),
            }
        }
    }

    /// The last of the replies to lines, the others of which are passed by; what is heard between them goes to `hear`.
    pub(super) fn ask(&mut self, lines: &[String], mut hear: impl FnMut(Value)) -> Value {
        self.send(&lines.iter().map(|line| format!("{line}\r\n")).collect::<String>());
        let mut left = lines.len();
        loop {
            match self.next() {
                message if is_message(&message) => hear(message),
                reply if left == 1 => return reply,
                _ => left -= 1,
            }
        }
    }

    /// The reply to a line, where nothing else is heard.
    pub(super) fn tell(&mut self, line: &str) -> Value {
        self.ask(&[line.to_owned()], |message| panic!("not asked for: {message:?}"))
    }
}

/// Whether nobody has asked for it: an invalidation in RESP3, or a message to a subscriber in RESP2.
fn is_message(reply: &Value) -> bool {
    match reply {
        Value::Push(_) => true,
        Value::Array(parts) => {
            parts.first().is_some_and(|kind| kind.as_bytes() == Some(b"message"))
        }
        _ => false,
    }
}
