// SPDX-License-Identifier: Apache-2.0
//! Many datagrams by one system call: [`Arrivals`] and [`Departures`].
//!
//! Each call builds the headers that the kernel wants on the stack, with pointers into buffers that it
//! borrows for no longer than the call. So nothing here points into itself, and no pointer is kept.

use super::DATAGRAM_BYTES;
use socket2::{SockAddr, SockAddrStorage};
use std::fmt;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The most datagrams of one system call.
pub(super) const MANY: usize = 32;

/// Bytes between the beginnings of two received datagrams: the largest datagram that there is, and three
/// cache lines more, so that the beginnings do not fall into the same cache set. Memory that was never written
/// to is not resident.
const STRIDE: usize = (64 << 10) + 3 * 64;

/// The address of a datagram's source.
#[derive(Clone, Copy)]
pub(super) struct Source {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl Source {
    fn none() -> Self {
        // SAFETY: all zeroes are an address: of the unspecified family, 0.
        Source { storage: unsafe { mem::zeroed() }, len: 0 }
    }

    /// The address, if it is one of IP.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        let mut storage = SockAddrStorage::zeroed();
        // SAFETY: `sockaddr_storage` is what the type of this name has inside, and plain data.
        *unsafe { storage.view_as::<libc::sockaddr_storage>() } = self.storage;
        // SAFETY: the kernel wrote the address with this length, or there is none and its family is 0.
        unsafe { SockAddr::new(storage, self.len) }.as_socket()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address().fmt(f)
    }
}

/// Datagrams that have been received and not been served.
#[derive(Debug)]
pub(super) struct Arrivals {
    bytes: Box<[u8]>,
    sources: Box<[Source; MANY]>,
    lens: [usize; MANY],
    /// Datagrams before this one have been served.
    next: usize,
    /// The number of datagrams.
    end: usize,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Arrivals {
            bytes: vec![0; MANY * STRIDE].into_boxed_slice(),
            sources: Box::new([Source::none(); MANY]),
            lens: [0; MANY],
            next: 0,
            end: 0,
        }
    }

    /// Whether all have been served.
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// The next datagram, and where it came from.
    pub(super) fn pop(&mut self) -> Option<(&[u8], &Source)> {
        let at = (self.next < self.end).then_some(self.next)?;
        self.next += 1;
        Some((&self.bytes[at * STRIDE..][..self.lens[at]], &self.sources[at]))
    }

    /// Receives what waits at `socket`, [`MANY`] datagrams at most; returns how many. There is no datagram
    /// longer than the memory for one.
    ///
    /// # Errors
    ///
    /// Those of the system; `WouldBlock` when none waits.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        debug_assert!(self.is_empty(), "those before have been served");
        (self.next, self.end) = (0, 0);
        // SAFETY: all zeroes are a header, of no parts, and a part of no bytes.
        let mut headers: [libc::mmsghdr; MANY] = unsafe { mem::zeroed() };
        // SAFETY: as above.
        let mut parts: [libc::iovec; MANY] = unsafe { mem::zeroed() };
        let places = self.bytes.chunks_exact_mut(STRIDE).zip(self.sources.iter_mut());
        for ((header, part), (bytes, source)) in headers.iter_mut().zip(&mut parts).zip(places) {
            part.iov_base = bytes.as_mut_ptr().cast();
            part.iov_len = bytes.len();
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_name = (&raw mut source.storage).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        }
        // SAFETY: the headers point to places of the given sizes, each to its own, which nobody else uses
        // until the call returns; after that nobody uses the headers' pointers.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                MANY as libc::c_uint,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        for (at, header) in headers[..received].iter().enumerate() {
            self.lens[at] = (header.msg_len as usize).min(STRIDE);
            self.sources[at].len = header.msg_hdr.msg_namelen;
        }
        self.end = received;
        Ok(received)
    }
}

/// Datagrams that wait to be sent, in order.
#[derive(Debug)]
pub(super) struct Departures {
    bytes: Box<[[u8; DATAGRAM_BYTES]; MANY]>,
    destinations: Box<[Source; MANY]>,
    lens: [usize; MANY],
    count: usize,
}

/// What became of datagrams that were to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// Datagrams that the kernel has taken.
    pub(super) datagrams: usize,
    /// Their bytes.
    pub(super) bytes: usize,
    /// Datagrams that it has refused.
    pub(super) lost: usize,
}

impl Departures {
    pub(super) fn new() -> Self {
        Departures {
            bytes: Box::new([[0; DATAGRAM_BYTES]; MANY]),
            destinations: Box::new([Source::none(); MANY]),
            lens: [0; MANY],
            count: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == MANY
    }

    /// Adds a datagram to `destination`, which `write` puts to the front of the place it is given; returns
    /// whether it wrote one, and its length.
    pub(super) fn push(
        &mut self,
        destination: &Source,
        write: impl FnOnce(&mut [u8; DATAGRAM_BYTES]) -> Option<usize>,
    ) -> bool {
        let Some(len) = write(&mut self.bytes[self.count]) else { return false };
        assert!(len <= DATAGRAM_BYTES, "a datagram of {len} bytes");
        self.lens[self.count] = len;
        self.destinations[self.count] = *destination;
        self.count += 1;
        true
    }

    /// Sends all from `socket`. Those that the kernel refuses are lost, as any datagram may be.
    pub(super) fn send(&mut self, socket: BorrowedFd<'_>) -> Sent {
        let mut sent = Sent::default();
        let mut from = 0;
        while from < self.count {
            match self.send_some(socket, from) {
                Ok(n) => {
                    sent.datagrams += n;
                    sent.bytes += self.lens[from..from + n].iter().sum::<usize>();
                    from += n;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // A full queue refuses the others too; any other error is about the first.
                    let is_full = error.kind() == io::ErrorKind::WouldBlock;
                    let lost = if is_full { self.count - from } else { 1 };
                    sent.lost += lost;
                    from += lost;
                }
            }
        }
        self.count = 0;
        sent
    }

    /// Sends datagrams from number `from` on; returns how many, at least one.
    fn send_some(&mut self, socket: BorrowedFd<'_>, from: usize) -> io::Result<usize> {
        // SAFETY: all zeroes are a header, of no parts, and a part of no bytes.
        let mut headers: [libc::mmsghdr; MANY] = unsafe { mem::zeroed() };
        // SAFETY: as above.
        let mut parts: [libc::iovec; MANY] = unsafe { mem::zeroed() };
        let waiting = self.count - from;
        for (at, (header, part)) in headers[..waiting].iter_mut().zip(&mut parts).enumerate() {
            let (bytes, destination) =
                (&mut self.bytes[from + at], &mut self.destinations[from + at]);
            part.iov_base = bytes.as_mut_ptr().cast();
            part.iov_len = self.lens[from + at];
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_name = (&raw mut destination.storage).cast();
            header.msg_hdr.msg_namelen = destination.len;
        }
        // SAFETY: the first `waiting` headers point to datagrams and addresses of the given sizes, which stay
        // until the call returns; after that nobody uses the headers' pointers.
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                waiting as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests;
