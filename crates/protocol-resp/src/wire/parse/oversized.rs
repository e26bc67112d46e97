// SPDX-License-Identifier: Apache-2.0
//! Skipping requests with an argument that is too long, for servers that keep the connection open.
//!
//! No header states the length of the whole request. So the rest of it is dropped argument by argument,
//! without waiting for any to arrive whole, and the parser's cursor counts the remaining ones.

use super::bulk::{self, Stop};
use super::{BULK_MAX, Framing, integer};
use protocol::{ErrorReply, Malformed};

/// A request with an argument longer than the framing allows, but within the limits of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Oversized {
    /// Where that argument ends.
    pub(crate) end: usize,
    /// How many follow it.
    pub(crate) left: u32,
}

/// The limits of Redis, which the arguments after it must keep.
const ANY: Framing = Framing { restricted: false, bulk_max: BULK_MAX };

/// Looks for such an argument in the request at the front of `input`, for which
/// [`parse`](super::parse) has refused it.
#[cold]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(crate) fn oversized(framing: &Framing, input: &[u8]) -> Option<Oversized> {
    let line = bulk::line(input).ok()?;
    let count = u32::try_from(integer(line.strip_prefix(b"*")?)?).ok()?;
    let mut at = line.len() + 2;
    for done in 0..count {
        match bulk::next(framing, input, at) {
            Ok((_, end)) => at = end as usize + 2,
            Err(Stop::Fault(_)) => {
                let end = argument_end(input, at)?;
                return Some(Oversized { end, left: count - done - 1 });
            }
            Err(_) => return None,
        }
    }
    None
}

/// Where the argument at `at` ends, whose header has arrived.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn argument_end(input: &[u8], at: usize) -> Option<usize> {
    match bulk::next(&ANY, input, at) {
        Ok((_, end)) => Some(end as usize + 2),
        Err(Stop::Body(missing)) => Some(input.len() + missing),
        Err(_) => None,
    }
}

/// Drops the argument at the front of `input`, which belongs to a refused request, without a reply. `Err`:
/// this many bytes of its header are missing.
#[cold]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(crate) fn drop_argument(input: &[u8]) -> Result<Malformed, usize> {
    match bulk::next(&ANY, input, 0) {
        Ok((_, end)) => Ok(Malformed::skip(ErrorReply::NONE, end as usize + 2)),
        Err(Stop::Body(missing)) => Ok(Malformed::skip(ErrorReply::NONE, input.len() + missing)),
        Err(Stop::Header(missing)) => Err(missing),
        Err(Stop::Fault(fault)) => Ok(fault.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMING: Framing = Framing { restricted: false, bulk_max: 5 };

    #[test]
    fn the_argument_that_is_too_long_is_found() {
        let find = |input: &[u8]| oversized(&FRAMING, input);
        let request = b"*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$6\r\n";
        assert_eq!(find(request), Some(Oversized { end: request.len() + 8, left: 2 }));
        let more = [&request[..], b"sixsix\r\n$2\r\nEX"].concat();
        assert_eq!(find(&more), Some(Oversized { end: request.len() + 8, left: 2 }));
        assert_eq!(find(b"*1\r\n$536870912\r\n"), Some(Oversized { end: 536_870_930, left: 0 }));
    }

    #[test]
    fn what_is_wrong_otherwise_is_not_taken_for_it() {
        let find = |input: &[u8]| oversized(&FRAMING, input);
        for input in [
            &b"*2\r\n$3\r\nSET\r\n!"[..],
            b"*1\r\n$536870913\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$x\r\n",
            b"*x\r\n",
            b"$6\r\n",
            b"",
            b"*1\r\n$3\r\n",
        ] {
            assert_eq!(find(input), None, "{}", input.escape_ascii());
        }
    }
}
