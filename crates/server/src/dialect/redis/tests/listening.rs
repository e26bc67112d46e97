// SPDX-License-Identifier: Apache-2.0
//! From parameters to addresses.

use super::super::conf::{Directive, Error, Place};
use super::super::listening::Listening;
use super::super::names::ParameterTable;
use super::Few;
use crate::settings::{ClientAuth, Server, Tls, TlsVersion};

fn apply(lines: &[(&str, &str)]) -> Result<(Server, Tls), Error> {
    let (mut server, mut tls) = (Server::default(), Tls::default());
    let mut listening = Listening::default();
    for (name, value) in lines {
        let parameter = Few::find(name.as_bytes()).expect("the table has it");
        let value = (*value).to_owned();
        let directive = Directive { parameter, value, place: Place::Flag };
        assert!(listening.take(&directive)?, "{name}");
    }
    listening.apply(&mut server, &mut tls, 6379)?;
    Ok((server, tls))
}

fn listen(lines: &[(&str, &str)]) -> String {
    let (server, _) = apply(lines).expect("right directives");
    server.listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn addresses_and_ports_go_together() {
    assert_eq!(listen(&[("port", "7000")]), "notls:127.0.0.1:7000");
    assert_eq!(listen(&[("bind", "* ::*")]), "notls:0.0.0.0:6379 notls:[::]:6379");
    assert_eq!(
        listen(&[("bind", "127.0.0.1 -127.0.0.2"), ("port", "1")]),
        "notls:127.0.0.1:1 notls:127.0.0.2:1"
    );
    assert_eq!(listen(&[("bind", "127.0.0.1 -192.0.2.1")]), "notls:127.0.0.1:6379");
    assert_eq!(listen(&[("unixsocket", "/x")]), "notls:127.0.0.1:6379 unix:/x");
    assert_eq!(listen(&[("unixsocket", "/x"), ("port", "0")]), "unix:/x");
    assert_eq!(listen(&[("port", "0")]), "notls:127.0.0.1:0");
    assert_eq!(listen(&[]), "");
}

#[test]
fn tls_has_a_port_of_its_own() {
    let lines = [("tls-port", "7"), ("tls-cert-file", "c"), ("tls-key-file", "k")];
    let error = apply(&lines).expect_err("clients are checked by default").to_string();
    assert!(error.contains("tls-port \"7\": clients cannot be checked"), "{error}");
    let error = apply(&lines[..1]).expect_err("there is no certificate").to_string();
    assert!(error.contains("tls-cert-file and tls-key-file"), "{error}");
    let both = [&lines[..], &[("tls-auth-clients", "no")]].concat();
    assert_eq!(listen(&both), "notls:127.0.0.1:6379 127.0.0.1:7");
    let only = [&both[..], &[("port", "0"), ("tls-protocols", "TLSv1.3")]].concat();
    let (server, tls) = apply(&only).expect("right");
    assert_eq!(server.listen.len(), 1);
    assert_eq!((tls.min_version, tls.client_auth), (TlsVersion::Tls13, ClientAuth::None));
    let unused = [&both[..], &[("tls-ca-cert-file", "a")]].concat();
    assert_eq!(apply(&unused).expect("right").1.ca_file, None, "nobody is checked by it");
    let checked = [&lines[..], &[("tls-ca-cert-file", "a")]].concat();
    assert_eq!(apply(&checked).expect("right").1.client_auth, ClientAuth::Required);
    let (_, tls) = apply(&[("tls-cert-file", "c"), ("port", "1")]).expect("right");
    assert!(tls.certificate_chain.is_none(), "no port, no TLS");
}

#[test]
fn what_is_no_address_or_version_is_refused() {
    for (name, value) in [("bind", "nowhere"), ("tls-protocols", "TLSv1.1")] {
        assert!(apply(&[(name, value)]).is_err(), "{name}");
    }
}
