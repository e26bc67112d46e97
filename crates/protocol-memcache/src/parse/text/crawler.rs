// SPDX-License-Identifier: Apache-2.0
//! The commands that list items, `lru_crawler` and `stats cachedump`.

use super::simple::Line;
use super::words::Words;
use crate::op::{Dump, Listing, Op};
use crate::parse::number;
use crate::reply::text as reply;
use protocol::ErrorReply;

/// memcached numbers its size classes from 1 to 63.
const CLASSES: u64 = 64;

/// The longest pause of the crawler in microseconds.
const SLEEP_MAX: u32 = 1_000_000;

/// `metadump|mgdump all|hash|<class>,... [<prefix>]`, and the settings of a crawler that there is not: they are
/// checked and ignored.
pub(crate) fn lru_crawler<'a>(words: &Words<'a>, quiet: bool) -> Line<'a> {
    match (words.get(0), words.count.saturating_sub(quiet.into())) {
        // A list without a reply is none: as any line that asks for what there is not, it is dropped.
        (b"metadump", 2 | 3) if !quiet => Ok(dump(Listing::Metadump, words)),
        (b"mgdump", 2 | 3) if !quiet => Ok(dump(Listing::Mgdump, words)),
        (b"crawl", 2) if words.get(1) == b"hash" => Err(reply::NO_CRAWL),
        (b"crawl", 2) => match classes(words.get(1)) {
            Some(_) => Ok(Op::Noop),
            None => Err(ErrorReply::fixed(reply::BAD_CLASS)),
        },
        (b"sleep", 2) if setting(words)? > SLEEP_MAX => Err(reply::LONG_SLEEP),
        (b"sleep", 2) => Ok(Op::Noop),
        (b"tocrawl", 2) => setting(words).map(|_| Op::Noop),
        (b"enable" | b"disable", 1) => Ok(Op::Noop),
        _ => Err(reply::UNKNOWN),
    }
}

fn setting(words: &Words<'_>) -> Result<u32, ErrorReply> {
    number::digits_u32(words.get(1)).ok_or(reply::BAD_FORMAT)
}

fn dump<'a>(listing: Listing, words: &Words<'a>) -> Op<'a> {
    let classes = match words.get(1) {
        b"hash" => Some(u64::MAX),
        word => classes(word),
    };
    Op::Dump(match classes {
        Some(classes) => Dump { classes, ..Dump::all(listing, words.get(2)) },
        None => Dump::wrong(listing, reply::BAD_CLASS),
    })
}

/// `cachedump <class> <limit>`
pub(super) fn cachedump<'a>(words: &Words<'a>) -> Op<'a> {
    let number = |index| number::digits_u32(words.get(index));
    let listing = Listing::Cachedump;
    if words.count < 3 {
        return Op::Dump(Dump::wrong(listing, reply::BAD_LINE));
    }
    let (Some(class), Some(limit)) = (number(1), number(2)) else {
        return Op::Dump(Dump::wrong(listing, reply::BAD_FORMAT_LINE));
    };
    Op::Dump(match 1_u64.checked_shl(class) {
        Some(classes) => Dump { classes, limit, ..Dump::all(listing, b"") },
        None => Dump::wrong(listing, reply::NO_SLAB),
    })
}

/// `all`, or numbers of classes with commas between them.
fn classes(word: &[u8]) -> Option<u64> {
    if word == b"all" {
        return Some(u64::MAX);
    }
    let mut classes = 0;
    for class in word.split(|&byte| byte == b',').filter(|class| !class.is_empty()) {
        let class = number::unsigned(class).filter(|class| (1..CLASSES).contains(class))?;
        classes |= 1_u64.checked_shl(u32::try_from(class).ok()?)?;
    }
    Some(classes)
}
