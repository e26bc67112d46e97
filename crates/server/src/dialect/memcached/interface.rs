// SPDX-License-Identifier: Apache-2.0
//! [`Interface`]: an address of `-l`.

use crate::settings::Listen;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// An address of `-l`, with or without a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    ip: IpAddr,
    port: Option<u16>,
    plain: bool,
}

impl Interface {
    /// The address.
    #[must_use]
    pub fn ip(self) -> IpAddr {
        self.ip
    }

    /// The listen address, with this port if it has none.
    #[must_use]
    pub fn at(self, port: u16) -> Listen {
        self.elsewhere(self.port.unwrap_or(port))
    }

    /// The listen address, with this port.
    #[must_use]
    pub fn elsewhere(self, port: u16) -> Listen {
        Listen::Tcp { address: SocketAddr::new(self.ip, port), plain: self.plain }
    }
}

impl FromStr for Interface {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rest, plain) = match text.strip_prefix("notls:") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let named = rest.replacen("localhost", "127.0.0.1", 1);
        let bare = named.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = bare.parse() {
            return Ok(Interface { ip, port: None, plain });
        }
        match named.parse::<SocketAddr>() {
            Ok(address) => Ok(Interface { ip: address.ip(), port: Some(address.port()), plain }),
            Err(_) => Err("expected an IP address, with :PORT if it differs from -p".to_owned()),
        }
    }
}
