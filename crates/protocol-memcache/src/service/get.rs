// SPDX-License-Identifier: Apache-2.0
//! The commands that read values: get, gets, gat, gats; and touch, which is gat without the value.

use super::MemcacheService;
use super::outcome::Outcome;
use super::write::refused;
use crate::metrics;
use crate::reply;
use crate::request::Read;
use buffer::SendBuf;
use bytes::Bytes;
use clock::Now;
use storage::{Change, Expiry, Item, Store, StoreError};

/// From this size on a value leaves by reference, if the store can lend it: below, one more slice
/// in the gathering write and the reference count cost more than the copy.
const PIN_MIN: usize = 16 * 1024;

impl<S: Store> MemcacheService<S> {
    /// Reads one key. One look-up, one copy of the value into the reply.
    #[inline]
    pub(super) fn read(
        &mut self,
        key: &[u8],
        read: Read,
        only: bool,
        out: &mut SendBuf,
        now: Now,
    ) -> Outcome {
        let mut pinned = None;
        let mut hit = false;
        out.put_with(|bytes| {
            if let Some(item) = self.store.get(key, now.ticks) {
                hit = true;
                pinned = value(bytes, key, &item, read.shows_cas());
                if only && pinned.is_none() {
                    bytes.extend_from_slice(reply::END);
                }
            } else if only {
                bytes.extend_from_slice(reply::END);
            }
        });
        if let Some(pinned) = pinned {
            put_pinned(pinned, only, out);
        }
        count(read, hit, only)
    }

    /// Reads one key and changes its expiry, in one atomic step.
    pub(super) fn read_and_touch(
        &mut self,
        key: &[u8],
        read: Read,
        expiry: Expiry,
        only: bool,
        out: &mut SendBuf,
        now: Now,
    ) -> Outcome {
        let mut found = Ok(None);
        out.put_with(|bytes| {
            let start = bytes.len();
            found = self.store.update(key, now.ticks, |item| {
                // The store may ask again after another worker's change.
                bytes.truncate(start);
                match item {
                    Some(item) => {
                        let pinned = value(bytes, key, &item, read.shows_cas());
                        (Change::Expire(expiry), Some(pinned))
                    }
                    None => (Change::Keep, None),
                }
            });
            if found.is_err() {
                bytes.truncate(start);
            }
        });
        let hit = match found {
            Ok(Some(Some(pinned))) => {
                put_pinned(pinned, only, out);
                return count(read, true, only);
            }
            Ok(Some(None)) => true,
            Ok(None) | Err(StoreError::NotFound) => false,
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                return not_touched(read, error, only, out);
            }
        };
        if only {
            out.put(reply::END);
        }
        count(read, hit, only)
    }

    /// Changes a key's expiry.
    pub(super) fn touch(&mut self, key: &[u8], expiry: Expiry, now: Now) -> Outcome {
        metrics::TOUCH.increment();
        let touched = self.store.update(key, now.ticks, |item| match item {
            Some(_) => (Change::Expire(expiry), true),
            None => (Change::Keep, false),
        });
        match touched {
            Ok(true) => {
                metrics::TOUCH_TOUCHED.increment();
                Outcome::Touched
            }
            Ok(false) | Err(StoreError::NotFound) => {
                metrics::TOUCH_NOT_FOUND.increment();
                Outcome::NotFound
            }
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                refused(error)
            }
        }
    }
}

/// Answers a key that is there and whose expiry the store could not change. Its reply takes the place of
/// the `END` that a client reads up to: behind one within a list the connection closes, or the rest of the
/// list would be taken for the next reply.
#[cold]
fn not_touched(read: Read, error: StoreError, only: bool, out: &mut SendBuf) -> Outcome {
    let metrics = metrics::of_read(read);
    metrics.keys.increment();
    metrics.lines.increment();
    let outcome = refused(error).tell(false, out);
    if only { outcome } else { Outcome::Closed }
}

/// Appends a value with its first line, and its line end; returns the value instead if it is to
/// follow by reference.
#[inline]
fn value(bytes: &mut Vec<u8>, key: &[u8], item: &impl Item, shows_cas: bool) -> Option<Bytes> {
    let value = item.value();
    let cas = shows_cas.then(|| item.version().get());
    let pinned = if value.len() >= PIN_MIN { item.pin() } else { None };
    reply::value_line(bytes, key, item.flags(), value.len(), cas, pinned.is_none());
    if pinned.is_none() {
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(b"\r\n");
    }
    pinned
}

#[cold]
fn put_pinned(value: Bytes, only: bool, out: &mut SendBuf) {
    out.put_pinned(value);
    out.put(b"\r\n");
    if only {
        out.put(reply::END);
    }
}

#[inline]
fn count(read: Read, hit: bool, only: bool) -> Outcome {
    let metrics = metrics::of_read(read);
    metrics.keys.increment();
    if only {
        metrics.lines.increment();
    }
    if hit {
        metrics.hit.increment();
        Outcome::Hit
    } else {
        metrics.miss.increment();
        Outcome::Miss
    }
}
