// SPDX-License-Identifier: Apache-2.0
//! Sessions whose bytes a driver carries: for event loops that work with completions instead of readiness.
//!
//! Such a driver receives and sends by itself, into and from memory that it owns during the operation. It
//! hands received bytes over with [`Session::deliver`] and takes the bytes to send with [`Session::depart`].
//! In between, the session is used as any other: `fill` takes delivered bytes instead of reading from the
//! socket, and `flush` returns `Blocked` until all departed bytes have landed.
//!
//! ```text
//!  driver ── deliver ─▶ Carried ─▶ (rustls) ─▶ RecvBuf   SendBuf ─▶ (rustls) ─▶ Carried ── depart ─▶ driver
//! ```
//!
//! A plain session needs no intermediate buffer: delivered bytes go straight into the receive buffer as long
//! as there is room, and the contents of the send buffer depart directly.

use crate::stats::{
    SESSION_RECV, SESSION_RECV_BYTE, SESSION_SEND, SESSION_SEND_BYTE, SESSION_SEND_EX,
};
use crate::wire::Room;
use crate::{Session, Stream, wire};
use buffer::{Pool, RecvBuf, SendBuf};
use std::io::{self, ErrorKind};

/// Bytes that a driver has received, and bytes that it is to send.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Received bytes for which the receive buffer had no room, or which have to be decrypted
    /// first.
    arrived: RecvBuf,
    /// What follows `arrived`: the end of the peer's stream, or an error of receiving.
    end: Option<io::Result<()>>,
    /// Encrypted bytes to be sent. Unused by a plain session.
    pub(crate) outgoing: SendBuf,
    /// The driver receives no more: after `arrived` the socket itself is read.
    reads_socket: bool,
    /// Whether the last read was from the socket itself.
    has_read_socket: bool,
}

impl Carried {
    /// Reads as from a socket that holds the bytes of `arrived`.
    pub(crate) fn read(&mut self, stream: &Stream, mut into: impl Room) -> io::Result<usize> {
        self.has_read_socket = false;
        if !self.arrived.is_empty() {
            let n = into.take(self.arrived.filled());
            self.arrived.consume(n);
            return Ok(n);
        }
        match self.end.take() {
            None if self.reads_socket => {
                self.has_read_socket = true;
                wire::read_socket(stream, into)
            }
            None => Err(ErrorKind::WouldBlock.into()),
            Some(end) => {
                // An error is reported once; later reads see the end of the stream.
                self.end = Some(Ok(()));
                end.map(|()| 0)
            }
        }
    }

    /// Whether all that was delivered has been read, and the rest is read from the socket itself.
    pub(crate) fn is_spent(&self) -> bool {
        self.reads_socket && self.arrived.is_empty() && self.end.is_none()
    }

    /// Whether a short read means that nothing is left to read.
    pub(crate) fn is_all(&self) -> bool {
        self.end.is_none() && (self.has_read_socket || !self.reads_socket)
    }
}

impl Session {
    /// Makes this a carried session: from now on a driver moves its bytes. Call it before the
    /// session is used.
    pub fn carry(&mut self) {
        self.transport.carried = Some(Box::default());
    }

    /// Whether a driver carries the bytes.
    #[inline]
    pub fn is_carried(&self) -> bool {
        self.transport.carried.is_some()
    }

    /// Number of bytes that can be delivered into the present block, or into one from the pool. When more
    /// have come, it is better to serve the connection first.
    #[inline]
    pub fn room(&self) -> usize {
        let arrived = self.transport.carried.as_ref().map(|carried| &carried.arrived);
        let buffer = match arrived {
            Some(arrived) if self.tls.is_some() => arrived,
            Some(arrived) if !arrived.is_empty() => return 0,
            _ => &self.recv,
        };
        if buffer.capacity() == 0 { usize::MAX } else { buffer.room() }
    }

    /// Takes over bytes that the driver has received, and returns how many of them went into the receive
    /// buffer. [`Session::fill`] fetches the others, see [`Session::has_undelivered`].
    ///
    /// # Panics
    ///
    /// When the session is not carried.
    pub fn deliver(&mut self, bytes: &[u8], pool: &mut Pool) -> usize {
        SESSION_RECV.increment();
        SESSION_RECV_BYTE.add(bytes.len() as u64);
        let carried = self.transport.carried.as_mut().expect(NOT_CARRIED);
        let mut taken = 0;
        if self.tls.is_none() && carried.arrived.is_empty() {
            if self.recv.capacity() == 0 {
                self.recv.reserve(1, pool);
            }
            taken = self.recv.put(bytes);
        }
        let left = &bytes[taken..];
        if !left.is_empty() {
            carried.arrived.reserve(left.len(), pool);
            carried.arrived.put(left);
        }
        taken
    }

    /// Records the end of receiving: the end of the peer's stream, or an error.
    ///
    /// # Panics
    ///
    /// When the session is not carried.
    pub fn deliver_end(&mut self, end: io::Result<()>) {
        let carried = self.transport.carried.as_mut().expect(NOT_CARRIED);
        carried.end.get_or_insert(end);
    }

    /// Whether the driver has reported the end: nothing more can be received.
    pub fn has_ended(&self) -> bool {
        self.transport.carried.as_ref().is_some_and(|carried| carried.end.is_some())
    }

    /// Number of delivered bytes that [`Session::fill`] still has to fetch.
    #[inline]
    pub fn undelivered(&self) -> usize {
        self.transport.carried.as_ref().map_or(0, |carried| carried.arrived.filled().len())
    }

    /// Whether [`Session::fill`] would find bytes or an end.
    #[inline]
    pub fn has_undelivered(&self) -> bool {
        let has_some = |carried: &Carried| !carried.arrived.is_empty() || carried.end.is_some();
        self.transport.carried.as_deref().is_some_and(has_some)
    }

    /// With `on`, the driver receives nothing any more, and after the delivered bytes the session
    /// reads the rest from the socket itself, until this is called again without it.
    pub fn read_directly(&mut self, on: bool) {
        if let Some(carried) = &mut self.transport.carried {
            carried.reads_socket = on;
        }
    }

    /// Moves the bytes to send into `flight`. Returns whether there are any; false also while earlier bytes
    /// are on their way. The driver sends them and reports progress with [`Session::landed`].
    #[inline]
    pub fn depart(&mut self, flight: &mut SendBuf) -> bool {
        let outgoing = match (&self.tls, &mut self.transport.carried) {
            (Some(_), Some(carried)) => &mut carried.outgoing,
            _ => &mut self.send,
        };
        if outgoing.waiting() == 0 || outgoing.departed() > 0 {
            return false;
        }
        outgoing.depart(flight);
        true
    }

    /// Called when `n` departed bytes have been sent.
    #[inline]
    pub fn landed(&mut self, n: usize) {
        SESSION_SEND.increment();
        SESSION_SEND_BYTE.add(n as u64);
        match (&self.tls, &mut self.transport.carried) {
            (Some(_), Some(carried)) => carried.outgoing.landed(n),
            _ => self.send.landed(n),
        }
    }

    /// Called when the departed bytes cannot be sent: those that are left are given up.
    pub fn lost(&mut self) {
        SESSION_SEND_EX.increment();
        self.send.landed(self.send.departed());
        if let Some(carried) = &mut self.transport.carried {
            carried.outgoing.landed(carried.outgoing.departed());
        }
    }

    /// Whether bytes are to be sent or on their way, plain or encrypted.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        if !self.send.is_empty() {
            return true;
        }
        let Some(tls) = &self.tls else { return false };
        let has_outgoing = |carried: &Carried| !carried.outgoing.is_empty();
        tls.wants_write() || self.transport.carried.as_deref().is_some_and(has_outgoing)
    }

    /// Drops all bytes that were received and not served, and all that wait to be sent, and gives
    /// the blocks back.
    pub fn discard(&mut self, pool: &mut Pool) {
        self.recv.consume(self.recv.filled().len());
        self.send.consume(self.send.waiting());
        if let Some(carried) = &mut self.transport.carried {
            carried.arrived.consume(carried.arrived.filled().len());
            carried.outgoing.consume(carried.outgoing.waiting());
        }
        self.release(pool);
    }

    /// Ends the session and returns the socket, for a driver that closes it later.
    pub fn into_stream(self) -> Stream {
        self.transport.stream
    }

    /// Sends the remaining encrypted bytes, such as the TLS close, if no earlier bytes are on their
    /// way.
    pub(crate) fn send_left(&mut self) {
        if let Some(carried) = &mut self.transport.carried
            && carried.outgoing.departed() == 0
        {
            // A peer that is gone or does not read cannot receive it.
            let _ = wire::write_left(&mut self.transport.stream, &mut carried.outgoing);
        }
    }

    /// Lends the blocks into which the driver's side of a TLS session writes.
    #[inline]
    pub(crate) fn lend_carried(&mut self, pool: &mut Pool) {
        if let (Some(_), Some(carried)) = (&self.tls, &mut self.transport.carried) {
            carried.outgoing.lend(pool);
        }
    }

    /// Gives back the empty blocks of the driver's side.
    #[inline]
    pub(crate) fn release_carried(&mut self, pool: &mut Pool) {
        if let Some(carried) = &mut self.transport.carried {
            carried.arrived.release(pool);
            carried.outgoing.release(pool);
        }
    }
}

const NOT_CARRIED: &str = "a session that is not carried";
