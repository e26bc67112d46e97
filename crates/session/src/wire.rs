// SPDX-License-Identifier: Apache-2.0
//! The system calls that move a session's bytes: one each, repeated when a signal interrupts it,
//! counted when it moved something. `WouldBlock` is passed on as the error it is. The bytes of a carried
//! session are moved by its driver; here they are only taken from and left with [`Carried`].
//!
//! [`Carried`]: crate::carried::Carried

use crate::Stream;
use crate::stats::{SESSION_RECV, SESSION_RECV_BYTE, SESSION_SEND, SESSION_SEND_BYTE};
use crate::transport::Transport;
use buffer::SendBuf;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

/// Most pieces that one gathering write takes.
pub(crate) const SLICES_MAX: usize = 64;

/// Reads once.
#[inline]
pub(crate) fn read(transport: &mut Transport, into: &mut [u8]) -> io::Result<usize> {
    match &mut transport.carried {
        None => read_socket(&mut transport.stream, into),
        Some(carried) => carried.read(&mut transport.stream, into),
    }
}

/// Reads once from the socket itself.
#[inline]
pub(crate) fn read_socket(stream: &mut Stream, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(into) {
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

/// Counts what `write` writes and repeats it when interrupted; that it takes nothing is an error.
#[inline]
fn write_with(mut write: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
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

/// Writes what waits in `send` once, gathered when it is in pieces. Consumes nothing.
#[inline]
pub(crate) fn write(stream: &mut Stream, send: &SendBuf) -> io::Result<usize> {
    if send.is_contiguous() {
        write_with(|| stream.write(send.front()))
    } else {
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let filled = send.slices(&mut slices);
        write_with(|| stream.write_vectored(&slices[..filled]))
    }
}

/// Writes a carried session's bytes to the socket itself, as far as it takes them.
pub(crate) fn write_left(stream: &mut Stream, outgoing: &mut SendBuf) -> io::Result<()> {
    while outgoing.waiting() > 0 {
        let n = write(stream, outgoing)?;
        outgoing.consume(n);
    }
    Ok(())
}

/// The socket as rustls wants it. It remembers whether the last read left room, which means that
/// the socket held no more.
#[derive(Debug)]
pub(crate) struct Wire<'a> {
    transport: &'a mut Transport,
    short: bool,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(transport: &'a mut Transport) -> Self {
        Wire { transport, short: false }
    }

    /// Whether the last read returned less than it was allowed to.
    pub(crate) fn is_short(&self) -> bool {
        self.short
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = read(self.transport, into)?;
        self.short = n < into.len() && self.transport.is_drained_by_less();
        Ok(n)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.transport.carried {
            None => write_with(|| self.transport.stream.write(bytes)),
            Some(carried) => carried.write(&[IoSlice::new(bytes)]),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.transport.carried {
            None => write_with(|| self.transport.stream.write_vectored(slices)),
            Some(carried) => carried.write(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
