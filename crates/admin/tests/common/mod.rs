// SPDX-License-Identifier: Apache-2.0
//! A raw HTTP client that never hangs, and the server most tests start from.
#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this")]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use admin::{Admin, AdminHandle, Builder};

/// Longer than anything here takes; reaching it is a failure.
pub const PATIENCE: Duration = Duration::from_secs(50);

/// Long enough never to expire within a test.
pub const NEVER: Duration = Duration::from_secs(3600);

/// Short enough to wait for.
pub const SOON: Duration = Duration::from_millis(100);

/// A server on a free port, whose clients never run out of time unless the test says so.
pub fn server() -> Builder {
    Admin::builder("testserver", "1.2.3")
        .listen("127.0.0.1:0".parse().unwrap())
        .header_timeout(NEVER)
        .request_timeout(NEVER)
        .idle_timeout(NEVER)
}

/// One response, taken apart.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Response {
    /// The value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    was_reset: bool,
}

impl Client {
    pub fn connect(admin: &AdminHandle) -> Self {
        Self::connect_to(admin.address().unwrap())
    }

    pub fn connect_to(address: SocketAddr) -> Self {
        Self::try_connect_to(address).unwrap()
    }

    pub fn try_connect_to(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, received: Vec::new(), was_reset: false })
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends what the peer may refuse by closing; says whether it all went out.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    pub fn finish_sending(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    pub fn request(&mut self, method: &str, path: &str) -> Response {
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let body_follows = method != "HEAD";
        self.response(body_follows).expect("a response, not the end of the connection")
    }

    /// Reads one response; `None` when the connection ends before it is complete.
    pub fn response(&mut self, body_follows: bool) -> Option<Response> {
        let head_bytes = loop {
            match self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(position) => break position + 4,
                None if self.fill() => {}
                None => return None,
            }
        };
        let head = String::from_utf8(self.received.drain(..head_bytes).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut response = Response { status, head, body: String::new() };
        if body_follows {
            let bytes = response.header("content-length").unwrap().parse().unwrap();
            while self.received.len() < bytes {
                if !self.fill() {
                    return None;
                }
            }
            response.body = String::from_utf8(self.received.drain(..bytes).collect()).unwrap();
        }
        Some(response)
    }

    /// Reads until the peer closes or resets, and returns how many bytes came.
    pub fn drain_to_end(&mut self) -> usize {
        while self.fill() {}
        self.received.len()
    }

    /// Reads until the end and says whether it was a close, not a reset, which could have overtaken
    /// the bytes before it.
    pub fn ends_with_a_close(&mut self) -> bool {
        self.drain_to_end();
        !self.was_reset
    }

    /// Whether the connection goes on, as far as it shows without waiting.
    pub fn is_open(&mut self) -> bool {
        let mut byte = [0];
        self.stream.set_nonblocking(true).unwrap();
        let result = self.stream.read(&mut byte);
        self.stream.set_nonblocking(false).unwrap();
        match result {
            Ok(count) => {
                self.received.extend_from_slice(&byte[..count]);
                count > 0
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    fn fill(&mut self) -> bool {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                self.was_reset = true;
                false
            }
            Err(error) => panic!("the peer neither answers nor closes: {error}"),
        }
    }
}

/// One request on a connection of its own; `None` when it is turned away.
pub fn get(admin: &AdminHandle, path: &str) -> Option<Response> {
    let mut client = Client::connect(admin);
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    client.try_send(request).then(|| client.response(true)).flatten()
}

/// Waits until `condition` holds.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "gave up waiting until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
