// SPDX-License-Identifier: Apache-2.0
//! [`DatagramSocket`]: a bound UDP socket.

use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes that the kernel is asked to keep for a worker that is busy; it grants less where `net.core.rmem_max`
/// and `wmem_max` say so.
const QUEUE_BYTES: usize = 4 << 20;

/// A UDP socket that is bound to an address. A socket for each worker is bound to the same address, and the
/// kernel gives all datagrams of one source port to the same one.
#[derive(Debug)]
pub struct DatagramSocket {
    socket: mio::net::UdpSocket,
    address: SocketAddr,
}

impl DatagramSocket {
    /// Binds `count` sockets to `address`; port 0 lets the system choose.
    ///
    /// # Errors
    ///
    /// Those of the system; `AddrInUse` also when the address is shared by sockets of another process.
    pub fn bind(address: SocketAddr, count: usize) -> io::Result<Vec<Self>> {
        // The first does not ask to share the address before it has it. So it fails where somebody else is
        // bound, which the others would not.
        let first = open(address)?;
        first.bind(&address.into())?;
        if count > 1 {
            first.set_reuse_port(true)?;
        }
        let first = Self::new(first)?;
        let address = first.address;
        let mut all = vec![first];
        while all.len() < count {
            let socket = open(address)?;
            socket.set_reuse_port(true)?;
            socket.bind(&address.into())?;
            all.push(Self::new(socket)?);
        }
        Ok(all)
    }

    /// Receives from `socket`, which is bound.
    pub(crate) fn new(socket: Socket) -> io::Result<Self> {
        let socket = mio::net::UdpSocket::from_std(socket.into());
        let address = socket.local_addr()?;
        Ok(DatagramSocket { socket, address })
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.socket, token, Interest::READABLE)
    }
}

impl AsFd for DatagramSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn open(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        // So that 0.0.0.0 and [::] can be bound side by side.
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    // It works with smaller queues too.
    let _ = socket.set_recv_buffer_size(QUEUE_BYTES);
    let _ = socket.set_send_buffer_size(QUEUE_BYTES);
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_workers_share_an_address_and_nobody_else_does() {
        let sockets = DatagramSocket::bind("127.0.0.1:0".parse().unwrap(), 3).unwrap();
        let address = sockets[0].address();
        assert_ne!(address.port(), 0);
        assert!(sockets.iter().all(|socket| socket.address() == address));
        for count in [1, 2] {
            let refused = DatagramSocket::bind(address, count).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        }
        let v6 = SocketAddr::new("::1".parse().unwrap(), address.port());
        DatagramSocket::bind(v6, 2).unwrap();
    }
}
