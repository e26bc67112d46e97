// SPDX-License-Identifier: Apache-2.0
//! TLS handshakes: those that succeed however they are cut, and those that must fail.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use rustls::{AlertDescription, CertificateError, Error, HandshakeKind};
use session::{ClientAuth, Fill, Flush, Session, TlsAcceptor, TlsOptions, TlsVersion, is_not_tls};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use support::certificates::{Authority, Files, Identity};
use support::tls_client::{Pair, VERSIONS, blocking, client_config, reason};
use support::{Driver, pattern, tcp_pair, unix_pair};

#[test]
fn blocking_clients_are_served_over_tcp_and_unix() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    let bytes = pattern(1 << 20);
    for (name, version) in VERSIONS {
        let config = client_config(&files.authority, version, None);
        let (tcp, far_tcp) = tcp_pair();
        let (unix, far_unix) = unix_pair();
        let clients: [Box<dyn ReadWrite>; 2] = [Box::new(far_tcp), Box::new(far_unix)];
        for (stream, socket) in [tcp, unix].into_iter().zip(clients) {
            let mut driver = Driver::new(Session::tls(stream, &acceptor).unwrap());
            let mut client = blocking(&config, socket);
            let sent = bytes.clone();
            let client = thread::spawn(move || {
                let mut back = vec![0; sent.len()];
                for (out, back) in sent.chunks(100_000).zip(back.chunks_mut(100_000)) {
                    client.write_all(out).unwrap();
                    client.read_exact(back).unwrap();
                }
                client.conn.send_close_notify();
                client.flush().unwrap();
                back
            });
            driver.echo().unwrap();
            assert!(client.join().unwrap() == bytes, "TLS {name}: not what was sent");
        }
    }
}

trait ReadWrite: Read + Write + Send {}
impl<T: Read + Write + Send> ReadWrite for T {}

#[test]
fn a_handshake_succeeds_in_pieces_of_any_size() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for (name, version) in VERSIONS {
        let config = client_config(&files.authority, version, None);
        for size in [1, 7, 1000] {
            let mut pair = Pair::new(&acceptor, &config);
            assert!(pair.session.is_handshaking());
            while pair.client.is_handshaking() {
                for piece in pair.client_flight().chunks(size) {
                    pair.socket.write_all(piece).unwrap();
                    assert_eq!(pair.fill().unwrap(), Fill::Blocked);
                    assert_eq!(pair.flush().unwrap(), Flush::Done);
                }
                pair.client_receives().unwrap();
            }
            // In TLS 1.3 the client is finished first.
            pair.client_writes(b"hello");
            for piece in pair.client_flight().chunks(size) {
                pair.socket.write_all(piece).unwrap();
                let _ = pair.fill().unwrap();
            }
            assert!(!pair.session.is_handshaking());
            assert_eq!(pair.take(), b"hello", "TLS {name} by {size}");
        }
    }
}

#[test]
fn a_first_request_in_the_segment_that_ends_the_handshake_is_received() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for (name, version) in VERSIONS {
        let mut pair = Pair::new(&acceptor, &client_config(&files.authority, version, None));
        let mut fill = Fill::Blocked;
        // rustls keeps the request until the handshake allows it, and in TLS 1.3 sends it with its
        // last message; in 1.2 the server has the last word, so it comes by itself.
        pair.client_writes(b"get a\r\n");
        while fill == Fill::Blocked {
            pair.client_sends();
            fill = pair.fill().unwrap();
            assert_eq!(pair.flush().unwrap(), Flush::Done);
            pair.client_receives().unwrap();
        }
        assert_eq!(fill, Fill::Some { drained: true }, "TLS {name}");
        assert_eq!(pair.take(), b"get a\r\n", "TLS {name}");
    }
}

#[test]
fn replies_written_during_the_handshake_leave_after_it() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for (name, version) in VERSIONS {
        let mut pair = Pair::new(&acceptor, &client_config(&files.authority, version, None));
        pair.put(b"welcome");
        assert_eq!(pair.flush().unwrap(), Flush::Blocked, "it has to wait for the handshake");
        while pair.flush().unwrap() == Flush::Blocked {
            pair.client_sends();
            let _ = pair.fill().unwrap();
            let _ = pair.flush().unwrap();
            pair.client_receives().unwrap();
        }
        pair.client_receives().unwrap();
        assert_eq!(pair.client_reads(), b"welcome", "TLS {name}");
    }
}

#[test]
fn sessions_are_resumed_until_the_files_are_read_again() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for (name, version) in VERSIONS {
        let config = client_config(&files.authority, version, None);
        let kind = || {
            let mut pair = Pair::new(&acceptor, &config);
            pair.handshake().unwrap();
            pair.client_receives().unwrap();
            pair.client.handshake_kind().unwrap()
        };
        assert_eq!(kind(), HandshakeKind::Full, "TLS {name}");
        assert_eq!(kind(), HandshakeKind::Resumed, "TLS {name}");
        acceptor.reload().unwrap();
        assert_eq!(kind(), HandshakeKind::Full, "TLS {name}: tickets of before");
    }
}

#[test]
fn garbage_instead_of_a_client_hello_is_answered_by_an_alert() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for garbage in [&b"GET / HTTP/1.1\r\nHost: cache\r\n\r\n"[..], b"get a\r\n", &[0xff; 5000]] {
        let (stream, mut peer) = unix_pair();
        let mut driver = Driver::new(Session::tls(stream, &acceptor).unwrap());
        peer.write_all(garbage).unwrap();
        let error = driver.fill().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(is_not_tls(&error), "{error}");
        let mut alert = [0; 7];
        peer.read_exact(&mut alert).unwrap();
        assert_eq!(alert[0], 21, "the record is an alert: {alert:?}");
        assert_eq!(alert[5], 2, "a fatal one: {alert:?}");
    }
}

#[test]
fn a_byte_that_no_tls_begins_with_ends_the_session() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for byte in [b'P', b'\r', 0x80, 21] {
        let (stream, mut peer) = unix_pair();
        let mut driver = Driver::new(Session::tls(stream, &acceptor).unwrap());
        peer.write_all(&[byte]).unwrap();
        let error = driver.fill().unwrap_err();
        assert!(is_not_tls(&error), "{byte}: {error}");
    }
}

#[test]
fn a_handshake_that_is_broken_off_is_an_error_and_silence_is_none() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for (name, version) in VERSIONS {
        let config = client_config(&files.authority, version, None);
        let mut pair = Pair::new(&acceptor, &config);
        let hello = pair.client_flight();
        for part in [hello.len() / 2, hello.len()] {
            let (stream, mut peer) = unix_pair();
            let mut driver = Driver::new(Session::tls(stream, &acceptor).unwrap());
            peer.write_all(&hello[..part]).unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            let error = driver.fill().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "TLS {name}: {error}");
        }
    }
    let (stream, peer) = unix_pair();
    let mut driver = Driver::new(Session::tls(stream, &acceptor).unwrap());
    drop(peer);
    assert_eq!(driver.fill().unwrap(), Fill::Closed, "a port probe");
}

#[test]
fn a_client_that_distrusts_the_server_ends_the_handshake() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    let stranger = Authority::new("stranger");
    for (name, version) in VERSIONS {
        let mut pair = Pair::new(&acceptor, &client_config(&stranger, version, None));
        pair.client_sends();
        assert_eq!(pair.fill().unwrap(), Fill::Blocked);
        let error = pair.client_receives().unwrap_err();
        assert!(matches!(error, Error::InvalidCertificate(_)), "{error}");
        pair.client_sends();
        let error = pair.fill().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(matches!(reason(&error), Error::AlertReceived(_)), "TLS {name}: {error}");
    }
}

#[test]
fn an_old_version_is_refused() {
    let files = Files::new();
    let options = TlsOptions { min_version: TlsVersion::Tls13, ..files.options() };
    let acceptor = TlsAcceptor::new(options).unwrap();
    let [(_, tls12), (_, tls13)] = VERSIONS;
    let mut pair = Pair::new(&acceptor, &client_config(&files.authority, tls13, None));
    pair.handshake().unwrap();

    let mut pair = Pair::new(&acceptor, &client_config(&files.authority, tls12, None));
    let error = pair.handshake().unwrap_err();
    assert!(matches!(reason(&error), Error::PeerIncompatible(_)), "{error}");
    let alert = pair.client_receives().unwrap_err();
    assert_eq!(alert, Error::AlertReceived(AlertDescription::ProtocolVersion));
}

/// Runs a handshake with an acceptor that asks for client certificates. The results are the
/// session's and the client's.
fn authenticate(
    files: &Files,
    client_auth: ClientAuth,
    version: usize,
    identity: Option<&Identity>,
) -> (std::io::Result<()>, Result<usize, Error>) {
    let ca_file = Some(files.path("ca.pem"));
    let options = TlsOptions { ca_file, client_auth, ..files.options() };
    let acceptor = TlsAcceptor::new(options).unwrap();
    let config = client_config(&files.authority, VERSIONS[version].1, identity);
    let mut pair = Pair::new(&acceptor, &config);
    let server = pair.handshake();
    (server, pair.client_receives())
}

#[test]
fn client_certificates_are_verified() {
    let files = Files::new();
    let known = files.authority.issue("client");
    let unknown = Authority::new("stranger").issue("client");
    for version in [0, 1] {
        for client_auth in [ClientAuth::Optional, ClientAuth::Required] {
            let (server, client) = authenticate(&files, client_auth, version, Some(&known));
            server.unwrap();
            client.unwrap();

            let (server, client) = authenticate(&files, client_auth, version, Some(&unknown));
            let error = server.unwrap_err();
            let expected = Error::InvalidCertificate(CertificateError::UnknownIssuer);
            assert_eq!(*reason(&error), expected);
            assert_eq!(client, Err(Error::AlertReceived(AlertDescription::UnknownCA)));
        }
        let (server, client) = authenticate(&files, ClientAuth::Optional, version, None);
        server.unwrap();
        client.unwrap();

        let (server, client) = authenticate(&files, ClientAuth::Required, version, None);
        assert_eq!(*reason(&server.unwrap_err()), Error::NoCertificatesPresented);
        assert_eq!(client, Err(Error::AlertReceived(AlertDescription::CertificateRequired)));
    }
}

#[test]
fn a_failed_client_costs_nobody_else() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    let (stream, mut bad) = unix_pair();
    let mut refused = Session::tls(stream, &acceptor).unwrap();
    let mut pair = Pair::new(&acceptor, &client_config(&files.authority, VERSIONS[1].1, None));
    pair.client_sends();
    assert_eq!(pair.fill().unwrap(), Fill::Blocked, "in the middle of its handshake");
    UnixStream::write_all(&mut bad, &[0; 100]).unwrap();
    refused.fill(&mut pair.pool, 1).unwrap_err();
    drop(refused);
    pair.client_receives().unwrap();
    pair.handshake().unwrap();
}
