// SPDX-License-Identifier: Apache-2.0
//! The program: what it prints, what it writes, what it says of mistakes.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use server::Builder;
use std::io::Read;
use std::process::{Command, Output, Stdio};
use support::{anywhere, certified, memcache, memcache_with, ping, resp};

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
    let (json, html, svg) = (path("run.json"), path("run.html"), path("run.svg"));
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
        "--svg",
        &svg,
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
    let how = &json["provenance"];
    let command = how["command"].as_str().unwrap();
    assert!(command.starts_with("cacheperf -a 127.0.0.1:"), "{command}");
    assert!(command.contains(" -m 'get=9,set=1' --json "), "{command}");
    let server = format!("memcache at {address}");
    assert_eq!(how["servers"][0]["name"], server);
    let version = how["servers"][0]["version"].as_str().unwrap();
    assert!(printed.contains(&format!("version      {server}: {version}\n")), "{printed}");
    assert_eq!(json["latency"]["few_samples"], serde_json::json!(["p999", "p9999"]));
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains(&format!("<dd>{server}, version {version}</dd>")), "{html}");
    assert!(printed.contains("? p9999 ") || printed.contains("?  p9999 "), "{printed}");
    assert_eq!(html.matches("<svg").count(), 4);
    assert!(!printed.contains('\x1b'), "no colours where there is no terminal: {printed}");
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("<desc>cacheperf -a "), "{svg}");
    process.stop().unwrap();
}

/// Runs the program on a terminal of the test's own; what it prints there.
fn on_a_terminal(arguments: &[&str], no_colour: bool) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let path = text(ptsname(&terminal, Vec::new()).unwrap().as_bytes());
    let end = || std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cacheperf"));
    command.args(arguments).stdin(Stdio::null()).stdout(end()).stderr(end());
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    if no_colour {
        command.env("NO_COLOR", "1");
    }
    let mut child = command.spawn().unwrap();
    // The terminal hangs up when nobody has its other end any more.
    drop(command);
    let mut shown = Vec::new();
    let mut file = std::fs::File::from(terminal);
    let mut bytes = [0; 4096];
    while let Ok(len @ 1..) = file.read(&mut bytes) {
        shown.extend_from_slice(&bytes[..len]);
    }
    assert!(child.wait().unwrap().success());
    text(&shown)
}

#[test]
fn a_terminal_has_colours_and_a_bar() {
    let process = ping();
    let address = process.address().unwrap().to_string();
    let line = ["-p", "ping", "-a", &address, "-c", "2", "-w", "0", "-D", "600ms"];
    let shown = on_a_terminal(&line, false);
    assert!(shown.contains("▕"), "{shown:?}");
    assert!(shown.contains("\x1b[1mthroughput\x1b[0m"), "{shown:?}");
    let shown = on_a_terminal(&line, true);
    assert!(shown.contains("▕") && shown.contains("throughput "), "{shown:?}");
    assert!(!shown.contains("\x1b[1m") && !shown.contains("\x1b[3"), "{shown:?}");
    process.stop().unwrap();
}

#[test]
fn a_fan_out_over_two_servers_is_measured() {
    let processes = [memcache(), memcache()];
    let addresses = processes.each_ref().map(|one| one.address().unwrap().to_string());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, html, svg) = (path("fan.json"), path("fan.html"), path("fan.svg"));
    let both = addresses.join(",");
    let line =
        ["-a", &both, "-r", "2k", "-D", "500ms", "-w", "0", "-c", "4", "-k", "50", "--preload"];
    let fans = ["--fan-out", "4,12", "--json", &json, "--html", &html, "--svg", &svg];
    let output = cacheperf(&[&line[..], &fans[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("within p99 of one  by arithmetic"), "{printed}");
    assert!(printed.contains("96.1 %"), "0.99^4: {printed}");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(json["provenance"]["servers"].as_array().unwrap().len(), 2);
    let widths = json["widths"].as_array().unwrap();
    let of = |at: usize, name: &str| widths[at]["fan_out"][name].clone();
    assert_eq!([0, 1, 2].map(|at| of(at, "width")), [1, 4, 12].map(serde_json::Value::from));
    for (at, width) in [1, 4, 12].into_iter().enumerate() {
        let (users, parts) = (&of(at, "latency")["count"], &widths[at]["latency"]["count"]);
        let (users, parts) = (users.as_u64().unwrap(), parts.as_u64().unwrap());
        // A thousand in half a second, by the schedule; one may fall on the edge.
        assert_eq!(parts, users * width, "{width}");
        assert!((1_000 / width..=1_000 / width + 1).contains(&users), "{width}: {users}");
        // Each key is on both servers.
        assert_eq!(widths[at]["hit_ratio"], 1.0);
        assert!(of(at, "latency")["p50"].as_u64() >= widths[at]["latency"]["p50"].as_u64());
    }
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains("<figcaption>Latency by fan-out</figcaption>"));
    assert!(std::fs::read_to_string(svg).unwrap().contains("Latency by fan-out"));
    processes.into_iter().for_each(|process| process.stop().unwrap());
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
    let machine = "the machine alone exceeds the bound: a server that does nothing has a p999 of ";
    assert!(printed.contains(machine), "{printed}");
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
        (&["--mix", "resp2"], "`resp2` is a protocol, and -m is the mix; write -p resp2"),
        (&["--protocol", "redis"], "write resp2"),
        (&["--fan-out", "10"], "--rate <RATE>"),
        (&["--fan-out", "10", "-r", "1k", "-n", "5"], "cannot be used with"),
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

#[test]
fn a_server_that_speaks_something_else_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (_, acceptor) = certified(folder.path());
    let tls = memcache_with(Builder::new("test", "0").listen(anywhere(), true).tls(acceptor));
    let (memcache, resp, ping) = (memcache(), resp(), ping());
    let encrypted: &[&str] = &["--tls-insecure"];
    for (process, protocol, flags, said) in [
        (&resp, "memcache", &[][..], "it speaks RESP, as Redis does: write -p resp2"),
        (&resp, "meta", &[], "it speaks RESP"),
        (&resp, "ping", &[], "it speaks RESP"),
        (&memcache, "resp2", &[], "it speaks memcache: write -p memcache"),
        (&memcache, "ping", &[], "it speaks memcache"),
        (&ping, "resp3", &[], "it speaks ping: write -p ping"),
        (&ping, "memcache", &[], "it speaks ping"),
        (&tls, "memcache", &[], "it expects TLS: write --tls-ca FILE, or --tls-insecure\n"),
        (
            &tls,
            "resp2",
            &[],
            "it expects TLS: write --tls-ca FILE, or --tls-insecure; it speaks memcache",
        ),
        (&tls, "resp2", encrypted, "it speaks memcache: write -p memcache"),
        (
            &resp,
            "resp2",
            encrypted,
            "it does not speak TLS: leave out --tls-ca and --tls-insecure\n",
        ),
        (&resp, "meta", encrypted, "leave out --tls-ca and --tls-insecure; it speaks RESP"),
    ] {
        let address = process.address().unwrap().to_string();
        let line = [&["-a", &address, "-p", protocol, "-n", "1"], flags].concat();
        let output = cacheperf(&line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        let words = text(&output.stderr);
        assert!(words.contains(said), "{line:?}: {words}");
    }
    for process in [memcache, resp, ping, tls] {
        process.stop().unwrap();
    }
}
