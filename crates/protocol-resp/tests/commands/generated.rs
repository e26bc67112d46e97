// SPDX-License-Identifier: Apache-2.0
//! Commands on collections as chance brings them, sent to the service and to redis-server: the replies
//! are the same, but for the order of elements where there is none.
//!
//! `SHOEBILL_COMMANDS=100000` compares more of them, `SHOEBILL_SEED=7` others.

use super::support::{Ours, Redis};
use fastrand::Rng;
use protocol_resp::Version;
use protocol_resp::client::Value;
use protocol_resp::reply::Digits;

/// Commands in each version of the protocol, unless `SHOEBILL_COMMANDS` says otherwise.
const COMMANDS: u64 = 6000;

/// What they are made from, unless `SHOEBILL_SEED` says otherwise.
const SEED: u64 = 42;

/// `K` is a key, `M` a member or field, `M*` several, `V` a value, `P*` pairs, `I` an integer, `F` a
/// number with a fraction. `E` is an element of a list, one of few, `E*` several, `AT` an end of a
/// list, `R` an index or a rank. `N` is a key of members that all have the score 0, `S` a score, `S*`
/// scores with members, `B` an end of a range of scores, `L` one of a range of members, `W` a weight. `X` is
/// the id of an item of a stream that may be there, `X*` several, `NEW` one that may be new, `XB` an end of a
/// range, `G` a group, `C` a consumer.
const COMMON: [&str; 4] = ["DEL K", "SET K V", "TYPE K", "EXISTS K"];

const HASHES: [&str; 18] = [
    "HSET K P*",
    "HSET K P*",
    "HSET K M V",
    "HMSET K P*",
    "HSETNX K M V",
    "HGET K M",
    "HMGET K M*",
    "HGETALL K",
    "HKEYS K",
    "HVALS K",
    "HLEN K",
    "HSTRLEN K M",
    "HEXISTS K M",
    "HDEL K M*",
    "HINCRBY K M I",
    "HINCRBYFLOAT K M F",
    "HSCAN K 0 COUNT 10000",
    "HRANDFIELD K 10000",
];

const SETS: [&str; 24] = [
    "SADD K M*",
    "SADD K M*",
    "SADD K M",
    "SREM K M*",
    "SISMEMBER K M",
    "SMISMEMBER K M*",
    "SCARD K",
    "SMEMBERS K",
    "SMOVE K K M",
    "SPOP K 10000",
    "SRANDMEMBER K 10000",
    "SSCAN K 0 COUNT 10000",
    "SINTER K K",
    "SINTER K K K",
    "SUNION K K",
    "SUNION K K K K K K K K K K K K",
    "SDIFF K K",
    "SDIFF K K K K K K K K K K K K",
    "SINTERSTORE K K K",
    "SUNIONSTORE K K K",
    "SDIFFSTORE K K K",
    "SINTERCARD 2 K K",
    "SINTERCARD 3 K K K LIMIT I",
    "SINTERCARD I K K",
];

const LISTS: [&str; 28] = [
    "LPUSH K E*",
    "RPUSH K E*",
    "RPUSH K E",
    "LPUSHX K E*",
    "RPUSHX K E",
    "LPOP K",
    "RPOP K",
    "LPOP K I",
    "RPOP K I",
    "LMPOP 2 K K AT",
    "LMPOP 3 K K K AT COUNT I",
    "LLEN K",
    "LRANGE K R R",
    "LRANGE K 0 -1",
    "LINDEX K R",
    "LSET K R E",
    "LINSERT K BEFORE E E",
    "LINSERT K AFTER E E",
    "LREM K I E",
    "LTRIM K R R",
    "LTRIM K -300 -1",
    "LPOS K E",
    "LPOS K E RANK I COUNT I",
    "LPOS K E COUNT 0 MAXLEN R RANK I",
    "LMOVE K K AT AT",
    "RPOPLPUSH K K",
    "COPY K K REPLACE",
    "RENAME K K",
];

const SORTED_SETS: [&str; 53] = [
    "ZADD K S*",
    "ZADD K S*",
    "ZADD K S*",
    "ZADD K S M",
    "ZADD K NX CH S*",
    "ZADD K XX CH S*",
    "ZADD K GT CH S*",
    "ZADD K LT XX S*",
    "ZADD K INCR S M",
    "ZADD K NX INCR S M",
    "ZADD K GT INCR S M",
    "ZINCRBY K S M",
    "ZREM K M*",
    "ZCARD K",
    "ZCOUNT K B B",
    "ZSCORE K M",
    "ZMSCORE K M*",
    "ZRANK K M",
    "ZREVRANK K M",
    "ZRANGE K R R WITHSCORES",
    "ZRANGE K R R REV",
    "ZRANGE K B B BYSCORE",
    "ZRANGE K B B BYSCORE REV LIMIT I I WITHSCORES",
    "ZRANGEBYSCORE K B B LIMIT I I",
    "ZREVRANGEBYSCORE K B B WITHSCORES",
    "ZREVRANGE K R R",
    "ZRANGESTORE K K R R",
    "ZRANGESTORE K K B B BYSCORE LIMIT I I",
    "ZREMRANGEBYRANK K R R",
    "ZREMRANGEBYSCORE K B B",
    "ZPOPMIN K",
    "ZPOPMAX K",
    "ZPOPMIN K I",
    "ZPOPMAX K I",
    "ZMPOP 2 K K MIN",
    "ZMPOP 2 K K MAX COUNT I",
    "ZUNION 2 K K WITHSCORES",
    "ZINTER 2 K K WITHSCORES",
    "ZDIFF 3 K K K WITHSCORES",
    "ZUNION 3 K K K WEIGHTS W W W WITHSCORES",
    "ZINTER 2 K K WEIGHTS W W AGGREGATE MIN WITHSCORES",
    "ZUNION 2 K K AGGREGATE MAX",
    "ZUNIONSTORE K 2 K K WEIGHTS W W",
    "ZINTERSTORE K 2 K K AGGREGATE MAX",
    "ZDIFFSTORE K 2 K K",
    "ZDIFF 12 K K K K K K K K K K K K",
    "ZINTERCARD 2 K K LIMIT I",
    "SADD K M*",
    "COPY K K REPLACE",
    "RENAME K K",
    "PERSIST K",
    "ZSCAN K 0 COUNT 10000",
    "ZRANDMEMBER K 10000",
];

const NAMES: [&str; 12] = [
    "ZADD N 0 M",
    "ZADD N 0 M 0 M 0 M 0 M 0 M",
    "ZREM N M",
    "ZLEXCOUNT N L L",
    "ZRANGE N L L BYLEX",
    "ZRANGE N L L BYLEX REV LIMIT I I",
    "ZRANGEBYLEX N L L LIMIT I I",
    "ZREVRANGEBYLEX N L L",
    "ZRANGESTORE N N L L BYLEX",
    "ZREMRANGEBYLEX N L L",
    "ZUNIONSTORE N 2 N N",
    "OBJECT ENCODING N",
];

/// redis-server 7.0 makes no consumer that reads nothing, and does not know what a group has read once items were
/// trimmed: both are left out.
const STREAMS: [&str; 42] = [
    "XADD K NEW P*",
    "XADD K NEW M V",
    "XADD K NEW M V",
    "XADD K NEW f V g M",
    "XADD K NEW f V g M",
    "XADD K NOMKSTREAM NEW M V",
    "XADD K MAXLEN I NEW M V",
    "XADD K MAXLEN ~ 50 NEW f V g M",
    "XADD K MINID X NEW M V",
    "XLEN K",
    "XRANGE K - +",
    "XRANGE K XB XB",
    "XRANGE K XB XB COUNT I",
    "XREVRANGE K + -",
    "XREVRANGE K XB XB COUNT I",
    "XREAD STREAMS K X",
    "XREAD COUNT I STREAMS K K X X",
    "XREAD COUNT I STREAMS K K $ X",
    "XDEL K X*",
    "XDEL K X",
    "XTRIM K MAXLEN 20",
    "XTRIM K MAXLEN ~ 100",
    "XTRIM K MINID X",
    "XTRIM K MINID ~ X LIMIT 20",
    "XINFO STREAM K",
    "COPY K K REPLACE",
    "RENAME K K",
    "XGROUP CREATE K G 0",
    "XGROUP CREATE K G X MKSTREAM",
    "XGROUP SETID K G X",
    "XGROUP DESTROY K G",
    "XREADGROUP GROUP G C STREAMS K >",
    "XREADGROUP GROUP G C COUNT I STREAMS K >",
    "XREADGROUP GROUP G C COUNT I NOACK STREAMS K >",
    "XREADGROUP GROUP G C COUNT I STREAMS K X",
    "XACK K G X*",
    "XPENDING K G",
    "XPENDING K G IDLE 1000000 XB XB I C",
    "XCLAIM K G C 0 X X",
    "XCLAIM K G C 0 X X FORCE JUSTID",
    "XCLAIM K G C 1000000 X LASTID X",
    "XAUTOCLAIM K G C 0 XB COUNT I",
];

/// Makes a command after a template.
fn command(random: &mut Rng, template: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in template.split(' ') {
        // Now and then very many.
        let many = if random.u8(..) < 4 { 700 } else { random.usize(1..5) };
        match word {
            "K" => words.push(format!("k{}", random.u8(..5))),
            "M" => words.push(member(random)),
            "M*" => words.extend((0..many).map(|_| member(random))),
            "V" => words.push(value(random)),
            "P*" => {
                for _ in 0..many {
                    words.extend([member(random), value(random)]);
                }
            }
            "I" => words.push(random.i8(-3..10).to_string()),
            "E" => words.push(random.u8(..12).to_string()),
            "E*" => words.extend((0..many).map(|_| element(random))),
            "AT" => words.push(if random.bool() { "LEFT" } else { "RIGHT" }.to_owned()),
            "R" => words.push(random.i16(-400..400).to_string()),
            "N" => words.push(format!("n{}", random.u8(..3))),
            "S" => words.push(score(random)),
            "S*" => {
                for _ in 0..many {
                    words.extend([score(random), member(random)]);
                }
            }
            "B" => {
                let bracket = if random.bool() { "(" } else { "" };
                words.push(format!("{bracket}{}", score(random)));
            }
            "L" => match random.u8(..6) {
                0 => words.push("-".to_owned()),
                1 => words.push("+".to_owned()),
                2 | 3 => words.push(format!("({}", member(random))),
                _ => words.push(format!("[{}", member(random))),
            },
            "X" => words.push(item(random)),
            "X*" => words.extend((0..many.min(9)).map(|_| item(random))),
            "NEW" => words.push(match random.u8(..4) {
                0 => item(random),
                _ => format!("{}-*", random.u8(..100)),
            }),
            "XB" => match random.u8(..6) {
                0 => words.push("-".to_owned()),
                1 => words.push("+".to_owned()),
                2 => words.push(random.u8(..100).to_string()),
                3 => words.push(format!("({}", item(random))),
                _ => words.push(item(random)),
            },
            "G" => words.push(format!("g{}", random.u8(..2))),
            "C" => words.push(format!("c{}", random.u8(..3))),
            "W" => words.push(["1", "0.5", "0.75"][random.usize(..3)].to_owned()),
            "F" => words.push(format!("{}.{}", random.i8(-9..10), random.u16(..1000))),
            word => words.push(word.to_owned()),
        }
    }
    words
}

/// The id of an item.
fn item(random: &mut Rng) -> String {
    format!("{}-{}", random.u8(..100), random.u8(..3))
}

fn member(random: &mut Rng) -> String {
    match random.u8(..10) {
        0 => String::new(),
        1 => format!("word {}", random.u16(..300)),
        2 => i64::MIN.saturating_add(random.i64(..3)).to_string(),
        3 => format!("0{}", random.u8(..9)),
        4 => random.i32(..).to_string(),
        _ => random.u16(..900).to_string(),
    }
}

fn value(random: &mut Rng) -> String {
    match random.u8(..40) {
        0 => "long ".repeat(random.usize(..30)),
        1..20 => random.i16(..).to_string(),
        20..30 => format!("{}.5", random.i16(..)),
        _ => member(random),
    }
}

fn element(random: &mut Rng) -> String {
    match random.u8(..20) {
        0 => "long ".repeat(random.usize(..1000)),
        1 => value(random),
        _ => random.u8(..12).to_string(),
    }
}

/// A score. Neither these nor the weights make very large ones, which ZSCAN shows in different ways,
/// depending on where they are stored; nor a -0, which redis-server shows until it has stored it.
fn score(random: &mut Rng) -> String {
    match random.u8(..20) {
        0 => "inf".to_owned(),
        1 => "-inf".to_owned(),
        2 => format!("{}e{}", random.u8(1..), random.i8(-20..10)),
        3..8 => format!("{}.{}", random.i8(-9..10), random.u16(1..1000)),
        _ => random.i8(..).to_string(),
    }
}

/// A reply with the numbers of newer servers than redis-server 7.0: those with a fraction or an exponent are written otherwise.
fn as_since(value: Value) -> Value {
    let all = |values: Vec<Value>| values.into_iter().map(as_since).collect();
    match value {
        Value::Bulk(text) => Value::Bulk(number_as_since(&text).unwrap_or(text)),
        Value::Array(values) => Value::Array(all(values)),
        Value::Set(values) => Value::Set(all(values)),
        Value::Map(pairs) => {
            Value::Map(pairs.into_iter().map(|(key, value)| (key, as_since(value))).collect())
        }
        other => other,
    }
}

fn number_as_since(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let significant = digits.skip_while(|digit| **digit == b'0').count();
    let is_fraction = text.contains(&b'.') && !text.ends_with(b"0") && significant <= 17;
    let is_such = is_fraction || text.contains(&b'e');
    let number = std::str::from_utf8(text).ok().filter(|_| is_such)?.parse().ok()?;
    Some(Digits::new(number).as_bytes().to_vec())
}

/// The reply as text, with its elements in an order of their own.
fn normal(value: &Value) -> String {
    let mut texts: Vec<String> = match value {
        Value::Map(pairs) => {
            pairs.iter().map(|(key, value)| format!("{key:?}: {value:?}")).collect()
        }
        Value::Array(items) | Value::Set(items) => items.iter().map(normal).collect(),
        other => return format!("{other:?}"),
    };
    texts.sort_unstable();
    let kind = match value {
        Value::Map(_) => "map",
        Value::Set(_) => "set",
        _ => "array",
    };
    format!("{kind} {texts:?}")
}

/// The reply as text.
fn exact(value: &Value) -> String {
    format!("{value:?}")
}

/// The reply as text, without how many pieces a stream has.
fn without_pieces(value: &Value) -> String {
    let text = exact(value);
    let parts = text.split_once("radix-tree-keys").and_then(|(before, rest)| {
        let (_, after) = rest.split_once("last-generated-id")?;
        Some(format!("{before}{after}"))
    });
    parts.unwrap_or(text)
}

fn compare(templates: &[&str], version: Version) {
    compare_as(templates, version, |_| normal);
}

/// How the replies to a template are compared.
fn in_order(template: &str) -> fn(&Value) -> String {
    let has_none = ["ZSCAN", "ZRANDMEMBER"].iter().any(|name| template.starts_with(name));
    if has_none { normal } else { exact }
}

fn compare_as(
    templates: &[&str],
    version: Version,
    text_of: impl Fn(&str) -> fn(&Value) -> String,
) {
    let Some(mut redis) = Redis::start(version) else { return };
    let mut ours = Ours::new(version);
    let mut random = Rng::with_seed(setting("SHOEBILL_SEED", SEED));
    for number in 0..setting("SHOEBILL_COMMANDS", COMMANDS) {
        let all = if random.u8(..) < 12 { &COMMON } else { templates };
        let template = all[random.usize(..all.len())];
        let command = command(&mut random, template);
        let (our_reply, their_reply) =
            (as_since(ours.ask(&command)), as_since(redis.ask(&command)));
        let text = text_of(template);
        assert_eq!(text(&our_reply), text(&their_reply), "command {number}: {command:?}");
        if number % 100 == 0 {
            ours.check_integrity();
        }
    }
    // What is stored in the end is the same, too.
    for key in ["k0", "k1", "k2", "k3", "k4"] {
        for read in ["HGETALL", "SMEMBERS", "GET", "LRANGE", "ZRANGE", "XREVRANGE"] {
            let command = if read == "XREVRANGE" {
                [read, key, "+", "-", ""]
            } else {
                [read, key, "0", "-1", "WITHSCORES"]
            };
            let len = if read == "ZRANGE" {
                5
            } else if matches!(read, "LRANGE" | "XREVRANGE") {
                4
            } else {
                2
            };
            let (our_reply, their_reply) =
                (as_since(ours.ask(&command[..len])), as_since(redis.ask(&command[..len])));
            assert_eq!(normal(&our_reply), normal(&their_reply), "{read} {key}");
        }
    }
}

#[test]
fn generated_commands_on_hashes_are_answered_the_same() {
    compare(&HASHES, Version::Resp2);
    compare(&HASHES, Version::Resp3);
}

#[test]
fn generated_commands_on_sets_are_answered_the_same() {
    compare(&SETS, Version::Resp2);
    compare(&SETS, Version::Resp3);
}

#[test]
fn generated_commands_on_both_are_answered_the_same() {
    compare(&[&HASHES[..], &SETS[..]].concat(), Version::Resp3);
}

#[test]
fn generated_commands_on_lists_are_answered_the_same() {
    compare_as(&LISTS, Version::Resp2, in_order);
    compare_as(&LISTS, Version::Resp3, in_order);
}

#[test]
fn generated_commands_on_sorted_sets_are_answered_the_same() {
    compare_as(&SORTED_SETS, Version::Resp2, in_order);
    compare_as(&SORTED_SETS, Version::Resp3, in_order);
}

#[test]
fn generated_commands_on_streams_are_answered_the_same() {
    compare_as(&STREAMS, Version::Resp2, |_| without_pieces);
    compare_as(&STREAMS, Version::Resp3, |_| without_pieces);
}

#[test]
fn generated_commands_on_members_of_equal_scores_are_answered_the_same() {
    compare_as(&NAMES, Version::Resp2, in_order);
    compare_as(&NAMES, Version::Resp3, in_order);
}

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}
