// SPDX-License-Identifier: Apache-2.0
//! Hostile requests of memcache's protocol: each command with numbers at the edges of their types, bodies
//! of other lengths than announced, keys that are none.

use fastrand::Rng;

const READS: [&str; 4] = ["get", "gets", "gat", "gats"];
const WRITES: [&str; 6] = ["set", "add", "replace", "append", "prepend", "cas"];
const META: [&str; 6] = ["mg", "ms", "md", "ma", "mn", "me"];
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "+1",
    "007",
    "10",
    "100",
    "1000",
    "65535",
    "2147483645",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "nan",
];
const META_FLAGS: [&str; 30] = [
    "b",
    "c",
    "f",
    "h",
    "k",
    "l",
    "O123",
    "q",
    "s",
    "t",
    "v",
    "E9",
    "N30",
    "R30",
    "T-1",
    "T2147483648",
    "C0",
    "C1",
    "F4294967296",
    "I",
    "M+",
    "MS",
    "MA",
    "MX",
    "N18446744073709551616",
    "D18446744073709551615",
    "J-1",
    "O",
    "x",
    "Oaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const OTHERS: [&str; 14] = [
    "stats",
    "stats items",
    "stats slabs",
    "stats settings",
    "stats conns",
    "stats reset",
    "stats nothing",
    "version",
    "verbosity 9999999999",
    "verbosity",
    "mn",
    "slabs reassign 1 2",
    "lru_crawler metadump all",
    "nothing of the kind",
];
/// Of so many requests that could remove everything, one does.
const FLUSH_ONE_IN: u32 = 2_000;

/// Appends a request.
pub fn request(rng: &mut Rng, out: &mut Vec<u8>) {
    let mut line = Vec::new();
    let mut body = None;
    match rng.u8(..100) {
        0..20 => reads(rng, &mut line),
        20..60 => body = writes(rng, &mut line),
        60..70 => {
            line.push(["incr", "decr"][rng.usize(..2)].to_owned().into_bytes());
            line.extend([key(rng), number(rng)]);
        }
        70..76 => line.extend([b"touch".to_vec(), key(rng), number(rng)]),
        76..80 => line.extend([b"delete".to_vec(), key(rng)]),
        80..92 => body = meta(rng, &mut line),
        92 if rng.u32(..FLUSH_ONE_IN) == 0 => line.extend([b"flush_all".to_vec(), number(rng)]),
        _ => line.push(OTHERS[rng.usize(..OTHERS.len())].as_bytes().to_vec()),
    }
    if rng.u8(..10) == 0 {
        line.push(b"noreply".to_vec());
    }
    if rng.u8(..20) == 0 {
        let at = rng.usize(..line.len());
        line.remove(at);
    }
    out.extend_from_slice(&line.join(&b' '));
    out.extend_from_slice(if rng.u8(..40) == 0 { b"\n" } else { b"\r\n" });
    if let Some(body) = body {
        out.extend_from_slice(&body);
        if rng.u8(..40) > 0 {
            out.extend_from_slice(b"\r\n");
        }
    }
}

fn reads(rng: &mut Rng, line: &mut Vec<Vec<u8>>) {
    let verb = READS[rng.usize(..READS.len())];
    line.push(verb.as_bytes().to_vec());
    if verb.starts_with("gat") {
        line.push(number(rng));
    }
    let keys = if rng.u8(..30) == 0 { rng.usize(..3_000) } else { rng.usize(..6) };
    line.extend((0..keys).map(|_| key(rng)));
}

/// A body follows, mostly of the length that is announced.
fn writes(rng: &mut Rng, line: &mut Vec<Vec<u8>>) -> Option<Vec<u8>> {
    let verb = WRITES[rng.usize(..WRITES.len())];
    let body = body(rng);
    line.extend([verb.as_bytes().to_vec(), key(rng), number(rng), number(rng)]);
    line.push(length(&body, rng));
    if verb == "cas" {
        line.push(number(rng));
    }
    Some(body)
}

fn meta(rng: &mut Rng, line: &mut Vec<Vec<u8>>) -> Option<Vec<u8>> {
    let verb = META[rng.usize(..META.len())];
    line.extend([verb.as_bytes().to_vec(), key(rng)]);
    let body = (verb == "ms").then(|| body(rng));
    line.extend(body.as_ref().map(|body| length(body, rng)));
    let flags = rng.usize(..8);
    line.extend((0..flags).map(|_| META_FLAGS[rng.usize(..META_FLAGS.len())].as_bytes().to_vec()));
    body
}

fn length(body: &[u8], rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..12) == 0 { number(rng) } else { body.len().to_string().into_bytes() }
}

fn body(rng: &mut Rng) -> Vec<u8> {
    let len = match rng.u8(..20) {
        0 => 0,
        1 => rng.usize(..1 << 20) + 1_000,
        2..6 => rng.usize(..1 << 15),
        6..10 => return number(rng),
        _ => rng.usize(..200),
    };
    vec![rng.u8(..); len]
}

fn number(rng: &mut Rng) -> Vec<u8> {
    let sane = rng.u8(..2) == 0;
    if sane { b"0".to_vec() } else { NUMBERS[rng.usize(..NUMBERS.len())].as_bytes().to_vec() }
}

fn key(rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..40) {
        0 => vec![b'k'; 250],
        1 => vec![b'k'; 251],
        2 => vec![b'k'; rng.usize(1..4_000)],
        3 => b"\x01\x7f\xff".to_vec(),
        4 => Vec::new(),
        5..20 => format!("key-{}", rng.u32(..100_000)).into_bytes(),
        _ => format!("key-{}", rng.u8(..30)).into_bytes(),
    }
}
