// SPDX-License-Identifier: Apache-2.0
//! `mg`, and `me`, which shows what the server knows.

use super::super::MemcacheService;
use super::super::get::{count, value};
use super::super::outcome::Outcome;
use super::{failed, given_version};
use crate::op::Family;
use crate::parse::meta::Letters;
use crate::reply::meta::{Shown, Shows, exptime};
use buffer::SendBuf;
use bytes::Bytes;
use storage::{
    Amend, Change, Content, Expiry, Idle, Item, Marks, Receive, StoreError, Version, Write,
};

/// Flags of a request that may change an item, or make one.
const CHANGING: Letters = Letters::of(b"NRT");
const MAKING: Letters = Letters::of(b"N");
const TOUCHING: Letters = Letters::of(b"T");
const IDLE: Letters = Letters::of(b"l");
/// The request does not count as a read.
const UNSEEN: Letters = Letters::of(b"u");

/// What a look at an item came to.
enum Looked {
    Miss,
    Hit {
        /// A value to be sent by reference.
        pinned: Option<Bytes>,
        /// The engine does not note when the item is read, and this client would like to know.
        is_untimed: bool,
    },
    /// The item is stale, and this client is the first to see it.
    Stale(Shows),
}

/// What an atomic step came to.
enum Fetched {
    Miss,
    Found(Option<Bytes>),
    Made(Expiry),
}

impl<S: Receive> MemcacheService<S> {
    /// Reads a value, or facts about it. Most requests change nothing but what the store notes of reads, and cost what
    /// a `get` does.
    #[inline]
    pub(super) fn meta_get(&mut self, shown: &Shown<'_>, out: &mut SendBuf) -> Outcome {
        if shown.flags.has(CHANGING) {
            return self.fetch(shown, Shows::Found, out);
        }
        let (key, now) = (shown.key, shown.now.ticks);
        let mut looked = Looked::Miss;
        out.put_with(|bytes| {
            let is_unseen = shown.flags.has(UNSEEN);
            let item = if is_unseen { self.store.peek(key, now) } else { self.store.get(key, now) };
            let Some(item) = item else {
                shown.miss(bytes);
                return;
            };
            let Marks { stale, claimed } = item.marks();
            if stale && !claimed {
                let (was_read, idle) = (item.was_read(), item.idle(now));
                looked = Looked::Stale(Shows::Again { was_read, idle });
                return;
            }
            let pinned = shown_value(bytes, shown, &item, Shows::Found).1;
            looked = Looked::Hit { pinned, is_untimed: wants_time(shown, &item) };
        });
        match looked {
            Looked::Miss => count(Family::Get, false),
            Looked::Hit { pinned: None, is_untimed: false } => count(Family::Get, true),
            Looked::Hit { pinned, is_untimed } => {
                if let Some(pinned) = pinned {
                    put_pinned(pinned, out);
                }
                if is_untimed {
                    self.note_reads(shown);
                }
                count(Family::Get, true)
            }
            Looked::Stale(shows) => self.fetch(shown, shows, out),
        }
    }

    /// Has the store note from now on when an item is read.
    #[cold]
    fn note_reads(&mut self, shown: &Shown<'_>) {
        let timed = Amend { timed: true, ..Amend::default() };
        // If there is no room for it, its next reader is told an estimate again.
        let _ = self.store.update(shown.key, shown.now.ticks, |item| match item {
            Some(_) => (Change::Amend(timed), ()),
            None => (Change::Keep, ()),
        });
    }

    /// Reads an item and changes it, or makes it, in one atomic step.
    #[inline(never)]
    fn fetch(&mut self, shown: &Shown<'_>, shows: Shows, out: &mut SendBuf) -> Outcome {
        let flags = &shown.flags;
        let family = Family::of(false, flags.has(TOUCHING));
        let is_read = !flags.has(UNSEEN) && matches!(shows, Shows::Found);
        let mut result = Err(StoreError::NotFound);
        out.put_with(|bytes| {
            let start = bytes.len();
            result = self.store.update_versioned(shown.key, shown.now.ticks, |item| {
                // The store may call this again after another worker's change.
                bytes.truncate(start);
                match item {
                    Some(item) => {
                        let (hit, pinned) = shown_value(bytes, shown, &item, shows);
                        let marks = Marks { claimed: true, ..item.marks() };
                        let amend = Amend {
                            expiry: flags.has(TOUCHING).then_some(hit.expiry),
                            marks: hit.has_won.then_some(marks),
                            read: is_read,
                            timed: wants_time(shown, &item),
                        };
                        (Change::Amend(amend), Fetched::Found(pinned))
                    }
                    None if flags.has(MAKING) => {
                        let expiry = made_expiry(shown);
                        let write = Write {
                            expiry: Some(expiry),
                            version: given_version(flags),
                            marks: Some(Marks { claimed: true, stale: false }),
                            ..Write::new(Content::Whole(b""))
                        };
                        (Change::Write(write), Fetched::Made(expiry))
                    }
                    None => (Change::Miss, Fetched::Miss),
                }
            });
            if result.is_err() {
                bytes.truncate(start);
            }
        });
        match result {
            Ok((Fetched::Found(pinned), _)) => {
                if let Some(pinned) = pinned {
                    put_pinned(pinned, out);
                }
                count(family, true)
            }
            Ok((Fetched::Made(expiry), version)) => {
                self.made(shown, expiry, version, out);
                count(family, true)
            }
            Ok((Fetched::Miss, _)) | Err(StoreError::NotFound) => {
                out.put_with(|bytes| shown.miss(bytes));
                // Nothing was touched: as with memcached, that is a get and no touch.
                count(Family::Get, false)
            }
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                failed(error, out)
            }
        }
    }

    /// Shows an item that this request has made, and counts that as a read.
    fn made(
        &mut self,
        shown: &Shown<'_>,
        expiry: Expiry,
        version: Option<Version>,
        out: &mut SendBuf,
    ) {
        if let Some(version) = version {
            let made = Made { key: shown.key, version };
            out.put_with(|bytes| {
                shown_value(bytes, shown, &made, Shows::Made);
            });
        }
        if !shown.flags.has(UNSEEN) && !expiry.is_past(shown.now.ticks) {
            self.store.get(shown.key, shown.now.ticks);
        }
    }

    /// What the server knows of an item, which stays as it is.
    #[inline(never)]
    pub(super) fn describe(&mut self, shown: &Shown<'_>, out: &mut SendBuf) -> Outcome {
        let mut outcome = Outcome::Miss;
        out.put_with(|bytes| match self.store.peek(shown.key, shown.now.ticks) {
            Some(item) => {
                shown.description(bytes, &item);
                outcome = Outcome::Hit;
            }
            None => bytes.extend_from_slice(b"EN\r\n"),
        });
        outcome
    }
}

/// Whether the client asks when an item was used last, and the engine does not note that.
fn wants_time(shown: &Shown<'_>, item: &impl Item) -> bool {
    shown.flags.has(IDLE) && matches!(item.idle(shown.now.ticks), Idle::Estimated(_))
}

/// The expiry of an item that the request makes: that of the last flag that sets one.
fn made_expiry(shown: &Shown<'_>) -> Expiry {
    let times = shown.flags.iter().filter(|&(letter, _)| matches!(letter, b'N' | b'T'));
    let last = times.last().map(|(_, argument)| exptime(argument));
    last.map_or(Expiry::NEVER, |exptime| exptime.expiry(shown.now))
}

/// Appends a hit, as `get` does.
#[inline]
fn shown_value(
    bytes: &mut Vec<u8>,
    shown: &Shown<'_>,
    item: &impl Item,
    shows: Shows,
) -> (crate::reply::meta::Hit, Option<Bytes>) {
    value(
        bytes,
        item,
        shown.sends_value(item),
        |bytes, copied| shown.hit(bytes, item, shows, copied),
        Shown::behind_value,
    )
}

#[cold]
fn put_pinned(value: Bytes, out: &mut SendBuf) {
    out.put_lent(value);
    out.put_with(Shown::behind_value);
}

/// The item that a request has just made.
struct Made<'a> {
    key: &'a [u8],
    version: Version,
}

impl Item for Made<'_> {
    fn key(&self) -> &[u8] {
        self.key
    }
    fn value(&self) -> &[u8] {
        b""
    }
    fn flags(&self) -> u32 {
        0
    }
    fn version(&self) -> Version {
        self.version
    }
    /// Never, until the flag that sets it.
    fn expiry(&self) -> Expiry {
        Expiry::NEVER
    }
}
