// SPDX-License-Identifier: Apache-2.0
//! [`Encoder`]: requests to bytes.

use crate::exptime::Exptime;
use crate::op::{Direction, Mode, Set};

/// Appends requests to a vector.
///
/// Keys are written unchecked: the caller must pass valid keys, of 1 to 250 bytes without spaces or
/// control characters.
#[derive(Debug)]
pub struct Encoder<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// An encoder that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Encoder { out }
    }

    /// `get <key>+`
    pub fn get(&mut self, keys: &[&[u8]]) {
        self.words("get", keys);
        self.end(false);
    }

    /// `gets <key>+`
    pub fn gets(&mut self, keys: &[&[u8]]) {
        self.words("gets", keys);
        self.end(false);
    }

    /// `gat <exptime> <key>+`
    pub fn gat(&mut self, exptime: Exptime, keys: &[&[u8]]) {
        self.words("gat", &[]);
        self.signed(exptime);
        self.words("", keys);
        self.end(false);
    }

    /// `gats <exptime> <key>+`
    pub fn gats(&mut self, exptime: Exptime, keys: &[&[u8]]) {
        self.words("gats", &[]);
        self.signed(exptime);
        self.words("", keys);
        self.end(false);
    }

    /// A storage command and its body.
    pub fn store(&mut self, set: &Set<'_>, quiet: bool) {
        let name = match set.mode {
            Mode::Set => "set",
            Mode::Add => "add",
            Mode::Replace => "replace",
            Mode::Append => "append",
            Mode::Prepend => "prepend",
            Mode::Cas => "cas",
        };
        self.words(name, &[set.key]);
        self.number(set.flags.into());
        self.signed(set.exptime);
        self.number(set.value.len() as u64);
        if set.mode == Mode::Cas {
            self.number(set.cas);
        }
        self.end(quiet);
        self.out.extend_from_slice(set.value);
        self.end(false);
    }

    /// `set <key> 0 0 <bytes>` and the body: no flags, no expiry.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        self.store(&Set::new(key, value), false);
    }

    /// `set <key> 0 <exptime> <bytes>` and the body of `len` bytes, which `write` appends: the
    /// value is generated in place, without a copy.
    ///
    /// # Panics
    ///
    /// In debug builds, when `write` appends another number of bytes.
    #[inline]
    pub fn set_with(
        &mut self,
        key: &[u8],
        exptime: Exptime,
        len: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.words("set", &[key]);
        self.number(0);
        self.signed(exptime);
        self.number(len as u64);
        self.end(false);
        let start = self.out.len();
        write(self.out);
        debug_assert_eq!(self.out.len() - start, len, "the body has the length that was announced");
        self.end(false);
    }

    /// `delete <key> [noreply]`
    pub fn delete(&mut self, key: &[u8], quiet: bool) {
        self.words("delete", &[key]);
        self.end(quiet);
    }

    /// `incr|decr <key> <delta> [noreply]`
    pub fn arith(&mut self, direction: Direction, key: &[u8], delta: u64, quiet: bool) {
        let name = match direction {
            Direction::Up => "incr",
            Direction::Down => "decr",
        };
        self.words(name, &[key]);
        self.number(delta);
        self.end(quiet);
    }

    /// `touch <key> <exptime> [noreply]`
    pub fn touch(&mut self, key: &[u8], exptime: Exptime, quiet: bool) {
        self.words("touch", &[key]);
        self.signed(exptime);
        self.end(quiet);
    }

    /// `flush_all [delay] [noreply]`
    pub fn flush_all(&mut self, delay: Option<Exptime>, quiet: bool) {
        self.words("flush_all", &[]);
        if let Some(delay) = delay {
            self.signed(delay);
        }
        self.end(quiet);
    }

    /// `stats [topic]`
    pub fn stats(&mut self, topic: Option<&str>) {
        self.words("stats", &[]);
        if let Some(topic) = topic {
            self.words("", &[topic.as_bytes()]);
        }
        self.end(false);
    }

    /// `version`
    pub fn version(&mut self) {
        self.words("version", &[]);
        self.end(false);
    }

    /// `quit`
    pub fn quit(&mut self) {
        self.words("quit", &[]);
        self.end(false);
    }

    fn words(&mut self, name: &str, words: &[&[u8]]) {
        self.out.extend_from_slice(name.as_bytes());
        for word in words {
            self.out.push(b' ');
            self.out.extend_from_slice(word);
        }
    }

    fn number(&mut self, number: u64) {
        self.out.push(b' ');
        let mut digits = itoa::Buffer::new();
        self.out.extend_from_slice(digits.format(number).as_bytes());
    }

    fn signed(&mut self, exptime: Exptime) {
        self.out.push(b' ');
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(exptime.0);
        self.out.extend_from_slice(digits.as_bytes());
    }

    fn end(&mut self, quiet: bool) {
        if quiet {
            self.out.extend_from_slice(b" noreply");
        }
        self.out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::CommandId;
    use crate::op::Arith;
    use crate::op::{Get, Op};
    use crate::parse::{Cursor, Memcache};
    use crate::reply::Text;
    use crate::request::Request;
    use protocol::{Parsed, Protocol};

    fn decode(wire: &[u8]) -> Vec<Request<'_>> {
        let mut cursor = Cursor::default();
        let mut requests = Vec::new();
        let mut at = 0;
        while at < wire.len() {
            match Memcache::new(1000).parse(&mut cursor, &wire[at..]) {
                Ok(Parsed::Request { request, consumed }) => {
                    requests.push(request);
                    at += consumed;
                }
                other => panic!("{other:?} in {}", wire[at..].escape_ascii()),
            }
        }
        requests
    }

    #[test]
    fn what_is_encoded_is_decoded_the_same() {
        let set = Set {
            key: b"key",
            value: b"value\r\n",
            cas: 0,
            flags: u32::MAX,
            exptime: Exptime(-1),
            mode: Mode::Append,
        };
        let cas = Set { cas: u64::MAX, mode: Mode::Cas, ..set };
        let mut wire = Vec::new();
        let mut encoder = Encoder::new(&mut wire);
        encoder.store(&set, true);
        encoder.store(&cas, false);
        encoder.gats(Exptime(7), &[b"key"]);
        encoder.arith(Direction::Down, b"key", u64::MAX, true);
        encoder.touch(b"key", Exptime(i32::MIN.into()), false);
        encoder.flush_all(Some(Exptime(3)), true);
        encoder.flush_all(None, false);
        encoder.stats(Some("items"));
        let key = &b"key"[..];
        let (whole, quiet) = (Text::Whole, Text::Quiet);
        let down = Op::Arith(Arith::new(key, u64::MAX, Direction::Down));
        let expected = [
            (CommandId::Append, Op::Set(set), quiet),
            (CommandId::Cas, Op::Set(cas), whole),
            (CommandId::Gats, Op::Get(Get { key, cas: true, touch: Some(Exptime(7)) }), whole),
            (CommandId::Decr, down, quiet),
            (CommandId::Touch, Op::Touch { key, exptime: Exptime(i32::MIN.into()) }, whole),
            (CommandId::FlushAll, Op::FlushAll { delay: Some(Exptime(3)) }, quiet),
            (CommandId::FlushAll, Op::FlushAll { delay: None }, whole),
            (CommandId::Stats, Op::Stats { topic: b"items" }, whole),
        ];
        let expected = expected.map(|(command, op, text)| Request::text(command, op, text));
        assert_eq!(decode(&wire), expected);
    }

    #[test]
    fn requests_look_as_in_the_book() {
        let mut wire = Vec::new();
        let mut encoder = Encoder::new(&mut wire);
        encoder.set(b"k", b"v");
        encoder.set_with(b"k", Exptime(9), 2, |out| out.extend_from_slice(b"vv"));
        encoder.gets(&[b"a", b"b"]);
        encoder.gat(Exptime(0), &[b"a", b"b"]);
        encoder.delete(b"k", true);
        encoder.version();
        encoder.stats(None);
        encoder.quit();
        let expected = "set k 0 0 1\r\nv\r\nset k 0 9 2\r\nvv\r\ngets a b\r\ngat 0 a b\r\ndelete k noreply\r\n\
                        version\r\nstats\r\nquit\r\n";
        assert_eq!(String::from_utf8_lossy(&wire), expected);
    }
}
