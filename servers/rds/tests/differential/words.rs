// SPDX-License-Identifier: Apache-2.0
//! [`Kind`]: the arguments of commands. There are few of each kind, so that commands work on data that
//! earlier ones left.
//!
//! No expiry is in the near future: relative ones are more than a day and hardly ever come twice,
//! absolute ones are beyond the year 2090 or long past. So no reply depends on when a command arrives.
//! Nothing makes a reply or a value of unreasonable size.

use crate::lua;
use test_support::random::Random;

/// A kind of argument.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) make: fn(&mut Random) -> Vec<u8>,
    /// What is wrong in its place, or at an edge.
    pub(crate) odd: &'static [&'static [u8]],
}

/// The kind of this name.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// One of a few words.
macro_rules! any {
    ($($word:expr),+ $(,)?) => {
        |random| { let words: &[&[u8]] = &[$(&$word[..]),+]; random.pick(words).to_vec() }
    };
}

const fn of(
    name: &'static str,
    make: fn(&mut Random) -> Vec<u8>,
    odd: &'static [&'static [u8]],
) -> Kind {
    Kind { name, make, odd }
}

static KINDS: &[Kind] = &[
    // Keys. Each type has its own four, which hold another type now and then.
    of("key", any_key, KEYS),
    of("string", |random| typed(random, 's'), KEYS),
    of("hash", |random| typed(random, 'h'), KEYS),
    of("list", |random| typed(random, 'l'), KEYS),
    of("set", |random| typed(random, 'e'), KEYS),
    of("zset", |random| typed(random, 'z'), KEYS),
    // Sorted sets whose scores are all the same, as ranges of members want it. The last two are made
    // another type.
    of("lexset", any!(b"x0", b"x0", b"x0", b"x1", b"x1", b"x1", b"x2", b"xs", b"xl"), &[]),
    // What SORT sorts: keys of no other use, as redis-server unpacks the sorted sets among them. The last
    // two are another type, or nothing.
    of(
        "sortable",
        any!(b"r0", b"r1", b"r0", b"r1", b"pile0", b"pile1", b"ranked0", b"ranked1", b"rs", b"r9"),
        &[],
    ),
    of("ranked", any!(b"ranked0", b"ranked1"), &[]),
    of("pile", any!(b"pile0", b"pile1"), &[]),
    // Lists, and nothing else.
    of("row", any!(b"r0", b"r1"), &[]),
    // Keys of what is large, and of what is waited for.
    of("large", any!(b"large0", b"large1"), &[]),
    of("queue", any!(b"q0", b"q1", b"q2"), &[]),
    of("scored", any!(b"y0", b"y1"), &[]),
    // Bitmaps, HyperLogLogs, places. They hold another type now and then.
    of("bitmap", |random| typed(random, 'b'), KEYS),
    of("bit", any!(b"0", b"1"), &[b"2", b"-1", b"x", b"", b"01"]),
    of("bit-offset", any!(b"0", b"1", b"7", b"8", b"31", b"100", b"1600"), BIT_OFFSETS),
    of("place", any!(b"0", b"3", b"5", b"64", b"#1", b"#2", b"#7", b"100"), BIT_OFFSETS),
    of("width", any!(b"u1", b"i1", b"u8", b"i8", b"i5", b"u13", b"u63", b"i64"), WIDTHS),
    of("hll", |random| format!("p{}", random.below(4)).into_bytes(), KEYS),
    of("element", |random| random.below(3000).to_string().into_bytes(), &[b"", b"\0", &[b'x'; 99]]),
    of("geo", |random| format!("g{}", random.below(3)).into_bytes(), KEYS),
    of("town", |random| format!("t{}", random.below(60)).into_bytes(), &[b"", b"nowhere"]),
    of("longitude", |random| degrees(random, 180), DEGREES),
    of("latitude", |random| degrees(random, 85), DEGREES),
    of("length", length, &[b"-1", b"x", b"", b"inf", b"1e300", b"1e-300", b"nan"]),
    // Values in serial form: a string, a number, a list, a set, a sorted set and a hash.
    of(
        "payload",
        |random| random.pick(PAYLOADS).to_vec(),
        &[b"", b"text", b"\0\x01a\x0a\0\0\0\0\0\0\0\0\0"],
    ),
    // Streams, whose items are numbered by hand. They hold another type now and then.
    of("stream", |random| typed(random, 'n'), KEYS),
    of("next-id", next_id, STREAM_IDS),
    of("id", any!(b"1-1", b"5-0", b"7-1", b"9-0", b"12-0", b"20-0", b"0-1", b"3"), STREAM_IDS),
    of("from", any!(b"-", b"-", b"0", b"5", b"(7-0", b"12-0"), STREAM_IDS),
    of("to", any!(b"+", b"+", b"20", b"30-5", b"(25-0"), STREAM_IDS),
    of("group", any!(b"one", b"one", b"two"), &[b"", b"none"]),
    of("consumer", any!(b"ann", b"bob"), &[b""]),
    // Scripts.
    of(
        "lua",
        lua::text,
        &[b"return x x", b"", b"error('a')", b"#!lua", b"#!lua flags=x\nreturn 1"],
    ),
    of("sha", lua::digest, &[b"", b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db"]),
    of("lua-value", lua::value, &[]),
    of("lua-expression", lua::expression, &[]),
    // Users, and what makes them.
    of("user", any!(b"u0", b"u1", b"u2"), &[b"", b"nobody", b"a b", b"u\0"]),
    of("may", may, MAY),
    // What keys hold.
    of("value", value, &[b""]),
    of("blob", blob, &[]),
    of("member", member, &[b""]),
    of("wide", |random| format!("m{}", random.below(1000)).into_bytes(), &[]),
    of("field", |random| format!("f{}", random.below(8)).into_bytes(), &[b"", b"7", b"a\0\r\nb"]),
    // Numbers.
    of("number", any!(b"0", b"1", b"-1", b"7", b"100", b"-250", b"4611686018427387904"), INTEGERS),
    of("float", any!(b"0.5", b"-1.25", b"3", b"10", b"3.0e3", b"-0.75", b"0.1"), FLOATS),
    of("score", score, SCORES),
    of("bound", bound, BOUNDS),
    of("lex", any!(b"-", b"+", b"[m1", b"(m1", b"[m5", b"(m7", b"[m30", b"[", b"("), LEX),
    of("weight", any!(b"1", b"2", b"0.5", b"-1", b"0"), SCORES),
    of("index", any!(b"0", b"1", b"2", b"5", b"-1", b"-2", b"-6", b"-1"), INTEGERS),
    of("rank", any!(b"0", b"1", b"2", b"5", b"-1", b"-2", b"-6", b"-1"), INTEGERS),
    of("offset", any!(b"0", b"1", b"3", b"10", b"50", b"100"), OFFSETS),
    of("skip", any!(b"0", b"1", b"3", b"10", b"50", b"100"), OFFSETS),
    of("count", any!(b"1", b"1", b"2", b"3", b"10", b"1000"), INTEGERS),
    of("signed", any!(b"1", b"2", b"5", b"1000", b"0", b"-1", b"-2", b"-7"), COUNTS),
    of("removals", any!(b"1", b"2", b"5", b"1000", b"0", b"-1", b"-2", b"-7"), COUNTS),
    of("numkeys", any!(b"1"), NUMKEYS),
    of("db", any!(b"0", b"0", b"0", b"1", b"2"), DATABASES),
    // Times.
    of("seconds", |random| far(random, 1), SECONDS),
    of("ms", |random| far(random, 1000), SECONDS),
    of("lifetime", |random| far(random, 1000), SECONDS),
    of("at", any!(b"4000000000", b"4000000001", b"4100000000", b"1000000000", b"1"), SECONDS),
    of("at-ms", any!(b"4000000000000", b"4000000000500", b"4000000000499", b"1000", b"1"), SECONDS),
    // Each wait takes as long: a list without keys to block for spends most of a run in them.
    of("timeout", any!(b"0.001", b"0.001", b"0.001", b"0.002", b"0.0051", b".01"), TIMEOUTS),
    // Names.
    of("glob", any!(b"*", b"*", b"s*", b"[hl]?", b"?0", b"m1*", b"f[^0-3]", b"*[02468]"), GLOBS),
    of("channel", any!(b"c0", b"c1", b"news.1", b"news.2", b"bin\0\r\n"), &[b""]),
    of("channels", any!(b"c*", b"news.?", b"*", b"c[01]", b"c0"), GLOBS),
    of("message", any!(b"hello", b"", b"a longer message with spaces", b"\0\r\n\xff"), &[]),
    of("name", any!(b"one", b"two", b"", b"app:7", b"x"), &[b"a b", b"\n", b"\xff", b"a\0"]),
    of("unknown", any!(b"NOTHING", b"", b"GETT", b"\xff\xfe", b"se", b"foo\r\nbar"), &[]),
    of("type", any!(b"string", b"hash", b"list", b"set", b"zset", b"STRING"), &[b"stream", b"x"]),
    of("parameter", parameter, &[b"nothing", b"", b"maxmemory maxmemory"]),
    of("entries", any!(b"0", b"4", b"16", b"128", b"128"), &[b"abc", b"-1", b"1.5", b""]),
    of("list-size", any!(b"-2", b"-2", b"-1", b"4", b"1"), &[b"abc", b"1.5", b""]),
    of(
        "command",
        any!(b"get", b"SET", b"zadd", b"zunionstore", b"blpop", b"config|get", b"x"),
        &[],
    ),
    of("by", any!(b"s*", b"h*->f1", b"nosort", b"none", b"h*->", b"s*x", b"*"), &[b"", b"->"]),
    of("get", any!(b"#", b"s*", b"h*->f1", b"*", b"nothing", b"h*->f9"), &[b"", b"->", b"*->*"]),
];

const PAYLOADS: &[&[u8]] = &[
    b"\x00\x04text\x0a\x00|\xf3&m\xca\xb5\xa51",
    b"\x00\xc0\x0c\x0a\x00<*\xf8Q\x5c\x04\xbc\xd5",
    b"\x12\x03\x02\x0c\x0c\x00\x00\x00\x02\x00\x81a\x02\x01\x01\xff\x02\x0d\x0d\x00\x00\x00\x02\x00\xdf\xff\x02\xc1,\x02\xff\x02\x0c\x0c\x00\x00\x00\x01\x00\xf2\x90\xee\xfe\x04\xff\x0a\x00ad\x0a\x90\xed\xc3\x0fI",
    b"\x0b\x14\x04\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00p\x11\x01\x00\x0a\x00\x85\xd5\xc1\x06[\x1d\xd0U",
    b"\x11\x1d\x1d\x00\x00\x00\x06\x00\x81c\x02\x84-inf\x05\x81a\x02\x01\x01\x81b\x02\x832.5\x04\xff\x0a\x009\x923\x9b\xe1\x1f2=",
    b"\x10\x12\x12\x00\x00\x00\x04\x00\x81f\x02\x81v\x02\x81g\x02\x01\x01\xff\x0a\x00#\xc1\xa5\xe3]\xfa\xe8\x1c",
];

const STREAM_IDS: &[&[u8]] = &[
    b"",
    b"x",
    b"1-x",
    b"-1",
    b"1-2-3",
    b"0-0",
    b"0",
    b"18446744073709551615",
    b"18446744073709551616",
    b"$",
    b"1-",
];

/// Wrong rules of users.
const MAY: &[&[u8]] = &[
    b"",
    b"+",
    b"-@nothing",
    b"+nothing",
    b"+config|nothing",
    b"%X~a",
    b"%~a",
    b"(+get",
    b"(on)",
    b"<none",
    b"#abc",
    b"x",
    b"~",
    b"+get|x",
    b"-get|x",
    b"&a b",
    b"~a b",
    b"+@",
    b"()",
    b"( )",
];

const BIT_OFFSETS: &[&[u8]] =
    &[b"-1", b"4294967296", b"x", b"", b"1.5", b"#x", b"#", b"##1", b"9223372036854775808"];

const WIDTHS: &[&[u8]] = &[b"u64", b"i65", b"u0", b"i0", b"x8", b"8", b"", b"i", b"u-1", b"I8"];

const DEGREES: &[&[u8]] =
    &[b"-180", b"180", b"85.05112878", b"85.06", b"180.1", b"-200", b"x", b"", b"inf", b"nan"];

const ODD_KEYS: &[&[u8]] = &[b"", b"\0\r\n\xff", b"*", b"none", &[b'k'; 300], b"a b", b"{s0}"];

/// Keys of all types.
const KEYS: &[&[u8]] = &[b"s1", b"h1", b"l1", b"e1", b"z1", b"none", b"", b"\0\r\n\xff"];

const INTEGERS: &[&[u8]] = &[
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"-1",
    b"0",
    b"",
    b"abc",
    b"1.5",
    b" 1",
    b"1 ",
    b"+1",
    b"01",
    b"-0",
    b"0x10",
    b"1e3",
    b"99999999999999999999999",
    b"1\0",
    b"-",
];

/// Without those that ask for that many random elements.
const COUNTS: &[&[u8]] = &[
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"-300",
    b"0",
    b"",
    b"abc",
    b"1.5",
    b"+1",
    b"-0",
    b"99999999999999999999999",
];

/// Without those that make a long value.
const OFFSETS: &[&[u8]] = &[
    b"-1",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"4294967296",
    b"20000",
    b"",
    b"abc",
    b"1.5",
    b"+1",
];

const NUMKEYS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"2",
    b"3",
    b"10",
    b"abc",
    b"",
    b"1.5",
    b" 1",
    b"9223372036854775807",
    b"4294967297",
];

const FLOATS: &[&[u8]] = &[
    b"inf",
    b"-inf",
    b"+Infinity",
    b"nan",
    b"",
    b"abc",
    b"1.5x",
    b" 1",
    b"1 ",
    b"1e400",
    b"-1e400",
    b"1e17",
    b"1e-17",
    b"0x1p3",
    b"3.14159265358979",
    b"+5",
    b".5",
    b"5.",
    b"1e",
    b"1,5",
];

const SCORES: &[&[u8]] = &[
    b"nan", b"abc", b"", b"1e400", b"0x10", b"+5", b".5", b"5.", b" 1", b"1 ", b"1e", b"(1",
    b"1,5", b"-nan",
];

const BOUNDS: &[&[u8]] =
    &[b"(", b"((1", b"[1", b"nan", b"(nan", b"abc", b"", b"( 1", b"1)", b"1e400", b"(+inf", b"0x2"];

const LEX: &[&[u8]] = &[b"", b"m1", b"*", b"--", b"+a", b"[\xff\0", b"inf"];

const DATABASES: &[&[u8]] =
    &[b"15", b"16", b"-1", b"abc", b"", b"1.5", b"9223372036854775807", b"4294967296", b"99999"];

/// Past, or wrong: nothing that comes soon.
const SECONDS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"-100",
    b"abc",
    b"",
    b"1.5",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"9223372036854775",
    b"-9223372036854775",
    b"9223370399119966",
    b"+100000000",
];

/// Wrong ones: any other waits. Too large ones redis-server 7.0 calls negative.
const TIMEOUTS: &[&[u8]] = &[b"-1", b"abc", b"", b"nan", b"-0.1", b"1x"];

const GLOBS: &[&[u8]] = &[
    b"", b"[", b"[a", b"[a-", b"\\", b"\\*", b"[^", b"[z-a]*", b"**0**", b"*\xff", b"?", b"[]",
    b"[]*", b"*\\", b"[\\]s]?", b"[!s]?",
];

/// A rule of a user.
fn may(random: &mut Random) -> Vec<u8> {
    const CATEGORIES: &[&str] = &[
        "read",
        "write",
        "keyspace",
        "set",
        "sortedset",
        "list",
        "hash",
        "string",
        "bitmap",
        "hyperloglog",
        "geo",
        "stream",
        "pubsub",
        "admin",
        "fast",
        "slow",
        "blocking",
        "dangerous",
        "connection",
        "transaction",
        "scripting",
        "all",
    ];
    const COMMANDS: &[&str] = &[
        "get",
        "set",
        "mget",
        "del",
        "eval",
        "evalsha",
        "sort",
        "config",
        "config|get",
        "config|set",
        "object",
        "object|encoding",
        "xadd",
        "lmove",
        "rename",
        "copy",
        "zadd",
        "sinterstore",
        "publish",
        "multi",
        "exec",
        "script|load",
        "script",
        "ping",
        "acl|whoami",
        "georadius",
        "getex",
        "setrange",
        "incr",
    ];
    const OTHERS: &[&str] = &[
        "on",
        "on",
        "off",
        "nopass",
        ">pw",
        "resetpass",
        "~*",
        "~s*",
        "~[hl]?",
        "%R~z*",
        "%W~e*",
        "%RW~n*",
        "allkeys",
        "resetkeys",
        "&*",
        "&c*",
        "&news.?",
        "resetchannels",
        "allchannels",
        "allcommands",
        "nocommands",
        "reset",
        "clearselectors",
        "(+get ~s* %R~h*)",
        "(+@read ~*)",
        "(+set %W~w* &c*)",
        "(+@all -@write ~l* resetchannels)",
    ];
    let sign = random.pick(&["+", "+", "-"]);
    match random.below(8) {
        0..3 => format!("{sign}@{}", random.pick(CATEGORIES)),
        3..6 => format!("{sign}{}", random.pick(COMMANDS)),
        _ => (*random.pick(OTHERS)).to_owned(),
    }
    .into_bytes()
}

/// An id that is often greater than all others.
fn next_id(random: &mut Random) -> Vec<u8> {
    let rest = random.pick(&["", "-*", "-*", "-1", "-2"]);
    format!("{}{rest}", random.below(40)).into_bytes()
}

fn typed(random: &mut Random, letter: char) -> Vec<u8> {
    if random.one_in(12) {
        return any_key(random);
    }
    format!("{letter}{}", random.below(4)).into_bytes()
}

fn any_key(random: &mut Random) -> Vec<u8> {
    if random.one_in(12) {
        return random.pick(ODD_KEYS).to_vec();
    }
    let letter = random.pick(&["s", "h", "l", "e", "z"]);
    format!("{letter}{}", random.below(4)).into_bytes()
}

/// A longitude or latitude. Most are near each other, and none is there twice.
fn degrees(random: &mut Random, most: usize) -> Vec<u8> {
    let most = if random.one_in(6) { most } else { 3 };
    let sign = random.pick(&["", "-"]);
    format!("{sign}{}.{:06}", random.below(most), random.below(1_000_000)).into_bytes()
}

/// A distance.
fn length(random: &mut Random) -> Vec<u8> {
    let most = *random.pick(&[&2, &100, &1_000, &1_000_000, &30_000_000]);
    format!("{}.{}", random.below(most), random.below(10)).into_bytes()
}

/// What a string, a field or an element of a list holds: numbers, texts, and lengths at which an
/// encoding changes.
fn value(random: &mut Random) -> Vec<u8> {
    const ODD: &[&[u8]] = &[
        b"",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"9223372036854775800",
        b"9223372036854775808",
        b"3.5",
        b"-1e3",
        b"007",
        b"-0",
        b" 5",
        b"5 ",
        b"inf",
        b"nan",
        b"with\r\nline\nends\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"nul\0nul",
    ];
    match random.below(12) {
        0..4 => random.below(200).to_string().into_bytes(),
        4 => format!("-{}", random.next() >> 20).into_bytes(),
        5..7 => random.pick(ODD).to_vec(),
        7 => {
            let len = *random.pick(&[&43, &44, &45, &63, &64, &65, &127, &128]);
            vec![b'v'; len]
        }
        8 => {
            let len = random.below(300);
            random.bytes(len)
        }
        _ => random.pick(&["a", "b", "text", "ohmytext", "mynewtext", "Text"]).as_bytes().to_vec(),
    }
}

/// Around the lengths that are kept or sent in another way.
fn blob(random: &mut Random) -> Vec<u8> {
    let len = match random.below(20) {
        0 => 1_100_000,
        _ => *random.pick(&[&8_100, &8_192, &16_383, &16_384, &16_385, &20_000, &65_536]),
    };
    let byte = *random.pick(&[&b'0', &b'x', &0xff, &b'\r']);
    vec![byte; len]
}

/// An element of a set or sorted set: integers of all widths, texts, now and then something long.
fn member(random: &mut Random) -> Vec<u8> {
    const ODD: &[&[u8]] = &[
        b"",
        b"32767",
        b"32768",
        b"-32769",
        b"2147483647",
        b"2147483648",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"9223372036854775808",
        b"007",
        b"1.5",
        b"\0\xff\r\n",
        &[b'l'; 64],
        &[b'l'; 65],
    ];
    match random.below(12) {
        0 => random.pick(ODD).to_vec(),
        1..7 => random.below(30).to_string().into_bytes(),
        _ => format!("m{}", random.below(12)).into_bytes(),
    }
}

fn score(random: &mut Random) -> Vec<u8> {
    const ODD: &[&[u8]] = &[
        b"inf",
        b"-inf",
        b"+inf",
        b"1e300",
        b"-1e-300",
        b"9007199254740993",
        b"0.1",
        b"-3.3",
        b"1e5",
        b"123456789.123456789",
        b"1e17",
        b"1e21",
    ];
    match random.below(10) {
        0 => random.pick(ODD).to_vec(),
        1..3 => format!("{}.5", random.below(10)).into_bytes(),
        3 => format!("-{}", random.below(10)).into_bytes(),
        _ => random.below(12).to_string().into_bytes(),
    }
}

fn bound(random: &mut Random) -> Vec<u8> {
    match random.below(6) {
        0 => b"-inf".to_vec(),
        1 => b"+inf".to_vec(),
        _ => {
            let open = random.pick(&["", "", "("]);
            [open.as_bytes(), &score(random)].concat()
        }
    }
}

/// From one to a hundred days, in units of `1 / per_second`.
fn far(random: &mut Random, per_second: usize) -> Vec<u8> {
    let second = 86_400 * per_second;
    (second + random.below(99 * second)).to_string().into_bytes()
}

/// What CONFIG GET tells alike.
fn parameter(random: &mut Random) -> Vec<u8> {
    const PARAMETERS: &[&str] = &[
        "maxmemory",
        "maxmemory-policy",
        "maxmemory-samples",
        "MaxMemory-Policy",
        "hash-max-listpack-entries",
        "hash-max-listpack-value",
        "hash-max-ziplist-entries",
        "list-max-listpack-size",
        "set-max-intset-entries",
        "zset-max-listpack-entries",
        "zset-max-listpack-value",
        "databases",
        "appendonly",
        "save",
        "timeout",
        "proto-max-bulk-len",
        "notify-keyspace-events",
        "lfu-log-factor",
        "lfu-decay-time",
        "slowlog-max-len",
        "zset-max-listpack-*",
        "no-such-*",
    ];
    random.pick(PARAMETERS).as_bytes().to_vec()
}
