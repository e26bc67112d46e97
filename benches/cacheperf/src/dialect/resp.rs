// SPDX-License-Identifier: Apache-2.0
//! Redis's protocol, in both versions.

use super::{Dialect, Op, Piece, Unreadable};
use protocol_resp::client::{Encoder, Reply, parse};

/// RESP, with `HELLO 3` first for version 3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resp {
    /// Version 3, not 2.
    pub(crate) three: bool,
}

impl Dialect for Resp {
    fn greet(&self, out: &mut Vec<u8>) -> bool {
        if self.three {
            Encoder::new(out).request(["HELLO", "3"]);
        }
        self.three
    }

    #[inline]
    fn get(&self, out: &mut Vec<u8>, keys: &[&[u8]]) {
        let mut encoder = Encoder::new(out);
        encoder.begin(1 + keys.len());
        encoder.arg(if keys.len() == 1 { b"GET" } else { b"MGET" });
        keys.iter().for_each(|key| encoder.arg(key));
    }

    #[inline]
    fn set(
        &self,
        out: &mut Vec<u8>,
        key: &[u8],
        ttl_s: u32,
        len: usize,
        value: impl FnOnce(&mut Vec<u8>),
    ) {
        let mut encoder = Encoder::new(out);
        encoder.begin(if ttl_s > 0 { 5 } else { 3 });
        encoder.arg(b"SET");
        encoder.arg(key);
        encoder.arg_with(len, value);
        if ttl_s > 0 {
            encoder.arg(b"EX");
            encoder.number(ttl_s.into());
        }
    }

    #[inline]
    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        let mut encoder = Encoder::new(out);
        encoder.begin(2);
        encoder.arg(b"DEL");
        encoder.arg(key);
    }

    #[inline]
    fn ping(&self, out: &mut Vec<u8>) {
        let mut encoder = Encoder::new(out);
        encoder.begin(1);
        encoder.arg(b"PING");
    }

    #[inline]
    fn read<'a>(&self, op: Op, input: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, Unreadable> {
        let Some((reply, len)) = parse(input).map_err(|_| Unreadable)? else { return Ok(None) };
        let piece = match (op, reply) {
            (Op::Get, Reply::Bulk(value)) => Piece::Value { key: None, value, last: true },
            (Op::Get, Reply::Null) => Piece::End,
            (Op::GetMany, Reply::Array(values)) => Piece::Values(values),
            (Op::Set, Reply::Simple(b"OK")) | (Op::Ping, Reply::Simple(b"PONG")) => Piece::Done,
            (Op::Delete, Reply::Integer(1)) => Piece::Done,
            (Op::Delete, Reply::Integer(0)) => Piece::NotFound,
            (Op::Greeting, Reply::Map(_)) => Piece::Done,
            (_, Reply::Error(why)) => Piece::Refused { why, last: true },
            _ => return Err(Unreadable),
        };
        Ok(Some((piece, len)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Resp = Resp { three: false };

    #[test]
    fn requests_are_redis_ones() {
        let mut out = Vec::new();
        assert!(!TWO.greet(&mut out));
        TWO.get(&mut out, &[b"a"]);
        TWO.set(&mut out, b"b", 9, 1, |out| out.push(b'v'));
        TWO.delete(&mut out, b"c");
        TWO.ping(&mut out);
        let expected = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n\
                        *5\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\nv\r\n$2\r\nEX\r\n$1\r\n9\r\n\
                        *2\r\n$3\r\nDEL\r\n$1\r\nc\r\n*1\r\n$4\r\nPING\r\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
        assert!(Resp { three: true }.greet(&mut out));
    }

    #[test]
    fn replies_must_fit_their_requests() {
        let value = Piece::Value { key: None, value: b"v", last: true };
        assert_eq!(TWO.read(Op::Get, b"$1\r\nv\r\n"), Ok(Some((value, 7))));
        assert_eq!(TWO.read(Op::Get, b"$-1\r\n"), Ok(Some((Piece::End, 5))));
        assert_eq!(TWO.read(Op::Get, b"_\r\n"), Ok(Some((Piece::End, 3))));
        let refused = Piece::Refused { why: b"OOM", last: true };
        assert_eq!(TWO.read(Op::Set, b"-OOM\r\n"), Ok(Some((refused, 6))));
        assert_eq!(TWO.read(Op::Set, b":1\r\n"), Err(Unreadable));
        assert!(matches!(
            TWO.read(Op::GetMany, b"*2\r\n$1\r\nv\r\n$-1\r\n"),
            Ok(Some((Piece::Values(items), 16))) if items.len() == 2
        ));
    }
}
