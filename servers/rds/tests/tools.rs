// SPDX-License-Identifier: Apache-2.0
//! The tools that come with Redis, against the built server: `redis-cli` and `redis-benchmark`.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../../../crates/server/tests/support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use support::daemon::{Daemon, text};

/// A running server, and its port.
fn start() -> (Daemon, String) {
    let flags = ["--port", "0", "--admin-port", "0", "--io-threads", "2"];
    let mut daemon = Daemon::spawn(Command::new(env!("CARGO_BIN_EXE_rds")).args(flags));
    let port = daemon.address().port().to_string();
    (daemon, port)
}

/// Whether a tool is there, which it must be where `SHOEBILL_REQUIRE_ORACLES` is 1.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    let required = std::env::var("SHOEBILL_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
    assert!(found || !required, "{tool} is missing (apt-get install redis-tools)");
    if !found {
        let line = format!("\n*** SKIPPED: no {tool}; this test has compared NOTHING ***\n\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
    found
}

/// What `redis-cli` prints for a command.
fn cli(port: &str, words: &[&str]) -> String {
    let output = Command::new("redis-cli").args(["-p", port]).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn redis_cli_understands_it() {
    if !has("redis-cli") {
        return;
    }
    let (_daemon, port) = start();
    assert_eq!(cli(&port, &["set", "key", "value"]), "OK\n");
    assert_eq!(cli(&port, &["-3", "hset", "hash", "a", "1"]), "1\n");
    assert_eq!(cli(&port, &["-3", "hgetall", "hash"]), "a 1\n");
    assert_eq!(cli(&port, &["--scan"]).lines().count(), 2);
    assert_eq!(cli(&port, &["-n", "3", "dbsize"]), "0\n");
    assert!(cli(&port, &["--bigkeys", "-i", "0"]).contains("Sampled 2 keys"));
    assert!(cli(&port, &["--memkeys"]).contains("Sampled 2 keys"));
    assert!(cli(&port, &["info", "server"]).contains("redis_mode:standalone"));
    assert!(cli(&port, &["memory", "doctor"]).contains("too little data"));

    // It asks for COMMAND DOCS first when it reads commands.
    let mut child = Command::new("redis-cli")
        .args(["-p", &port])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"MULTI\nINCR n\nGET key\nEXEC\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), "OK\nQUEUED\nQUEUED\n1\nvalue\n");

    // A pipe of raw requests, at whose end it sends an ECHO.
    let mut child = Command::new("redis-cli")
        .args(["-p", &port, "--pipe"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let requests: String = (0..1000).map(|n| format!("SET pipe:{n} {n}\r\n")).collect();
    child.stdin.take().unwrap().write_all(requests.as_bytes()).unwrap();
    let output = text(&child.wait_with_output().unwrap().stdout);
    assert!(output.contains("errors: 0, replies: 1000"), "{output}");
}

#[test]
fn redis_cli_shows_what_happens() {
    if !has("redis-cli") {
        return;
    }
    let (_daemon, port) = start();
    let mut stat = Command::new("redis-cli")
        .args(["-p", &port, "--stat", "-i", "0.01"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It goes on until it is stopped. A title, and a line of numbers.
    let mut lines = BufReader::new(stat.stdout.take().unwrap()).lines();
    let shown: Vec<String> = lines.by_ref().take(4).map_while(Result::ok).collect();
    stat.kill().unwrap();
    stat.wait().unwrap();
    assert!(shown[1].contains("clients") && shown[3].split_whitespace().count() > 5, "{shown:?}");
}

#[test]
fn redis_benchmark_runs_all_its_tests() {
    if !has("redis-benchmark") {
        return;
    }
    let (_daemon, port) = start();
    let arguments = ["-p", &port, "-n", "500", "-c", "20", "-P", "5", "-q", "-r", "100"];
    let output = Command::new("redis-benchmark").args(arguments).output().unwrap();
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    for test in ["PING_INLINE", "SET", "INCR", "LRANGE_600", "ZPOPMIN", "MSET"] {
        assert!(printed.contains(test), "{test} is not in {printed}");
    }
    assert!(!printed.contains("Error"), "{printed}");
    let errors = cli(&port, &["info", "errorstats"]);
    assert!(!errors.contains("errorstat_"), "{errors}");
}
