// SPDX-License-Identifier: Apache-2.0
//! [`Listening`]: from `bind`, `port`, `tls-port` and `unixsocket` to addresses; [`shown`]: and back.

use super::conf::{Directive, Error};
use super::shared::shown_path;
use crate::settings::{ClientAuth, Listen, Sections, Server, Tls, TlsVersion};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// Redis's parameters about listening. They are collected first, because an address has no meaning
/// without the ports.
#[derive(Debug, Default)]
pub(super) struct Listening {
    bind: Option<Directive>,
    port: Option<u16>,
    tls_port: Option<u16>,
    tls_port_from: Option<Directive>,
    unix: Option<String>,
    /// The settings of TLS, which are used if there is a TLS port.
    tls: Tls,
    client_auth: Option<ClientAuth>,
}

impl Listening {
    /// Takes a directive about listening, whose value has the right type. Returns whether it is one.
    pub(super) fn take(&mut self, directive: &Directive) -> Result<bool, Error> {
        let value = directive.value.as_str();
        let path = || (!value.is_empty()).then(|| value.into());
        match directive.parameter.name {
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

    /// Overrides `server` and `tls` with the directives taken. `default_port` is the server's own.
    pub(super) fn apply(
        self,
        server: &mut Server,
        tls: &mut Tls,
        default_port: u16,
    ) -> Result<(), Error> {
        let is_said = self.bind.is_some() || self.port.is_some() || self.unix.is_some();
        if !is_said && self.tls_port.is_none() {
            return Ok(());
        }
        let hosts = match &self.bind {
            Some(bind) => hosts(bind)?,
            None => vec![server.host],
        };
        let port = self.port.or(server.port).unwrap_or(default_port);
        let tls_port = self.tls_port.unwrap_or(0);
        server.port = Some(port);
        server.listen.clear();
        let mut listen = |port: u16, plain: bool| {
            let addresses = hosts.iter().map(|host| SocketAddr::new(*host, port));
            server.listen.extend(addresses.map(|address| Listen::Tcp { address, plain }));
        };
        // Port 0 means no TCP port, unless there is nothing else to listen on: then the system chooses one.
        let is_alone = tls_port == 0 && self.unix.is_none();
        if port != 0 || is_alone {
            listen(port, true);
        }
        if tls_port != 0 {
            listen(tls_port, false);
            *tls = self.tls;
            tls.client_auth = self.client_auth.unwrap_or(ClientAuth::Required);
            if tls.client_auth == ClientAuth::None {
                // Redis uses it for replication, too, so many files name it although no client is checked.
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

/// The sections' settings about listening, as Redis's parameters.
pub(super) fn shown(sections: &Sections<'_>, port: u16) -> Vec<(&'static str, String)> {
    let Sections { server, tls, .. } = sections;
    let address = SocketAddr::new(server.host, server.port.unwrap_or(port));
    let default = [Listen::Tcp { address, plain: false }];
    let listen = if server.listen.is_empty() { &default[..] } else { &server.listen };
    let is_tls = tls.private_key.is_some();
    let mut bind: Vec<String> = Vec::new();
    let (mut port, mut tls_port, mut unix) = (0, 0, String::new());
    for place in listen {
        match place {
            Listen::Tcp { address, plain } => {
                let host = address.ip().to_string();
                if !bind.contains(&host) {
                    bind.push(host);
                }
                let first = if is_tls && !plain { &mut tls_port } else { &mut port };
                *first = if *first == 0 { address.port() } else { *first };
            }
            Listen::Unix(path) => unix = path.display().to_string(),
        }
    }
    let client_auth = match tls.client_auth {
        ClientAuth::None => "no",
        ClientAuth::Optional => "optional",
        ClientAuth::Required => "yes",
    };
    vec![
        ("bind", bind.join(" ")),
        ("port", port.to_string()),
        ("tls-port", tls_port.to_string()),
        ("unixsocket", unix),
        ("tls-cert-file", shown_path(tls.certificate_chain.as_ref())),
        ("tls-key-file", shown_path(tls.private_key.as_ref())),
        ("tls-ca-cert-file", shown_path(tls.ca_file.as_ref())),
        ("tls-auth-clients", client_auth.to_owned()),
    ]
}
