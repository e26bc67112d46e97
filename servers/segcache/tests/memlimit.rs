// SPDX-License-Identifier: Apache-2.0
//! `cache_memlimit`: the memory that the server takes grows and shrinks with its limit, under load, and what it
//! tells of the limit follows.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};
use test_support::{http, wait_until};

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");
const MIB: u64 = 1 << 20;

/// Bytes of a value.
const VALUE: usize = 1_000;

/// Items that are written and read at a time.
const BATCH: usize = 100;

struct Server {
    daemon: Daemon,
    address: SocketAddr,
    admin: SocketAddr,
    storage: &'static str,
}

impl Server {
    /// One of 64 MiB with two workers.
    fn start(storage: &'static str) -> Self {
        let config = Config::new(&format!(
            "[server]\nport = 0\n[admin]\nport = 0\n[worker]\nthreads = 2\n[cache]\nstorage = \"{storage}\"\n"
        ));
        let mut daemon = Daemon::spawn(Command::new(SEGCACHE).arg("-m64").arg(&config.file));
        let (address, admin) = (daemon.address(), daemon.admin());
        Server { daemon, address, admin, storage }
    }

    /// Resident memory of the process in bytes, without pages of files: those of the program grow with it.
    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.daemon.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// What the server tells of its limit.
    fn check_limit(&self, client: &mut Client, mebibytes: u64) {
        let limit = (mebibytes * MIB).to_string();
        assert_eq!(stats(client, "")["limit_maxbytes"], limit);
        assert_eq!(stats(client, " settings")["maxbytes"], limit);
        let config = http::get(self.admin, "/config").1;
        assert!(config.contains(&format!("memory = \"{mebibytes}MB\"")), "{config}");
        if self.storage == "seg" {
            assert_eq!(stats(client, " store")["store_limit_bytes"], limit);
            let shown = http::metric(self.admin, "shoebill_memory_limit_bytes");
            assert_eq!(shown, (mebibytes * MIB) as f64);
        }
    }
}

/// The lines of a topic.
fn stats(client: &mut Client, topic: &str) -> HashMap<String, String> {
    client.send(format!("stats{topic}\r\n").as_bytes());
    let mut lines = HashMap::new();
    loop {
        let line = client.line();
        if line == "END" {
            return lines;
        }
        let mut words = line.split(' ').skip(1).map(str::to_owned);
        lines.insert(words.next().unwrap(), words.next().unwrap_or_default());
    }
}

/// The value of a key.
fn value(key: usize) -> String {
    format!("{key:010}").repeat(VALUE / 10)
}

fn write(client: &mut Client, keys: std::ops::Range<usize>) {
    for first in keys.clone().step_by(BATCH) {
        let batch = first..keys.end.min(first + BATCH);
        let sets = batch.map(|key| format!("set {key} 0 0 {VALUE} noreply\r\n{}\r\n", value(key)));
        client.ask(format!("{}mn\r\n", sets.collect::<String>()).as_bytes(), b"MN\r\n");
    }
}

/// How many of the keys there are, each with its value.
fn read(client: &mut Client, keys: std::ops::Range<usize>) -> usize {
    let mut hits = 0;
    for first in keys.clone().step_by(BATCH) {
        for key in first..keys.end.min(first + BATCH) {
            client.send(format!("get {key}\r\n").as_bytes());
        }
        for key in first..keys.end.min(first + BATCH) {
            let found = client.line();
            if found == "END" {
                continue;
            }
            assert_eq!(found, format!("VALUE {key} 0 {VALUE}"));
            client.expect(format!("{}\r\nEND\r\n", value(key)).as_bytes());
            hits += 1;
        }
    }
    hits
}

/// Reads and writes keys of its own until it is told to stop, but while somebody wants to be alone.
fn load(address: SocketAddr, is_done: &AtomicBool, alone: &RwLock<()>) {
    let mut client = Client::tcp(address);
    let own = 10_000_000..10_002_000;
    while !is_done.load(Ordering::Relaxed) {
        let _others = alone.read();
        write(&mut client, own.clone());
        read(&mut client, own.clone());
    }
}

#[test]
fn memory_follows_the_limit_under_load() {
    for storage in ["seg", "hashmap"] {
        let mut server = Server::start(storage);
        let (is_done, alone) = (AtomicBool::new(false), RwLock::new(()));
        let client = &mut Client::tcp(server.address);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| load(server.address, &is_done, &alone));
            }
            let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                change(&server, client, &alone);
            }));
            is_done.store(true, Ordering::Relaxed);
            failed.unwrap();
        });
        server.daemon.line("the memory limit to 256 MB; it was 64 MB");
        server.daemon.line("the memory limit to 32 MB; it was 256 MB");
    }
}

/// Limits change under load. What they leave room for is counted when nobody else writes, who may be the faster one.
fn change(server: &Server, client: &mut Client, alone: &RwLock<()>) {
    // 80 MB, and 200 MB in all.
    let (part, all) = (80_000, 200_000);
    server.check_limit(client, 64);
    let full = {
        let _alone = alone.write();
        write(client, 0..part);
        read(client, 0..part)
    };
    assert!((part / 2..part / 8 * 7).contains(&full), "{full} items in 64 MiB");
    assert!(server.resident() < 90 * MIB, "{} bytes", server.resident());

    client.ask(b"cache_memlimit 256\r\n", b"OK\r\n");
    server.check_limit(client, 256);
    let kept = {
        let _alone = alone.write();
        write(client, part..all);
        read(client, part..all)
    };
    assert!(kept > (all - part) / 100 * 99, "{kept} of {} items in 256 MiB", all - part);
    assert!(server.resident() > 150 * MIB, "{} bytes", server.resident());

    client.ask(
        b"cache_memlimit 4\r\n",
        b"MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n",
    );
    client.ask(b"cache_memlimit 32\r\n", b"OK\r\n");
    server.check_limit(client, 32);
    let most = if server.storage == "seg" { 48 } else { 96 } * MIB;
    wait_until("memory is given back", || server.resident() < most);
    wait_until("what is used fits the limit", || {
        stats(client, "")["bytes"].parse::<u64>().unwrap() < 32 * MIB
    });
    let left = {
        let _alone = alone.write();
        write(client, 0..part);
        read(client, 0..all)
    };
    assert!((5_000..32 * MIB as usize / VALUE).contains(&left), "{left} items in 32 MiB");
    assert!(server.resident() < most, "{} bytes", server.resident());

    client.ask(b"cache_memlimit 64 noreply\r\nmn\r\n", b"MN\r\n");
    server.check_limit(client, 64);
    if server.storage == "seg" {
        let reply = b"MEMLIMIT_ADJUST_FAILED cannot set maxbytes to more than 1024m\r\n";
        client.ask(b"cache_memlimit 1025\r\n", reply);
        server.check_limit(client, 64);
    }
}
