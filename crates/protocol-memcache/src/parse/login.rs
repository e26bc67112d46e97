// SPDX-License-Identifier: Apache-2.0
//! What a client may say before it has logged in.
//!
//! In text that is a single request, a storage line of the form `set <anything> <anything> <anything> <bytes>` whose body
//! is `<user> <password>`. Every other line is answered `CLIENT_ERROR unauthenticated`, whatever it asks for.
//!
//! In the binary protocol it is the SASL opcodes and `Version`; any other request closes the connection.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input, and lengths of 32 bits behind them"
)]

use super::text::words::{Words, next_word};
use super::{LINE_MAX, Step, number, text};
use crate::command::{self, CommandId, Parser};
use crate::op::{Act, Login, Mode, Op};
use crate::reply::Text;
use crate::reply::text as reply;
use crate::request::Request;
use memchr::memchr;
use protocol::{ErrorReply, Malformed, Parsed};

/// The most bytes of credentials. Longer ones are refused unread.
const CREDENTIALS_MAX: usize = 16 << 10;

/// memcached waits for as many bytes before it looks at a line.
const SEEN_MIN: usize = 3;

/// The fewest bytes of a line, without its `\n`. A shorter one closes the connection.
const LINE_MIN: usize = 6;

/// Finds the next line of a client that has not logged in.
pub(super) fn line(input: &[u8]) -> Step<'_> {
    if input.len() < SEEN_MIN {
        return Ok(Parsed::NeedMore { at_least: SEEN_MIN - input.len() });
    }
    let Some(end) = memchr(b'\n', &input[..input.len().min(LINE_MAX + 1)]) else {
        return if input.len() > LINE_MAX {
            Err(Malformed::close(ErrorReply::NONE))
        } else {
            Ok(Parsed::NeedMore { at_least: 1 })
        };
    };
    if end < LINE_MIN {
        return Err(Malformed::close(ErrorReply::NONE));
    }
    let line = &input[..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match announced(&input[..end - 1]) {
        Some(len) => credentials(input, end + 1, len),
        None => {
            // INV-BODY holds for guests, too.
            let body = body(line).map_or(0, |len| len + 2);
            Err(Malformed::skip(reply::UNAUTHENTICATED, end + 1 + body))
        }
    }
}

/// The length of the credentials that follow, if the line announces some.
fn announced(line: &[u8]) -> Option<usize> {
    // Of the name memcached compares no more than this, and takes whatever precedes the `\n` for a `\r`.
    let mut rest = line.strip_prefix(b"set")?;
    if rest.first() != Some(&b' ') {
        next_word(&mut rest)?;
    }
    let len = number::digits_u32(Words::split(rest).get(3))?;
    usize::try_from(len).ok()
}

/// The length of the body that follows another line, if it says so.
fn body(line: &[u8]) -> Option<usize> {
    let mut rest = line;
    let command = command::find(next_word(&mut rest)?)?;
    let words = Words::split(rest);
    match command.parser {
        // It has announced no credentials, so what follows is a line, as for memcached.
        Parser::Body(Mode::Set) => None,
        Parser::Body(_) => text::set::length(words.get(3)),
        Parser::Meta(Act::Set) => text::set::length(words.get(1)),
        Parser::Meta(_) | Parser::Keys(_) | Parser::Line(_) | Parser::Config | Parser::Binary => {
            None
        }
    }
}

/// `<user> <password>`, which begins `header` bytes into the input.
fn credentials(input: &[u8], header: usize, len: usize) -> Step<'_> {
    let total = header.saturating_add(len).saturating_add(2);
    let refuse = |reply| Err(Malformed::skip(reply, total));
    if len > CREDENTIALS_MAX {
        // As memcached: what follows is read as lines, of which each is refused that is no login.
        return Err(Malformed::skip(reply::CREDENTIALS_TOO_LONG, header));
    }
    if input.len() < total {
        return Ok(Parsed::NeedMore { at_least: total - input.len() });
    }
    if &input[header + len..total] != b"\r\n" {
        return refuse(reply::BAD_TERMINATION);
    }
    let given = &input[header..header + len];
    let Some(space) = memchr(b' ', given) else {
        return refuse(reply::BAD_CREDENTIALS);
    };
    let (user, password) = (&given[..space], &given[space + 1..]);
    let op = Op::Login(Login::Password { user, password });
    let request = Request::text(CommandId::Auth, op, Text::Whole);
    Ok(Parsed::Request { request, consumed: total })
}

/// The longest name of a mechanism; a longer one is not looked at.
const MECHANISM_MAX: usize = 32;

/// What comes of a step of SASL by its lengths alone, if that is enough. Its credentials are not waited for then.
pub(super) fn unread<'a>(
    mechanism: usize,
    credentials: usize,
    item_max: usize,
) -> Option<Login<'a>> {
    if mechanism > MECHANISM_MAX {
        Some(Login::LongMechanism)
    } else if credentials > item_max {
        Some(Login::TooLarge)
    } else {
        (credentials > CREDENTIALS_MAX).then_some(Login::Wrong)
    }
}

/// A step of SASL. The only mechanism is PLAIN, whose credentials are `[identity] NUL user NUL password`. Nobody may act
/// as another user.
pub(super) fn sasl<'a>(mechanism: &[u8], credentials: &'a [u8]) -> Login<'a> {
    if mechanism.is_empty() {
        return Login::Mechanisms;
    }
    if !mechanism.eq_ignore_ascii_case(b"PLAIN") {
        return Login::Wrong;
    }
    if credentials.is_empty() {
        return Login::Begin;
    }
    let mut parts = credentials.split(|&byte| byte == 0);
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(identity), Some(user), Some(password), None)
            if identity.is_empty() || identity == user =>
        {
            Login::Password { user, password }
        }
        _ => Login::Wrong,
    }
}
