// SPDX-License-Identifier: Apache-2.0
//! Lists of keys: `get a b c`.
//!
//! The first call for a line checks the whole line, if it ends within [`LIST_CHECKED_MAX`] bytes,
//! and takes the first key. Each further call takes one more key, and the last call takes the line
//! end.

use super::words::next_word;
use super::{found, simple, unfinished};
use crate::command::{self, CommandId, Keys, Parser};
use crate::exptime::Exptime;
use crate::op::{Family, Get, KEY_MAX, Op};
use crate::parse::{LIST_CHECKED_MAX, Position, Step};
use crate::reply::Text;
use crate::reply::text as reply;
use crate::request::Request;
use memchr::memchr2;
use protocol::{ErrorReply, Malformed, Parsed};

/// Inside a list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    command: CommandId,
    cas: bool,
    touch: Option<Exptime>,
    /// Keys taken so far.
    keys: u32,
}

impl List {
    fn key<'a>(&mut self, key: &'a [u8]) -> Request<'a> {
        self.keys = self.keys.saturating_add(1);
        self.get(key, Text::Listed)
    }

    fn get<'a>(&self, key: &'a [u8], text: Text) -> Request<'a> {
        let op = Op::Get(Get { key, cas: self.cas, touch: self.touch });
        Request::text(self.command, op, text)
    }

    fn end<'a>(&self) -> Request<'a> {
        let family = Family::of(self.cas, self.touch.is_some());
        Request::text(self.command, Op::ListEnd { family, keys: self.keys }, Text::Whole)
    }
}

/// The command and its kind of list, if `head`, the start of a line, begins a list of keys.
pub(super) fn announced(head: &[u8]) -> Option<(CommandId, Keys)> {
    if head.first() == Some(&b' ') {
        return None;
    }
    let mut rest = head;
    let command = command::find(next_word(&mut rest)?)?;
    match command.parser {
        Parser::Keys(keys) if !rest.is_empty() => Some((command.id, keys)),
        Parser::Keys(_)
        | Parser::Body(_)
        | Parser::Line(_)
        | Parser::Config
        | Parser::Meta(_)
        | Parser::Binary => None,
    }
}

/// Checks a whole line and takes its first key.
///
/// `line` is the content of the line, `rest` its part after the command's name, `consumed` its
/// length with the line end.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn checked<'a>(
    command: CommandId,
    keys: Keys,
    position: &mut Position,
    line: &'a [u8],
    mut rest: &'a [u8],
    consumed: usize,
) -> Step<'a> {
    let reject = |reply: ErrorReply| Err(Malformed::skip(reply, consumed));
    let mut list = match begin(command, keys, &mut rest) {
        Ok(list) => list,
        // A line without keys is malformed, whatever its expiry time.
        Err(reply) if next_word(&mut rest).is_some() => return reject(reply),
        Err(_) => return reject(reply::BAD_FORMAT),
    };
    let Some(first) = next_word(&mut rest) else {
        return reject(reply::BAD_FORMAT);
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
        return found(list.get(first, Text::Whole), consumed);
    }
    let request = list.key(first);
    *position = Position::List(list);
    found(request, first_end)
}

/// Takes the first key of a line that is too long to be checked.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn endless<'a>(
    command: CommandId,
    keys: Keys,
    position: &mut Position,
    input: &'a [u8],
) -> Step<'a> {
    let line = &input[..LIST_CHECKED_MAX];
    let mut rest = line;
    next_word(&mut rest);
    let list = begin(command, keys, &mut rest).map_err(Malformed::close)?;
    let header = line.len() - rest.len();
    let mut after = Position::List(list);
    let step = next(list, &mut after, &input[header..]);
    match step {
        Ok(Parsed::Request { request, consumed }) => {
            *position = after;
            found(request, header + consumed)
        }
        step => step,
    }
}

/// Reads what comes before the keys.
fn begin(command: CommandId, keys: Keys, rest: &mut &[u8]) -> Result<List, ErrorReply> {
    let touch = if keys.exptime {
        let word = next_word(rest).ok_or(reply::BAD_FORMAT)?;
        Some(simple::exptime(word)?)
    } else {
        None
    };
    Ok(List { command, cas: keys.cas, touch, keys: 0 })
}

/// Takes the next key of a list, or its end.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(in crate::parse) fn next<'a>(
    mut list: List,
    position: &mut Position,
    input: &'a [u8],
) -> Step<'a> {
    let spaces = input.iter().take(LIST_CHECKED_MAX);
    let start = spaces.take_while(|&&byte| byte == b' ').count();
    if start == LIST_CHECKED_MAX {
        return Err(Malformed::close(reply::BAD_FORMAT));
    }
    let rest = &input[start..];
    let window = &rest[..rest.len().min(KEY_MAX + 2)];
    let Some(len) = memchr2(b' ', b'\n', window) else {
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
        *position = Position::List(list);
        return found(request, start + key.len());
    }
    // The line ends here: at its `\n`, or at a `\r` before it.
    *position = Position::Line;
    found(list.end(), start + len + 1)
}
