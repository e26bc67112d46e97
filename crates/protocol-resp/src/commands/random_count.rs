// SPDX-License-Identifier: Apache-2.0
//! [`Count`]: how many elements are picked at random, in HRANDFIELD, SRANDMEMBER and ZRANDMEMBER; [`Element`]:
//! one that may be picked many times.

// Clients send these numbers, and arithmetic on them must not wrap: an operation that could overflow is
// allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use buffer::Mark;
use bytes::Bytes;
use std::cell::OnceCell;

/// How many elements a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// So many different ones, or all if there are no more.
    Distinct(usize),
    /// So many, which may be the same.
    Repeated(usize),
}

impl Count {
    /// Reads a number: a negative one allows repetitions.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Fault> {
        match values::parse_i64(text).ok_or(Fault::NOT_INTEGER)? {
            i64::MIN => Err(Fault::NOT_NEGATABLE),
            count @ ..0 => Ok(Count::Repeated(count.unsigned_abs() as usize)),
            count => Ok(Count::Distinct(count as usize)),
        }
    }

    /// The number without its sign.
    pub(crate) fn number(self) -> usize {
        match self {
            Count::Distinct(count) | Count::Repeated(count) => count,
        }
    }
}

/// Up to how many elements are listed before many of them are picked: it takes long to find one of a
/// packed collection by its number.
const LISTED_MAX: usize = 1024;

/// How many elements of a list are made in the time in which one is found in an index.
const LISTED_PER_PICK: usize = 8;

/// Whether the elements of a collection of this length are to be listed before `count` of them are picked.
pub(crate) fn lists(len: usize, has_index: bool, count: usize) -> bool {
    let pays = if has_index { count >= len / LISTED_PER_PICK } else { count > 2 };
    len <= LISTED_MAX && pays
}

/// From how many bytes on an element is copied once, however often it is picked.
const SHARED_FROM: usize = 512;

/// Bytes of an element at the least: an empty text.
const PICK_MIN: usize = b"$0\r\n\r\n".len();

/// A listed element, of which a reply may hold any number: a large one is copied only once, and each pick refers
/// to that copy.
#[derive(Debug)]
pub(crate) struct Element<'v> {
    text: &'v [u8],
    shared: OnceCell<Bytes>,
}

impl<'v> Element<'v> {
    pub(crate) fn new(text: &'v [u8]) -> Self {
        Self { text, shared: OnceCell::new() }
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        if self.text.len() < SHARED_FROM {
            out.bulk(self.text);
        } else {
            out.bulk_shared(self.shared.get_or_init(|| Bytes::copy_from_slice(self.text)).clone());
        }
    }
}

/// Writes `count` random elements, which may repeat, behind a header at `mark`. Fails if they take more than
/// `bytes_max`, and at once if they must: the client sends no more than a number, so nothing else bounds what one
/// command may ask for.
pub(crate) fn repeat(
    out: &mut Writer<'_>,
    mark: Mark,
    count: usize,
    bytes_max: usize,
    mut pick: impl FnMut(&mut Writer<'_>),
) -> Done {
    if count > bytes_max / PICK_MIN {
        out.undo(mark);
        return Err(Fault::OUT_OF_RANGE);
    }
    let start = out.out().pending();
    for _ in 0..count {
        pick(out);
        if out.out().pending().saturating_sub(start) > bytes_max {
            out.undo(mark);
            return Err(Fault::OUT_OF_RANGE);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::reply::Version;
    use buffer::SendBuf;

    #[test]
    fn the_sign_says_whether_elements_may_repeat() {
        assert_eq!(Count::parse(b"3"), Ok(Count::Distinct(3)));
        assert_eq!(Count::parse(b"0"), Ok(Count::Distinct(0)));
        assert_eq!(Count::parse(b"-3"), Ok(Count::Repeated(3)));
        assert_eq!(Count::parse(b"+3"), Err(Fault::NOT_INTEGER));
        assert!(Count::parse(i64::MIN.to_string().as_bytes()).is_err());
        let most = Count::parse(i64::MAX.to_string().as_bytes()).expect("a count");
        assert_eq!(most.number(), i64::MAX as usize);
    }

    #[test]
    fn a_reply_without_end_is_refused() {
        let mut out = SendBuf::new();
        out.put(b"before");
        let mut writer = Writer::new(&mut out, Version::Resp2);
        let (mark, member) = (writer.begin_array(), vec![b'x'; 64 << 20]);
        writer.array(100);
        let done = repeat(&mut writer, mark, 100, 512 << 20, |out| out.bulk(&member));
        assert_eq!(done, Err(Fault::OUT_OF_RANGE));
        assert_eq!(out.front(), b"before");
    }

    #[test]
    fn nothing_is_picked_for_a_reply_that_must_be_too_long() {
        let mut out = SendBuf::new();
        let mut writer = Writer::new(&mut out, Version::Resp2);
        let mark = writer.begin_array();
        writer.array(1 << 31);
        let done = repeat(&mut writer, mark, 1 << 31, 512 << 20, |_| panic!("a pick"));
        assert_eq!(done, Err(Fault::OUT_OF_RANGE));
        assert_eq!(out.pending(), 0);
    }

    #[test]
    fn a_large_element_is_copied_once() {
        let mut out = SendBuf::new();
        let mut writer = Writer::new(&mut out, Version::Resp2);
        let (mark, text) = (writer.begin_array(), vec![b'x'; 64 << 10]);
        let element = Element::new(&text);
        writer.array(1_000);
        repeat(&mut writer, mark, 1_000, 512 << 20, |out| element.write(out)).expect("it fits");
        assert!(out.pending() > 1_000 * text.len());
        assert!(out.capacity() < 1 << 20, "{} bytes of blocks", out.capacity());
    }
}
