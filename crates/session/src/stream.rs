// SPDX-License-Identifier: Apache-2.0
//! [`Stream`]: a connected socket of either family.

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::buffer::Buffer;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

/// A connected, non-blocking socket.
#[derive(Debug)]
pub enum Stream {
    /// Over IPv4 or IPv6.
    Tcp(TcpStream),
    /// Over a socket in the file system, or a socket pair.
    Unix(UnixStream),
}

impl Stream {
    /// The peer as memcached's `stats conns` prints it: `tcp:127.0.0.1:4000`, `tcp6:[::1]:4000` or
    /// `unix:/path`.
    ///
    /// A unix client usually has no name; then the path is that of the socket it connected to. A
    /// TCP peer that is gone is `tcp:<closed>`.
    pub fn peer_name(&self) -> String {
        match self {
            Stream::Tcp(tcp) => {
                tcp.peer_addr().map_or_else(|_| "tcp:<closed>".to_owned(), Stream::tcp_name)
            }
            Stream::Unix(unix) => {
                let names = [unix.peer_addr(), unix.local_addr()];
                let mut named = names.iter().flatten().filter_map(|name| name.as_pathname());
                match named.next() {
                    Some(path) => format!("unix:{}", path.display()),
                    None => "unix:".to_owned(),
                }
            }
        }
    }

    /// The TCP peer at `address`, as [`peer_name`](Stream::peer_name) names it without asking the system.
    pub fn tcp_name(address: SocketAddr) -> String {
        match address {
            SocketAddr::V4(address) => format!("tcp:{address}"),
            SocketAddr::V6(address) => format!("tcp6:[{}]:{}", address.ip(), address.port()),
        }
    }

    /// Whether small segments leave at once (`TCP_NODELAY`). A unix socket always sends at once.
    ///
    /// # Errors
    ///
    /// Those of the system, for a socket that is closed.
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        match self {
            Stream::Tcp(tcp) => tcp.set_nodelay(on),
            Stream::Unix(_) => Ok(()),
        }
    }

    /// Reads once into `into`; returns what that makes of it, and how many bytes have come.
    #[inline]
    pub(crate) fn receive<B: Buffer<u8>>(&self, into: B) -> io::Result<(B::Output, usize)> {
        Ok(rustix::net::recv(self, into, RecvFlags::empty())?)
    }

    /// Reads once into two places, one after the other; returns how many bytes have come.
    pub(crate) fn receive_two(&self, mut into: [IoSliceMut<'_>; 2]) -> io::Result<usize> {
        let mut ancillary = RecvAncillaryBuffer::default();
        let received = rustix::net::recvmsg(self, &mut into, &mut ancillary, RecvFlags::empty())?;
        Ok(received.bytes)
    }

    /// Closes the sending side.
    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(tcp) => tcp.shutdown(Shutdown::Write),
            Stream::Unix(unix) => unix.shutdown(Shutdown::Write),
        }
    }
}

impl From<TcpStream> for Stream {
    fn from(tcp: TcpStream) -> Self {
        Stream::Tcp(tcp)
    }
}

impl From<UnixStream> for Stream {
    fn from(unix: UnixStream) -> Self {
        Stream::Unix(unix)
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(tcp) => tcp.as_fd(),
            Stream::Unix(unix) => unix.as_fd(),
        }
    }
}

// System calls are made without the C library, because in the C library they are points where a thread may be
// cancelled, and marking such a point costs some 40 ns per call.

impl Read for Stream {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive(into).map(|(n, _)| n)
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, bytes, SendFlags::NOSIGNAL)?)
    }

    #[inline]
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut ancillary = SendAncillaryBuffer::default();
        Ok(rustix::net::sendmsg(self, slices, &mut ancillary, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Source for Stream {
    fn register(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match self {
            Stream::Tcp(tcp) => tcp.register(to, token, interest),
            Stream::Unix(unix) => unix.register(to, token, interest),
        }
    }

    fn reregister(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match self {
            Stream::Tcp(tcp) => tcp.reregister(to, token, interest),
            Stream::Unix(unix) => unix.reregister(to, token, interest),
        }
    }

    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        match self {
            Stream::Tcp(tcp) => tcp.deregister(from),
            Stream::Unix(unix) => unix.deregister(from),
        }
    }
}
