// SPDX-License-Identifier: Apache-2.0
//! Every limit, with a clock that the test sets.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use clock::Clock;
use lines::{Speaker, counted};
use server::{Limits, Options, Output, Process};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use test_support::client::Client;
use test_support::table::{Row, Transport, on_every_engine, on_every_transport};
use test_support::wait_until;

const LIMIT: Duration = Duration::from_secs(60);
const BEFORE_LIMIT: Duration = Duration::from_millis(59_999);
const A_MOMENT: Duration = Duration::from_millis(1);

/// Counters are of the whole process: tests that count the same take turns.
static COUNTS: Mutex<()> = Mutex::new(());

fn alone_with_counts() -> MutexGuard<'static, ()> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No limit but those that a test sets, which take effect at once.
fn options() -> Options {
    Options { tick: A_MOMENT, ..test_support::table::options() }
}

fn spawn(row: &Row, options: Options) -> (Process, Clock) {
    let clock = Clock::manual(0);
    (Speaker::default().spawn(row.builder().options(options).clock(clock.clone())), clock)
}

/// Makes sure that the worker has looked for exceeded limits at the clock's time: it does so in every
/// turn of its loop, and the second request is read in a later turn than the first.
fn look(other: &mut Client) {
    other.ask(b"echo one\n", b"one\n");
    other.ask(b"echo two\n", b"two\n");
}

#[test]
fn a_client_too_many_is_told_so_and_closed() {
    let _alone = alone_with_counts();
    on_every_transport(|row| {
        let process = Speaker::default().spawn(row.builder().max_connections(2));
        let rejected = counted("shoebill_connections_rejected_total");
        let (mut one, mut two) = (row.connect(&process), row.connect(&process));
        one.ask(b"echo 1\n", b"1\n");
        two.ask(b"echo 2\n", b"2\n");
        let told = if row.transport.is_tls() {
            // It speaks TLS or nothing: no text can be sent in its place.
            let server::Endpoint::Tcp(address) = process.endpoints()[0] else { panic!("TCP") };
            Client::tcp(address).rest()
        } else {
            row.connect(&process).rest()
        };
        assert_eq!(told, if row.transport.is_tls() { &b""[..] } else { b"busy, try later\n" });
        assert_eq!(counted("shoebill_connections_rejected_total"), rejected + 1);
        one.ask(b"who\n", b"2\n");

        two.ask(b"quit\n", b"bye\n");
        wait_until("its place is free", || process.connections() == 1);
        row.connect(&process).ask(b"echo in\n", b"in\n");
        process.stop().unwrap();
    });
}

#[test]
fn idle_connections_are_closed_at_their_limit() {
    let _alone = alone_with_counts();
    on_every_transport(|row| {
        let (process, clock) = spawn(row, Options { idle_timeout: LIMIT, ..options() });
        let (mut idle, mut busy) = (row.connect(&process), row.connect(&process));
        idle.ask(b"echo hello\n", b"hello\n");
        busy.ask(b"echo hello\n", b"hello\n");
        clock.advance(BEFORE_LIMIT);
        look(&mut busy);
        assert!(idle.is_quiet(), "it has a moment left");
        let closed = counted("shoebill_connections_broken_total{reason=\"idle\"}");
        clock.advance(A_MOMENT);
        assert_eq!(idle.rest(), b"");
        assert_eq!(counted("shoebill_connections_broken_total{reason=\"idle\"}"), closed + 1);
        clock.advance(BEFORE_LIMIT - A_MOMENT);
        busy.ask(b"who\n", b"1\n");
        process.stop().unwrap();
    });
}

#[test]
fn half_a_request_is_not_waited_for_longer_than_its_limit() {
    on_every_transport(|row| {
        let (process, clock) = spawn(row, Options { read_timeout: LIMIT, ..options() });
        let (mut slow, mut idle) = (row.connect(&process), row.connect(&process));
        idle.ask(b"echo hello\n", b"hello\n");
        // The reply shows that what came with its request has arrived too.
        slow.ask(b"echo whole\necho ha", b"whole\n");
        clock.advance(BEFORE_LIMIT);
        look(&mut idle);
        assert!(slow.is_quiet());
        slow.ask(b"lf\necho a", b"half\n");
        clock.advance(BEFORE_LIMIT);
        look(&mut idle);
        assert!(slow.is_quiet(), "every byte gives it time again");
        let closed = counted("shoebill_connections_broken_total{reason=\"read_timeout\"}");
        clock.advance(A_MOMENT);
        assert_eq!(slow.rest(), b"");
        assert_eq!(
            counted("shoebill_connections_broken_total{reason=\"read_timeout\"}"),
            closed + 1
        );
        clock.advance(LIMIT * 10);
        idle.ask(b"who\n", b"1\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_client_that_never_reads_is_closed_at_its_limit() {
    on_every_transport(|row| {
        let output = Output { memory: 0, ..Output::default() };
        let (process, clock) = spawn(row, Options { write_timeout: LIMIT, output, ..options() });
        let (mut deaf, mut idle) = (row.connect(&process), row.connect(&process));
        idle.ask(b"echo hello\n", b"hello\n");
        deaf.send("much 50000\n".repeat(400).as_bytes());
        let backpressure = counted("shoebill_connection_backpressure_total");
        wait_until("its socket is full", || {
            counted("shoebill_connection_backpressure_total") > backpressure
        });
        clock.advance(BEFORE_LIMIT);
        look(&mut idle);
        idle.ask(b"who\n", b"2\n");
        let closed = counted("shoebill_connections_broken_total{reason=\"write_timeout\"}");
        wait_until("it is closed", || {
            // The system may have taken some more of its replies in between.
            clock.advance(A_MOMENT);
            process.connections() == 1
        });
        assert_eq!(
            counted("shoebill_connections_broken_total{reason=\"write_timeout\"}"),
            closed + 1
        );
        idle.ask(b"who\n", b"1\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_handshake_is_not_waited_for_longer_than_its_limit() {
    on_every_engine(|engine| {
        for (transport, hello) in
            [(Transport::Tls12, &b""[..]), (Transport::Tls13, b"\x16\x03\x01")]
        {
            let row = Row::new(engine, transport, 1);
            let (process, clock) = spawn(&row, Options { handshake_timeout: LIMIT, ..options() });
            let mut other = row.connect(&process);
            other.ask(b"who\n", b"1\n");
            let mut silent = Client::tcp(process.address().unwrap());
            silent.send(hello);
            wait_until("the worker has it", || {
                other.send(b"who\n");
                other.take(2) == b"2\n"
            });
            clock.advance(BEFORE_LIMIT);
            look(&mut other);
            assert!(silent.is_quiet());
            let closed = counted("shoebill_connections_broken_total{reason=\"handshake_timeout\"}");
            clock.advance(A_MOMENT);
            assert_eq!(silent.rest(), b"\x15\x03\x03\0\x02\x01\0", "a TLS close, then the end");
            assert_eq!(
                counted("shoebill_connections_broken_total{reason=\"handshake_timeout\"}"),
                closed + 1
            );
            other.ask(b"who\n", b"1\n");
            process.stop().unwrap();
        }
    });
}

#[test]
fn a_closed_client_that_does_not_close_is_given_up_at_its_limit() {
    on_every_transport(|row| {
        let (process, clock) = spawn(row, Options { linger_timeout: LIMIT, ..options() });
        let (mut rude, mut other) = (row.connect(&process), row.connect(&process));
        rude.send(b"quit\nand more\n");
        assert_eq!(rude.rest(), b"bye\n");
        clock.advance(BEFORE_LIMIT);
        look(&mut other);
        other.ask(b"who\n", b"2\n");
        clock.advance(A_MOMENT);
        wait_until("it is given up", || process.connections() == 1);
        other.ask(b"who\n", b"1\n");
        process.stop().unwrap();
    });
}

#[test]
fn a_request_that_cannot_fit_is_refused() {
    on_every_transport(|row| {
        let limits = Limits { request_bytes: 1_000, ..Limits::default() };
        let process =
            Speaker::default().spawn(row.builder().options(Options { limits, ..options() }));
        let mut client = row.connect(&process);
        let fits = "x".repeat(1_000 - "echo \n".len());
        for byte in format!("echo {fits}\n").as_bytes() {
            client.send(&[*byte]);
        }
        client.expect(format!("{fits}\n").as_bytes());
        let closed = counted("shoebill_connections_broken_total{reason=\"request_limit\"}");
        let mut other = row.connect(&process);
        other.send(b"!\n");
        assert_eq!(other.rest(), b"lost\n");
        assert_eq!(
            counted("shoebill_connections_broken_total{reason=\"request_limit\"}"),
            closed,
            "what is malformed is not too large"
        );
        drop(other);
        client.send(&[b"echo before\necho ", &[b'x'; 1_000][..]].concat());
        assert_eq!(client.rest(), b"before\ntoo large\n");
        assert_eq!(
            counted("shoebill_connections_broken_total{reason=\"request_limit\"}"),
            closed + 1
        );
        drop(client);
        process.stop().unwrap();
    });
}

#[test]
fn limits_change_while_the_server_runs_and_it_can_be_stopped_from_inside() {
    let _alone = alone_with_counts();
    on_every_engine(|engine| {
        let clock = Clock::manual(0);
        let row = Row::new(engine, Transport::Tcp, 2);
        let builder = row.builder().options(options()).clock(clock.clone()).max_connections(1);
        let controls = builder.controls();
        let process = Speaker::default().spawn(builder);
        let mut first = row.connect(&process);
        first.ask(b"echo 1\n", b"1\n");
        assert_eq!(row.connect(&process).rest(), b"busy, try later\n");
        assert_eq!(controls.set_max_connections(2), Ok(()));
        let mut second = row.connect(&process);
        second.ask(b"echo 2\n", b"2\n");

        clock.advance(LIMIT);
        look(&mut first);
        assert!(second.is_quiet(), "there is no limit yet");
        controls.set_idle_timeout(LIMIT);
        wait_until("it is closed", || {
            // Its worker may have looked at this very moment before the limit was set.
            clock.advance(A_MOMENT);
            process.connections() == 1
        });
        assert_eq!(second.rest(), b"");
        first.ask(b"who\n", b"1\n");

        controls.stop();
        process.wait().unwrap();
        assert_eq!(first.rest(), b"");
    });
}
