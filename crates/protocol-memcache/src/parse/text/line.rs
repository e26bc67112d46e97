// SPDX-License-Identifier: Apache-2.0
//! Any line: finds its end, its words and its command.

use super::keys;
use super::set::Announced;
use super::words::{WORDS_MAX, Words, next_word};
use super::{config, set, simple, unfinished};
use crate::command::{self, Parser};
use crate::parse::{LINE_MAX, LIST_CHECKED_MAX, Position, Sizes, Step, meta};
use crate::reply::text as reply;
use memchr::memchr;
use protocol::{ErrorReply, FirstBytes, Foreign, Malformed};

/// The fewest bytes of a line that may be a request, its end included.
const LINE_MIN: usize = 4;

/// Parses the line at the start of `input`.
pub(super) fn parse<'a>(sizes: &Sizes, position: &mut Position, input: &'a [u8]) -> Step<'a> {
    let head = &input[..input.len().min(LINE_MAX + 1)];
    if let Some(end) = memchr(b'\n', head) {
        return whole(sizes, position, input, end);
    }
    let Some((command, keys)) = keys::announced(head) else {
        return if input.len() > LINE_MAX {
            Err(Malformed::close(ErrorReply::NONE))
        } else {
            unfinished()
        };
    };
    let checked = &input[..input.len().min(LIST_CHECKED_MAX)];
    match memchr(b'\n', checked) {
        Some(end) => whole(sizes, position, input, end),
        None if input.len() < LIST_CHECKED_MAX => unfinished(),
        None => keys::endless(command, keys, position, input),
    }
}

/// Recognises a client of another protocol by the first bytes of its connection, so that it is not kept waiting for the end
/// of a line that it may never send.
pub(in crate::parse) fn foreign<'a>(input: &[u8]) -> Option<Step<'a>> {
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
fn whole<'a>(sizes: &Sizes, position: &mut Position, input: &'a [u8], end: usize) -> Step<'a> {
    let consumed = end + 1;
    if consumed < LINE_MIN {
        return Err(Malformed::skip(reply::BAD_FORMAT, consumed));
    }
    let line = &input[..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut rest = line;
    let name = next_word(&mut rest).unwrap_or_default();
    let is_indented = line.first() == Some(&b' ');
    let found = command::find(name).filter(|command| command.may_be_indented || !is_indented);
    let Some(command) = found else {
        return Err(unknown(line, consumed));
    };
    match command.parser {
        Parser::Keys(keys) => keys::checked(command.id, keys, position, line, rest, consumed),
        Parser::Body(mode) => {
            let body = Announced { input, header: consumed, sizes, position };
            set::parse(command, mode, &Words::split(rest), body)
        }
        Parser::Line(parse) => simple::parse(command, parse, &Words::split(rest), consumed),
        Parser::Config => config::parse(&Words::split(rest), consumed),
        Parser::Binary => Err(unknown(line, consumed)),
        Parser::Meta(act) => {
            let body = Announced { input, header: consumed, sizes, position };
            meta::parse(command.id, act, line, body)
        }
    }
}

/// The rejection of a line with an unknown name. An HTTP request line closes the connection, so
/// that a web page cannot make a browser send commands.
fn unknown(line: &[u8], consumed: usize) -> Malformed {
    let mut rest = line;
    let mut words = std::iter::from_fn(|| next_word(&mut rest)).take(WORDS_MAX);
    let first = words.next();
    let behind = words.last();
    if behind.is_some_and(|word| word.starts_with(b"HTTP/")) {
        Malformed::foreign(ErrorReply::NONE, Foreign::Http)
    } else if behind.or(first) == Some(b"noreply") {
        Malformed::skip(ErrorReply::NONE, consumed)
    } else {
        Malformed::skip(reply::UNKNOWN, consumed)
    }
}
