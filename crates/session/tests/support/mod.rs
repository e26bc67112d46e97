// SPDX-License-Identifier: Apache-2.0
//! What the tests share: an event loop for one session, and certificates.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

#[cfg(feature = "tls")]
pub mod certificates;
#[cfg(feature = "tls")]
pub mod tls_client;

use buffer::Pool;
use mio::{Events, Interest, Poll, Token};
use session::{Fill, Flush, Session, Stream};
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
pub use test_support::PATIENCE;

/// A session with the smallest event loop that follows its rules.
#[derive(Debug)]
pub struct Driver {
    pub session: Session,
    pub pool: Pool,
    poll: Poll,
    readable: bool,
    /// An event has reported the peer's end.
    ended: bool,
}

impl Driver {
    pub fn new(session: Session) -> Self {
        Driver::with_pool(session, Pool::new(16 << 10, 16 << 10, 4))
    }

    pub fn with_pool(mut session: Session, pool: Pool) -> Self {
        let poll = Poll::new().unwrap();
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(session.stream(), Token(0), interest).unwrap();
        Driver { session, pool, poll, readable: false, ended: false }
    }

    /// Waits for the next event.
    pub fn wait(&mut self) {
        let mut events = Events::with_capacity(8);
        self.poll.poll(&mut events, Some(PATIENCE)).unwrap();
        assert!(!events.is_empty(), "no event came");
        for event in &events {
            self.readable |= event.is_readable() || event.is_read_closed();
            self.ended |= event.is_read_closed();
        }
    }

    /// Waits until something arrives or ends, flushing after each fill.
    pub fn fill(&mut self) -> io::Result<Fill> {
        loop {
            if !self.readable {
                self.wait();
                continue;
            }
            let fill = self.session.fill(&mut self.pool, 1)?;
            let _ = self.session.flush(&mut self.pool)?;
            match fill {
                Fill::Blocked => self.readable = false,
                Fill::Some { drained } => {
                    self.readable = !drained || self.ended;
                    return Ok(fill);
                }
                Fill::Closed => return Ok(fill),
            }
        }
    }

    /// Takes what has arrived.
    pub fn take(&mut self) -> Vec<u8> {
        let (recv, _) = self.session.buffers();
        let taken = recv.filled().to_vec();
        recv.consume(taken.len());
        taken
    }

    /// Waits for `n` bytes and takes them.
    pub fn receive(&mut self, n: usize) -> Vec<u8> {
        while self.session.recv().filled().len() < n {
            assert_ne!(self.fill().unwrap(), Fill::Closed, "the peer ended early");
        }
        let (recv, _) = self.session.buffers();
        let taken = recv.filled()[..n].to_vec();
        recv.consume(n);
        taken
    }

    /// Appends to the send buffer.
    pub fn put(&mut self, bytes: &[u8]) {
        let (_, send) = self.session.buffers();
        send.lend(&mut self.pool);
        send.put(bytes);
    }

    /// Flushes until nothing waits.
    pub fn send_all(&mut self) {
        while self.session.flush(&mut self.pool).unwrap() == Flush::Blocked {
            self.wait();
        }
        assert!(self.session.send().is_empty());
    }

    /// Sends everything back until the peer ends.
    pub fn echo(&mut self) -> io::Result<()> {
        while self.fill()? != Fill::Closed {
            let arrived = self.take();
            self.put(&arrived);
            self.send_all();
        }
        Ok(())
    }
}

/// A socket pair: the session's end, and the peer's, which blocks.
pub fn unix_pair() -> (Stream, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    far.set_write_timeout(Some(PATIENCE)).unwrap();
    (mio::net::UnixStream::from_std(near).into(), far)
}

/// A TCP connection over loopback: the session's end, and the peer's, which blocks.
pub fn tcp_pair() -> (Stream, std::net::TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (near, _) = listener.accept().unwrap();
    near.set_nonblocking(true).unwrap();
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    far.set_write_timeout(Some(PATIENCE)).unwrap();
    (mio::net::TcpStream::from_std(near).into(), far)
}

/// `len` bytes in which every misplaced byte shows.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}
