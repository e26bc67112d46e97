// SPDX-License-Identifier: Apache-2.0
//! Any line: finds its end, its words and its command.

use super::keys::{self, List};
use super::{LINE_MAX, LIST_CHECKED_MAX, Step, simple, unfinished, write};
use crate::command::{self, Kind};
use crate::reply;
use memchr::memchr;
use protocol::{ErrorReply, FirstBytes, Foreign, Malformed};

/// memcached splits a line into this many words at most.
const WORDS_SPLIT_MAX: usize = 23;

/// Parses the line at the start of `input`.
pub(super) fn parse<'a>(value_max: usize, cursor: &mut Option<List>, input: &'a [u8]) -> Step<'a> {
    if let Some(step) = foreign(input) {
        return step;
    }
    let head = &input[..input.len().min(LINE_MAX + 1)];
    if let Some(end) = memchr(b'\n', head) {
        return whole(value_max, cursor, input, end);
    }
    let Some(shape) = keys::announced(head) else {
        return if input.len() > LINE_MAX {
            Err(Malformed::close(ErrorReply::NONE))
        } else {
            unfinished()
        };
    };
    let checked = &input[..input.len().min(LIST_CHECKED_MAX)];
    match memchr(b'\n', checked) {
        Some(end) => whole(value_max, cursor, input, end),
        None if input.len() < LIST_CHECKED_MAX => unfinished(),
        None => keys::endless(shape, cursor, input),
    }
}

/// A client that speaks something else, which its first bytes tell: it is not kept waiting for the end
/// of a line that it may never send.
fn foreign<'a>(input: &[u8]) -> Option<Step<'a>> {
    match Foreign::of_first_bytes(input) {
        FirstBytes::Foreign(foreign @ Foreign::BinaryMemcache) => {
            Some(Err(Malformed::foreign(Foreign::BINARY_REPLY, foreign)))
        }
        FirstBytes::Foreign(foreign) => Some(Err(Malformed::foreign(reply::NO_TLS, foreign))),
        FirstBytes::TooFew => Some(unfinished()),
        FirstBytes::Text => match input {
            [b'*'] => Some(unfinished()),
            [b'*', b'0'..=b'9', ..] => Some(Err(Malformed::foreign(reply::NO_RESP, Foreign::Resp))),
            _ => None,
        },
    }
}

/// Parses the line that ends with the `\n` at `end`.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn whole<'a>(value_max: usize, cursor: &mut Option<List>, input: &'a [u8], end: usize) -> Step<'a> {
    let line = content(&input[..end]);
    let mut rest = line;
    let name = next_word(&mut rest).unwrap_or_default();
    let Some(command) = command::find(name) else {
        return Err(unknown(name, line, end + 1));
    };
    let consumed = end + 1;
    match command.kind {
        Kind::Read(shape) => keys::checked(shape, cursor, line, rest, consumed),
        Kind::Write(verb) => write::parse(verb, &Words::split(rest), input, consumed, value_max),
        Kind::Simple(kind) => {
            let words = Words::split(rest);
            let fits = words.count >= command.words.0 && words.count <= command.words.1;
            if !fits {
                return Err(Malformed::skip(reply::UNKNOWN, consumed));
            }
            simple::parse(kind, &words, consumed)
        }
    }
}

/// A line as memcached sees it: without a `\r` at its end, and only up to a NUL.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    memchr(0, line).map_or(line, |nul| &line[..nul])
}

/// A line with an unknown name: an error, but a browser's request line closes the connection, so
/// that a web page cannot make a browser send commands.
///
/// memcached takes a name for one of its own by the first letter already, if that is one of seven,
/// and a name of two letters for a meta command by its `m`. Such a line is never a browser's.
fn unknown(name: &[u8], line: &[u8], consumed: usize) -> Malformed {
    if name == b"ms" {
        return Malformed::skip(reply::UNKNOWN, write::behind_meta_set(line, consumed));
    }
    let own = matches!(name, [b'a' | b'c' | b'd' | b'g' | b'i' | b's' | b't', ..] | [b'm', _]);
    let mut rest = line;
    let words = std::iter::from_fn(|| next_word(&mut rest)).take(WORDS_SPLIT_MAX);
    if !own && words.last().is_some_and(|word| word.starts_with(b"HTTP/")) {
        Malformed::foreign(ErrorReply::NONE, Foreign::Http)
    } else {
        Malformed::skip(reply::UNKNOWN, consumed)
    }
}

/// Takes the next word off the front of `line`; `None` when only spaces are left.
#[inline]
pub(super) fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = line.iter().position(|&byte| byte != b' ')?;
    let rest = &line[start..];
    let end = memchr(b' ', rest).unwrap_or(rest.len());
    *line = &rest[end..];
    Some(&rest[..end])
}

/// The words behind a command's name.
#[derive(Debug)]
pub(super) struct Words<'a> {
    words: [&'a [u8]; Words::KEPT],
    last: &'a [u8],
    /// How many there are, kept or not.
    pub(super) count: usize,
}

impl<'a> Words<'a> {
    /// As many as the longest command has.
    const KEPT: usize = 6;

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    pub(super) fn split(mut line: &'a [u8]) -> Self {
        let mut words = [&b""[..]; Self::KEPT];
        let mut last = &b""[..];
        let mut count = 0;
        while let Some(word) = next_word(&mut line) {
            if let Some(place) = words.get_mut(count) {
                *place = word;
            }
            last = word;
            count += 1;
        }
        Words { words, last, count }
    }

    /// The word at `index`; empty when the line has fewer.
    pub(super) fn get(&self, index: usize) -> &'a [u8] {
        self.words.get(index).copied().unwrap_or_default()
    }

    /// Whether the last word is `noreply`, of a line with no more words than memcached splits.
    pub(super) fn quiet(&self) -> bool {
        self.count < WORDS_SPLIT_MAX && self.last == b"noreply"
    }
}
