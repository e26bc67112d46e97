// SPDX-License-Identifier: Apache-2.0
//! The acceptor's files: what is said about bad ones, and how they are replaced.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use session::{ClientAuth, Error, Fill, TlsAcceptor, TlsOptions};
use std::path::PathBuf;
use support::certificates::{Authority, Files, name};
use support::tls_client::{Pair, VERSIONS, client_config};

/// What an acceptor says about a pair of files.
fn refusal(files: &Files, certificate: &str, key: &str) -> (Error, String) {
    let options = TlsOptions::new(files.path(certificate), files.path(key));
    let error = TlsAcceptor::new(options).unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[test]
fn every_error_names_its_file_and_what_was_expected() {
    let files = Files::new();
    files.write("empty", "");
    files.write("binary", [0xff; 100]);
    files.write("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n");
    files.write("cut.key", "-----BEGIN PRIVATE KEY-----\nMIIB\n");
    files.write("odd.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    files.write("odd.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    files.write("encrypted.key", encrypted);
    files.write("other.key", files.authority.issue("localhost").key);
    let table = [
        ("absent.pem", "server.key", "absent.pem: cannot read the certificate: No such file"),
        ("server.pem", "absent.key", "absent.key: cannot read the private key: No such file"),
        (".", "server.key", "cannot read the certificate: Is a directory"),
        ("empty", "server.key", "empty: no certificate in this file: expected PEM"),
        ("binary", "server.key", "binary: no certificate in this file: expected PEM"),
        ("server.key", "server.key", "server.key: no certificate in this file: expected PEM"),
        ("cut.pem", "server.key", "cut.pem: the certificate is not valid PEM: missing section end"),
        ("odd.pem", "server.key", "odd.pem: unusable certificate: "),
        ("server.pem", "empty", "empty: no private key in this file: expected PEM"),
        ("server.pem", "server.pem", "server.pem: no private key in this file: expected PEM"),
        ("server.pem", "cut.key", "cut.key: the private key is not valid PEM: missing section"),
        ("server.pem", "odd.key", "odd.key: unusable private key: "),
        ("server.pem", "encrypted.key", "encrypted.key: the private key is encrypted: decrypt it"),
        ("server.pem", "other.key", "other.key: the private key does not match the first cert"),
    ];
    for (certificate, key, expected) in table {
        let (_, text) = refusal(&files, certificate, key);
        assert!(text.contains(expected), "{certificate} + {key}: {text:?} lacks {expected:?}");
    }
}

#[test]
fn errors_carry_the_paths() {
    let files = Files::new();
    files.write("other.key", files.authority.issue("localhost").key);
    match refusal(&files, "server.pem", "other.key").0 {
        Error::KeyMismatch { key, certificate } => {
            assert_eq!((name(&key), name(&certificate)), ("other.key", "server.pem"));
        }
        error => panic!("{error:?}"),
    }
    match refusal(&files, "absent.pem", "server.key").0 {
        Error::Read { path, source, .. } => {
            assert_eq!(path, files.path("absent.pem"));
            assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
        }
        error => panic!("{error:?}"),
    }
}

#[test]
fn client_authentication_needs_a_ca_and_a_ca_needs_it() {
    let files = Files::new();
    let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    files.write("odd.pem", odd);
    let text = |ca_file: Option<PathBuf>, client_auth| {
        let options = TlsOptions { ca_file, client_auth, ..files.options() };
        TlsAcceptor::new(options).unwrap_err().to_string()
    };
    for auth in [ClientAuth::Optional, ClientAuth::Required] {
        assert!(text(None, auth).contains("client_auth needs a ca_file"));
        let absent = text(Some(files.path("absent.pem")), auth);
        assert!(absent.contains("absent.pem: cannot read the CA certificate"), "{absent}");
        let key = text(Some(files.path("server.key")), auth);
        assert!(key.contains("server.key: no CA certificate in this file"), "{key}");
        let odd = text(Some(files.path("odd.pem")), auth);
        assert!(odd.contains("odd.pem: unusable CA certificate: "), "{odd}");
    }
    let unused = text(Some(files.path("ca.pem")), ClientAuth::None);
    assert!(unused.contains("ca.pem: this ca_file would verify nobody"), "{unused}");
}

/// The certificate a client of `acceptor` is shown.
fn shown(pair: &Pair) -> &[u8] {
    pair.client.peer_certificates().unwrap()[0].as_ref()
}

#[test]
fn a_reload_serves_the_new_certificate_to_all_and_disturbs_nobody() {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    let of_a_worker = acceptor.clone();
    for (_, version) in VERSIONS {
        let config = || client_config(&files.authority, version, None);
        let mut before = Pair::new(&of_a_worker, &config());
        let mut halfway = Pair::new(&of_a_worker, &config());
        before.handshake().unwrap();
        halfway.client_sends();
        assert_eq!(halfway.fill().unwrap(), Fill::Blocked);

        let renewed = files.renew();
        acceptor.reload().unwrap();

        let mut after = Pair::new(&of_a_worker, &config());
        after.handshake().unwrap();
        assert_eq!(shown(&after), renewed.chain()[0].as_ref());
        halfway.client_receives().unwrap();
        halfway.handshake().unwrap();
        assert_eq!(shown(&halfway), shown(&before), "begun before, ended as before");
        assert_ne!(shown(&before), shown(&after));
        before.client_writes(b"still here");
        before.client_sends();
        assert_eq!(before.fill().unwrap(), Fill::Some { drained: true });
        assert_eq!(before.take(), b"still here");
    }
}

#[test]
fn a_bad_reload_keeps_what_there_was() {
    let files = Files::new();
    let ca_file = Some(files.path("ca.pem"));
    let options = TlsOptions { ca_file, client_auth: ClientAuth::Optional, ..files.options() };
    let acceptor = TlsAcceptor::new(options).unwrap();
    let config = client_config(&files.authority, VERSIONS[1].1, None);
    let mut before = Pair::new(&acceptor, &config);
    before.handshake().unwrap();

    // A renewal that has come half way: the certificate is written, its key is not yet.
    let renewed = files.authority.issue("localhost");
    files.write("server.pem", &renewed.certificate);
    assert!(matches!(acceptor.reload(), Err(Error::KeyMismatch { .. })));
    let config = client_config(&files.authority, VERSIONS[1].1, None);
    let mut during = Pair::new(&acceptor, &config);
    during.handshake().unwrap();
    assert_eq!(shown(&during), shown(&before));

    files.write("server.key", &renewed.key);
    acceptor.reload().unwrap();
    let config = client_config(&files.authority, VERSIONS[1].1, None);
    let mut after = Pair::new(&acceptor, &config);
    after.handshake().unwrap();
    assert_eq!(shown(&after), renewed.chain()[0].as_ref());
}

#[test]
fn a_reload_replaces_the_trusted_clients() {
    let files = Files::new();
    let ca_file = Some(files.path("ca.pem"));
    let options = TlsOptions { ca_file, client_auth: ClientAuth::Required, ..files.options() };
    let acceptor = TlsAcceptor::new(options).unwrap();
    let client = files.authority.issue("client");
    let config = client_config(&files.authority, VERSIONS[1].1, Some(&client));
    Pair::new(&acceptor, &config).handshake().unwrap();
    files.write("ca.pem", Authority::new("stranger").pem);
    acceptor.reload().unwrap();
    // The client has a ticket of before, which must not let it in.
    Pair::new(&acceptor, &config).handshake().unwrap_err();
}

#[test]
fn what_a_chain_lacks_comes_from_the_authorities() {
    let files = Files::new();
    let middle = files.authority.intermediate("middle");
    let last = middle.intermediate("last");
    let server = last.issue("localhost");
    files.write("server.pem", &server.certificate);
    files.write("server.key", &server.key);
    let other = Authority::new("other");
    let ca_file = files.write(
        "ca.pem",
        [&other.pem, &middle.pem, &files.authority.pem, &last.pem].map(String::as_str).concat(),
    );
    let options =
        TlsOptions { ca_file: Some(ca_file), client_auth: ClientAuth::Optional, ..files.options() };
    let acceptor = TlsAcceptor::new(options).unwrap();
    for (_, version) in VERSIONS {
        // It trusts the root alone.
        let mut pair = Pair::new(&acceptor, &client_config(&files.authority, version, None));
        pair.handshake().unwrap();
        assert_eq!(pair.client.peer_certificates().unwrap().len(), 3, "the root is not sent");
    }
}

#[test]
fn a_key_is_read_whatever_kind_its_name_says() {
    let files = Files::new();
    let key = std::fs::read_to_string(files.path("server.key")).unwrap();
    for kind in ["RSA", "EC"] {
        files.write("server.key", key.replace(" PRIVATE", &format!(" {kind} PRIVATE")));
        assert!(TlsAcceptor::new(files.options()).is_ok(), "{kind}");
    }
}
