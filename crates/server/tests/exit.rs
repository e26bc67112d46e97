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
use test_support::client::Client;
use test_support::daemon::Daemon;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return cli::exit_code(serve());
    }
    a_worker_that_panics_ends_the_program_with_an_error();
    a_program_that_is_told_to_stop_ends_without_one();
    a_program_does_not_free_what_its_workers_own();
    ExitCode::SUCCESS
}

fn serve() -> Result<(), Error> {
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
    let speaker = Speaker::default();
    let result = builder.run(sections, |_tag| Lines, |_worker| speaker.clone());
    eprintln!("services left: {}", Arc::strong_count(&speaker.executed) - 1);
    result
}

fn start() -> Daemon {
    Daemon::spawn(Command::new(std::env::current_exe().unwrap()).arg("serve"))
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
