// SPDX-License-Identifier: Apache-2.0
//! A client that sends batches of commands in arbitrary pieces and knows when all are answered.

use crate::support::frames;
use crate::support::replies::Seen;
use crate::support::unit::{Dialect, Side, Unit};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use test_support::PATIENCE;
use test_support::random::Random;

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

/// Connections to one server, one for each dialect that is spoken.
#[derive(Debug)]
pub(crate) struct Client {
    side: Side,
    address: SocketAddr,
    streams: [Option<TcpStream>; 3],
    seen: Seen,
    /// Decides into what pieces a batch is cut; `None` does not cut.
    cuts: Option<Random>,
    batches: u64,
}

impl Client {
    pub(crate) fn connect(side: Side, address: SocketAddr, cuts: Option<Random>) -> Self {
        let streams = [None, None, None];
        Client { side, address, streams, seen: Seen::default(), cuts, batches: 0 }
    }

    /// Sends `batch`, which is in one dialect, and waits until all of it is answered.
    ///
    /// A batch that does not end with a command that closes the connection is followed by a set and a
    /// get of a value that no other batch has, or by a noop: when that comes back, nothing is missing.
    pub(crate) fn exchange(&mut self, batch: &[Unit]) -> Answer {
        let is_binary = matches!(batch[0].dialect, Dialect::Binary { .. });
        let mut bytes = Vec::new();
        for (at, unit) in batch.iter().enumerate() {
            let start = bytes.len();
            bytes.extend(unit.bytes(self.side, &self.seen));
            if is_binary {
                frames::number(&mut bytes[start..], at);
            }
        }
        let (last, expected) = self.mark(is_binary, batch.len());
        if !batch.last().is_some_and(|unit| unit.closes) {
            bytes.extend_from_slice(&last);
        }
        let pieces = self.cut(bytes.len());
        let address = self.address;
        let stream = &mut self.streams[batch[0].connection()];
        let reader = stream.get_or_insert_with(|| open(address));
        let mut writer = reader.try_clone().unwrap();
        let (received, end) = if bytes.len() <= WRITTEN_AT_ONCE {
            send(&mut writer, &bytes, &pieces);
            receive(reader, &expected)
        } else {
            std::thread::scope(|scope| {
                scope.spawn(|| send(&mut writer, &bytes, &pieces));
                let received = receive(reader, &expected);
                if received.1 == End::Stuck {
                    // Frees a writer whose bytes nobody takes.
                    let _ = reader.shutdown(std::net::Shutdown::Both);
                }
                received
            })
        };
        if end != End::Open {
            *stream = None;
        }
        let replies = if is_binary {
            self.seen.normalise_frames(&received, batch)
        } else {
            self.seen.normalise(&received, self.side)
        };
        Answer { replies, end }
    }

    /// What is sent behind a batch of `len` units, and the end of the answer to it.
    fn mark(&mut self, is_binary: bool, len: usize) -> (Vec<u8>, Vec<u8>) {
        if is_binary {
            return [frames::REQUEST, frames::RESPONSE]
                .map(|magic| frames::noop(magic, len))
                .into();
        }
        self.batches += 1;
        let mark = format!("{:08}", self.batches);
        let last = format!("set last{mark} 0 0 8\r\n{mark}\r\nget last{mark}\r\n");
        let expected = format!("STORED\r\nVALUE last{mark} 0 8\r\n{mark}\r\nEND\r\n");
        (last.into_bytes(), expected.into_bytes())
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
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
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
