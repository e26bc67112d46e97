// SPDX-License-Identifier: Apache-2.0
//! A client that sends batches of commands in arbitrary pieces and knows when all are answered.

use crate::support::replies::Seen;
use crate::support::unit::{Side, Unit};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use test_support::random::Random;

/// A server that has not finished its replies by then is taken not to answer at all.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// What fits a socket's buffers for sure, so that writing it waits for nobody.
const WRITTEN_AT_ONCE: usize = 32 * 1024;

/// The answer to a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The replies, made comparable.
    pub(crate) replies: Vec<u8>,
    pub(crate) end: End,
}

/// How the answer to a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// All commands are answered, the connection goes on.
    Open,
    /// The server closed the connection.
    Closed,
    /// The server did not finish in time.
    Stuck,
}

/// A connection to one server.
#[derive(Debug)]
pub(crate) struct Client {
    side: Side,
    address: SocketAddr,
    stream: TcpStream,
    seen: Seen,
    /// Decides into what pieces a batch is cut; `None` does not cut.
    cuts: Option<Random>,
    batches: u64,
}

impl Client {
    pub(crate) fn connect(side: Side, address: SocketAddr, cuts: Option<Random>) -> Self {
        let stream = open(address);
        Client { side, address, stream, seen: Seen::default(), cuts, batches: 0 }
    }

    /// Sends `batch` and waits until all of it is answered.
    ///
    /// A batch that does not end with a command that closes the connection is followed by a set and a
    /// get of a value that no other batch has: when it comes back, nothing is missing.
    pub(crate) fn exchange(&mut self, batch: &[Unit]) -> Answer {
        let bytes = batch.iter().flat_map(|unit| unit.bytes(self.side, &self.seen));
        let mut bytes: Vec<u8> = bytes.collect();
        self.batches += 1;
        let mark = format!("{:08}", self.batches);
        let expected = format!("STORED\r\nVALUE last{mark} 0 8\r\n{mark}\r\nEND\r\n");
        if !batch.last().is_some_and(|unit| unit.closes) {
            let last = format!("set last{mark} 0 0 8\r\n{mark}\r\nget last{mark}\r\n");
            bytes.extend_from_slice(last.as_bytes());
        }
        let pieces = self.cut(bytes.len());
        let (mut writer, reader) = (self.stream.try_clone().unwrap(), &mut self.stream);
        let (received, end) = if bytes.len() <= WRITTEN_AT_ONCE {
            send(&mut writer, &bytes, &pieces);
            receive(reader, expected.as_bytes())
        } else {
            std::thread::scope(|scope| {
                scope.spawn(|| send(&mut writer, &bytes, &pieces));
                let received = receive(reader, expected.as_bytes());
                if received.1 == End::Stuck {
                    // Frees a writer whose bytes nobody takes.
                    let _ = reader.shutdown(std::net::Shutdown::Both);
                }
                received
            })
        };
        if end != End::Open {
            self.stream = open(self.address);
        }
        Answer { replies: self.seen.normalise(&received, self.side), end }
    }

    /// Where a batch of `len` bytes is cut.
    fn cut(&mut self, len: usize) -> Vec<usize> {
        let mut cuts = Vec::new();
        if let Some(random) = &mut self.cuts {
            let most = match random.below(8) {
                0 => 3,
                1..4 => 60,
                4..6 => 3000,
                _ => usize::MAX >> 17,
            };
            let mut at = 0;
            while at < len && cuts.len() < 300 {
                at += 1 + random.below(most);
                cuts.push(at.min(len));
            }
        }
        cuts.push(len);
        cuts
    }
}

fn open(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts connections");
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(ANSWER_LIMIT)).unwrap();
    stream
}

/// Writes `bytes`, cut at `cuts`. A server may close before it has read all: that is for the reader
/// to find out.
fn send(stream: &mut TcpStream, bytes: &[u8], cuts: &[usize]) {
    let mut start = 0;
    for &end in cuts {
        if stream.write_all(&bytes[start..end]).is_err() {
            return;
        }
        start = end;
    }
}

/// Reads until the bytes end with `expected`, or the connection does.
fn receive(stream: &mut TcpStream, expected: &[u8]) -> (Vec<u8>, End) {
    let mut received = Vec::new();
    let mut block = [0; 64 * 1024];
    loop {
        match stream.read(&mut block) {
            Ok(0) => return (received, End::Closed),
            Ok(n) => received.extend_from_slice(&block[..n]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return (received, End::Stuck);
            }
            // Reset, because it closed before it had read all.
            Err(_) => return (received, End::Closed),
        }
        if received.ends_with(expected) {
            return (received, End::Open);
        }
    }
}
