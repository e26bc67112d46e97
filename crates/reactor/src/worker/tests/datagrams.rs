// SPDX-License-Identifier: Apache-2.0
//! Requests in datagrams, beside those of connections.

use super::*;
use crate::{AnswerLimits, DatagramSocket, Quota};
use std::net::UdpSocket;

const NO_LIMITS: AnswerLimits = AnswerLimits { datagrams: 100, quota: None };

/// A rig that receives datagrams, at the returned address.
fn rig<F>(limits: AnswerLimits, service: F) -> (Rig<F>, std::net::SocketAddr)
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    let sockets = DatagramSocket::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
    let address = sockets[0].address();
    (Rig::with(options(), service, |worker| worker.receive_datagrams(sockets, 0, limits)), address)
}

fn client(server: std::net::SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

fn ask(client: &UdpSocket, id: u8, payload: &[u8]) {
    client.send(&[&[0, id, 0, 0, 0, 1, 0, 0], payload].concat()).unwrap();
}

/// The payloads that have come, each with the number of its request.
fn answers(client: &UdpSocket) -> Vec<(u8, String)> {
    let mut datagram = [0; 2000];
    let mut all = Vec::new();
    while let Ok(n) = client.recv(&mut datagram) {
        all.push((datagram[1], String::from_utf8(datagram[8..n].to_vec()).unwrap()));
    }
    all
}

#[test]
fn many_clients_are_answered_each_its_own() {
    let (mut rig, address) = rig(NO_LIMITS, echo);
    let mut connection = rig.connect();
    let clients: Vec<UdpSocket> = (0..100).map(|_| client(address)).collect();
    for round in 0..3 {
        for (i, client) in clients.iter().enumerate() {
            ask(client, round, format!("{round} of {i}\n").as_bytes());
        }
        connection.write_all(b"and a connection\n").unwrap();
        rig.settle();
        for (i, client) in clients.iter().enumerate() {
            assert_eq!(answers(client), [(round, format!("{round} of {i}\n"))]);
        }
        assert_eq!(rig.read_all(&mut connection).0, b"and a connection\n");
    }
}

#[test]
fn datagrams_do_not_wait_for_an_event_when_the_time_is_up() {
    let options = Options { turn_time: Duration::ZERO, ..options() };
    let sockets = DatagramSocket::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
    let address = sockets[0].address();
    let enter = |worker: &mut Worker<_, _, _>| worker.receive_datagrams(sockets, 0, NO_LIMITS);
    let mut rig = Rig::with(options, echo, enter);
    let client = client(address);
    for id in 0..100 {
        ask(&client, id, b"x\n");
    }
    let mut ids = Vec::new();
    let mut steps = 0;
    while ids.len() < 100 {
        rig.step();
        let got = answers(&client);
        assert!(got.len() <= 8, "{} in a turn without time", got.len());
        ids.extend(got.into_iter().map(|(id, _)| id));
        steps += 1;
        assert!(steps < 1000, "{} of 100 answered", ids.len());
    }
    assert_eq!(ids, (0..100).collect::<Vec<u8>>());
}

#[test]
fn several_addresses_are_served() {
    let bind = || DatagramSocket::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
    let sockets: Vec<_> = (0..3).flat_map(|_| bind()).collect();
    let clients: Vec<UdpSocket> = sockets.iter().map(|socket| client(socket.address())).collect();
    let enter = |worker: &mut Worker<_, _, _>| worker.receive_datagrams(sockets, 0, NO_LIMITS);
    let mut rig = Rig::with(options(), echo, enter);
    for round in 0..3 {
        for client in &clients {
            for id in 0..40 {
                ask(client, id, b"x\n");
            }
        }
        rig.settle();
        for client in &clients {
            assert_eq!(answers(client).len(), 40, "round {round}");
        }
    }
}

#[test]
fn a_source_gets_no_more_than_its_number_in_a_second() {
    let limits = AnswerLimits { datagrams: 100, quota: Some(Arc::new(Quota::new(10))) };
    let (mut rig, address) = rig(limits, long_reply);
    let (client, other) = (client(address), client(address));
    for _ in 0..2 {
        // Each takes eight datagrams, and the first of the second is taken before it is known.
        for id in 0..5 {
            ask(&client, id, b"x\n");
        }
        ask(&other, 9, b"x\n");
        rig.settle();
        let ids: Vec<u8> = answers(&client).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [0; 8]);
        assert_eq!(answers(&other), [], "another port is the same source");
        let diary = DIARY.take();
        assert_eq!(diary, ["run x", "run x", "run x"], "what has no answer left is not served");
        rig.clock.advance(Duration::from_secs(1));
    }
}

#[test]
fn an_answer_of_too_many_datagrams_becomes_an_error() {
    let limits = AnswerLimits { datagrams: 7, quota: None };
    let (mut rig, address) = rig(limits, long_reply);
    let client = client(address);
    ask(&client, 1, b"x\n");
    rig.settle();
    assert_eq!(answers(&client), [(1, "too large\n".to_owned())]);
}

#[test]
fn what_is_no_request_is_dropped_and_the_next_is_served() {
    let (mut rig, address) = rig(NO_LIMITS, echo);
    let client = client(address);
    for hostile in [&b""[..], b"x", b"\0\x01\0\0\0\x02\0\0x\n", b"\0\x01\0\0\0\x01\0\0no end", &[0xff; 9000]] {
        client.send(hostile).unwrap();
        ask(&client, 5, b"x\n");
    }
    rig.settle();
    assert_eq!(answers(&client), vec![(5, "x\n".to_owned()); 5]);
}

#[test]
fn another_server_is_not_answered() {
    let (mut rig, address) = rig(NO_LIMITS, echo);
    let twin = UdpSocket::bind(("127.0.0.2", address.port())).unwrap();
    twin.connect(address).unwrap();
    twin.set_nonblocking(true).unwrap();
    ask(&twin, 1, b"x\n");
    rig.settle();
    assert_eq!(answers(&twin), []);
}

#[test]
fn errands_for_a_datagram_are_dropped() {
    let (mut rig, address) = rig(NO_LIMITS, |line: &[u8], out: &mut SendBuf, context: &mut Context<'_>| {
        context.outbox.push(context.connection, Bytes::from_static(b"message\n"));
        context.outbox.resume(context.connection, context.ticket, Bytes::from_static(b"late\n"));
        out.put(line);
        Control::Block
    });
    let client = client(address);
    ask(&client, 1, b"x\n");
    rig.settle();
    assert_eq!(answers(&client), [(1, "x".to_owned())]);
}

#[test]
fn a_worker_that_drains_answers_no_datagrams() {
    let (mut rig, address) = rig(NO_LIMITS, echo);
    let mut connection = rig.connect();
    rig.settle();
    connection.write_all(b"x").unwrap();
    let deadline = rig.clock.now().ticks + Duration::from_secs(9);
    rig.worker.mailbox().send(Message::Drain { deadline }).unwrap();
    let client = client(address);
    ask(&client, 1, b"x\n");
    for _ in 0..50 {
        if rig.step() {
            break;
        }
    }
    assert_eq!(answers(&client), []);
}

#[test]
fn a_socket_that_cannot_be_received_from_is_tried_again_once_in_a_while() {
    // Receiving from it fails, although its event says that something waits.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sockets = vec![DatagramSocket::new(listener.into()).unwrap()];
    let mut rig =
        Rig::with(options(), echo, |worker| worker.receive_datagrams(sockets, 0, NO_LIMITS));
    let _client = std::net::TcpStream::connect(address).unwrap();
    let is_due = |rig: &Rig<_>, after| {
        let at = rig.clock.now().ticks + Duration::from_millis(after);
        rig.worker.ports.as_ref().unwrap().has_more(at)
    };
    for _ in 0..3 {
        while !is_due(&rig, 100) {
            rig.step();
        }
        assert!(!is_due(&rig, 99) && rig.worker.sleep().is_some(), "the worker does not spin");
        rig.clock.advance(Duration::from_millis(100));
        rig.step();
    }
}
