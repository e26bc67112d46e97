// SPDX-License-Identifier: Apache-2.0
//! Runs the committed seeds of every target without a fuzzer, with any toolchain.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::path::Path;
use std::thread;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut seeds = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        target(&fs::read(&path).unwrap());
        seeds += 1;
    }
    assert!(seeds >= 10, "{seeds} seeds in {}", folder.display());
}

#[test]
fn ping_parse() {
    replay("ping_parse", fuzz::ping_parse);
}

#[test]
fn memcache_parse() {
    replay("memcache_parse", fuzz::memcache_parse);
}

#[test]
fn memcache_binary() {
    replay("memcache_binary", fuzz::memcache_binary);
}

#[test]
fn resp_parse() {
    replay("resp_parse", fuzz::resp_parse);
}

#[test]
fn resp_reply() {
    replay("resp_reply", fuzz::resp_reply);
}

#[test]
fn turn_chunks() {
    replay("turn_chunks", fuzz::turn_chunks);
}

#[test]
fn datagrams() {
    replay("datagrams", fuzz::datagrams);
}

#[test]
fn config_parse() {
    replay("config_parse", fuzz::config_parse);
}

#[test]
fn nodes_file() {
    replay("nodes_file", fuzz::nodes_file);
}

#[test]
fn hashmap_model() {
    replay("hashmap_model", fuzz::hashmap_model);
}

#[test]
fn seg_model() {
    replay("seg_model", fuzz::seg_model);
}

#[test]
fn keyspace_model() {
    replay("keyspace_model", fuzz::keyspace_model);
}

#[test]
fn serial_values() {
    replay("serial_values", fuzz::serial_values);
}

#[test]
fn resp_commands() {
    replay("resp_commands", fuzz::resp_commands);
}

#[test]
fn script_values() {
    // Without optimisation a thousand nested values take more stack than a test has.
    let thread = thread::Builder::new().stack_size(64 << 20);
    let run = thread.spawn(|| replay("script_values", fuzz::script_values)).unwrap();
    run.join().unwrap();
}

#[test]
fn script_patterns() {
    replay("script_patterns", fuzz::script_patterns);
}
