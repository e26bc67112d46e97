// SPDX-License-Identifier: Apache-2.0
//! What only a driver on io_uring can get wrong: buffers that run out, completions that come late.

use super::*;
use crate::uring::Uring;
use crate::worker::Driver;
use std::net::Shutdown;
use std::os::fd::AsFd;

/// Larger than the socket takes at once.
const MUCH: usize = 1 << 20;

/// Whether there is no ring to be tested.
fn is_refused() -> bool {
    options().engine == Engine::Epoll
}

fn ring<F>(rig: &mut Rig<F>) -> &mut Uring {
    let Driver::Completions(uring) = &mut rig.worker.driver else { panic!("a ring") };
    uring
}

/// `much` is answered with [`MUCH`] bytes, all else with itself.
fn much(line: &[u8], out: &mut SendBuf, context: &mut Context<'_>) -> Control {
    if line == b"much" {
        out.put(&vec![b'm'; MUCH]);
        return Control::Continue;
    }
    echo(line, out, context)
}

/// Less than a socket takes at once.
const LARGE: usize = 150_000;

/// Every request is answered with [`LARGE`] bytes.
fn large(_: &[u8], out: &mut SendBuf, _: &mut Context<'_>) -> Control {
    out.put(&vec![b'l'; LARGE]);
    Control::Continue
}

#[test]
fn large_replies_do_not_wait_for_the_end_of_the_turn() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), large);
    let mut clients: Vec<UnixStream> = (0..20).map(|_| rig.connect()).collect();
    rig.settle();
    clients.iter_mut().for_each(|client| client.write_all(b"more\n").unwrap());
    rig.step();
    let has_some = |mut client: &UnixStream| client.read(&mut [0]).is_ok();
    let sent = clients.iter().filter(|client| has_some(client)).count();
    // What comes to a megabyte.
    assert!((12..20).contains(&sent), "{sent}");
}

#[test]
fn few_large_replies_are_in_memory_at_the_same_time() {
    if is_refused() {
        return;
    }
    // A turn serves one connection.
    let mut rig = Rig::new(Options { turn_time: Duration::ZERO, ..options() }, large);
    let mut clients: Vec<UnixStream> = (0..300).map(|_| rig.connect()).collect();
    rig.settle();
    clients.iter_mut().for_each(|client| client.write_all(b"more\n").unwrap());
    let mut most = 0;
    for _ in 0..400 {
        rig.step();
        most = most.max(rig.worker.pool.lent_send_bytes());
    }
    assert!(most < 4 * LARGE, "{most} bytes");
    for client in &mut clients {
        assert_eq!(rig.read_all(client).0.len(), LARGE);
    }
}

#[test]
fn more_may_arrive_at_once_than_there_are_buffers() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), echo);
    let mut clients: Vec<UnixStream> = (0..400).map(|_| rig.connect()).collect();
    rig.settle();
    let line = [&[b'x'; 9_999][..], b"\n"].concat();
    for client in &mut clients {
        client.write_all(&line).unwrap();
    }
    rig.settle();
    for client in &mut clients {
        let mut reply = Vec::new();
        assert!(!read_ready(client, &mut reply));
        assert_eq!(reply, line);
    }
    assert_eq!(ring(&mut rig).buffers_lent(), Uring::BUFFERS, "all are lent again");
}

#[test]
fn a_connection_that_nobody_serves_takes_no_buffer() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), |line, out: &mut SendBuf, context: &mut Context<'_>| {
        if line == b"block" { Control::Block } else { echo(line, out, context) }
    });
    let (mut blocked, mut other) = (rig.connect(), rig.connect());
    blocked.write_all(b"block\n").unwrap();
    rig.settle();
    while blocked.write(&[b'x'; 1000]).is_ok() {
        rig.step();
    }
    rig.settle();
    assert_eq!(ring(&mut rig).buffers_lent(), Uring::BUFFERS);
    let undelivered = rig.connection(1).unwrap().session.undelivered();
    assert!(undelivered <= 256 << 10, "{undelivered} bytes wait: the socket is not received from");
    other.write_all(b"hello\n").unwrap();
    assert_eq!(rig.read_all(&mut other), (b"hello\n".to_vec(), false));
}

/// Lets the time of some sweeps pass.
fn sweep<F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control>(rig: &mut Rig<F>) {
    for _ in 0..20 {
        rig.clock.advance(options().tick);
        rig.settle();
    }
}

#[test]
fn bytes_that_the_kernel_does_not_report_are_found() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), echo);
    let (deaf, _silent) = UnixStream::pair().unwrap();
    let mut client = rig.connect();
    rig.settle();
    let link = rig.connection(1).unwrap().link;
    ring(&mut rig).deafen(link, deaf.as_fd());
    client.write_all(b"hello\n").unwrap();
    assert_eq!(rig.read_all(&mut client), (vec![], false));
    sweep(&mut rig);
    assert_eq!(rig.read_all(&mut client), (b"hello\n".to_vec(), false));
}

#[test]
fn an_end_that_the_kernel_does_not_report_is_found() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), |line, out: &mut SendBuf, context: &mut Context<'_>| {
        if line == b"block" { Control::Block } else { echo(line, out, context) }
    });
    let (deaf, _silent) = UnixStream::pair().unwrap();
    for line in [&b"hello\n"[..], b"block\n", b"hel", b""] {
        let mut client = rig.connect();
        rig.settle();
        let serial = rig.serial;
        let link = rig.connection(serial).unwrap().link;
        ring(&mut rig).deafen(link, deaf.as_fd());
        client.write_all(line).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        rig.settle();
        assert_eq!(rig.worker.connections.len(), 1);
        sweep(&mut rig);
        assert_eq!(rig.worker.connections.len(), 0, "after {}", line.escape_ascii());
        let replies: &[u8] = if line == b"hello\n" { line } else { b"" };
        assert_eq!(rig.read_all(&mut client), (replies.to_vec(), true));
    }
    assert_eq!(ring(&mut rig).links(), 0);
}

#[test]
fn a_unix_socket_is_read_by_its_session() {
    if is_refused() {
        return;
    }
    let options = options();
    READER.set(Reader::Usual);
    let mut rig = Rig::new(options, echo);
    let mut client = rig.connect();
    client.write_all(b"hello\n").unwrap();
    assert_eq!(rig.read_all(&mut client), (b"hello\n".to_vec(), false));
    let link = rig.connection(1).unwrap().link;
    assert!(ring(&mut rig).is_read_by_session(link));

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (near, _) = listener.accept().unwrap();
    let link = ring(&mut rig).enter(0, &mio::net::TcpStream::from_std(near).into());
    assert!(!ring(&mut rig).is_read_by_session(link));
}

#[test]
fn a_link_outlives_its_connection_until_its_operations_have_ended() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), much);
    let mut clients: Vec<UnixStream> = (0..8).map(|_| rig.connect()).collect();
    for client in &mut clients {
        client.write_all(b"much\n").unwrap();
    }
    rig.settle();
    assert_eq!(ring(&mut rig).links(), 8);
    for serial in 1..=4 {
        let slot = rig.worker.slots[&ConnectionId::new(0, serial)];
        rig.worker.remove(slot);
    }
    assert_eq!(rig.worker.connections.len(), 4);
    assert_eq!(ring(&mut rig).links(), 8, "their sends are under way");
    assert_eq!(rig.census.total(), 8, "and their descriptors are in use");
    clients.drain(4..);
    rig.settle();
    assert_eq!(ring(&mut rig).links(), 0);
    assert_eq!(rig.census.total(), 0);
    assert_eq!(rig.worker.pool.bytes(), rig.worker.pool.idle_bytes(), "their blocks are back");
}

#[test]
fn a_late_completion_does_not_meet_the_next_connection_in_its_slot() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), much);
    for round in 0..50 {
        let mut old = rig.connect();
        rig.settle();
        let serial = rig.serial;
        old.write_all(b"much\nold\n").unwrap();
        // Completions of the one that goes are on their way while the next one takes its slot.
        for _ in 0..round % 5 {
            rig.step();
        }
        let slot = rig.worker.slots[&ConnectionId::new(0, serial)];
        rig.worker.remove(slot);
        let mut new = rig.connect();
        new.write_all(b"new\n").unwrap();
        rig.step();
        assert_eq!(rig.worker.slots[&ConnectionId::new(0, serial + 1)], slot);
        assert_eq!(rig.read_all(&mut new), (b"new\n".to_vec(), false));
        drop((old, new));
        rig.settle();
    }
    assert_eq!(ring(&mut rig).links(), 0);
}

#[test]
fn a_worker_that_ends_with_operations_under_way_leaves_none() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), much);
    let mut clients: Vec<UnixStream> = (0..3).map(|_| rig.connect()).collect();
    clients[0].write_all(b"much\n").unwrap();
    rig.settle();
    drop(rig);
    for client in &mut clients {
        assert!(read_ready(client, &mut Vec::new()), "its socket is closed");
    }
}

#[test]
fn sessions_read_their_sockets_while_receive_buffers_have_much() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), echo);
    let (mut before, mut client) = (rig.connect(), rig.connect());
    rig.settle();
    let links: Vec<usize> = (1..=2).map(|serial| rig.connection(serial).unwrap().link).collect();
    ring(&mut rig).note_received(20 << 20);
    let mut after = rig.connect();
    rig.settle();
    let link = rig.connection(3).unwrap().link;
    assert!(ring(&mut rig).is_read_by_session(link), "a new one at once");
    sweep(&mut rig);
    // What comes while they change over is not lost.
    before.write_all(b"hel").unwrap();
    rig.settle();
    assert!(links.iter().all(|&link| ring(&mut rig).is_read_by_session(link)), "the others soon");
    before.write_all(b"lo\n").unwrap();
    for client in [&mut client, &mut after] {
        client.write_all(b"hello\n").unwrap();
    }
    for client in [&mut before, &mut client, &mut after] {
        assert_eq!(rig.read_all(client), (b"hello\n".to_vec(), false));
    }
    // They have much until they have half of it.
    for (received, is_by_session) in [(6 << 20, true), (3 << 20, false)] {
        ring(&mut rig).note_received(20 << 20);
        ring(&mut rig).note_received(received);
        let _client = rig.connect();
        rig.settle();
        let link = rig.connection(rig.serial).unwrap().link;
        assert_eq!(ring(&mut rig).is_read_by_session(link), is_by_session, "{received}");
    }
}

#[test]
fn a_connection_that_sends_much_again_and_again_is_read_by_its_session() {
    if is_refused() {
        return;
    }
    let mut rig = Rig::new(options(), echo);
    let (mut busy, mut calm) = (rig.connect(), rig.connect());
    rig.settle();
    let links: Vec<usize> = (1..=2).map(|serial| rig.connection(serial).unwrap().link).collect();
    let line = [&[b'x'; 11_999][..], b"\n"].concat();
    for round in 0..10 {
        busy.write_all(&line).unwrap();
        calm.write_all(if round % 4 > 0 { &line } else { b"hello\n" }).unwrap();
        assert_eq!(rig.read_all(&mut busy), (line.clone(), false));
        let (reply, is_over) = rig.read_all(&mut calm);
        assert!(!is_over && reply.ends_with(b"\n"));
        assert_eq!(ring(&mut rig).is_read_by_session(links[0]), round >= 3, "{round}");
        assert!(!ring(&mut rig).is_read_by_session(links[1]));
    }
    // What comes while it changes over is not lost, nor is the end.
    busy.write_all(&[&line[..], b"quit\n"].concat()).unwrap();
    assert_eq!(rig.read_all(&mut busy), ([&line[..], b"quit\n"].concat(), true));
    let mut third = rig.connect();
    for _ in 0..200 {
        third.write_all(&line).unwrap();
        rig.step();
        assert!(!read_ready(&mut third, &mut Vec::new()));
    }
    third.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(rig.read_all(&mut third).1);
    assert_eq!(ring(&mut rig).links(), 1, "the calm one's");
}
