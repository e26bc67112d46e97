// SPDX-License-Identifier: Apache-2.0
//! Lists of keys: `get a b c`.
//!
//! The first call for a line checks all of it, if it ends within [`LIST_CHECKED_MAX`] bytes, and
//! takes its first key. Each further call takes one key more, and the last one the line end.

use super::line::next_word;
use super::{LIST_CHECKED_MAX, Step, found, simple, unfinished};
use crate::command::{self, Kind, Shape};
use crate::exptime::Exptime;
use crate::reply;
use crate::request::{KEY_MAX, Read, Request};
use memchr::{memchr, memchr3};
use protocol::{ErrorReply, Malformed, Parsed};

/// Inside a list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    read: Read,
    exptime: Option<Exptime>,
    /// Keys taken so far.
    keys: u32,
}

impl List {
    fn key<'a>(&mut self, key: &'a [u8]) -> Request<'a> {
        self.keys = self.keys.saturating_add(1);
        Request::Read { key, read: self.read, exptime: self.exptime, only: false }
    }

    fn end<'a>(&self) -> Request<'a> {
        Request::End { read: self.read, keys: self.keys }
    }
}

/// Whether `head`, the start of a line, announces a list of keys.
pub(super) fn announced(head: &[u8]) -> Option<Shape> {
    let mut rest = head;
    let name = next_word(&mut rest)?;
    match command::find(name)?.kind {
        Kind::Read(shape) if !rest.is_empty() => Some(shape),
        _ => None,
    }
}

/// Checks a whole line and takes its first key.
///
/// `line` is the content of the line, `rest` the part of it behind the command's name, `consumed`
/// its length with its end.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn checked<'a>(
    shape: Shape,
    cursor: &mut Option<List>,
    line: &'a [u8],
    mut rest: &'a [u8],
    consumed: usize,
) -> Step<'a> {
    let reject = |reply: ErrorReply| Err(Malformed::skip(reply, consumed));
    let mut list = match begin(shape, &mut rest) {
        Ok(list) => list,
        Err(reply) => return reject(reply),
    };
    let Some(first) = next_word(&mut rest) else {
        return if shape.exptime { found(list.end(), consumed) } else { reject(reply::UNKNOWN) };
    };
    let first_end = line.len() - rest.len();
    let mut only = true;
    let mut longest = first.len();
    while let Some(key) = next_word(&mut rest) {
        only = false;
        longest = longest.max(key.len());
    }
    if longest > KEY_MAX {
        return reject(reply::BAD_FORMAT);
    }
    if only {
        let request = Request::Read { key: first, read: shape.read, exptime: list.exptime, only };
        return found(request, consumed);
    }
    let request = list.key(first);
    *cursor = Some(list);
    found(request, first_end)
}

/// Starts on a line that is too long to be checked.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn endless<'a>(shape: Shape, cursor: &mut Option<List>, input: &'a [u8]) -> Step<'a> {
    let line = &input[..LIST_CHECKED_MAX];
    let mut rest = line;
    next_word(&mut rest);
    let list = begin(shape, &mut rest).map_err(Malformed::close)?;
    let header = line.len() - rest.len();
    let mut after = Some(list);
    let step = next(list, &mut after, &input[header..]);
    match step {
        Ok(Parsed::Request { request, consumed }) => {
            *cursor = after;
            found(request, header + consumed)
        }
        step => step,
    }
}

/// Reads what comes before the keys.
fn begin(shape: Shape, rest: &mut &[u8]) -> Result<List, ErrorReply> {
    let exptime = if shape.exptime {
        let word = next_word(rest).ok_or(reply::UNKNOWN)?;
        Some(simple::exptime(word)?)
    } else {
        None
    };
    Ok(List { read: shape.read, exptime, keys: 0 })
}

/// Takes the next key of a list, or its end.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn next<'a>(mut list: List, cursor: &mut Option<List>, input: &'a [u8]) -> Step<'a> {
    let spaces = input.iter().take(LIST_CHECKED_MAX);
    let start = spaces.take_while(|&&byte| byte == b' ').count();
    if start == LIST_CHECKED_MAX {
        return Err(Malformed::close(reply::BAD_FORMAT));
    }
    let rest = &input[start..];
    let window = &rest[..rest.len().min(KEY_MAX + 2)];
    let Some(len) = memchr3(b' ', b'\n', 0, window) else {
        return if window.len() == KEY_MAX + 2 {
            Err(Malformed::close(reply::BAD_FORMAT))
        } else {
            unfinished()
        };
    };
    let key = match rest[len] {
        b'\n' => rest[..len].strip_suffix(b"\r").unwrap_or(&rest[..len]),
        _ => &rest[..len],
    };
    if key.len() > KEY_MAX {
        return Err(Malformed::close(reply::BAD_FORMAT));
    }
    if !key.is_empty() {
        let request = list.key(key);
        *cursor = Some(list);
        return found(request, start + key.len());
    }
    // The line ends here, or at a NUL, behind which memcached ignores what is left of it.
    match memchr(b'\n', &rest[..rest.len().min(LIST_CHECKED_MAX)]) {
        Some(end) => {
            *cursor = None;
            found(list.end(), start + end + 1)
        }
        None if rest.len() < LIST_CHECKED_MAX => unfinished(),
        None => Err(Malformed::close(ErrorReply::NONE)),
    }
}
