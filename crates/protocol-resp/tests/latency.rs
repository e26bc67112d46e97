// SPDX-License-Identifier: Apache-2.0
//! The events of LATENCY that are no commands: parts of the keyspace's background work.

#[macro_use]
#[path = "support/forward.rs"]
mod forward;

use buffer::SendBuf;
use clock::Clock;
use keyspace::{Chore, Gone, Keyspace, Scope};
use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Parsed, Protocol};
use protocol_resp::service::{Host, Resp, RespService};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use storage_typed::TypedStore;

/// A keyspace in which evictions and each part of the background work take two milliseconds or more.
#[derive(Clone)]
struct Slow {
    inner: TypedStore,
}

impl Keyspace for Slow {
    forward_to_inner!(all but make_room);

    fn make_room(&mut self, unix_ms: u64, gone: &mut dyn FnMut(Gone<'_>)) -> bool {
        thread::sleep(Duration::from_millis(2));
        self.inner.make_room(unix_ms, gone)
    }

    fn view(&mut self, scope: Scope, unix_ms: u64) -> Self::View<'_> {
        self.inner.view(scope, unix_ms)
    }

    fn prefetch(&self, _: usize, _: &[u8], _: keyspace::Stage) {}

    fn prefetch_element(&self, _: usize, _: &[u8], _: &[u8]) {}

    fn maintain_in_chores(
        &mut self,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
        ended: &mut dyn FnMut(Chore),
    ) -> bool {
        self.inner.maintain_in_chores(unix_ms, budget, gone, &mut |part| {
            thread::sleep(Duration::from_millis(2));
            ended(part);
        })
    }
}

/// A server with one connection.
struct Server {
    service: RespService<Slow>,
    connection: Resp,
}

impl Server {
    fn new() -> Self {
        let keyspace = Slow { inner: TypedStore::builder().seed(3).build() };
        let host = Arc::new(Host::new(keyspace.databases()));
        Server { connection: host.connection(), service: RespService::new(keyspace, host) }
    }

    fn ask(&mut self, line: &str) -> String {
        let (mut out, mut outbox, directory) = (SendBuf::new(), Outbox::new(), Directory::new());
        let now = Clock::manual(1).now();
        let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
        let line = format!("{line}\r\n");
        let mut cursor = <Resp as Protocol>::Cursor::default();
        let parsed = self.connection.parse(&mut cursor, line.as_bytes());
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("no command") };
        self.service.execute(&mut self.connection, request, &mut out, &mut context);
        String::from_utf8(out.front().to_vec()).expect("it is text")
    }

    fn maintain(&mut self) {
        let mut outbox = Outbox::new();
        self.service.maintain(Clock::manual(1).now(), 100, &mut outbox);
    }
}

#[test]
fn background_work_that_takes_long_is_noted_above_the_threshold() {
    const EVENTS: [&str; 3] = ["expire-cycle", "eviction-cycle", "active-defrag-cycle"];
    let mut server = Server::new();
    server.maintain();
    assert_eq!(server.ask("LATENCY LATEST"), "*0\r\n", "nobody asked for it");
    assert_eq!(server.ask("CONFIG SET latency-monitor-threshold 1"), "+OK\r\n");
    server.maintain();
    let latest = server.ask("LATENCY LATEST");
    for event in EVENTS {
        assert!(latest.contains(event), "{event}: {latest}");
        assert!(server.ask(&format!("LATENCY HISTORY {event}")).starts_with("*1\r\n*2\r\n"));
    }
    assert_eq!(server.ask(&format!("LATENCY RESET {}", EVENTS.join(" "))), ":3\r\n");
    assert_eq!(server.ask("CONFIG SET latency-monitor-threshold 600000"), "+OK\r\n");
    server.maintain();
    assert_eq!(server.ask(&format!("LATENCY RESET {}", EVENTS.join(" "))), ":0\r\n");
}

#[test]
fn evictions_before_a_command_that_take_long_are_noted() {
    let mut server = Server::new();
    assert_eq!(server.ask("CONFIG SET maxmemory 1gb"), "+OK\r\n");
    assert_eq!(server.ask("SET key value"), "+OK\r\n");
    assert_eq!(server.ask("LATENCY HISTORY eviction-cycle"), "*0\r\n", "the threshold is 0");
    assert_eq!(server.ask("CONFIG SET latency-monitor-threshold 1"), "+OK\r\n");
    assert_eq!(server.ask("SET key value"), "+OK\r\n");
    assert!(server.ask("LATENCY HISTORY eviction-cycle").starts_with("*1\r\n*2\r\n"));
    assert!(server.ask("LATENCY GRAPH eviction-cycle").contains("eviction-cycle - high "));
    assert!(server.ask("LATENCY DOCTOR").contains("eviction-cycle: in 1 seconds, "));
}
