// SPDX-License-Identifier: Apache-2.0
//! Makes commands: valid ones, and ones that are wrong in every way.

use crate::resp_support::words::{
    DELTAS, FLOATS, KEYS, NONSENSE, NUMBERS, OFFSETS, PATTERNS, TEXTS, TIMES, UNKNOWN,
};
use std::time::{SystemTime, UNIX_EPOCH};
use test_support::random::Random;

/// What is sent as a whole.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    /// A command, and how its reply is compared.
    Command(Vec<Vec<u8>>, Compared),
    /// A walk over all keys with these options.
    Walk(Vec<Vec<u8>>),
}

/// How replies are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    Exactly,
    /// As a set of elements.
    Unordered,
    /// As a number that may be off by so much.
    Nearly(u64),
    /// By its type.
    ByType,
}

/// The generator.
#[derive(Debug)]
pub(crate) struct Generator {
    random: Random,
    /// The time from which points in time are chosen, in unix seconds.
    now_s: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Generator { random: Random::new(seed), now_s: since.as_secs() }
    }

    /// `count` units.
    pub(crate) fn units(&mut self, count: usize) -> Vec<Unit> {
        (0..count).map(|_| self.unit()).collect()
    }

    fn unit(&mut self) -> Unit {
        match self.random.below(1000) {
            0..5 => Unit::Walk(self.walk_options()),
            5..15 => self.unknown(),
            15..95 => {
                let Unit::Command(words, _) = self.command() else { unreachable!("a command") };
                self.spoilt(words)
            }
            _ => self.command(),
        }
    }

    fn pick(&mut self, from: &[&[u8]]) -> Vec<u8> {
        self.random.pick(from).to_vec()
    }

    fn key(&mut self) -> Vec<u8> {
        let end = if self.random.one_in(8) { KEYS.len() } else { 6 };
        KEYS[self.random.below(end)].to_vec()
    }

    fn value(&mut self) -> Vec<u8> {
        match self.random.below(40) {
            0..18 => self.pick(NUMBERS),
            18..24 => self.pick(FLOATS),
            24..34 => self.pick(TEXTS),
            34..39 => {
                let len = self.random.below(300);
                self.random.bytes(len)
            }
            _ => {
                let len = self.random.below(80_000);
                self.random.bytes(len)
            }
        }
    }

    /// A command with the least arguments that make sense, and sometimes more.
    fn command(&mut self) -> Unit {
        use Compared::Exactly;
        let words = match self.random.below(100) {
            0..14 => vec![self.named("get"), self.key()],
            14..24 => self.set(),
            24..36 => self.number(),
            36..50 => self.part(),
            50..62 => self.other_value(),
            62..74 => self.several(),
            74..90 => return self.expiry(),
            90..97 => self.odd(),
            _ => return self.keyspace(),
        };
        Unit::Command(words, Exactly)
    }

    /// A name in any case.
    fn named(&mut self, name: &str) -> Vec<u8> {
        match self.random.below(3) {
            0 => name.to_uppercase().into_bytes(),
            _ => name.as_bytes().to_vec(),
        }
    }

    fn set(&mut self) -> Vec<Vec<u8>> {
        let mut words = vec![self.named("set"), self.key(), self.value()];
        for _ in 0..[0, 0, 1, 1, 2, 3][self.random.below(6)] {
            match self.random.below(12) {
                0..2 => words.push(self.named("nx")),
                2..4 => words.push(self.named("xx")),
                4..6 => words.push(self.named("get")),
                6..8 => words.push(self.named("keepttl")),
                8 => words.push(self.pick(NONSENSE)),
                _ => {
                    let unit = self.random.below(4);
                    words.push(self.named(["ex", "px", "exat", "pxat"][unit]));
                    words.push(self.time(unit));
                }
            }
        }
        words
    }

    /// A number for the unit `EX`, `PX`, `EXAT` or `PXAT`, by its index: mostly some time ahead.
    fn time(&mut self, unit: usize) -> Vec<u8> {
        if self.random.one_in(6) {
            return self.pick(TIMES);
        }
        let seconds = 1000 + self.random.below(100_000_000) as u64;
        let past = self.random.one_in(16);
        let number = match unit {
            0 => seconds,
            1 => seconds * 1000 + seconds % 1000,
            2 if past => 1 + seconds % 1000,
            2 => self.now_s + seconds,
            _ if past => 1 + seconds,
            _ => (self.now_s + seconds) * 1000 + seconds % 1000,
        };
        number.to_string().into_bytes()
    }

    fn number(&mut self) -> Vec<Vec<u8>> {
        let key = self.key();
        match self.random.below(6) {
            0 => vec![self.named("incr"), key],
            1 => vec![self.named("decr"), key],
            2 => vec![self.named("incrby"), key, self.pick(DELTAS)],
            3 => vec![self.named("decrby"), key, self.pick(DELTAS)],
            4 => vec![self.named("incrbyfloat"), key, self.pick(FLOATS)],
            // Gives the others something to work on.
            _ => vec![self.named("set"), key, self.pick(NUMBERS)],
        }
    }

    fn part(&mut self) -> Vec<Vec<u8>> {
        let key = self.key();
        match self.random.below(6) {
            0 => vec![self.named("append"), key, self.value()],
            1 => vec![self.named("strlen"), key],
            2 => vec![self.named("substr"), key, self.pick(OFFSETS), self.pick(OFFSETS)],
            3 => vec![self.named("setrange"), key, self.pick(OFFSETS), self.value()],
            // Keeps values from growing without end.
            4 => vec![self.named("set"), key, self.pick(TEXTS)],
            _ => vec![self.named("getrange"), key, self.pick(OFFSETS), self.pick(OFFSETS)],
        }
    }

    fn other_value(&mut self) -> Vec<Vec<u8>> {
        let key = self.key();
        match self.random.below(7) {
            0 => vec![self.named("setnx"), key, self.value()],
            1 => vec![self.named("getset"), key, self.value()],
            2 => vec![self.named("getdel"), key],
            3 => vec![self.named("setex"), key, self.time(0), self.value()],
            4 => vec![self.named("psetex"), key, self.time(1), self.value()],
            5 => vec![self.named("type"), key],
            _ => {
                let mut words = vec![self.named("getex"), key];
                match self.random.below(3) {
                    0 => {}
                    1 => words.push(self.named("persist")),
                    _ => {
                        let unit = self.random.below(4);
                        words.push(self.named(["ex", "px", "exat", "pxat"][unit]));
                        words.push(self.time(unit));
                    }
                }
                words
            }
        }
    }

    fn several(&mut self) -> Vec<Vec<u8>> {
        let most = if self.random.one_in(16) { 80 } else { 4 };
        let count = 1 + self.random.below(most);
        let name =
            ["mget", "mset", "del", "unlink", "exists", "touch", "msetnx"][self.random.below(7)];
        let mut words = vec![self.named(name)];
        match name {
            "mset" => {
                for _ in 0..count {
                    words.extend([self.key(), self.value()]);
                }
            }
            "msetnx" => words.extend([self.key(), self.value()]),
            _ => words.extend((0..count).map(|_| self.key())),
        }
        words
    }

    fn expiry(&mut self) -> Unit {
        use Compared::{Exactly, Nearly};
        let key = self.key();
        let unit = self.random.below(4);
        match self.random.below(7) {
            0 => Unit::Command(vec![self.named("ttl"), key], Nearly(2)),
            1 => Unit::Command(vec![self.named("pttl"), key], Nearly(2000)),
            2 => Unit::Command(vec![self.named("expiretime"), key], Nearly(2)),
            3 => Unit::Command(vec![self.named("pexpiretime"), key], Nearly(2000)),
            4 => Unit::Command(vec![self.named("persist"), key], Exactly),
            _ => {
                let name = ["expire", "pexpire", "expireat", "pexpireat"][unit];
                let mut words = vec![self.named(name), key, self.time(unit)];
                for _ in 0..[0, 0, 1, 2][self.random.below(4)] {
                    let option = ["nx", "xx", "gt", "lt", "foo"][self.random.below(5)];
                    words.push(self.named(option));
                }
                Unit::Command(words, Exactly)
            }
        }
    }

    /// Commands that touch no key, or fail.
    fn odd(&mut self) -> Vec<Vec<u8>> {
        match self.random.below(12) {
            0 => vec![self.named("ping")],
            1 => vec![self.named("ping"), self.value()],
            2 => vec![self.named("echo"), self.value()],
            3 => vec![self.named("select"), self.pick(&[b"0", b"x", b"-1", b"16", b"99999"])],
            4 => vec![self.named("client"), self.named("getname")],
            5 => {
                let name = self.pick(&[b"me", b"", b"a b", b"x\n", b"\xff"]);
                vec![self.named("client"), self.named("setname"), name]
            }
            6 => vec![self.named("auth"), self.value()],
            7 => vec![self.named("auth"), self.pick(&[b"default", b"nobody"]), self.value()],
            8 => vec![self.named("client"), self.pick(UNKNOWN)],
            9 => vec![self.named("client"), self.named("no-evict"), self.pick(&[b"on", b"x"])],
            10 => vec![self.named("client"), self.named("reply"), self.pick(&[b"on", b"x"])],
            _ => vec![self.named("mset"), self.key()],
        }
    }

    fn keyspace(&mut self) -> Unit {
        match self.random.below(6) {
            0 => Unit::Command(vec![self.named("dbsize")], Compared::ByType),
            1 | 2 => {
                let words = vec![self.named("keys"), self.pick(PATTERNS)];
                Unit::Command(words, Compared::Unordered)
            }
            3 => {
                let name = ["flushall", "flushdb"][self.random.below(2)];
                Unit::Command(vec![self.named(name)], Compared::Exactly)
            }
            4 => {
                let option = self.pick(&[b"async", b"SYNC", b"foo"]);
                Unit::Command(vec![self.named("flushall"), option], Compared::Exactly)
            }
            _ => {
                let mut words = vec![self.named("scan")];
                words.push(self.pick(&[b"x", b"18446744073709551616", b"1.5"]));
                words.extend(self.walk_options());
                Unit::Command(words, Compared::Exactly)
            }
        }
    }

    fn walk_options(&mut self) -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        if self.random.one_in(2) {
            words.extend([self.named("match"), self.pick(PATTERNS)]);
        }
        if self.random.one_in(2) {
            words.extend([self.named("count"), self.pick(&[b"1", b"10", b"1000"])]);
        }
        if self.random.one_in(4) {
            words.extend([self.named("type"), self.pick(&[b"string", b"hash", b"foo"])]);
        }
        words
    }

    fn unknown(&mut self) -> Unit {
        let mut words = vec![self.pick(UNKNOWN)];
        for _ in 0..self.random.below(5) {
            words.push(self.value());
        }
        Unit::Command(words, Compared::Exactly)
    }

    /// A command with a word too many, too few, or wrong.
    fn spoilt(&mut self, mut words: Vec<Vec<u8>>) -> Unit {
        let is_expiry_tell = words[0].to_ascii_lowercase().ends_with(b"ttl")
            || words[0].to_ascii_lowercase().ends_with(b"time");
        let name = words[0].to_ascii_lowercase();
        // MSETNX of several keys is refused here, and what lists keys in its order is compared above.
        let is_special = is_expiry_tell
            || [&b"msetnx"[..], b"keys", b"scan", b"dbsize"].contains(&name.as_slice());
        match self.random.below(3) {
            0 if !is_special => words.push(self.pick(NONSENSE)),
            1 if !is_special && words.len() > 2 => {
                let at = 2 + self.random.below(words.len() - 2);
                words[at] = self.pick(NONSENSE);
            }
            _ => words.truncate(1),
        }
        let compared = if words[0].eq_ignore_ascii_case(b"dbsize") {
            Compared::ByType
        } else {
            Compared::Exactly
        };
        Unit::Command(words, compared)
    }
}
