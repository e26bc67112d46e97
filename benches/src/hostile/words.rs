// SPDX-License-Identifier: Apache-2.0
//! Arguments at the edges of what their types allow, and beyond.

use fastrand::Rng;
use protocol_resp::table::syntax::Kind;

const INTEGERS: [&str; 38] = [
    "0",
    "-0",
    "1",
    "-1",
    "+1",
    "01",
    " 1",
    "1 ",
    "",
    "2",
    "10",
    "127",
    "-128",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "1000000",
    "-1000000",
    "2147483647",
    "-2147483648",
    "2147483648",
    "4294967295",
    "4294967296",
    "536870911",
    "536870912",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e3",
    "0x10",
    "1.0",
    "abc",
];
const DOUBLES: [&str; 24] = [
    "0",
    "-0",
    "0.0001",
    "-1",
    "1.5",
    "inf",
    "-inf",
    "+inf",
    "Infinity",
    "nan",
    "-nan",
    "1e308",
    "-1e308",
    "1e309",
    "5e-324",
    "1e-400",
    "17976931348623157e292",
    "0x1p10",
    "1.",
    ".5",
    "",
    "(1",
    "[1",
    "1e5000",
];
const RANGES: [&str; 10] = ["-", "+", "(", "[", "(1", "[a", "-inf", "+inf", "(inf", "(-inf"];
const TEXTS: [&[u8]; 18] = [
    b"",
    b"a",
    b"\0",
    b"\r\n",
    b"$-1\r\n",
    b"*1\r\n$4\r\nPING\r\n",
    b"\xff\xfe\xfd",
    b"%s%n%x",
    b"i8",
    b"u64",
    b"u63",
    b"i65",
    b"#0",
    b"#9223372036854775807",
    b"*",
    b"-",
    b"+",
    b"0-0",
];
const PATTERNS: [&[u8]; 14] = [
    b"*",
    b"?",
    b"",
    b"[",
    b"[^",
    b"[a-",
    b"[z-a]",
    b"\\",
    b"*\\",
    b"[]]",
    b"[^]",
    b"**********",
    b"*?*?*?*?*?*?",
    b"k*",
];

/// Keys that clients share, so that commands meet each other's types.
const KEYS: usize = 24;

/// An argument of a type, of sense for the most part in `sane` of ten.
pub(super) fn word(kind: Kind, sane: u8, rng: &mut Rng) -> Vec<u8> {
    let sense = rng.u8(..10) < sane;
    match kind {
        Kind::Key => key(sense, rng),
        Kind::Integer | Kind::UnixTime if sense => rng.u32(..20).to_string().into_bytes(),
        Kind::Double if sense => (f64::from(rng.u32(..400)) / 8.0 - 10.0).to_string().into_bytes(),
        Kind::Integer | Kind::UnixTime => pick(&INTEGERS, rng),
        Kind::Double => pick(&DOUBLES, rng),
        Kind::Pattern => pattern(rng),
        Kind::String => string(sense, rng),
        // What has parts, or is a token, is made of them.
        Kind::PureToken | Kind::OneOf | Kind::Block => Vec::new(),
        // Types that the table gets later are tried as text.
        _ => string(sense, rng),
    }
}

fn pick(words: &[&str], rng: &mut Rng) -> Vec<u8> {
    words[rng.usize(..words.len())].as_bytes().to_vec()
}

fn key(sense: bool, rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..20) {
        _ if sense => format!("k{}", rng.usize(..KEYS)).into_bytes(),
        0 => Vec::new(),
        1 => long(rng),
        2 => b"{}".to_vec(),
        3 => b"{k}\r\n\0\xff".to_vec(),
        _ => format!("k{}", rng.u32(..20_000)).into_bytes(),
    }
}

fn string(sense: bool, rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..20) {
        0..12 if sense => format!("m{}", rng.u8(..40)).into_bytes(),
        12..16 if sense => rng.u16(..).to_string().into_bytes(),
        0..4 => pick(&INTEGERS, rng),
        4..6 => pick(&DOUBLES, rng),
        6..8 => pick(&RANGES, rng),
        8 => long(rng),
        9 => pattern(rng),
        _ => TEXTS[rng.usize(..TEXTS.len())].to_vec(),
    }
}

/// Up to 64 KB, seldom half a megabyte, of any bytes. An error repeats an argument, and no client takes
/// lines of any length.
fn long(rng: &mut Rng) -> Vec<u8> {
    let len = if rng.u8(..20) == 0 { 1 << 19 } else { rng.usize(100..1 << 16) };
    let byte = rng.u8(..);
    let mut text = vec![byte; len];
    for _ in 0..8 {
        text[rng.usize(..len)] = rng.u8(..);
    }
    text
}

/// A pattern; sometimes one for which a careless matcher tries every way.
fn pattern(rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..6) {
        0 => [&b"*k".repeat(rng.usize(1..200))[..], b"!"].concat(),
        1 => b"*".repeat(rng.usize(1..4_000)),
        _ => PATTERNS[rng.usize(..PATTERNS.len())].to_vec(),
    }
}
