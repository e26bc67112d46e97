// SPDX-License-Identifier: Apache-2.0
//! The file of ports: which ones the server listens on, for whoever started it with those that the system chose.
//!
//! It has a line for each address, as memcached writes it for `MEMCACHED_PORT_FILENAME`: `TCP INET: 11211`. It appears
//! under its name when it is complete, so that who waits for it may read it at once.

use reactor::Endpoint;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::{fs, io};

/// Writes the file. Without ports, as with unix sockets alone, there is none.
pub(crate) fn write(
    path: &Path,
    endpoints: &[Endpoint],
    datagrams: &[SocketAddr],
) -> io::Result<()> {
    let text = lines(endpoints, datagrams);
    if text.is_empty() {
        return Ok(());
    }
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".lck");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}

fn lines(endpoints: &[Endpoint], datagrams: &[SocketAddr]) -> String {
    let tcp = endpoints.iter().filter_map(|endpoint| match endpoint {
        Endpoint::Tcp(address) => Some(("TCP", address)),
        Endpoint::Unix { .. } => None,
    });
    let udp = datagrams.iter().map(|address| ("UDP", address));
    tcp.chain(udp).fold(String::new(), |mut text, (transport, address)| {
        let family = if address.is_ipv4() { "INET" } else { "INET6" };
        // A string takes whatever is written to it.
        let _ = writeln!(text, "{transport} {family}: {}", address.port());
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_has_a_line_as_memcached_writes_it() {
        let endpoints = [
            Endpoint::Tcp("127.0.0.1:1".parse().unwrap()),
            Endpoint::Unix { path: "/x".into(), mode: 0o700 },
            Endpoint::Tcp("[::1]:22".parse().unwrap()),
        ];
        let datagrams = ["127.0.0.1:333".parse().unwrap(), "[::1]:4444".parse().unwrap()];
        let expected = "TCP INET: 1\nTCP INET6: 22\nUDP INET: 333\nUDP INET6: 4444\n";
        assert_eq!(lines(&endpoints, &datagrams), expected);
        assert_eq!(lines(&endpoints[1..2], &[]), "");
    }
}
