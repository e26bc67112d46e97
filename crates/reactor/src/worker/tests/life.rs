// SPDX-License-Identifier: Apache-2.0
//! How connections begin and end.

use super::*;
use std::net::Shutdown;

/// Larger than the socket takes at once.
const MUCH: usize = 1 << 20;

/// `much` is answered with [`MUCH`] bytes, `quit` closes.
fn much(line: &[u8], out: &mut SendBuf, context: &mut Context<'_>) -> Control {
    if line == b"much" {
        out.put(&vec![b'm'; MUCH]);
        return Control::Continue;
    }
    echo(line, out, context)
}

#[test]
fn a_first_request_that_comes_with_the_end_is_answered() {
    let mut rig = Rig::new(options(), echo);
    let mut client = rig.connect();
    client.write_all(b"one\ntwo\nhalf").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rig.read_all(&mut client), (b"one\ntwo\n".to_vec(), true));
    assert!(rig.worker.connections.is_empty());
    assert_eq!(rig.census.total(), 0, "its place is free");
}

#[test]
fn an_end_behind_a_full_block_is_seen() {
    let mut rig = Rig::new(options(), echo);
    let mut client = rig.connect();
    let line = [&vec![b'x'; rig.worker.options.recv_block - 1][..], b"\n"].concat();
    client.write_all(&line).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rig.read_all(&mut client), (line, true));
}

#[test]
fn a_half_closed_client_gets_replies_that_had_to_wait() {
    let mut rig = Rig::new(options(), much);
    let mut client = rig.connect();
    client.write_all(b"much\nmuch\nlast\n").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    rig.settle();
    assert!(rig.pending(1) > 0, "the socket cannot hold it");
    let (all, ended) = rig.read_all(&mut client);
    assert_eq!((all.len(), ended), (2 * MUCH + 5, true));
    assert!(all.ends_with(b"mlast\n"));
}

#[test]
fn what_was_written_before_a_close_is_flushed() {
    let mut rig = Rig::new(options(), much);
    let mut client = rig.connect();
    client.write_all(b"much\nquit\nnever\n").unwrap();
    rig.settle();
    assert!(rig.connection(1).is_some(), "it stays while it has something to send");
    let (all, ended) = rig.read_all(&mut client);
    assert_eq!((all.len(), ended), (MUCH + 5, true));
    assert!(all.ends_with(b"mquit\n"), "and what came behind the quit is not answered");
}

#[test]
fn a_client_that_vanishes_with_replies_unread_is_removed() {
    let mut rig = Rig::new(options(), much);
    let mut client = rig.connect();
    client.write_all(b"much\n").unwrap();
    rig.settle();
    assert!(rig.pending(1) > 0);
    drop(client);
    rig.settle();
    assert!(rig.connection(1).is_none());
    assert_eq!((rig.worker.directory.list().len(), rig.census.total()), (0, 0));
}

/// So it finds nothing left of it, such as its subscriptions.
#[test]
fn the_service_hears_of_an_end_before_the_client_sees_it() {
    let mut rig = Rig::new(options(), echo);
    let mut client = rig.connect();
    client.write_all(b"quit\n").unwrap();
    WITNESS.set(Some(client.try_clone().unwrap()));
    DIARY.take();
    rig.settle();
    assert_eq!(DIARY.take(), ["run quit", "not seen "]);
    assert!(rig.read_all(&mut client).1, "it ends");
    assert!(rig.connection(1).is_none());
}

#[test]
fn a_drain_answers_what_was_sent_and_ends_the_worker() {
    let mut rig = Rig::new(options(), echo);
    let (mut old, idle) = (rig.connect(), rig.connect());
    rig.settle();
    // Both requests are sent before the worker hears of the end, one by a client it has not met.
    old.write_all(b"sent before\n").unwrap();
    let mut new = rig.connect();
    new.write_all(b"me too\n").unwrap();
    let deadline = rig.clock.now().ticks + Duration::from_secs(1);
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    while !rig.step() {}
    for (mut client, expected) in [(old, &b"sent before\n"[..]), (new, b"me too\n"), (idle, b"")] {
        let mut reply = Vec::new();
        assert!(read_ready(&mut client, &mut reply), "it is closed");
        assert_eq!(reply, expected);
    }
}

#[test]
fn a_drain_ends_at_its_deadline_and_not_before() {
    let mut rig = Rig::new(options(), much);
    let mut deaf = rig.connect();
    deaf.write_all(b"much\n").unwrap();
    rig.settle();
    let deadline = rig.clock.now().ticks + Duration::from_secs(5);
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    rig.clock.advance(Duration::from_millis(4_999));
    assert!((0..10).all(|_| !rig.step()), "it waits for the client to read");
    rig.clock.advance(Duration::from_millis(1));
    assert!(rig.step(), "and no longer than that");
    assert!(rig.worker.connections.is_empty());
}

#[test]
fn all_idle_connections_are_found_within_ten_ticks() {
    let idle_timeout = Duration::from_secs(60);
    let mut rig = Rig::new(Options { idle_timeout, ..options() }, echo);
    let clients: Vec<UnixStream> = (0..300).map(|_| rig.connect()).collect();
    rig.settle();
    rig.clock.advance(idle_timeout - Duration::from_millis(20));
    for _ in 0..10 {
        rig.clock.advance(Duration::from_millis(1));
        rig.step();
    }
    assert_eq!(rig.census.total(), clients.len(), "none is closed early");
    rig.clock.advance(Duration::from_millis(10));
    for _ in 0..10 {
        rig.step();
        rig.clock.advance(Duration::from_millis(1));
    }
    assert_eq!(rig.worker.connections.len(), 0);
    rig.settle();
    assert_eq!(rig.census.total(), 0, "their sockets are closed");
}

#[test]
fn a_client_is_not_idle_while_it_takes_a_long_reply() {
    let idle_timeout = Duration::from_secs(60);
    let options = Options { idle_timeout, write_timeout: Duration::ZERO, ..options() };
    let mut rig = Rig::new(options, much);
    let mut client = rig.connect();
    client.write_all(b"much\n").unwrap();
    rig.settle();
    assert!(rig.pending(1) > 0);
    let pass = |rig: &mut Rig<_>, time: Duration| {
        rig.clock.advance(time);
        for _ in 0..20 {
            rig.clock.advance(Duration::from_millis(1));
            rig.step();
        }
    };
    pass(&mut rig, 2 * idle_timeout);
    assert_eq!(rig.read_all(&mut client).0.len(), MUCH);
    pass(&mut rig, idle_timeout - Duration::from_millis(100));
    assert!(rig.connection(1).is_some(), "its time has begun when it had all");
    pass(&mut rig, Duration::from_millis(100));
    assert!(rig.connection(1).is_none());
}

/// The connections that have ended since the last call, and why.
fn endings() -> Vec<(u64, Ending)> {
    let closed = |heard| match heard {
        Heard::Closed(serial, ending) => Some((serial, ending)),
        Heard::Maintain | Heard::Rest | Heard::Buffers(_) => None,
    };
    HEARD.take().into_iter().filter_map(closed).collect()
}

#[test]
fn the_service_hears_why_connections_end() {
    let limit = Duration::from_secs(60);
    let limits = Limits { request_bytes: 64, ..Limits::default() };
    let timeouts = Options { idle_timeout: limit, read_timeout: limit, ..options() };
    let mut rig = Rig::new(Options { limits, write_timeout: limit, ..timeouts }, much);
    endings();

    let (mut quits, leaves, mut long) = (rig.connect(), rig.connect(), rig.connect());
    quits.write_all(b"quit\n").unwrap();
    rig.settle();
    assert_eq!(endings(), [(1, Ending::Normal)], "a request has asked for it");
    drop(leaves);
    rig.settle();
    assert_eq!(endings(), [(2, Ending::Normal)], "its client has closed it");
    long.write_all(&[b'x'; 64]).unwrap();
    rig.settle();
    assert_eq!(endings(), [], "it lingers, for its client has not seen the reply");
    drop(long);
    rig.settle();
    assert_eq!(endings(), [(3, Ending::Error)], "it was refused");

    let (_idle, mut half, mut deaf) = (rig.connect(), rig.connect(), rig.connect());
    let (_patient, mut last) = (rig.connect_with(PATIENT), rig.connect_with(PATIENT));
    half.write_all(b"hal").unwrap();
    deaf.write_all(b"much\n").unwrap();
    rig.settle();
    rig.clock.advance(limit);
    rig.settle();
    let mut overdue = endings();
    overdue.sort_by_key(|&(serial, _)| serial);
    assert_eq!(overdue, [(4, Ending::Idle), (5, Ending::Idle), (6, Ending::Error)]);

    last.write_all(b"much\n").unwrap();
    rig.settle();
    let deadline = rig.clock.now().ticks + Duration::from_secs(1);
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    rig.settle();
    assert_eq!(endings(), [(7, Ending::Shutdown)]);
    rig.clock.advance(Duration::from_secs(1));
    assert!(rig.step());
    assert_eq!(endings(), [(8, Ending::Shutdown)], "also of one that could not be flushed");
}

#[test]
fn a_newcomer_that_cannot_be_served_is_counted() {
    use crate::metrics::ACCEPT_ERROR;
    if options().engine != Engine::Epoll {
        return;
    }
    let mut rig = Rig::new(options(), echo);
    let before = ACCEPT_ERROR.value();
    // No events can be had of a file.
    let file = std::os::fd::OwnedFd::from(tempfile::tempfile().unwrap());
    let newcomer = Newcomer {
        stream: mio::net::UnixStream::from_std(file.into()).into(),
        from: None,
        tls: None,
        serial: 9,
        local: "unix:test".into(),
        tag: 0,
        seat: rig.census.seat(),
    };
    rig.worker.mailbox().send(Message::Connection(Box::new(newcomer))).unwrap();
    rig.settle();
    assert_eq!((rig.worker.connections.len(), rig.census.total()), (0, 0));
    assert!(ACCEPT_ERROR.value() > before);
}
