// SPDX-License-Identifier: Apache-2.0
//! Clients that cache what they read (CLIENT TRACKING), while others write the same keys on other workers: no
//! cache may keep a value that has been overwritten.
//!
//! Each writer writes the numbers 1, 2, 3 ... to its keys in turn, and each also to a key that is its fence.
//! A cache that knows `m` of the fence, and is told that it has changed, knows that `m + 1` has been written.
//! What that writer wrote before, the cache must have been told before, because messages from one worker
//! to one client keep their order. So a lost message is found when it must have come, without a clock. Where the
//! fence may be dropped for other reasons, and in the end, a cache must become right within some time.

use crate::{connect, process};
use process::Server;
use protocol_resp::client::{self, Value};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use test_support::random::Random;
use test_support::{PATIENCE, wait_until};

const WRITERS: usize = 3;

/// Keys of each writer, besides its fence.
const KEYS: u64 = 8;

/// Numbers that each of them writes.
const NUMBERS: u64 = 1500;

/// How a cache is told of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Read,
    OptIn,
    Prefix,
    /// By another connection, which speaks RESP2.
    Redirected,
}

const MODES: [Mode; 6] =
    [Mode::Read, Mode::OptIn, Mode::Prefix, Mode::Redirected, Mode::Read, Mode::Redirected];

fn key(writer: usize, number: u64) -> String {
    format!("x:{writer}:{}", number % KEYS)
}

fn fence(writer: usize) -> String {
    format!("x:{writer}:fence")
}

/// What a writer has written to one of its keys when it has written `number`; 0: nothing.
fn written(key: u64, number: u64) -> u64 {
    number.saturating_sub((number + KEYS - key) % KEYS)
}

/// A connection, and what has come of a reply.
struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Peer {
    fn new(server: &Server) -> Self {
        Peer { stream: connect(server.address), input: Vec::new() }
    }

    fn send(&mut self, lines: &str) {
        self.stream.write_all(lines.as_bytes()).unwrap();
    }

    /// The next reply or message, if it comes within `limit`.
    fn next(&mut self, limit: Duration) -> Option<Value> {
        self.stream.set_read_timeout(Some(limit)).unwrap();
        loop {
            if let Some((reply, len)) = client::parse(&self.input).expect("RESP") {
                let value = Value::from(reply);
                self.input.drain(..len);
                return Some(value);
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => panic!("the server has closed the connection"),
                Ok(len) => self.input.extend_from_slice(&piece[..len]),
                Err(error)
                    if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) =>
                {
                    return None;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn reply(&mut self) -> Value {
        self.next(PATIENCE).expect("a reply")
    }

    /// The reply to a command; what is heard before it is passed on.
    fn ask(&mut self, line: &str, mut hear: impl FnMut(Value)) -> Value {
        self.send(&format!("{line}\r\n"));
        loop {
            match self.reply() {
                message @ Value::Push(_) => hear(message),
                reply => return reply,
            }
        }
    }
}

/// Writes all numbers of one writer, by commands of several kinds.
fn write(server: &Server, writer: usize) {
    let mut peer = Peer::new(server);
    let mut random = Random::new(writer as u64);
    for number in 1..=NUMBERS {
        let (key, fence, n) = (key(writer, number), fence(writer), number);
        let (lines, replies) = match random.below(4) {
            0 => (format!("SET {key} {n}\r\n"), 1),
            1 => (format!("MULTI\r\nINCR other\r\nSET {key} {n}\r\nEXEC\r\n"), 4),
            2 => (format!("MSET other {n} {key} {n}\r\n"), 1),
            _ => (format!("SET {key}:new {n}\r\nRENAME {key}:new {key}\r\n"), 2),
        };
        peer.send(&format!("{lines}SET {fence} {n}\r\n"));
        for _ in 0..=replies {
            let reply = peer.reply();
            assert!(!matches!(reply, Value::Error(_)), "{reply:?}");
        }
    }
}

/// A client with a cache.
struct Cache {
    mode: Mode,
    reader: Peer,
    listener: Option<Peer>,
    /// The number under each key that it knows; 0: none.
    values: HashMap<String, u64>,
    /// Only changes make the server drop a key.
    is_exact: bool,
    /// How often it has heard of a fence.
    fences: usize,
}

impl Cache {
    fn new(server: &Server, mode: Mode, is_exact: bool) -> Self {
        let mut reader = Peer::new(server);
        let mut listener = None;
        let options = match mode {
            Mode::Read => "".to_owned(),
            Mode::OptIn => "OPTIN".to_owned(),
            Mode::Prefix => "BCAST PREFIX x: PREFIX y:".to_owned(),
            Mode::Redirected => {
                let listener = listener.insert(Peer::new(server));
                let Value::Integer(id) = listener.ask("CLIENT ID", drop) else {
                    panic!("a number")
                };
                listener.ask("SUBSCRIBE __redis__:invalidate", drop);
                format!("REDIRECT {id}")
            }
        };
        if mode != Mode::Redirected {
            reader.ask("HELLO 3", drop);
        }
        let reply = reader.ask(&format!("CLIENT TRACKING ON {options}"), drop);
        assert_eq!(reply, Value::Simple(b"OK".to_vec()));
        let is_exact = is_exact && mode != Mode::Prefix;
        Cache { mode, reader, listener, values: HashMap::new(), is_exact, fences: 0 }
    }

    /// Learns the value of a key, if it does not know it.
    fn learn(&mut self, key: &str) {
        if self.values.contains_key(key) {
            return;
        }
        let mut heard = Vec::new();
        if self.mode == Mode::OptIn {
            self.reader.ask("CLIENT CACHING YES", |message| heard.push(message));
        }
        let reply = self.reader.ask(&format!("GET {key}"), |message| heard.push(message));
        heard.iter().for_each(|message| self.hear(message));
        let value = match reply {
            Value::Null => 0,
            Value::Bulk(text) => String::from_utf8(text).unwrap().parse().unwrap(),
            other => panic!("{other:?}"),
        };
        self.values.insert(key.to_owned(), value);
    }

    /// Hears what has come.
    fn listen(&mut self, limit: Duration) {
        let mut heard = Vec::new();
        match &mut self.listener {
            Some(listener) => heard.extend(std::iter::from_fn(|| listener.next(limit))),
            None => {
                self.reader.ask("PING", |message| heard.push(message));
            }
        }
        heard.iter().for_each(|message| self.hear(message));
    }

    /// Forgets the keys that a message names.
    fn hear(&mut self, message: &Value) {
        let keys = match message {
            Value::Push(parts) | Value::Array(parts) => match parts.last() {
                Some(Value::Array(keys)) => keys,
                other => panic!("not of keys: {other:?}"),
            },
            other => panic!("no message: {other:?}"),
        };
        let keys =
            keys.iter().map(|key| String::from_utf8(key.as_bytes().unwrap().to_vec()).unwrap());
        let known: Vec<_> = keys.filter_map(|key| self.values.remove_entry(&key)).collect();
        for (writer, name) in (0..WRITERS).map(|writer| (writer, fence(writer))) {
            if let Some((_, value)) = known.iter().find(|(key, _)| *key == name) {
                self.fences += 1;
                if self.is_exact {
                    self.check(writer, value + 1);
                }
            }
        }
    }

    /// Fails if a key is known as it was before `number` was written.
    fn check(&self, writer: usize, number: u64) {
        for at in 0..KEYS {
            let (key, least) = (key(writer, at), written(at, number));
            if let Some(value) = self.values.get(&key) {
                assert!(
                    *value >= least,
                    "{:?}: {key} is {value} when {number} is written",
                    self.mode
                );
            }
        }
    }

    /// Whether it knows nothing that is wrong in the end.
    fn is_right(&self) -> bool {
        (0..WRITERS).all(|writer| {
            let is = |key: &str, value| self.values.get(key).is_none_or(|known| *known == value);
            let mut keys = (0..KEYS).map(|at| (key(writer, at), written(at, NUMBERS)));
            keys.all(|(key, value)| is(&key, value)) && is(&fence(writer), NUMBERS)
        })
    }
}

/// How far readers and writers are.
#[derive(Default)]
struct Progress {
    /// Caches that know all fences, so that they hear of each at least once.
    ready: AtomicUsize,
    /// All is written.
    is_over: AtomicBool,
}

/// Reads until all is written; returns how often the cache has heard of a fence.
fn read(server: &Server, mode: Mode, seed: u64, is_exact: bool, progress: &Progress) -> usize {
    let mut random = Random::new(seed);
    let mut cache = Cache::new(server, mode, is_exact);
    (0..WRITERS).for_each(|writer| cache.learn(&fence(writer)));
    progress.ready.fetch_add(1, SeqCst);
    while !progress.is_over.load(SeqCst) {
        for writer in 0..WRITERS {
            cache.learn(&fence(writer));
            cache.learn(&key(writer, random.next()));
        }
        if random.one_in(4) {
            cache.listen(Duration::from_micros(1));
        }
    }
    let end = Instant::now() + PATIENCE;
    while !cache.is_right() {
        assert!(Instant::now() < end, "{mode:?} has not been told of all: {:?}", cache.values);
        cache.listen(Duration::from_millis(1));
    }
    for key in (0..WRITERS).flat_map(|writer| (0..KEYS).map(move |at| key(writer, at))) {
        cache.learn(&key);
    }
    assert!(cache.is_right(), "what it reads is what was written");
    cache.fences
}

fn run(flags: &[&str], is_exact: bool) {
    let server = process::rds(flags);
    let progress = Progress::default();
    thread::scope(|scope| {
        let (server, progress) = (&server, &progress);
        let caches: Vec<_> = (0..MODES.len())
            .map(|at| scope.spawn(move || read(server, MODES[at], at as u64, is_exact, progress)))
            .collect();
        let begin = move |at: usize| {
            let all_know = || progress.ready.load(SeqCst) == MODES.len();
            wait_until("all caches know the fences", all_know);
            write(server, at);
        };
        let writers: Vec<_> = (0..WRITERS).map(|at| scope.spawn(move || begin(at))).collect();
        let results: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // The readers end in any case.
        progress.is_over.store(true, SeqCst);
        results.into_iter().for_each(Result::unwrap);
        for (at, cache) in caches.into_iter().enumerate() {
            let fences = cache.join().unwrap();
            assert!(fences > 0, "{:?} has heard of a fence", MODES[at]);
        }
    });
}

#[test]
fn no_cache_keeps_what_was_overwritten_by_one_worker() {
    run(&["--io-threads", "1"], true);
}

#[test]
fn no_cache_keeps_what_was_overwritten_by_other_workers() {
    run(&["--io-threads", "4"], true);
}

#[test]
fn no_cache_keeps_what_the_table_has_no_place_for() {
    run(&["--io-threads", "3", "--tracking-table-max-keys", "5"], false);
}

#[test]
fn numbers_are_written_in_turn() {
    assert_eq!([0, 1, 7, 8, 9].map(|number| written(0, number)), [0, 0, 0, 8, 8]);
    assert_eq!([0, 1, 7, 8, 9].map(|number| written(1, number)), [0, 1, 1, 1, 9]);
}
