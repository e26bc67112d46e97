// SPDX-License-Identifier: Apache-2.0
//! [`Flood`]: a client that sends without waiting for replies.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use test_support::{PATIENCE, wait_until};

/// Bytes of replies that are kept: the last ones.
const KEPT: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Flood {
    stream: TcpStream,
    pub(crate) sent: u64,
    replies: Vec<u8>,
    /// Whether it reads what it is sent.
    reads: bool,
    is_open: bool,
}

/// A request of these words.
pub(crate) fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut request = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        request.extend(format!("${}\r\n", word.len()).into_bytes());
        request.extend_from_slice(word);
        request.extend_from_slice(b"\r\n");
    }
    request
}

impl Flood {
    /// A client that begins with this.
    pub(crate) fn new(address: SocketAddr, setup: &[u8]) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nonblocking(true).unwrap();
        let replies = Vec::new();
        let mut flood = Flood { stream, sent: 0, replies, reads: true, is_open: true };
        flood.send(setup);
        flood
    }

    /// A client that never reads.
    pub(crate) fn deaf(address: SocketAddr) -> Self {
        Flood { reads: false, ..Flood::new(address, b"") }
    }

    /// Sends this, unless the server closes the connection: it takes what is sent, soon or late, also from
    /// those whose requests it refuses.
    #[track_caller]
    pub(crate) fn send(&mut self, mut bytes: &[u8]) {
        let mut last = Instant::now();
        while !bytes.is_empty() && self.is_open {
            match self.stream.write(bytes) {
                Ok(n) => {
                    bytes = &bytes[n..];
                    self.sent += n as u64;
                    last = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    assert!(last.elapsed() < PATIENCE, "{} bytes are not taken", bytes.len());
                    std::thread::sleep(Duration::from_micros(200));
                    self.read();
                }
                Err(_) => self.is_open = false,
            }
        }
        self.read();
    }

    /// Reads what has come.
    pub(crate) fn read(&mut self) {
        let mut piece = [0; 16 << 10];
        while self.reads && self.is_open {
            match self.stream.read(&mut piece) {
                Ok(0) => self.is_open = false,
                Ok(n) => self.replies.extend_from_slice(&piece[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.is_open = false,
            }
        }
        let superfluous = self.replies.len().saturating_sub(KEPT);
        self.replies.drain(..superfluous);
    }

    /// Whether this was among the last replies that were read.
    pub(crate) fn has_seen(&self, text: &str) -> bool {
        self.replies.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// Waits for a reply.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.has_seen(text) {
            let last = self.replies.len().saturating_sub(100);
            let last = self.replies[last..].escape_ascii();
            assert!(self.is_open && begun.elapsed() < PATIENCE, "no {text:?} but {last}");
            std::thread::sleep(Duration::from_millis(1));
            self.read();
        }
    }

    /// Waits until the server has closed it.
    #[track_caller]
    pub(crate) fn wait_for_end(&mut self) {
        wait_until("it is closed", || !self.is_open());
    }

    /// Whether the server has not closed it, as far as it has heard.
    pub(crate) fn is_open(&mut self) -> bool {
        self.read();
        self.is_open
    }
}
