// SPDX-License-Identifier: Apache-2.0
//! Running out of file descriptors. A test process of its own, because it uses up the process's
//! descriptors.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use reactor::Engine;
use socket2::{Domain, Socket, Type};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use support::{Crew, PATIENCE, connect, on_every_engine, read, wait_until};

/// Descriptors that the process may have.
const MOST: u64 = 64;

fn counted(metric: &str) -> i128 {
    metrics::value(metric).unwrap()
}

#[test]
fn accepting_goes_on_when_there_are_descriptors_again() {
    rlimit::setrlimit(rlimit::Resource::NOFILE, MOST, MOST).unwrap();
    on_every_engine(who_comes_is_told_while_there_are_none);
    on_every_engine(accepting_pauses_while_none_can_be_freed);
    on_every_engine(those_too_many_give_theirs_back_at_once);
}

/// Takes all descriptors that the limit leaves.
fn hoard() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

fn who_comes_is_told_while_there_are_none(engine: Engine) {
    let crew = Crew::start(engine, 1);
    let (acceptor, handle, address) = crew.acceptor(100);
    let running = thread::spawn(move || acceptor.run());
    let mut early = connect(address);
    early.write_all(b"1").unwrap();
    assert_eq!(&read::<2>(&mut early), b"10");

    let mut hoard = hoard();
    let rejected = counted("shoebill_connections_rejected_total");
    for told in 1..=20 {
        // The client takes the descriptor that this frees, and gives it back at the end.
        assert!(hoard.pop().is_some());
        let mut late = connect(address);
        let mut text = Vec::new();
        late.read_to_end(&mut text).unwrap();
        assert_eq!(text, b"busy\n");
        assert_eq!(counted("shoebill_connections_rejected_total"), rejected + told);
        drop(late);
        hoard.extend(File::open("/dev/null"));
    }
    early.write_all(b"3").unwrap();
    assert_eq!(&read::<2>(&mut early), b"30", "those who are in are served");

    drop(hoard);
    let mut late = connect(address);
    late.write_all(b"2").unwrap();
    assert_eq!(&read::<2>(&mut late), b"20", "there is room again");
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    crew.finish();
}

fn accepting_pauses_while_none_can_be_freed(engine: Engine) {
    let crew = Crew::start(engine, 1);
    let (acceptor, handle, address) = crew.acceptor(100);
    let (accepted, paused) =
        (counted("shoebill_connections_accepted_total"), counted("shoebill_accept_pauses_total"));
    let (failed, lost) =
        (counted("shoebill_accept_errors_total"), counted("shoebill_accept_paused_seconds_total"));
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    // All open descriptors are beyond the new limit, so one that is closed leaves none. A ring goes by
    // the limit of the moment at which it begins to accept.
    rlimit::setrlimit(rlimit::Resource::NOFILE, 1, MOST).unwrap();
    let running = thread::spawn(move || acceptor.run());
    socket.connect(&address.into()).unwrap();
    let mut late = TcpStream::from(socket);
    late.set_read_timeout(Some(PATIENCE)).unwrap();
    late.write_all(b"2").unwrap();
    wait_until("it notices", || counted("shoebill_accept_pauses_total") >= paused + 2);
    assert!(counted("shoebill_accept_errors_total") >= failed + 2);
    assert_eq!(counted("shoebill_connections_accepted_total"), accepted);

    // It pauses: a loop that kept trying would have counted thousands by the time of two pauses.
    let pauses = counted("shoebill_accept_pauses_total");
    wait_until("a pause ends", || counted("shoebill_accept_pauses_total") > pauses);
    assert!(counted("shoebill_accept_paused_seconds_total") > lost, "it slept in between");
    assert!(counted("shoebill_accept_pauses_total") < paused + 100);

    rlimit::setrlimit(rlimit::Resource::NOFILE, MOST, MOST).unwrap();
    assert_eq!(&read::<2>(&mut late), b"20", "the one who waited is served");
    assert_eq!(counted("shoebill_connections_accepted_total"), accepted + 1);
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    crew.finish();
}

/// A ring accepts before it is known whether there are too many.
fn those_too_many_give_theirs_back_at_once(engine: Engine) {
    let crew = Crew::start(engine, 1);
    let census = crew.census.clone();
    let (acceptor, handle, address) = crew.acceptor(1);
    let paused = counted("shoebill_accept_pauses_total");
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
    assert_eq!(counted("shoebill_accept_pauses_total"), paused);
    drop(clients);
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    crew.finish();
}
