// SPDX-License-Identifier: Apache-2.0
//! Replays of traces: what is missed, and when requests are sent.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use cacheperf::{
    Address, Plan, Protocol, Record, RecordedOp, ReplaySettings, Target, Trace, WarmUp, replay,
};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use support::{memcache, plan, target};

/// 4,000 records of some 200 keys, 40 for each millisecond of the trace.
fn records() -> Vec<Record> {
    let record = |number: u64| Record {
        time_ms: 7_000 + number as u32 / 40,
        key: number * number % 389,
        value_len: 10 + (number * number % 389) as u32,
        ttl_ms: 0,
        key_len: 20,
        op: if number % 10 == 9 { RecordedOp::Set } else { RecordedOp::Get },
    };
    (0..4_000).map(record).collect()
}

/// Of a cache that forgets nothing: gets, keys and bytes that miss, from a record on. Each key misses until
/// it was asked for or written once.
fn expected(records: &[Record], from: usize) -> (u64, u64, f64) {
    let (mut seen, mut gets, mut misses) = (HashSet::new(), 0, 0);
    let (mut bytes, mut missed_bytes) = (0, 0);
    for (number, record) in records.iter().enumerate() {
        let is_new = seen.insert(record.key);
        if record.op == RecordedOp::Get && number >= from {
            gets += 1;
            bytes += record.bytes();
            misses += u64::from(is_new);
            missed_bytes += if is_new { record.bytes() } else { 0 };
        }
    }
    (gets, misses, missed_bytes as f64 / bytes as f64)
}

#[test]
fn a_replay_misses_what_it_sees_first() {
    let records = records();
    let trace: Trace = records.iter().copied().collect();
    for speed in [None, Some(1.0)] {
        let process = memcache();
        let plan = Plan { depth: Some(16), ..plan(target(Protocol::Memcache, &process)) };
        let settings = ReplaySettings { speed, warm_up: WarmUp::Records(150) };
        let found = replay(&plan, &settings, &trace, &mut |_| {}).unwrap();
        let outcome = &found.outcome;
        let errors = (outcome.errors, outcome.set_errors, outcome.unanswered);
        assert_eq!(errors, (0, 0, 0), "{:?}", outcome.first_errors);
        for (misses, from) in [(found.whole, 0), (found.behind_warm_up, 150)] {
            let (gets, missed, bytes) = expected(&records, from);
            assert!(missed > 10, "there is something to see: {missed}");
            assert_eq!((misses.gets, misses.misses), (gets, missed));
            assert!((misses.byte_miss_ratio.unwrap() - bytes).abs() < 1e-9);
        }
        assert_eq!(outcome.sets, found.whole.misses + 400);
        // Each record, and what was missed.
        assert_eq!(outcome.latency.count, 4_000 + found.whole.misses);
        if speed.is_some() {
            assert!(outcome.seconds > 0.099, "100 ms of trace took {} s", outcome.seconds);
            assert!((39_000.0..41_000.0).contains(&outcome.offered_rate.unwrap()));
        }
        process.stop().unwrap();
    }
}

/// A server that is busy for 300 ms before its first reply: every request that was due meanwhile waits
/// from its own time on, though only 4 could be sent.
#[test]
fn a_stall_is_seen_in_all_that_was_due() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap().to_string());
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(socket.try_clone().unwrap()).lines();
        let mut since = None;
        while let Some(Ok(line)) = lines.next() {
            let since = *since.get_or_insert_with(Instant::now);
            std::thread::sleep(Duration::from_millis(300).saturating_sub(since.elapsed()));
            assert!(line.starts_with("delete "), "{line}");
            socket.write_all(b"NOT_FOUND\r\n").unwrap();
        }
    });
    let op = RecordedOp::Delete;
    let record =
        |n: u32| Record { time_ms: n, key: n.into(), value_len: 1, ttl_ms: 0, key_len: 16, op };
    // One for each millisecond of 2 seconds, ten times as fast.
    let trace: Trace = (0..2_000).map(record).collect();
    let target = Target::new(Protocol::Memcache, address);
    let plan = Plan { connections: 1, threads: 1, depth: Some(4), ..plan(target) };
    let settings = ReplaySettings { speed: Some(10.0), ..ReplaySettings::default() };
    let found = replay(&plan, &settings, &trace, &mut |_| {}).unwrap();
    let outcome = found.outcome;
    assert_eq!((outcome.answered, outcome.errors), (2_000, 0), "{:?}", outcome.first_errors);
    assert!(outcome.latency.max >= 300_000_000, "{}", outcome.latency.max);
    // The last was due after 200 ms.
    let least = outcome.cdf.first().unwrap().0;
    assert!(least >= 100_000_000, "{least}");
    server.join().unwrap();
}
