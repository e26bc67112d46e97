// SPDX-License-Identifier: Apache-2.0
//! The program: what it prints, what it writes, what it says of mistakes.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::process::{Command, Output, Stdio};
use support::{memcache, ping};

fn cacheperf(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_cacheperf");
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_run_prints_and_writes_its_results() {
    let process = memcache();
    let address = process.address().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, html) = (path("run.json"), path("run.html"));
    let output = cacheperf(&[
        "-a",
        &address,
        "-c",
        "2",
        "-n",
        "2k",
        "-w",
        "0",
        "-k",
        "100",
        "--preload",
        "-m",
        "get=9,set=1",
        "--json",
        &json,
        "--html",
        &html,
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "no progress where there is no terminal");
    let printed = text(&output.stdout);
    assert!(printed.contains("requests     2000 in "), "{printed}");
    assert!(
        printed.contains("errors       0 (0 wrong values), 0 requests unanswered"),
        "{printed}"
    );
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!((&json["answered"], &json["hit_ratio"]), (&2000.into(), &1.0.into()));
    let html = std::fs::read_to_string(html).unwrap();
    assert_eq!(html.matches("<svg").count(), 4);
    process.stop().unwrap();
}

#[test]
fn a_sweep_finds_a_rate_or_says_that_there_is_none() {
    let process = ping();
    let address = process.address().unwrap().to_string();
    let sweep = |p999: &str| {
        cacheperf(&[
            "sweep",
            "-p",
            "ping",
            "-a",
            &address,
            "-c",
            "2",
            "-w",
            "0",
            "-D",
            "50ms",
            "--p999",
            p999,
            "--retries",
            "0",
        ])
    };
    // Nothing is that fast.
    let output = sweep("1ns");
    assert!(!output.status.success());
    let printed = text(&output.stdout);
    assert!(
        printed.contains("no rate was found that keeps p999 up to 1 ns; below 210.0k requests/s")
    );
    // One step: a lower rate has too few requests in 50 ms.
    assert_eq!(printed.matches("/s offered").count(), 1, "{printed}");
    process.stop().unwrap();
}

#[test]
fn mistakes_are_named() {
    for (arguments, said) in [
        (&["--rate", "fast"][..], "invalid value 'fast' for '--rate"),
        (&["--mix", "put=1"], "`put` in `put=1` is no kind of request"),
        (&["--protocol", "http"], "`http` is no protocol; there are memcache, meta, resp2"),
        (&["--depth", "0"], "--depth 0: write 1 to 65536"),
        (&["--key-size", "3"], "--key-size 3: 1000000 different keys take 5 to 250 bytes"),
        (&["--threads", "9", "-c", "8"], "--threads 9: each needs a connection"),
        (&["--tls-cert", "a", "--tls-key", "b"], "--tls-cert: say whom to believe"),
        (&["--tls-ca", "/nowhere.pem"], "/nowhere.pem: cannot read the CA certificate"),
        (&["-n", "5", "-D", "1s"], "cannot be used with"),
        (&["sweep"], "--p999 <TIME>"),
        (&["sweep", "--p999", "soon"], "`soon` is no time"),
        (
            &["sweep", "--p999", "1ms", "-D", "3s", "--start", "1k"],
            "--start 1000: a p999 takes 10000 requests, and in 3s there are not so many: write --start 3500 or \
             more, or -D 11s",
        ),
        (&["compare"], "--server <SERVER>"),
        (&["compare", "--server", "a=ping,b"], "`a=ping,b` is no NAME=PROTOCOL,ADDRESS,COMMAND"),
        (
            &["compare", "--server", "a=ping,b,c", "--floor", "d"],
            "--floor d: no server has this name",
        ),
        (
            &["compare", "--server", "a=ping,b,c", "--load", "big=-s none"],
            "--load 'big=-s none': invalid value 'none'",
        ),
        (
            &["compare", "--server", "a=ping,b,c", "--load", "a=", "--load", "a=-d 2"],
            "--load a: two loads have this name",
        ),
        (
            &["compare", "--server", "a=ping,b,c", "--rate-of-peak", "60"],
            "--rate-of-peak 60: write a share, as 0.6",
        ),
        (&["replay", "trace", "-w", "120%"], "`120%` is no share"),
        (&["replay", "/nowhere.rt"], "/nowhere.rt: No such file"),
        (&["-a", "127.0.0.1:1"], "cannot connect to 127.0.0.1:1"),
    ] {
        let output = cacheperf(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let words = text(&output.stderr);
        assert!(words.contains(said), "{arguments:?}: {words}");
    }
}
