// SPDX-License-Identifier: Apache-2.0
//! What is prefetched for a command: its only key, or the first of a script, in the connection's database, and the
//! element that it asks for.

#[macro_use]
#[path = "support/forward.rs"]
mod forward;

use buffer::SendBuf;
use clock::Clock;
use keyspace::{Keyspace, Scope};
use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Parsed, Protocol, Stage};
use protocol_resp::service::{Host, Resp, RespService};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use storage_typed::TypedStore;

/// A keyspace that writes down what it is asked to prefetch.
#[derive(Clone)]
struct Noting {
    inner: TypedStore,
    notes: Rc<RefCell<Vec<String>>>,
}

impl Noting {
    fn note(&self, db: usize, key: &[u8], what: &str) {
        self.notes.borrow_mut().push(format!("{db} {} {what}", key.escape_ascii()));
    }
}

impl Keyspace for Noting {
    forward_to_inner!();

    fn view(&mut self, scope: Scope, unix_ms: u64) -> Self::View<'_> {
        self.inner.view(scope, unix_ms)
    }

    fn prefetch(&self, db: usize, key: &[u8], stage: keyspace::Stage) {
        self.note(db, key, &format!("{stage:?}"));
    }

    fn prefetch_element(&self, db: usize, key: &[u8], element: &[u8]) {
        self.note(db, key, &format!("element {}", element.escape_ascii()));
    }
}

/// A server with one connection.
struct Server {
    service: RespService<Noting>,
    connection: Resp,
    notes: Rc<RefCell<Vec<String>>>,
}

impl Server {
    fn new() -> Self {
        let notes = Rc::default();
        let inner = TypedStore::builder().seed(3).build();
        let keyspace = Noting { inner, notes: Rc::clone(&notes) };
        let host = Arc::new(Host::new(keyspace.databases()));
        Server { connection: host.connection(), service: RespService::new(keyspace, host), notes }
    }

    /// Executes a command.
    fn run(&mut self, line: &[u8]) {
        let (mut out, mut outbox, directory) = (SendBuf::new(), Outbox::new(), Directory::new());
        let now = Clock::manual(1).now();
        let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
        let parsed = self.connection.parse(&mut <Resp as Protocol>::Cursor::default(), line);
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("no command") };
        self.service.execute(&mut self.connection, request, &mut out, &mut context);
    }

    /// What is prefetched for a command, in all stages.
    fn prefetched(&self, line: &[u8]) -> Vec<String> {
        let parsed = self.connection.parse(&mut <Resp as Protocol>::Cursor::default(), line);
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("no command") };
        for stage in Stage::ALL {
            self.service.prefetch(&self.connection, &request, stage);
        }
        self.notes.take()
    }
}

#[test]
fn a_batch_is_prefetched_as_its_commands_are() {
    let server = Server::new();
    let lines: [&'static [u8]; 5] =
        [b"GET a\r\n", b"PING\r\n", b"HGET h f\r\n", b"MGET a b\r\n", b"SET b 1\r\n"];
    let parse = |line: &&'static [u8]| {
        let parsed = server.connection.parse(&mut <Resp as Protocol>::Cursor::default(), line);
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("no command") };
        request
    };
    let commands: Vec<_> = lines.iter().map(parse).collect();
    for stage in Stage::ALL {
        for command in &commands {
            server.service.prefetch(&server.connection, command, stage);
        }
        let one_by_one = server.notes.take();
        let has_more = server.service.prefetch_all(&server.connection, commands.iter(), stage);
        let together = server.notes.take();
        assert!(has_more, "the keyspace leaves that open");
        assert_eq!(together, one_by_one);
        assert_eq!(together.len(), 3, "{together:?}");
    }
}

#[test]
fn the_key_is_prefetched_in_the_database_of_the_connection() {
    let mut server = Server::new();
    assert_eq!(server.prefetched(b"GET a\r\n"), ["0 a Index", "0 a Item", "0 a Value"]);
    server.run(b"SELECT 5\r\n");
    assert_eq!(server.prefetched(b"GET a\r\n"), ["5 a Index", "5 a Item", "5 a Value"]);
    server.run(b"SELECT 0\r\n");
    assert_eq!(server.prefetched(b"INCR b\r\n"), ["0 b Index", "0 b Item", "0 b Value"]);
}

#[test]
fn an_element_is_prefetched_in_place_of_the_rest_of_the_value() {
    let mut server = Server::new();
    server.run(b"SELECT 2\r\n");
    for (line, element) in [
        (&b"HGET k f\r\n"[..], "f"),
        (b"HSET k f v\r\n", "f"),
        (b"HDEL k f g\r\n", "f"),
        (b"SADD k m\r\n", "m"),
        (b"SISMEMBER k m\r\n", "m"),
        (b"ZSCORE k m\r\n", "m"),
        (b"ZINCRBY k 1 m\r\n", "m"),
        (b"ZADD k 1 m\r\n", "m"),
    ] {
        let expected = ["2 k Index".into(), "2 k Item".into(), format!("2 k element {element}")];
        assert_eq!(server.prefetched(line), expected, "{}", line.escape_ascii());
    }
}

#[test]
fn the_first_key_of_a_script_is_prefetched() {
    let server = Server::new();
    for (line, key) in [
        (&b"EVAL text 1 k\r\n"[..], "k"),
        (b"EVALSHA sha 2 a b arg\r\n", "a"),
        (b"FCALL_RO f 1 k arg arg\r\n", "k"),
        (b"BLMPOP 0 1 l LEFT\r\n", "l"),
    ] {
        let expected = ["Index", "Item", "Value"].map(|stage| format!("0 {key} {stage}"));
        assert_eq!(server.prefetched(line), expected, "{}", line.escape_ascii());
    }
    for line in [&b"EVAL text 0 arg\r\n"[..], b"EVAL text 1\r\n", b"EVAL text\r\n"] {
        assert_eq!(server.prefetched(line), [""; 0], "{}", line.escape_ascii());
    }
}

#[test]
fn several_keys_or_none_are_not_prefetched() {
    let server = Server::new();
    for line in [&b"MGET a b\r\n"[..], b"PING\r\n", b"GET\r\n", b"NOTHING a\r\n", b"EVAL a\r\n"] {
        assert_eq!(server.prefetched(line), [""; 0], "{}", line.escape_ascii());
    }
}
