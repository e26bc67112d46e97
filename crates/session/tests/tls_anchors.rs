// SPDX-License-Identifier: Apache-2.0
//! Certificates that are themselves in the CA file: trusted while they are valid, from whoever has their key.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::Pool;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair};
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, ClientConfig, Error, SupportedProtocolVersion};
use session::{ClientAuth, PeerTls, Session, TlsAcceptor, TlsConnector, TlsOptions, Trust};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use support::certificates::{Files, Identity};
use support::tls_client::{Pair, VERSIONS, client_config, reason};
use support::{Driver, tcp_pair, unix_pair};

/// A client's configuration that shows the certificate of `shown` and signs with the key of `signer`.
fn with_key_of(
    files: &Files,
    version: &'static SupportedProtocolVersion,
    shown: &Identity,
    signer: &Identity,
) -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(&client_config(&files.authority, version, None));
    let key = any_supported_type(&signer.private_key()).unwrap();
    let resolver = SingleCertAndKey::from(CertifiedKey::new(shown.chain(), key));
    config.client_auth_cert_resolver = Arc::new(resolver);
    Arc::new(config)
}

/// What a server, whose CA file has this text, thinks of a client, for each version and kind of client
/// authentication.
fn verdicts(
    files: &Files,
    ca: &str,
    shown: &Identity,
    signer: &Identity,
) -> Vec<(String, io::Result<()>)> {
    let ca_file = Some(files.write("anchors.pem", ca));
    let mut verdicts = Vec::new();
    for client_auth in [ClientAuth::Optional, ClientAuth::Required] {
        let options = TlsOptions { ca_file: ca_file.clone(), client_auth, ..files.options() };
        let acceptor = TlsAcceptor::new(options).unwrap();
        for (name, version) in VERSIONS {
            let config = with_key_of(files, version, shown, signer);
            let verdict = Pair::new(&acceptor, &config).handshake();
            verdicts.push((format!("TLS {name}, {client_auth:?}"), verdict));
        }
    }
    verdicts
}

/// That the client is refused each time, for what is `expected`.
fn refused(verdicts: Vec<(String, io::Result<()>)>, expected: impl Fn(&CertificateError) -> bool) {
    for (case, verdict) in verdicts {
        let error = verdict.expect_err(&case);
        let Error::InvalidCertificate(found) = reason(&error) else { panic!("{case}: {error}") };
        assert!(expected(found), "{case}: {found:?}");
    }
}

#[test]
fn a_client_whose_certificate_is_in_the_file_is_trusted() {
    let files = Files::new();
    let client = Identity::self_signed("client", 2020..2090);
    let others = [&files.authority.pem[..], &Identity::self_signed("b", 2020..2090).certificate];
    for ca in [client.certificate.clone(), others.concat() + &client.certificate] {
        for (case, verdict) in verdicts(&files, &ca, &client, &client) {
            verdict.expect(&case);
        }
    }
}

#[test]
fn a_client_with_another_certificate_of_the_same_name_is_refused() {
    let files = Files::new();
    let client = Identity::self_signed("client", 2020..2090);
    let other = Identity::self_signed("client", 2020..2090);
    refused(verdicts(&files, &client.certificate, &other, &other), |error| {
        *error == CertificateError::UnknownIssuer
    });
}

#[test]
fn a_client_without_the_key_of_the_certificate_is_refused() {
    let files = Files::new();
    let client = Identity::self_signed("client", 2020..2090);
    let thief = Identity::self_signed("client", 2020..2090);
    let found = verdicts(&files, &client.certificate, &client, &thief);
    refused(found, |error| *error == CertificateError::BadSignature);
}

#[test]
fn a_certificate_in_the_file_is_refused_out_of_its_time() {
    let files = Files::new();
    let past = Identity::self_signed("client", 2010..2020);
    refused(verdicts(&files, &past.certificate, &past, &past), |error| {
        matches!(error, CertificateError::ExpiredContext { .. })
    });
    let future = Identity::self_signed("client", 2080..2090);
    refused(verdicts(&files, &future.certificate, &future, &future), |error| {
        matches!(error, CertificateError::NotValidYetContext { .. })
    });
}

#[test]
fn a_certificate_in_the_file_that_is_for_servers_only_is_refused() {
    let files = Files::new();
    let mut params = CertificateParams::new(vec!["client".to_owned()]).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().pem();
    let server = Identity { certificate, key: key.serialize_pem() };
    refused(verdicts(&files, &server.certificate, &server, &server), |error| {
        matches!(error, CertificateError::InvalidPurposeContext { .. })
    });
}

/// As `openssl verify -purpose` has it.
#[test]
fn an_authority_in_the_file_is_trusted_for_its_purposes_only() {
    use ExtendedKeyUsagePurpose::{Any, ClientAuth, ServerAuth};
    let files = Files::new();
    let of = |purposes| Identity::self_signed_for("localhost", 2020..2090, purposes);
    for (purposes, is_client, is_server) in [
        (vec![ServerAuth], false, true),
        (vec![ClientAuth], true, false),
        (vec![ServerAuth, ClientAuth], true, true),
        (vec![Any], false, false),
    ] {
        let shown = of(purposes.clone());
        let found = verdicts(&files, &shown.certificate, &shown, &shown);
        if is_client {
            found.into_iter().for_each(|(case, verdict)| verdict.expect(&case));
        } else {
            refused(found, |error| *error == CertificateError::InvalidPurpose);
        }
        let (acceptor, ca) = server(&files, &shown);
        let verdict = believes(&acceptor, &ca, "localhost");
        assert_eq!(verdict.is_ok(), is_server, "{purposes:?}: {verdict:?}");
    }
}

/// An acceptor that shows this certificate, and the file of the certificate.
fn server(files: &Files, shown: &Identity) -> (TlsAcceptor, PathBuf) {
    let chain = files.write("own.pem", &shown.certificate);
    let key = files.write("own.key", &shown.key);
    (TlsAcceptor::new(TlsOptions::new(chain.clone(), key)).unwrap(), chain)
}

/// Sends a word through an encrypted connection of another server and back.
fn echoed(peer: &PeerTls, acceptor: &TlsAcceptor) -> Result<[u8; 4], session::Error> {
    let (near, far) = tcp_pair();
    let mut driver = Driver::new(Session::tls(near, acceptor).unwrap());
    let echo = thread::spawn(move || {
        let _ = driver.echo();
    });
    let word = peer.connect(far, "127.0.0.1").map(|mut stream| {
        let mut word = [0; 4];
        stream.write_all(b"ping").unwrap();
        stream.read_exact(&mut word).unwrap();
        word
    });
    echo.join().unwrap();
    word
}

/// Whether a client that trusts the CA file and asks for `name` ends its handshake.
fn believes(acceptor: &TlsAcceptor, ca: &Path, name: &str) -> io::Result<()> {
    let connector = TlsConnector::new(name, &Trust::CaFile(ca.to_owned())).unwrap();
    let (near, far) = unix_pair();
    far.set_nonblocking(true).unwrap();
    let far = mio::net::UnixStream::from_std(far).into();
    let mut client = Session::tls_client(far, &connector).unwrap();
    let mut server = Session::tls(near, acceptor).unwrap();
    let mut pool = Pool::new(16 << 10, 16 << 10, 4);
    // What one writes is there for the other at once.
    for _ in 0..10 {
        for session in [&mut client, &mut server] {
            let _ = session.flush(&mut pool)?;
            let _ = session.fill(&mut pool, 1)?;
        }
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    Ok(())
}

#[test]
fn a_server_whose_certificate_is_in_the_file_is_trusted_by_its_name() {
    let files = Files::new();
    let valid = Identity::self_signed("localhost", 2020..2090);
    let past = Identity::self_signed("localhost", 2010..2020);
    let (acceptor, ca) = server(&files, &valid);
    believes(&acceptor, &ca, "localhost").unwrap();
    let error = believes(&acceptor, &ca, "elsewhere.example").unwrap_err();
    let Error::InvalidCertificate(found) = reason(&error) else { panic!("{error}") };
    assert!(matches!(found, CertificateError::NotValidForNameContext { .. }), "{found:?}");
    let (acceptor, ca) = server(&files, &past);
    let error = believes(&acceptor, &ca, "localhost").unwrap_err();
    let Error::InvalidCertificate(found) = reason(&error) else { panic!("{error}") };
    assert!(matches!(found, CertificateError::ExpiredContext { .. }), "{found:?}");
}

#[test]
fn another_server_whose_certificate_is_in_the_file_is_trusted() {
    let files = Files::new();
    let own = Identity::self_signed("elsewhere.example", 2020..2090);
    let other = Identity::self_signed("elsewhere.example", 2020..2090);
    let past = Identity::self_signed("elsewhere.example", 2010..2020);
    let (acceptor, ca_file) = server(&files, &own);
    let peer = PeerTls { ca_file, own: None };
    assert_eq!(echoed(&peer, &acceptor).unwrap(), *b"ping");
    let ca_file = files.write("other.pem", &other.certificate);
    echoed(&PeerTls { ca_file, own: None }, &acceptor).unwrap_err();
    let (acceptor, ca_file) = server(&files, &past);
    echoed(&PeerTls { ca_file, own: None }, &acceptor).unwrap_err();
}
