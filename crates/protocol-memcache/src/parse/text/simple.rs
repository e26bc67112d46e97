// SPDX-License-Identifier: Apache-2.0
//! Commands that are one line with at most one key: a function for each command with arguments.

use super::found;
use super::words::{Words, next_word};
use crate::command::{Command, LineParser};
use crate::exptime::Exptime;
use crate::op::{Arith, Detail, Direction, KEY_MAX, Manage, Op};
use crate::parse::{Step, number};
use crate::reply::Text;
use crate::reply::text as reply;
use crate::request::Request;
use crate::topics::Topics;
use protocol::{ErrorReply, Malformed};

/// The result of parsing the words of a line: an operation, or the error reply.
pub(crate) type Line<'a> = Result<Op<'a>, ErrorReply>;

/// Parses a command whose line is `consumed` bytes long.
pub(super) fn parse<'a>(
    command: &Command,
    parse: LineParser,
    words: &Words<'a>,
    consumed: usize,
) -> Step<'a> {
    if words.count < command.words_min {
        return Err(Malformed::skip(reply::BAD_FORMAT, consumed));
    }
    let quiet = command.noreply && words.say_noreply();
    match parse(words, quiet) {
        Ok(op) => found(Request::text(command.id, op, Text::unless(quiet)), consumed),
        Err(_) if quiet => Err(Malformed::skip(ErrorReply::NONE, consumed)),
        Err(reply) => Err(Malformed::skip(reply, consumed)),
    }
}

/// `<key> [noreply]`
pub(crate) fn delete<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    Ok(Op::Delete { key: key(words)?, cas: 0 })
}

/// `<key> <u64> [noreply]`
pub(crate) fn arith<'a>(words: &Words<'a>, direction: Direction) -> Line<'a> {
    let key = key(words)?;
    let delta = number::digits_u64(words.get(1)).ok_or(reply::BAD_DELTA)?;
    Ok(Op::Arith(Arith::new(key, delta, direction)))
}

/// `<key> <exptime> [noreply]`
pub(crate) fn touch<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    let key = key(words)?;
    let exptime = exptime(words.get(1))?;
    Ok(Op::Touch { key, exptime })
}

/// `[<delay>] [noreply]`
pub(crate) fn flush_all<'a>(words: &Words<'a>, quiet: bool) -> Line<'a> {
    let has_delay = words.count > usize::from(quiet);
    let delay = has_delay.then(|| exptime(words.get(0))).transpose();
    Ok(delay.map_or(Op::BadFlush { delay: words.get(0) }, |delay| Op::FlushAll { delay }))
}

/// The topics of `stats` that may be abbreviated, in memcached's order: what is the start of several means the first.
const ABBREVIATED: [&[u8]; 9] = [
    b"reset",
    b"detail",
    b"settings",
    b"cachedump",
    b"conns",
    b"extstore",
    b"proxy",
    b"proxyfuncs",
    b"proxybe",
];

/// `[<topic>]`
pub(crate) fn stats<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    let word = words.get(0);
    let meant = ABBREVIATED.into_iter().find(|topic| !word.is_empty() && topic.starts_with(word));
    match meant {
        Some(b"cachedump") => Ok(super::crawler::cachedump(words)),
        Some(b"detail") => Ok(Op::Detail(Detail::of(words.get(1)))),
        _ => Ok(Op::Stats { topic: meant.unwrap_or(word) }),
    }
}

/// `<level> [noreply]`
pub(crate) fn verbosity<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    let level = number::digits_u32(words.get(0)).ok_or(reply::BAD_FORMAT)?;
    Ok(Op::Manage(Manage::Verbosity(level)))
}

/// `<megabytes> [noreply]`
pub(crate) fn cache_memlimit<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    let mebibytes = number::digits_u32(words.get(0)).ok_or(reply::UNKNOWN)?;
    Ok(Op::Manage(Manage::MemoryLimit(mebibytes)))
}

/// `[graceful]`: there is one way to stop, which loses no reply.
pub(crate) fn shutdown<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    let understood = words.count == 0 || words.count == 1 && words.get(0) == b"graceful";
    Ok(Op::Manage(Manage::Shutdown { understood }))
}

/// `[<topic>]*`: without any, that of look-ups.
pub(crate) fn watch<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    let mut rest = words.from(0);
    let mut topics = if words.count == 0 { Topics::FETCHERS } else { Topics::NONE };
    for _ in 0..words.count {
        let named = next_word(&mut rest).and_then(Topics::named);
        let Some(named) = named else { return Ok(Op::Watch(None)) };
        topics = topics | named;
    }
    Ok(Op::Watch(Some(topics)))
}

fn key<'a>(words: &Words<'a>) -> Result<&'a [u8], ErrorReply> {
    let key = words.get(0);
    if key.len() > KEY_MAX {
        return Err(reply::BAD_FORMAT);
    }
    Ok(key)
}

/// Reads an expiry time.
pub(super) fn exptime(word: &[u8]) -> Result<Exptime, ErrorReply> {
    let seconds = number::digits_i32(word).ok_or(reply::BAD_EXPTIME)?;
    Ok(Exptime(seconds.into()))
}
