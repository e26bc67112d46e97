// SPDX-License-Identifier: Apache-2.0
//! [`Wire`]: the socket as rustls reads and writes it.

use crate::carried::Carried;
use crate::transport::Transport;
use crate::wire;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

/// The most encrypted bytes that wait for the driver. Beyond that rustls keeps them in its own buffer, which
/// is bounded too.
const OUTGOING_BYTES: usize = 64 << 10;

/// The socket with the interface that rustls needs. It records whether the last read left room,
/// which means that the socket held no more.
#[derive(Debug)]
pub(super) struct Wire<'a> {
    transport: &'a mut Transport,
    short: bool,
}

impl<'a> Wire<'a> {
    pub(super) fn new(transport: &'a mut Transport) -> Self {
        Wire { transport, short: false }
    }

    /// Whether the last read returned less than it was allowed to.
    pub(super) fn is_short(&self) -> bool {
        self.short
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let room = into.len();
        let n = wire::read(self.transport, into)?;
        self.short = n < room && self.transport.is_drained_by_less();
        Ok(n)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.transport.carried {
            None => wire::write_with(|| self.transport.stream.write(bytes)),
            Some(carried) => write_carried(carried, &[IoSlice::new(bytes)]),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.transport.carried {
            None => wire::write_with(|| self.transport.stream.write_vectored(slices)),
            Some(carried) => write_carried(carried, slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes as to a socket that holds [`OUTGOING_BYTES`] and a little more.
fn write_carried(carried: &mut Carried, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    if carried.outgoing.pending() >= OUTGOING_BYTES {
        return Err(ErrorKind::WouldBlock.into());
    }
    for slice in slices {
        carried.outgoing.put(slice);
    }
    Ok(slices.iter().map(|slice| slice.len()).sum())
}
