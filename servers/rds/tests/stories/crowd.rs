// SPDX-License-Identifier: Apache-2.0
//! Many subscribers, one of whom does not read.

use crate::{connect, process};
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const SUBSCRIBERS: usize = 1000;

/// Bytes of messages that may wait for a subscriber.
const LIMIT: usize = 64 << 10;

/// Bytes of a message.
const MESSAGE: usize = 1000;

/// Messages that are sent before it is seen to that all have come.
const ROUND: usize = 8;

/// Rounds until the one that does not read must have been closed.
const ROUNDS_MAX: usize = 200;

const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a command, and reads a reply of one line.
fn ask(stream: &mut TcpStream, command: &str) -> String {
    stream.write_all(format!("{command}\r\n").as_bytes()).unwrap();
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        reply.push(byte[0]);
    }
    String::from_utf8(reply).unwrap().trim_end().to_owned()
}

/// Reads as many bytes as are expected, which must be those.
fn expect(stream: &mut TcpStream, expected: &str) {
    let mut found = vec![0; expected.len()];
    stream.read_exact(&mut found).unwrap();
    assert_eq!(String::from_utf8_lossy(&found), expected);
}

fn subscribe(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"SUBSCRIBE news\r\n").unwrap();
    expect(stream, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
}

/// A connection for which the system keeps few bytes, on either side: what it keeps grows with the
/// size of a segment.
fn narrow(address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(1).unwrap();
    socket.set_tcp_mss(600).unwrap();
    socket.connect(&address.into()).unwrap();
    socket.into()
}

/// Message number `n`, and how a subscriber gets it.
fn message(n: usize) -> (String, String) {
    let text = format!("{n:0MESSAGE$}");
    let pushed = format!("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n${MESSAGE}\r\n{text}\r\n");
    (text, pushed)
}

fn who_does_not_read_is_closed_and_the_others_lose_nothing(workers: &str) {
    rlimit::increase_nofile_limit(4 * SUBSCRIBERS as u64).unwrap();
    let server = process::rds(&["--io-threads", workers]);
    let mut publisher = connect(server.address);
    publisher.set_read_timeout(Some(PATIENCE)).unwrap();
    let limit = format!("CONFIG SET client-output-buffer-limit \"pubsub {LIMIT} 0 0\"");
    assert_eq!(ask(&mut publisher, &limit), "+OK");
    let mut stalled = narrow(server.address);
    subscribe(&mut stalled);
    let mut others: Vec<_> = (1..SUBSCRIBERS).map(|_| connect(server.address)).collect();
    others.iter_mut().for_each(subscribe);
    let mut listeners = SUBSCRIBERS;
    let mut sent = 0;
    for round in 0.. {
        assert!(round < ROUNDS_MAX, "the one that does not read is closed in the end");
        let mut expected = String::new();
        for _ in 0..ROUND {
            let (text, pushed) = message(sent);
            let heard = ask(&mut publisher, &format!("PUBLISH news {text}"));
            let heard: usize = heard[1..].parse().unwrap();
            assert!(heard == listeners || heard == SUBSCRIBERS - 1);
            listeners = heard;
            expected.push_str(&pushed);
            sent += 1;
        }
        for other in &mut others {
            expect(other, &expected);
        }
        if listeners < SUBSCRIBERS {
            break;
        }
    }
    assert!(sent * MESSAGE > LIMIT, "not before so much waits");
    // What had left before its end still comes, and then the end.
    let started = Instant::now();
    let mut received = 0;
    loop {
        assert!(started.elapsed() < PATIENCE);
        match stalled.read(&mut [0; 4096]) {
            Ok(0) => break,
            Ok(n) => received += n,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(received < sent * MESSAGE);
    assert_eq!(ask(&mut publisher, "PUBLISH news last"), format!(":{}", SUBSCRIBERS - 1));
    for other in &mut others {
        expect(other, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$4\r\nlast\r\n");
    }
}

#[test]
fn one_worker_closes_who_does_not_read() {
    who_does_not_read_is_closed_and_the_others_lose_nothing("1");
}

#[test]
fn two_workers_close_who_does_not_read() {
    who_does_not_read_is_closed_and_the_others_lose_nothing("2");
}
