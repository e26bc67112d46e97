// SPDX-License-Identifier: Apache-2.0
//! Large values over sockets: they arrive in any pieces while others are served, their requests are answered as
//! memcached answers them, and clients that stop in the middle keep nobody from storing.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};
use test_support::memcached::Memcached;
use test_support::random::Random;
use test_support::wait_until;

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");
const STORAGES: [&str; 2] = ["seg", "hashmap"];

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// How long a client waits for its replies: longer than any test takes.
const LIMIT: Duration = Duration::from_secs(300);

/// How long a client may pause before its connection is closed: longer than any test takes.
const PATIENT: &str = "read_timeout = \"10m\"\nwrite_timeout = \"10m\"\n";

fn start(flags: &[&str], storage: &str, engine: &str) -> (Daemon, SocketAddr) {
    let config = Config::new(&format!(
        "[server]\nport = 0\n{PATIENT}[admin]\nport = 0\n[worker]\nthreads = 1\nengine = \"{engine}\"\n\
         [cache]\nstorage = \"{storage}\"\n"
    ));
    let mut daemon = Daemon::spawn(Command::new(SEGCACHE).args(flags).arg(&config.file));
    let address = daemon.address();
    (daemon, address)
}

/// Resident bytes of a process.
fn resident(daemon: &Daemon) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * KIB
}

/// A value in which nothing repeats, with lines that would be commands.
fn value(random: &mut Random, len: usize) -> Vec<u8> {
    let mut value = random.bytes(len);
    for at in (0..len.saturating_sub(40)).step_by(50_000) {
        value[at..at + 15].copy_from_slice(b"\r\nflush_all\r\nve");
    }
    value
}

fn frame(opcode: u8, extras: &[u8], key: &[u8], value: &[u8], cas: u64) -> Vec<u8> {
    let mut frame = vec![0x80, opcode];
    frame.extend((key.len() as u16).to_be_bytes());
    frame.extend([extras.len() as u8, 0, 0, 0]);
    frame.extend(((extras.len() + key.len() + value.len()) as u32).to_be_bytes());
    frame.extend(b"opaq");
    frame.extend(cas.to_be_bytes());
    [&frame, extras, key, value].concat()
}

/// Stores a value of so many bytes.
fn set(client: &mut Client, key: &str, len: usize) {
    let line = format!("set {key} 0 0 {len}\r\n");
    client.ask(&[line.as_bytes(), &vec![b's'; len], b"\r\n"].concat(), b"STORED\r\n");
}

/// The value under a key, if there is one.
fn get(client: &mut Client, key: &str) -> Option<Vec<u8>> {
    client.send(format!("mg {key} s v\r\n").as_bytes());
    let head = client.line();
    let len: usize = head.strip_prefix("VA ")?.split(' ').next()?.parse().ok()?;
    let value = client.take(len);
    client.expect(b"\r\n");
    Some(value)
}

#[test]
fn a_large_value_is_the_same_however_it_arrives_and_others_are_served_meanwhile() {
    let mut random = Random::new(7);
    for (storage, engine) in STORAGES
        .into_iter()
        .flat_map(|storage| ["epoll", "io_uring"].map(|engine| (storage, engine)))
    {
        let (_daemon, address) = start(&["-m", "256", "-I", "48m"], storage, engine);
        let (mut client, mut other) = (Client::tcp(address), Client::tcp(address));
        other.ask(b"set small 0 0 5\r\nvalue\r\n", b"STORED\r\n");
        for len in [256 * KIB, 300_001, 512 * KIB, 512 * KIB + 1, MIB, 3 * MIB + 17, 40 * MIB] {
            let value = value(&mut random, len);
            let request = [format!("set large 7 0 {len}\r\n").as_bytes(), &value, b"\r\n"].concat();
            let mut rest = &request[..];
            while !rest.is_empty() {
                let piece = (1 + random.below(request.len() / 4)).min(rest.len());
                client.send(&rest[..piece]);
                rest = &rest[piece..];
                other.ask(b"get small\r\n", b"VALUE small 0 5\r\nvalue\r\nEND\r\n");
                other.ask(b"mg large s\r\n", &told(len, &mut client, rest.is_empty()));
            }
            assert!(get(&mut other, "large").as_deref() == Some(&value), "{storage}: {len} bytes");
            other.ask(b"delete large\r\n", b"DELETED\r\n");
        }
    }
}

/// What others are told of the value: nothing before its client has been told that it is stored.
fn told(len: usize, client: &mut Client, is_whole: bool) -> Vec<u8> {
    if !is_whole {
        return b"EN\r\n".to_vec();
    }
    client.expect(b"STORED\r\n");
    format!("HD s{len}\r\n").into_bytes()
}

/// What is sent, each with a mark behind it by which its replies end.
fn requests() -> Vec<Vec<u8>> {
    let len = 600_000;
    let value = value(&mut Random::new(8), len);
    let body = [&value[..], b"\r\n"].concat();
    let with = |line: &str| [line.as_bytes(), b"\r\n", &body].concat();
    let bad = [&value[..], b"xx"].concat();
    let set = |opcode, key: &[u8], cas| frame(opcode, &[0; 8], key, &value, cas);
    vec![
        with(&format!("set a 1 0 {len}")),
        with(&format!("add a 2 0 {len}")),
        with(&format!("add b 2 0 {len}")),
        with(&format!("replace c 2 0 {len}")),
        with(&format!("replace b 3 0 {len}")),
        with(&format!("cas a 2 0 {len} 999999")),
        with(&format!("cas c 2 0 {len} 999999")),
        with(&format!("cas a 2 0 {len} 0")),
        with(&format!("append a 0 0 {len}")),
        with(&format!("set q 0 0 {len} noreply")),
        with(&format!("add q 0 0 {len} noreply")),
        with(&format!("set gone 0 -1 {len}")),
        [format!("set bad 0 0 {len}\r\n").as_bytes(), &bad].concat(),
        [format!("set bad 0 0 {len} noreply\r\n").as_bytes(), &bad].concat(),
        [format!("ms bad {len}\r\n").as_bytes(), &bad].concat(),
        [format!("set huge 0 0 {}\r\n", 9 * MIB).as_bytes(), &vec![b'h'; 9 * MIB], b"\r\n"]
            .concat(),
        with(&format!("ms m {len} F5 O1 k")),
        with(&format!("ms m {len} ME O2 k q")),
        with(&format!("ms m {len} MR T0 O3 b")),
        with(&format!("ms bQ== {len} MR b k O4 s")),
        with(&format!("ms n {len} MR O5 s")),
        with(&format!("ms m {len} C999999 O6")),
        with(&format!("ms n {len} C999999 O7")),
        with(&format!("ms m {len} MA O8 s")),
        with(&format!("ms e {len} E77 c O9")),
        with(&format!("ms m {len} q O10")),
        [set(1, b"x", 0), set(2, b"x", 0), set(0x12, b"x", 0), set(3, b"y", 0)].concat(),
        [set(0x11, b"x", 0), set(1, b"x", 999_999), set(1, b"y", 999_999)].concat(),
        b"get a b c q gone bad huge x y m n e\r\n".to_vec(),
    ]
}

/// Sends all requests, and returns the replies to each.
fn replies(address: SocketAddr, piece: usize) -> Vec<Vec<u8>> {
    let mut text = Client::tcp(address);
    let mut binary = Client::tcp(address);
    let mut all = Vec::new();
    for request in requests() {
        let is_binary = request[0] == 0x80;
        let (client, mark, marked) = if is_binary {
            let noop = frame(0x0a, b"", b"", b"", 0);
            let told = [&[0x81][..], &noop[1..]].concat();
            (&mut binary, noop, told)
        } else {
            (&mut text, b"mn\r\n".to_vec(), b"MN\r\n".to_vec())
        };
        for piece in [&request[..], &mark].concat().chunks(piece) {
            client.send(piece);
        }
        let mut reply = Vec::new();
        let mut block = vec![0; MIB];
        while !reply.ends_with(&marked) {
            let shown = || request[..request.len().min(60)].escape_ascii().to_string();
            let n = client.read(&mut block).unwrap_or_else(|error| panic!("{}: {error}", shown()));
            assert!(n > 0, "closed after {}", reply.escape_ascii());
            reply.extend_from_slice(&block[..n]);
        }
        all.push(without_versions(reply, is_binary));
    }
    all
}

/// The versions of items differ.
fn without_versions(mut reply: Vec<u8>, is_binary: bool) -> Vec<u8> {
    let mut at = 0;
    while is_binary && at < reply.len() {
        let body = u32::from_be_bytes(reply[at + 8..at + 12].try_into().unwrap()) as usize;
        reply[at + 16..at + 24].fill(0);
        at += 24 + body;
    }
    reply
}

#[test]
fn requests_with_large_values_are_answered_as_memcached_answers_them() {
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        return memcached.not_compared("the replies to requests with large values");
    }
    let (_child, theirs) = memcached.start(&["-m", "256", "-I", "8m"]);
    let expected = replies(theirs, usize::MAX);
    for storage in STORAGES {
        for piece in [usize::MAX, 65_537, 4_093] {
            let (_daemon, ours) = start(&["-m", "256", "-I", "8m"], storage, "epoll");
            for (number, (reply, expected)) in
                replies(ours, piece).iter().zip(&expected).enumerate()
            {
                let shown = |bytes: &[u8]| bytes[..bytes.len().min(100)].escape_ascii().to_string();
                assert!(
                    reply == expected,
                    "{storage}, in pieces of {piece}, request {number}: {} of {} bytes instead of {} of {}",
                    shown(reply),
                    reply.len(),
                    shown(expected),
                    expected.len()
                );
            }
        }
    }
}

#[test]
fn clients_that_stop_or_go_in_the_middle_keep_nobody_from_storing() {
    const MEMORY: usize = 64 * MIB;
    for storage in STORAGES {
        let (daemon, address) = start(&["-m", "64", "-I", "8m"], storage, "epoll");
        let mut other = Client::tcp(address);
        let small = |other: &mut Client, round: u32| {
            (0..200).for_each(|n| set(other, &format!("{round}-{n}"), 10_000));
            set(other, "other", 1_000_000);
            assert_eq!(get(other, "other").unwrap().len(), 1_000_000);
        };
        let half = [&b"set half 0 0 8000000\r\n"[..], &[b'h'; 7_000_000]].concat();
        let mut stopped = Vec::new();
        for round in 0..20 {
            let mut client = Client::tcp(address);
            client.send(&half);
            stopped.push(client);
            small(&mut other, round);
            let resident = resident(&daemon);
            assert!(resident < 2 * MEMORY, "{storage}: {resident} bytes with {round} stopped");
        }
        // Some have been refused meanwhile, and the rest of those is dropped; the others go on.
        for mut client in stopped {
            client.send(&[&vec![b'h'; 1_000_000][..], b"\r\nmn\r\n"].concat());
            let told = client.line();
            let refused = "SERVER_ERROR out of memory storing object";
            assert!(told == "STORED" || told == refused, "{storage}: {told}");
            assert_eq!(client.line(), "MN");
        }
        small(&mut other, 20);
        // Those that go leave nothing: the next find as much room as the first.
        for round in 21..50 {
            let mut client = Client::tcp(address);
            client.write_all(&half).unwrap();
            small(&mut other, round);
            drop(client);
        }
        wait_until("their connections have ended", || {
            other.send(b"stats\r\n");
            let mut connections = 0;
            loop {
                match other.line() {
                    end if end == "END" => return connections == 1,
                    stat => {
                        if let Some(n) = stat.strip_prefix("STAT curr_connections ") {
                            connections = n.parse().unwrap();
                        }
                    }
                }
            }
        });
        let all: Vec<_> = (0..5).map(|n| format!("last{n}")).collect();
        all.iter().for_each(|key| set(&mut other, key, 8_000_000));
        assert!(all.iter().all(|key| get(&mut other, key).is_some()), "{storage}");
        assert!(resident(&daemon) < 2 * MEMORY, "{storage}");
    }
}

/// Memory has room for five of these values, or so: the others wait for those, in their sockets.
#[test]
fn many_values_that_come_at_once_are_all_stored_in_a_small_memory() {
    const LEN: usize = 1_000_000;
    for (storage, engine) in [("seg", "epoll"), ("seg", "io_uring"), ("hashmap", "epoll")] {
        let (daemon, address) = start(&["-m", "8"], storage, engine);
        let before = resident(&daemon);
        let writers: Vec<_> = (0..40)
            .map(|_| {
                thread::spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    stream.set_read_timeout(Some(LIMIT)).unwrap();
                    let mut writer = stream.try_clone().unwrap();
                    // As some clients do, it writes all before it reads.
                    let writing = thread::spawn(move || {
                        let body = [&vec![b'v'; LEN][..], b"\r\n"].concat();
                        for line in ["set a 0 0", "set b 0 0", "ms c"] {
                            writer.write_all(format!("{line} {LEN}\r\n").as_bytes()).unwrap();
                            writer.write_all(&body).unwrap();
                        }
                    });
                    let mut replies = *b"STORED\r\nSTORED\r\nHD\r\n";
                    let expected = replies;
                    stream.read_exact(&mut replies).unwrap();
                    assert_eq!(
                        replies.escape_ascii().to_string(),
                        expected.escape_ascii().to_string()
                    );
                    writing.join().unwrap();
                })
            })
            .collect();
        let mut most = 0;
        while !writers.iter().all(thread::JoinHandle::is_finished) {
            most = most.max(resident(&daemon));
            thread::yield_now();
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        // A ring may have taken much of the first value of each before the wait began.
        let is_small = engine == "io_uring" || most - before < 12 * MIB;
        assert!(is_small, "{storage}, {engine}: {most} bytes, {before} before");
        let mut client = Client::tcp(address);
        assert_eq!(get(&mut client, "b").unwrap().len(), LEN);
    }
}

/// What clients that stop have sent of values that are not very large is in buffers as long as that is little, and else in
/// memory that counts as items'.
#[test]
fn clients_that_stop_within_smaller_values_take_little_beside_the_items() {
    const MEMORY: usize = 16 * MIB;
    for engine in ["epoll", "io_uring"] {
        let (daemon, address) = start(&["-m", "16"], "seg", engine);
        let mut other = Client::tcp(address);
        (0..2_000).for_each(|n| set(&mut other, &format!("{n}"), 10_000));
        let before = resident(&daemon);
        let part = [&b"set part 0 0 250000\r\n"[..], &[b'p'; 240_000]].concat();
        let mut stopped = Vec::new();
        for _ in 0..80 {
            let mut client = Client::tcp(address);
            client.send(&part);
            stopped.push(client);
        }
        set(&mut other, "other", 250_000);
        let more = resident(&daemon).saturating_sub(before);
        assert!(more < MEMORY / 2, "{engine}: {more} bytes more than with items alone");
        for mut client in stopped {
            client.send(&[&[b'p'; 10_000][..], b"\r\nmn\r\n"].concat());
            let told = client.line();
            let refused = "SERVER_ERROR out of memory storing object";
            assert!(told == "STORED" || told == refused, "{engine}: {told}");
            assert_eq!(client.line(), "MN");
        }
        assert_eq!(get(&mut other, "other").map(|value| value.len()), Some(250_000));
    }
}

/// Whether so many keys have been asked for.
fn has_got(client: &mut Client, keys: u32) -> bool {
    client.send(b"stats\r\n");
    let lines = std::iter::from_fn(|| Some(client.line()).filter(|line| line != "END"));
    lines.filter(|line| *line == format!("STAT cmd_get {keys}")).count() > 0
}

/// Values that wait for clients are memory of the store, once: they do not count for each client, too.
#[test]
fn values_for_clients_that_do_not_read_leave_room_for_others() {
    for engine in ["epoll", "io_uring"] {
        let (_daemon, address) = start(&["-m", "64", "-t", "2"], "seg", engine);
        let mut client = Client::tcp(address);
        (0..80).for_each(|n| set(&mut client, &format!("{n}"), 500_000));
        let readers: Vec<Client> = (0..8)
            .map(|n| {
                let mut reader = Client::tcp(address);
                reader.send(format!("get {}\r\n", 79 - n).repeat(20).as_bytes());
                reader
            })
            .collect();
        while !has_got(&mut client, 160) {
            thread::yield_now();
        }
        client.send(b"cache_memlimit 8\r\n");
        assert_eq!(client.line(), "OK");
        for n in 0..100 {
            set(&mut client, &format!("other-{n}"), 10_000);
        }
        drop(readers);
    }
}
