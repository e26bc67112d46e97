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
        /// A connection that stops in the middle of a request for this long is closed; 0 never.
        pub read_timeout: Span = Span(Options::default().read_timeout);
        /// A connection that takes none of its replies for this long is closed; 0 never.
        pub write_timeout: Span = Span(Options::default().write_timeout);
        /// A TLS handshake may take this long, from the accept; 0 forever.
        pub handshake_timeout: Span = Span(Options::default().handshake_timeout);
        /// After SIGTERM, `/ready` says `draining` for this long before anything else happens: the time
        /// that a load balancer needs to notice.
        pub drain_delay: Span = Span(Duration::ZERO);
        /// After `drain_delay`, connections have this long to be flushed.
        pub drain_timeout: Span = Span(Duration::from_secs(10));
    }
}
