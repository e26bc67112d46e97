// SPDX-License-Identifier: Apache-2.0
//! [`Asker`]: a client that sends a datagram and knows when all that comes of it has come.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};
use test_support::PATIENCE;

/// A datagram with the request `id` of one datagram.
pub(crate) fn frame(id: u16, payload: &[u8]) -> Vec<u8> {
    let [high, low] = id.to_be_bytes();
    [&[high, low, 0, 0, 0, 1, 0, 0], payload].concat()
}

/// A socket. A server serves what comes from one in order, so an answer to `mn` says that those before it have
/// been given.
pub(crate) struct Asker {
    socket: UdpSocket,
    id: u16,
}

impl Asker {
    pub(crate) fn new(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        Asker { socket, id: 0x1000 }
    }

    /// Sends requests until one of them is answered.
    pub(crate) fn await_answer(&mut self) {
        const PAUSE: Duration = Duration::from_millis(20);
        let (begun, before) = (Instant::now(), self.id);
        self.socket.set_read_timeout(Some(PAUSE)).unwrap();
        let mut datagram = [0; 2000];
        self.id += 1;
        loop {
            let sent = self.socket.send(&frame(self.id, b"mn\r\n"));
            match sent.and_then(|_| self.socket.recv(&mut datagram)) {
                // The answer may be to an earlier one, which took its time.
                Ok(n) if n > 8 && u16::from_be_bytes([datagram[0], datagram[1]]) > before => return,
                // Refused at once until the server is there: the same request is sent again, as there are few numbers.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => sleep(PAUSE),
                _ => self.id += 1,
            }
            assert!(begun.elapsed() < PATIENCE, "no answer");
        }
    }

    /// All that a request is answered with.
    pub(crate) fn ask(&mut self, payload: &[u8]) -> Vec<u8> {
        self.id += 1;
        self.send(&frame(self.id, payload), self.id)
    }

    /// All that comes of a datagram with the number of request `id`: the payloads of its messages, each complete
    /// and in order.
    pub(crate) fn send(&mut self, datagram: &[u8], id: u16) -> Vec<u8> {
        self.socket.send(datagram).unwrap();
        self.id += 1;
        self.socket.send(&frame(self.id, b"mn\r\n")).unwrap();
        self.socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut messages = Vec::new();
        let mut parts = BTreeMap::new();
        let mut datagram = [0; 2000];
        loop {
            let n = self.socket.recv(&mut datagram).expect("an answer in time");
            let (header, payload) = datagram[..n].split_first_chunk::<8>().expect("a header");
            assert!(n <= 1400, "a datagram of {n} bytes");
            assert_eq!(header[6..], [0, 0]);
            let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
            if number(0) == self.id {
                assert_eq!((number(2), number(4), payload), (0, 1, &b"MN\r\n"[..]));
                assert!(parts.is_empty(), "a message lacks datagrams");
                return messages;
            }
            assert_eq!(number(0), id, "an answer to {id}");
            assert!(parts.insert(number(2), payload.to_vec()).is_none());
            if parts.len() == usize::from(number(4)) {
                messages.extend(std::mem::take(&mut parts).into_values().flatten());
            }
        }
    }
}
