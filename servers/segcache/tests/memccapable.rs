// SPDX-License-Identifier: Apache-2.0
//! libmemcached's `memccapable`, a test of the text protocol (`-a`) and of the binary one (`-b`): `segcache`
//! passes every test that memcached passes.
//!
//! memcached before 1.6.45 refuses words behind the key of a `delete`, as the tool expects; newer ones ignore them.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
mod process;

use process::Server;
use std::collections::BTreeSet;
use std::process::Command;
use test_support::memcached::Memcached;

/// The tests in which words behind the key are refused.
const REFUSED_BEFORE: [&str; 2] = ["ascii delete", "ascii delete noreply"];

/// The names of the tests of a form of the protocol that `server` passes.
fn passed(server: &Server, form: &str) -> BTreeSet<String> {
    let port = server.address.port().to_string();
    let mut command = Command::new("memccapable");
    let output = command.args(["-h", "127.0.0.1", "-p", &port, &form[..2]]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The names of tests that fail come without a verdict and a line end: those go to standard error.
    let name = |line: &str| {
        let names = line.trim_end().strip_suffix("[pass]")?;
        let start = names.rfind("ascii ").or_else(|| names.rfind("binary "))?;
        Some(names[start..].trim_end().to_owned())
    };
    text.lines().filter_map(name).collect()
}

#[test]
fn what_memcached_passes_segcache_passes() {
    if Command::new("memccapable").arg("-?").output().is_err() {
        return test_support::child::missing("memccapable (apt-get install libmemcached-tools)");
    }
    let Some(oracle) = Memcached::find() else { return };
    let Some(memcached) = process::memcached(&[]) else { return };
    for form in ["-ascii", "-binary"] {
        let mut theirs = passed(&memcached, form);
        assert!(theirs.len() > 20, "memcached passes most: {theirs:?}");
        for test in REFUSED_BEFORE.iter().filter(|test| form[1..] == test[..5]) {
            let version = oracle.version;
            assert_eq!(theirs.remove(*test), !oracle.is_reference(), "{test} with {version}");
        }
        for storage in process::STORAGES {
            let ours = passed(&process::segcache(&[], &process::over(storage)), form);
            let [all, here] = [theirs.len(), ours.len()];
            println!("{form}: memcached passes {all}, segcache over {storage} {here}");
            let failed: Vec<_> = theirs.difference(&ours).collect();
            assert!(failed.is_empty(), "memcached passes these, {storage} does not: {failed:?}");
        }
    }
}
