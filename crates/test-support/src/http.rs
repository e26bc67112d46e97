// SPDX-License-Identifier: Apache-2.0
//! The admin plane's pages.

use super::client::Client;
use std::net::SocketAddr;

/// The status code and the body of a page.
#[track_caller]
pub fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut client = Client::tcp(address);
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    client.send(request.as_bytes());
    let response = String::from_utf8(client.rest()).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").expect("a whole response");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.expect("a status code"), body.to_owned())
}

/// The value of a counter or gauge on `/metrics`.
#[track_caller]
pub fn metric(address: SocketAddr, name: &str) -> f64 {
    let (status, body) = get(address, "/metrics");
    assert_eq!(status, 200);
    let value = body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("{name} is not in:\n{body}")).parse().unwrap()
}
