// SPDX-License-Identifier: Apache-2.0
//! libmemcached's `memccapable -a`, a test of the text protocol: `segcache` passes every test that memcached
//! passes.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
mod process;

use process::Server;
use std::collections::BTreeSet;
use std::process::Command;

/// The names of the tests that `server` passes.
fn passed(server: &Server) -> BTreeSet<String> {
    let port = server.address.port().to_string();
    let mut command = Command::new("memccapable");
    let output = command.args(["-h", "127.0.0.1", "-p", &port, "-a"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The names of tests that fail come without a verdict and a line end: those go to standard error.
    let name = |line: &str| {
        let names = line.trim_end().strip_suffix("[pass]")?;
        Some(names[names.rfind("ascii ")?..].trim_end().to_owned())
    };
    text.lines().filter_map(name).collect()
}

#[test]
fn what_memcached_passes_segcache_passes() {
    if Command::new("memccapable").arg("-?").output().is_err() {
        return test_support::child::missing("memccapable (apt-get install libmemcached-tools)");
    }
    let Some(memcached) = process::memcached(&[]) else { return };
    let theirs = passed(&memcached);
    assert!(theirs.len() > 20, "memcached passes most: {theirs:?}");
    for storage in process::STORAGES {
        let ours = passed(&process::segcache(&[], &process::over(storage)));
        println!("memcached passes {}, segcache over {storage} {}", theirs.len(), ours.len());
        let failed: Vec<_> = theirs.difference(&ours).collect();
        assert!(failed.is_empty(), "memcached passes these, {storage} does not: {failed:?}");
    }
}
