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
use buffer::SendBuf;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

/// The most pieces of one gathering write.
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
