// SPDX-License-Identifier: Apache-2.0
//! What a server answered, made comparable: each key's CAS numbers by the order in which they were
//! first seen, the text of `version` and the lines of `stats` left out.

use crate::support::frames;
use crate::support::unit::{Dialect, Side, Unit};
use std::collections::HashMap;
use std::time::UNIX_EPOCH;

/// What one server has shown of its CAS numbers.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// By key: when each number was first seen, as a count.
    of_key: HashMap<Vec<u8>, HashMap<u64, usize>>,
    /// The numbers last seen for each key, the last one first.
    last: HashMap<Vec<u8>, [u64; 2]>,
}

/// A CAS number that no server gives out in a test.
const UNSEEN: u64 = 0x7fff_ffff_0000_0000;

impl Seen {
    /// The number last seen for `key`, or the one before it.
    pub(crate) fn cas(&self, key: &[u8], stale: bool) -> u64 {
        self.last.get(key).map_or(UNSEEN, |seen| seen[usize::from(stale)])
    }

    fn note(&mut self, key: &[u8], cas: u64) -> usize {
        let last = self.last.entry(key.to_vec()).or_insert([UNSEEN; 2]);
        if last[0] != cas {
            *last = [cas, last[0]];
        }
        let seen = self.of_key.entry(key.to_vec()).or_default();
        let next = seen.len();
        *seen.entry(cas).or_insert(next)
    }

    /// The same as [`normalise`](Self::normalise) for answers to frames, which are numbered as in `batch`.
    pub(crate) fn normalise_frames(&mut self, mut replies: &[u8], batch: &[Unit]) -> Vec<u8> {
        let mut out = Vec::with_capacity(replies.len());
        while let Some((frame, rest)) = frames::split(replies) {
            replies = rest;
            let start = out.len();
            out.extend_from_slice(frame);
            let unit = batch.get(frames::opaque(frame) as usize);
            let cas = frames::cas(frame);
            if let (Some(Dialect::Binary { key, .. }), true) =
                (unit.map(|unit| &unit.dialect), cas != 0)
            {
                let ordinal = self.note(key, cas) as u64 + 1;
                out[start + frames::CAS_AT..start + frames::HEADER_LEN]
                    .copy_from_slice(&ordinal.to_be_bytes());
            }
        }
        out.extend_from_slice(replies);
        out
    }

    /// Rewrites `replies` so that two servers that behave the same give the same bytes.
    pub(crate) fn normalise(&mut self, mut replies: &[u8], side: Side) -> Vec<u8> {
        let mut out = Vec::with_capacity(replies.len());
        while let Some(end) = replies.iter().position(|&byte| byte == b'\n') {
            let line = &replies[..=end];
            replies = &replies[end + 1..];
            if line.starts_with(b"VERSION ") && line.ends_with(b"\r\n") {
                out.extend_from_slice(b"VERSION ...\r\n");
            } else if line.starts_with(b"STAT ") {
                // Figures and names differ.
            } else if line == b"\r\n" && side == Side::Reference {
                // It follows the error of a key that is too long.
            } else if let Some(value) = Value::parse(line, replies) {
                out.extend_from_slice(value.before_cas);
                if let Some(cas) = value.cas {
                    let ordinal = self.note(value.key, cas);
                    out.extend_from_slice(format!(" (cas {ordinal})\r\n").as_bytes());
                }
                let (body, rest) = replies.split_at(value.len + 2);
                out.extend_from_slice(body);
                replies = rest;
            } else if is_meta(line) {
                meta(line, &mut out);
                let len = line.strip_prefix(b"VA ").and_then(number).unwrap_or(0) as usize;
                if line.starts_with(b"VA ") && replies.len() >= len + 2 {
                    let (body, rest) = replies.split_at(len + 2);
                    out.extend_from_slice(body);
                    replies = rest;
                }
            } else {
                out.extend_from_slice(line);
            }
        }
        out.extend_from_slice(replies);
        out
    }
}

/// Whether a line has flags of a meta command.
fn is_meta(line: &[u8]) -> bool {
    matches!(line.get(..3), Some(b"HD " | b"VA " | b"EN " | b"ME "))
}

/// Appends a line of a meta command: times to live without the seconds since, and of what `me` tells the figures that
/// do not depend on the server.
fn meta(line: &[u8], out: &mut Vec<u8>) {
    for word in line.trim_ascii_end().split(|&byte| byte == b' ') {
        let time = word.strip_prefix(b"t").or_else(|| word.strip_prefix(b"exp="));
        let time = time.and_then(|time| match time.strip_prefix(b"-") {
            // memcached shows what is further away than 2^31 seconds as a negative number; -1 is for ever.
            Some(negative) => {
                number(negative).filter(|&less| less > 1).map(|less| (1 << 32) - less)
            }
            None => number(time),
        });
        match time {
            Some(seconds) if seconds > 0 => {
                out.extend_from_slice(without_seconds_since(seconds).as_bytes());
            }
            _ if [&b"la="[..], b"cas=", b"cls=", b"size="]
                .iter()
                .any(|name| word.starts_with(name)) => {}
            _ => out.extend_from_slice(word),
        }
        out.push(b' ');
    }
    out.extend_from_slice(b"\r\n");
}

/// A time to live as it was when the item was stored: up to 30 days in thousands of seconds, rounded up, as little of it is
/// over. More was given as a moment, which is shown to the nearest thousand: what is left of it is any number, and two
/// servers answer on both sides of a thousand now and then.
fn without_seconds_since(seconds: u64) -> String {
    const MONTH: u64 = 30 * 24 * 3600;
    if seconds <= MONTH {
        return format!("{}000 s", seconds.div_ceil(1000));
    }
    let now = UNIX_EPOCH.elapsed().expect("the clock is right").as_secs();
    format!("until {}000 s", (now + seconds + 500) / 1000)
}

/// The number at the start.
fn number(bytes: &[u8]) -> Option<u64> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()
}

/// A `VALUE` line.
struct Value<'a> {
    key: &'a [u8],
    len: usize,
    cas: Option<u64>,
    /// All of it, or the part before the CAS number and its space.
    before_cas: &'a [u8],
}

impl<'a> Value<'a> {
    /// `None` when it is no such line, or its value is not all in `rest`.
    fn parse(line: &'a [u8], rest: &[u8]) -> Option<Self> {
        let content = line.strip_prefix(b"VALUE ")?.strip_suffix(b"\r\n")?;
        let mut words = content.split(|&byte| byte == b' ');
        let (key, _flags) = (words.next()?, words.next()?);
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<u64>().ok();
        let len = usize::try_from(number()?).ok().filter(|&len| rest.len() >= len + 2)?;
        let cas = number();
        let before_cas = match cas {
            Some(_) => &line[..line.iter().rposition(|&byte| byte == b' ')?],
            None => line,
        };
        Some(Value { key, len, cas, before_cas })
    }
}
