// SPDX-License-Identifier: Apache-2.0
//! The system calls that move a session's bytes. Each function makes one call, repeats it when a signal
//! interrupts it, and counts it if it moved bytes. `WouldBlock` is returned as an error. The bytes of a
//! carried session are moved by its driver; for such a session these functions only read from and write to
//! [`Carried`].
//!
//! [`Carried`]: crate::carried::Carried

use crate::Stream;
use crate::stats::{SESSION_RECV, SESSION_RECV_BYTE, SESSION_SEND, SESSION_SEND_BYTE};
use crate::transport::Transport;
use buffer::{RecvBuf, SendBuf};
use rustix::buffer::spare_capacity;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Write};

/// The most pieces of one gathering write.
pub(crate) const SLICES_MAX: usize = 64;

/// Where bytes that are read go to.
pub(crate) trait Room {
    /// Takes the first of `bytes`, as many as there is room for; returns how many.
    fn take(&mut self, bytes: &[u8]) -> usize;

    /// Reads once from a socket; returns how many bytes have come.
    fn read(&mut self, stream: &Stream) -> io::Result<usize>;
}

impl Room for &mut [u8] {
    fn take(&mut self, bytes: &[u8]) -> usize {
        let n = bytes.len().min(self.len());
        self[..n].copy_from_slice(&bytes[..n]);
        n
    }

    #[inline]
    fn read(&mut self, stream: &Stream) -> io::Result<usize> {
        stream.receive(&mut **self).map(|(_, n)| n)
    }
}

/// Behind what is in the buffer.
impl Room for &mut RecvBuf {
    fn take(&mut self, bytes: &[u8]) -> usize {
        self.put(bytes)
    }

    #[inline]
    fn read(&mut self, stream: &Stream) -> io::Result<usize> {
        stream.receive(spare_capacity(self.tail())).map(|(n, _)| n)
    }
}

/// Two places, the second behind the first.
pub(crate) struct Two<'a>(pub(crate) &'a mut [u8], pub(crate) &'a mut [u8]);

impl Room for &mut Two<'_> {
    fn take(&mut self, bytes: &[u8]) -> usize {
        let taken = (&mut *self.0).take(bytes);
        taken + (&mut *self.1).take(&bytes[taken..])
    }

    fn read(&mut self, stream: &Stream) -> io::Result<usize> {
        stream.receive_two([IoSliceMut::new(self.0), IoSliceMut::new(self.1)])
    }
}

/// Reads once.
#[inline]
pub(crate) fn read(transport: &mut Transport, into: impl Room) -> io::Result<usize> {
    match &mut transport.carried {
        None => read_socket(&transport.stream, into),
        Some(carried) => carried.read(&transport.stream, into),
    }
}

/// Reads once from the socket itself.
#[inline]
pub(crate) fn read_socket(stream: &Stream, mut into: impl Room) -> io::Result<usize> {
    loop {
        match into.read(stream) {
            Ok(n) => {
                if n > 0 {
                    SESSION_RECV.increment();
                    SESSION_RECV_BYTE.add(n as u64);
                }
                return Ok(n);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Counts the bytes that `write` writes and repeats it when interrupted. A write of zero bytes is
/// an error.
#[inline]
pub(crate) fn write_with(mut write: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match write() {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => {
                SESSION_SEND.increment();
                SESSION_SEND_BYTE.add(n as u64);
                return Ok(n);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Makes one write of the bytes that wait in `send`, a gathering one if they are in pieces.
/// Consumes nothing. Of pieces it writes no more than `most` bytes.
#[inline]
pub(crate) fn write(stream: &mut Stream, send: &SendBuf, most: usize) -> io::Result<usize> {
    if send.is_contiguous() {
        write_with(|| stream.write(send.front()))
    } else {
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let filled = send.slices_within(&mut slices, most);
        write_with(|| stream.write_vectored(&slices[..filled]))
    }
}

/// Writes a carried session's bytes directly to the socket, as far as it takes them.
pub(crate) fn write_left(stream: &mut Stream, outgoing: &mut SendBuf) -> io::Result<()> {
    while outgoing.waiting() > 0 {
        let n = write(stream, outgoing, usize::MAX)?;
        outgoing.consume(n);
    }
    Ok(())
}
