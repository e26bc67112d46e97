// SPDX-License-Identifier: Apache-2.0
//! Signals: the graceful stop, the immediate end, and reading files again.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use rustls::version::{TLS12, TLS13};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::Command;
use test_support::certificates::Certificates;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};
use test_support::http::{get, metric};
use test_support::wait_until;

const PINGSERVER: &str = env!("CARGO_BIN_EXE_pingserver");

/// A configuration by which replies that nobody reads soon stop their client. Usually they may take a share of the
/// machine's memory, which are millions of pings.
fn with_little_output(drain_timeout: &str) -> String {
    format!(
        "[server]\nport = 0\ndrain_timeout = {drain_timeout:?}\n[admin]\nport = 0\n\
         [worker]\noutput_memory = \"1MB\"\n"
    )
}

/// A client that never reads and has sent as many pings as anybody takes.
fn deaf(address: SocketAddr, admin: SocketAddr) -> TcpStream {
    let mut client = TcpStream::connect(address).unwrap();
    client.set_nonblocking(true).unwrap();
    let ping = b"PING\r\n";
    let pings = ping.repeat(10_000);
    // Where in a ping the last one that was taken has ended.
    let mut at = 0;
    let (mut served, mut still) = (0.0, 0);
    wait_until("its replies pile up and nothing moves", || {
        let full = loop {
            match client.write(&pings[at..]) {
                Ok(n) => (at, still) = ((at + n) % ping.len(), 0),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock, "{full}");
        let now = metric(admin, "shoebill_requests_total");
        still = if now == served { still + 1 } else { 0 };
        served = now;
        still > 20 && metric(admin, "shoebill_connection_backpressure_total") > 0.0
    });
    client
}

#[test]
fn a_signal_to_stop_ends_it_once_everything_is_flushed() {
    for signal in ["TERM", "INT"] {
        let config = Config::new("[server]\nport = 0\n[admin]\nport = 0\n");
        let mut server = Daemon::start(PINGSERVER, &config);
        let (address, admin) = (server.address(), server.admin());
        let mut client = Client::tcp(address);
        client.ask(b"PING\r\n", b"PONG\r\n");
        client.send(&b"PING\r\n".repeat(1000));
        server.signal(signal);
        let (status, log) = server.end();
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(client.rest() == b"PONG\r\n".repeat(1000));
        assert!(log.contains("stopping") && log.contains("stopped"), "the log is whole: {log}");
        assert!(TcpStream::connect(admin).is_err());
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for (signal, code) in [("TERM", 128 + 15), ("INT", 128 + 2)] {
        let config = Config::new(&with_little_output("1h"));
        let mut server = Daemon::start(PINGSERVER, &config);
        let (address, admin) = (server.address(), server.admin());
        let client = deaf(address, admin);
        server.signal(signal);
        server.line("stopping");
        assert_eq!(get(admin, "/ready"), (503, "draining\n".to_owned()));
        assert!(server.is_running(), "a client has not read its replies");
        server.signal(signal);
        let (status, rest) = server.end();
        assert_eq!(status.code(), Some(code));
        assert!(!rest.contains("stopped"), "{rest}");
        drop(client);
    }
}

#[test]
fn a_client_that_never_reads_delays_the_end_by_the_drain_timeout_only() {
    let config = Config::new(&with_little_output("50ms"));
    let mut server = Daemon::start(PINGSERVER, &config);
    let (address, admin) = (server.address(), server.admin());
    let client = deaf(address, admin);
    server.signal("TERM");
    let (status, rest) = server.end();
    assert_eq!(status.code(), Some(0));
    assert!(rest.contains("1 connections could not be flushed in time"), "{rest}");
    drop(client);
}

#[test]
fn during_the_drain_delay_everybody_is_served() {
    let config = Config::new("[server]\nport = 0\ndrain_delay = \"1h\"\n[admin]\nport = 0\n");
    let mut server = Daemon::start(PINGSERVER, &config);
    let (address, admin) = (server.address(), server.admin());
    let mut old = Client::tcp(address);
    old.ask(b"PING\r\n", b"PONG\r\n");
    server.signal("TERM");
    wait_until("it says so", || get(admin, "/ready") == (503, "draining\n".to_owned()));
    old.ask(b"PING\r\n", b"PONG\r\n");
    Client::tcp(address).ask(b"PING\r\n", b"PONG\r\n");
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(143));
    assert_eq!(old.rest(), b"");
}

#[test]
fn hangup_opens_the_log_file_anew() {
    let config = Config::empty();
    let (log, moved) = (config.folder().join("ping.log"), config.folder().join("ping.log.1"));
    config.write(&format!(
        "[server]\nport = 0\n[admin]\nenabled = false\n[debug]\nlog_file = \"{}\"\n",
        log.display()
    ));
    let server = Daemon::start(PINGSERVER, &config);
    let contains = |path, part| fs::read_to_string(path).is_ok_and(|text| text.contains(part));
    wait_until("it has started", || contains(&log, "listening on tcp:"));
    fs::rename(&log, &moved).unwrap();
    server.signal("HUP");
    wait_until("there is a new file", || log.exists());
    server.signal("TERM");
    let (status, stderr) = server.end();
    assert_eq!((status.code(), &stderr[..]), (Some(0), ""));
    assert!(contains(&log, "stopped"), "what comes later is in the new file");
    assert!(!contains(&log, "listening on"));
    assert!(contains(&moved, "listening on") && !contains(&moved, "stopped"));
}

#[test]
fn hangup_reads_the_certificate_anew() {
    let config = Config::empty();
    let certificates = Certificates::new(config.folder());
    config.write(&format!(
        "[server]\nport = 0\n[admin]\nenabled = false\n\
         [tls]\ncertificate_chain = \"{}\"\nprivate_key = \"{}\"\n",
        certificates.path("server.pem").display(),
        certificates.path("server.key").display()
    ));
    let first = certificates.renew();
    let mut server = Daemon::start(PINGSERVER, &config);
    let address = server.address();
    let connect = |version| {
        let mut client = Client::tls(address, certificates.client(version, false));
        client.ask(b"PING\r\n", b"PONG\r\n");
        client
    };
    let mut old = connect(&TLS12);
    assert_eq!(old.server_certificate(), first);

    let second = certificates.renew();
    assert_ne!(first, second);
    assert_eq!(connect(&TLS13).server_certificate(), first, "not before it is told");
    server.signal("HUP");
    server.line("certificates are read anew");
    assert_eq!(connect(&TLS12).server_certificate(), second);
    assert_eq!(connect(&TLS13).server_certificate(), second);
    old.ask(b"PING\r\n", b"PONG\r\n");

    fs::write(certificates.path("server.pem"), "no certificate at all").unwrap();
    server.signal("HUP");
    let complaint = server.line("certificates stay as they are: ");
    assert!(complaint.contains("server.pem"), "{complaint}");
    assert_eq!(connect(&TLS13).server_certificate(), second);
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn hangup_without_files_is_harmless() {
    let config = Config::new("[server]\nport = 0\n[admin]\nenabled = false\n");
    let mut server = Daemon::start(PINGSERVER, &config);
    let mut client = Client::tcp(server.address());
    for _ in 0..3 {
        server.signal("HUP");
        server.line("log files will be reopened");
    }
    client.ask(b"PING\r\n", b"PONG\r\n");
}

/// Puts a pipe that nobody writes to in the place of a file.
fn pipe_at(path: &Path) {
    fs::remove_file(path).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_certificate_that_never_comes_to_its_end_keeps_nothing_from_going_on() {
    let config = Config::empty();
    let certificates = Certificates::new(config.folder());
    let path = certificates.path("server.pem");
    config.write(&format!(
        "[server]\nport = 0\n[admin]\nport = 0\n[tls]\ncertificate_chain = {path:?}\n\
         private_key = {:?}\n",
        certificates.path("server.key")
    ));
    let mut server = Daemon::start(PINGSERVER, &config);
    let (address, admin) = (server.address(), server.admin());
    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    server.signal("HUP");
    let complaint = server.line("certificates stay as they are: ");
    assert!(complaint.contains("server.pem") && complaint.contains("more than 4 MiB"));

    pipe_at(&path);
    server.signal("HUP");
    // O_NONBLOCK: it can be opened for writing once somebody has opened it for reading.
    let mut writer = None;
    wait_until("it is being read", || {
        writer = OpenOptions::new().write(true).custom_flags(0o4000).open(&path).ok();
        writer.is_some()
    });
    for _ in 0..3 {
        server.signal("HUP");
        server.line("files are still being read");
    }
    let mut client = Client::tls(address, certificates.client(&TLS13, false));
    client.ask(b"PING\r\n", b"PONG\r\n");
    assert_eq!(get(admin, "/health").0, 200);
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0));
    drop(writer);
}

#[test]
fn a_log_that_cannot_be_written_keeps_nothing_from_going_on() {
    let config = Config::empty();
    let (log, moved) = (config.folder().join("ping.log"), config.folder().join("ping.log.1"));
    config.write(&format!(
        "[server]\nlisten = [{:?}]\n[admin]\nport = 0\n[debug]\nlog_file = {log:?}\n\
         log_queue_lines = 3\n",
        format!("unix:{}", config.folder().join("socket").display())
    ));
    let server = Daemon::start(PINGSERVER, &config);
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    wait_until("it has started", || text(&log).contains("admin on"));
    let address =
        text(&log).lines().find_map(|line| Some(line.split_once("http://")?.1.to_owned()));
    let admin = address.unwrap().parse().unwrap();
    fs::copy(&log, &moved).unwrap();
    pipe_at(&log);
    server.signal("HUP");
    // The queue gets full, for nobody writes out what is in it.
    wait_until("lines are dropped", || {
        server.signal("USR1");
        get(admin, "/ready") == (200, "ready\n".to_owned())
            && metric(admin, "shoebill_log_lines_total{result=\"dropped\"}") > 0.0
    });
    let mut client = Client::unix(&config.folder().join("socket"));
    client.ask(b"PING\r\n", b"PONG\r\n");
    server.signal("TERM");
    let (status, rest) = server.end();
    assert_eq!(status.code(), Some(0));
    assert!(rest.contains("the last lines of the log could not be written in time"), "{rest}");
}

#[test]
fn signals_without_a_meaning_end_nothing() {
    let config = Config::new("[server]\nport = 0\n[admin]\nenabled = false\n");
    let mut server = Daemon::start(PINGSERVER, &config);
    let mut client = Client::tcp(server.address());
    for signal in ["USR1", "USR2", "ALRM"] {
        server.signal(signal);
        server.line(&format!("SIG{signal} has no effect"));
        client.ask(b"PING\r\n", b"PONG\r\n");
    }
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn a_log_as_large_as_a_file_may_be_is_told_of() {
    let config = Config::empty();
    let log = config.folder().join("ping.log");
    config.write(&format!(
        "[server]\nlisten = [{:?}]\n[admin]\nenabled = false\n[debug]\nlog_file = {log:?}\n",
        format!("unix:{}", config.folder().join("socket").display())
    ));
    let limited = format!("ulimit -f 1; exec {PINGSERVER} {}", config.file.display());
    let mut server = Daemon::spawn(Command::new("sh").args(["-c", &limited]));
    wait_until("it has started", || config.folder().join("socket").exists());
    let mut told = String::new();
    wait_until("the log has grown so far", || {
        server.signal("USR1");
        let line = server.line_if_any("ringlog: cannot write to");
        line.map(|line| told = line).is_some()
    });
    assert!(told.contains("File too large"), "{told}");
    let mut client = Client::unix(&config.folder().join("socket"));
    client.ask(b"PING\r\n", b"PONG\r\n");
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0));
}
