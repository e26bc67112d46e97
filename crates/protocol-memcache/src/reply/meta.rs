// SPDX-License-Identifier: Apache-2.0
//! [`Shown`]: the replies to meta commands, two letters and the flags that were asked for.

use crate::exptime::Exptime;
use crate::parse::meta::{Flags, Letters, base64};
use crate::parse::number;
use clock::Now;
use protocol::ErrorReply;
use storage::{Expiry, Idle, Item, Marks, Version};

pub(crate) use super::text::{BAD_DATA, BAD_FORMAT};

/// Rejections of a line.
pub(crate) const BAD_FLAG: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid or duplicate flag\r\n");
pub(crate) const DUPLICATE_FLAG: ErrorReply = ErrorReply::fixed(b"CLIENT_ERROR duplicate flag\r\n");
pub(crate) const INVALID_FLAG: ErrorReply = ErrorReply::fixed(b"CLIENT_ERROR invalid flag\r\n");
pub(crate) const TOO_MANY_FLAGS: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR options flags are too long\r\n");
pub(crate) const BAD_TOKEN: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR bad token in command line format\r\n");
pub(crate) const BAD_KEY: ErrorReply = ErrorReply::fixed(b"CLIENT_ERROR error decoding key\r\n");
pub(crate) const BAD_INITIAL: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid numeric initial value\r\n");
pub(crate) const BAD_DELTA: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid numeric delta value\r\n");
pub(crate) const BAD_SET_MODE: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid mode for ms M token\r\n");
pub(crate) const BAD_ARITH_MODE: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid mode for ma M token\r\n");
pub(crate) const LONG_OPAQUE: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR opaque token too long\r\n");

/// Room for the letters, the lengths and the marks of a reply without its key and its opaque.
const AROUND_VALUE: usize = 160;

/// The flags that show something, or have an effect on what others show.
const SHOWN: Letters = Letters::of(b"cfhklNORstT");

/// The flags that ask for the value, that name the version whose value a client has, that hide what is expected,
/// and of a key in base64.
pub(crate) const VALUE: Letters = Letters::of(b"v");
const UNLESS: Letters = Letters::of(b"C");
pub(crate) const QUIET: Letters = Letters::of(b"q");
pub(crate) const BASE64: Letters = Letters::of(b"b");

/// What the replies to one meta command show: its key, decoded, and its flags in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) flags: Flags<'a>,
    pub(crate) now: Now,
}

/// How an item came to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shows {
    /// It was found.
    Found,
    /// It was found by an earlier look in the same request, which has counted as a read.
    Again {
        /// Whether it was read before that.
        was_read: bool,
        /// When it was used before that.
        idle: Idle,
    },
    /// It was made by this request.
    Made,
}

/// What a request does to an item that it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// Its expiry afterwards.
    pub(crate) expiry: Expiry,
    /// The client is told to fetch the value anew.
    pub(crate) has_won: bool,
}

impl Shown<'_> {
    /// Whether the value of a hit is sent: if it was asked for, and is not the one that the client says it has.
    #[inline]
    pub(crate) fn sends_value(&self, item: &impl Item) -> bool {
        let has_it = || self.flags.number(b'C') == Some(item.version().get());
        self.flags.has(VALUE) && !(self.flags.has(UNLESS) && has_it())
    }

    /// Writes everything before the value of a hit. If the value is `copied`, also reserves room for it.
    #[inline]
    pub(crate) fn hit(
        &self,
        bytes: &mut Vec<u8>,
        item: &impl Item,
        shows: Shows,
        copied: bool,
    ) -> Hit {
        let (len, marks, now) = (item.value().len(), item.marks(), self.now);
        let room =
            AROUND_VALUE.saturating_add(self.flags.text().len()).saturating_add(self.key.len());
        bytes.reserve(room.saturating_add(if copied { len } else { 0 }));
        if self.sends_value(item) {
            bytes.extend_from_slice(b"VA ");
            digits(bytes, len as u64);
        } else {
            bytes.extend_from_slice(b"HD");
        }
        let mut hit = Hit { expiry: item.expiry(), has_won: false };
        self.flags(bytes, |bytes, letter, argument| match (letter, shows) {
            (b's', _) => number(bytes, b's', len as u64),
            (b't', _) => ttl(bytes, hit.expiry, now),
            (b'c', _) => number(bytes, b'c', item.version().get()),
            (b'f', _) => number(bytes, b'f', item.flags().into()),
            (b'h', Shows::Again { was_read, .. }) => number(bytes, b'h', was_read.into()),
            (b'h', Shows::Found | Shows::Made) => number(bytes, b'h', item.was_read().into()),
            (b'l', Shows::Again { idle, .. }) => number(bytes, b'l', idle.duration().as_secs()),
            (b'l', Shows::Found | Shows::Made) => {
                number(bytes, b'l', item.idle(now.ticks).duration().as_secs());
            }
            (b'T', _) => hit.expiry = exptime(argument).expiry(now),
            (b'N', Shows::Made) => {
                hit = Hit { expiry: exptime(argument).expiry(now), has_won: true };
            }
            (b'R', Shows::Found | Shows::Again { .. }) => {
                let is_due = !marks.claimed && is_due(hit.expiry, exptime(argument), now);
                hit.has_won |= is_due;
            }
            _ => {}
        });
        hit.has_won |= marks.stale && !marks.claimed;
        if hit.has_won || marks != Marks::NONE {
            let is_set = [(marks.claimed, b" Z"), (marks.stale, b" X"), (hit.has_won, b" W")];
            for (_, text) in is_set.into_iter().filter(|&(is_set, _)| is_set) {
                bytes.extend_from_slice(text);
            }
        }
        bytes.extend_from_slice(b"\r\n");
        hit
    }

    /// Writes everything after a value.
    #[inline]
    pub(crate) fn behind_value(bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(b"\r\n");
    }

    /// `mg` has found nothing.
    pub(crate) fn miss(&self, bytes: &mut Vec<u8>) {
        if !self.flags.has(QUIET) {
            self.line(bytes, b"EN", |_, _, _| {});
        }
    }

    /// Done, where a quiet request is told nothing.
    pub(crate) fn done(&self, bytes: &mut Vec<u8>) {
        if !self.flags.has(QUIET) {
            self.line(bytes, b"HD", |_, _, _| {});
        }
    }

    /// Not done, for the reason that the letters of `code` tell.
    pub(crate) fn not_done(&self, bytes: &mut Vec<u8>, code: &[u8; 2]) {
        self.line(bytes, code, |_, _, _| {});
    }

    /// An `ms` has stored a value, which is `len` bytes long now.
    #[inline]
    pub(crate) fn stored(&self, bytes: &mut Vec<u8>, version: Option<Version>, len: usize) {
        if !self.flags.has(QUIET) {
            self.of_set(bytes, b"HD", version.map_or(0, Version::get), len);
        }
    }

    /// An `ms` has not stored its value of `len` bytes.
    pub(crate) fn not_stored(&self, bytes: &mut Vec<u8>, code: &[u8; 2], len: usize) {
        self.of_set(bytes, code, 0, len);
    }

    fn of_set(&self, bytes: &mut Vec<u8>, code: &[u8; 2], version: u64, len: usize) {
        self.line(bytes, code, |bytes, letter, _| match letter {
            b'c' => number(bytes, b'c', version),
            b's' => number(bytes, b's', len as u64),
            _ => {}
        });
    }

    /// An `ma` has changed a number. `expiry` is that of before.
    pub(crate) fn counted(
        &self,
        bytes: &mut Vec<u8>,
        result: u64,
        version: Option<Version>,
        mut expiry: Expiry,
        is_made: bool,
    ) {
        if self.flags.has(QUIET) {
            return;
        }
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(result).as_bytes();
        let now = self.now;
        if self.flags.has(VALUE) {
            bytes.extend_from_slice(b"VA ");
            digits(bytes, text.len() as u64);
        } else {
            bytes.extend_from_slice(b"HD");
        }
        self.flags(bytes, |bytes, letter, argument| match letter {
            b'c' => number(bytes, b'c', version.map_or(0, Version::get)),
            b't' => ttl(bytes, expiry, now),
            b'T' => expiry = exptime(argument).expiry(now),
            b'N' if is_made => expiry = exptime(argument).expiry(now),
            _ => {}
        });
        bytes.extend_from_slice(b"\r\n");
        if self.flags.has(VALUE) {
            bytes.extend_from_slice(text);
            bytes.extend_from_slice(b"\r\n");
        }
    }

    /// All that the server knows of an item: `me`.
    pub(crate) fn description(&self, bytes: &mut Vec<u8>, item: &impl Item) {
        use std::io::Write;
        bytes.extend_from_slice(b"ME ");
        if self.flags.has(BASE64) {
            base64::encode(self.key, bytes);
        } else {
            bytes.extend_from_slice(self.key);
        }
        let idle = item.idle(self.now.ticks).duration().as_secs();
        let fetched = if item.was_read() { "yes" } else { "no" };
        let (version, class, size) = (item.version().get(), item.class(), item.footprint());
        bytes.extend_from_slice(b" exp=");
        match remaining(item.expiry(), self.now) {
            None => bytes.extend_from_slice(b"-1"),
            Some(seconds) => digits(bytes, seconds),
        }
        // Writing to a vector cannot fail.
        let _ =
            write!(bytes, " la={idle} cas={version} fetch={fetched} cls={class} size={size}\r\n");
    }

    fn line(&self, bytes: &mut Vec<u8>, code: &[u8; 2], fact: impl FnMut(&mut Vec<u8>, u8, &[u8])) {
        bytes.extend_from_slice(code);
        self.flags(bytes, fact);
        bytes.extend_from_slice(b"\r\n");
    }

    /// Writes opaque and key, and has `fact` write what else was asked for, in the order of the flags.
    #[inline]
    fn flags(&self, bytes: &mut Vec<u8>, mut fact: impl FnMut(&mut Vec<u8>, u8, &[u8])) {
        if !self.flags.has(SHOWN) {
            return;
        }
        for (letter, argument) in self.flags.iter() {
            match letter {
                b'O' => {
                    bytes.extend_from_slice(b" O");
                    bytes.extend_from_slice(argument);
                }
                b'k' => {
                    bytes.extend_from_slice(b" k");
                    if self.flags.has(BASE64) {
                        base64::encode(self.key, bytes);
                        bytes.extend_from_slice(b" b");
                    } else {
                        bytes.extend_from_slice(self.key);
                    }
                }
                _ => fact(bytes, letter, argument),
            }
        }
    }
}

/// The expiry time in a flag's argument, which was checked.
pub(crate) fn exptime(argument: &[u8]) -> Exptime {
    Exptime(number::digits_i32(argument).unwrap_or_default().into())
}

/// The seconds until an expiry, rounded up; `None` for never.
fn remaining(expiry: Expiry, now: Now) -> Option<u64> {
    let left = expiry.ticks()?.since(now.ticks);
    Some(left.as_millis().div_ceil(1000) as u64)
}

/// Whether an item expires sooner than a time to live of `sooner` would.
fn is_due(expiry: Expiry, sooner: Exptime, now: Now) -> bool {
    let limit = remaining(sooner.expiry(now), now);
    remaining(expiry, now).zip(limit).is_some_and(|(left, limit)| left < limit)
}

fn ttl(bytes: &mut Vec<u8>, expiry: Expiry, now: Now) {
    match remaining(expiry, now) {
        None => bytes.extend_from_slice(b" t-1"),
        Some(seconds) => number(bytes, b't', seconds),
    }
}

fn number(bytes: &mut Vec<u8>, letter: u8, number: u64) {
    bytes.extend_from_slice(&[b' ', letter]);
    digits(bytes, number);
}

#[inline]
fn digits(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
