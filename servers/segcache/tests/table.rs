// SPDX-License-Identifier: Apache-2.0
//! The whole server inside the test, over every storage, with one worker and two, over every
//! transport: bytes in, bytes out.
//!
//! The sessions are those that `protocol-memcache` plays without a socket; most were recorded with
//! memcached. Here they go through the reactor, and find real stores behind it.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use clock::Clock;
use protocol_memcache::{Memcache, MemcacheService, ServiceOptions};
use server::{Builder, Process};
use std::collections::BTreeMap;
use std::time::Duration;
use storage::{Receive, Scan};
use storage_hashmap::HashMapStore;
use storage_seg::{Eviction, SegStore};
use test_support::client::Client;
use test_support::session::{self, Piece, Session, Step};
use test_support::table::{self, Row};

/// When the clock starts: a time that is not in the past of any expiry in the sessions.
const START_UNIX_MS: u64 = 1_795_000_000_000;

const VALUE_MAX: usize = 1 << 20;

/// What keeps the items.
#[derive(Clone, Copy, Debug)]
enum Storage {
    Seg,
    HashMap,
}

impl Storage {
    const ALL: [Storage; 2] = [Storage::Seg, Storage::HashMap];

    /// Spawns a server with more memory than a story needs.
    fn spawn(self, row: &Row, builder: Builder) -> Process {
        self.spawn_with(row, builder, 64 << 20, true)
    }

    fn spawn_with(self, row: &Row, builder: Builder, memory: u64, evicts: bool) -> Process {
        let value_max = (VALUE_MAX as u64).min(memory / 4);
        match self {
            Storage::Seg => {
                let eviction = if evicts { Eviction::default() } else { Eviction::None };
                let store = SegStore::builder().memory(memory).value_max(value_max);
                let store = store.workers(row.workers).eviction(eviction).build().unwrap();
                spawn(row, builder, store)
            }
            Storage::HashMap => {
                let store = HashMapStore::builder().memory(memory).item_max(value_max);
                spawn(row, builder, store.evict(evicts).build())
            }
        }
    }
}

/// Spawns what `main` wires, over `store`.
fn spawn<S: Scan + Receive + Clone + Send + 'static>(
    row: &Row,
    builder: Builder,
    store: S,
) -> Process {
    let options = ServiceOptions::new().version("1.6.45").item_max(VALUE_MAX);
    let last = row.workers - 1;
    let mut first = Some(MemcacheService::new(store, options));
    let hand_out = move |worker| {
        let service = if worker == last { first.take() } else { first.clone() };
        service.expect("the last worker is asked for last")
    };
    builder.spawn(|_tag| Memcache::new(VALUE_MAX), hand_out).unwrap()
}

/// Tells the story on every row, over every storage.
fn on_every_row(story: impl Fn(&Row, Storage)) {
    for storage in Storage::ALL {
        println!("{storage:?}");
        table::on_every_row(|row| story(row, storage));
    }
}

/// A session on its connection.
struct Player<'a> {
    client: Client,
    clock: &'a Clock,
    cas: BTreeMap<String, u64>,
    /// A byte that was read to find the end of a number.
    ahead: Option<u8>,
}

impl Player<'_> {
    fn play(&mut self, session: &Session) {
        for step in &session.steps {
            match step {
                Step::Send(written) => self.send(written),
                Step::Expect(written) => self.expect(written),
                Step::Pass(millis) => self.clock.advance(Duration::from_millis(*millis)),
                Step::Closed => assert_eq!(self.client.rest(), b"", "before it is closed"),
            }
        }
        // Had there been more than was expected, it would come here.
        if !matches!(session.steps.last(), Some(Step::Closed)) {
            self.client.ask(b"incr nothing more\r\n", BAD_DELTA);
        }
    }

    fn send(&mut self, written: &str) {
        let mut bytes = Vec::new();
        for piece in session::pieces(written) {
            match piece {
                Piece::Bytes(more) => bytes.extend(more),
                Piece::Cas(name) => bytes.extend(self.cas[&name].to_string().bytes()),
                Piece::Unix(seconds) => {
                    let at = self.clock.now().unix_seconds() + seconds;
                    bytes.extend(at.to_string().bytes());
                }
            }
        }
        self.client.send(&bytes);
    }

    fn expect(&mut self, written: &str) {
        for piece in session::pieces(written) {
            match piece {
                Piece::Bytes(bytes) => self.expect_bytes(&bytes),
                Piece::Cas(name) => {
                    let number = self.number();
                    let first = *self.cas.entry(name.clone()).or_insert(number);
                    assert_eq!(first, number, "cas {name}");
                }
                Piece::Unix(_) => panic!("a time in an answer"),
            }
        }
    }

    fn expect_bytes(&mut self, mut bytes: &[u8]) {
        if let (Some(ahead), Some((first, rest))) = (self.ahead, bytes.split_first()) {
            assert_eq!(ahead, *first);
            self.ahead = None;
            bytes = rest;
        }
        self.client.expect(bytes);
    }

    fn number(&mut self) -> u64 {
        let mut digits = String::new();
        loop {
            match self.client.take(1)[0] {
                digit @ b'0'..=b'9' => digits.push(char::from(digit)),
                other => {
                    self.ahead = Some(other);
                    return digits.parse().unwrap();
                }
            }
        }
    }
}

const BAD_DELTA: &[u8] = b"CLIENT_ERROR invalid numeric delta argument\r\n";

/// Plays the sessions of a file, each on a connection of its own to an empty cache.
fn play_all(text: &str) {
    let sessions = session::read(text);
    assert!(!sessions.is_empty());
    on_every_row(|row, storage| {
        let clock = Clock::manual(START_UNIX_MS);
        let process = storage.spawn(row, row.builder().clock(clock.clone()));
        for session in &sessions {
            println!("{}", session.name);
            row.connect(&process).ask(b"flush_all\r\n", b"OK\r\n");
            let client = row.connect(&process);
            let mut player = Player { client, clock: &clock, cas: BTreeMap::new(), ahead: None };
            player.play(session);
        }
        process.stop().unwrap();
    });
}

macro_rules! sessions {
    ($($(#[$attribute:meta])* $test:ident: $file:literal;)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $test() {
                play_all(include_str!(concat!("../../../crates/protocol-memcache/tests/sessions/", $file)));
            }
        )*
    };
}

sessions! {
    reading: "get.txt";
    storing: "store.txt";
    large_values: "large.txt";
    numbers: "number.txt";
    deleting_and_touching: "delete.txt";
    meta_commands: "meta.txt";
    lines_that_are_no_request: "line.txt";
    time: "time.txt";
    where_memcached_answers_otherwise: "differs.txt";
}

/// Every error text of the protocol that applies here, but for those of a cache without memory and of
/// a server without room for a connection, which have tests of their own below.
#[test]
fn every_error_has_its_text() {
    let long = "k".repeat(251);
    let large = format!("set a 0 0 1048577\r\n{}\r\n", "x".repeat(1_048_577));
    let bad_format = "CLIENT_ERROR bad command line format\r\n";
    let cases: &[(&str, &str)] = &[
        ("nonsense", "ERROR\r\n"),
        ("get", bad_format),
        ("set a 0 0", bad_format),
        ("stats nonsense", "ERROR\r\n"),
        (&format!("get {long}"), bad_format),
        (&format!("delete {long}"), bad_format),
        (&format!("set {long} 0 0 1\r\nx"), bad_format),
        ("set a x 0 1\r\nx", bad_format),
        ("set a 0 0 -1", bad_format),
        ("verbosity x", bad_format),
        ("delete a 5", "NOT_FOUND\r\n"),
        ("set a 0 0 1\r\nxxxxx", "CLIENT_ERROR bad data chunk\r\nERROR\r\n"),
        ("touch a x", "CLIENT_ERROR invalid exptime argument\r\n"),
        ("gat x a", "CLIENT_ERROR invalid exptime argument\r\n"),
        ("flush_all x", "CLIENT_ERROR invalid exptime argument\r\n"),
        ("incr a x", "CLIENT_ERROR invalid numeric delta argument\r\n"),
        ("decr a -1", "CLIENT_ERROR invalid numeric delta argument\r\n"),
        (
            "set word 0 0 4 noreply\r\nword\r\nincr word 1",
            "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
        ),
        (large.trim_end(), "SERVER_ERROR object too large for cache\r\n"),
        ("stats cachedump 1", "CLIENT_ERROR bad command line\r\n"),
        ("stats cachedump 64 0", "CLIENT_ERROR Illegal slab id\r\n"),
        ("lru_crawler metadump 64", "BADCLASS invalid class id\r\n"),
        ("stats detail", "CLIENT_ERROR usage: stats detail on|off|dump\r\n"),
    ];
    on_every_row(|row, storage| {
        let process = storage.spawn(row, row.builder());
        let mut client = row.connect(&process);
        for (request, reply) in cases {
            client.ask(format!("{request}\r\n").as_bytes(), reply.as_bytes());
        }
        client.ask(b"get a\r\n", b"END\r\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_deep_pipeline_of_every_command_is_answered_in_order() {
    on_every_row(|row, storage| {
        let process = storage.spawn(row, row.builder());
        let mut client = row.connect(&process);
        let (mut requests, mut replies) = (Vec::new(), Vec::new());
        for n in 0..1_000 {
            let request = format!(
                "set key{n} {n} 0 4\r\n{n:04}\r\nget key{n} nothing\r\nincr key{n} 1\r\ntouch key{n} 100\r\n\
                 delete key{n} noreply\r\nget key{n}\r\nnonsense\r\n"
            );
            let reply = format!(
                "STORED\r\nVALUE key{n} {n} 4\r\n{n:04}\r\nEND\r\n{}\r\nTOUCHED\r\nEND\r\nERROR\r\n",
                n + 1
            );
            requests.extend(request.bytes());
            replies.extend(reply.bytes());
        }
        client.ask(&requests, &replies);
        process.stop().unwrap();
    });
}

#[test]
fn connections_share_one_cache_whichever_worker_serves_them() {
    on_every_row(|row, storage| {
        let process = storage.spawn(row, row.builder());
        let mut clients: Vec<_> = (0..4).map(|_| row.connect(&process)).collect();
        clients[0].ask(b"set shared 0 0 1\r\n0\r\n", b"STORED\r\n");
        for n in 1..=8 {
            let reply = format!("{n}\r\n");
            clients[n % 4].ask(b"incr shared 1\r\n", reply.as_bytes());
        }
        clients[3].ask(b"flush_all\r\n", b"OK\r\n");
        for client in &mut clients {
            client.ask(b"get shared\r\n", b"END\r\n");
        }
        process.stop().unwrap();
    });
}

#[test]
fn two_hundred_keys_are_read_at_once() {
    on_every_row(|row, storage| {
        let process = storage.spawn(row, row.builder());
        let mut client = row.connect(&process);
        let value = "v".repeat(20_000);
        let (mut line, mut replies) = (String::from("get"), String::new());
        for n in 0..200 {
            let set = format!("set key{n} 0 0 20000 noreply\r\n{value}\r\n");
            client.send(set.as_bytes());
            line.push_str(&format!(" key{n}"));
            replies.push_str(&format!("VALUE key{n} 0 20000\r\n{value}\r\n"));
        }
        replies.push_str("END\r\n");
        client.ask(format!("{line}\r\n").as_bytes(), replies.as_bytes());
        process.stop().unwrap();
    });
}

#[test]
fn a_full_cache_that_must_not_evict_says_so() {
    on_every_row(|row, storage| {
        let process = storage.spawn_with(row, row.builder(), 1 << 20, false);
        let mut client = row.connect(&process);
        let mut set = b"set key00 0 0 90000\r\n".to_vec();
        set.resize(set.len() + 90_000, b'x');
        set.extend(b"\r\n");
        let mut refused = 0;
        for n in 0..30 {
            set[7..9].copy_from_slice(format!("{n:02}").as_bytes());
            client.send(&set);
            let reply = client.take(8);
            if reply != b"STORED\r\n" {
                assert_eq!(reply, b"SERVER_E");
                client.expect(b"RROR out of memory storing object\r\n");
                refused += 1;
                // No old value is left where a write has failed, and the others are still there.
                client.ask(format!("touch key{n:02} 0\r\n").as_bytes(), b"NOT_FOUND\r\n");
            }
        }
        assert!((10..30).contains(&refused), "{refused} of 30 are refused");
        client.ask(b"touch key00 0\r\n", b"TOUCHED\r\n");
        process.stop().unwrap();
    });
}

#[test]
fn one_connection_too_many_is_told_so() {
    on_every_row(|row, storage| {
        let process = storage.spawn(row, row.builder().max_connections(2));
        let mut clients = [row.connect(&process), row.connect(&process)];
        for client in &mut clients {
            client.ask(b"verbosity 0\r\n", b"OK\r\n");
        }
        if !row.transport.is_tls() {
            let mut third = row.connect(&process);
            assert_eq!(third.rest(), b"ERROR Too many open connections\r\n");
        }
        for client in &mut clients {
            client.ask(b"get a\r\n", b"END\r\n");
        }
        process.stop().unwrap();
    });
}
