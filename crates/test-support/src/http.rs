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

/// The value of a counter or gauge on `/metrics`; without labels, the sum over all that have the name.
#[track_caller]
pub fn metric(address: SocketAddr, name: &str) -> f64 {
    let (status, body) = get(address, "/metrics");
    assert_eq!(status, 200);
    value(&body, name).unwrap_or_else(|| panic!("{name} is not in:\n{body}"))
}

/// The value of a metric on a page of `/metrics`, summed over its labels; `None` if the page has no such name.
#[must_use]
pub fn value(page: &str, name: &str) -> Option<f64> {
    let values = page.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let is_own = rest.starts_with(' ') || rest.starts_with('{');
        if is_own { rest.rsplit(' ').next()?.parse::<f64>().ok() } else { None }
    });
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}
