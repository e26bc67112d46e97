// SPDX-License-Identifier: Apache-2.0
//! redis-py against the built server, alone and together with pymemcache on the same cache.
//!
//! redis-py uses all of its functions for strings and records the results in a transcript. Where redis-server
//! is installed, it gets the same requests, and the transcripts must be equal. `SHOEBILL_PYTHON` names a
//! Python that has the modules of `clients/requirements.txt`.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
#[allow(dead_code, reason = "a module of several test binaries")]
mod process;
#[path = "support/python.rs"]
mod python;

use python::{same, transcript};
use std::process::Command;
use test_support::certificates::Certificates;
use test_support::child;
use test_support::daemon::{Config, Daemon};

/// A Python that has the modules.
fn python() -> Option<String> {
    python::python("pymemcache, redis", "redis-py and pymemcache")
}

/// What redis-server tells redis-py, in both versions of the protocol; `None` where there is none.
fn expected(python: &str) -> Option<[String; 2]> {
    let folder = tempfile::tempdir().unwrap();
    let redis = child::redis_at(folder.path(), "redis", &[])?;
    let socket = folder.path().join("redis");
    let socket = format!("unix:{}", socket.display());
    let told =
        ["2", "3"].map(|version| transcript(python, "with_redis_py.py", &[&socket, version]));
    drop(redis);
    assert!(told[0].lines().count() > 100, "it does much:\n{}", told[0]);
    Some(told)
}

/// Starts the server over a storage, with RESP on a port that the system chooses.
fn start(sections: &str) -> (Daemon, Config, [String; 2]) {
    let config = Config::new(&format!("[admin]\nenabled = false\n{sections}"));
    let mut command = Command::new(process::segcache_path());
    command.args(["-p", "0", "--resp-port", "0", "-t", "2"]).arg(&config.file);
    let mut daemon = Daemon::spawn(&mut command);
    let addresses = [daemon.address(), daemon.address()].map(|address| address.to_string());
    (daemon, config, addresses)
}

#[test]
fn redis_py_is_told_what_redis_tells_it() {
    let Some(python) = python() else { return };
    let Some(expected) = expected(&python) else { return };
    for storage in process::STORAGES {
        let (_daemon, _config, [_, resp]) = start(&process::over(storage));
        for (version, expected) in ["2", "3"].iter().zip(&expected) {
            let ours = transcript(&python, "with_redis_py.py", &[&resp, version]);
            same(&format!("RESP{version} over {storage}"), &ours, expected);
        }
    }

    let config = Config::new("[admin]\nenabled = false\n");
    let [memcache, resp] = ["memcache", "resp"].map(|name| config.folder().join(name));
    let sections = format!(
        "[admin]\nenabled = false\n[server]\nlisten = [\"unix:{}\"]\n[resp]\nlisten = [\"unix:{}\"]\n",
        memcache.display(),
        resp.display()
    );
    std::fs::write(&config.file, sections).unwrap();
    let mut unix = Daemon::spawn(Command::new(process::segcache_path()).arg(&config.file));
    unix.line("listening on unix:");
    unix.line("listening on unix:");
    let ours = transcript(&python, "with_redis_py.py", &[&format!("unix:{}", resp.display()), "3"]);
    same("a unix socket", &ours, &expected[1]);
}

#[test]
fn redis_py_is_told_the_same_over_tls() {
    let Some(python) = python() else { return };
    let Some([_, expected]) = expected(&python) else { return };
    let folder = Config::empty();
    let certificates = Certificates::new(folder.folder());
    let [chain, key, ca] = ["server.pem", "server.key", "ca.pem"].map(|name| {
        let path = certificates.path(name);
        path.to_str().unwrap().to_owned()
    });
    let tls = format!("[tls]\ncertificate_chain = {chain:?}\nprivate_key = {key:?}\n");
    let (_daemon, _config, [_, resp]) = start(&tls);
    let ours = transcript(&python, "with_redis_py.py", &[&resp, "3", &ca]);
    same("TLS", &ours, &expected);
}

#[test]
fn pymemcache_and_redis_py_see_the_same_cache() {
    let Some(python) = python() else { return };
    for storage in process::STORAGES {
        let (_daemon, _config, [memcache, resp]) = start(&process::over(storage));
        for version in ["2", "3"] {
            transcript(&python, "with_both.py", &[&memcache, &resp, version]);
        }
    }
}
