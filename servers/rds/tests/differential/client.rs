// SPDX-License-Identifier: Apache-2.0
//! A blocking client: requests are written in arbitrary pieces, replies are read one by one.

use crate::reply::Reply;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use test_support::PATIENCE;
use test_support::random::Random;

/// What fits a socket's buffers for sure, so that writing it waits for nobody.
pub(crate) const WRITTEN_AT_ONCE: usize = 32 * 1024;

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The server closed the connection.
    Closed,
    /// The server did not answer in time.
    Stuck,
    /// What came is not RESP.
    Malformed(String),
}

/// A connection to one server.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    /// What of the input is read.
    at: usize,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts connections");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Connection { stream, input: Vec::new(), at: 0 }
    }

    /// Sends `bytes`, cut at `cuts`. A server may close before it has read all: that is for the reader
    /// to find out.
    pub(crate) fn send(&self, bytes: &[u8], cuts: &[usize]) {
        send(&self.stream, bytes, cuts);
    }

    /// Another handle, for another thread to send by.
    pub(crate) fn writer(&self) -> Writer {
        Writer(self.stream.try_clone().unwrap())
    }

    /// Gives up: frees a writer whose bytes nobody takes.
    pub(crate) fn shut_down(&self) {
        // It may be closed already.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Sends one command and reads its reply.
    pub(crate) fn ask<A: AsRef<[u8]>>(&mut self, arguments: &[A]) -> Result<Reply, End> {
        self.send(&encoded(arguments), &[]);
        self.read()
    }

    /// Whether something has come that is not read yet; waits for it a millisecond.
    pub(crate) fn has_input(&mut self) -> bool {
        self.stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let has_input = self.at < self.input.len() || self.stream.peek(&mut [0]).is_ok();
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        has_input
    }

    /// Reads a reply.
    pub(crate) fn read(&mut self) -> Result<Reply, End> {
        let line = self.line()?;
        let (&first, rest) = line.split_first().ok_or(End::Malformed("an empty line".into()))?;
        let malformed = || End::Malformed(line.escape_ascii().to_string());
        let number = |text: &[u8]| {
            let text = std::str::from_utf8(text).ok()?;
            text.parse::<i64>().ok().filter(|number| number.to_string() == text)
        };
        let count = || number(rest).and_then(|n| usize::try_from(n).ok()).ok_or_else(malformed);
        Ok(match first {
            b'+' => Reply::Simple(rest.to_vec()),
            b'-' => Reply::Error(rest.to_vec()),
            b':' => Reply::Integer(number(rest).ok_or_else(malformed)?),
            b'$' if rest == b"-1" => Reply::NullBulk,
            b'*' if rest == b"-1" => Reply::NullArray,
            b'_' if rest.is_empty() => Reply::Null,
            b'$' => Reply::Bulk(self.body(count()?)?),
            b'=' => Reply::Verbatim(self.body(count()?)?),
            b'*' => Reply::Array(self.replies(count()?)?),
            b'~' => Reply::Set(self.replies(count()?)?),
            b'>' => Reply::Push(self.replies(count()?)?),
            b'%' => {
                let pairs = (0..count()?).map(|_| Ok((self.read()?, self.read()?)));
                Reply::Map(pairs.collect::<Result<_, _>>()?)
            }
            b',' => Reply::Double(rest.to_vec()),
            b'#' if rest == b"t" || rest == b"f" => Reply::Boolean(rest == b"t"),
            b'(' => Reply::BigNumber(rest.to_vec()),
            _ => return Err(malformed()),
        })
    }

    /// Everything that comes until the server closes the connection.
    pub(crate) fn read_to_end(&mut self) -> (Vec<u8>, End) {
        loop {
            if let Err(end) = self.fill() {
                return (self.input.split_off(self.at), end);
            }
        }
    }

    fn replies(&mut self, count: usize) -> Result<Vec<Reply>, End> {
        (0..count).map(|_| self.read()).collect()
    }

    fn line(&mut self) -> Result<Vec<u8>, End> {
        let mut searched = 0;
        loop {
            let input = &self.input[self.at..];
            if let Some(found) = input[searched..].iter().position(|&byte| byte == b'\n') {
                let line = &input[..searched + found];
                let line = line.strip_suffix(b"\r").map(<[u8]>::to_vec);
                self.at += searched + found + 1;
                return line.ok_or(End::Malformed("a line that ends with LF alone".into()));
            }
            searched = input.len();
            self.fill()?;
        }
    }

    fn body(&mut self, len: usize) -> Result<Vec<u8>, End> {
        while self.input.len() - self.at < len + 2 {
            self.fill()?;
        }
        let body = self.input[self.at..self.at + len].to_vec();
        let end = &self.input[self.at + len..self.at + len + 2];
        if end != b"\r\n" {
            return Err(End::Malformed("a bulk that does not end with CR LF".into()));
        }
        self.at += len + 2;
        Ok(body)
    }

    /// Waits for more input.
    fn fill(&mut self) -> Result<(), End> {
        self.input.drain(..self.at);
        self.at = 0;
        let mut block = [0; 64 * 1024];
        loop {
            match self.stream.read(&mut block) {
                Ok(0) => return Err(End::Closed),
                Ok(n) => {
                    self.input.extend_from_slice(&block[..n]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Err(End::Stuck);
                }
                // Reset, because it closed before it had read all.
                Err(_) => return Err(End::Closed),
            }
        }
    }
}

/// The half of a connection that sends.
#[derive(Debug)]
pub(crate) struct Writer(TcpStream);

impl Writer {
    /// Sends as [`Connection::send`] does.
    pub(crate) fn send(&self, bytes: &[u8], cuts: &[usize]) {
        send(&self.0, bytes, cuts);
    }
}

fn send(mut stream: &TcpStream, bytes: &[u8], cuts: &[usize]) {
    let mut start = 0;
    for &end in cuts.iter().chain([&bytes.len()]) {
        if stream.write_all(&bytes[start..end]).is_err() {
            return;
        }
        start = end;
    }
}

/// A command as all clients write it.
pub(crate) fn encoded<A: AsRef<[u8]>>(arguments: &[A]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        let argument = argument.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        bytes.extend_from_slice(argument);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Where `len` bytes are cut: mostly nowhere, sometimes everywhere.
pub(crate) fn cuts(random: &mut Random, len: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    if random.one_in(8) {
        let most = *random.pick(&[&3, &60, &3000]);
        let mut at = random.below(most);
        while at < len && cuts.len() < 100 {
            cuts.push(at);
            at += 1 + random.below(most);
        }
    }
    cuts
}
