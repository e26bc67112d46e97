// SPDX-License-Identifier: Apache-2.0
//! Lists of all items. The replies of single lines are those of memcached 1.6.45.

mod support;

use buffer::SendBuf;
use clock::Ticks;
use protocol::{ConnectionId, Context, Control, Ending, Errand, Execute, Outbox, Peer, Ticket};
use protocol_memcache::{
    CommandId, DUMPS_MAX, Dump, Listing, Memcache, Op, Request, ServiceOptions, Text,
};
use std::sync::Arc;
use support::server::Server;

/// A server with some items.
fn filled(items: usize) -> Server {
    let mut server = Server::new();
    for n in 0..items {
        assert_eq!(server.text(&format!("set key{n} 0 0 2\r\nhi\r\n")), "STORED\r\n");
    }
    server
}

#[test]
fn lines_are_checked_as_by_memcached() {
    let bad_class = "BADCLASS invalid class id\r\n";
    let bad_format = "CLIENT_ERROR bad command line format\r\n";
    let no_slab = "CLIENT_ERROR Illegal slab id\r\n";
    let bad_line = "CLIENT_ERROR bad command line\r\n";
    let error = "ERROR\r\n";
    let none = "OK\r\nEND\r\n";
    let table = [
        ("lru_crawler", error),
        ("lru_crawler foo", error),
        ("lru_crawler metadump", error),
        ("lru_crawler metadump all noreply", ""),
        ("  lru_crawler metadump 10", none),
        ("lru_crawler metadump 63", none),
        ("lru_crawler metadump ,2,", none),
        ("lru_crawler metadump 0", bad_class),
        ("lru_crawler metadump 64", bad_class),
        ("lru_crawler metadump 300", bad_class),
        ("lru_crawler metadump 4294967297", bad_class),
        ("lru_crawler metadump 1,x", bad_class),
        ("lru_crawler metadump -1", bad_class),
        ("lru_crawler mgdump", error),
        ("lru_crawler mgdump 9", "OK\r\nEN\r\n"),
        ("lru_crawler mgdump x", bad_class),
        ("lru_crawler crawl", error),
        ("lru_crawler crawl all", "OK\r\n"),
        ("lru_crawler crawl 1", "OK\r\n"),
        ("lru_crawler crawl 1 2", error),
        ("lru_crawler crawl 64", bad_class),
        ("lru_crawler crawl hash", "ERROR an unknown error happened\r\n"),
        ("lru_crawler tocrawl", error),
        ("lru_crawler tocrawl 10", "OK\r\n"),
        ("lru_crawler tocrawl 4294967296", bad_format),
        ("lru_crawler sleep", error),
        ("lru_crawler sleep 100", "OK\r\n"),
        ("lru_crawler sleep x", bad_format),
        ("lru_crawler sleep 1000001", "CLIENT_ERROR sleep must be one second or less\r\n"),
        ("lru_crawler enable x", error),
        ("lru_crawler disable", "OK\r\n"),
        ("stats cachedump", bad_line),
        ("stats cachedump 1", bad_line),
        ("stats cachedump 0 0", "END\r\n"),
        ("stats cachedump 63 5", "END\r\n"),
        ("stats cachedump 64 0", no_slab),
        ("stats cachedump 300 0", no_slab),
        ("stats cachedump x 0", bad_format),
        ("stats cachedump 1 x", bad_format),
        ("stats cachedump 1 -1", bad_format),
        ("stats cachedump -1 1", bad_format),
    ];
    let mut server = filled(1);
    for (line, reply) in table {
        assert_eq!(server.text(&format!("{line}\r\n")), reply, "{line}");
    }
}

#[test]
fn a_line_tells_everything_of_an_item() {
    let mut server = Server::new();
    let set =
        b"set a%b=c\"\xff\x01 5 100 3\r\nbar\r\nms AAEgCg== 2 b F7\r\nhi\r\nmg AAEgCg== b v\r\n";
    assert!(server.ask(set).starts_with(b"STORED\r\nHD\r\nVA 2\r\n"));
    let now = server.clock.now().unix_seconds();
    let (expiry, first) = (now + 100, 1_u64 << 40);
    let expected = format!(
        "OK\r\n\
         key=%00%01%20%0A exp=-1 la={now} cas={} fetch=yes cls=1 size=6 flags=7 \n\
         key=a%25b%3Dc%22%FF%01 exp={expiry} la={now} cas={} fetch=no cls=1 size=11 flags=5 \n\
         END\r\n",
        first + 2,
        first + 1,
    );
    for classes in ["all", "hash", "1", "7,1"] {
        assert_eq!(server.text(&format!("lru_crawler metadump {classes}\r\n")), expected);
    }
    let keys = b"OK\r\nmg AAEgCg== b\r\nmg a%b=c\"\xff\x01\r\nEN\r\n";
    assert_eq!(server.ask(b"lru_crawler mgdump hash\r\n"), keys);
    let expiry = format!(" [3 b; {expiry} s]\r\nEND\r\n");
    let item = [&b"ITEM a%b=c\"\xff\x01"[..], expiry.as_bytes()].concat();
    assert_eq!(server.ask(b"stats cachedump 1 0\r\n"), item);
}

#[test]
fn all_items_are_listed_and_the_next_request_is_served() {
    let mut server = filled(1000);
    let all = server.text("get key7\r\nlru_crawler mgdump all\r\nget key8\r\n");
    assert!(all.starts_with("VALUE key7 0 2\r\nhi\r\nEND\r\nOK\r\nmg key0\r\n"), "{all}");
    assert!(all.ends_with("mg key999\r\nEN\r\nVALUE key8 0 2\r\nhi\r\nEND\r\n"), "{all}");
    assert_eq!(all.matches("mg key").count(), 1000);
    let some = server.text("lru_crawler metadump all key99\r\n");
    assert_eq!(some.matches(" flags=0 \n").count(), 11, "{some}");
    assert_eq!(server.text("lru_crawler mgdump 1 key998\r\n"), "OK\r\nmg key998\r\nEN\r\n");
    let three = server.text("stats cachedump 1 3\r\n");
    assert_eq!(three.matches("ITEM key").count(), 3, "{three}");
    assert!(
        three.contains("ITEM key0 [2 b; 0 s]\r\n") && three.ends_with("\r\nEND\r\n"),
        "{three}"
    );
}

#[test]
fn a_cachedump_ends_after_two_mebibytes() {
    let mut server = Server::new();
    let pad = "k".repeat(200);
    for n in 0..12_000 {
        server.ask(format!("set {pad}{n:05} 0 0 0 noreply\r\n\r\n").as_bytes());
    }
    let dump = server.ask(b"stats cachedump 1 0\r\n");
    assert!(((2 << 20) - 512..=(2 << 20) + 5).contains(&dump.len()), "{}", dump.len());
    assert!(dump.ends_with(b" s]\r\nEND\r\n"));
}

#[test]
fn what_is_switched_off_is_refused_as_by_memcached() {
    let mut server = Server::with(ServiceOptions::new().dump(false));
    let table = [
        ("lru_crawler metadump all", "ERROR metadump not allowed\r\n"),
        ("lru_crawler mgdump hash", "ERROR key dump not allowed\r\n"),
        ("lru_crawler metadump 64", "ERROR metadump not allowed\r\n"),
        ("stats cachedump 1 0", "CLIENT_ERROR stats cachedump not allowed\r\n"),
        ("stats cachedump", "CLIENT_ERROR stats cachedump not allowed\r\n"),
    ];
    for (line, reply) in table {
        assert_eq!(server.text(&format!("{line}\r\n")), reply, "{line}");
    }
    assert!(server.text("stats settings\r\n").contains("STAT dump_enabled no\r\n"));
}

/// The pieces that connections are sent in a turn.
fn turn(server: &mut Server) -> Vec<(ConnectionId, Errand)> {
    let mut outbox = Outbox::new();
    server.service.maintain(server.clock.now(), 100, &mut outbox);
    outbox.drain().collect()
}

/// Begins a dump of all keys on the connection.
fn begin(server: &mut Server, id: ConnectionId) -> (Control, Vec<u8>) {
    let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
    let mut context = Context::new(server.clock.now(), id, &mut outbox, &server.directory);
    let dump = Dump::all(Listing::Mgdump, b"");
    let request = Request::text(CommandId::LruCrawler, Op::Dump(dump), Text::Whole);
    let control = server.service.execute(&mut Memcache::new(1), request, &mut out, &mut context);
    (control, out.front().to_vec())
}

/// Enters a connection, of which some bytes are unread.
fn peer(server: &Server, serial: u64, unread: usize) -> Arc<Peer> {
    let id = ConnectionId::new(0, serial);
    let peer = Arc::new(Peer::new(id, "tcp:1".to_owned(), "tcp:2".to_owned(), Ticks::ZERO));
    peer.hold(0, unread, unread);
    server.directory.enter(peer.clone());
    peer
}

#[test]
fn a_client_that_does_not_read_gets_no_further_piece_and_holds_up_nobody() {
    let mut server = filled(1000);
    let (slow, fast) = (peer(&server, 1, 10), peer(&server, 2, 0));
    for id in [slow.id, fast.id] {
        assert_eq!(begin(&mut server, id), (Control::Stream, b"OK\r\n".to_vec()));
    }
    let mut pieces = 0;
    loop {
        let errands = turn(&mut server);
        let [(to, errand)] = &errands[..] else { panic!("a piece per turn: {errands:?}") };
        assert_eq!(*to, fast.id);
        pieces += 1;
        if let Errand::Resume(ticket, _) = errand {
            assert_eq!(*ticket, Ticket::default());
            break;
        }
    }
    assert_eq!(pieces, 4);
    assert_eq!(turn(&mut server), [], "the other has not read yet");
    slow.hold(0, 0, 0);
    assert_eq!(turn(&mut server).len(), 1);
    // It leaves in the middle.
    let mut outbox = Outbox::new();
    let mut context = Context::new(server.clock.now(), slow.id, &mut outbox, &server.directory);
    server.service.closed(&mut Memcache::new(1), Ending::Normal, &mut context);
    assert_eq!(turn(&mut server), []);
}

#[test]
fn sizes_and_connections_come_in_pieces_too() {
    let mut server = filled(1000);
    for serial in 2..=1000 {
        server.enter(serial, "tcp:127.0.0.1:40000");
    }
    assert_eq!(server.text("stats sizes\r\nmn\r\n"), "STAT 32 1000\r\nEND\r\nMN\r\n");
    let shown = server.text("stats conns\r\nmn\r\n");
    assert_eq!(shown.matches(":state conn_read\r\n").count(), 999);
    assert!(shown.starts_with("STAT 2:addr tcp:127.0.0.1:40000\r\n"), "{shown}");
    assert!(shown.ends_with(":secs_since_last_cmd 0\r\nEND\r\nMN\r\n"), "{shown}");

    let reader = peer(&server, 1001, 0);
    let (mut out, mut outbox) = (SendBuf::new(), Outbox::new());
    let mut context = Context::new(server.clock.now(), reader.id, &mut outbox, &server.directory);
    let request = Request::text(CommandId::Stats, Op::Stats { topic: b"conns" }, Text::Whole);
    let control = server.service.execute(&mut Memcache::new(1), request, &mut out, &mut context);
    assert_eq!((control, out.pending()), (Control::Stream, 0));
    let mut longest = 0;
    let pieces = std::iter::from_fn(|| {
        let errand = turn(&mut server).pop()?.1;
        let (Errand::Push(piece) | Errand::Resume(_, piece)) = errand else { panic!("{errand:?}") };
        longest = longest.max(piece.len());
        Some(())
    });
    assert_eq!(pieces.count(), 8, "1,000 connections, 128 at a time");
    assert!(longest < 20_000, "{longest}");
}

#[test]
fn sizes_are_not_counted_where_items_may_not_be_listed() {
    let mut server = Server::with(ServiceOptions::new().dump(false));
    assert_eq!(server.text("stats sizes\r\n"), "STAT sizes_status disabled\r\nEND\r\n");
}

#[test]
fn many_dumps_run_at_once_and_more_are_refused() {
    let mut server = filled(1);
    for serial in 1..=DUMPS_MAX as u64 {
        assert_eq!(begin(&mut server, ConnectionId::new(0, serial)).0, Control::Stream);
    }
    let (control, reply) = begin(&mut server, ConnectionId::new(0, 99));
    assert_eq!(control, Control::Continue);
    assert_eq!(reply, b"BUSY currently processing crawler request\r\n");
    assert_eq!(turn(&mut server).len(), 1);
    assert_eq!(begin(&mut server, ConnectionId::new(0, 99)).0, Control::Stream);
}
