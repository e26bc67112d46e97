// SPDX-License-Identifier: Apache-2.0
//! `[server]`: where to listen and how to treat connections.

use super::listen::{Listen, SocketMode};
use config::Span;
use reactor::Options;
use std::net::IpAddr;
use std::time::Duration;

/// Examples of addresses, of every form.
const ADDRESSES: [&str; 4] =
    ["127.0.0.1:11211", "[::1]:11211", "notls:127.0.0.1:11212", "unix:/run/cache.sock"];

config::section! {
    /// Where to listen and how to treat connections.
    pub struct Server in "server" {
        /// Where to listen, unless `listen` names addresses.
        pub host: IpAddr = IpAddr::from([127, 0, 0, 1]);
        /// The TCP port that goes with `host`; 0 lets the system choose.
        pub port: Option<u16> = None, absent "the server's own";
        /// Listen on these instead of `host` and `port`. TCP addresses use TLS when `[tls]` has a key,
        /// unless they begin with `notls:`; unix sockets never do.
        pub listen: Vec<Listen> = Vec::new(), takes "list of listen addresses", example ADDRESSES;
        /// Permission bits of unix sockets. With 0700 only the user that the server runs as may connect.
        pub socket_mode: SocketMode = SocketMode::default();
        /// Connections that may wait to be accepted, per address; the kernel caps it at
        /// `net.core.somaxconn`.
        pub backlog: u32 = 1024;
        /// Connections served at once; one more is told so and closed.
        pub max_connections: usize = 10_000, within 1..=1_000_000;
        /// A connection that sends nothing for this long is closed; 0 never.
        pub idle_timeout: Span = Span(Options::default().idle_timeout);
        /// A TCP connection on which nothing came for this long is asked whether its peer is still there, and closed if
        /// there is no answer to three of these; 0 never. Whole seconds.
        pub keepalive: Span = Span(Options::default().keepalive);
        /// A connection that stops in the middle of a request for this long is closed; 0 never.
        pub read_timeout: Option<Span> = None, absent "the server's own", example "1m";
        /// A connection that takes none of its replies for this long is closed; 0 never.
        pub write_timeout: Option<Span> = None, absent "the server's own", example "1m";
        /// A TLS handshake may take this long, from the accept; 0 forever.
        pub handshake_timeout: Span = Span(Options::default().handshake_timeout);
        /// After SIGTERM, `/ready` says `draining` for this long before anything else happens: the time
        /// that a load balancer needs to notice.
        pub drain_delay: Span = Span(Duration::ZERO);
        /// After `drain_delay`, connections have this long to be flushed.
        pub drain_timeout: Span = Span(Duration::from_secs(10));
    }
}

/// The address of a server, for statistics that have room for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainAddress {
    /// The IP address; empty without TCP.
    pub host: String,
    /// The TCP port; 0 without TCP.
    pub port: u16,
    /// The path of the unix socket, if there is one.
    pub socket: Option<String>,
}

impl Server {
    /// The first TCP address and the first unix socket that are listened on. `port` is the server's default
    /// port.
    #[must_use]
    pub fn main_address(&self, port: u16) -> MainAddress {
        let socket = self.listen.iter().find_map(|listen| match listen {
            Listen::Unix(path) => Some(path.display().to_string()),
            Listen::Tcp { .. } => None,
        });
        let tcp = self.listen.iter().find_map(|listen| match listen {
            Listen::Tcp { address, .. } => Some((address.ip(), address.port())),
            Listen::Unix(_) => None,
        });
        let default = (self.host, self.port.unwrap_or(port));
        match tcp.or(socket.is_none().then_some(default)) {
            Some((ip, port)) => MainAddress { host: ip.to_string(), port, socket },
            None => MainAddress { host: String::new(), port: 0, socket },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_address_is_the_first_of_each_kind() {
        let main = |listen: &[&str]| {
            let listen = listen.iter().map(|text| text.parse().unwrap()).collect();
            let MainAddress { host, port, socket } =
                Server { listen, port: Some(7), ..Server::default() }.main_address(11211);
            (host, port, socket)
        };
        let path = || Some("/x".to_owned());
        assert_eq!(main(&[]), ("127.0.0.1".to_owned(), 7, None));
        assert_eq!(main(&["unix:/x", "unix:/y"]), (String::new(), 0, path()));
        assert_eq!(main(&["unix:/x", "[::1]:5", "10.0.0.1:6"]), ("::1".to_owned(), 5, path()));
        assert_eq!(Server::default().main_address(11211).port, 11211);
    }
}
