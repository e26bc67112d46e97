// SPDX-License-Identifier: Apache-2.0
//! The ping protocol.

use super::{Dialect, Op, Piece, Unreadable};
use protocol_ping::client::{REQUEST, Reply, parse_reply};

/// PING and PONG: nothing else is ever asked, see [`Op::Ping`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ping;

impl Dialect for Ping {
    fn get(&self, out: &mut Vec<u8>, _keys: &[&[u8]]) {
        self.ping(out);
    }

    fn set(
        &self,
        out: &mut Vec<u8>,
        _key: &[u8],
        _ttl_s: u32,
        _len: usize,
        _value: impl FnOnce(&mut Vec<u8>),
    ) {
        self.ping(out);
    }

    fn delete(&self, out: &mut Vec<u8>, _key: &[u8]) {
        self.ping(out);
    }

    #[inline]
    fn ping(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(REQUEST);
    }

    #[inline]
    fn read<'a>(&self, _op: Op, input: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, Unreadable> {
        Ok(parse_reply(input).map(|(reply, len)| match reply {
            Reply::Pong => (Piece::Done, len),
            Reply::Error => {
                (Piece::Refused { why: input[..len].trim_ascii_end(), last: true }, len)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_a_pong_is_refused() {
        assert_eq!(Ping.read(Op::Ping, b"PONG\r\nPO"), Ok(Some((Piece::Done, 6))));
        let refused = Piece::Refused { why: b"ERROR", last: true };
        assert_eq!(Ping.read(Op::Ping, b"ERROR\r\n"), Ok(Some((refused, 7))));
        assert_eq!(Ping.read(Op::Ping, b"PO"), Ok(None));
    }
}
