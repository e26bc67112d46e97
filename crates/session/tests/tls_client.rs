// SPDX-License-Identifier: Apache-2.0
//! The client's side of a TLS session against the server's.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::Pool;
use rustls::crypto::aws_lc_rs;
use rustls::{HandshakeKind, ServerConfig, ServerConnection};
use session::{Fill, Flush, Session, Stream, TlsAcceptor, TlsConnector, Trust};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use support::certificates::{Authority, Files};

/// A client and a server over a socket pair: what one writes is there for the other at once.
struct Pair {
    client: Session,
    server: Session,
    pool: Pool,
}

impl Pair {
    fn new(acceptor: &TlsAcceptor, connector: &TlsConnector) -> Self {
        let (near, far) = support::unix_pair();
        far.set_nonblocking(true).unwrap();
        let far: Stream = mio::net::UnixStream::from_std(far).into();
        Pair {
            client: Session::tls_client(far, connector).unwrap(),
            server: Session::tls(near, acceptor).unwrap(),
            pool: Pool::new(16 << 10, 16 << 10, 4),
        }
    }

    /// Lets both move until neither has anything to do; the first error is the client's or the
    /// server's.
    fn settle(&mut self) -> io::Result<()> {
        for _ in 0..10 {
            for session in [&mut self.client, &mut self.server] {
                let _ = session.flush(&mut self.pool)?;
                let _ = session.fill(&mut self.pool, 1)?;
            }
        }
        Ok(())
    }
}

fn connect(name: &str, trust: &Trust, files: &Files) -> io::Result<Pair> {
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    let mut pair = Pair::new(&acceptor, &TlsConnector::new(name, trust).unwrap());
    pair.settle()?;
    assert!(!pair.client.is_handshaking() && !pair.server.is_handshaking());
    Ok(pair)
}

#[test]
fn bytes_go_both_ways() {
    let files = Files::new();
    let mut pair = connect("localhost", &Trust::CaFile(files.path("ca.pem")), &files).unwrap();
    let bytes = support::pattern(50_000);
    for turn in 0..2 {
        let (from, to) = match turn {
            0 => (&mut pair.client, &mut pair.server),
            _ => (&mut pair.server, &mut pair.client),
        };
        let (_, send) = from.buffers();
        send.lend(&mut pair.pool);
        send.put(&bytes);
        while from.flush(&mut pair.pool).unwrap() == Flush::Blocked
            || to.recv().filled().len() < bytes.len()
        {
            assert_ne!(to.fill(&mut pair.pool, 1).unwrap(), Fill::Closed);
        }
        let (recv, _) = to.buffers();
        assert_eq!(recv.filled(), bytes);
        recv.consume(bytes.len());
    }
}

#[test]
fn a_client_believes_only_whom_it_was_told_to() {
    let files = Files::new();
    let other = files.write("other.pem", Authority::new("others").pem);
    let trusted = Trust::CaFile(files.path("ca.pem"));
    assert!(connect("localhost", &trusted, &files).is_ok());
    assert!(connect("elsewhere.example", &trusted, &files).is_err(), "for another host");
    assert!(connect("localhost", &Trust::CaFile(other), &files).is_err(), "of another authority");
    assert!(connect("elsewhere.example", &Trust::Anybody, &files).is_ok());
}

/// How a client shakes hands with a rustls server.
fn handshake(connector: &TlsConnector, config: &Arc<ServerConfig>) -> HandshakeKind {
    let (near, mut far) = support::unix_pair();
    far.set_nonblocking(true).unwrap();
    let mut pool = Pool::new(16 << 10, 16 << 10, 4);
    let mut client = Session::tls_client(near, connector).unwrap();
    let mut server = ServerConnection::new(config.clone()).unwrap();
    // Enough for the handshake and the tickets behind it.
    for _ in 0..10 {
        let _ = client.flush(&mut pool).unwrap();
        match server.read_tls(&mut far) {
            Ok(_) => drop(server.process_new_packets().unwrap()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        while server.wants_write() {
            server.write_tls(&mut far).unwrap();
        }
        let _ = client.fill(&mut pool, 1).unwrap();
    }
    server.handshake_kind().unwrap()
}

#[test]
fn sessions_are_resumed_unless_they_must_not_be() {
    let files = Files::new();
    for (name, version) in support::tls_client::VERSIONS {
        let identity = files.renew();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(identity.chain(), identity.private_key())
            .unwrap();
        let config = Arc::new(config);
        let connector =
            || TlsConnector::new("localhost", &Trust::CaFile(files.path("ca.pem"))).unwrap();
        let resuming = connector();
        assert_eq!(handshake(&resuming, &config), HandshakeKind::Full, "{name}");
        assert_eq!(handshake(&resuming, &config), HandshakeKind::Resumed, "{name}");
        let full = connector().without_resumption();
        assert_eq!(handshake(&full, &config), HandshakeKind::Full, "{name}");
        assert_eq!(handshake(&full, &config), HandshakeKind::Full, "{name}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let files = Files::new();
    let missing = Trust::CaFile(files.path("none.pem"));
    let error = TlsConnector::new("localhost", &missing).unwrap_err().to_string();
    assert!(error.contains("none.pem: cannot read the CA certificate"), "{error}");
    let error = TlsConnector::new("no name", &Trust::Anybody).unwrap_err().to_string();
    assert!(error.contains("`no name` is neither a host name nor an IP address"), "{error}");
    let key = files.path("server.pem");
    let chain = files.path("server.pem");
    let refused = TlsConnector::with_certificate("localhost", &Trust::Anybody, &chain, &key);
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("no private key in this file"), "{error}");
}
