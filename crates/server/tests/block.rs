// SPDX-License-Identifier: Apache-2.0
//! Clients that are blocked by a request, and clients that other clients close: on one worker and across
//! two, over every transport.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use lines::{Speaker, counted, much};
use server::Options;
use server::settings::Engine;
use std::time::{Duration, Instant};
use test_support::client::Client;
use test_support::table::{Row, Transport, on_every_engine, on_every_row, options};
use test_support::wait_until;

#[test]
fn a_client_that_waits_is_woken_by_another() {
    on_every_row(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder());
        let mut clients: Vec<Client> = (0..4).map(|_| row.connect(&process)).collect();
        let (waker, sleepers) = clients.split_first_mut().unwrap();
        for (n, sleeper) in sleepers.iter_mut().enumerate() {
            // The requests behind the one that waits come with it, or later.
            sleeper.send(b"echo before\nwait\necho behind\n");
            sleeper.expect(b"before\n");
            wait_until("it waits", || speaker.waiting() == n + 1);
            sleeper.send(b"echo last\n");
        }
        waker.ask(b"tell all\n", b"told\nall\n");
        for sleeper in &mut *sleepers {
            sleeper.expect(b"all\n");
        }
        waker.ask(b"wake up\n", b"3\n");
        for sleeper in &mut *sleepers {
            sleeper.expect(b"up\nbehind\nlast\n");
            sleeper.send(b"later\nwait\n");
        }
        wait_until("they wait again", || speaker.waiting() == 3);
        process.stop().unwrap();
        assert_eq!(sleepers[0].rest(), b"now\n", "and the end of the server ends it");
    });
}

#[test]
fn a_request_that_is_put_off_is_executed_once() {
    on_every_row(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder());
        let (mut one, mut two) = (row.connect(&process), row.connect(&process));
        one.send(b"later\necho behind\n");
        wait_until("it waits", || speaker.waiting() == 1);
        two.ask(b"wake\n", b"1\n");
        one.expect(b"now\nbehind\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_client_that_leaves_while_it_waits_is_removed_whatever_it_has_sent() {
    on_every_row(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder());
        let mut other = row.connect(&process);
        other.ask(b"who\n", b"1\n");
        for behind in [0, 1, 2_000] {
            for leave in [drop as fn(Client), |mut client: Client| {
                client.finish();
                assert_eq!(client.rest(), b"", "nobody waits for a reply any more");
            }] {
                let mut client = row.connect(&process);
                client.send(b"wait\n");
                wait_until("it waits", || speaker.waiting() == 1);
                client.send("echo never\n".repeat(behind).as_bytes());
                if row.transport.is_tls() && behind > 0 {
                    // An end of the session behind unread records shows only in the socket's.
                    drop(client);
                } else {
                    leave(client);
                }
                wait_until("it is removed", || process.connections() == 1);
                assert_eq!(speaker.waiting(), 0, "the service has heard of it");
            }
        }
        other.ask(b"wake\n", b"0\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_wait_ends_at_its_time_and_not_at_the_next_tick() {
    on_every_row(|row| {
        let options = Options { tick: Duration::from_secs(3600), ..options() };
        let process = Speaker::default().spawn(row.builder().options(options));
        let mut client = row.connect(&process);
        client.ask(b"echo here\n", b"here\n");
        let begun = Instant::now();
        client.ask(b"nap 20\n", b"awake\n");
        // The server counts whole milliseconds.
        assert!(begun.elapsed() > Duration::from_millis(18), "{:?}", begun.elapsed());
        process.stop().unwrap();
    });
}

#[test]
fn a_client_that_is_killed_gets_its_replies_and_an_end() {
    on_every_row(|row| {
        let speaker = Speaker::default();
        let process = speaker.spawn(row.builder());
        let mut clients: Vec<Client> = (0..4).map(|_| row.connect(&process)).collect();
        for client in &mut clients {
            client.ask(b"echo here\n", b"here\n");
        }
        let [killer, idle, waits, busy] = &mut clients[..] else { panic!("four clients") };
        waits.send(b"wait\n");
        busy.send(b"much 3000000\n");
        wait_until("it waits and it is served", || speaker.executed() == 6);
        killer.ask(b"kill 4\nkill 3\nkill 2\n", b"killed\nkilled\nkilled\n");
        assert_eq!(idle.rest(), b"");
        assert_eq!(waits.rest(), b"");
        assert!(busy.rest() == much(3_000_000));
        assert_eq!(speaker.waiting(), 0);
        killer.send(b"echo last\nkill 1\n");
        assert_eq!(killer.rest(), b"last\nkilled\n", "a client may do it to itself");
        process.stop().unwrap();
    });
}

#[test]
fn a_client_that_is_killed_in_its_handshake_is_gone_at_once() {
    on_every_engine(|engine| {
        for transport in [Transport::Tls12, Transport::Tls13] {
            let row = Row::new(engine, transport, 1);
            let process = Speaker::default().spawn(row.builder());
            let mut killer = row.connect(&process);
            killer.ask(b"who\n", b"1\n");
            let mut silent = Client::tcp(process.address().unwrap());
            wait_until("the worker has it", || {
                killer.send(b"who\n");
                killer.take(2) == b"2\n"
            });
            killer.ask(b"kill 2\n", b"killed\n");
            assert_eq!(silent.rest(), b"\x15\x03\x03\0\x02\x01\0", "a TLS close, then the end");
            wait_until("it is removed", || process.connections() == 1);
            process.stop().unwrap();
        }
    });
}

/// A server with two workers.
fn on_two_workers(engine: Engine, options: Options) -> (Speaker, server::Process, Row) {
    let row = Row::new(engine, Transport::Tcp, 2);
    let speaker = Speaker::default();
    let process = speaker.spawn(row.builder().options(options));
    (speaker, process, row)
}

/// Connects `n` clients, of which every other one is on the second worker.
fn connect(row: &Row, process: &server::Process, n: usize) -> Vec<Client> {
    let mut clients: Vec<Client> = (0..n).map(|_| row.connect(process)).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.ask(b"worker\n", format!("{}\n", n % 2).as_bytes());
    }
    clients
}

#[test]
fn a_worker_that_stalls_costs_those_whose_messages_pile_up_and_nobody_else() {
    on_every_engine(|engine| {
        const MESSAGE: usize = 10_000;
        let options = Options { mail_bytes: 1 << 20, ..options() };
        let (speaker, process, row) = on_two_workers(engine, options);
        let mut clients = connect(&row, &process, 6);
        let [near, far, publisher, waits, listener, other] = &mut clients[..] else {
            panic!("six")
        };
        waits.send(b"wait\n");
        wait_until("it waits", || speaker.waiting() == 1);
        let overflows = counted("shoebill_connections_broken_total{reason=\"push_overflow\"}");
        let gate = speaker.stall();
        far.send(b"stall\n");
        wait_until("it stalls", || speaker.executed() == 8);

        // One message at a time to everybody: the publisher gets its reply to each at once.
        let reply = vec![b'f'; MESSAGE];
        publisher.ask(b"wake done\n", b"1\n");
        let mut sent = 0;
        while sent < 4 << 20 {
            publisher.ask(format!("fill {MESSAGE}\necho on\n").as_bytes(), b"on\n");
            for client in [&mut *near, &mut *listener] {
                client.expect(&reply);
            }
            sent += MESSAGE;
        }
        drop(gate);
        // All of the stalled worker have been written to alike, and so are given up alike.
        for client in [far, waits, other] {
            drop(client.rest_or_reset());
        }
        wait_until("they are removed", || process.connections() == 3);
        assert_eq!(
            counted("shoebill_connections_broken_total{reason=\"push_overflow\"}"),
            overflows + 3
        );
        publisher.ask(b"tell all is well\n", b"told\nall is well\n");
        for client in [near, listener] {
            client.expect(b"all is well\n");
        }
        process.stop().unwrap();
    });
}

#[test]
fn a_worker_that_stalls_for_a_while_loses_nothing() {
    on_every_engine(|engine| {
        let (speaker, process, row) = on_two_workers(engine, options());
        let mut clients = connect(&row, &process, 4);
        let [near, far, publisher, waits] = &mut clients[..] else { panic!("four") };
        waits.send(b"wait\necho behind\n");
        wait_until("it waits", || speaker.waiting() == 1);
        let gate = speaker.stall();
        far.send(b"stall\n");
        wait_until("it stalls", || speaker.executed() == 6);
        let told: Vec<u8> = (0..3000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        for n in 0..3000 {
            publisher.ask(format!("tell {n}\n").as_bytes(), format!("told\n{n}\n").as_bytes());
        }
        publisher.ask(b"wake done\n", b"1\n");
        drop(gate);
        near.expect(&told);
        far.expect(&[b"stalled\n", &told[..]].concat());
        waits.expect(&[&told[..], b"done\nbehind\n"].concat());
        process.stop().unwrap();
    });
}
