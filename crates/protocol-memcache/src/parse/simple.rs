// SPDX-License-Identifier: Apache-2.0
//! The commands of one line with one key or none.

use super::line::Words;
use super::{Step, found, number};
use crate::command::Simple;
use crate::exptime::Exptime;
use crate::reply;
use crate::request::{Direction, KEY_MAX, Request};
use protocol::{ErrorReply, Malformed};

/// Parses a command whose line takes up `consumed` bytes.
pub(super) fn parse<'a>(kind: Simple, words: &Words<'a>, consumed: usize) -> Step<'a> {
    // `delete noreply` removes the key `noreply`; nothing else lets its key be taken for it.
    let quiet = words.quiet() && !(kind == Simple::Delete && words.count == 1);
    let parsed = match kind {
        Simple::Delete => delete(words, quiet),
        Simple::Arith(direction) => arith(direction, words, quiet),
        Simple::Touch => touch(words, quiet),
        Simple::FlushAll => flush_all(words, quiet),
        Simple::Verbosity => verbosity(words, quiet),
        Simple::Stats => Ok(Request::Stats { topic: words.get(0) }),
        Simple::Version => Ok(Request::Version),
        Simple::Quit => Ok(Request::Quit),
    };
    match parsed {
        Ok(request) => found(request, consumed),
        Err(_) if quiet => Err(Malformed::skip(ErrorReply::NONE, consumed)),
        Err(reply) => Err(Malformed::skip(reply, consumed)),
    }
}

type Line<'a> = Result<Request<'a>, ErrorReply>;

fn delete<'a>(words: &Words<'a>, quiet: bool) -> Line<'a> {
    // Old clients send a delay, which must be 0.
    let zero = words.get(1) == b"0";
    let sound = match words.count {
        1 => true,
        2 => zero || quiet,
        _ => zero && quiet,
    };
    if !sound {
        return Err(reply::BAD_DELETE);
    }
    let key = key(words)?;
    Ok(Request::Delete { key, quiet })
}

fn arith<'a>(direction: Direction, words: &Words<'a>, quiet: bool) -> Line<'a> {
    let key = key(words)?;
    let delta = number::unsigned(words.get(1)).ok_or(reply::BAD_DELTA)?;
    Ok(Request::Arith { key, delta, direction, quiet })
}

fn touch<'a>(words: &Words<'a>, quiet: bool) -> Line<'a> {
    let key = key(words)?;
    let exptime = exptime(words.get(1))?;
    Ok(Request::Touch { key, exptime, quiet })
}

fn flush_all<'a>(words: &Words<'a>, quiet: bool) -> Line<'a> {
    let has_delay = words.count > usize::from(quiet);
    let delay = has_delay.then(|| exptime(words.get(0))).transpose()?;
    Ok(Request::FlushAll { delay, quiet })
}

fn verbosity<'a>(words: &Words<'a>, quiet: bool) -> Line<'a> {
    number::unsigned(words.get(0)).ok_or(reply::BAD_FORMAT)?;
    Ok(Request::Verbosity { quiet })
}

fn key<'a>(words: &Words<'a>) -> Result<&'a [u8], ErrorReply> {
    let key = words.get(0);
    if key.len() > KEY_MAX {
        return Err(reply::BAD_FORMAT);
    }
    Ok(key)
}

/// Reads an expiry time; memcached keeps its low 32 bits.
pub(super) fn exptime(word: &[u8]) -> Result<Exptime, ErrorReply> {
    let seconds = number::signed(word).ok_or(reply::BAD_EXPTIME)?;
    Ok(Exptime(seconds as i32))
}
