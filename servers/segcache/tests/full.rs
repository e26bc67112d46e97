// SPDX-License-Identifier: Apache-2.0
//! A full cache in which nothing may be evicted (`-M`): replacing one expiry by another needs no room, as in
//! memcached; any other change that finds no room is an error, never a miss, and leaves the item unchanged.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod process;
}

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use support::process::{self, STORAGES};
use test_support::PATIENCE;
use test_support::child::free_port;

const OUT_OF_MEMORY: &str = "SERVER_ERROR out of memory storing object\r\n";

/// A client that asks line by line.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(BufReader::new(stream))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    /// The first line that is answered.
    fn ask(&mut self, request: &str) -> String {
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        self.line()
    }
}

fn key(number: usize) -> String {
    format!("key{number:06}")
}

/// Fills the cache with items of two kinds in turns: for ever, and with a time to live. Returns how many.
fn fill(client: &mut Client) -> usize {
    let value = "v".repeat(1000);
    for number in 0..100_000 {
        let exptime = if number % 2 == 0 { 0 } else { 1000 };
        let reply = client.ask(&format!("set {} 0 {exptime} 1000\r\n{value}\r\n", key(number)));
        if reply == OUT_OF_MEMORY {
            assert!(number > 1000, "it is full too soon: {number}");
            return number;
        }
        assert_eq!(reply, "STORED\r\n");
    }
    panic!("4 MB are never full");
}

#[test]
fn a_change_of_an_expiry_that_finds_no_room_is_no_miss() {
    for storage in STORAGES {
        let resp = format!("127.0.0.1:{}", free_port());
        let sections = format!("{}[resp]\nlisten = [{resp:?}]\n", process::over(storage));
        let server = process::segcache(&["-m", "4", "-I", "256k", "-M"], &sections);
        let mut memcache = Client::connect(server.address);
        let count = fill(&mut memcache);
        for exptime in [200, 200_000, 50] {
            for key in (1..count).step_by(2).map(key) {
                assert_eq!(memcache.ask(&format!("touch {key} {exptime}\r\n")), "TOUCHED\r\n");
                let found = memcache.ask(&format!("gat {exptime}1 {key}\r\n"));
                assert_eq!(found, format!("VALUE {key} 0 1000\r\n"), "{storage}: gat");
                memcache.line();
                assert_eq!(memcache.line(), "END\r\n");
            }
        }
        let mut refused = 0;
        for number in 0..count {
            let (key, exptime) = (key(number), if number % 2 == 0 { 500_000 } else { 0 });
            let reply = memcache.ask(&format!("touch {key} {exptime}\r\n"));
            assert!(reply == "TOUCHED\r\n" || reply == OUT_OF_MEMORY, "{storage}: touch: {reply}");
            refused += usize::from(reply == OUT_OF_MEMORY);
            let found = memcache.ask(&format!("get {key}\r\n"));
            assert_eq!(found, format!("VALUE {key} 0 1000\r\n"), "{storage}");
            memcache.line();
            assert_eq!(memcache.line(), "END\r\n");
        }
        // The engine of segments writes an item anew that had no expiry and gets one.
        assert!(storage != "seg" || refused > 0, "no item needed room");
        for command in ["gat", "gats"] {
            for number in 0..count.min(200) {
                let (key, exptime) = (key(number), if number % 2 == 0 { 700_000 } else { 0 });
                let reply = memcache.ask(&format!("{command} {exptime} {key}\r\n"));
                if reply != OUT_OF_MEMORY {
                    assert!(reply.starts_with("VALUE key"), "{storage}: {command}: {reply}");
                    memcache.line();
                    assert_eq!(memcache.line(), "END\r\n");
                }
            }
        }
        let mut resp = Client::connect(resp.parse().unwrap());
        for number in 0..count.min(400) {
            let key = key(number);
            let reply = resp.ask(&format!("EXPIRE {key} 900000\r\n"));
            assert!(reply == ":1\r\n" || reply.starts_with("-OOM "), "{storage}: EXPIRE: {reply}");
            let never = resp.ask(&format!("TTL {key}\r\n")) == ":-1\r\n";
            let reply = resp.ask(&format!("PERSIST {key}\r\n"));
            let done = if never { ":0\r\n" } else { ":1\r\n" };
            assert!(reply == done || reply.starts_with("-OOM "), "{storage}: PERSIST: {reply}");
            let reply = resp.ask(&format!("GETEX {key} EX 800000\r\n"));
            if reply == "$1000\r\n" {
                resp.line();
            } else {
                assert!(reply.starts_with("-OOM "), "{storage}: GETEX {key}: {reply}");
            }
        }
        // A list in which one cannot be touched ends with the error, and the connection with it.
        if storage == "seg" {
            let keys: Vec<String> = (0..count).map(key).collect();
            let mut list = Client::connect(server.address);
            let request = format!("gat 1900000 {}\r\n", keys.join(" "));
            list.0.get_mut().write_all(request.as_bytes()).unwrap();
            let mut answered = String::new();
            list.0.read_to_string(&mut answered).unwrap();
            assert!(answered.ends_with(OUT_OF_MEMORY), "{}", &answered[answered.len() - 100..]);
            assert!(!answered.contains("END\r\n"));
        }
    }
}
