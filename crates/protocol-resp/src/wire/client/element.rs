// SPDX-License-Identifier: Apache-2.0
//! One element of a reply: a whole scalar, or an aggregate's header.

use super::{Reply, Unreadable};
use crate::wire::parse::integer;
use memchr::memchr;

/// The longest line that is waited for: texts of any length come with their length.
const LINE_MAX: usize = 1 << 20;

/// What the element at the start of some bytes is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element<'a> {
    /// A whole reply.
    Scalar(Reply<'a>),
    /// So many elements follow.
    Aggregate(Kind, u64),
}

/// The kinds of aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Array,
    Map,
    Set,
    Push,
    Attribute,
}

/// Reads the element at the start of `input`, and how many bytes it takes up. `None` while it has
/// not arrived.
#[inline]
pub(super) fn read(input: &[u8]) -> Result<Option<(Element<'_>, usize)>, Unreadable> {
    let Some(line) = line(input)? else { return Ok(None) };
    let Some((&kind, text)) = line.split_first() else { return Err(Unreadable) };
    let consumed = line.len() + 2;
    let reply = match kind {
        b'+' => Reply::Simple(text),
        b'-' => Reply::Error(text),
        b':' => Reply::Integer(integer(text).ok_or(Unreadable)?),
        b'$' | b'!' | b'=' => return blob(kind, text, input, consumed),
        b'*' if text == b"-1" => Reply::Null,
        b'_' if text.is_empty() => Reply::Null,
        b'#' => Reply::Boolean(boolean(text)?),
        b',' => Reply::Double(double(text)?),
        b'(' => Reply::BigNumber(digits(text)?),
        _ => return Ok(Some((aggregate(kind, text)?, consumed))),
    };
    Ok(Some((Element::Scalar(reply), consumed)))
}

/// The first line of `input` without its end.
#[inline]
fn line(input: &[u8]) -> Result<Option<&[u8]>, Unreadable> {
    match memchr(b'\n', &input[..input.len().min(LINE_MAX)]) {
        Some(end) => input[..end].strip_suffix(b"\r").map(Some).ok_or(Unreadable),
        None if input.len() < LINE_MAX => Ok(None),
        None => Err(Unreadable),
    }
}

/// Bytes whose number is in the header that ends at `start`.
fn blob<'a>(
    kind: u8,
    header: &[u8],
    input: &'a [u8],
    start: usize,
) -> Result<Option<(Element<'a>, usize)>, Unreadable> {
    if kind == b'$' && header == b"-1" {
        return Ok(Some((Element::Scalar(Reply::Null), start)));
    }
    let end = length(header)?.checked_add(start).ok_or(Unreadable)?;
    let consumed = end.checked_add(2).ok_or(Unreadable)?;
    if input.len() < consumed {
        return Ok(None);
    }
    if &input[end..consumed] != b"\r\n" {
        return Err(Unreadable);
    }
    let text = &input[start..end];
    let reply = match (kind, text) {
        (b'$', _) => Reply::Bulk(text),
        (b'!', _) => Reply::Error(text),
        (_, [a, b, c, b':', text @ ..]) => Reply::Verbatim { format: [*a, *b, *c], text },
        _ => return Err(Unreadable),
    };
    Ok(Some((Element::Scalar(reply), consumed)))
}

fn aggregate<'a>(kind: u8, header: &[u8]) -> Result<Element<'a>, Unreadable> {
    let len = length(header)? as u64;
    let (kind, elements) = match kind {
        b'*' => (Kind::Array, Some(len)),
        b'~' => (Kind::Set, Some(len)),
        b'>' => (Kind::Push, Some(len)),
        b'%' => (Kind::Map, len.checked_mul(2)),
        b'|' => (Kind::Attribute, len.checked_mul(2)),
        _ => return Err(Unreadable),
    };
    Ok(Element::Aggregate(kind, elements.ok_or(Unreadable)?))
}

fn length(text: &[u8]) -> Result<usize, Unreadable> {
    integer(text).and_then(|length| usize::try_from(length).ok()).ok_or(Unreadable)
}

fn boolean(text: &[u8]) -> Result<bool, Unreadable> {
    match text {
        b"t" => Ok(true),
        b"f" => Ok(false),
        _ => Err(Unreadable),
    }
}

fn double(text: &[u8]) -> Result<f64, Unreadable> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Unreadable)
}

/// A number of any size: digits, perhaps behind a sign.
fn digits(text: &[u8]) -> Result<&[u8], Unreadable> {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then_some(text).ok_or(Unreadable)
}
