// SPDX-License-Identifier: Apache-2.0
//! Clients that disconnect without warning: the server keeps nothing of them. Those that send too much are counted.

use crate::{connect, process};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};
use test_support::PATIENCE;

/// Clients of each kind that come and go.
const CLIENTS: usize = 20;

fn client(address: SocketAddr, lines: &[&str]) -> TcpStream {
    let mut stream = connect(address);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    for line in lines {
        stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }
    stream
}

/// As [`client`], when it has been answered up to this.
fn answered(address: SocketAddr, lines: &[&str], end: &str) -> TcpStream {
    let mut stream = client(address, lines);
    let mut replies = Vec::new();
    while !replies.ends_with(end.as_bytes()) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        replies.push(byte[0]);
    }
    stream
}

/// The value of a line of INFO.
fn info(control: &mut TcpStream, name: &str) -> String {
    control.write_all(b"INFO\r\n").unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n") {
        let mut byte = [0];
        control.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let len: usize = std::str::from_utf8(&head[1..]).unwrap().trim_end().parse().unwrap();
    let mut text = vec![0; len + 2];
    control.read_exact(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
}

/// Waits until a line of INFO has a value.
pub(crate) fn await_info(control: &mut TcpStream, name: &str, value: usize) {
    let started = Instant::now();
    loop {
        let found = info(control, name);
        if found == value.to_string() {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{name}: {found} instead of {value}");
        sleep(Duration::from_millis(5));
    }
}

fn clients_that_go_leave_nothing(workers: &str) {
    let server = process::rds(&["--io-threads", workers]);
    let mut control = client(server.address, &[]);
    for _ in 0..3 {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(answered(server.address, &["SUBSCRIBE a b", "PSUBSCRIBE c*"], ":3\r\n"));
            // Otherwise its SET may be one of those that the pause holds.
            clients.push(answered(server.address, &["WATCH k", "MULTI", "SET k 1"], "+QUEUED\r\n"));
            clients.push(client(server.address, &["BLPOP list 0"]));
            clients.push(answered(server.address, &["MONITOR"], "+OK\r\n"));
        }
        await_info(&mut control, "blocked_clients", CLIENTS);
        await_info(&mut control, "pubsub_channels", 2);
        await_info(&mut control, "connected_clients", 4 * CLIENTS + 1);
        control.write_all(b"CLIENT PAUSE 1000000 WRITE\r\n").unwrap();
        control.read_exact(&mut [0; 5]).unwrap();
        for _ in 0..CLIENTS {
            clients.push(client(server.address, &["SET k 1"]));
        }
        await_info(&mut control, "blocked_clients", 2 * CLIENTS);
        drop(clients);
        for name in ["blocked_clients", "pubsub_channels", "pubsub_patterns"] {
            await_info(&mut control, name, 0);
        }
        await_info(&mut control, "connected_clients", 1);
        control.write_all(b"CLIENT UNPAUSE\r\nRPUSH list x\r\nDEL list\r\nEXISTS k\r\n").unwrap();
        let mut replies = [0; 17];
        control.read_exact(&mut replies).unwrap();
        assert_eq!(&replies, b"+OK\r\n:1\r\n:1\r\n:0\r\n");
    }
}

#[test]
fn one_worker_forgets_clients_that_go() {
    clients_that_go_leave_nothing("1");
}

#[test]
fn two_workers_forget_clients_that_go() {
    clients_that_go_leave_nothing("2");
}

#[test]
fn a_request_over_the_limit_is_counted() {
    let server = process::rds(&["--client-query-buffer-limit", "1mb"]);
    let mut control = client(server.address, &[]);
    await_info(&mut control, "client_query_buffer_limit_disconnections", 0);
    let mut broken = answered(server.address, &["NOSUCH", "*x"], "invalid multibulk length\r\n");
    assert_eq!(broken.read(&mut [0]).unwrap(), 0, "it is closed");
    let mut large = client(server.address, &["*2", "$4", "ECHO", "$1048576"]);
    let mut reply = String::new();
    large.read_to_string(&mut reply).unwrap();
    assert_eq!(reply, "-ERR Protocol error: request exceeds the limit of the server\r\n");
    await_info(&mut control, "client_query_buffer_limit_disconnections", 1);
    await_info(&mut control, "client_output_buffer_limit_disconnections", 0);
    control.write_all(b"CONFIG RESETSTAT\r\n").unwrap();
    control.read_exact(&mut [0; 5]).unwrap();
    await_info(&mut control, "client_query_buffer_limit_disconnections", 0);
}
