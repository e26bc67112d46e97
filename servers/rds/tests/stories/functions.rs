// SPDX-License-Identifier: Apache-2.0
//! Functions on several workers: a call after the answer to FUNCTION LOAD sees the new library wherever it is served,
//! a function that does not end is seen and ended by others, and libraries go to and from redis-server, also to and from
//! the one that `SHOEBILL_REDIS` names.

use crate::{connect, process};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use test_support::PATIENCE;

/// Enough that they are on different workers.
const CLIENTS: usize = 8;

struct Client(TcpStream);

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = connect(address);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(stream)
    }

    fn send(&mut self, words: &[&[u8]]) {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n", word.len()).bytes());
            request.extend(*word);
            request.extend(b"\r\n");
        }
        self.0.write_all(&request).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
    }

    /// The first line of the reply to a command.
    fn ask(&mut self, words: &[&[u8]]) -> String {
        self.send(words);
        self.line()
    }

    /// A bulk string in reply to a command.
    fn bulk(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let line = self.ask(words);
        let len: usize = line.strip_prefix('$').expect(&line).parse().unwrap();
        let mut text = vec![0; len + 2];
        self.0.read_exact(&mut text).unwrap();
        text.truncate(len);
        text
    }

    /// FUNCTION STATS, to its last line.
    fn stats(&mut self) -> Vec<String> {
        self.send(&[b"FUNCTION", b"STATS"]);
        let mut lines = vec![self.line()];
        while lines.last().is_some_and(|line| line != "functions_count") {
            lines.push(self.line());
        }
        lines.push(self.line());
        lines
    }
}

/// A library with one function.
fn library(name: &str, body: &str) -> Vec<u8> {
    format!(
        "#!lua name={name}\nredis.register_function('{name}_f', function(keys, args) {body} end)"
    )
    .into_bytes()
}

#[test]
fn a_library_is_there_once_it_was_loaded() {
    let server = process::rds(&["--io-threads", "4"]);
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Client::new(server.address)).collect();
    for round in 0..200 {
        let code = library("a", &format!("return {round}"));
        let loaded = clients[round % CLIENTS].bulk(&[b"FUNCTION", b"LOAD", b"REPLACE", &code]);
        assert_eq!(loaded, b"a");
        for client in &mut clients {
            assert_eq!(client.ask(&[b"FCALL", b"a_f", b"0"]), format!(":{round}"));
        }
    }
    assert_eq!(clients[0].ask(&[b"FUNCTION", b"FLUSH"]), "+OK");
    for client in &mut clients {
        assert_eq!(client.ask(&[b"FCALL", b"a_f", b"0"]), "-ERR Function not found");
    }
}

#[test]
fn a_function_that_does_not_end_is_seen_and_ended() {
    let server = process::rds(&["--io-threads", "4"]);
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Client::new(server.address)).collect();
    let mut runner = clients.pop().unwrap();
    // No function takes too long by itself.
    assert_eq!(runner.ask(&[b"CONFIG", b"SET", b"busy-reply-threshold", b"0"]), "+OK");
    let code = library("loop", "while true do end");
    assert_eq!(runner.bulk(&[b"FUNCTION", b"LOAD", &code]), b"loop");
    runner.send(&[b"FCALL", b"loop_f", b"1", b"k", b"argument"]);
    // Those that are on the runner's worker are answered when it has ended.
    let is_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for mut client in clients {
            let is_ended = &is_ended;
            scope.spawn(move || {
                while !is_ended.load(SeqCst) {
                    let stats = client.stats();
                    if !stats.contains(&"loop_f".to_owned()) {
                        continue;
                    }
                    assert!(stats.contains(&"argument".to_owned()), "{stats:?}");
                    if client.ask(&[b"FUNCTION", b"KILL"]) == "+OK" {
                        is_ended.store(true, SeqCst);
                    }
                }
            });
        }
    });
    let end = runner.line();
    assert!(end.starts_with("-ERR Script killed by user with SCRIPT KILL"), "{end}");
    assert!(end.ends_with("script: loop_f, on @user_function:2."), "{end}");
    assert_eq!(runner.ask(&[b"FUNCTION", b"KILL"]), "-NOTBUSY No scripts in execution right now.");
}

/// The redis-server of the system, and the one that `SHOEBILL_REDIS` names.
fn oracles() -> Vec<process::Server> {
    let newer = std::env::var_os("SHOEBILL_REDIS");
    if newer.is_none() {
        eprintln!("SHOEBILL_REDIS names no other redis-server than that of the system");
    }
    let newer = newer.and_then(|path| process::redis_of(path.as_ref(), &[]));
    process::redis(&[]).into_iter().chain(newer).collect()
}

#[test]
fn libraries_go_to_and_from_redis_server() {
    for redis in oracles() {
        let ours = process::rds(&[]);
        let mut pair = [Client::new(redis.address), Client::new(ours.address)];
        for (from, to) in [(0, 1), (1, 0)] {
            for client in &mut pair {
                assert_eq!(client.ask(&[b"FUNCTION", b"FLUSH"]), "+OK");
            }
            // One that is compressed, one that is not, and one with a length of four bytes.
            let long = "x = 1 ".repeat(5_000);
            for (name, body) in [("a", "return 1"), ("bc", "return {1, 1, 1, 1, 1}"), ("d", &long)]
            {
                let code = library(name, body);
                assert_eq!(pair[from].bulk(&[b"FUNCTION", b"LOAD", &code]), name.as_bytes());
            }
            let dump = pair[from].bulk(&[b"FUNCTION", b"DUMP"]);
            assert_eq!(pair[to].ask(&[b"FUNCTION", b"RESTORE", &dump]), "+OK");
            assert_eq!(pair[to].ask(&[b"FCALL", b"a_f", b"0"]), ":1");
            let stats = pair[to].stats();
            assert_eq!(stats.last().map(String::as_str), Some(":3"));
        }
    }
}

/// What a client is told that restores a dump of the libraries `a` and `b` beside others, under each policy.
fn told_of_policies(client: &mut Client, dump: &[u8]) -> Vec<String> {
    let mut told = Vec::new();
    let policies: [&[u8]; 5] = [b"", b"append", b"REPLACE", b"Flush", b"other"];
    // Beside `a` and another one; beside a library that has a function of `b`.
    let clash = b"#!lua name=x\nredis.register_function('b_f', function() return 8 end)".to_vec();
    for before in [vec![library("a", "return 9"), library("c", "return 3")], vec![clash]] {
        for policy in policies {
            told.push(client.ask(&[b"FUNCTION", b"FLUSH"]));
            for code in &before {
                client.bulk(&[b"FUNCTION", b"LOAD", code]);
            }
            let words: [&[u8]; 4] = [b"FUNCTION", b"RESTORE", dump, policy];
            let count = if policy.is_empty() { 3 } else { 4 };
            told.push(client.ask(&words[..count]));
            for function in [b"a_f", b"b_f", b"c_f"] {
                told.push(client.ask(&[b"FCALL", function, b"0"]));
            }
        }
    }
    // A dump that was damaged.
    let mut damaged = dump.to_vec();
    damaged[5] ^= 1;
    told.push(client.ask(&[b"FUNCTION", b"RESTORE", &damaged, b"FLUSH"]));
    told.push(client.ask(&[b"FCALL", b"b_f", b"0"]));
    told
}

#[test]
fn each_policy_restores_what_redis_server_restores() {
    for redis in oracles() {
        let ours = process::rds(&[]);
        let mut pair = [Client::new(redis.address), Client::new(ours.address)];
        let dumps = pair.each_mut().map(|client| {
            for (name, body) in [("a", "return 1"), ("b", "return 2")] {
                client.bulk(&[b"FUNCTION", b"LOAD", &library(name, body)]);
            }
            client.bulk(&[b"FUNCTION", b"DUMP"])
        });
        let expected = told_of_policies(&mut pair[0], &dumps[0]);
        assert!(expected.contains(&"-ERR Library a already exists".to_owned()), "{expected:?}");
        assert_eq!(told_of_policies(&mut pair[1], &dumps[0]), expected);
        assert_eq!(told_of_policies(&mut pair[0], &dumps[1]), expected);
    }
}
