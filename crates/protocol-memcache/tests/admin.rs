// SPDX-License-Identifier: Apache-2.0
//! What changes the server as a whole.

mod support;

use buffer::SendBuf;
use protocol::{ConnectionId, Context, Ending, Errand, Execute, Outbox};
use protocol_memcache::{
    CommandId, Manage, Memcache, MemcacheService, Op, Platform, Request, ServiceOptions, Text,
    Topics,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use support::server::{Connection, Server};

/// A process that notes what it is told.
#[derive(Debug, Default)]
struct Noted {
    stops: AtomicU32,
    verbosity: AtomicU32,
    /// MiB.
    limit: AtomicU32,
}

impl Platform for Noted {
    fn stop(&self) {
        self.stops.fetch_add(1, Relaxed);
    }

    fn set_verbosity(&self, level: u32) {
        self.verbosity.store(level.min(2), Relaxed);
    }

    fn verbosity(&self) -> u32 {
        self.verbosity.load(Relaxed)
    }

    fn memory_limit_set(&self, bytes: u64) {
        self.limit.store((bytes >> 20) as u32, Relaxed);
    }
}

fn server(options: ServiceOptions) -> (Server, Arc<Noted>) {
    let noted = Arc::new(Noted::default());
    let mut server = Server::new();
    let platform: Arc<dyn Platform> = noted.clone();
    server.service = MemcacheService::within(platform, server.store.clone(), options);
    (server, noted)
}

/// The replies to `input`, which must not depend on how it arrives.
fn ask(options: &ServiceOptions, input: &str) -> String {
    let replies = [usize::MAX, 7, 1].map(|piece| {
        let (mut server, _) = server(options.clone());
        Connection::default().send(&mut server, input.as_bytes(), piece)
    });
    assert!(replies.windows(2).all(|pair| pair[0] == pair[1]), "{input:?}");
    String::from_utf8(replies[0].clone()).expect("it is text")
}

const NOT_ENABLED: &str = "SERVER_ERROR: shutdown not enabled\r\n";

#[test]
fn a_client_stops_the_server_only_where_it_may() {
    let never = ServiceOptions::new();
    for line in ["shutdown", "shutdown graceful", "shutdown foo"] {
        assert_eq!(ask(&never, &format!("{line}\r\n")), NOT_ENABLED, "{line}");
    }
    assert_eq!(ask(&never, "shutdown noreply\r\nmn\r\n"), "MN\r\n");

    let allowed = ServiceOptions::new().shutdown(true);
    let invalid = "CLIENT_ERROR invalid shutdown mode\r\n";
    for line in ["shutdown foo", "shutdown graceful x"] {
        assert_eq!(ask(&allowed, &format!("{line}\r\n")), invalid, "{line}");
    }
    assert_eq!(ask(&allowed, "shutdown noreply\r\nmn\r\n"), "MN\r\n");
    for line in ["shutdown\r\n", "shutdown graceful\r\n"] {
        let (mut server, noted) = server(allowed.clone());
        let mut connection = Connection::default();
        assert_eq!(connection.send(&mut server, line.as_bytes(), 3), b"");
        assert!(connection.closed && noted.stops.load(Relaxed) == 1, "{line}");
    }
}

#[test]
fn a_server_that_may_not_be_flushed_keeps_its_items() {
    let (mut server, _) = server(ServiceOptions::new().flush(false));
    server.ask(b"set a 0 0 1\r\nx\r\n");
    let refused = "CLIENT_ERROR flush_all not allowed\r\n";
    assert_eq!(server.text("flush_all\r\n"), refused);
    assert_eq!(server.text("flush_all 0\r\nflush_all noreply\r\n"), refused);
    assert_eq!(server.text("flush_all soon\r\nflush_all soon noreply\r\n"), refused);
    // The binary protocol's Flush is answered with status 0x20.
    let frame = [&b"\x80\x08"[..], &[0; 22]].concat();
    let reply = server.ask(&frame);
    assert_eq!(reply[6..8], [0, 0x20]);
    assert_eq!(reply[24..], *b"Auth failure.");
    assert_eq!(server.text("get a\r\n"), "VALUE a 0 1\r\nx\r\nEND\r\n");
    assert!(server.text("stats settings\r\n").contains("STAT flush_enabled no\r\n"));
}

#[test]
fn the_memory_limit_is_passed_on_and_shown() {
    let (mut server, noted) = server(ServiceOptions::new());
    assert_eq!(server.text("cache_memlimit 100\r\n"), "OK\r\n");
    assert!(server.text("cache_memlimit 7\r\n").starts_with("MEMLIMIT_TOO_SMALL"));
    assert_eq!(noted.limit.load(Relaxed), 100);
    assert!(server.text("stats settings\r\n").contains("STAT maxbytes 104857600\r\n"));
    assert!(server.text("stats\r\n").contains("STAT limit_maxbytes 104857600\r\n"));
    let most = "MEMLIMIT_ADJUST_FAILED cannot set maxbytes to more than 256m\r\n";
    server.store.set_limit_max(256 << 20);
    assert_eq!(server.text("cache_memlimit 257\r\n"), most);
    assert_eq!(server.text("cache_memlimit 257 noreply\r\n"), "");
    assert_eq!(noted.limit.load(Relaxed), 100);
}

#[test]
fn the_verbosity_is_passed_on_and_shown() {
    let (mut server, noted) = server(ServiceOptions::new());
    assert_eq!(server.text("verbosity 1\r\n"), "OK\r\n");
    assert_eq!(noted.verbosity.load(Relaxed), 1);
    assert_eq!(server.text("verbosity 4294967295 noreply\r\n"), "");
    assert!(server.text("stats settings\r\n").contains("STAT verbosity 2\r\n"));
    assert_eq!(server.text("verbosity x\r\n"), "CLIENT_ERROR bad command line format\r\n");
}

/// Executes a request of the connection with this number.
fn execute(server: &mut Server, serial: u64, command: CommandId, op: Op<'_>) {
    let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
    let (now, id) = (server.clock.now(), ConnectionId::new(0, serial));
    let mut context = Context::new(now, id, &mut outbox, &server.directory);
    let request = Request::text(command, op, Text::Whole);
    let _ = server.service.execute(&mut Memcache::new(1), request, &mut out, &mut context);
}

#[test]
fn who_stops_the_server_is_shown_to_have_ended_by_it() {
    let (mut server, _) = server(ServiceOptions::new().shutdown(true));
    for serial in 1..=3 {
        server.enter(serial, "tcp:127.0.0.1:5");
    }
    execute(&mut server, 1, CommandId::Watch, Op::Watch(Some(Topics::CONNEVENTS)));
    let stop = Op::Manage(Manage::Shutdown { understood: true });
    execute(&mut server, 2, CommandId::Shutdown, stop);
    let mut outbox = Outbox::new();
    for (serial, ending) in [(2, Ending::Normal), (3, Ending::Idle)] {
        let (now, id) = (server.clock.now(), ConnectionId::new(0, serial));
        let mut context = Context::new(now, id, &mut outbox, &server.directory);
        server.service.closed(&mut Memcache::new(1), ending, &mut context);
    }
    server.service.maintain(server.clock.now(), 100, &mut outbox);
    let errands: Vec<_> = outbox.drain().collect();
    let [(_, Errand::Push(lines))] = &errands[..] else { panic!("{errands:?}") };
    let lines = String::from_utf8(lines.to_vec()).expect("it is text");
    let reasons: Vec<&str> = lines
        .split_whitespace()
        .filter(|word| word.starts_with("reason=") || word.starts_with("cfd="))
        .collect();
    assert_eq!(reasons, ["reason=shutdown", "cfd=2", "reason=idle_timeout", "cfd=3"]);
}
