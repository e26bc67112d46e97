// SPDX-License-Identifier: Apache-2.0
//! Running out of file descriptors: the admin thread rests, then recovers.
//!
//! The limit is a property of the process, so the story runs in a process of its own: this test
//! starts its own executable again under a low limit.
#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod common;

use std::env;
use std::fs::File;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Client, server, until};

const INNER: &str = "ADMIN_TEST_FEW_DESCRIPTORS";

#[test]
fn accept_rests_while_there_are_no_descriptors() {
    if env::var_os(INNER).is_some() {
        return few_descriptors();
    }
    let status = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "accept_rests_while_there_are_no_descriptors", "--nocapture"])
        .env(INNER, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

fn few_descriptors() {
    let admin = server().spawn().unwrap();
    let mut hoard = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    // The client takes the descriptor that this frees; the admin thread has none to accept with.
    hoard.pop();
    let start = Instant::now();
    let mut client = Client::connect(&admin);
    client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");

    let failures = || metrics::value("admin_accept_error").unwrap();
    until("accept has failed four times", || failures() >= 4);
    let pauses = Duration::from_millis(10 + 20 + 40);
    assert!(start.elapsed() >= pauses, "it tried again without a pause");

    drop(hoard);
    assert_eq!(client.response(true).unwrap().body, "ok\n", "the queued client is served");
}
