// SPDX-License-Identifier: Apache-2.0
//! Few descriptors: connections get those that the server does not need, and `/health` goes on answering.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use server::settings::Engine;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, run, text};
use test_support::http::get;
use test_support::{http, wait_until};

const PINGSERVER: &str = env!("CARGO_BIN_EXE_pingserver");

/// What a client too many is told.
const BUSY: &[u8] = b"ERROR too many connections\r\n";

fn config(engine: Engine) -> Config {
    let engine = match engine {
        Engine::IoUring => "io_uring",
        Engine::Epoll | Engine::Auto => "epoll",
    };
    Config::new(&format!("[server]\nport = 0\n[admin]\nport = 0\n[worker]\nengine = {engine:?}\n"))
}

/// Starts the server where so many files may be open.
fn start(files: u32, config: &Config) -> Daemon {
    let limited = format!("ulimit -n {files}; exec {PINGSERVER} {}", config.file.display());
    Daemon::spawn(Command::new("sh").args(["-c", &limited]))
}

/// Connects until one more is told that there are too many.
fn crowd(address: SocketAddr, most: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    loop {
        let mut client = Client::tcp(address);
        client.send(b"PING\r\n");
        match client.take(1)[0] {
            b'P' => client.expect(b"ONG\r\n"),
            _ => return clients,
        }
        clients.push(client);
        assert!(clients.len() <= most, "there is no end to it");
    }
}

#[test]
fn the_connection_limit_is_lowered_to_what_there_is() {
    for engine in Engine::usable() {
        let config = config(engine);
        let mut server = start(64, &config);
        let told = server.line("connections are served at once instead of 10000: ");
        assert!(told.starts_with("64 open files are allowed"), "{told}");
        let (address, admin) = (server.address(), server.admin());
        let mut clients = crowd(address, 64);
        assert!(clients.len() >= 20, "{}", clients.len());
        for _ in 0..10 {
            assert_eq!(Client::tcp(address).rest(), BUSY);
            assert_eq!(get(admin, "/health"), (200, "ok\n".to_owned()));
        }
        assert_eq!(http::metric(admin, "shoebill_accept_pauses_total"), 0.0);
        clients[0].ask(b"PING\r\n", b"PONG\r\n");
        server.signal("TERM");
        assert!(server.end().0.success());
    }
}

/// How `/proc` shows descriptors of the socket that listens at an address.
fn listening(address: SocketAddr) -> PathBuf {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", address.port());
    let of_it = |fields: &Vec<&str>| fields[1].ends_with(&port) && fields[3] == "0A";
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let inode = lines.find(of_it).expect("it listens")[9].to_owned();
    PathBuf::from(format!("socket:[{inode}]"))
}

/// The descriptors of a process that are of this file.
fn descriptors(pid: &str, file: &Path) -> Vec<u32> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().map(|entry| entry.unwrap());
    let of_it = open.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|of| of == file));
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str().unwrap().parse::<u32>();
    of_it.map(|entry| number(entry).unwrap()).collect()
}

#[test]
fn a_limit_that_is_lowered_later_leaves_the_admin_plane() {
    for engine in Engine::usable() {
        let config = config(engine);
        let mut server = start(256, &config);
        let (address, admin) = (server.address(), server.admin());
        let mut clients: Vec<Client> = (0..32).map(|_| Client::tcp(address)).collect();
        for client in &mut clients {
            client.ask(b"PING\r\n", b"PONG\r\n");
        }
        let pid = server.pid().to_string();
        // Fewer than it has open, and none of them free: what is open for a moment may leave a gap.
        // The listener keeps one of a file in reserve, the admin plane a second one of its socket.
        let (file, socket) = (Path::new("/dev/null"), listening(admin));
        let kept = [descriptors(&pid, file), descriptors(&pid, &socket)].concat();
        let limit = format!("--nofile={}:", kept.iter().max().unwrap() + 1);
        let status = Command::new("prlimit").args(["--pid", &pid, &limit]).status();
        assert!(status.unwrap().success());
        for round in 0..5 {
            let mut late = Client::tcp(address);
            // A ring may go by the limit of the moment at which it began to accept, and serve it. So may
            // a later round: a client of the admin plane may be faster than the listener's reserve.
            if round == 0 && !matches!(engine, Engine::IoUring) {
                assert_eq!(late.rest(), BUSY);
            }
            drop(late);
            assert_eq!(get(admin, "/health"), (200, "ok\n".to_owned()));
            wait_until("it is back", || descriptors(&pid, &socket).len() == 2);
        }
        let early = &mut clients[0];
        early.ask(b"PING\r\n", b"PONG\r\n");
        let status = Command::new("prlimit").args(["--pid", &pid, "--nofile=256:"]).status();
        assert!(status.unwrap().success());
        wait_until("there is room again", || {
            let mut client = Client::tcp(address);
            client.send(b"PING\r\n");
            client.take(1) == b"P"
        });
        server.signal("TERM");
        assert!(server.end().0.success());
    }
}

#[test]
fn too_few_descriptors_for_anybody_are_an_error() {
    let config = config(Engine::Epoll);
    let limited = format!("ulimit -n 24; exec {PINGSERVER} {}", config.file.display());
    let output = run("sh", &["-c", &limited]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.starts_with("error: [server] max_connections: 0 connections"), "{message}");
    assert!(message.contains("24 open files are allowed"), "{message}");
}
