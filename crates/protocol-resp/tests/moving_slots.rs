// SPDX-License-Identifier: Apache-2.0
//! A key of a slot that moves to another node is there when a command asks for it, and gone when its shard is
//! locked: the client is sent to the other node, and the key is not made anew.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[macro_use]
#[path = "support/forward.rs"]
mod forward;

use buffer::SendBuf;
use clock::Clock;
use keyspace::{Keyspace, Scope, View};
use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Parsed, Protocol};
use protocol_resp::service::{Host, Resp, RespService, config};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use storage_typed::TypedStore;

/// The first node has all slots. What `{}` stands for says which move to the second.
const NODES: &str = "\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-16383{}
bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 127.0.0.1:7002@17002 master - 0 0 2 connected
vars currentEpoch 2 lastVoteEpoch 0
";

/// That of `key` does.
const MOVES: &str = " [12539->-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb]";

/// A keyspace from which another worker takes `key` between two locks.
#[derive(Clone)]
struct Shared {
    inner: TypedStore,
    /// After so many locks of its shard.
    locks_left: Rc<Cell<Option<usize>>>,
}

impl Keyspace for Shared {
    forward_to_inner!();

    fn view(&mut self, scope: Scope, unix_ms: u64) -> Self::View<'_> {
        let left = self.locks_left.get().filter(|_| scope.contains(self.inner.scope(b"key")));
        if let Some(left) = left {
            self.locks_left.set(left.checked_sub(1));
        }
        if left == Some(0) {
            let mut view = self.inner.view(self.inner.scope(b"key"), unix_ms);
            let entry = view.take(0, b"key").unwrap();
            view.dispose(entry);
        }
        self.inner.view(scope, unix_ms)
    }

    fn prefetch(&self, _: usize, _: &[u8], _: keyspace::Stage) {}

    fn prefetch_element(&self, _: usize, _: &[u8], _: &[u8]) {}
}

/// A node with one connection.
struct Node {
    host: Arc<Host>,
    service: RespService<Shared>,
    connection: Resp,
    locks_left: Rc<Cell<Option<usize>>>,
}

impl Node {
    fn new() -> Self {
        let locks_left = Rc::default();
        let inner = TypedStore::builder().seed(3).build();
        let keyspace = Shared { inner, locks_left: Rc::clone(&locks_left) };
        let host = Arc::new(Host::new(keyspace.databases()));
        let enabled = config::parameter(b"cluster-enabled").unwrap();
        host.configure(enabled, b"yes").unwrap();
        let service = RespService::new(keyspace, Arc::clone(&host));
        let node = Node { connection: host.connection(), service, host, locks_left };
        node.set_moving("");
        node
    }

    fn set_moving(&self, moving: &str) {
        self.host.set_nodes(NODES.replace("{}", moving).as_bytes()).unwrap();
    }

    /// The replies to commands, one in each line.
    fn ask(&mut self, lines: &str) -> String {
        let (mut out, mut outbox, directory) = (SendBuf::new(), Outbox::new(), Directory::new());
        let now = Clock::manual(1).now();
        let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
        for line in lines.lines() {
            let line = format!("{line}\r\n");
            let mut cursor = <Resp as Protocol>::Cursor::default();
            let parsed = self.connection.parse(&mut cursor, line.as_bytes());
            let Ok(Parsed::Request { request, .. }) = parsed else { panic!("no command") };
            self.service.execute(&mut self.connection, request, &mut out, &mut context);
        }
        String::from_utf8(out.front().to_vec()).unwrap()
    }
}

#[test]
fn what_was_admitted_for_a_key_that_is_gone_is_asked_of_the_other_node() {
    for (commands, replies) in
        [("APPEND key x", ""), ("DEL key", ""), ("MULTI\nAPPEND key x\nEXEC", "+OK\r\n+QUEUED\r\n")]
    {
        let mut node = Node::new();
        assert_eq!(node.ask("SET key a"), "+OK\r\n");
        node.set_moving(MOVES);
        assert_eq!(node.ask("APPEND key b"), ":2\r\n", "it is here");
        // Each command is admitted for the key; the last of them then locks it.
        let queued = commands.lines().count() - 1;
        node.locks_left.set(Some(queued.max(1)));
        let asked = "-ASK 12539 127.0.0.1:7002\r\n";
        assert_eq!(node.ask(commands), format!("{replies}{asked}"), "{commands}");
        assert_eq!(node.locks_left.get(), None, "it was taken");
        assert_eq!(node.ask("DBSIZE"), ":0\r\n", "{commands}");
    }
}
