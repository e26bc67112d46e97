// SPDX-License-Identifier: Apache-2.0
//! Loads on our own servers: every protocol, every transport, and every way to go wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use cacheperf::{Address, Error, Event, Length, Plan, Protocol, Target, run};
use server::{Builder, Endpoint};
use session::{TlsConnector, Trust};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use support::{anywhere, assert_sound, memcache, memcache_with, outcome, ping, plan, resp, target};

#[test]
fn memcache_is_spoken() {
    let process = memcache();
    assert_sound(&outcome(&plan(target(Protocol::Memcache, &process))));
    process.stop().unwrap();
}

#[test]
fn resp_is_spoken_in_both_versions() {
    let process = resp();
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let plan = plan(target(protocol, &process));
        assert_sound(&outcome(&plan));
        // Each new connection is greeted.
        let outcome = outcome(&Plan { reconnect: Some(10), ..plan });
        assert_sound(&outcome);
        assert!((240..=300).contains(&outcome.reconnected), "{}", outcome.reconnected);
    }
    process.stop().unwrap();
}

#[test]
fn ping_is_spoken() {
    let process = ping();
    let outcome = outcome(&plan(target(Protocol::Ping, &process)));
    assert_eq!((outcome.answered, outcome.errors, outcome.hit_ratio), (3_000, 0, None));
    process.stop().unwrap();
}

#[test]
fn unix_sockets_are_reached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let endpoint = Endpoint::Unix { path: path.clone(), mode: 0o700 };
    let process = memcache_with(Builder::new("test", "0").listen(endpoint, false));
    assert_sound(&outcome(&plan(Target::new(Protocol::Memcache, Address::Unix(path)))));
    process.stop().unwrap();
}

#[test]
fn tls_is_spoken_and_certificates_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, acceptor) = support::certified(folder.path());
    let builder = Builder::new("test", "0").listen(anywhere(), true).tls(acceptor);
    let process = memcache_with(builder);
    let with = |name: &str, trust: Trust| {
        let tls = Some(TlsConnector::new(name, &trust).unwrap());
        plan(Target { tls, ..target(Protocol::Memcache, &process) })
    };
    assert_sound(&outcome(&with("localhost", Trust::CaFile(chain.clone()))));
    assert_sound(&outcome(&with("elsewhere", Trust::Anybody)));
    // With and without resumption.
    for resumed in [true, false] {
        let mut plan = with("localhost", Trust::CaFile(chain.clone()));
        let connector = plan.target.tls.take().unwrap();
        plan.target.tls = Some(if resumed { connector } else { connector.without_resumption() });
        let outcome = outcome(&Plan { reconnect: Some(20), ..plan });
        assert_sound(&outcome);
        assert!((100..=150).contains(&outcome.reconnected), "{}", outcome.reconnected);
    }
    let refused = run(&with("elsewhere", Trust::CaFile(chain)), &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Error::Greeting { .. }), "{refused}");
    process.stop().unwrap();
}

#[test]
fn every_request_of_an_open_loop_is_measured() {
    let process = ping();
    let mut slices = 0;
    let plan = Plan {
        rate: Some(4_000.0),
        warm_up: Duration::from_millis(50),
        length: Length::Time(Duration::from_millis(500)),
        depth: None,
        ..plan(target(Protocol::Ping, &process))
    };
    let outcome = run(&plan, &mut |event| slices += usize::from(matches!(event, Event::Slice(_))));
    let outcome = outcome.unwrap();
    // However slow this machine is, so many were to be sent in the measured time.
    assert!((1_998..=2_002).contains(&outcome.latency.count), "{}", outcome.latency.count);
    // One for each tenth of a second in which a thread of this load has run.
    assert!((1..=5).contains(&slices), "{slices}");
    assert_eq!(slices, outcome.timeline.len());
    assert_eq!(outcome.seconds, 0.5);
    process.stop().unwrap();
}

/// A server that does nothing for 300 ms, and then answers all at once. Of 500 requests in half a second
/// 150 were to be sent in the first half of the stall: each of them waits for 150 ms at the least, though
/// only 4 could be sent.
#[test]
fn a_stall_is_seen_in_requests_that_could_not_be_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap().to_string());
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut bytes = [0; 1024];
        let mut left = socket.read(&mut bytes).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        while left > 0 {
            let lines = bytes[..left].iter().filter(|&&byte| byte == b'\n').count();
            socket.write_all(&b"PONG\r\n".repeat(lines)).unwrap();
            left = socket.read(&mut bytes).unwrap();
        }
    });
    let plan = Plan {
        connections: 1,
        threads: 1,
        depth: Some(4),
        rate: Some(1_000.0),
        length: Length::Time(Duration::from_millis(500)),
        ..plan(Target::new(Protocol::Ping, address))
    };
    let outcome = outcome(&plan);
    let latency = outcome.latency;
    assert!((499..=501).contains(&latency.count), "{}", latency.count);
    let slow = outcome.cdf.iter().take_while(|(ns, _)| *ns < 150_000_000).last();
    let fast = slow.map_or(0.0, |(_, share)| *share);
    assert!(fast <= 0.71, "{fast} of the requests took less than 150 ms");
    assert!(latency.max >= 300_000_000, "{}", latency.max);
    server.join().unwrap();
}

/// A value that somebody else has written is a wrong one.
#[test]
fn wrong_values_are_found() {
    let process = memcache();
    let plan = Plan {
        workload: support::workload("get=1"),
        preload: false,
        ..plan(target(Protocol::Memcache, &process))
    };
    cacheperf::preload(&plan).unwrap();
    // Of the most popular key.
    let key = plan.workload.keys.key(0);
    let mut text = Vec::new();
    key.write(plan.workload.keys.digits(), &mut text);
    let mut socket = TcpStream::connect(process.address().unwrap()).unwrap();
    let value = vec![b'x'; key.value_len as usize];
    let sizes = format!(" 0 0 {}\r\n", value.len());
    let request = [b"set ", &text[..], sizes.as_bytes(), &value, b"\r\n"];
    socket.write_all(&request.concat()).unwrap();
    let mut stored = [0; 8];
    socket.read_exact(&mut stored).unwrap();
    assert_eq!(&stored, b"STORED\r\n");
    let outcome = outcome(&plan);
    assert!(outcome.wrong_values > 10, "{}", outcome.wrong_values);
    assert_eq!((outcome.errors, outcome.answered), (outcome.wrong_values, 3_000));
    let words = format!("wrong value under key `{}`", text.escape_ascii());
    assert!(outcome.first_errors[0].starts_with(&words), "{:?}", outcome.first_errors);
    process.stop().unwrap();
}

#[test]
fn another_protocol_is_an_error_that_says_so() {
    let process = ping();
    let error =
        run(&Plan { preload: false, ..plan(target(Protocol::Resp2, &process)) }, &mut |_| {});
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no reply to what was asked: `ERROR"), "{error}");
    let error = run(&plan(target(Protocol::Resp3, &process)), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("no reply to what was asked"), "{error}");
    process.stop().unwrap();
}
