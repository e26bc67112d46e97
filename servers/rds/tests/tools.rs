// SPDX-License-Identifier: Apache-2.0
//! The tools that come with Redis, against the built server: `redis-cli` and `redis-benchmark`.
//!
//! `suites/tools.py` runs them, in a terminal where they need one, and checks their output.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
mod process;

use process::Server;
use std::path::Path;
use std::process::Command;

/// Whether all that the script needs is there.
fn has_tools() -> bool {
    let needs = ["redis-cli", "redis-benchmark", "python3"];
    let is_there = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
    let absent: Vec<_> = needs.into_iter().filter(|tool| !is_there(tool)).collect();
    if !absent.is_empty() {
        test_support::child::missing(&format!(
            "{} (apt-get install redis-tools python3)",
            absent.join(", ")
        ));
    }
    absent.is_empty()
}

/// Lets the tools at a server.
fn use_tools(server: &Server) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/tools.py");
    let mut command = Command::new("python3");
    command.arg(script).args(["--address", &server.address.to_string()]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
}

#[test]
fn redis_cli_and_redis_benchmark_work() {
    if has_tools() {
        use_tools(&process::rds(&["--io-threads", "2"]));
    }
}

#[test]
fn what_they_say_is_what_they_say_of_redis_server() {
    if has_tools()
        && let Some(server) = process::redis(&[])
    {
        use_tools(&server);
    }
}
