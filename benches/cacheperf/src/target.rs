// SPDX-License-Identifier: Apache-2.0
//! [`Target`]: the server, its protocol and how it is reached.

use crate::Error;
use session::{Session, Stream, TlsConnector};
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;

/// The protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// memcache's classic text commands.
    #[default]
    Memcache,
    /// memcache's meta commands.
    Meta,
    /// Redis's protocol in version 2.
    Resp2,
    /// Redis's protocol in version 3.
    Resp3,
    /// PING and PONG.
    Ping,
}

/// The protocols by name, each with the port its servers listen on.
const PROTOCOLS: [(&str, Protocol, u16); 5] = [
    ("memcache", Protocol::Memcache, 11211),
    ("meta", Protocol::Meta, 11211),
    ("resp2", Protocol::Resp2, 6379),
    ("resp3", Protocol::Resp3, 6379),
    ("ping", Protocol::Ping, 12321),
];

/// Other names of protocols, and what is probably meant.
const MEANT: [(&str, &str); 7] = [
    ("memcached", "memcache"),
    ("memcache_text", "memcache"),
    ("text", "memcache"),
    ("redis", "resp2"),
    ("valkey", "resp2"),
    ("resp", "resp2"),
    ("hello", "resp3"),
];

impl Protocol {
    /// The names of all protocols.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        PROTOCOLS.iter().map(|(name, _, _)| *name)
    }

    /// The port that its servers listen on if they are told nothing else.
    pub fn port(self) -> u16 {
        PROTOCOLS.iter().find(|(_, protocol, _)| *protocol == self).map_or(0, |(_, _, port)| *port)
    }

    /// Whether it has keys and values.
    pub fn has_keys(self) -> bool {
        self != Protocol::Ping
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = PROTOCOLS.iter().find(|(name, _, _)| *name == text);
        let names = PROTOCOLS.map(|(name, _, _)| name).join(", ");
        let meant = MEANT.iter().find(|(other, _)| text.eq_ignore_ascii_case(other));
        let meant = meant.map_or(String::new(), |(_, name)| format!("; write {name}"));
        found
            .map(|(_, protocol, _)| *protocol)
            .ok_or(format!("`{text}` is no protocol; there are {names}{meant}"))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = PROTOCOLS.iter().find(|(_, protocol, _)| protocol == self);
        f.write_str(found.map_or("", |(name, _, _)| name))
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host, or a host and a port.
    Tcp(String),
    /// A unix socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err(format!("`{text}` names no socket; write unix:/path")),
            Some(path) => Ok(Address::Unix(path.into())),
            None if text.is_empty() => Err("an address is HOST, HOST:PORT or unix:/path".into()),
            None => Ok(Address::Tcp(text.to_owned())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host) => f.write_str(host),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// The server, its protocol and how it is reached.
#[derive(Clone, Debug)]
pub struct Target {
    /// The protocol.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: Address,
    /// Encrypts the connections.
    pub tls: Option<TlsConnector>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.tls.is_some() { " over TLS" } else { "" };
        write!(f, "{} at {}{tls}", self.protocol, self.address)
    }
}

impl Target {
    /// A server in the clear.
    pub fn new(protocol: Protocol, address: Address) -> Self {
        Target { protocol, address, tls: None }
    }

    /// The addresses that a host name leads to; none for a unix socket.
    fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let Address::Tcp(host) = &self.address else { return Ok(Vec::new()) };
        let found: Vec<_> = match host.to_socket_addrs() {
            Ok(addresses) => addresses.collect(),
            // No port is in it.
            Err(_) => (host.as_str(), self.protocol.port()).to_socket_addrs()?.collect(),
        };
        Ok(found)
    }

    /// Opens a connection and waits for it; a TLS handshake is still to come.
    pub(crate) fn connect(&self) -> Result<Session, Error> {
        let failed = |source| Error::Connect { address: self.address.to_string(), source };
        self.session(self.open().map_err(failed)?)
    }

    /// Begins to open a connection; how that ends, an event tells. Of several addresses each attempt
    /// takes the next. Finding them waits for the system's resolver.
    pub(crate) fn begin(&self, attempt: usize) -> Result<Session, Error> {
        let failed = |source| Error::Connect { address: self.address.to_string(), source };
        let stream = match &self.address {
            Address::Unix(path) => mio::net::UnixStream::connect(path).map_err(failed)?.into(),
            Address::Tcp(_) => {
                let addresses = self.resolve().map_err(failed)?;
                let nobody = || failed(io::ErrorKind::AddrNotAvailable.into());
                let at = attempt.checked_rem(addresses.len()).ok_or_else(nobody)?;
                let tcp = mio::net::TcpStream::connect(addresses[at]).map_err(failed)?;
                tcp.set_nodelay(true).map_err(failed)?;
                tcp.into()
            }
        };
        self.session(stream)
    }

    fn session(&self, stream: Stream) -> Result<Session, Error> {
        Ok(match &self.tls {
            None => Session::plain(stream),
            Some(connector) => Session::tls_client(stream, connector)?,
        })
    }

    fn open(&self) -> io::Result<Stream> {
        match &self.address {
            Address::Unix(path) => {
                let unix = UnixStream::connect(path)?;
                unix.set_nonblocking(true)?;
                Ok(mio::net::UnixStream::from_std(unix).into())
            }
            Address::Tcp(_) => {
                let tcp = TcpStream::connect(&*self.resolve()?)?;
                tcp.set_nonblocking(true)?;
                tcp.set_nodelay(true)?;
                Ok(mio::net::TcpStream::from_std(tcp).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_shown() {
        for (name, protocol, _) in PROTOCOLS {
            assert_eq!(name.parse(), Ok(protocol));
            assert_eq!(protocol.to_string(), name);
        }
        let words = "redis".parse::<Protocol>().unwrap_err();
        assert!(words.starts_with("`redis` is no protocol; there are memcache,"), "{words}");
        assert!(words.ends_with("; write resp2"), "{words}");
        for (_, name) in MEANT {
            assert!(name.parse::<Protocol>().is_ok(), "{name}");
        }
        for text in ["localhost", "127.0.0.1:1", "[::1]:80", "unix:/tmp/x"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert!("unix:".parse::<Address>().is_err());
    }

    #[test]
    fn a_port_is_the_protocols_unless_it_is_said() {
        let ports = |text: &str| {
            let target = Target::new(Protocol::Resp3, text.parse().unwrap());
            target.resolve().unwrap().iter().map(SocketAddr::port).collect::<Vec<_>>()
        };
        assert_eq!(ports("127.0.0.1"), [6379]);
        assert_eq!(ports("127.0.0.1:77"), [77]);
        assert_eq!(ports("::1"), [6379]);
    }
}
