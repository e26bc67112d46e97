// SPDX-License-Identifier: Apache-2.0
//! What clients on several workers see of each other, in which order: who has got an answer, and then asks on another
//! connection, gets before the answer there all that the first request sent to it. What a pause has held has run when
//! its end is answered.

use crate::ends::await_info;
use crate::{connect, process};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use test_support::PATIENCE;

/// Connections that send, and as many that are sent to: enough that many pairs are on different workers.
const PAIRS: usize = 8;

/// Rounds over all pairs.
const ROUNDS: usize = 100;

struct Client(TcpStream);

impl Client {
    /// A client that has sent these lines and been answered up to `end`.
    fn new(address: SocketAddr, lines: &[&str], end: &str) -> Self {
        let stream = connect(address);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Client(stream);
        for line in lines {
            client.send(line);
        }
        client.until(end);
        client
    }

    /// What comes up to `end`.
    fn until(&mut self, end: &str) -> Vec<u8> {
        let mut replies = Vec::new();
        while !replies.ends_with(end.as_bytes()) {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            replies.push(byte[0]);
        }
        replies
    }

    fn line(&mut self) -> String {
        String::from_utf8(self.until("\r\n")).unwrap().trim_end().to_owned()
    }

    fn send(&mut self, line: &str) {
        self.0.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    fn expect(&mut self, reply: &str) {
        let mut found = vec![0; reply.len()];
        self.0.read_exact(&mut found).unwrap();
        assert_eq!(found.escape_ascii().to_string(), reply.escape_default().to_string());
    }
}

#[test]
fn a_message_is_there_before_the_answer_to_a_later_ping() {
    let server = process::rds(&["--io-threads", "4"]);
    let mut publishers: Vec<Client> =
        (0..PAIRS).map(|_| Client::new(server.address, &["PING"], "+PONG\r\n")).collect();
    let subscribe = |number: usize| {
        let (hello, channel) = (["PING", "HELLO 3"][number % 2], format!("SUBSCRIBE to{number}"));
        Client::new(server.address, &[hello, &channel], ":1\r\n")
    };
    let mut subscribers: Vec<Client> = (0..PAIRS).map(subscribe).collect();
    for round in 0..ROUNDS {
        for (number, subscriber) in subscribers.iter_mut().enumerate() {
            let publisher = &mut publishers[(number + round) % PAIRS];
            publisher.send(&format!("PUBLISH to{number} news"));
            publisher.expect(":1\r\n");
            subscriber.send("PING");
            let (mark, pong) =
                [("*", "*2\r\n$4\r\npong\r\n$0\r\n\r\n"), (">", "+PONG\r\n")][number % 2];
            let message = format!("{mark}3\r\n$7\r\nmessage\r\n$3\r\nto{number}\r\n$4\r\nnews\r\n");
            subscriber.expect(&format!("{message}{pong}"));
        }
    }
}

/// The caches are told of each key before the answer to what they ask after it was written.
fn tell_caches(tracking: &str, reads_first: bool) {
    let server = process::rds(&["--io-threads", "4"]);
    let mut writers: Vec<Client> =
        (0..PAIRS).map(|_| Client::new(server.address, &["PING"], "+PONG\r\n")).collect();
    let cache = |number: usize| {
        let tracking = tracking.replace('#', &number.to_string());
        Client::new(server.address, &["HELLO 3", &tracking], "+OK\r\n")
    };
    let mut caches: Vec<Client> = (0..PAIRS).map(cache).collect();
    for round in 0..ROUNDS {
        for (number, cache) in caches.iter_mut().enumerate() {
            if reads_first {
                cache.send(&format!("EXISTS key{number}"));
                cache.expect(&format!(":{}\r\n", u8::from(round > 0)));
            }
            let writer = &mut writers[(number + round) % PAIRS];
            writer.send(&format!("SET key{number} {round}"));
            writer.expect("+OK\r\n");
            cache.send("PING");
            cache.expect(&format!(
                ">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nkey{number}\r\n+PONG\r\n"
            ));
        }
    }
}

#[test]
fn an_invalidation_is_there_before_the_answer_to_a_later_read() {
    tell_caches("CLIENT TRACKING ON", true);
}

#[test]
fn so_is_that_of_a_key_with_a_tracked_prefix() {
    tell_caches("CLIENT TRACKING ON BCAST PREFIX key#", false);
}

#[test]
fn what_a_pause_has_held_has_run_when_its_end_is_answered() {
    let server = process::rds(&["--io-threads", "4"]);
    let mut control = Client::new(server.address, &["PING"], "+PONG\r\n");
    let mut held: Vec<(Client, String)> = (0..PAIRS)
        .map(|_| {
            let mut client = Client::new(server.address, &["PING"], "+PONG\r\n");
            client.send("CLIENT ID");
            let id = client.line();
            (client, id.trim_start_matches(':').to_owned())
        })
        .collect();
    for _ in 0..ROUNDS {
        control.send("CLIENT PAUSE 1000000 WRITE");
        control.expect("+OK\r\n");
        for (client, _) in &mut held {
            client.send("BLPOP list 0");
        }
        await_info(&mut control.0, "blocked_clients", PAIRS);
        control.send("CLIENT UNPAUSE");
        control.expect("+OK\r\n");
        for (_, id) in &held {
            control.send(&format!("CLIENT UNBLOCK {id}"));
            control.expect(":1\r\n");
        }
        for (client, _) in &mut held {
            client.expect("*-1\r\n");
        }
    }
}
