// SPDX-License-Identifier: Apache-2.0
//! Sessions whose bytes a driver carries: for event loops that learn of completions, not of readiness.
//!
//! Such a driver receives and sends by itself, into and from memory that belongs to it meanwhile. It
//! leaves what it has received with [`Session::deliver`] and takes what is to be sent with
//! [`Session::depart`]. In between the session is used as any other: `fill` takes what was delivered
//! instead of reading from the socket, and `flush` says `Blocked` until what has departed has landed.
//!
//! ```text
//!  driver ── deliver ─▶ Carried ─▶ (rustls) ─▶ RecvBuf   SendBuf ─▶ (rustls) ─▶ Carried ── depart ─▶ driver
//! ```
//!
//! A plain session needs no stop on the way: what is delivered goes straight into the receive buffer
//! as long as there is room, and the send buffer itself departs.

use crate::stats::{
    SESSION_RECV, SESSION_RECV_BYTE, SESSION_SEND, SESSION_SEND_BYTE, SESSION_SEND_EX,
};
use crate::{Session, Stream, wire};
use buffer::{Pool, RecvBuf, SendBuf};
use std::io::{self, ErrorKind, IoSlice};

/// Most encrypted bytes that wait for the driver: past it rustls keeps its own, which has a bound too.
const OUTGOING_BYTES: usize = 64 << 10;

/// What a driver has brought and what it is to take along.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// What has arrived and had no room in the receive buffer, or has to be decrypted first.
    arrived: RecvBuf,
    /// What comes behind it: the peer's end, or the error of receiving.
    end: Option<io::Result<()>>,
    /// Encrypted bytes to be sent. Unused by a plain session.
    pub(crate) outgoing: SendBuf,
    /// The driver receives no more: behind what has arrived the socket itself is read.
    reads_socket: bool,
    /// That is what the last read did.
    has_read_socket: bool,
}

impl Carried {
    /// Reads as from a socket that holds what has arrived.
    pub(crate) fn read(&mut self, stream: &mut Stream, into: &mut [u8]) -> io::Result<usize> {
        self.has_read_socket = false;
        let filled = self.arrived.filled();
        if !filled.is_empty() {
            let n = filled.len().min(into.len());
            into[..n].copy_from_slice(&filled[..n]);
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
                // An error is reported once; what is behind it is the end.
                self.end = Some(Ok(()));
                end.map(|()| 0)
            }
        }
    }

    /// Whether a read that came up short has met the end of what there is.
    pub(crate) fn is_all(&self) -> bool {
        self.end.is_none() && (self.has_read_socket || !self.reads_socket)
    }

    /// Writes as to a socket that holds [`OUTGOING_BYTES`] and a little more.
    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.outgoing.pending() >= OUTGOING_BYTES {
            return Err(ErrorKind::WouldBlock.into());
        }
        for slice in slices {
            self.outgoing.put(slice);
        }
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }
}

impl Session {
    /// From now on a driver carries the bytes. Before the session is used.
    pub fn carry(&mut self) {
        self.transport.carried = Some(Box::default());
    }

    /// Whether a driver carries the bytes.
    #[inline]
    pub fn is_carried(&self) -> bool {
        self.transport.carried.is_some()
    }

    /// Bytes that can be delivered into the block that there is, or one from the pool. With more it is
    /// better to serve the connection first.
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

    /// Takes in bytes that the driver has received; returns how many of them are in the receive buffer
    /// already. [`Session::fill`] fetches the others, see [`Session::has_undelivered`].
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
            let spare = self.recv.spare();
            taken = bytes.len().min(spare.len());
            spare[..taken].copy_from_slice(&bytes[..taken]);
            self.recv.commit(taken);
        }
        let left = &bytes[taken..];
        if !left.is_empty() {
            carried.arrived.reserve(left.len(), pool);
            carried.arrived.spare()[..left.len()].copy_from_slice(left);
            carried.arrived.commit(left.len());
        }
        taken
    }

    /// Takes in the end of what the driver receives: the peer's, or an error.
    ///
    /// # Panics
    ///
    /// When the session is not carried.
    pub fn deliver_end(&mut self, end: io::Result<()>) {
        let carried = self.transport.carried.as_mut().expect(NOT_CARRIED);
        carried.end.get_or_insert(end);
    }

    /// Whether the driver has brought an end: nothing more can be received.
    pub fn has_ended(&self) -> bool {
        self.transport.carried.as_ref().is_some_and(|carried| carried.end.is_some())
    }

    /// Bytes that were delivered and have to be fetched by [`Session::fill`].
    #[inline]
    pub fn undelivered(&self) -> usize {
        self.transport.carried.as_ref().map_or(0, |carried| carried.arrived.filled().len())
    }

    /// Whether [`Session::fill`] would find something: bytes or an end.
    #[inline]
    pub fn has_undelivered(&self) -> bool {
        let has_some = |carried: &Carried| !carried.arrived.is_empty() || carried.end.is_some();
        self.transport.carried.as_deref().is_some_and(has_some)
    }

    /// The driver receives nothing any more; the session reads what is left from the socket, behind
    /// what was delivered, until this is taken back.
    pub fn read_directly(&mut self, on: bool) {
        if let Some(carried) = &mut self.transport.carried {
            carried.reads_socket = on;
        }
    }

    /// Moves what is to be sent into `flight`; whether there is something and nothing of before is on
    /// its way. The driver sends it, and says how far it came with [`Session::landed`].
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

    /// Hears that `n` bytes of what has departed have been sent.
    #[inline]
    pub fn landed(&mut self, n: usize) {
        SESSION_SEND.increment();
        SESSION_SEND_BYTE.add(n as u64);
        match (&self.tls, &mut self.transport.carried) {
            (Some(_), Some(carried)) => carried.outgoing.landed(n),
            _ => self.send.landed(n),
        }
    }

    /// Hears that what has departed cannot be sent: what is left of it is given up.
    pub fn lost(&mut self) {
        SESSION_SEND_EX.increment();
        self.send.landed(self.send.departed());
        if let Some(carried) = &mut self.transport.carried {
            carried.outgoing.landed(carried.outgoing.departed());
        }
    }

    /// Whether something is to be sent or on its way, in whatever form.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        if !self.send.is_empty() {
            return true;
        }
        let Some(tls) = &self.tls else { return false };
        let has_outgoing = |carried: &Carried| !carried.outgoing.is_empty();
        tls.wants_write() || self.transport.carried.as_deref().is_some_and(has_outgoing)
    }

    /// Drops all that was received and not served, and all that waits to be sent, and gives the
    /// blocks back.
    pub fn discard(&mut self, pool: &mut Pool) {
        self.recv.consume(self.recv.filled().len());
        self.send.consume(self.send.waiting());
        if let Some(carried) = &mut self.transport.carried {
            carried.arrived.consume(carried.arrived.filled().len());
            carried.outgoing.consume(carried.outgoing.waiting());
        }
        self.release(pool);
    }

    /// The socket, for a driver that closes it later than the session ends.
    pub fn into_stream(self) -> Stream {
        self.transport.stream
    }

    /// Sends what is left, if nothing of before is on its way: the last words of TLS.
    pub(crate) fn send_left(&mut self) {
        if let Some(carried) = &mut self.transport.carried
            && carried.outgoing.departed() == 0
        {
            // A peer that is gone or does not read cannot be told.
            let _ = wire::write_left(&mut self.transport.stream, &mut carried.outgoing);
        }
    }

    /// Lends the blocks that the driver's side of a TLS session writes to.
    #[inline]
    pub(crate) fn lend_carried(&mut self, pool: &mut Pool) {
        if let (Some(_), Some(carried)) = (&self.tls, &mut self.transport.carried) {
            carried.outgoing.lend(pool);
        }
    }

    /// Gives back the blocks of the driver's side that hold nothing.
    #[inline]
    pub(crate) fn release_carried(&mut self, pool: &mut Pool) {
        if let Some(carried) = &mut self.transport.carried {
            carried.arrived.release(pool);
            carried.outgoing.release(pool);
        }
    }
}

const NOT_CARRIED: &str = "a session that is not carried";
