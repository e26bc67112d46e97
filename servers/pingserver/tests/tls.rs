// SPDX-License-Identifier: Apache-2.0
//! The log tells why a TLS handshake failed, and of whom, and is not filled by those that try again.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use rustls::version::TLS13;
use rustls::{ClientConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use test_support::certificates::Certificates;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};
use test_support::http::metric;
use test_support::{PATIENCE, wait_until};

/// A client that gets no answer; returns its address.
fn refused(server: SocketAddr, connection: ClientConnection) -> SocketAddr {
    let socket = TcpStream::connect(server).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let client = socket.local_addr().unwrap();
    let mut stream = StreamOwned::new(connection, socket);
    // In TLS 1.3 the client is finished before it is refused.
    let _ = stream.write_all(b"PING\r\n");
    let answer = stream.read(&mut [0; 16]);
    assert!(!matches!(answer, Ok(1..)), "{answer:?}");
    client
}

#[test]
fn the_log_says_why_a_handshake_failed() {
    let config = Config::empty();
    let certificates = Certificates::new(config.folder());
    let path = |name: &str| certificates.path(name).display().to_string();
    config.write(&format!(
        "[server]\nport = 0\n[admin]\nport = 0\n[tls]\nclient_auth = \"required\"\n\
         certificate_chain = \"{}\"\nprivate_key = \"{}\"\nca_file = \"{}\"\n",
        path("server.pem"),
        path("server.key"),
        path("ca.pem")
    ));
    let mut server = Daemon::start(env!("CARGO_BIN_EXE_pingserver"), &config);
    let (address, admin) = (server.address(), server.admin());
    let client = refused(address, certificates.client(&TLS13, false));
    let line = server.line(&format!("tcp:{client}: TLS handshake failed "));
    assert_eq!(line, format!("(tcp:{address}): peer sent no certificates"));

    let elsewhere = Config::empty();
    let stranger = Certificates::new(elsewhere.folder());
    for _ in 0..3 {
        refused(address, stranger.client(&TLS13, true));
    }
    let failed = "shoebill_tls_handshakes_total{result=\"failed\"}";
    wait_until("all are counted", || metric(admin, failed) == 4.0);
    Client::tls(address, certificates.client(&TLS13, true)).ask(b"PING\r\n", b"PONG\r\n");
    server.signal("TERM");
    let (status, rest) = server.end();
    assert!(status.success(), "{rest}");
    assert!(!rest.contains("handshake failed"), "one line a minute:\n{rest}");
}
