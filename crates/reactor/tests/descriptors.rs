// SPDX-License-Identifier: Apache-2.0
//! Out of file descriptors: a process of its own, for it takes away the process's descriptors.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use reactor::Engine;
use std::fs::File;
use std::io::Write;
use std::thread;
use support::{Crew, connect, read, wait_until};

fn counted(metric: &str) -> i128 {
    metrics::value(metric).unwrap()
}

#[test]
fn accepting_pauses_until_there_are_descriptors_again() {
    let crew = Crew::start(Engine::Epoll, 1);
    let (acceptor, handle, address) = crew.acceptor(100);
    let running = thread::spawn(move || acceptor.run());
    let mut early = connect(address);
    early.write_all(b"1").unwrap();
    assert_eq!(&read::<2>(&mut early), b"10");

    // The limit leaves room for one descriptor, which the client takes: none for its other end.
    let most = 64;
    rlimit::setrlimit(rlimit::Resource::NOFILE, most, most).unwrap();
    let mut hoard = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    assert!(hoard.pop().is_some());
    let mut late = connect(address);
    late.write_all(b"2").unwrap();
    wait_until("it notices", || counted("accept_paused") >= 2);
    assert!(counted("accept_error") >= 2);
    assert_eq!(counted("connections_accepted"), 1);

    early.write_all(b"3").unwrap();
    assert_eq!(&read::<2>(&mut early), b"30", "those who are in are served");
    // It pauses: a loop that kept trying would have counted thousands by the time of two pauses.
    let (pauses, lost) = (counted("accept_paused"), counted("accept_paused_ms"));
    wait_until("a pause ends", || counted("accept_paused") > pauses);
    assert!(counted("accept_paused_ms") > lost, "it slept in between");
    assert!(counted("accept_paused") < 100);

    hoard.clear();
    assert_eq!(&read::<2>(&mut late), b"20", "the one who waited is served");
    assert_eq!(counted("connections_accepted"), 2);
    handle.stop().unwrap();
    running.join().unwrap().unwrap();
    crew.finish();
}
