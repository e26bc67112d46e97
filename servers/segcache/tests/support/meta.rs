// SPDX-License-Identifier: Apache-2.0
//! Makes meta commands: valid ones with any flags, and ones that are wrong.
//!
//! CAS numbers are compared as they are. So what writes a key of [`NUMBERED`] gives the item its number (`E`), and a
//! number that the server makes is never asked for. Keys of [`PLAIN`] have such numbers.
//!
//! Left out, as differences that `docs/compatibility.md` has: `k` of keys in base64, and such keys without `b`, opaques that
//! are too long for `mg` and `ma`, flags of `ms` that begin with no letter, `t` of what this request makes expire, `E0`
//! but of `ms`, `l`, and `b` of `me`.

use crate::support::unit::Unit;
use test_support::random::Random;

/// Keys whose items have numbers from the requests, those in base64 last.
const NUMBERED: [&[u8]; 6] = [b"m0", b"m1", b"m2", b"m\xff", b"YmluAGtleQ==", b"////"];
const IN_BASE64: usize = 4;
const PLAIN: [&[u8]; 2] = [b"p0", b"p1"];
/// Those that all dialects write. The first ones are changed as numbers, and have no marks, because memcached forgets
/// those of a number that gets longer; the others are never counted.
pub(crate) const SHARED: [&[u8]; 6] = [b"k0", b"k1", b"k2", b"k3", b"k4", b"k5"];
pub(crate) const COUNTED: usize = 2;

const VERSIONS: &[&[u8]] =
    &[b"1", b"2", b"3", b"3", b"4", b"77", b"9223372036854775808", b"18446744073709551614"];
const NUMBERS: &[&[u8]] =
    &[b"0", b"1", b"5", b"99", b"100", b"1000", b"007", b"18446744073709551615", b"x", b"", b"5 "];
const DELTAS: &[&[u8]] = &[b"0", b"1", b"7", b"90", b"1000"];
/// Times to live that are far off.
const TIMES: &[&[u8]] = &[b"0", b"0", b"100000", b"2591999", b"2100000000"];
const SOONER: &[&[u8]] = &[b"1", b"50", b"200000", b"2592000"];
const EXPIRED: &[&[u8]] = &[b"-1", b"2592001", b"-2147483648"];
const CLIENT_FLAGS: &[&[u8]] = &[b"0", b"7", b"65535", b"4294967295"];
const OPAQUES: &[&[u8]] = &[b"", b"1", b"abc", b"\xff\x01", b"0123456789012345678901234567890"];
/// What is ignored, or asks for what everybody may ask for; the first is not for keys in base64.
const HARMLESS: &[&[u8]] = &[b"k", b"q", b"s", b"Pproxy", b"Lhint", b"O1", b"f", b"u"];
const SET_MODES: &[&[u8]] =
    &[b"S", b"s", b"set", b"E", b"e", b"A", b"a", b"append", b"P", b"p", b"R", b"r"];
const ARITH_MODES: &[&[u8]] = &[b"I", b"i", b"incr", b"+", b"D", b"d", b"decr", b"-"];
/// Flags that are refused, or doubtful.
const WRONG: &[&[u8]] = &[
    b"k k",
    b"q q",
    b"v v",
    b"O1 O2",
    b"y",
    b"Z",
    b"F",
    b"Fx",
    b"F-1",
    b"F4294967296",
    b"Cx",
    b"C",
    b"C-1",
    b"C18446744073709551616",
    b"Ex",
    b"E-1",
    b"Tx",
    b"T",
    b"T99999999999",
    b"T+5",
    b"N",
    b"Nx",
    b"Rx",
    b"R",
    b"D",
    b"Dx",
    b"D-1",
    b"D18446744073709551616",
    b"J",
    b"Jx",
    b"J+1",
    b"M",
    b"Mx",
    b"M\xff",
    b"I I",
    b"T2147483648",
    b"T-2147483649",
    b"D+1",
    b"F+1",
    b"C+1",
    b"a b c d e f g h i j k l m n o p q r s t u w x y z A B",
    b"b",
];
const NO_BASE64: &[&[u8]] = &[b"nob64", b"a===", b"YQ", b"YR==", b"\xff\xff=="];
const LENGTHS: &[&[u8]] = &[b"-1", b"x", b"1x", b"+1", b"", b"2147483648", b"18446744073709551616"];

/// Makes a unit.
pub(crate) fn unit(random: &mut Random) -> Unit {
    match random.below(20) {
        0 => Unit::new(b"mn\r\n".to_vec()),
        1 => with_classic(random),
        2..4 => wrong(random),
        4 => {
            let key = *random.pick(&[&NUMBERED[0], &NUMBERED[1], &NUMBERED[3], &PLAIN[0]]);
            Unit::new([b"me ", key, b"\r\n"].concat())
        }
        5..12 => set(random, Key::any),
        12..14 => delete(random, Key::any),
        14..16 => arith(random, Key::any),
        _ => get(random, Key::any),
    }
}

/// Makes a unit on a key that other dialects write, too.
pub(crate) fn shared_unit(random: &mut Random) -> Unit {
    let unit = match random.below(20) {
        0 => Unit::new([&b"me "[..], random.pick(&SHARED[COUNTED..]), b"\r\n"].concat()),
        1..3 => compare(random),
        3..7 => set(random, Key::shared),
        7..9 => delete(random, Key::shared),
        9..12 => arith(random, |_| Key::shared_at(0)),
        12 => arith(random, |_| Key::shared_at(1)),
        _ => get(random, Key::shared),
    };
    unit.of_meta()
}

/// Demands the number that a key had in a reply, in whatever dialect.
fn compare(random: &mut Random) -> Unit {
    let key = random.pick(&SHARED).to_vec();
    let (name, tail): (&[u8], &[u8]) = match random.below(3) {
        0 => (b"md", b"\r\n"),
        1 => (b"ms", b" v\r\n7\r\n"),
        _ => (b"ms", b" MA\r\n7\r\n"),
    };
    let len: &[u8] = if name == b"ms" { b" 1" } else { b"" };
    let head = [name, b" ", &key, len, b" C"].concat();
    Unit::with_cas(head, key, random.one_in(4), tail.to_vec())
}

/// A key, and what its requests have because of it.
struct Key {
    bytes: &'static [u8],
    is_numbered: bool,
    /// Other dialects write it.
    is_shared: bool,
    /// It may be stale, or fetched by one client, and whether it was read is asked for.
    is_marked: bool,
    flags: Vec<Vec<u8>>,
}

impl Key {
    fn any(random: &mut Random) -> Self {
        let at = random.below(NUMBERED.len() + PLAIN.len());
        let mut flags = Vec::new();
        if (IN_BASE64..NUMBERED.len()).contains(&at) {
            flags.push(b"b".to_vec());
        }
        let (is_numbered, bytes) = match NUMBERED.get(at) {
            Some(key) => (true, *key),
            None => (false, PLAIN[at - NUMBERED.len()]),
        };
        Key { bytes, is_numbered, is_shared: false, is_marked: true, flags }
    }

    fn shared(random: &mut Random) -> Self {
        Key::shared_at(random.below(SHARED.len()))
    }

    fn shared_at(at: usize) -> Self {
        let (bytes, is_marked) = (SHARED[at], at >= COUNTED);
        Key { bytes, is_numbered: false, is_shared: true, is_marked, flags: Vec::new() }
    }

    fn flag(&mut self, letter: u8, argument: &[u8]) {
        self.flags.push([&[letter], argument].concat());
    }

    /// With the number of what the request writes.
    fn writes(&mut self, random: &mut Random) {
        if self.is_numbered {
            let version = random.pick(VERSIONS);
            self.flag(b'E', version);
        }
    }

    /// Demands a number, now and then one that the item has.
    fn compares(&mut self, random: &mut Random) {
        if random.one_in(4) {
            let version =
                if self.is_numbered { random.pick(VERSIONS) } else { b"18446744073709551615" };
            self.flag(b'C', version);
        }
    }

    fn shows_version(&mut self, random: &mut Random) {
        if self.is_numbered && random.one_in(2) {
            self.flag(b'c', b"");
        }
    }

    /// Flags that any command may have, each at most once.
    fn harmless(&mut self, random: &mut Random) {
        let is_encoded = self.flags.iter().any(|flag| flag == b"b");
        for flag in HARMLESS.iter().skip(usize::from(is_encoded)) {
            if random.one_in(6) && !self.flags.iter().any(|known| known[0] == flag[0]) {
                self.flags.push(flag.to_vec());
            }
        }
        if random.one_in(8) && !self.flags.iter().any(|known| known[0] == b'O') {
            let opaque = random.pick(OPAQUES);
            self.flag(b'O', opaque);
        }
    }

    /// The line, its flags in any order.
    fn line(mut self, random: &mut Random, name: &[u8], words: &[u8]) -> Vec<u8> {
        let mut line = [name, b" ", self.bytes, words].concat();
        while !self.flags.is_empty() {
            let flag = self.flags.swap_remove(random.below(self.flags.len()));
            line.resize(line.len() + 1 + usize::from(random.one_in(30)), b' ');
            line.extend_from_slice(&flag);
        }
        line.extend_from_slice(if random.one_in(12) { b"\n" } else { b"\r\n" });
        line
    }
}

fn get(random: &mut Random, key: impl FnOnce(&mut Random) -> Key) -> Unit {
    let mut key = key(random);
    for flag in [b'v', b'h', b't'] {
        if random.one_in(2) && (flag != b'h' || key.is_marked) {
            key.flag(flag, b"");
        }
    }
    let shows_time = key.flags.iter().any(|flag| flag == b"t");
    key.shows_version(random);
    key.compares(random);
    if random.one_in(5) {
        let times = if random.one_in(4) && !shows_time { EXPIRED } else { TIMES };
        let time = random.pick(times);
        key.flag(b'T', time);
    }
    if random.one_in(4) && key.is_marked {
        let time = random.pick(TIMES);
        key.flag(b'N', time);
        key.writes(random);
    }
    if random.one_in(4) && key.is_marked {
        let time = random.pick(SOONER);
        key.flag(b'R', time);
    }
    key.harmless(random);
    Unit::new(key.line(random, b"mg", b""))
}

fn set(random: &mut Random, key: impl FnOnce(&mut Random) -> Key) -> Unit {
    let mut key = key(random);
    let value = if random.one_in(3) {
        let len = random.below(3000);
        random.bytes(len)
    } else {
        random.pick(NUMBERS).to_vec()
    };
    key.writes(random);
    key.compares(random);
    key.shows_version(random);
    if random.one_in(3) {
        let times = if random.one_in(4) { EXPIRED } else { TIMES };
        let time = random.pick(times);
        key.flag(b'T', time);
    }
    if random.one_in(3) {
        let flags = random.pick(CLIENT_FLAGS);
        key.flag(b'F', flags);
    }
    if random.one_in(3) {
        let mode = random.pick(SET_MODES);
        key.flag(b'M', mode);
        if random.one_in(3) {
            let time = random.pick(TIMES);
            key.flag(b'N', time);
        }
    }
    if random.one_in(4) && key.is_marked {
        key.flag(b'I', b"");
    }
    key.harmless(random);
    let len = [b" ", value.len().to_string().as_bytes()].concat();
    let line = key.line(random, b"ms", &len);
    Unit::with_body(line, [&value[..], b"\r\n"].concat())
}

fn delete(random: &mut Random, key: impl FnOnce(&mut Random) -> Key) -> Unit {
    let mut key = key(random);
    key.compares(random);
    if random.one_in(2) && key.is_marked {
        key.flag(b'I', b"");
        if random.one_in(2) {
            let time = random.pick(TIMES);
            key.flag(b'T', time);
        }
    }
    if random.one_in(4) {
        key.flag(b'x', b"");
    }
    key.writes(random);
    key.harmless(random);
    Unit::new(key.line(random, b"md", b""))
}

fn arith(random: &mut Random, key: impl FnOnce(&mut Random) -> Key) -> Unit {
    let mut key = key(random);
    key.writes(random);
    key.compares(random);
    key.shows_version(random);
    for (letter, words) in [(b'D', DELTAS), (b'J', DELTAS), (b'N', TIMES), (b'M', ARITH_MODES)] {
        if random.one_in(3) {
            let word = random.pick(words);
            key.flag(letter, word);
        }
    }
    for flag in [b'v', b't'] {
        if random.one_in(2) {
            key.flag(flag, b"");
        }
    }
    // memcached forgets the time of a number that gets longer.
    if random.one_in(4) && !key.is_shared {
        let time = random.pick(TIMES);
        key.flag(b'T', time);
    }
    key.harmless(random);
    if key.is_shared {
        return Unit::new(key.line(random, b"ma", b""));
    }
    // memcached forgets the marks of a number that gets longer, so no other command sees it.
    let encoded: &[u8] = if key.flags.iter().any(|flag| flag == b"b") { b" b" } else { b"" };
    let removal = [b"md ", key.bytes, b" q", encoded, b"\r\n"].concat();
    Unit::new(key.line(random, b"ma", b"")).and_lines(&removal)
}

/// A command of the text protocol on a key of these, one that makes no number.
fn with_classic(random: &mut Random) -> Unit {
    let key = *random.pick(&[&NUMBERED[0], &NUMBERED[1], &NUMBERED[3], &PLAIN[0]]);
    let line: [&[u8]; 3] = match random.below(4) {
        0 => [b"get ", key, b"\r\n"],
        1 => [b"delete ", key, b"\r\n"],
        2 => [b"touch ", key, b" 0\r\n"],
        _ => [b"gat 100000 ", key, b"\r\n"],
    };
    Unit::new(line.concat())
}

/// A line with something wrong in it; the body of a refused `ms` is there.
fn wrong(random: &mut Random) -> Unit {
    let mut key = Key::any(random);
    let name = *random.pick(&[&b"mg", &b"ms", &b"md", &b"ma"]);
    if name == b"ms" && random.one_in(4) {
        let words = [&b" "[..], random.pick(LENGTHS)].concat();
        return Unit::new(key.line(random, name, &words));
    }
    let wrong = random.pick(WRONG);
    // `b` of a key that is none, of one that is not in its pool; a number of its own keeps it comparable.
    if wrong == b"b" {
        key.bytes = random.pick(NO_BASE64);
        key.flags.clear();
    }
    key.writes(random);
    key.flags.push(wrong.to_vec());
    let words: &[u8] = if name == b"ms" { b" 1" } else { b"" };
    let line = key.line(random, name, words);
    if name == b"ms" { Unit::with_body(line, b"1\r\n".to_vec()) } else { Unit::new(line) }
}
