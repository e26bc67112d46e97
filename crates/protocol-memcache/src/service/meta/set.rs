// SPDX-License-Identifier: Apache-2.0
//! `ms`.

use super::super::MemcacheService;
use super::super::outcome::Outcome;
use super::super::set::extended_bytes;
use super::{failed, given_version};
use crate::metrics;
use crate::op::Mode;
use crate::parse::meta::{Flags, Letters};
use crate::reply::meta::{Shown, exptime};
use buffer::SendBuf;
use storage::{
    Change, Condition, Content, Expiry, Item, Marks, Put, Receive, StoreError, Version, Write,
};

/// Flags with which the store's plain operations do not suffice.
const SPECIAL: Letters = Letters::of(b"CEMN");
const STALE: Letters = Letters::of(b"I");

/// What an atomic step decided.
#[derive(Clone, Copy, Debug)]
enum Decided {
    /// The value was stored, and is this long now.
    Stored(usize),
    NotStored,
    Exists,
    NotFound,
}

impl<S: Receive> MemcacheService<S> {
    /// Stores a value. Without a condition, a mode or a version of its own it costs what a `set` does.
    #[inline]
    pub(in crate::service) fn meta_set(
        &mut self,
        shown: &Shown<'_>,
        value: &[u8],
        out: &mut SendBuf,
    ) -> Outcome {
        if shown.flags.has(SPECIAL) {
            return self.meta_set_if(shown, value, out);
        }
        let put = Put::new(shown.key, value)
            .flags(shown.flags.client_flags())
            .expiry(expiry(shown))
            .condition(Condition::Always);
        match self.store.put(put, shown.now.ticks) {
            Ok(version) => {
                metrics::of_set(Mode::Set).stored.increment();
                out.put_with(|bytes| shown.stored(bytes, Some(version), value.len()));
                Outcome::Stored(version)
            }
            Err(error) => self.not_set(shown, error, out),
        }
    }

    /// Stores a value if the item is as the flags want it, or extends the value it has.
    #[inline(never)]
    fn meta_set_if(&mut self, shown: &Shown<'_>, value: &[u8], out: &mut SendBuf) -> Outcome {
        let mode = mode(&shown.flags);
        let item_max = self.shared.options.item_max;
        let decided = self.store.update_versioned(shown.key, shown.now.ticks, |item| {
            decide(shown, mode, value, item_max, item.as_ref())
        });
        self.tell_decided(shown, mode, decided, value.len(), out)
    }

    /// Tells what has come of a value that arrived in pieces, and counts it.
    pub(in crate::service) fn tell_stored(
        &mut self,
        shown: &Shown<'_>,
        mode: Mode,
        stored: Result<Version, StoreError>,
        len: usize,
        out: &mut SendBuf,
    ) -> Outcome {
        let decided = match (stored, mode) {
            (Ok(version), _) => Ok((Decided::Stored(len), Some(version))),
            (Err(StoreError::Exists), Mode::Cas) => Ok((Decided::Exists, None)),
            (Err(StoreError::NotFound), Mode::Cas) => Ok((Decided::NotFound, None)),
            (Err(StoreError::Exists | StoreError::NotFound), _) => Ok((Decided::NotStored, None)),
            (Err(error @ (StoreError::TooLarge | StoreError::OutOfMemory)), _) => Err(error),
        };
        self.tell_decided(shown, mode, decided, len, out)
    }

    /// Tells what was decided of a value of `given` bytes, and counts it.
    fn tell_decided(
        &mut self,
        shown: &Shown<'_>,
        mode: Mode,
        decided: Result<(Decided, Option<Version>), StoreError>,
        given: usize,
        out: &mut SendBuf,
    ) -> Outcome {
        let metrics = metrics::of_set(mode);
        match decided {
            Ok((Decided::Stored(len), version)) => {
                metrics.stored.increment();
                out.put_with(|bytes| shown.stored(bytes, version, len));
                version.map_or(Outcome::Ok, Outcome::Stored)
            }
            Ok((Decided::NotStored, _)) => {
                metrics.not_stored.increment();
                out.put_with(|bytes| shown.not_stored(bytes, b"NS", given));
                Outcome::NotStored
            }
            Ok((Decided::Exists, _)) => {
                metrics.not_stored.increment();
                out.put_with(|bytes| shown.not_stored(bytes, b"EX", given));
                Outcome::Exists
            }
            Ok((Decided::NotFound, _)) => {
                metrics.not_found.increment();
                out.put_with(|bytes| shown.not_stored(bytes, b"NF", given));
                Outcome::NotFound
            }
            Err(error) => self.not_set(shown, error, out),
        }
    }

    /// Tells that a value could not be stored. The old one is removed, because the client believes it replaced.
    #[cold]
    pub(in crate::service) fn not_set(
        &mut self,
        shown: &Shown<'_>,
        error: StoreError,
        out: &mut SendBuf,
    ) -> Outcome {
        metrics::of_set(mode(&shown.flags)).failed.increment();
        self.store.delete(shown.key, shown.now.ticks);
        failed(error, out)
    }
}

/// The mode, with a condition on the CAS number where that matters.
pub(in crate::service) fn mode(flags: &Flags<'_>) -> Mode {
    let mode = match flags.argument(b'M') {
        Some([b'A', ..]) => Mode::Append,
        Some([b'P', ..]) => Mode::Prepend,
        Some([b'E', ..]) => Mode::Add,
        Some([b'R', ..]) => Mode::Replace,
        _ => Mode::Set,
    };
    match (mode, flags.number(b'C')) {
        (Mode::Set | Mode::Replace, Some(_)) => Mode::Cas,
        _ => mode,
    }
}

/// The client's flags and the expiry that a value is stored with.
pub(in crate::service) fn stored_with(shown: &Shown<'_>) -> (u32, Expiry) {
    (shown.flags.client_flags(), expiry(shown))
}

fn expiry(shown: &Shown<'_>) -> Expiry {
    let time = shown.flags.argument(b'T').map(exptime);
    time.map_or(Expiry::NEVER, |exptime| exptime.expiry(shown.now))
}

/// What becomes of the item.
fn decide<'v>(
    shown: &Shown<'_>,
    mode: Mode,
    value: &'v [u8],
    item_max: usize,
    item: Option<&impl Item>,
) -> (Change<'v>, Decided) {
    let flags = &shown.flags;
    let refused = |decided| (Change::Keep, decided);
    let whole = Write {
        flags: Some(flags.client_flags()),
        expiry: Some(expiry(shown)),
        version: given_version(flags),
        ..Write::new(Content::Whole(value))
    };
    let stored = |write| (Change::Write(write), Decided::Stored(value.len()));
    let cas = flags.number(b'C');
    match (mode, item) {
        (Mode::Set, _) | (Mode::Add, None) | (Mode::Replace, Some(_)) => stored(whole),
        (Mode::Add, Some(_)) | (Mode::Replace, None) => refused(Decided::NotStored),
        (Mode::Cas, None) => refused(Decided::NotFound),
        (Mode::Cas, Some(item)) => {
            let (present, wanted) = (item.version().get(), cas.unwrap_or_default());
            if present == wanted {
                return stored(whole);
            }
            // A value that is older than the present one may be better than what was invalidated. It lives no longer.
            // No value is as old as the number 0.
            if flags.has(STALE) && wanted != 0 && item.is_newer_than(wanted) {
                let marks = Some(Marks { stale: true, ..item.marks() });
                return stored(Write { marks, expiry: Some(item.expiry()), ..whole });
            }
            refused(Decided::Exists)
        }
        (Mode::Append | Mode::Prepend, None) => match flags.argument(b'N').map(exptime) {
            None => refused(Decided::NotStored),
            Some(exptime) => stored(Write { expiry: Some(exptime.expiry(shown.now)), ..whole }),
        },
        (Mode::Append | Mode::Prepend, Some(item)) => {
            if cas.is_some_and(|wanted| wanted != 0 && wanted != item.version().get()) {
                return refused(Decided::Exists);
            }
            if extended_bytes(shown.key, item, value.len()) > item_max {
                return refused(Decided::NotStored);
            }
            let len = item.value().len().saturating_add(value.len());
            let (before, after) =
                if mode == Mode::Append { (&b""[..], value) } else { (value, &b""[..]) };
            let content = Content::Around { before, after };
            let write = Write { version: given_version(flags), ..Write::new(content) };
            (Change::Write(write), Decided::Stored(len))
        }
    }
}
