// SPDX-License-Identifier: Apache-2.0
//! The listener thread: which connections it accepts and refuses, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use support::{Crew, connect, on_every_engine, read, wait_until};

#[test]
fn connections_go_to_the_workers_in_turn() {
    on_every_engine(|engine| {
        let crew = Crew::start(engine, 2);
        let (acceptor, handle, address) = crew.acceptor(100);
        let running = thread::spawn(move || acceptor.run());
        let mut clients: Vec<TcpStream> = (0..6).map(|_| connect(address)).collect();
        let mut served = [0, 0];
        for client in &mut clients {
            client.write_all(b"?").unwrap();
            let [b'?', worker] = read::<2>(client) else { panic!("an echo") };
            served[usize::from(worker - b'0')] += 1;
        }
        assert_eq!(served, [3, 3]);
        handle.stop().unwrap();
        running.join().unwrap().unwrap();
        crew.finish();
    });
}

#[test]
fn those_in_the_backlog_are_served_before_the_end() {
    on_every_engine(|engine| {
        let crew = Crew::start(engine, 1);
        let (acceptor, handle, address) = crew.acceptor(100);
        // Nobody accepts yet: these connections wait in the backlog, their requests in their sockets.
        let mut clients: Vec<TcpStream> = (0..5).map(|_| connect(address)).collect();
        for client in &mut clients {
            client.write_all(b"?").unwrap();
        }
        handle.stop().unwrap();
        acceptor.run().unwrap();
        crew.finish();
        for mut client in clients {
            let mut reply = Vec::new();
            client.read_to_end(&mut reply).unwrap();
            assert_eq!(reply, b"?0");
        }
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "the listener is closed");
    });
}

#[test]
fn a_client_too_many_is_told_and_its_place_is_taken_when_one_is_free() {
    on_every_engine(|engine| {
        let crew = Crew::start(engine, 2);
        let census = crew.census.clone();
        let (acceptor, handle, address) = crew.acceptor(2);
        let running = thread::spawn(move || acceptor.run());
        let (mut one, two) = (connect(address), connect(address));
        wait_until("both are taken in", || census.total() == 2);

        let mut text = Vec::new();
        connect(address).read_to_end(&mut text).unwrap();
        assert_eq!(text, b"busy\n");

        drop(two);
        wait_until("a place is free", || census.total() == 1);
        let mut three = connect(address);
        for client in [&mut one, &mut three] {
            client.write_all(b"?").unwrap();
            assert_eq!(read::<2>(client)[0], b'?');
        }
        handle.stop().unwrap();
        running.join().unwrap().unwrap();
        crew.finish();
    });
}
