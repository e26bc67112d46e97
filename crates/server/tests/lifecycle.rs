// SPDX-License-Identifier: Apache-2.0
//! From the start of a server to its end.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use clock::Clock;
use lines::{Speaker, much};
use server::{Endpoint, Error, Options, Process};
use std::collections::{BTreeSet, HashSet};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;
use test_support::client::Client;
use test_support::http::get;
use test_support::table::{
    Row, Transport, on_every_engine, on_every_row, on_every_transport, options,
};
use test_support::wait_until;

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A client that has asked for more than any socket holds and reads nothing.
fn deaf(row: &Row, process: &Process, speaker: &Speaker) -> Client {
    let mut client = row.connect(process);
    client.send("much 50000\n".repeat(400).as_bytes());
    wait_until("it is served", || speaker.executed() > 0);
    client
}

#[test]
fn several_addresses_are_served_at_once() {
    on_every_engine(|engine| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let row = Row::new(engine, Transport::Tls13, 2);
        let builder = row
            .builder()
            .listen(Endpoint::Tcp(loopback()), false)
            .listen(Endpoint::Tcp("[::1]:0".parse().unwrap()), false)
            .listen(Endpoint::Unix { path: path.clone(), mode: 0o600 }, false);
        let process = Speaker::default().spawn(builder);
        let [_, Endpoint::Tcp(v4), Endpoint::Tcp(v6), Endpoint::Unix { .. }] = *process.endpoints()
        else {
            panic!("in the order they were given: {:?}", process.endpoints());
        };
        assert!(v4.port() != 0 && v6.is_ipv6() && v6.port() != 0, "as they were bound");
        let clients =
            [row.connect(&process), Client::tcp(v4), Client::tcp(v6), Client::unix(&path)];
        for (n, mut client) in clients.into_iter().enumerate() {
            client.ask(format!("echo {n}\n").as_bytes(), format!("{n}\n").as_bytes());
        }
        process.stop().unwrap();
        assert!(!path.exists(), "the socket's file goes with its server");
    });
}

#[test]
fn what_was_sent_before_a_stop_is_answered() {
    on_every_row(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut old = row.connect(&process);
        old.ask(b"echo hello\n", b"hello\n");
        let mut idle = row.connect(&process);
        idle.ask(b"echo hello\n", b"hello\n");
        old.send(b"echo 1\necho 2\nmuch 100000\n");
        // Those without TLS may still wait in the backlog, their request in the socket.
        let new = (!row.transport.is_tls()).then(|| {
            let mut new = row.connect(&process);
            new.send(b"echo new\n");
            new
        });
        process.stop().unwrap();
        assert!(old.rest() == [b"1\n2\n", &much(100_000)[..]].concat());
        assert_eq!(idle.rest(), b"");
        assert!(new.is_none_or(|mut new| new.rest() == b"new\n"));
    });
}

#[test]
fn a_server_that_stops_says_so_and_waits_for_its_clients() {
    on_every_transport(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder().admin(loopback()));
        let admin = process.admin_address().unwrap();
        assert_eq!(get(admin, "/ready"), (200, "ready\n".to_owned()));
        let mut deaf = deaf(row, &process, &speaker);
        let (stopper, address) = (process.stopper(), process.address());
        let waiting = thread::spawn(move || process.wait());
        assert!(!waiting.is_finished());
        stopper.stop();
        stopper.stop();
        wait_until("it says so", || get(admin, "/ready") == (503, "draining\n".to_owned()));
        if let Some(address) = address {
            wait_until("it takes nobody in", || {
                TcpStream::connect(address)
                    .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
            });
        }
        assert!(!waiting.is_finished(), "a client has not read its replies");
        assert_eq!(get(admin, "/health").0, 200);
        let reply = much(50_000);
        (0..400).for_each(|_| deaf.expect(&reply));
        assert_eq!(deaf.rest(), b"");
        waiting.join().unwrap().unwrap();
        assert!(TcpStream::connect(admin).is_err(), "the admin thread goes last");
    });
}

#[test]
fn a_client_that_never_reads_does_not_hold_the_end_for_ever() {
    on_every_transport(|row| {
        let (speaker, clock) = (Speaker::default(), Clock::manual(0));
        let timeout = Duration::from_secs(10);
        let options = Options { tick: Duration::from_millis(1), ..options() };
        let builder = row.builder().options(options).clock(clock.clone()).drain_timeout(timeout);
        let process = speaker.spawn(builder.admin(loopback()));
        let admin = process.admin_address().unwrap();
        let deaf = deaf(row, &process, &speaker);
        let stopper = process.stopper();
        let waiting = thread::spawn(move || process.wait());
        stopper.stop();
        wait_until("it stops", || get(admin, "/ready").0 == 503);
        wait_until("its time is over", || {
            clock.advance(timeout);
            waiting.is_finished()
        });
        waiting.join().unwrap().unwrap();
        drop(deaf);
    });
}

#[test]
fn a_worker_that_panics_ends_the_process() {
    on_every_engine(|engine| {
        for workers in [1, 2] {
            let row = Row::new(engine, Transport::Tcp, workers);
            let process = Speaker::default().spawn(row.builder().admin(loopback()));
            let admin = process.admin_address().unwrap();
            let mut client = row.connect(&process);
            client.ask(b"echo before\n", b"before\n");
            client.send(b"boom\n");
            let error = process.wait().unwrap_err();
            let Error::Thread { thread, problem } = &error else { panic!("{error}") };
            assert_eq!((&thread[..], &problem[..]), ("worker 0", "panicked: boom, as was asked"));
            assert_eq!(error.to_string(), "thread worker 0 failed: panicked: boom, as was asked");
            assert_eq!(client.rest(), b"", "its clients are closed");
            assert!(TcpStream::connect(admin).is_err(), "the admin thread has ended");
        }
    });
}

#[test]
fn a_process_that_is_dropped_stops() {
    on_every_transport(|row| {
        let process = Speaker::default().spawn(row.builder());
        let mut client = row.connect(&process);
        client.ask(b"echo hello\n", b"hello\n");
        let address = process.address();
        client.send(b"echo last\n");
        drop(process);
        assert_eq!(client.rest(), b"last\n");
        assert!(address.is_none_or(|address| TcpStream::connect(address).is_err()));
    });
}

#[test]
fn each_worker_has_a_service_of_its_own() {
    on_every_engine(|engine| {
        let row = Row::new(engine, Transport::Tcp, 3);
        let mut made = Vec::new();
        let make = |worker| {
            made.push(worker);
            Speaker::default()
        };
        let process = row.builder().spawn(|_tag| lines::Lines, make).unwrap();
        assert_eq!(made, [0, 1, 2]);
        process.stop().unwrap();
    });
}

#[test]
fn what_workers_own_is_freed_when_the_server_has_stopped() {
    on_every_row(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder());
        row.connect(&process).ask(b"echo hello\n", b"hello\n");
        process.stop().unwrap();
        assert_eq!(Arc::strong_count(&speaker.executed), 1, "no service is left");
    });
}

#[test]
fn each_worker_begins_on_its_own_thread() {
    on_every_engine(|engine| {
        let begun: Arc<Mutex<Vec<(usize, ThreadId)>>> = Arc::default();
        let seen = Arc::clone(&begun);
        let builder =
            Row::new(engine, Transport::Tcp, 3).builder().on_worker_start(move |worker| {
                seen.lock().unwrap().push((worker, thread::current().id()));
            });
        let process = Speaker::default().spawn(builder);
        wait_until("all have begun", || begun.lock().unwrap().len() == 3);
        process.stop().unwrap();
        let begun = begun.lock().unwrap();
        let workers: BTreeSet<_> = begun.iter().map(|(worker, _)| *worker).collect();
        let threads: HashSet<_> = begun.iter().map(|(_, thread)| *thread).collect();
        assert_eq!(workers, BTreeSet::from([0, 1, 2]));
        assert!(threads.len() == 3 && !threads.contains(&thread::current().id()));
    });
}
