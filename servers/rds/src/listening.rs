// SPDX-License-Identifier: Apache-2.0
//! [`Listening`]: from `bind`, `port`, `tls-port` and `unixsocket` to addresses.

use crate::config::PORT;
use crate::directive::{Directive, Error};
use server::settings::{ClientAuth, Listen, Server, Tls, TlsVersion};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// What Redis's parameters say about where to listen. They go together: an address means nothing
/// without the ports.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    bind: Option<Directive>,
    port: Option<u16>,
    tls_port: Option<u16>,
    tls_port_from: Option<Directive>,
    unix: Option<String>,
    /// Certificates and such, which count if there is a port for TLS.
    tls: Tls,
    client_auth: Option<ClientAuth>,
}

impl Listening {
    /// Takes a directive with a value of the right kind, if it is about this; whether it is.
    pub(crate) fn take(&mut self, directive: &Directive) -> Result<bool, Error> {
        let value = directive.value.as_str();
        let path = || (!value.is_empty()).then(|| value.into());
        match directive.parameter.name() {
            "bind" => self.bind = Some(directive.clone()),
            "port" => self.port = value.parse().ok(),
            "tls-port" => {
                self.tls_port = value.parse().ok();
                self.tls_port_from = Some(directive.clone());
            }
            "unixsocket" => self.unix = path(),
            "tls-cert-file" => self.tls.certificate_chain = path().map(|path: String| path.into()),
            "tls-key-file" => self.tls.private_key = path().map(|path: String| path.into()),
            "tls-ca-cert-file" => self.tls.ca_file = path().map(|path: String| path.into()),
            "tls-auth-clients" => {
                self.client_auth = Some(match value {
                    "no" => ClientAuth::None,
                    "optional" => ClientAuth::Optional,
                    _ => ClientAuth::Required,
                });
            }
            "tls-protocols" => self.tls.min_version = version(directive)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Puts what was taken in place of what `server` and `tls` say.
    pub(crate) fn apply(self, server: &mut Server, tls: &mut Tls) -> Result<(), Error> {
        let is_said = self.bind.is_some() || self.port.is_some() || self.unix.is_some();
        if !is_said && self.tls_port.is_none() {
            return Ok(());
        }
        let hosts = match &self.bind {
            Some(bind) => hosts(bind)?,
            None => vec![server.host],
        };
        let port = self.port.or(server.port).unwrap_or(PORT);
        let tls_port = self.tls_port.unwrap_or(0);
        server.port = Some(port);
        server.listen.clear();
        let mut listen = |port: u16, plain: bool| {
            let addresses = hosts.iter().map(|host| SocketAddr::new(*host, port));
            server.listen.extend(addresses.map(|address| Listen::Tcp { address, plain }));
        };
        // Port 0 is none, unless nothing else is said: then the system chooses one.
        let is_alone = tls_port == 0 && self.unix.is_none();
        if port != 0 || is_alone {
            listen(port, true);
        }
        if tls_port != 0 {
            listen(tls_port, false);
            *tls = self.tls;
            tls.client_auth = self.client_auth.unwrap_or(ClientAuth::Required);
            if tls.client_auth == ClientAuth::None {
                // Redis has it for replication, too, so many files name it where no client is checked.
                tls.ca_file = None;
            }
            let problem = if tls.certificate_chain.is_none() || tls.private_key.is_none() {
                Some("TLS needs tls-cert-file and tls-key-file")
            } else if tls.client_auth != ClientAuth::None && tls.ca_file.is_none() {
                Some("clients cannot be checked (tls-auth-clients) without tls-ca-cert-file")
            } else {
                None
            };
            if let (Some(problem), Some(from)) = (problem, self.tls_port_from) {
                return Err(from.refused(problem));
            }
        }
        server.listen.extend(self.unix.map(|path| Listen::Unix(path.into())));
        Ok(())
    }
}

/// The addresses of `bind`. One with a `-` in front may be missing on this machine.
fn hosts(bind: &Directive) -> Result<Vec<IpAddr>, Error> {
    let mut hosts = Vec::new();
    for word in bind.value.split_ascii_whitespace() {
        let (name, is_optional) = match word.strip_prefix('-') {
            Some(name) => (name, true),
            None => (word, false),
        };
        let host = match name {
            "*" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            "::*" => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
            name => {
                let problem = "expected IP addresses, with - in front of those that may be missing";
                name.parse().map_err(|_| bind.refused(problem))?
            }
        };
        if !is_optional || TcpListener::bind((host, 0)).is_ok() {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// The oldest version of TLS that is named.
fn version(protocols: &Directive) -> Result<TlsVersion, Error> {
    let words = protocols.value.to_ascii_lowercase();
    let mut oldest = None;
    for word in words.split_ascii_whitespace() {
        oldest = match word {
            "tlsv1.2" => Some(TlsVersion::Tls12),
            "tlsv1.3" => oldest.or(Some(TlsVersion::Tls13)),
            _ => return Err(protocols.refused("expected TLSv1.2, TLSv1.3 or both")),
        };
    }
    Ok(oldest.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directive::Place;
    use protocol_resp::service::config::parameter;

    fn apply(lines: &[(&str, &str)]) -> Result<(Server, Tls), Error> {
        let (mut server, mut tls) = (Server::default(), Tls::default());
        let mut listening = Listening::default();
        for (name, value) in lines {
            let parameter = parameter(name.as_bytes()).expect("the table has it");
            let value = (*value).to_owned();
            let directive = Directive { parameter, value, place: Place::Flag };
            assert!(listening.take(&directive)?, "{name}");
        }
        listening.apply(&mut server, &mut tls)?;
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
}
