// SPDX-License-Identifier: Apache-2.0
//! memcache's meta commands.

use super::memcache::relative;
use super::{Dialect, Op, Piece, Unreadable};
use protocol_memcache::client::{MetaEncoder, MetaReply, parse_meta};

/// The meta commands. A multi-get is a row of quiet `mg` with an `mn` behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta;

impl Dialect for Meta {
    #[inline]
    fn get(&self, out: &mut Vec<u8>, keys: &[&[u8]]) {
        let mut encoder = MetaEncoder::new(out);
        if let [key] = keys {
            encoder.get(key, "v");
            return;
        }
        for key in keys {
            encoder.get(key, "k v q");
        }
        encoder.noop();
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
        let ttl_s = (ttl_s > 0).then_some(relative(ttl_s));
        MetaEncoder::new(out).set_with(key, ttl_s, len, value);
    }

    #[inline]
    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        MetaEncoder::new(out).delete(key, "");
    }

    #[inline]
    fn ping(&self, out: &mut Vec<u8>) {
        MetaEncoder::new(out).noop();
    }

    #[inline]
    fn read<'a>(&self, op: Op, input: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, Unreadable> {
        let Some((reply, len)) = parse_meta(input).map_err(|_| Unreadable)? else {
            return Ok(None);
        };
        let many = op == Op::GetMany;
        let piece = match (op, reply) {
            (Op::Get, MetaReply::Value { value, .. }) => {
                Piece::Value { key: None, value, last: true }
            }
            (Op::Get, MetaReply::Miss) | (Op::GetMany, MetaReply::Noop) => Piece::End,
            (Op::GetMany, MetaReply::Value { flags, value }) => {
                let key = Some(flags.get(b'k').ok_or(Unreadable)?);
                Piece::Value { key, value, last: false }
            }
            (Op::Set | Op::Delete, MetaReply::Done(_)) | (Op::Ping, MetaReply::Noop) => Piece::Done,
            (Op::Delete, MetaReply::NotFound(_)) => Piece::NotFound,
            (Op::Set, MetaReply::NotStored(_)) => Piece::Refused { why: b"NS", last: true },
            // The `mn` behind a row of gets is answered all the same.
            (_, MetaReply::Error(why)) => Piece::Refused { why, last: !many },
            _ => return Err(Unreadable),
        };
        Ok(Some((piece, len)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multi_get_ends_with_a_noop() {
        let mut out = Vec::new();
        Meta.get(&mut out, &[b"a"]);
        Meta.get(&mut out, &[b"a", b"b"]);
        assert_eq!(out, b"mg a v\r\nmg a k v q\r\nmg b k v q\r\nmn\r\n");
        let value = Piece::Value { key: Some(b"b"), value: b"v", last: false };
        assert_eq!(Meta.read(Op::GetMany, b"VA 1 kb\r\nv\r\nMN\r\n"), Ok(Some((value, 12))));
        assert_eq!(Meta.read(Op::GetMany, b"MN\r\n"), Ok(Some((Piece::End, 4))));
        let refused = Piece::Refused { why: b"ERROR", last: false };
        assert_eq!(Meta.read(Op::GetMany, b"ERROR\r\n"), Ok(Some((refused, 7))));
    }

    #[test]
    fn replies_must_fit_their_requests() {
        let value = Piece::Value { key: None, value: b"v", last: true };
        assert_eq!(Meta.read(Op::Get, b"VA 1\r\nv\r\n"), Ok(Some((value, 9))));
        assert_eq!(Meta.read(Op::Get, b"EN\r\n"), Ok(Some((Piece::End, 4))));
        assert_eq!(Meta.read(Op::Set, b"HD\r\n"), Ok(Some((Piece::Done, 4))));
        assert_eq!(Meta.read(Op::Set, b"EN\r\n"), Err(Unreadable));
        assert_eq!(Meta.read(Op::Get, b"HD\r\n"), Err(Unreadable));
    }
}
