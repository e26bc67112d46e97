// SPDX-License-Identifier: Apache-2.0
//! Running out of file descriptors: the admin thread answers one client after the other with its reserved
//! descriptor, pauses while that is in use, and recovers.
//!
//! The limit is a property of the process, so the test runs in a separate process: it
//! starts its own executable again under a low limit.
#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod common;

use std::env;
use std::fs::File;
use std::process::Command;
use std::time::{Duration, Instant};

use admin::AdminHandle;
use common::{Client, server, until};

const INNER: &str = "ADMIN_TEST_FEW_DESCRIPTORS";

#[test]
fn one_is_answered_at_a_time_while_there_are_no_descriptors() {
    if env::var_os(INNER).is_some() {
        return few_descriptors();
    }
    let status = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap())
        .args([
            "--exact",
            "one_is_answered_at_a_time_while_there_are_no_descriptors",
            "--nocapture",
        ])
        .env(INNER, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

/// Connects by the descriptor that is left for it. The admin thread takes it for moments, when it reads the process's
/// own figures.
fn connect(admin: &AdminHandle) -> Client {
    let mut client = None;
    until("a descriptor is free", || {
        client = Client::try_connect_to(admin.address().unwrap()).ok();
        client.is_some()
    });
    client.unwrap()
}

fn few_descriptors() {
    let admin = server().spawn().unwrap();
    let no_connection = || metrics::value("shoebill_admin_connections").unwrap() == 0;
    // Once it answers, its thread has opened everything that it keeps.
    assert_eq!(Client::connect(&admin).request("GET", "/health").body, "ok\n");
    until("that connection is gone", no_connection);
    let mut hoard = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    // The client takes the descriptor that this frees; the admin thread has its own one left.
    hoard.pop();
    let health = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    for _ in 0..5 {
        until("it has its descriptor again", no_connection);
        let mut client = connect(&admin);
        client.send(health);
        let response = client.response(true).unwrap();
        assert_eq!(response.body, "ok\n");
        assert_eq!(response.header("connection"), Some("close"), "others wait for its descriptor");
    }

    until("it has its descriptor again", no_connection);
    let failures = || metrics::value("shoebill_admin_accept_errors_total").unwrap();
    let (start, before) = (Instant::now(), failures());
    let silent = connect(&admin);
    // Not before, or the first of them could be accepted by the descriptor that the second needs.
    until("its own descriptor is in use", || {
        metrics::value("shoebill_admin_connections").unwrap() == 1
    });
    hoard.pop();
    let mut waiting = connect(&admin);
    waiting.send(health);
    // One for the first of them, whom the descriptor is given to.
    until("accept has failed", || failures() >= before + 5);
    let pauses = Duration::from_millis(10 + 20 + 40);
    assert!(start.elapsed() >= pauses, "it tried again without a pause");
    drop(silent);
    assert_eq!(waiting.response(true).unwrap().body, "ok\n", "the queued client is served");

    drop(hoard);
    let mut client = Client::connect(&admin);
    for _ in 0..2 {
        assert_eq!(client.request("GET", "/health").body, "ok\n", "all is as before");
    }
}
