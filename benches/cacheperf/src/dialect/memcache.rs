// SPDX-License-Identifier: Apache-2.0
//! memcache's classic text commands.

use super::{Dialect, Op, Piece, Unreadable};
use protocol_memcache::Exptime;
use protocol_memcache::client::{Encoder, Reply, parse};

/// From here on memcache takes an expiry time for a unix time.
const RELATIVE_MAX_S: u32 = 60 * 60 * 24 * 30;

/// The classic text commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text;

/// Seconds as memcache reads them: more than 30 days are 30 days.
pub(super) fn relative(ttl_s: u32) -> u32 {
    ttl_s.min(RELATIVE_MAX_S)
}

impl Dialect for Text {
    #[inline]
    fn get(&self, out: &mut Vec<u8>, keys: &[&[u8]]) {
        Encoder::new(out).get(keys);
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
        Encoder::new(out).set_with(key, Exptime((relative(ttl_s) as i32).into()), len, value);
    }

    #[inline]
    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        Encoder::new(out).delete(key, false);
    }

    /// The cheapest request that has a reply.
    #[inline]
    fn ping(&self, out: &mut Vec<u8>) {
        Encoder::new(out).version();
    }

    #[inline]
    fn read<'a>(&self, op: Op, input: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, Unreadable> {
        let Some((reply, len)) = parse(input).map_err(|_| Unreadable)? else { return Ok(None) };
        let piece = match (op, reply) {
            (Op::Get | Op::GetMany, Reply::Value { key, value, .. }) => {
                Piece::Value { key: Some(key), value, last: false }
            }
            (Op::Get | Op::GetMany, Reply::End) => Piece::End,
            (Op::Set, Reply::Stored) | (Op::Delete, Reply::Deleted) => Piece::Done,
            (Op::Delete, Reply::NotFound) => Piece::NotFound,
            (Op::Ping, Reply::Version(_)) => Piece::Done,
            (Op::Set, Reply::NotStored) => Piece::Refused { why: b"NOT_STORED", last: true },
            (_, Reply::Error(why)) => Piece::Refused { why, last: true },
            _ => return Err(Unreadable),
        };
        Ok(Some((piece, len)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_memcaches() {
        let mut out = Vec::new();
        Text.get(&mut out, &[b"a", b"b"]);
        Text.set(&mut out, b"c", 0, 2, |out| out.extend_from_slice(b"hi"));
        Text.set(&mut out, b"c", u32::MAX, 0, |_| {});
        Text.delete(&mut out, b"d");
        let expected = "get a b\r\nset c 0 0 2\r\nhi\r\nset c 0 2592000 0\r\n\r\ndelete d\r\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn replies_must_fit_their_requests() {
        let value = Piece::Value { key: Some(b"k"), value: b"v", last: false };
        assert_eq!(Text.read(Op::Get, b"VALUE k 0 1\r\nv\r\n"), Ok(Some((value, 16))));
        assert_eq!(Text.read(Op::Get, b"END\r\n"), Ok(Some((Piece::End, 5))));
        assert_eq!(Text.read(Op::Delete, b"NOT_FOUND\r\n"), Ok(Some((Piece::NotFound, 11))));
        let refused = Piece::Refused { why: b"ERROR", last: true };
        assert_eq!(Text.read(Op::Set, b"ERROR\r\n"), Ok(Some((refused, 7))));
        assert_eq!(Text.read(Op::Set, b"STOR"), Ok(None));
        for (op, wire) in
            [(Op::Set, &b"END\r\n"[..]), (Op::Get, b"STORED\r\n"), (Op::Get, b"?\r\n")]
        {
            assert_eq!(Text.read(op, wire), Err(Unreadable), "{}", wire.escape_ascii());
        }
    }
}
