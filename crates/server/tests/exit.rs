// SPDX-License-Identifier: Apache-2.0
//! How a program ends when one of its threads fails. This program is both the server, when it is started
//! with the argument `serve`, and its test, when it is started by cargo.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use lines::{Lines, Speaker};
use server::settings::{Admin, DebugLog, Klog, Sections, Server, Tls, Worker};
use server::{Builder, Error, cli};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use test_support::client::Client;
use test_support::daemon::Daemon;
use test_support::wait_until;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => return cli::exit_code(serve(Duration::from_secs(10))),
        Some("stall") => return cli::exit_code(serve(Duration::ZERO)),
        _ => {}
    }
    a_worker_that_panics_ends_the_program_with_an_error();
    a_program_that_is_told_to_stop_ends_without_one();
    a_program_does_not_free_what_its_workers_own();
    a_worker_that_does_not_come_to_its_end_does_not_hold_the_program();
    ExitCode::SUCCESS
}

/// Without time to drain, `stall` keeps a worker for ever.
fn serve(drain_timeout: Duration) -> Result<(), Error> {
    let server = Server { port: Some(0), ..Server::default() };
    let worker = Worker { threads: 2, ..Worker::default() };
    let admin = Admin { enabled: false, ..Admin::default() };
    let (tls, debug, klog) = (Tls::default(), DebugLog::default(), Klog::default());
    let sections = Sections {
        server: &server,
        worker: &worker,
        admin: &admin,
        tls: &tls,
        debug: &debug,
        klog: &klog,
    };
    let builder = Builder::from_settings("lines", "1.2.3", sections, 0, 1000)?;
    let builder = builder.drain_timeout(drain_timeout);
    let speaker = Speaker::default();
    let _stalled = drain_timeout.is_zero().then(|| {
        let told = speaker.clone();
        thread::spawn(move || {
            wait_until("a worker has begun with it", || told.executed() == 2);
            eprintln!("a worker stalls");
        });
        speaker.stall()
    });
    let result = builder.run(sections, |_tag| Lines, |_worker| speaker.clone());
    eprintln!("services left: {}", Arc::strong_count(&speaker.executed) - 1);
    result
}

fn start() -> Daemon {
    start_as("serve")
}

fn start_as(what: &str) -> Daemon {
    Daemon::spawn(Command::new(std::env::current_exe().unwrap()).arg(what))
}

fn a_worker_that_panics_ends_the_program_with_an_error() {
    let mut daemon = start();
    let mut client = Client::tcp(daemon.address());
    client.ask(b"echo hello\n", b"hello\n");
    client.send(b"boom\n");
    let (status, rest) = daemon.end();
    assert_eq!(status.code(), Some(1));
    let last = rest.lines().last();
    assert_eq!(last, Some("error: thread worker 0 failed: panicked: boom, as was asked"));
    let logged = rest.lines().any(|line| line.contains("ERROR") && line.contains("as was asked"));
    assert!(logged, "the log has it too: {rest}");
}

fn a_program_that_is_told_to_stop_ends_without_one() {
    let mut daemon = start();
    let mut client = Client::tcp(daemon.address());
    client.ask(b"echo hello\n", b"hello\n");
    daemon.signal("TERM");
    let (status, rest) = daemon.end();
    assert_eq!((status.code(), client.rest()), (Some(0), Vec::new()), "{rest}");
    assert!(rest.lines().nth_back(1).is_some_and(|line| line.ends_with("stopped")), "{rest}");
}

/// To free millions of items one by one takes seconds; the system takes their memory back at once. A
/// server inside another program frees them, see `lifecycle.rs`.
fn a_program_does_not_free_what_its_workers_own() {
    let mut daemon = start();
    let mut client = Client::tcp(daemon.address());
    client.ask(b"echo hello\n", b"hello\n");
    daemon.signal("TERM");
    let (status, rest) = daemon.end();
    assert_eq!(status.code(), Some(0), "{rest}");
    assert_eq!(rest.lines().last(), Some("services left: 2"), "{rest}");
}

fn a_worker_that_does_not_come_to_its_end_does_not_hold_the_program() {
    let mut daemon = start_as("stall");
    let mut client = Client::tcp(daemon.address());
    client.send(b"worker\n");
    let worker = String::from_utf8(client.take(2)).unwrap();
    client.send(b"stall\n");
    daemon.line("a worker stalls");
    daemon.signal("TERM");
    let (status, rest) = daemon.end();
    assert_eq!(status.code(), Some(1), "{rest}");
    let told = format!(
        "the stop takes more than 5s, as these threads do not end: worker {}",
        worker.trim()
    );
    assert!(rest.lines().any(|line| line == format!("error: {told}")), "{rest}");
    assert!(rest.lines().any(|line| line.contains("ERROR") && line.ends_with(&told)), "{rest}");
}
