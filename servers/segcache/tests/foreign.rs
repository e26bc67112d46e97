// SPDX-License-Identifier: Apache-2.0
//! Clients that speak another protocol than the port's: each gets an error and is closed at its first bytes,
//! long before any time limit; nothing that it sent is executed, and the log names one of them.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod ports;
}

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::ports::{PATIENCE, Server};

/// What a client hears that binary memcache is not spoken.
const NO_BINARY: &[u8] =
    b"\x81\0\0\0\0\0\0\x81\0\0\0\x23\0\0\0\0\0\0\0\0\0\0\0\0binary memcache is not spoken here.";

/// What is told of a key that is not there, in binary memcache.
const NOT_FOUND: &[u8] = b"\x81\0\0\0\0\0\0\x01\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0Not found";

/// The first bytes of a TLS client.
const HELLO: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

/// The lines of the server's log that contain `text`, when there is one.
fn log_of(server: &Server, text: &str) -> Vec<String> {
    let started = Instant::now();
    loop {
        let log = fs::read_to_string(server.folder.path().join("log")).unwrap_or_default();
        let lines = log.lines().filter(|line| line.contains(text)).map(str::to_owned);
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            return lines;
        }
        assert!(started.elapsed() < PATIENCE, "nothing in the log of {text}:\n{log}");
        sleep(Duration::from_millis(20));
    }
}

/// What is answered to `bytes` before the connection closes, and the client's address. The client does
/// not close its side.
fn ended(address: SocketAddr, bytes: &[u8]) -> (Vec<u8>, SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answered = Vec::new();
    let end = stream.read_to_end(&mut answered);
    assert!(end.is_ok(), "{end:?} behind {} to {}", answered.escape_ascii(), bytes.escape_ascii());
    (answered, stream.local_addr().unwrap())
}

#[track_caller]
fn assert_ended(address: SocketAddr, bytes: &[u8], expected: &[u8]) -> SocketAddr {
    let (answered, client) = ended(address, bytes);
    let shown = answered.escape_ascii();
    assert_eq!(answered, expected, "{shown} to {}", bytes.escape_ascii());
    client
}

/// Answers what is asked, and ends the connection in order.
fn ask(address: SocketAddr, bytes: &[u8], quit: &[u8]) -> Vec<u8> {
    ended(address, &[bytes, quit].concat()).0
}

#[test]
fn other_protocols_fail_at_once_on_memcaches_port() {
    let server = Server::start(&["-B", "ascii"], "");
    let to = server.memcache;
    let get = [b"\x80\0\0\x01\0\0\0\0\0\0\0\x01", &[0; 12][..], b"k"].concat();
    assert_ended(to, b"\x80", NO_BINARY);
    assert_ended(to, &get, NO_BINARY);
    let client = assert_ended(to, HELLO, b"CLIENT_ERROR this port does not speak TLS\r\n");
    let lines = log_of(&server, "speaks TLS");
    assert!(lines[0].contains(&client.to_string()), "{client}: {lines:?}");
    let refused = b"-ERR Protocol error: this port speaks memcache, not RESP\r\n";
    let set = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$22\r\nset injected 0 0 1\r\n1\r\n\r\n";
    assert_ended(to, set, refused);
    let post = b"POST / HTTP/1.1\r\nHost: x\r\n\r\nset injected 0 0 1\r\n1\r\n";
    assert_ended(to, post, b"");
    assert_eq!(ask(to, b"get injected\r\n", b"quit\r\n"), b"END\r\n");
    // A port of binary memcache alone closes whatever else it is sent.
    let server = Server::start(&["-B", "binary"], "");
    let to = server.memcache;
    for bytes in [&b"g"[..], b"get injected\r\n", HELLO, set, post, b"\r\n"] {
        assert_ended(to, bytes, b"");
    }
    let quit = [b"\x80\x07", &[0; 22][..]].concat();
    assert_ended(to, &quit, &[b"\x81\x07", &[0; 22][..]].concat());
    // One of both tells by the first byte of a connection.
    let server = Server::start(&[], "");
    let to = server.memcache;
    assert_ended(to, &quit, &[b"\x81\x07", &[0; 22][..]].concat());
    assert_ended(to, &[&get[..], b"get k\r\n", &quit].concat(), NOT_FOUND);
    // An inline command of RESP is a line: it is answered, and the connection goes on.
    assert_eq!(ask(to, b"PING\r\n", b"quit\r\n"), b"ERROR\r\n");
}

#[test]
fn other_protocols_fail_at_once_on_the_port_of_resp() {
    let server = Server::start(&[], "");
    let to = server.resp;
    assert_ended(to, b"\x80", NO_BINARY);
    assert_ended(to, HELLO, b"-ERR Protocol error: this port does not speak TLS\r\n");
    let posts: [&[u8]; 4] = [
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET ssrf 1\r\n",
        b"post / \r\nSET ssrf 1\r\n",
        b"Host: x\r\n\r\nSET ssrf 1\r\n",
        b"*2\r\n$4\r\nPOST\r\n$1\r\n/\r\nSET ssrf 1\r\n",
    ];
    let clients = posts.map(|post| assert_ended(to, post, b""));
    assert_ended(to, b"PING\r\nPOST /\r\nSET ssrf 1\r\n", b"+PONG\r\n");
    // What came before it is answered; of GET and an unknown header all else is executed, as by Redis.
    let get = ask(to, b"GET /\r\n", b"Host: x\r\nSET ssrf 1\r\n");
    assert_eq!(get, b"$-1\r\n");
    assert_eq!(ask(to, b"GET ssrf\r\n", b"POST\r\n"), b"$-1\r\n");
    let lines = log_of(&server, "HTTP");
    assert_eq!(lines.len(), 1, "many in a minute are one line: {lines:?}");
    assert!(lines[0].contains(&clients[0].to_string()), "{clients:?}: {lines:?}");
    // Text memcache is RESP's inline form: it is answered at once, and its client sees that it is wrong.
    let set = ask(to, b"set k 0 0 1\r\n", b"POST\r\n");
    assert_eq!(set, b"-ERR syntax error\r\n");
}

/// Writes a certificate and its key into `folder`; the section that names them.
fn certificate(folder: &Path) -> String {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&cert, certified.cert.pem()).unwrap();
    fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    format!("[tls]\ncertificate_chain = {cert:?}\nprivate_key = {key:?}\n")
}

#[test]
fn what_is_no_tls_fails_at_once_on_a_port_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[], &certificate(folder.path()));
    for to in [server.memcache, server.resp] {
        for bytes in [&b"get k\r\n"[..], b"*1\r\n$4\r\nPING\r\n", b"\r\n", b"P", b"\x80"] {
            let (answered, _) = ended(to, bytes);
            // A fatal alert, if there was enough to answer.
            let is_alert = matches!(answered[..], [21, 3, _, 0, 2, 2, _]);
            assert!(is_alert || answered.is_empty(), "{}", answered.escape_ascii());
            assert!(is_alert || bytes.len() < 5, "no alert to {}", bytes.escape_ascii());
        }
    }
    let lines = log_of(&server, "no TLS");
    assert_eq!(lines.len(), 1, "many in a minute are one line: {lines:?}");
}
