// SPDX-License-Identifier: Apache-2.0
//! The words that arguments are made of, by what the table says of an argument.

use super::reader::Reader;
use protocol_resp::table::Group;
use protocol_resp::table::syntax::{Argument, Kind};

/// Keys, two of which are for each type of value, though any may hold any.
const KEYS: [&str; 12] = ["s1", "s2", "h1", "h2", "l1", "l2", "t1", "t2", "z1", "z2", "k", ""];

/// Fields, members and elements.
const MEMBERS: [&str; 12] = ["a", "b", "c", "d", "e", "1", "2", "3", "-7", "007", "", "a b"];

const VALUES: [&str; 16] = [
    "x",
    "",
    "0",
    "1",
    "-1",
    "10",
    "41",
    "9223372036854775807",
    "-9223372036854775808",
    "3.0",
    "1e3",
    "0.1",
    "nan",
    "abc",
    " 1",
    "hello world",
];

/// Offsets above some thousands are missing: a string may grow to them.
const INTEGERS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2",
    "-3",
    "5",
    "10",
    "16",
    "100",
    "-100",
    "1000",
    "4000",
    "65536",
    "-2147483649",
    "4294967296000",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "",
    "1a",
    "-0",
    "01",
];

const DOUBLES: [&str; 20] = [
    "0", "1", "2", "3", "-1", "1.5", "0.1", "-0", "inf", "-inf", "+inf", "nan", "1e308", "-1e308",
    "5e-324", "3.0", "1e", "", "0x10", " 1",
];

const DURATIONS: [&str; 14] = [
    "1",
    "10",
    "100",
    "1000",
    "5000",
    "0",
    "-1",
    "100000",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775",
    "4611686018427387904",
    "x",
    "1.5",
];

const TIMEOUTS: [&str; 10] = ["0", "0.01", "0.1", "1", "10", "-1", "1e300", "nan", "x", "0.0001"];

const BOUNDS: [&str; 20] = [
    "-inf", "+inf", "inf", "0", "1", "2", "(1", "(2", "-1", "1.5", "-", "+", "[a", "(a", "[b",
    "(c", "[", "(", "nan", "a",
];

const PATTERNS: [&str; 12] =
    ["*", "?1", "[hl]*", "a*", "*1", "\\*", "[^a]", "k", "", "[a-", "h?", "**********b"];

const CHANNELS: [&str; 5] = ["ch1", "ch2", "__keyspace@0__:s1", "__keyevent@0__:set", ""];

const TYPES: [&str; 6] = ["string", "list", "set", "zset", "hash", "none"];

const PARAMETERS: [&str; 18] = [
    "maxmemory",
    "maxmemory-policy",
    "maxmemory-samples",
    "notify-keyspace-events",
    "hash-max-listpack-entries",
    "hash-max-listpack-value",
    "list-max-listpack-size",
    "set-max-intset-entries",
    "set-max-listpack-entries",
    "zset-max-listpack-entries",
    "lfu-log-factor",
    "lfu-decay-time",
    "slowlog-log-slower-than",
    "slowlog-max-len",
    "latency-tracking",
    "timeout",
    "*",
    "nothing",
];

const SETTINGS: [&str; 20] = [
    "0",
    "1",
    "4",
    "-1",
    "-2",
    "100",
    "100000",
    "1mb",
    "KEA",
    "Ex",
    "gx$lshztxe",
    "",
    "noeviction",
    "allkeys-lru",
    "allkeys-lfu",
    "volatile-ttl",
    "allkeys-random",
    "volatile-random",
    "yes",
    "no",
];

const PASSWORDS: [&str; 4] = ["default", "secret", "", "wrong"];

const GARBAGE: [&[u8]; 16] = [
    b"",
    b"*",
    b"\0",
    b"\xff\xfe",
    b"\r\n",
    b"NX",
    b"XX",
    b"GET",
    b"COUNT",
    b"LIMIT",
    b"0",
    b"-1",
    b"WITHSCORES",
    b"STORE",
    b"s1",
    b"-ERR x\r\n",
];

/// A word that nobody asked for.
pub(super) fn garbage(reader: &mut Reader<'_>) -> Vec<u8> {
    reader.choose(&GARBAGE).to_vec()
}

/// A word for an argument of a command of this group.
pub(super) fn word(
    argument: &Argument,
    group: Group,
    now_ms: u64,
    reader: &mut Reader<'_>,
) -> Vec<u8> {
    let text = match argument.kind {
        Kind::Key => return key(group, reader),
        Kind::Pattern => reader.choose(&PATTERNS),
        Kind::UnixTime => return moment(&argument.name, now_ms, reader),
        Kind::Double if argument.name == "timeout" => reader.choose(&TIMEOUTS),
        Kind::Double if matches!(argument.name.as_str(), "min" | "max") => reader.choose(&BOUNDS),
        Kind::Double => reader.choose(&DOUBLES),
        Kind::Integer => match argument.name.as_str() {
            "seconds" | "milliseconds" | "timeout" => reader.choose(&DURATIONS),
            _ => reader.choose(&INTEGERS),
        },
        _ => return string(argument, group, reader),
    };
    text.as_bytes().to_vec()
}

/// A key: mostly one that is likely to hold a value of the right type.
fn key(group: Group, reader: &mut Reader<'_>) -> Vec<u8> {
    let choice = reader.below(16);
    let first = match group {
        Group::String => 0,
        Group::Hash => 2,
        Group::List => 4,
        Group::Set => 6,
        Group::SortedSet => 8,
        _ => choice,
    };
    let at = if choice < KEYS.len() - 2 && group != Group::Generic {
        first + choice % 2
    } else {
        choice
    };
    KEYS[at % KEYS.len()].as_bytes().to_vec()
}

/// A unix time around now.
fn moment(name: &str, now_ms: u64, reader: &mut Reader<'_>) -> Vec<u8> {
    let offset_ms = match reader.below(8) {
        0 => -1,
        1 => 0,
        2 => 1,
        shift => 10_i64.pow(shift as u32 - 2),
    };
    let at_ms = now_ms as i64 + offset_ms;
    let moment = if name.ends_with("milliseconds") { at_ms } else { at_ms.div_euclid(1000) };
    moment.to_string().into_bytes()
}

fn string(argument: &Argument, group: Group, reader: &mut Reader<'_>) -> Vec<u8> {
    let text = match argument.name.as_str() {
        "field" | "member" | "pivot" => return member(reader),
        "element" => return member(reader),
        "value" if group == Group::Server => reader.choose(&SETTINGS),
        "value" => return value(reader),
        "message" => reader.choose(&VALUES),
        "channel" | "shardchannel" => reader.choose(&CHANNELS),
        "min" | "max" => reader.choose(&BOUNDS),
        "start" | "stop" => match reader.one_in(3) {
            true => reader.choose(&BOUNDS),
            false => reader.choose(&INTEGERS),
        },
        "type" => reader.choose(&TYPES),
        "parameter" => reader.choose(&PARAMETERS),
        "username" | "password" => reader.choose(&PASSWORDS),
        "command-name" | "command" => reader.choose(&["get", "client|list", "ZADD", "nothing", ""]),
        "section" => reader.choose(&["server", "everything", "keyspace", "memory", "nothing"]),
        "key" => reader.choose(&KEYS),
        _ => reader.choose(&MEMBERS),
    };
    text.as_bytes().to_vec()
}

/// A member: one of a few, or rarely a long one.
fn member(reader: &mut Reader<'_>) -> Vec<u8> {
    match reader.below(64) {
        63 => vec![b'm'; 70],
        62 => vec![b'm'; 3000],
        choice => MEMBERS[choice % MEMBERS.len()].as_bytes().to_vec(),
    }
}

fn value(reader: &mut Reader<'_>) -> Vec<u8> {
    match reader.below(64) {
        63 => vec![b'v'; 20_000],
        62 => vec![b'v'; 45],
        choice => VALUES[choice % VALUES.len()].as_bytes().to_vec(),
    }
}
