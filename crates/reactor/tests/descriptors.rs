// SPDX-License-Identifier: Apache-2.0
//! Out of file descriptors: a process of its own, for it takes away the process's descriptors.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use reactor::Engine;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use support::{Crew, connect, on_every_engine, read, wait_until};

/// Descriptors that the process may have.
const MOST: u64 = 64;

fn counted(metric: &str) -> i128 {
    metrics::value(metric).unwrap()
}

#[test]
fn accepting_goes_on_when_there_are_descriptors_again() {
    rlimit::setrlimit(rlimit::Resource::NOFILE, MOST, MOST).unwrap();
    on_every_engine(accepting_pauses_until_there_are);
    on_every_engine(those_too_many_give_theirs_back_at_once);
}

fn accepting_pauses_until_there_are(engine: Engine) {
    let crew = Crew::start(engine, 1);
    let (acceptor, handle, address) = crew.acceptor(100);
    let running = thread::spawn(move || acceptor.run());
    let (accepted, paused) = (counted("connections_accepted"), counted("accept_paused"));
    let (failed, lost) = (counted("accept_error"), counted("accept_paused_ms"));
    let mut early = connect(address);
    early.write_all(b"1").unwrap();
    assert_eq!(&read::<2>(&mut early), b"10");

    // The limit leaves room for one descriptor, which the client takes: none for its other end.
    let mut hoard = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    assert!(hoard.pop().is_some());
    let mut late = connect(address);
    late.write_all(b"2").unwrap();
    wait_until("it notices", || counted("accept_paused") >= paused + 2);
    assert!(counted("accept_error") >= failed + 2);
    assert_eq!(counted("connections_accepted"), accepted + 1);

    early.write_all(b"3").unwrap();
    assert_eq!(&read::<2>(&mut early), b"30", "those who are in are served");
    // It pauses: a loop that kept trying would have counted thousands by the time of two pauses.
    let pauses = counted("accept_paused");
    wait_until("a pause ends", || counted("accept_paused") > pauses);
    assert!(counted("accept_paused_ms") > lost, "it slept in between");
    assert!(counted("accept_paused") < paused + 100);

    hoard.clear();
    assert_eq!(&read::<2>(&mut late), b"20", "the one who waited is served");
    assert_eq!(counted("connections_accepted"), accepted + 2);
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    crew.finish();
}

/// A ring accepts before it is known whether there are too many.
fn those_too_many_give_theirs_back_at_once(engine: Engine) {
    let crew = Crew::start(engine, 1);
    let census = crew.census.clone();
    let (acceptor, handle, address) = crew.acceptor(1);
    let paused = counted("accept_paused");
    // Nobody accepts yet. There are fewer descriptors left than clients wait.
    let clients: Vec<TcpStream> = (0..30).map(|_| connect(address)).collect();
    let running = thread::spawn(move || acceptor.run());
    wait_until("one is taken in", || census.total() == 1);
    let others = &clients[1..];
    for mut client in others {
        let mut text = Vec::new();
        client.read_to_end(&mut text).unwrap();
        assert_eq!(text, b"busy\n");
    }
    assert_eq!(counted("accept_paused"), paused);
    drop(clients);
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    crew.finish();
}
