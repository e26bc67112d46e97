// SPDX-License-Identifier: Apache-2.0
//! Servers that go, and those that come back.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use cacheperf::{Address, Error, Event, Length, Outcome, Plan, Protocol, Target, run};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;
use support::oracle::{self, memcached_command, redis_command, start};
use support::plan;

/// So long that no test waits for it.
const LONG: Duration = Duration::from_secs(300);

fn at(protocol: Protocol, address: std::net::SocketAddr) -> Target {
    Target::new(protocol, Address::Tcp(address.to_string()))
}

/// Every connection was lost once and opened again, and nothing else went wrong.
fn assert_recovered(outcome: &Outcome, connections: u64) {
    let lost = (outcome.lost_connections, outcome.reconnected, outcome.errors);
    assert_eq!(lost, (connections, connections, connections), "{:?}", outcome.first_errors);
    // Of the 3,000 those were given up that were under way.
    assert_eq!(outcome.answered + outcome.unanswered, 3_000);
    assert!(outcome.answered >= 2_900, "{}", outcome.answered);
    assert_eq!(outcome.latency.count, 3_000);
    let over_time = outcome.timeline.iter().map(|moment| moment.lost_connections);
    assert_eq!(over_time.sum::<u64>(), connections, "the timeline shows it");
    let over_time = outcome.timeline.iter().map(|moment| moment.reconnected);
    assert_eq!(over_time.sum::<u64>(), connections);
}

/// Kills a server when the connections are ready, and starts it again when their loss is told.
fn restarted(
    protocol: Protocol,
    command: fn(u16) -> Option<String>,
    rate: Option<f64>,
) -> Option<Outcome> {
    let server = start(command)?;
    let address = server.address;
    let mut running = Some(server);
    let plan = Plan { rate, give_up_after: LONG, ..plan(at(protocol, address)) };
    let outcome = run(&plan, &mut |event| match event {
        Event::WarmingUp => drop(running.take()),
        Event::Slice(moment) if moment.lost_connections > 0 && running.is_none() => {
            running = Some(oracle::start_at(address, &command(address.port()).unwrap()).unwrap());
        }
        _ => {}
    });
    Some(outcome.unwrap())
}

#[test]
fn a_load_goes_on_when_memcached_is_back() {
    for rate in [None, Some(20_000.0)] {
        let Some(outcome) = restarted(Protocol::Memcache, memcached_command, rate) else { return };
        assert_recovered(&outcome, 6);
    }
}

#[test]
fn a_load_greets_redis_again_when_it_is_back() {
    let Some(outcome) = restarted(Protocol::Resp3, redis_command, None) else { return };
    assert_recovered(&outcome, 6);
}

/// A server that goes after 100 replies, and comes back as another process would.
#[test]
fn what_was_due_meanwhile_counts_from_its_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let first = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut left = 100 * 6;
        while left > 0 {
            let mut bytes = [0; 6];
            socket.read_exact(&mut bytes).unwrap();
            socket.write_all(b"PONG\r\n").unwrap();
            left -= 6;
        }
    });
    let plan = Plan {
        connections: 1,
        threads: 1,
        rate: Some(10_000.0),
        length: Length::Requests(3_000),
        give_up_after: LONG,
        ..plan(at(Protocol::Ping, address))
    };
    let mut second = None;
    let mut gone_until_s = 0.0;
    let outcome = run(&plan, &mut |event| {
        if let Event::Slice(moment) = event
            && moment.lost_connections > 0
            && second.is_none()
        {
            gone_until_s = moment.at_s + 0.25;
            second = Some(support::ping_at(address));
        }
    });
    let outcome = outcome.unwrap();
    assert_eq!((outcome.lost_connections, outcome.reconnected, outcome.errors), (1, 1, 1));
    assert_eq!((outcome.answered + outcome.unanswered, outcome.latency.count), (3_000, 3_000));
    // What was due in the first 10 ms was answered or lost, and the next waited until the end of a slice.
    let waited = gone_until_s - 0.1;
    assert!(outcome.latency.max as f64 >= waited * 1e9, "{} for {waited} s", outcome.latency.max);
    first.join().unwrap();
    second.unwrap().stop().unwrap();
}

#[test]
fn a_server_that_stays_away_ends_the_run() {
    for give_up_after in [Duration::ZERO, Duration::from_millis(30)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let sockets: Vec<_> = (0..2).map(|_| listener.accept().unwrap().0).collect();
            drop(listener);
            // Each has asked before it is hung up on.
            for mut socket in sockets {
                socket.read_exact(&mut [0; 6]).unwrap();
            }
        });
        let plan = plan(at(Protocol::Ping, address));
        let plan = Plan { connections: 2, threads: 1, give_up_after, ..plan };
        let error = run(&plan, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Lost { .. }), "{error}");
        server.join().unwrap();
        let refused = run(&plan, &mut |_| {}).unwrap_err();
        assert!(matches!(refused, Error::Connect { .. }), "{refused}");
    }
}

/// What was measured before the server went is told, and that it went.
#[test]
fn what_was_measured_before_is_told() {
    let process = support::memcache();
    let address = process.address().unwrap();
    let mut process = Some(process);
    let plan = Plan {
        rate: Some(2_000.0),
        length: Length::Time(LONG),
        // Both threads lose all their connections before the first of them gives up.
        give_up_after: Duration::from_secs(2),
        ..plan(at(Protocol::Memcache, address))
    };
    let outcome = run(&plan, &mut |event| {
        if let Event::Slice(moment) = event
            && moment.rate > 0.0
            && let Some(process) = process.take()
        {
            process.stop().unwrap();
        }
    });
    let outcome = outcome.unwrap();
    assert!(outcome.answered > 0 && outcome.seconds < 100.0, "{}", outcome.seconds);
    // Six connections, and two threads that gave up.
    assert_eq!((outcome.lost_connections, outcome.errors), (6, 8), "{:?}", outcome.first_errors);
    assert!(outcome.unanswered > 0, "all that was due until then is in the latencies");
    assert_eq!(outcome.latency.count, outcome.answered + outcome.unanswered);
}

#[test]
fn tls_connections_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, acceptor) = support::certified(folder.path());
    let listen = |address: std::net::SocketAddr| {
        let endpoint = server::Endpoint::Tcp(address);
        let builder = server::Builder::new("test", "0").listen(endpoint, true);
        support::memcache_with(builder.tls(acceptor.clone()))
    };
    let first = listen(([127, 0, 0, 1], 0).into());
    let address = first.address().unwrap();
    let trust = session::Trust::CaFile(chain);
    let tls = Some(session::TlsConnector::new("localhost", &trust).unwrap());
    let target = Target { tls, ..at(Protocol::Memcache, address) };
    let plan = Plan { give_up_after: LONG, ..plan(target) };
    let mut running = Some(first);
    let mut restarted = false;
    let outcome = run(&plan, &mut |event| match event {
        Event::WarmingUp => running.take().unwrap().stop().unwrap(),
        Event::Slice(moment) if moment.lost_connections > 0 && !restarted => {
            restarted = true;
            running = Some(listen(address));
        }
        _ => {}
    });
    assert_recovered(&outcome.unwrap(), 6);
    running.unwrap().stop().unwrap();
}
