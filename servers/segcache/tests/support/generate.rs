// SPDX-License-Identifier: Apache-2.0
//! Makes commands: valid ones, and ones that are wrong in every way.
//!
//! What a unit holds is complete in itself: whatever its line says about a body, the bytes are there,
//! so that no server waits for more and none takes the commands behind it for the body.

use crate::support::meta;
use crate::support::unit::Unit;
use crate::support::words::{
    BAD_CASES, BAD_EXPTIMES, BAD_FLAGS, CASES, COUNTS, DELTAS, EXPTIMES, FLAGS, LENGTHS, LEVELS,
    NAMES, NUL_KEY, NUMBERS, ODD_EXPTIMES, ODD_FLAGS, SUMS, TOPICS, UNKNOWN, keys,
};
use test_support::random::Random;

/// Both servers' limit.
const VALUE_MAX: usize = 1 << 20;

/// The key of the largest values.
const BIG: &[u8] = b"big";

/// The generator.
#[derive(Debug)]
pub(crate) struct Generator {
    random: Random,
    keys: Vec<Vec<u8>>,
    /// The first so many are those whose numbers are changed.
    counted: usize,
    /// Keys that others write, read before a flush is delayed.
    others: Vec<Vec<u8>>,
}

/// Words of a line, and the bytes behind it.
struct Line {
    words: Vec<Vec<u8>>,
    body: Option<Vec<u8>>,
    /// Its length is sound, or it has none: no body is parsed as lines.
    is_sound: bool,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        let keys = keys();
        Generator { random: Random::new(seed), counted: keys.len(), keys, others: Vec::new() }
    }

    /// A generator beside others, which write `others` and keys of its own: it counts in the first few alone.
    pub(crate) fn beside(seed: u64, counted: usize, others: Vec<Vec<u8>>) -> Self {
        Generator { counted, others, ..Generator::new(seed) }
    }

    /// `count` units.
    pub(crate) fn units(&mut self, count: usize) -> Vec<Unit> {
        let mut units = Vec::with_capacity(count + 1);
        while units.len() < count {
            self.append(&mut units);
        }
        units.truncate(count);
        units
    }

    /// Appends a unit or two, or none.
    pub(crate) fn append(&mut self, units: &mut Vec<Unit>) {
        match self.random.below(1000) {
            0..3 => units.push(self.closing()),
            3..5 => units.push(self.large()),
            5..15 => {
                units.push(Unit::new([b"get ", NUL_KEY, b" bin\0key\r\n"].concat()));
                let flush = self.delayed_flush();
                units.push(flush);
            }
            15..25 => units.push(self.many_keys()),
            25..105 => self.compare_and_swap(units),
            105..205 => units.push(self.spoilt_line()),
            205..255 => units.push(self.spoilt_body()),
            255..270 => units.push(self.unknown()),
            270..280 => units.push(Unit::with_body(Vec::new(), self.random.pick(SUMS).to_vec())),
            280..290 => units.push(self.short()),
            290..500 => units.push(meta::unit(&mut self.random)),
            _ => {
                let line = self.line();
                units.push(self.written(&line));
            }
        }
        if let Some(last) = units.last_mut() {
            last.ends_batch |= self.random.one_in(16);
            // memcached answers with an empty line, `segcache` with an error; and the keys before were read there, which
            // meta commands tell.
            let is_other = last.wants_no_reply() || !self.others.is_empty();
            if last.reads() && last.has_long_key() && is_other {
                units.pop();
                return;
            }
            // memcached then drops replies to other commands that are not sent yet.
            last.starts_batch |= last.reads() && last.has_long_key();
        }
    }

    fn key(&mut self) -> Vec<u8> {
        if self.random.one_in(60) {
            return NUL_KEY.to_vec();
        }
        // The first few interact; the rest are odd.
        let end = if self.random.one_in(8) { self.keys.len() } else { 6 };
        self.keys[self.random.below(end)].clone()
    }

    fn counted_key(&mut self) -> Vec<u8> {
        let key = self.key();
        let is_counted = self.keys[..self.counted].contains(&key);
        if is_counted { key } else { self.keys[self.random.below(self.counted)].clone() }
    }

    /// A key of a large value. memcached refuses to count in one of more than 512 KiB before it compares CAS numbers.
    fn key_of_large(&mut self) -> Vec<u8> {
        let key = self.key();
        let is_counted = !self.others.is_empty() && self.keys[..self.counted].contains(&key);
        if is_counted { self.keys[self.counted].clone() } else { key }
    }

    /// A value that a valid command stores.
    fn value(&mut self) -> Vec<u8> {
        match self.random.below(12) {
            0..5 => self.random.pick(NUMBERS).to_vec(),
            5 => Vec::new(),
            6 => b"with\r\nline\nends\r\n".to_vec(),
            7 => b"get k1\r\nEND".to_vec(),
            8 => {
                let len = self.random.below(20_000);
                self.random.bytes(len)
            }
            _ => {
                let len = self.random.below(64);
                let bytes = self.random.bytes(len);
                // memcached reads on behind white space, into what its memory held before.
                let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
                if bytes.iter().all(is_space) { b"x".to_vec() } else { bytes }
            }
        }
    }

    /// The words of a valid command.
    fn line(&mut self) -> Line {
        let name = self.random.pick(NAMES);
        let mut words = vec![name.to_vec()];
        let mut body = None;
        match name {
            b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => {
                let value = self.value();
                words.push(self.key());
                words.push(self.random.pick(FLAGS).to_vec());
                words.push(self.exptime());
                words.push(value.len().to_string().into_bytes());
                if name == b"cas" {
                    words.push(self.random.pick(CASES).to_vec());
                }
                body = Some(value);
            }
            b"get" | b"gets" | b"gat" | b"gats" => {
                if name.starts_with(b"gat") {
                    words.push(self.exptime());
                }
                let most = *self.random.pick(&[&1, &1, &2, &6]);
                let count = 1 + self.random.below(most);
                words.extend((0..count).map(|_| self.key()));
            }
            b"delete" => words.push(self.key()),
            b"incr" | b"decr" => {
                words.push(self.counted_key());
                words.push(self.random.pick(&DELTAS[..4]).to_vec());
            }
            b"touch" => {
                words.push(self.key());
                words.push(self.exptime());
            }
            b"verbosity" => words.push(self.random.pick(LEVELS).to_vec()),
            b"stats" => words.push(self.random.pick(TOPICS).to_vec()),
            _ => {}
        }
        if self.random.one_in(10) {
            words.push(b"noreply".to_vec());
        }
        Line { words, body, is_sound: true }
    }

    fn exptime(&mut self) -> Vec<u8> {
        match self.random.below(6) {
            0 => self.random.pick(&EXPTIMES[..10]).to_vec(),
            1 => b"100000".to_vec(),
            _ => b"0".to_vec(),
        }
    }

    /// The bytes of a line: mostly as all clients write it.
    fn written(&mut self, line: &Line) -> Unit {
        let mut bytes = Vec::new();
        let odd = self.random.one_in(12);
        for (index, word) in line.words.iter().enumerate() {
            let least = usize::from(index > 0);
            // Indented, a line announces no body: values would be parsed.
            let is_odd = odd && (index > 0 || line.body.is_none());
            let spaces = if is_odd { least + self.random.below(3) } else { least };
            bytes.resize(bytes.len() + spaces, b' ');
            bytes.extend_from_slice(word);
        }
        if odd {
            bytes.resize(bytes.len() + self.random.below(3), b' ');
        }
        bytes.extend_from_slice(if self.random.one_in(12) { b"\n" } else { b"\r\n" });
        match &line.body {
            Some(body) if line.is_sound => Unit::with_body(bytes, [body, &b"\r\n"[..]].concat()),
            Some(body) => Unit::new(bytes).and_lines(&[body, &b"\r\n"[..]].concat()),
            None => Unit::new(bytes),
        }
    }

    /// A line that is too short to be one.
    fn short(&mut self) -> Unit {
        let byte = |random: &mut Random| *random.pick(&[&b'a', &b' ', &b'\t', &0, &b'0', &b'\r']);
        let len = self.random.below(4);
        let mut bytes: Vec<u8> = (0..len).map(|_| byte(&mut self.random)).collect();
        bytes.extend_from_slice(self.random.pick(&[&b"\r\n"[..], b"\n"]));
        Unit::new(bytes)
    }

    /// A line with something wrong in it.
    fn spoilt_line(&mut self) -> Unit {
        let mut line = self.line();
        if line.body.is_some() {
            return self.spoilt_write(line);
        }
        for _ in 0..1 + self.random.below(2) {
            self.spoil(&mut line);
        }
        self.written(&line)
    }

    /// A storage command with something wrong in its line.
    ///
    /// What can be read of the length decides what becomes of the body. It stays what it is unless
    /// it is the fault, so that no server waits for a body that does not come.
    fn spoilt_write(&mut self, mut line: Line) -> Unit {
        // Parsed as a command where the length is the fault: short and harmless.
        let body = self.random.pick(&[&b"get k2"[..], b"12345", b"", b"bad\r\nbody"]).to_vec();
        line.words[4] = body.len().to_string().into_bytes();
        let fault = self.random.below(8);
        line.is_sound = fault > 3;
        match fault {
            // Not a storage command any more: its body is parsed by both.
            0 => line.words[0].make_ascii_uppercase(),
            1 => line.words[0] = self.random.pick(UNKNOWN).to_vec(),
            2 => line.words[4] = self.length(body.len()),
            // Too few words to have a length.
            3 => line.words.truncate(1 + self.random.below(4)),
            // More words than it takes.
            4 => {
                let most = *self.random.pick(&[&1, &3, &30]);
                for _ in 0..1 + self.random.below(most) {
                    let word = self.random.pick(&[&b"noreply"[..], b"0", b"x", b"NOREPLY"]);
                    line.words.push(word.to_vec());
                }
            }
            // In the other places a word is odd and may be valid: the body is the value then.
            5 => {
                let at = 2 + self.random.below(2);
                let odd = if at == 2 { ODD_FLAGS } else { ODD_EXPTIMES };
                line.words[at] = self.random.pick(odd).to_vec();
            }
            _ => return self.refused(line, &body),
        }
        line.body = Some(body);
        self.written(&line)
    }

    /// A storage command that is refused although its length is sound.
    fn refused(&mut self, mut line: Line, body: &[u8]) -> Unit {
        match self.random.below(if line.words[0] == b"cas" { 5 } else { 3 }) {
            0 => line.words[1] = self.random.pick(&[&[b'L'; 251][..], &[b'M'; 300]]).to_vec(),
            1 => line.words[2] = self.random.pick(BAD_FLAGS).to_vec(),
            2 => line.words[3] = self.random.pick(BAD_EXPTIMES).to_vec(),
            // Without `noreply`, which would be a bad number, too.
            _ => {
                line.words.truncate(5);
                line.words.push(self.random.pick(BAD_CASES).to_vec());
            }
        }
        line.body = None;
        let body = [body, b"\r\n"].concat();
        self.written(&line).dropping(body)
    }

    fn spoil(&mut self, line: &mut Line) {
        let at = self.random.below(line.words.len());
        match self.random.below(8) {
            // Without its name a line could be a command that only memcached has: `slabs`.
            0 if at > 0 => drop(line.words.remove(at)),
            // Not before the key, which may be a number, and what is behind it too.
            1 => line.words.insert(if at == 1 { 2 } else { at }, b"noreply".to_vec()),
            2 => line
                .words
                .push(self.random.pick(&[&b"noreply"[..], b"0", b"x", b"NOREPLY"]).to_vec()),
            3 => line.words[0].make_ascii_uppercase(),
            4 => {
                let more = self.random.pick(&[&1, &3, &30]);
                line.words.extend((0..*more).map(|_| b"more".to_vec()));
            }
            _ => self.replace_word(line, at),
        }
    }

    /// Puts something odd in place of a word, as fits its place.
    fn replace_word(&mut self, line: &mut Line, at: usize) {
        let name = line.words[0].clone();
        let word = match (name.as_slice(), at) {
            (_, 0) => self.random.pick(UNKNOWN).to_vec(),
            (b"gat" | b"gats" | b"flush_all", 1) | (b"touch", 2) => {
                self.random.pick(EXPTIMES).to_vec()
            }
            (b"incr" | b"decr", 2) => self.random.pick(DELTAS).to_vec(),
            (b"verbosity", 1) => self.random.pick(COUNTS).to_vec(),
            (_, 1) => self.random.pick(&[&[b'L'; 251][..], &[b'M'; 300], b"-1"]).to_vec(),
            _ => b"odd".to_vec(),
        };
        line.words[at] = word;
    }

    /// Something odd in place of the length `len`: refused, or `len` in another way of writing.
    fn length(&mut self, len: usize) -> Vec<u8> {
        match self.random.below(6) {
            0 => format!("+{len}").into_bytes(),
            1 => format!("000{len}").into_bytes(),
            2 => format!("{len:011}").into_bytes(),
            3 => format!("{len:012}").into_bytes(),
            _ => self.random.pick(LENGTHS).to_vec(),
        }
    }

    /// A storage command whose body does not end where its line says.
    fn spoilt_body(&mut self) -> Unit {
        let key = self.key();
        let name = self.random.pick(&[&b"set"[..], b"add", b"replace", b"append", b"prepend"]);
        let len = self.random.below(30);
        let mut body = self.random.bytes(len + 2);
        // What is left over is a line of its own.
        body.retain(|&byte| byte > b' ');
        body.resize(len + 2, b'.');
        if self.random.one_in(2) {
            body[len] = b'\r';
        }
        let noreply = if self.random.one_in(4) { " noreply" } else { "" };
        let rest = self.random.pick(&[&b""[..], b"\r\n", b"\n", b"rest\r\n", b"get k1\r\n"]);
        let mut bytes = name.to_vec();
        bytes.push(b' ');
        bytes.extend_from_slice(&key);
        bytes.extend_from_slice(format!(" 0 0 {len}{noreply}\r\n").as_bytes());
        Unit::with_body(bytes, body).and_lines(rest)
    }

    /// Reads a CAS number, and later writes with it.
    fn compare_and_swap(&mut self, units: &mut Vec<Unit>) {
        let mut key = self.key();
        if key == NUL_KEY {
            key = self.keys[0].clone();
        }
        let mut read = if self.random.one_in(3) { b"gats 0 ".to_vec() } else { b"gets ".to_vec() };
        read.extend_from_slice(&key);
        read.extend_from_slice(b"\r\n");
        let mut read = Unit::new(read);
        read.ends_batch = true;
        units.push(read);
        if self.random.one_in(3) {
            let line = self.line();
            units.push(self.written(&line));
        }
        let value = self.value();
        let mut head = b"cas ".to_vec();
        head.extend_from_slice(&key);
        head.extend_from_slice(format!(" 9 0 {} ", value.len()).as_bytes());
        let noreply = if self.random.one_in(8) { " noreply" } else { "" };
        let mut tail = format!("{noreply}\r\n").into_bytes();
        tail.extend_from_slice(&value);
        tail.extend_from_slice(b"\r\n");
        let stale = self.random.one_in(4);
        units.push(Unit::with_cas(head, key, stale, tail));
    }

    /// One line with up to 200 keys.
    fn many_keys(&mut self) -> Unit {
        let mut bytes = self.random.pick(&[&b"get"[..], b"gets"]).to_vec();
        for _ in 0..1 + self.random.below(200) {
            bytes.push(b' ');
            bytes.extend_from_slice(&self.key());
        }
        if self.random.one_in(10) {
            bytes.push(b' ');
            bytes.resize(bytes.len() + 251, b'L');
        }
        bytes.extend_from_slice(b"\r\n");
        Unit::new(bytes)
    }

    /// Reads everything, then sets, moves or cancels a flush that comes long after the test. memcached
    /// forgets a flush that took place with that, and shows again what it had not yet missed.
    fn delayed_flush(&mut self) -> Unit {
        let mut bytes = Vec::new();
        if self.random.one_in(3) {
            bytes.extend_from_slice(b"flush_all");
        } else {
            bytes.extend_from_slice(b"get big n ");
            bytes.extend_from_slice(&[&self.keys[..], &self.others].concat().join(&b' '));
            bytes.extend_from_slice(b"\r\nflush_all ");
            bytes.extend_from_slice(self.random.pick(EXPTIMES));
        }
        if self.random.one_in(4) {
            bytes.extend_from_slice(b" noreply");
        }
        bytes.extend_from_slice(b"\r\n");
        Unit::new(bytes)
    }

    /// A value around the limit and above, with its body.
    ///
    /// Key, flags and a header count too, so what is just below the limit is stored or refused.
    fn large(&mut self) -> Unit {
        let name = self.random.pick(&[&b"set"[..], b"add", b"replace", b"append", b"prepend"]);
        let (key, len) = match name {
            b"append" | b"prepend" => {
                (self.key_of_large(), *self.random.pick(&[&100_000, &450_000]))
            }
            _ => match self.random.below(8) {
                0 => (self.key_of_large(), 450_000),
                1 => (self.key_of_large(), 600_000),
                2..5 => (BIG.to_vec(), VALUE_MAX - self.random.below(400)),
                5 => (BIG.to_vec(), VALUE_MAX + 1),
                6 => (self.key_of_large(), VALUE_MAX + 1),
                _ => (self.key_of_large(), VALUE_MAX + 1 + self.random.below(100_000)),
            },
        };
        let noreply = if self.random.one_in(4) { " noreply" } else { "" };
        let mut bytes = name.to_vec();
        bytes.push(b' ');
        bytes.extend_from_slice(&key);
        bytes.extend_from_slice(format!(" 1 0 {len}{noreply}\r\n").as_bytes());
        let mut body = vec![b"0.x\xff"[self.random.below(4)]; len];
        let is_longer = self.random.one_in(4);
        body.extend_from_slice(if is_longer { b"xx" } else { b"\r\n" });
        let unit = Unit::with_body(bytes, body);
        let unit = if is_longer { unit.and_lines(b"\r\n") } else { unit };
        unit.and_lines(self.random.pick(&[&b""[..], b"get big\r\n", b"delete big\r\n"]))
    }

    fn unknown(&mut self) -> Unit {
        let mut bytes = match self.random.below(8) {
            0 => Vec::new(),
            _ => self.random.pick(UNKNOWN).to_vec(),
        };
        let rest = self.random.pick(&[
            &b"\r\n"[..],
            b"\n",
            b" k0\r\n",
            b" k0 0 0 2\r\n",
            b" k0 noreply\r\n",
            b" noreply\r\n",
        ]);
        bytes.extend_from_slice(rest);
        Unit::new(bytes)
    }

    /// Something that closes the connection.
    fn closing(&mut self) -> Unit {
        let bytes = match self.random.below(8) {
            0 => vec![b'x'; 40_000],
            1 => b"set ".iter().copied().chain([b'k'; 40_000]).collect(),
            2 => b"GET / HTTP/1.1\r\n".to_vec(),
            3 => b"POST /x HTTP/1.0\n".to_vec(),
            4 => b"  get k0 HTTP/1.1 \r\n".to_vec(),
            5 => b"setx HTTP/\r\n".to_vec(),
            _ => self.random.pick(&[&b"quit\r\n"[..], b"quit\n", b"quit now\r\n"]).to_vec(),
        };
        // All but quit may drop replies that are not sent yet.
        let starts_batch = !bytes.starts_with(b"quit");
        let mut unit = Unit::new(bytes);
        (unit.closes, unit.starts_batch, unit.ends_batch) = (true, starts_batch, true);
        unit
    }
}
