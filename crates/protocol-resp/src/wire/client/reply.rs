// SPDX-License-Identifier: Apache-2.0
//! [`Reply`]: what the server answers.

use super::element::{self, Element, Kind};
use super::scan::Scanner;
use super::{Unreadable, Value};
use std::fmt;

/// One reply, of either version of the protocol. Borrows its bytes.
#[derive(Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// A short text, `OK` most of the time.
    Simple(&'a [u8]),
    /// The request was refused, and why.
    Error(&'a [u8]),
    /// An integer.
    Integer(i64),
    /// A string of any bytes.
    Bulk(&'a [u8]),
    /// Nothing.
    Null,
    /// A list of replies.
    Array(Items<'a>),
    /// Keys and values.
    Map(Pairs<'a>),
    /// Different replies in no particular order.
    Set(Items<'a>),
    /// A message that is no answer: it comes before, between or behind answers.
    Push(Items<'a>),
    /// Says more about the reply behind it. Those within an aggregate are left out.
    Attribute(Pairs<'a>),
    /// A floating-point number.
    Double(f64),
    /// Yes or no.
    Boolean(bool),
    /// An integer of any size as its digits.
    BigNumber(&'a [u8]),
    /// A text for people to read.
    Verbatim {
        /// How it is written: `txt`, `mkd`.
        format: [u8; 3],
        /// The text.
        text: &'a [u8],
    },
}

/// Finds the first reply in `input`, and how many bytes it takes up. `None` while it has not arrived
/// wholly.
///
/// # Errors
///
/// [`Unreadable`], when `input` does not start with a reply.
pub fn parse(input: &[u8]) -> Result<Option<(Reply<'_>, usize)>, Unreadable> {
    let Some((element, len)) = element::read(input)? else { return Ok(None) };
    let (kind, left) = match element {
        Element::Scalar(reply) => return Ok(Some((reply, len))),
        Element::Aggregate(kind, left) => (kind, left),
    };
    let Some(end) = Scanner::default().scan(input)? else { return Ok(None) };
    Ok(Some((aggregate(kind, Items { bytes: &input[len..end], left }), end)))
}

fn aggregate(kind: Kind, items: Items<'_>) -> Reply<'_> {
    match kind {
        Kind::Array => Reply::Array(items),
        Kind::Map => Reply::Map(Pairs(items)),
        Kind::Set => Reply::Set(items),
        Kind::Push => Reply::Push(items),
        Kind::Attribute => Reply::Attribute(Pairs(items)),
    }
}

/// The elements of an aggregate, read as they are asked for.
///
/// An element that is an aggregate itself is looked through once more to find its end.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Items<'a> {
    /// From the next element to the end of the last; they have been read before.
    bytes: &'a [u8],
    left: u64,
}

impl<'a> Items<'a> {
    /// Whether there is none left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next reply and no count.
    fn read(&mut self) -> Option<Reply<'a>> {
        let (reply, len) = parse(self.bytes).ok()??;
        self.bytes = &self.bytes[len..];
        Some(reply)
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Reply<'a>;

    fn next(&mut self) -> Option<Reply<'a>> {
        self.left = self.left.checked_sub(1)?;
        loop {
            match self.read()? {
                Reply::Attribute(_) => {}
                reply => return Some(reply),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // They are all in memory.
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The keys and values of a map, read as they are asked for.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Pairs<'a>(Items<'a>);

impl<'a> Pairs<'a> {
    /// Whether there is none left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (Reply<'a>, Reply<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let pairs = self.0.len() / 2;
        (pairs, Some(pairs))
    }
}

impl ExactSizeIterator for Pairs<'_> {}

impl fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(*self).fmt(f)
    }
}

impl fmt::Debug for Items<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

impl fmt::Debug for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(*self).finish()
    }
}
