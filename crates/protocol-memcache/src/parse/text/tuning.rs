// SPDX-License-Identifier: Apache-2.0
//! Commands that tune what memcached has and these stores have not: slab pages, an LRU, storage outside of memory.
//!
//! What is asked for is checked as memcached checks it, for the tools that send it, answered as memcached answers it,
//! and has no effect.

use super::simple::Line;
use super::words::Words;
use crate::op::Op;
use crate::parse::number;
use crate::reply::text as reply;
use protocol::ErrorReply;

/// The highest number of a class.
const CLASS_MAX: i32 = 63;

/// The most that the shares of two parts of the LRU may be together, in percent.
const SHARES_MAX: u32 = 80;

/// The bounds of the window of `slabs automove window`.
const WINDOW_MIN: u32 = 3;
const WINDOW_MAX: u32 = 1800;

/// Accepted, without an effect.
const ACCEPTED: Line<'static> = Ok(Op::Noop);

/// `reassign <from> <to>`: no class has a page to spare. `automove 0|1|2|ratio|freeratio|window ...`.
pub(crate) fn slabs<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    match (words.get(0), words.count) {
        (b"reassign", 3) => Err(reassign(words)),
        (b"automove", 2..) => automove(words),
        _ => Err(reply::UNKNOWN),
    }
}

fn reassign(words: &Words<'_>) -> ErrorReply {
    let class = |index| number::digits_i32(words.get(index));
    match (class(1), class(2)) {
        (Some(from), Some(to)) if from == to => reply::SAME_CLASS,
        (Some(0..=CLASS_MAX), Some(0..=CLASS_MAX)) => reply::NO_SPARE_PAGE,
        (Some(_), Some(_)) => reply::BAD_CLASSES,
        (None, _) | (_, None) => reply::BAD_FORMAT,
    }
}

fn automove<'a>(words: &Words<'a>) -> Line<'a> {
    match words.get(1) {
        b"ratio" | b"freeratio" => float(words.get(2)).and(ACCEPTED),
        b"window" => match unsigned(words.get(2)).ok_or(reply::BAD_FORMAT)? {
            WINDOW_MIN..=WINDOW_MAX => ACCEPTED,
            _ => Err(reply::BAD_WINDOW),
        },
        word => match unsigned(word).ok_or(reply::BAD_FORMAT)? {
            0..=2 => ACCEPTED,
            _ => Err(reply::UNKNOWN),
        },
    }
}

/// `mode flat|segmented`, `tune <hot> <warm> <hot factor> <warm factor>`, `temp_ttl <seconds>`.
pub(crate) fn lru<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    match (words.get(0), words.count) {
        (b"mode", 2..) if matches!(words.get(1), b"flat" | b"segmented") => ACCEPTED,
        (b"tune", 5..) => tune(words),
        (b"temp_ttl", 2..) => known(number::digits_i32(words.get(1))).and(ACCEPTED),
        _ => Err(reply::UNKNOWN),
    }
}

fn tune<'a>(words: &Words<'a>) -> Line<'a> {
    let (hot, warm) = (known(unsigned(words.get(1)))?, known(unsigned(words.get(2)))?);
    let factors = [float(words.get(3))?, float(words.get(4))?];
    // As memcached adds them.
    if hot.wrapping_add(warm) > SHARES_MAX {
        return Err(reply::SHARES_TOO_LARGE);
    }
    match factors.iter().any(|&factor| factor <= 0.0) {
        true => Err(reply::FACTOR_TOO_SMALL),
        false => ACCEPTED,
    }
}

/// `<setting> <value>`
pub(crate) fn extstore<'a>(words: &Words<'a>, _: bool) -> Line<'a> {
    if words.count < 2 {
        return Err(reply::UNKNOWN);
    }
    match words.get(0) {
        b"free_memchunks" => {
            let class = known(unsigned(words.get(1)))?;
            known(unsigned(words.get(2)))?;
            known((class <= CLASS_MAX as u32).then_some(())).and(ACCEPTED)
        }
        b"item_size" | b"item_age" | b"low_ttl" | b"recache_rate" | b"compact_under"
        | b"drop_under" | b"max_sleep" | b"drop_unread" => {
            known(unsigned(words.get(1))).and(ACCEPTED)
        }
        b"max_frag" => float(words.get(1)).and(ACCEPTED),
        _ => Err(reply::UNKNOWN),
    }
}

fn known<T>(value: Option<T>) -> Result<T, ErrorReply> {
    value.ok_or(reply::UNKNOWN)
}

fn unsigned(word: &[u8]) -> Option<u32> {
    number::digits_u32(word)
}

/// Reads a word that is a number with a fraction, an exponent or neither.
fn float(word: &[u8]) -> Result<f64, ErrorReply> {
    let text = std::str::from_utf8(word).map_err(|_| reply::UNKNOWN)?;
    text.parse().map_err(|_| reply::UNKNOWN)
}
