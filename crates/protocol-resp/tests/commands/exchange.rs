// SPDX-License-Identifier: Apache-2.0
//! Values that go from one server to the other and back by DUMP and RESTORE.

use super::support::{Ours, Redis};
use protocol_resp::Version;
use protocol_resp::client::Value;

/// What makes streams of all kinds, under the keys `a` to `d`.
fn commands() -> Vec<String> {
    let mut commands: Vec<String> = (0..250_u64)
        .map(|number| {
            let (ms, seq) = (number / 3 + 1, number % 3 + 1);
            let value = number * number * 77_777_777;
            let fields = if number % 50 == 7 { "other" } else { "sensor" };
            format!("XADD a {ms}-{seq} {fields} text{number} value {value}")
        })
        .collect();
    let more = [
        "XTRIM a MAXLEN 120",
        "XDEL a 50-1 84-1 60-2",
        "XGROUP CREATE a g 0",
        "XREADGROUP GROUP g alice COUNT 30 STREAMS a >",
        "XREADGROUP GROUP g bob COUNT 7 STREAMS a >",
        "XCLAIM a g bob 0 48-1 RETRYCOUNT 7 JUSTID",
        "XACK a g 47-1 47-2",
        "XDEL a 48-2",
        "XGROUP CREATE a h $ ENTRIESREAD 3",
        "XGROUP CREATE b g $ MKSTREAM",
        "XADD c 5-5 f v",
        "XDEL c 5-5",
        "XSETID c 7-7 ENTRIESADDED 9 MAXDELETEDID 6-0",
        "XADD d 18446744073709551615-18446744073709551614 f -9223372036854775808",
    ];
    commands.extend(more.map(str::to_owned));
    commands
}

/// The questions whose answers do not depend on the time or on how items are packed.
const QUESTIONS: [&str; 7] = [
    "XRANGE {} - +",
    "XINFO GROUPS {}",
    "XPENDING {} g",
    "XLEN {}",
    "XREADGROUP GROUP g bob STREAMS {} 0",
    "XADD {} 7-7 f v",
    "TYPE {}",
];

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn dump(ask: &mut impl FnMut(&[Vec<u8>]) -> Value, key: &str) -> Vec<u8> {
    match ask(&[b"DUMP".to_vec(), key.into()]) {
        Value::Bulk(bytes) => bytes,
        other => panic!("{key}: {other:?}"),
    }
}

/// Stores what another server has dumped.
fn restore(ask: &mut impl FnMut(&[Vec<u8>]) -> Value, key: &str, payload: Vec<u8>) {
    let reply =
        ask(&[b"RESTORE".to_vec(), key.into(), b"0".to_vec(), payload, b"REPLACE".to_vec()]);
    assert_eq!(reply, Value::Simple("OK".into()), "{key}");
}

#[test]
fn streams_go_to_redis_and_back() {
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    let mut ours = Ours::new(Version::Resp2);
    for command in commands() {
        assert_eq!(redis.ask(&words(&command)), ours.ask(&words(&command)), "{command}");
    }
    for key in ["a", "b", "c", "d"] {
        let (from_ours, from_redis) =
            (dump(&mut |line| ours.ask(line), key), dump(&mut |line| redis.ask(line), key));
        // Each gets the other's, and then its own back.
        restore(&mut |line| ours.ask(line), key, from_redis);
        restore(&mut |line| redis.ask(line), key, from_ours);
        let back = (dump(&mut |line| ours.ask(line), key), dump(&mut |line| redis.ask(line), key));
        restore(&mut |line| ours.ask(line), key, back.1);
        restore(&mut |line| redis.ask(line), key, back.0);
        for question in QUESTIONS {
            let question = words(&question.replace("{}", key));
            assert_eq!(redis.ask(&question), ours.ask(&question), "{question:?}");
        }
    }
    ours.check_integrity();
}
