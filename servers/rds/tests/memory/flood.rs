// SPDX-License-Identifier: Apache-2.0
//! [`Flood`]: a client that sends as much as is taken, and does not wait for replies.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// For how long nothing may be taken and nothing come before a flood gives up: it waits, or is stopped.
const STILL: Duration = Duration::from_millis(200);

/// How long is waited for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

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
    /// Whether nothing more was taken.
    is_stuck: bool,
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
        let mut flood =
            Flood { stream, sent: 0, replies, reads: true, is_open: true, is_stuck: false };
        flood.send(setup);
        flood
    }

    /// A client that never reads.
    pub(crate) fn deaf(address: SocketAddr) -> Self {
        Flood { reads: false, ..Flood::new(address, b"") }
    }

    /// Sends as much of this as is taken.
    pub(crate) fn send(&mut self, mut bytes: &[u8]) {
        let mut still = Instant::now();
        while !bytes.is_empty() && self.is_open && !self.is_stuck {
            match self.stream.write(bytes) {
                Ok(n) => {
                    bytes = &bytes[n..];
                    self.sent += n as u64;
                    still = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let before = self.replies.len();
                    self.read();
                    if self.replies.len() != before {
                        still = Instant::now();
                    }
                    self.is_stuck = still.elapsed() > STILL;
                    std::thread::sleep(Duration::from_micros(200));
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
        let begun = Instant::now();
        while self.is_open() {
            assert!(begun.elapsed() < PATIENCE, "it is not closed");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the server has not closed it, as far as it has heard.
    pub(crate) fn is_open(&mut self) -> bool {
        self.read();
        self.is_open
    }
}
