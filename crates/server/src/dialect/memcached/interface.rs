// SPDX-License-Identifier: Apache-2.0
//! [`Interface`]: an address of `-l`.

use crate::settings::Listen;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::str::FromStr;

/// An address of `-l` or the name of a host, with or without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// A host may have several.
    ips: Vec<IpAddr>,
    port: Option<u16>,
    plain: bool,
}

impl Interface {
    /// The IP addresses.
    #[must_use]
    pub fn ips(&self) -> &[IpAddr] {
        &self.ips
    }

    /// The listen addresses, with this port if none is given.
    pub fn at(&self, port: u16) -> impl Iterator<Item = Listen> {
        let port = self.port.unwrap_or(port);
        self.ips.iter().map(move |ip| self.listen(*ip, port))
    }

    /// The listen address of one of the IP addresses, with this port.
    #[must_use]
    pub fn listen(&self, ip: IpAddr, port: u16) -> Listen {
        Listen::Tcp { address: SocketAddr::new(ip, port), plain: self.plain }
    }
}

impl FromStr for Interface {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rest, plain) = match text.strip_prefix("notls:") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if let Some((_, why)) = FOREIGN.iter().find(|(prefix, _)| rest.starts_with(prefix)) {
            return Err((*why).to_owned());
        }
        let bare = rest.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = bare.parse() {
            return Ok(Interface { ips: vec![ip], port: None, plain });
        }
        if let Ok(address) = rest.parse::<SocketAddr>() {
            return Ok(Interface { ips: vec![address.ip()], port: Some(address.port()), plain });
        }
        let (host, port) = match rest.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
            Some((host, Ok(port))) => (host, Some(port)),
            Some((_, Err(_))) => return Err(EXPECTED.to_owned()),
            None => (rest, None),
        };
        let ips = addresses_of(host).ok_or(EXPECTED)?;
        Ok(Interface { ips, port, plain })
    }
}

/// All addresses, as the file that comes with some packages of memcached has them.
const ALL: &str = "*";

/// Why an address is refused.
const EXPECTED: &str =
    "expected an IP address or the name of a host, with :PORT if it differs from -p";

/// Prefixes that memcached has and that cannot be meant here, and why.
const FOREIGN: [(&str, &str); 4] = [
    ("btls:", "all TLS addresses treat clients alike: use -o ssl_verify_mode=0 instead of btls:"),
    ("mtls:", "all TLS addresses treat clients alike: use -o ssl_verify_mode=2 instead of mtls:"),
    ("proto[", "all addresses speak the same protocol: use -B instead of proto[…]"),
    ("tag", "addresses have no tags: leave the tag out"),
];

/// All addresses of IPv4, and of IPv6 if the system has that.
fn everywhere() -> Vec<IpAddr> {
    let mut ips = vec![IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    if UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        ips.push(Ipv6Addr::UNSPECIFIED.into());
    }
    ips
}

/// The IP addresses of a host. `localhost` is the address of IPv4 alone, as all defaults are.
fn addresses_of(host: &str) -> Option<Vec<IpAddr>> {
    if host == "localhost" {
        return Some(vec![IpAddr::from([127, 0, 0, 1])]);
    }
    if host == ALL {
        return Some(everywhere());
    }
    let mut ips = Vec::new();
    for address in (host, 0).to_socket_addrs().ok()? {
        if !ips.contains(&address.ip()) {
            ips.push(address.ip());
        }
    }
    (!ips.is_empty()).then_some(ips)
}
