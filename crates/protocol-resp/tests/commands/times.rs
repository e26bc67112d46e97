// SPDX-License-Identifier: Apache-2.0
//! Every command that adds a client's number to the clock, with numbers for which there is no room
//! behind it: nothing overflows, and the answer is that of redis-server.

use super::support::{Ours, Redis};
use protocol_resp::Version;
use protocol_resp::client::Value;

/// Numbers at and beyond the ends of their types, in milliseconds and in seconds.
const NUMBERS: [&str; 18] = [
    "9223372036854775807",
    "9223372036854775808",
    "9223372036854775806",
    "-9223372036854775808",
    "18446744073709551615",
    "9223372036854775",
    "9223372036854776",
    "4611686018427387904",
    "9000000000000000000",
    "4294967296",
    "2147483648",
    "-1",
    "0",
    "1.5",
    "1e300",
    "nan",
    "abc",
    "",
];

/// The commands; `{}` is the number. Those that would wait find what they wait for.
const COMMANDS: &[&str] = &[
    "CLIENT PAUSE {} WRITE",
    "BLPOP list {}",
    "BRPOP list {}",
    "BLMOVE list other LEFT LEFT {}",
    "BRPOPLPUSH list other {}",
    "BLMPOP {} 1 list LEFT",
    "BZPOPMIN zset {}",
    "BZPOPMAX zset {}",
    "BZMPOP {} 1 zset MIN",
    "WAIT 0 {}",
    "WAITAOF 0 0 {}",
    "EXPIRE key {}",
    "PEXPIRE key {}",
    "EXPIREAT key {}",
    "PEXPIREAT key {}",
    "SET key v EX {}",
    "SET key v PX {}",
    "SET key v EXAT {}",
    "SET key v PXAT {}",
    "SETEX key {} v",
    "PSETEX key {} v",
    "GETEX key EX {}",
    "GETEX key PX {}",
    "GETEX key EXAT {}",
    "GETEX key PXAT {}",
    "HEXPIRE hash {} FIELDS 1 f",
    "HPEXPIRE hash {} FIELDS 1 f",
    "HEXPIREAT hash {} FIELDS 1 f",
    "HPEXPIREAT hash {} FIELDS 1 f",
    "HSETEX hash EX {} FIELDS 1 f v",
    "HSETEX hash PX {} FIELDS 1 f v",
    "HSETEX hash EXAT {} FIELDS 1 f v",
    "HSETEX hash PXAT {} FIELDS 1 f v",
    "HGETEX hash EX {} FIELDS 1 f",
    "HGETEX hash PX {} FIELDS 1 f",
    "HGETEX hash EXAT {} FIELDS 1 f",
    "HGETEX hash PXAT {} FIELDS 1 f",
    "CLIENT KILL MAXAGE {}",
    "FAILOVER TIMEOUT {}",
    "CONFIG SET timeout {}",
    "OBJECT FREQ {}",
];

/// A reply, and whether the keys are there afterwards.
fn answers(ask: &mut dyn FnMut(&[&str]) -> Value, command: &str, number: &str) -> String {
    for line in [
        "FLUSHALL",
        "CONFIG SET timeout 0",
        "SET key v",
        "HSET hash f v",
        "RPUSH list a b",
        "ZADD zset 1 a",
    ] {
        ask(&line.split(' ').collect::<Vec<_>>());
    }
    let words: Vec<&str> =
        command.split(' ').map(|word| if word == "{}" { number } else { word }).collect();
    let reply = ask(&words);
    ask(&["CLIENT", "UNPAUSE"]);
    format!("{reply:?}, left {:?}", ask(&["EXISTS", "key", "hash", "list", "zset"]))
}

#[test]
fn no_number_is_too_large_to_be_answered() {
    let out_of_range = "ERR timeout is out of range";
    let mut redis = Redis::start(Version::Resp2);
    for command in COMMANDS {
        for number in NUMBERS {
            let mut ours = Ours::new(Version::Resp2);
            let found = answers(&mut |words| ours.ask(words), command, number);
            let Some(redis) = &mut redis else { continue };
            let expected = answers(&mut |words| redis.ask(words), command, number);
            // Fields that expire came with Redis 7.4, WAITAOF with 7.2, MAXAGE with 8.0.
            if expected.contains("unknown command") || command.contains("MAXAGE") {
                continue;
            }
            if found.contains(out_of_range) && !expected.contains(out_of_range) {
                // Here 7.0 overflows: the wait ends in the past, and now and then that is "negative".
                // Later versions say what we say.
                let millis: f64 = number.parse().expect("a number");
                assert!(millis >= 9e15, "{command} {number}: {found}, not {expected}");
                continue;
            }
            assert_eq!(found, expected, "{command} {number}");
        }
    }
}
