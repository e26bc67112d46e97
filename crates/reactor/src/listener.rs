// SPDX-License-Identifier: Apache-2.0
//! [`Endpoint`]: an address to listen on. [`Listener`]: a bound socket.

use crate::Options;
use mio::event::Source;
use mio::{Interest, Registry, Token};
use session::Stream;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a peer is asked whether it is still there.
const KEEPALIVE_PROBES: u32 = 3;

/// The longest time that Linux takes.
const KEEPALIVE_MAX: Duration = Duration::from_secs(32_767);

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP address, IPv4 or IPv6; port 0 lets the system choose.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix {
        /// Path of the socket file. A file left behind by a dead process is replaced.
        path: PathBuf,
        /// Permission bits, set before the first connection can be made.
        mode: u32,
    },
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp(address @ SocketAddr::V4(_)) => write!(f, "tcp:{address}"),
            Endpoint::Tcp(address @ SocketAddr::V6(_)) => write!(f, "tcp6:{address}"),
            Endpoint::Unix { path, .. } => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A connection that was just accepted, with the client's address over TCP.
pub(crate) type Accepted = (Stream, Option<SocketAddr>);

/// A bound socket, which listens at once or once it is told to.
#[derive(Debug)]
pub struct Listener {
    socket: ListenSocket,
    /// The bound address, with the port that the system chose.
    endpoint: Endpoint,
    /// How many connections may wait.
    backlog: i32,
}

#[derive(Debug)]
enum ListenSocket {
    Tcp(mio::net::TcpListener),
    /// With the inode of its file, so that only our own file is removed at the end.
    Unix(mio::net::UnixListener, u64),
}

impl Listener {
    /// Binds `endpoint` and listens with a queue of `backlog` connections.
    ///
    /// # Errors
    ///
    /// Those of the system; `AddrInUse` for a unix socket that somebody serves, `AlreadyExists` for
    /// a path that is not a socket.
    pub fn bind(endpoint: &Endpoint, backlog: u32) -> io::Result<Self> {
        let listener = Listener::claim(endpoint, backlog)?;
        listener.listen()?;
        Ok(listener)
    }

    /// As [`Listener::bind`], but a TCP address is only taken: who connects is refused until the [`Acceptor`] opens. A
    /// server whose start may still fail tells nobody that they are connected, only to break that off.
    ///
    /// A unix socket listens at once: until it does, another server takes its file for one that was left behind.
    ///
    /// # Errors
    ///
    /// The same.
    ///
    /// [`Acceptor`]: crate::Acceptor
    pub fn claim(endpoint: &Endpoint, backlog: u32) -> io::Result<Self> {
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        match endpoint {
            Endpoint::Tcp(address) => bind_tcp(*address, backlog),
            Endpoint::Unix { path, mode } => bind_unix(path, *mode, backlog),
        }
    }

    /// Lets clients connect; again, that changes nothing.
    pub(crate) fn listen(&self) -> io::Result<()> {
        match &self.socket {
            ListenSocket::Tcp(listener) => SockRef::from(listener).listen(self.backlog),
            ListenSocket::Unix(..) => Ok(()),
        }
    }

    /// The address it is bound to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Accepts one connection; `WouldBlock` when none waits.
    pub(crate) fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            ListenSocket::Tcp(listener) => {
                let (stream, from) = listener.accept()?;
                Ok((Stream::Tcp(stream), Some(from)))
            }
            ListenSocket::Unix(listener, _) => Ok((Stream::Unix(listener.accept()?.0), None)),
        }
    }

    /// Sets [`Options::keepalive`](crate::Options::keepalive) of the connections that come from now on: they take it over
    /// from the listener, without a system call for each.
    pub(crate) fn set_keepalive(&self, time: Duration) -> io::Result<()> {
        match &self.socket {
            ListenSocket::Tcp(listener) => keep_alive(&SockRef::from(listener), time),
            ListenSocket::Unix(..) => Ok(()),
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match &mut self.socket {
            ListenSocket::Tcp(listener) => listener.register(registry, token, Interest::READABLE),
            ListenSocket::Unix(listener, _) => {
                listener.register(registry, token, Interest::READABLE)
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let (ListenSocket::Unix(_, inode), Endpoint::Unix { path, .. }) =
            (&self.socket, &self.endpoint)
        else {
            return;
        };
        if fs::symlink_metadata(path).is_ok_and(|file| file.ino() == *inode) {
            // A file that cannot be removed is found stale and replaced at the next start.
            let _ = fs::remove_file(path);
        }
    }
}

fn bind_tcp(address: SocketAddr, backlog: i32) -> io::Result<Listener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // So that 0.0.0.0 and [::] can be listened on side by side.
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    keep_alive(&SockRef::from(&socket), Options::default().keepalive)?;
    // Connections take this over as well.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    let listener = mio::net::TcpListener::from_std(socket.into());
    let endpoint = Endpoint::Tcp(listener.local_addr()?);
    Ok(Listener { socket: ListenSocket::Tcp(listener), endpoint, backlog })
}

fn keep_alive(socket: &SockRef<'_>, time: Duration) -> io::Result<()> {
    if time == Duration::ZERO {
        return socket.set_keepalive(false);
    }
    let time = time.min(KEEPALIVE_MAX);
    let probes = TcpKeepalive::new().with_time(time).with_retries(KEEPALIVE_PROBES);
    let interval = (time / KEEPALIVE_PROBES).max(Duration::from_secs(1));
    socket.set_tcp_keepalive(&probes.with_interval(interval))
}

fn bind_unix(path: &Path, mode: u32, backlog: i32) -> io::Result<Listener> {
    remove_stale(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::unix(path)?)?;
    // Nobody can connect before `listen`, so nobody connects with other permissions than these.
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    socket.listen(backlog)?;
    let inode = fs::symlink_metadata(path)?.ino();
    let listener = mio::net::UnixListener::from_std(socket.into());
    let endpoint = Endpoint::Unix { path: path.to_owned(), mode };
    Ok(Listener { socket: ListenSocket::Unix(listener, inode), endpoint, backlog })
}

/// Removes a socket file that a dead process left behind.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(file) = fs::symlink_metadata(path) else { return Ok(()) };
    if !file.file_type().is_socket() {
        let what = format!("{} exists and is not a socket", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A process that is stopped with a full backlog serves it, too.
    socket.set_nonblocking(true)?;
    match socket.connect(&SockAddr::unix(path)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        Ok(()) | Err(_) => {
            let what = format!("{} is served by another process", path.display());
            Err(io::Error::new(io::ErrorKind::AddrInUse, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_and_ipv6_wildcards_share_a_port() {
        let v4 = Listener::bind(&Endpoint::Tcp("127.0.0.1:0".parse().unwrap()), 16).unwrap();
        let Endpoint::Tcp(address) = v4.endpoint() else { panic!("a TCP endpoint") };
        assert_ne!(address.port(), 0);
        let v6 = Endpoint::Tcp(format!("[::1]:{}", address.port()).parse().unwrap());
        let v6 = Listener::bind(&v6, 16).unwrap();
        assert_eq!(v6.endpoint().to_string(), format!("tcp6:[::1]:{}", address.port()));
    }

    #[test]
    fn an_address_that_is_only_taken_refuses_clients() {
        let taken = Listener::claim(&Endpoint::Tcp("127.0.0.1:0".parse().unwrap()), 16).unwrap();
        let Endpoint::Tcp(address) = *taken.endpoint() else { panic!("a TCP endpoint") };
        let connect = || std::net::TcpStream::connect(address).map(drop);
        assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        taken.listen().unwrap();
        connect().unwrap();
        let late = Listener::claim(taken.endpoint(), 16).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn connections_ask_whether_their_peers_are_still_there() {
        let listener = Listener::bind(&Endpoint::Tcp("127.0.0.1:0".parse().unwrap()), 16).unwrap();
        let Endpoint::Tcp(address) = *listener.endpoint() else { panic!("a TCP endpoint") };
        let accepted = || {
            let _client = std::net::TcpStream::connect(address).unwrap();
            let Stream::Tcp(stream) = listener.accept().unwrap().0 else { panic!("a TCP stream") };
            let socket = SockRef::from(&stream);
            let time = socket.tcp_keepalive_time().unwrap();
            (socket.keepalive().unwrap(), time.as_secs(), socket.tcp_keepalive_retries().unwrap())
        };
        assert_eq!(accepted(), (true, 300, 3));
        listener.set_keepalive(Duration::from_secs(60)).unwrap();
        assert_eq!(accepted(), (true, 60, 3));
        listener.set_keepalive(Duration::MAX).unwrap();
        assert_eq!(accepted(), (true, 32_767, 3));
        listener.set_keepalive(Duration::ZERO).unwrap();
        assert!(!accepted().0);
    }

    #[test]
    fn connections_come_with_their_addresses_and_send_at_once() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = Listener::bind(&Endpoint::Tcp(host.parse().unwrap()), 16) else {
                continue; // a machine without IPv6
            };
            let Endpoint::Tcp(address) = *listener.endpoint() else { panic!("a TCP endpoint") };
            let client = std::net::TcpStream::connect(address).unwrap();
            let (stream, from) = listener.accept().unwrap();
            assert_eq!(from, Some(client.local_addr().unwrap()));
            assert_eq!(from.map(Stream::tcp_name), Some(stream.peer_name()));
            let Stream::Tcp(stream) = stream else { panic!("a TCP stream") };
            assert!(stream.nodelay().unwrap());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener =
            Listener::bind(&Endpoint::Unix { path: path.clone(), mode: 0o700 }, 16).unwrap();
        let _client = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let (stream, from) = listener.accept().unwrap();
        assert_eq!((from, stream.peer_name()), (None, format!("unix:{}", path.display())));
    }

    #[test]
    fn a_socket_whose_process_accepts_nobody_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let endpoint = Endpoint::Unix { path: path.clone(), mode: 0o700 };
        let _hung = Listener::bind(&endpoint, 0).unwrap();
        let waiting = || {
            let client = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            client.set_nonblocking(true).unwrap();
            client.connect(&SockAddr::unix(&path).unwrap()).map(|()| client)
        };
        let mut clients = Vec::new();
        while let Ok(client) = waiting() {
            clients.push(client);
        }
        let error = Listener::bind(&endpoint, 0).expect_err("it is served");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn a_stale_socket_is_replaced_and_a_served_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let endpoint = Endpoint::Unix { path: path.clone(), mode: 0o640 };
        let listener = Listener::bind(&endpoint, 16).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let again = Listener::bind(&endpoint, 16).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        assert!(!path.exists(), "its own file is removed");
    }

    #[test]
    fn a_file_that_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("precious");
        fs::write(&path, "data").unwrap();
        let error = Listener::bind(&Endpoint::Unix { path: path.clone(), mode: 0o700 }, 16);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"data");
    }
}
