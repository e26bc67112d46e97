// SPDX-License-Identifier: Apache-2.0
//! Connections with blocked requests.

use super::*;
use protocol::Ticket;
use std::net::Shutdown;

const LIMIT: Duration = Duration::from_secs(60);

/// Larger than the socket takes at once.
const MUCH: usize = 1 << 20;

/// `block`, `stream` and `defer` do so, `wake N TEXT` resumes the first block of the `N`-th connection, `much` is
/// answered with [`MUCH`] bytes, all else with itself.
fn wait(line: &[u8], out: &mut SendBuf, context: &mut Context<'_>) -> Control {
    let text = std::str::from_utf8(line).unwrap();
    match text.split_once(' ').unwrap_or((text, "")) {
        ("block", _) => return Control::Block,
        ("stream", _) => {
            out.put(b"begin\n");
            return Control::Stream;
        }
        ("defer", _) if context.ticket == Ticket::default() => return Control::Defer,
        ("wake", to) => {
            let (to, text) = to.split_once(' ').unwrap();
            let to = ConnectionId::new(0, to.parse().unwrap());
            context.outbox.resume(to, Ticket::default(), Bytes::from(format!("{text}\n")));
        }
        ("much", _) => out.put(&vec![b'm'; MUCH]),
        _ => return echo(line, out, context),
    }
    Control::Continue
}

fn resume(reply: &'static [u8]) -> Errand {
    Errand::Resume(Ticket::default(), Bytes::from_static(reply))
}

fn push(message: &'static [u8]) -> Errand {
    Errand::Push(Bytes::from_static(message))
}

/// What the client is sent until nothing more happens, its end as a `$`.
fn heard<F>(rig: &mut Rig<F>, client: &mut UnixStream) -> String
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    let (mut bytes, ended) = rig.read_all(client);
    bytes.extend_from_slice(if ended { b"$" } else { b"" });
    String::from_utf8(bytes).unwrap().replace('\n', " ")
}

#[test]
fn rule_block_requests_behind_it_wait_for_the_reply() {
    let mut rig = Rig::new(options(), wait);
    let (mut one, mut two) = (rig.connect(), rig.connect());
    one.write_all(b"a\nblock\nb\n").unwrap();
    assert_eq!(heard(&mut rig, &mut one), "a ");
    one.write_all(b"c\n").unwrap();
    assert_eq!(heard(&mut rig, &mut one), "");
    two.write_all(b"wake 1 here\nd\n").unwrap();
    assert_eq!(heard(&mut rig, &mut one), "here b c ");
    assert_eq!(heard(&mut rig, &mut two), "d ");
}

#[test]
fn a_request_may_be_resumed_in_the_turn_in_which_it_blocks() {
    let mut rig = Rig::new(options(), |line, out: &mut SendBuf, context: &mut Context<'_>| {
        let (id, ticket) = (context.connection, context.ticket);
        context.outbox.resume(id, ticket, Bytes::from_static(b"at once\n"));
        echo(line, out, context);
        Control::Block
    });
    let mut client = rig.connect();
    client.write_all(b"a\nb\n").unwrap();
    assert_eq!(heard(&mut rig, &mut client), "a at once b at once ");
}

#[test]
fn a_letter_from_another_worker_resumes_and_one_too_many_does_nothing() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"block\ndefer\nblock\na\n").unwrap();
    rig.settle();
    // A time-out and a reply that cross: the second one must not end the next block.
    rig.write(1, resume(b"first\n"));
    rig.write(1, resume(b"second\n"));
    assert_eq!(heard(&mut rig, &mut client), "first defer ");
    let next = Errand::Resume(Ticket::default().next(), Bytes::new());
    rig.write(1, next);
    assert_eq!(heard(&mut rig, &mut client), "a ");
}

#[test]
fn messages_reach_it_and_errands_keep_their_order() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"block\na\nb\n").unwrap();
    rig.write(1, push(b"1\n"));
    assert_eq!(heard(&mut rig, &mut client), "1 ");
    for errand in [push(b"2\n"), resume(b"reply\n"), push(b"3\n"), Errand::Close, push(b"4\n")] {
        rig.write(1, errand);
    }
    assert_eq!(heard(&mut rig, &mut client), "2 reply 3 $");
}

#[test]
fn a_reply_that_has_begun_reaches_a_peer_that_has_closed_its_side() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"a\nstream\nb\n").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(heard(&mut rig, &mut client), "a begin ");
    rig.write(1, push(b"more\n"));
    assert_eq!(heard(&mut rig, &mut client), "more ");
    let peer = rig.connection(1).unwrap().peer.clone();
    assert_eq!(peer.output_bytes(), 0, "it has been taken");
    rig.write(1, resume(b"end\n"));
    assert_eq!(heard(&mut rig, &mut client), "end b $");
    // One that is gone altogether is removed when it is sent more.
    let mut client = rig.connect();
    client.write_all(b"stream\n").unwrap();
    assert_eq!(heard(&mut rig, &mut client), "begin ");
    drop(client);
    rig.settle();
    rig.write(2, push(b"more\n"));
    rig.settle();
    assert!(rig.connection(2).is_none());
}

#[test]
fn it_keeps_no_buffer_while_it_is_quiet() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"a\nblock\n").unwrap();
    assert_eq!(heard(&mut rig, &mut client), "a ");
    let session = &rig.connection(1).unwrap().session;
    assert_eq!((session.recv().capacity(), session.send().capacity()), (0, 0));
}

#[test]
fn what_arrives_meanwhile_takes_what_a_request_may_at_most() {
    let limits = Limits { request_bytes: 100_000, ..Limits::default() };
    let mut rig = Rig::new(Options { limits, ..options() }, wait);
    let mut client = rig.connect();
    client.write_all(b"block\n").unwrap();
    rig.settle();
    let line = [&[b'x'; 999][..], b"\n"].concat();
    let mut sent = 0;
    while client.write(&line).is_ok() {
        sent += 1;
        rig.step();
    }
    assert!(sent * line.len() > 110_000, "the socket took {sent} lines");
    let session = &rig.connection(1).unwrap().session;
    assert!(session.recv().filled().len() >= 100_000, "it is read on");
    assert!(session.recv().capacity() <= 1 << 18, "a block that doubles");
    rig.write(1, resume(b""));
    // The last line may have been taken in part only.
    let (all, _) = rig.read_all(&mut client);
    assert_eq!(all.len(), sent * line.len());
}

#[test]
fn a_peer_that_leaves_is_noticed_whatever_it_has_sent_before() {
    for behind in [0, 1, 1_000, 8 << 10, 50_000] {
        for (at_once, is_half_closed) in
            [(true, true), (true, false), (false, true), (false, false)]
        {
            let mut rig = Rig::new(options(), wait);
            let mut client = rig.connect();
            client.write_all(b"block\n").unwrap();
            if !at_once {
                rig.settle();
            }
            client.write_all(&b"x\n".repeat(behind)).unwrap();
            rig.settle();
            assert!(rig.connection(1).is_some());
            if is_half_closed {
                client.shutdown(Shutdown::Write).unwrap();
                assert_eq!(heard(&mut rig, &mut client), "$", "nobody waits for a reply any more");
            } else {
                drop(client);
                rig.settle();
            }
            assert!(rig.connection(1).is_none(), "{behind} requests behind");
            assert_eq!(rig.census.total(), 0);
        }
    }
}

#[test]
fn a_peer_that_leaves_behind_more_than_its_socket_holds_is_noticed() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"block\n").unwrap();
    for _ in 0..100 {
        client.write_all(&b"x\n".repeat(5_000)).unwrap();
        rig.settle();
    }
    assert!(rig.connection(1).is_some());
    drop(client);
    rig.settle();
    assert!(rig.connection(1).is_none());
    assert_eq!(rig.worker.pool.bytes(), rig.worker.pool.idle_bytes(), "nobody holds anything");
}

#[test]
fn a_peer_that_has_left_before_its_request_blocks_is_noticed() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"a\nblock\nb\n").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(heard(&mut rig, &mut client), "a $");
    assert!(rig.connection(1).is_none());
}

#[test]
fn replies_before_a_block_are_flushed_even_if_that_has_to_wait() {
    for is_half_closed in [true, false] {
        let mut rig = Rig::new(options(), wait);
        let mut client = rig.connect();
        client.write_all(b"much\nblock\nb\n").unwrap();
        rig.settle();
        assert!(rig.pending(1) > 0);
        if is_half_closed {
            client.shutdown(Shutdown::Write).unwrap();
        }
        let (all, ended) = rig.read_all(&mut client);
        assert_eq!((all.len(), ended), (MUCH, is_half_closed));
    }
}

#[test]
fn it_runs_into_no_idle_and_no_read_timeout() {
    let options = Options { idle_timeout: LIMIT, read_timeout: LIMIT, ..options() };
    let mut rig = Rig::new(options, wait);
    let (mut idle, mut inside) = (rig.connect(), rig.connect());
    idle.write_all(b"block\n").unwrap();
    inside.write_all(b"block\nhalf a requ").unwrap();
    rig.settle();
    let look_for_late_ones = |rig: &mut Rig<_>| {
        for _ in 0..20 {
            rig.clock.advance(Duration::from_millis(1));
            rig.step();
        }
    };
    rig.clock.advance(LIMIT * 100);
    look_for_late_ones(&mut rig);
    assert_eq!(rig.census.total(), 2);
    for serial in [1, 2] {
        rig.write(serial, resume(b""));
    }
    rig.clock.advance(LIMIT - Duration::from_millis(100));
    rig.step();
    rig.clock.advance(LIMIT - Duration::from_millis(100));
    look_for_late_ones(&mut rig);
    assert_eq!(rig.census.total(), 2, "its time begins when it goes on");
    rig.clock.advance(Duration::from_millis(100));
    look_for_late_ones(&mut rig);
    assert_eq!(rig.census.total(), 0);
}

#[test]
fn it_runs_into_the_write_timeout_like_others() {
    let mut rig = Rig::new(Options { write_timeout: LIMIT, ..options() }, wait);
    let mut deaf = rig.connect();
    deaf.write_all(b"much\nblock\n").unwrap();
    rig.settle();
    rig.clock.advance(LIMIT);
    rig.step();
    assert!(rig.connection(1).is_none());
}

#[test]
fn a_drain_does_not_wait_for_what_may_never_come() {
    let mut rig = Rig::new(options(), wait);
    let (mut old, mut new) = (rig.connect(), rig.connect());
    old.write_all(b"a\nblock\n").unwrap();
    rig.settle();
    new.write_all(b"c\nblock\n").unwrap();
    let deadline = rig.clock.now().ticks + LIMIT;
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    assert!((0..10).any(|_| rig.step()), "it ends at once");
    for (mut client, expected) in [(old, &b"a\n"[..]), (new, b"c\n")] {
        let mut got = Vec::new();
        assert!(read_ready(&mut client, &mut got));
        assert_eq!(got, expected);
    }
}

#[test]
fn a_drain_waits_for_the_end_of_a_reply_that_has_begun() {
    for is_half_closed in [false, true] {
        let mut rig = Rig::new(options(), wait);
        let (mut client, mut other) = (rig.connect(), rig.connect());
        client.write_all(b"a\nstream\nb\n").unwrap();
        other.write_all(b"block\n").unwrap();
        if is_half_closed {
            client.shutdown(Shutdown::Write).unwrap();
        }
        rig.settle();
        let deadline = rig.clock.now().ticks + LIMIT;
        rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
        for _ in 0..10 {
            assert!(!rig.step());
            rig.write(1, push(b"more\n"));
        }
        assert!(rig.connection(1).is_some() && rig.connection(2).is_none());
        rig.write(1, resume(b"end\n"));
        assert!((0..10).any(|_| rig.step()), "then it ends at once");
        let mut got = Vec::new();
        assert!(read_ready(&mut client, &mut got));
        let expected = [&b"a\nbegin\n"[..], &b"more\n".repeat(10), b"end\nb\n"].concat();
        assert_eq!(got, expected);
    }
}

#[test]
fn a_drain_waits_for_such_a_reply_until_its_deadline() {
    let mut rig = Rig::new(options(), wait);
    let mut client = rig.connect();
    client.write_all(b"stream\n").unwrap();
    rig.settle();
    let deadline = rig.clock.now().ticks + LIMIT;
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    rig.clock.advance(LIMIT - Duration::from_millis(1));
    assert!((0..10).all(|_| !rig.step()));
    rig.clock.advance(Duration::from_millis(1));
    assert!(rig.step());
    assert_eq!(rig.worker.connections.len(), 0);
}
