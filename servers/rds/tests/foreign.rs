// SPDX-License-Identifier: Apache-2.0
//! Clients that do not speak RESP fail at their first bytes, nothing of them is executed, and the log
//! names one of them.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod process;
}

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use test_support::PATIENCE;

/// What is answered to `bytes` before the server closes, and the client's address.
fn ended(address: SocketAddr, bytes: &[u8]) -> (Vec<u8>, SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answered = Vec::new();
    let end = stream.read_to_end(&mut answered);
    assert!(end.is_ok(), "{end:?} behind {} to {}", answered.escape_ascii(), bytes.escape_ascii());
    (answered, stream.local_addr().unwrap())
}

#[test]
fn other_protocols_fail_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = support::process::rds(&["--logfile", log.to_str().unwrap()]);
    let post = b"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET ssrf 1\r\n";
    let (answered, client) = ended(server.address, post);
    assert_eq!(answered, b"");
    let (answered, _) = ended(server.address, b"GET ssrf\r\nHost: x\r\nSET ssrf 1\r\n");
    assert_eq!(answered, b"$-1\r\n");
    let (answered, _) = ended(server.address, b"\x80");
    assert!(answered.starts_with(b"\x81\0\0\0\0\0\0\x81"), "{}", answered.escape_ascii());
    let (answered, _) = ended(server.address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
    assert_eq!(answered, b"-ERR Protocol error: this port does not speak TLS\r\n");
    let started = Instant::now();
    let written = || std::fs::read_to_string(&log).unwrap_or_default();
    while !written().contains("speaks TLS") {
        assert!(started.elapsed() < PATIENCE, "{}", written());
        std::thread::sleep(Duration::from_millis(20));
    }
    let lines = written();
    let lines: Vec<&str> = lines.lines().filter(|line| line.contains("HTTP")).collect();
    assert_eq!(lines.len(), 1, "many in a minute are one line: {lines:?}");
    assert!(lines[0].contains(&client.to_string()), "{client}: {lines:?}");
}
