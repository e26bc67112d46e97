// SPDX-License-Identifier: Apache-2.0
//! What the sessions cannot show: several workers, a full store, statistics, options.

mod support;

use clock::Clock;
use protocol::{Buffers, Context, Directory, Execute, Outbox, Parsed, Protocol, Stage};
use protocol_memcache::{
    CommandId, Cursor, Get, Memcache, MemcacheService, Op, Request, ServiceOptions, Text,
    WHOLE_MAX_CROWDED,
};
use std::time::Duration;
use support::server::{Connection, Server};

#[test]
fn a_delayed_flush_takes_place_a_second_before_its_time_for_all_workers() {
    let mut one = Server::new();
    let mut two = one.worker();
    one.ask(b"set a 0 0 1\r\n1\r\nflush_all 2\r\n");
    one.clock.advance(Duration::from_millis(999));
    assert_eq!(two.text("get a\r\n"), "VALUE a 0 1\r\n1\r\nEND\r\n");
    one.clock.advance(Duration::from_millis(1));
    assert_eq!(two.text("get a\r\nset a 0 0 1\r\n2\r\n"), "END\r\nSTORED\r\n");
    assert_eq!(one.text("get a\r\n"), "VALUE a 0 1\r\n2\r\nEND\r\n");
    one.clock.advance(Duration::from_secs(10));
    assert_eq!(two.text("get a\r\n"), "VALUE a 0 1\r\n2\r\nEND\r\n");
}

/// memcached flushes what is older than the second before the time that is given.
#[test]
fn a_flush_within_a_second_is_at_once() {
    let mut server = Server::new();
    assert_eq!(
        server.text("set a 0 0 1\r\n1\r\nflush_all 1\r\nget a\r\n"),
        "STORED\r\nOK\r\nEND\r\n"
    );
    server.ask(b"set a 0 0 1\r\n2\r\n");
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.text("get a\r\n"), "VALUE a 0 1\r\n2\r\nEND\r\n");
}

#[test]
fn a_flush_with_a_delay_that_is_no_time_counts_and_does_nothing() {
    let mut server = Server::new();
    server.ask(b"set a 0 0 1\r\n1\r\n");
    let count =
        || metrics::value("shoebill_memcache_commands_total{command=\"flush_all\"}").unwrap();
    let before = count();
    assert_eq!(server.text("flush_all soon\r\n"), "CLIENT_ERROR invalid exptime argument\r\n");
    assert_eq!(server.text("flush_all soon noreply\r\nget a\r\n"), "VALUE a 0 1\r\n1\r\nEND\r\n");
    assert!(count() > before);
}

#[test]
fn a_worker_naps_until_a_delayed_flush() {
    let nap = Duration::from_secs(1);
    let mut one = Server::new();
    let mut two = one.worker();
    assert!(one.service.may_nap(one.clock.now(), nap));
    two.ask(b"flush_all 3\r\n");
    assert!(one.service.may_nap(one.clock.now(), nap));
    one.clock.advance(Duration::from_secs(2));
    assert!(!one.service.may_nap(one.clock.now(), nap));
    one.clock.advance(Duration::from_secs(1));
    one.service.maintain(one.clock.now(), 10, &mut Outbox::new());
    assert!(one.service.may_nap(one.clock.now(), nap));
    two.ask(b"watch connevents\r\n");
    assert!(!one.service.may_nap(one.clock.now(), nap), "it may have lines to send");
}

#[test]
fn a_due_flush_does_not_wait_for_maintenance() {
    let mut server = Server::new();
    server.ask(b"set a 0 0 1\r\n1\r\nflush_all 2\r\n");
    server.clock.advance(Duration::from_secs(1));
    let (mut out, mut outbox) = (buffer::SendBuf::new(), Outbox::new());
    let directory = Directory::new();
    let id = protocol::ConnectionId::new(0, 1);
    let mut context = Context::new(server.clock.now(), id, &mut outbox, &directory);
    let op = Op::Get(Get { key: b"a", cas: false, touch: None });
    let request = Request::text(CommandId::Get, op, Text::Whole);
    let mut codec = protocol_memcache::Memcache::new(10);
    for stage in Stage::ALL {
        server.service.prefetch(&codec, &request, stage);
    }
    server.service.execute(&mut codec, request, &mut out, &mut context);
    assert_eq!(out.front(), b"END\r\n");
}

#[test]
fn without_memory_nothing_is_stored_and_the_client_hears_it() {
    let mut server = Server::new();
    server.ask(b"set a 0 0 1\r\n1\r\nset b 0 0 1\r\n1\r\n");
    server.store.set_full(true);
    let out_of_memory = "SERVER_ERROR out of memory storing object\r\n";
    for request in ["add c", "replace a", "append a", "prepend a"] {
        let reply = server.text(&format!("{request} 0 0 1\r\n2\r\n"));
        assert_eq!(reply, out_of_memory, "{request}");
    }
    assert_eq!(server.text("incr a 1\r\n"), out_of_memory);
    assert_eq!(server.text("incr a 1 noreply\r\n"), "");
    assert_eq!(server.text("get a b\r\n"), "VALUE a 0 1\r\n1\r\nVALUE b 0 1\r\n1\r\nEND\r\n");
    // A client that replaces a value must never see the old one again.
    assert_eq!(server.text("set a 0 0 1\r\n2\r\n"), out_of_memory);
    assert_eq!(server.text("set b 0 0 1 noreply\r\n2\r\n"), "");
    assert_eq!(server.text("get a b\r\n"), "END\r\n");
}

#[test]
fn an_update_that_is_asked_again_answers_once() {
    let mut server = Server::new();
    server.store.set_races(2);
    server.ask(b"set n 3 0 2\r\n10\r\n");
    assert_eq!(server.text("incr n 1\r\n"), "11\r\n");
    assert_eq!(server.text("gat 0 n\r\n"), "VALUE n 3 2\r\n11\r\nEND\r\n");
    assert_eq!(
        server.text("append n 0 0 1\r\n1\r\nget n\r\n"),
        "STORED\r\nVALUE n 3 3\r\n111\r\nEND\r\n"
    );
    assert_eq!(server.text("touch n 1\r\n"), "TOUCHED\r\n");
}

#[test]
fn large_values_leave_by_reference() {
    let mut server = Server::new();
    for len in [16 * 1024 - 1, 16 * 1024] {
        let value = vec![b'v'; len];
        let set = [format!("set k 0 0 {len}\r\n").as_bytes(), &value, b"\r\n"].concat();
        server.ask(&set);
        let expected = [format!("VALUE k 0 {len}\r\n").as_bytes(), &value, b"\r\nEND\r\n"].concat();
        assert!(server.ask(b"get k\r\n") == expected, "get of {len}");
        assert!(server.ask(b"gat 0 k\r\n") == expected, "gat of {len}");
    }
    let twice = server.ask(b"get k k\r\nversion\r\n");
    assert!(twice.ends_with(b"v\r\nEND\r\nVERSION 1.6.45\r\n"));
    assert_eq!(twice.iter().filter(|&&byte| byte == b'v').count(), 2 * 16 * 1024);
}

/// Where connections' buffers have an eighth of the memory, values that are not small go to the store as they arrive, also
/// one of which a part is in a buffer already.
#[test]
fn values_are_taken_in_pieces_while_buffers_are_crowded() {
    let mut server = Server::new();
    server.ask(b"cache_memlimit 8\r\n");
    let codec = Memcache::new(1 << 20).crowd(server.service.crowd());
    let (text, meta) = (b"set k 0 0 100000\r\n12345".to_vec(), b"ms k 100000\r\n12345".to_vec());
    let total = (9 + 100_000_u32).to_be_bytes();
    let binary = [&[0x80, 1, 0, 1, 8, 0, 0, 0][..], &total, &[0; 12], &[0; 8], b"k12345"].concat();
    let small = format!("set k 0 0 {WHOLE_MAX_CROWDED}\r\n").into_bytes();
    let mut cursors = [Cursor::default(); 4];
    let mut is_in_pieces = |server: &mut Server, bytes| {
        server.service.buffers(Buffers { bytes, unsent: 0 });
        let mut cursors = cursors.iter_mut();
        [&text, &meta, &binary, &small].map(|input| {
            let cursor = cursors.next().expect("each has one");
            let mut behind = *cursor;
            match codec.parse(&mut behind, input) {
                Ok(Parsed::Request { request, .. }) => {
                    assert!(matches!(request.op, Op::Upload(_) | Op::UploadMeta(_)));
                    true
                }
                Ok(Parsed::NeedMore { .. }) => {
                    *cursor = behind;
                    false
                }
                other => panic!("{other:?}"),
            }
        })
    };
    assert_eq!(is_in_pieces(&mut server, 1 << 20), [false; 4]);
    assert_eq!(is_in_pieces(&mut server, (1 << 20) + 1), [true, true, true, false]);
    assert_eq!(is_in_pieces(&mut server, (1 << 19) + 1), [true, true, true, false]);
    assert_eq!(is_in_pieces(&mut server, 1 << 19), [false; 4]);
}

#[test]
fn general_statistics_count_what_happened_and_can_be_reset() {
    let mut server = Server::new();
    let count = |text: &str, name: &str| -> u64 {
        let start = format!("STAT {name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{name} in {text}")).parse().expect("a number")
    };
    assert_eq!(server.text("stats reset\r\n"), "RESET\r\n");
    server.clock.advance(Duration::from_secs(90));
    server.ask(b"set a 0 0 1\r\n1\r\nget a b a\r\nincr b 1\r\ngat 0 a b\r\ndelete a\r\n");
    let text = server.text("stats\r\n");
    assert!(text.starts_with("STAT pid ") && text.ends_with("\r\nEND\r\n"), "{text}");
    assert_eq!(count(&text, "uptime"), 90);
    assert_eq!(count(&text, "time"), server.clock.now().unix_seconds());
    assert_eq!(count(&text, "limit_maxbytes"), 64 << 20);
    // Metrics are the process's, and other tests run in it: these are lower bounds.
    for (name, least) in [
        ("cmd_get", 3),
        ("get_hits", 2),
        ("get_misses", 1),
        ("cmd_set", 1),
        ("incr_misses", 1),
        ("cmd_touch", 2),
        ("touch_hits", 1),
        ("delete_hits", 1),
    ] {
        assert!(count(&text, name) >= least, "{name} in {text}");
    }
    assert_eq!(count(&text, "total_items"), 1);
    let before = metrics::value("shoebill_memcache_commands_total{command=\"set\"}")
        .expect("it is declared");
    server.ask(b"stats reset\r\n");
    assert_eq!(count(&server.text("stats\r\n"), "total_items"), 0);
    let after = metrics::value("shoebill_memcache_commands_total{command=\"set\"}")
        .expect("it is declared");
    assert!(after >= before, "a counter never goes back");
}

#[test]
fn settings_show_the_options() {
    let options = ServiceOptions::new()
        .version("9.9")
        .item_max(2048)
        .threads(3)
        .port(11_211)
        .listen("127.0.0.1")
        .idle_timeout(Duration::from_secs(60))
        .evictions(false);
    let mut server = Server::with(options);
    assert_eq!(server.text("version\r\n"), "VERSION 9.9\r\n");
    let text = server.text("stats settings\r\n");
    for line in [
        "maxbytes 67108864",
        "tcpport 11211",
        "inter 127.0.0.1",
        "num_threads 3",
        "item_size_max 2048",
        "evictions off",
        "idle_timeout 60",
        "domain_socket NULL",
    ] {
        assert!(text.contains(&format!("STAT {line}\r\n")), "{line} in {text}");
    }
    let body = "v".repeat(2048 - 60);
    server.ask(format!("set a 0 0 {}\r\n{body}\r\n", body.len()).as_bytes());
    assert_eq!(server.text("append a 0 0 1\r\nv\r\n"), "NOT_STORED\r\n");
}

#[test]
fn connections_are_listed_as_memcached_lists_them() {
    let mut server = Server::new();
    server.enter(1, "tcp:127.0.0.1:40000");
    server.enter(2, "unix:/tmp/socket");
    server.clock.advance(Duration::from_millis(2500));
    let expected = "STAT 1:addr tcp:127.0.0.1:40000\r\n\
                    STAT 1:listen_addr tcp:127.0.0.1:11211\r\n\
                    STAT 1:state conn_parse_cmd\r\n\
                    STAT 1:secs_since_last_cmd 2\r\n\
                    STAT 2:addr unix:/tmp/socket\r\n\
                    STAT 2:listen_addr tcp:127.0.0.1:11211\r\n\
                    STAT 2:state conn_read\r\n\
                    STAT 2:secs_since_last_cmd 2\r\n\
                    END\r\n";
    assert_eq!(server.text("stats conns\r\n"), expected);
}

#[test]
fn items_are_shown_as_one_class() {
    let mut server = Server::new();
    assert_eq!(server.text("stats items\r\n"), "END\r\n");
    server.ask(b"set a 0 0 1\r\n1\r\n");
    let items = server.text("stats items\r\n");
    assert!(items.starts_with("STAT items:1:number 1\r\n"), "{items}");
    let slabs = server.text("stats slabs\r\n");
    assert!(
        slabs.starts_with("STAT 1:chunk_size ") && slabs.contains("STAT active_slabs 1\r\n"),
        "{slabs}"
    );
    assert_eq!(server.text("stats nothing\r\n"), "ERROR\r\n");
}

#[test]
fn the_engine_speaks_for_itself() {
    let mut server = Server::new();
    server.ask(b"set a 0 0 1\r\n1\r\nset b 0 0 1\r\n1\r\n");
    server.clock.advance(Duration::from_millis(1500));
    let expected = "STAT map_items 2\r\nSTAT map:seen_ms 1500\r\nSTAT map_kind tree\r\nEND\r\n";
    assert_eq!(server.text("stats store\r\n"), expected);
}

#[test]
fn maintenance_gives_memory_back() {
    let mut server = Server::new();
    server.ask(b"set a 0 1 1\r\n1\r\nset b 0 0 1\r\n1\r\n");
    server.clock.advance(Duration::from_secs(2));
    server.service.maintain(server.clock.now(), 10, &mut Outbox::new());
    let stats = storage::Store::stats(server.service.store());
    assert_eq!(stats.items, 1);
}

#[test]
fn the_store_hears_when_the_worker_sleeps_and_what_its_buffers_take() {
    let mut server = Server::new();
    server.ask(b"set a 0 0 1\r\n1\r\nget a\r\n");
    assert_eq!(server.store.heard(), (0, 0), "a busy worker does not rest");
    server.service.rest();
    server.service.buffers(Buffers { bytes: 1 << 20, unsent: 0 });
    assert_eq!(server.store.heard(), (1, 1 << 20));
    server.service.buffers(Buffers { bytes: 5, unsent: 0 });
    assert_eq!(server.store.heard(), (1, 5));
}

#[test]
fn what_is_no_request_is_counted() {
    let mut server = Server::new();
    let before = metrics::value("shoebill_memcache_malformed_total").expect("it is declared");
    server.ask(b"foo\r\nset k 0 0 1\r\nxyz\r\n");
    let after = metrics::value("shoebill_memcache_malformed_total").expect("it is declared");
    assert!(after >= before + 3, "{before} {after}");
}

#[test]
fn nothing_is_served_behind_quit() {
    let mut server = Server::new();
    let mut connection = Connection::default();
    let replies = connection.send(&mut server, b"version\r\nquit\r\nversion\r\n", usize::MAX);
    assert_eq!(replies, b"VERSION 1.6.45\r\n");
    assert!(connection.closed);
}

#[test]
fn the_service_goes_with_any_clock() {
    // A flush in the far future and a clock at its start: nothing overflows.
    let mut server = Server::new();
    server.clock = Clock::manual(0);
    assert_eq!(server.text("flush_all 2147483647\r\n"), "OK\r\n");
    assert_eq!(
        server.text("set a 0 2147483647 1\r\n1\r\nget a\r\n"),
        "STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n"
    );
    assert_eq!(server.text("set a 0 -1 1\r\n1\r\nget a\r\n"), "STORED\r\nEND\r\n");
    let _: &MemcacheService<_> = &server.service;
}
