// SPDX-License-Identifier: Apache-2.0
//! Many subscribers, some of whom speak RESP3. One of them does not read, or reads late.

use crate::{connect, process};
use process::Server;
use protocol_resp::Version;
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

/// Subscribers beside the one that reads late, and rounds of messages for it: several times what
/// may wait for it.
const COMPANY: usize = 200;
const LATE_ROUNDS: usize = 60;

/// Messages that it is behind with, and that may wait.
const LATE_BY: usize = 3 * ROUND;

/// Open files besides those of subscribers, of a server as of the test.
const FILES_BESIDE: u64 = 200;

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

/// A client that gets what is published.
struct Subscriber {
    stream: TcpStream,
    version: Version,
}

impl Subscriber {
    /// Subscribes on a connection and awaits the confirmation.
    fn new(mut stream: TcpStream, version: Version) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        if version == Version::Resp3 {
            stream.write_all(b"HELLO 3\r\n").unwrap();
        }
        stream.write_all(b"SUBSCRIBE news\r\n").unwrap();
        let mut subscriber = Subscriber { stream, version };
        let end = subscriber.pushed("$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
        let mut reply = Vec::new();
        // What HELLO says comes before.
        while !reply.ends_with(end.as_bytes()) {
            let mut byte = [0];
            subscriber.stream.read_exact(&mut byte).unwrap();
            reply.push(byte[0]);
        }
        subscriber
    }

    /// Three elements as it gets them.
    fn pushed(&self, elements: &str) -> String {
        let mark = if self.version == Version::Resp3 { '>' } else { '*' };
        format!("{mark}3\r\n{elements}")
    }

    /// Reads messages, which must be these.
    fn expect(&mut self, texts: &[String]) {
        let message = |text: &String| {
            let len = text.len();
            self.pushed(&format!("$7\r\nmessage\r\n$4\r\nnews\r\n${len}\r\n{text}\r\n"))
        };
        let expected: String = texts.iter().map(message).collect();
        let mut found = vec![0; expected.len()];
        self.stream.read_exact(&mut found).unwrap();
        assert!(found == expected.as_bytes(), "{}", found.escape_ascii());
    }
}

/// Every second one speaks RESP3.
fn version(number: usize) -> Version {
    if number.is_multiple_of(2) { Version::Resp2 } else { Version::Resp3 }
}

/// A server and somebody who tells the news.
struct Newsroom {
    server: Server,
    publisher: TcpStream,
    /// Messages so far.
    sent: usize,
}

impl Newsroom {
    fn new(workers: &str) -> Self {
        let files = SUBSCRIBERS as u64 + FILES_BESIDE;
        // Several tests at once, and the server has what the test has.
        let found = rlimit::increase_nofile_limit(4 * files).unwrap();
        assert!(found >= 2 * files, "{found} open files are too few: see ulimit -Hn");
        let server = process::rds(&["--io-threads", workers]);
        let mut publisher = connect(server.address);
        publisher.set_read_timeout(Some(PATIENCE)).unwrap();
        let limit = format!("CONFIG SET client-output-buffer-limit \"pubsub {LIMIT} 0 0\"");
        assert_eq!(ask(&mut publisher, &limit), "+OK");
        Newsroom { server, publisher, sent: 0 }
    }

    fn subscribers(&self, count: usize) -> Vec<Subscriber> {
        let one = |number| Subscriber::new(connect(self.server.address), version(number));
        (0..count).map(one).collect()
    }

    /// Publishes a round of messages; these, and how many have got each.
    fn publish(&mut self) -> (Vec<String>, Vec<usize>) {
        let texts: Vec<String> =
            (self.sent..).take(ROUND).map(|n| format!("{n:0MESSAGE$}")).collect();
        self.sent += ROUND;
        let hear = |text: &String| {
            let heard = ask(&mut self.publisher, &format!("PUBLISH news {text}"));
            heard[1..].parse().unwrap()
        };
        let heard = texts.iter().map(hear).collect();
        (texts, heard)
    }
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

fn who_does_not_read_is_closed_and_the_others_lose_nothing(workers: &str, version: Version) {
    let mut newsroom = Newsroom::new(workers);
    let mut stalled = Subscriber::new(narrow(newsroom.server.address), version).stream;
    let mut others = newsroom.subscribers(SUBSCRIBERS - 1);
    let mut listeners = SUBSCRIBERS;
    for round in 0.. {
        assert!(round < ROUNDS_MAX, "the one that does not read is closed in the end");
        let (texts, heard) = newsroom.publish();
        for heard in heard {
            assert!(heard == listeners || heard == SUBSCRIBERS - 1);
            listeners = heard;
        }
        others.iter_mut().for_each(|other| other.expect(&texts));
        if listeners < SUBSCRIBERS {
            break;
        }
    }
    let sent = newsroom.sent * MESSAGE;
    assert!(sent > LIMIT, "not before so much waits");
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
    assert!(received < sent);
    let (texts, heard) = newsroom.publish();
    assert_eq!(heard, [SUBSCRIBERS - 1; ROUND]);
    others.iter_mut().for_each(|other| other.expect(&texts));
}

/// It is behind all the time, by less than may wait for it, and never by more.
fn who_reads_late_loses_nothing(workers: &str, version: Version) {
    let mut newsroom = Newsroom::new(workers);
    let mut late = Subscriber::new(narrow(newsroom.server.address), version);
    let mut others = newsroom.subscribers(COMPANY);
    let mut waiting = Vec::new();
    for _ in 0..LATE_ROUNDS {
        let (texts, heard) = newsroom.publish();
        assert_eq!(heard, [COMPANY + 1; ROUND]);
        others.iter_mut().for_each(|other| other.expect(&texts));
        waiting.extend(texts);
        if waiting.len() > LATE_BY {
            late.expect(&waiting.drain(..ROUND).collect::<Vec<_>>());
        }
    }
    assert!(newsroom.sent * MESSAGE > 4 * LIMIT, "more than may wait has gone through");
    late.expect(&waiting);
    let (texts, heard) = newsroom.publish();
    assert_eq!(heard, [COMPANY + 1; ROUND]);
    late.expect(&texts);
}

#[test]
fn one_worker_closes_who_does_not_read() {
    who_does_not_read_is_closed_and_the_others_lose_nothing("1", Version::Resp2);
}

#[test]
fn two_workers_close_who_does_not_read() {
    who_does_not_read_is_closed_and_the_others_lose_nothing("2", Version::Resp3);
}

#[test]
fn one_worker_bears_with_who_reads_late() {
    who_reads_late_loses_nothing("1", Version::Resp3);
}

#[test]
fn two_workers_bear_with_who_reads_late() {
    who_reads_late_loses_nothing("2", Version::Resp2);
}
