// SPDX-License-Identifier: Apache-2.0
//! Third-party clients against the built server: pymemcache, python-memcached, python-binary-memcached and the
//! `memcache` crate, in both forms of the protocol.
//!
//! Each uses all of its functions and records the results in a transcript. Where memcached is installed, it
//! gets the same requests, and the transcripts must be equal. `SHOEBILL_PYTHON` names a Python that has the
//! modules of `clients/requirements.txt`.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
mod process;
#[path = "support/python.rs"]
mod python;

use memcache::{Client, MemcacheError};
use process::Server;
use python::{same, transcript};
use std::fmt::Debug;
use std::process::Command;
use test_support::certificates::Certificates;
use test_support::daemon::{Config, Daemon};

/// A Python that has the modules.
fn python() -> Option<String> {
    let told = "pymemcache, python-memcached and python-binary-memcached";
    python::python("pymemcache, memcache, bmemcached", told)
}

/// Plays `script` against both servers.
fn play(script: &str) {
    let Some(python) = python() else { return };
    let Some(memcached) = process::memcached(&[]) else { return };
    let expected = transcript(&python, script, &[&memcached.address.to_string()]);
    assert!(expected.lines().count() > 80, "it does much:\n{expected}");
    let check = |name: &str, arguments: &[&str]| {
        same(&format!("{script} over {name}"), &transcript(&python, script, arguments), &expected);
    };
    for storage in process::STORAGES {
        let segcache = process::segcache(&["-t", "2"], &process::over(storage));
        check(&format!("TCP and {storage}"), &[&segcache.address.to_string()]);
    }

    let config = Config::new("[admin]\nenabled = false\n");
    let socket = format!("unix:{}", config.folder().join("socket").display());
    let mut command = Command::new(process::segcache_path());
    let mut unix = Daemon::spawn(command.arg("-s").arg(&socket[5..]).arg(&config.file));
    unix.line("listening on unix:");
    check("a unix socket", &[&socket]);
}

#[test]
fn pymemcache_is_told_what_memcached_tells_it() {
    play("with_pymemcache.py");
}

#[test]
fn python_memcached_is_told_what_memcached_tells_it() {
    play("with_python_memcached.py");
}

#[test]
fn python_binary_memcached_is_told_what_memcached_tells_it() {
    play("with_binary_memcached.py");
}

#[test]
fn pymemcache_is_told_the_same_over_tls() {
    let Some(python) = python() else { return };
    let Some(memcached) = process::memcached(&[]) else { return };
    let script = "with_pymemcache.py";
    let expected = transcript(&python, script, &[&memcached.address.to_string()]);

    let config = Config::empty();
    let certificates = Certificates::new(config.folder());
    let [chain, key, ca] = ["server.pem", "server.key", "ca.pem"].map(|name| {
        let path = certificates.path(name);
        path.to_str().unwrap().to_owned()
    });
    let tls = format!("[tls]\ncertificate_chain = {chain:?}\nprivate_key = {key:?}\n");
    let segcache = process::segcache(&[], &tls);
    let ours = transcript(&python, script, &[&segcache.address.to_string(), &ca]);
    assert_eq!(ours, expected);
}

/// What the `memcache` crate is told, call by call.
struct Told(Vec<String>);

impl Told {
    fn note<T: Debug>(&mut self, call: &str, result: Result<T, MemcacheError>) {
        self.0.push(match result {
            Ok(value) => format!("{call}: {value:?}"),
            Err(error) => format!("{call}: failed with {error}"),
        });
    }
}

fn with_the_memcache_crate(url: &str) -> Vec<String> {
    let client = Client::connect(url).unwrap();
    let mut told = Told(Vec::new());
    told.note("flush", client.flush());
    told.note("set", client.set("a", "text", 0));
    told.note("get", client.get::<String>("a"));
    told.note("get absent", client.get::<String>("none"));
    told.note("set gone", client.set("later", "x", 100));
    told.note("bytes", client.set("bytes", &b"\r\n\0END\r\n"[..], 0));
    told.note("get bytes", client.get::<Vec<u8>>("bytes"));
    told.note("add present", client.add("a", "x", 0));
    told.note("add absent", client.add("b", "x", 0));
    told.note("replace present", client.replace("b", "y", 0));
    told.note("replace absent", client.replace("none", "y", 0));
    told.note("append", client.append("b", "z"));
    told.note("append absent", client.append("none", "z"));
    told.note("prepend", client.prepend("b", "x"));
    told.note("prepend absent", client.prepend("none", "x"));
    told.note("get b", client.get::<String>("b"));
    told.note("set number", client.set("n", 10_u64, 0));
    told.note("increment", client.increment("n", 5));
    told.note("decrement", client.decrement("n", 7));
    told.note("decrement below", client.decrement("n", 100));
    told.note("increment absent", client.increment("none", 1));
    told.note("increment text", client.increment("a", 1));
    told.note("touch", client.touch("a", 100));
    told.note("touch absent", client.touch("none", 100));

    let read = client.gets::<(Vec<u8>, u32, Option<u64>)>(&["a", "b", "none"]).unwrap();
    let mut keys: Vec<_> =
        read.iter().map(|(key, (value, flags, _))| (key, value, flags)).collect();
    keys.sort();
    told.0.push(format!("gets: {keys:?}"));
    let cas = read["a"].2.expect("gets tells the number");
    told.note("cas", client.cas("a", "new", 0, cas));
    told.note("cas too late", client.cas("a", "newer", 0, cas));
    told.note("cas absent", client.cas("absent", "newer", 0, cas));
    told.note("get", client.get::<String>("a"));

    told.note("delete", client.delete("a"));
    told.note("delete absent", client.delete("a"));
    let large = vec![b'v'; 1_000_000];
    told.note("large", client.set("large", &large[..], 0));
    let back = client.get::<Vec<u8>>("large").map(|value| value == Some(large));
    told.note("comes back", back);
    told.note("too large", client.set("large", &vec![b'v'; 1_100_000][..], 0));
    told.note("no old value", client.get::<Vec<u8>>("large"));
    let key = "k".repeat(250);
    told.note("longest key", client.set(&key, "x", 0));
    told.note("get it", client.get::<String>(&key));
    told.note("key too long", client.set(&"k".repeat(251), "x", 0));
    told.note("version", client.version().map(|versions| versions.len()));
    told.note("stats", client.stats().map(|stats| stats[0].1.contains_key("curr_items")));
    told.note("flush later", client.flush_with_delay(1000));
    told.note("get bytes", client.get::<Vec<u8>>("bytes"));
    told.note("flush", client.flush());
    told.note("get bytes", client.get::<Vec<u8>>("bytes"));
    told.0
}

#[test]
fn the_memcache_crate_is_told_what_memcached_tells_it() {
    ["ascii", "binary"].into_iter().for_each(play_with_the_memcache_crate);
}

fn play_with_the_memcache_crate(form: &str) {
    let play = |server: &Server| {
        with_the_memcache_crate(&format!("memcache://{}?protocol={form}", server.address))
    };
    let ours = process::STORAGES.map(|storage| {
        let ours = play(&process::segcache(&["-t", "2"], &process::over(storage)));
        for expected in ["get: Some(\"text\")", "increment: 15", "cas: true", "cas too late: false"]
        {
            assert!(ours.iter().any(|line| line == expected), "{expected} is not in\n{ours:#?}");
        }
        ours
    });
    // Its flush leaves an item that a thread of its own has locked at that moment: then it plays again.
    let mut theirs = Vec::new();
    for _ in 0..5 {
        let Some(memcached) = process::memcached(&[]) else { return };
        theirs = play(&memcached);
        if theirs.last().is_some_and(|line| line == "get bytes: None") {
            break;
        }
    }
    for (storage, ours) in process::STORAGES.iter().zip(ours) {
        assert_eq!(ours, theirs, "{form} over {storage}");
    }
}
