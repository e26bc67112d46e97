// SPDX-License-Identifier: Apache-2.0
//! The memory that clients make the built server hold: it stays within `maxmemory`, whichever command they
//! repeat, and slow readers do not push keys out, as docs/limits.md and docs/rds.md promise.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod flood;
mod messages;
mod references;
mod sizes;
mod walk;

use flood::Flood;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;
use test_support::client::Client;
use test_support::daemon::{Daemon, text};
use test_support::{PATIENCE, memory, wait_until};

const MIB: u64 = 1 << 20;

/// A server that runs, and somebody who looks at it.
struct Rig {
    address: SocketAddr,
    operator: Client,
    daemon: Daemon,
}

impl Rig {
    fn start(flags: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rds"));
        let free = ["--port", "0", "--admin-port", "0"];
        let mut daemon = Daemon::spawn(command.args(flags).args(free));
        let address = daemon.address();
        let operator = Client::tcp(address);
        let mut rig = Rig { address, operator, daemon };
        rig.ask("CLIENT NO-EVICT on");
        rig
    }

    /// A reply without its type and line ends: of a bulk string what is in it.
    fn ask(&mut self, request: &str) -> String {
        self.operator.send(format!("{request}\r\n").as_bytes());
        let first = self.operator.line();
        match first.strip_prefix('$') {
            Some(len) if len != "-1" => {
                let body = text(&self.operator.take(len.parse().unwrap()));
                self.operator.expect(b"\r\n");
                body
            }
            _ => first[1..].to_owned(),
        }
    }

    /// A number of INFO.
    fn number(&mut self, name: &str) -> u64 {
        let info = self.ask("INFO");
        let line = info.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        line.unwrap_or_else(|| panic!("{name} in {info}")).parse().unwrap()
    }

    /// Memory of the process in RAM that is its own, not the program's file.
    fn own_bytes(&self) -> u64 {
        memory::of_process(self.daemon.pid(), "status", "RssAnon")
    }

    /// Waits until no more than `most` bytes are the process's own: the allocator keeps what was freed
    /// for some seconds, and while a thread of its own gives back memory it does not when it is asked.
    #[track_caller]
    fn expect_resident(&mut self, most: u64, what: &str) {
        let begun = Instant::now();
        while self.own_bytes() > most {
            assert!(begun.elapsed() < PATIENCE, "{what}: {} bytes are resident", self.own_bytes());
            assert_eq!(self.ask("MEMORY PURGE"), "OK");
        }
    }

    /// Fills a key with so many bytes.
    fn set(&mut self, key: &str, len: usize) {
        let request = flood::request(&[b"SET", key.as_bytes(), &vec![b'v'; len]]);
        self.operator.ask(&request, b"+OK\r\n");
    }

    fn wait_for(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        wait_until(what, || is_so(self));
    }
}

/// A text that is like no other.
fn name(number: usize, len: usize) -> Vec<u8> {
    let mut name = format!("{number:08}-").into_bytes();
    name.resize(len, b'n');
    name
}

/// Names in one request.
const NAMES: usize = 8;

/// Bytes of each.
const NAME_BYTES: usize = 8 << 10;

/// The `n`-th request with names of its own.
fn with_names(words: &[&[u8]], n: usize) -> Vec<u8> {
    let names: Vec<_> = (0..NAMES).map(|i| name(n * NAMES + i, NAME_BYTES)).collect();
    let names = names.iter().map(Vec::as_slice);
    flood::request(&words.iter().copied().chain(names).collect::<Vec<_>>())
}

/// What a client repeats to grow, and what it is told when it holds as much as it may.
type Repeat = (&'static str, &'static [u8], fn(usize) -> Vec<u8>, &'static str);

const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.";

const REPEATS: [Repeat; 6] = [
    ("MULTI", b"MULTI\r\n", |n| with_names(&[b"MSET"], n), OOM),
    ("MULTI, reads", b"MULTI\r\n", |n| with_names(&[b"MGET"], n), OOM),
    ("WATCH", b"", |n| with_names(&[b"WATCH"], n), OOM),
    ("SUBSCRIBE", b"", |n| with_names(&[b"SUBSCRIBE"], n), OOM),
    ("PSUBSCRIBE", b"", |n| with_names(&[b"PSUBSCRIBE"], n), OOM),
    ("SSUBSCRIBE", b"", |n| with_names(&[b"SSUBSCRIBE"], n), OOM),
];

#[test]
fn one_client_that_repeats_a_command_is_refused_when_memory_is_used_up() {
    const MAX: u64 = 32 * MIB;
    for (what, setup, repeat, refusal) in REPEATS {
        let mut rig = Rig::start(&["--maxmemory", "32mb"]);
        let mut flood = Flood::new(rig.address, setup);
        for n in 0.. {
            flood.send(&repeat(n));
            if flood.has_seen(refusal) {
                break;
            }
            assert!(flood.is_open(), "{what}: it is told, not closed");
            assert!(flood.sent < 4 * MAX, "{what}: there is no end to it");
        }
        assert!(flood.sent > MAX / 4, "{what}: refused after {} bytes", flood.sent);
        let used = rig.number("used_memory");
        assert!(used > MAX / 2 && used < MAX + MAX / 10, "{what}: {used} bytes used");
        rig.expect_resident(2 * MAX, what);
        if what.starts_with("MULTI") {
            flood.send(b"EXEC\r\n");
            flood.wait_for("-EXECABORT Transaction discarded because of");
        }
        drop(flood);
        rig.wait_for("what it held is free", |rig| rig.number("used_memory_clients") == 0);
    }
}

#[test]
fn many_clients_with_long_names_or_many_keys_to_wait_for_are_refused() {
    const MAX: u64 = 32 * MIB;
    let long = |words: &[&[u8]], n| {
        let name = name(n, 1 << 20);
        flood::request(&words.iter().copied().chain([&name[..]]).collect::<Vec<_>>())
    };
    type One = Box<dyn Fn(usize) -> Vec<u8>>;
    let cases: [(&str, One); 5] = [
        ("SETNAME", Box::new(move |n| long(&[b"CLIENT", b"SETNAME"], n))),
        ("SETINFO", Box::new(move |n| long(&[b"CLIENT", b"SETINFO", b"lib-name"], n))),
        ("HELLO", Box::new(move |n| long(&[b"HELLO", b"3", b"SETNAME"], n))),
        (
            "BLMOVE",
            Box::new(|n| {
                let (source, destination) = (name(2 * n, 16), name(2 * n + 1, 1 << 20));
                flood::request(&[b"BLMOVE", &source, &destination, b"LEFT", b"LEFT", b"0"])
            }),
        ),
        (
            "BLPOP",
            Box::new(|n| {
                let keys: Vec<_> = (0..128).map(|i| name(n * 128 + i, NAME_BYTES)).collect();
                let mut words = vec![&b"BLPOP"[..]];
                words.extend(keys.iter().map(Vec::as_slice));
                words.push(b"0");
                flood::request(&words)
            }),
        ),
    ];
    for (what, one) in cases {
        let mut rig = Rig::start(&["--maxmemory", "32mb"]);
        let mut floods = Vec::new();
        loop {
            let mut flood = Flood::new(rig.address, b"");
            flood.send(&one(floods.len()));
            let blocked = floods.len() as u64 + 1;
            rig.wait_for("an answer, or none for now", |rig| {
                flood.read();
                flood.has_seen("\r\n") || rig.number("blocked_clients") == blocked
            });
            let is_refused = flood.has_seen(OOM);
            floods.push(flood);
            if is_refused {
                break;
            }
            assert!(floods.len() < 100, "{what}: there is no end to it");
        }
        let used = rig.number("used_memory");
        assert!(used < MAX + MAX / 10, "{what}: {used} bytes used");
        rig.expect_resident(2 * MAX, what);
        drop(floods);
        rig.wait_for("what they held is free", |rig| rig.number("used_memory_clients") == 0);
    }
}

#[test]
fn requests_without_an_end_do_not_fill_the_memory() {
    const MAX: u64 = 32 * MIB;
    let mut rig = Rig::start(&["--maxmemory", "32mb"]);
    let mut floods: Vec<Flood> =
        (0..16).map(|_| Flood::new(rig.address, b"*2\r\n$3\r\nGET\r\n$100000000\r\n")).collect();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..16 {
        floods.iter_mut().for_each(|flood| flood.send(&piece));
    }
    rig.wait_for("clients go", |rig| rig.number("evicted_clients") > 0);
    rig.wait_for("memory is free", |rig| rig.number("used_memory") < 2 * MAX);
    assert!(floods.iter_mut().any(|flood| !flood.is_open()));
    assert_eq!(rig.ask("SET key value"), "OK");
}

#[test]
fn slow_readers_do_not_push_keys_out() {
    let flags = ["--maxmemory", "32mb", "--maxmemory-policy", "allkeys-lru"];
    let mut rig = Rig::start(&flags);
    for n in 0..400 {
        rig.set(&format!("key:{n}"), 100_000);
    }
    let before: u64 = rig.ask("DBSIZE").parse().unwrap();
    assert!(before > 250, "{before} keys");
    let gets: String = (300..400).map(|n| format!("GET key:{n}\r\n")).collect();
    let mut floods: Vec<Flood> = (0..40).map(|_| Flood::deaf(rig.address)).collect();
    for _ in 0..4 {
        floods.iter_mut().for_each(|flood| flood.send(gets.as_bytes()));
        rig.set("another", 100_000);
    }
    let after: u64 = rig.ask("DBSIZE").parse().unwrap();
    // What is on its way to all of them at once is most: a sixteenth of the memory on epoll, an eighth on io_uring, where the
    // replies of a turn leave together. They have asked for twelve times the memory.
    assert!(after > before - before / 6, "{after} of {before} keys are left");
    assert!(rig.number("used_memory") < 36 * MIB);
}

/// For as many subscribers a block each would be more than the memory. They have two messages each, so that these are
/// delivered before the next command of the pipeline.
#[test]
fn a_message_to_many_takes_memory_of_its_size() {
    let mut rig = Rig::start(&["--maxmemory", "24mb"]);
    let subscribers: Vec<_> = (0..600)
        .map(|_| {
            let mut subscriber = Client::tcp(rig.address);
            let told = |what: &str, name: &str, count: u8| {
                format!(
                    "*3\r\n${}\r\n{what}\r\n${}\r\n{name}\r\n:{count}\r\n",
                    what.len(),
                    name.len()
                )
            };
            let both = told("subscribe", "news", 1) + &told("psubscribe", "n*", 2);
            subscriber.ask(b"SUBSCRIBE news\r\nPSUBSCRIBE n*\r\n", both.as_bytes());
            subscriber
        })
        .collect();
    let text = "x".repeat(100);
    rig.operator
        .send(format!("PUBLISH news {text}\r\n{}", "SET key value\r\n".repeat(50)).as_bytes());
    rig.operator.expect(format!(":1200\r\n{}", "+OK\r\n".repeat(50)).as_bytes());
    let body = format!("$4\r\nnews\r\n$100\r\n{text}\r\n");
    let messages =
        format!("*3\r\n$7\r\nmessage\r\n{body}*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n{body}");
    for mut subscriber in subscribers {
        subscriber.expect(messages.as_bytes());
    }
}

#[test]
fn clients_above_maxmemory_clients_are_closed_and_those_are_spared_who_may_stay() {
    let mut rig = Rig::start(&["--maxmemory", "64mb", "--maxmemory-clients", "4mb"]);
    assert_eq!(rig.number("maxmemory_clients"), 4 * MIB);
    let mut spared = Flood::new(rig.address, b"CLIENT NO-EVICT on\r\nMULTI\r\n");
    spared.send(&with_names(&[b"MSET"], 0).repeat(16));
    let mut small = Flood::new(rig.address, b"MULTI\r\nPING\r\n");
    let mut large = Flood::new(rig.address, b"MULTI\r\n");
    for n in 0..100 {
        large.send(&with_names(&[b"MSET"], n));
    }
    rig.wait_for("the largest goes", |rig| rig.number("evicted_clients") == 1);
    large.wait_for_end();
    spared.send(b"EXEC\r\n");
    spared.wait_for("*16\r\n+OK\r\n");
    small.send(b"EXEC\r\n");
    small.wait_for("*1\r\n+PONG\r\n");
    // In percent of maxmemory, while it runs.
    rig.ask("CONFIG SET maxmemory-clients 50%");
    assert_eq!(rig.number("maxmemory_clients"), 32 * MIB);
    let mut large = Flood::new(rig.address, b"MULTI\r\n");
    for n in 0..100 {
        large.send(&with_names(&[b"MSET"], n));
    }
    large.send(b"DISCARD\r\n");
    large.wait_for("+QUEUED\r\n+OK\r\n");
    assert_eq!(rig.number("evicted_clients"), 1);
}

/// Keys make room for it, as in Redis.
#[test]
fn a_client_that_reads_gets_large_replies_when_memory_is_full() {
    let mut rig = Rig::start(&["--maxmemory", "32mb", "--maxmemory-policy", "allkeys-lru"]);
    let value = vec![b'v'; 10_000];
    for n in 0..4_000 {
        rig.operator
            .ask(&flood::request(&[b"SET", format!("key:{n}").as_bytes(), &value]), b"+OK\r\n");
    }
    assert!(rig.number("evicted_keys") > 0);
    let (name, count) = (&b"key:3999"[..], 800);
    let mget = flood::request(&[vec![&b"MGET"[..]], vec![name; count]].concat());
    let bulk = [b"$10000\r\n", &value[..], b"\r\n"].concat();
    let reply = [format!("*{count}\r\n").into_bytes(), bulk.repeat(count)].concat();
    for _ in 0..10 {
        rig.operator.ask(&mget, &reply);
        rig.operator.ask(b"MULTI\r\n", b"+OK\r\n");
        rig.operator.ask(&mget, b"+QUEUED\r\n");
        rig.operator.ask(b"EXEC\r\n", &[b"*1\r\n", &reply[..]].concat());
    }
    assert_eq!(rig.number("evicted_clients"), 0);
}

/// Nor are messages free that wait for somebody: of any size, and of a monitor, which has no limit of its own.
#[test]
fn a_monitor_that_does_not_read_is_closed() {
    for size in [100, 1_000, 100_000] {
        let mut rig = Rig::start(&["--maxmemory", "64mb", "--maxmemory-clients", "4mb"]);
        let mut monitor = Client::tcp(rig.address);
        monitor.ask(b"MONITOR\r\n", b"+OK\r\n");
        let value = vec![b'v'; size];
        let set = flood::request(&[b"SET", b"key", &value]);
        let some = set.repeat(100_000_usize.div_ceil(size));
        let replies = b"+OK\r\n".repeat(100_000_usize.div_ceil(size));
        let mut rounds = 0;
        while rig.number("evicted_clients") == 0 {
            rig.operator.ask(&some, &replies);
            rounds += 1;
            assert!(rounds < 500, "{size}: nobody is closed, {} used", rig.number("used_memory"));
        }
        rig.wait_for("the memory is free", |rig| rig.number("mem_clients_normal") < MIB);
    }
}

#[test]
fn a_write_finds_room_where_a_client_holds_more_than_its_share() {
    let mut rig = Rig::start(&["--maxmemory", "32mb"]);
    let mut hog = Flood::new(rig.address, b"MULTI\r\n");
    let mut n = 0;
    while !hog.has_seen(OOM) {
        hog.send(&with_names(&[b"MSET"], n));
        n += 1;
    }
    for n in 0..100 {
        rig.set(&format!("key:{n}"), 200_000);
    }
    assert_eq!((rig.ask("DBSIZE").as_str(), rig.number("evicted_clients")), ("100", 1));
    hog.wait_for_end();
}

#[test]
fn what_maxmemory_grants_is_used() {
    for megabytes in [16, 100] {
        let mut rig = Rig::start(&["--maxmemory", &format!("{megabytes}mb")]);
        let max = megabytes * MIB;
        let value = vec![b'v'; 10_000];
        let mut stored = 0;
        for n in 0.. {
            let key = format!("key:{n}");
            rig.operator.send(&flood::request(&[b"SET", key.as_bytes(), &value]));
            match rig.operator.line() {
                line if line == "+OK" => stored += value.len() as u64,
                line => {
                    assert_eq!(line, OOM);
                    break;
                }
            }
        }
        let (used, startup) = (rig.number("used_memory"), rig.number("used_memory_startup"));
        assert!(used > max && used < max + MIB, "{used} of {max} bytes are used");
        // A value of 10,000 bytes takes 10,240.
        let granted = max - startup - MIB;
        assert!(stored > granted / 100 * 94, "{stored} bytes of values, {startup} at the start");
        rig.expect_resident(max / 100 * 105 + 4 * MIB, "keys");
    }
}

#[test]
fn zeros_before_an_offset_take_no_memory_before_they_are_written() {
    let mut rig = Rig::start(&["--maxmemory", "2gb"]);
    assert_eq!(rig.ask("SET long start"), "OK");
    for key in ["new", "long"] {
        assert_eq!(rig.ask(&format!("SETRANGE {key} 536870911 x")), "536870912");
        assert_eq!(rig.ask(&format!("GETRANGE {key} 536870910 -1")), "\0x");
    }
    assert_eq!(rig.ask("GETRANGE long 0 5"), "start\0");
    assert!(rig.number("used_memory") > 2 * 512 * MIB, "they count, as they may be written");
    let resident = rig.own_bytes();
    assert!(resident < 64 * MIB, "{resident} bytes are resident");
}

#[test]
fn a_part_that_is_not_read_does_not_keep_the_whole_string() {
    let mut rig = Rig::start(&["--maxmemory", "1gb"]);
    let mut readers = Vec::new();
    for _ in 0..6 {
        rig.set("long", 32 << 20);
        let mut reader = Client::tcp(rig.address);
        // More than sockets hold, so parts of this string wait in the server when the next one takes its place.
        reader.send("GETRANGE long 0 65535\r\n".repeat(200).as_bytes());
        reader.expect(b"$65536\r\n");
        readers.push(reader);
    }
    rig.expect_resident(128 * MIB, "parts");
}
