// SPDX-License-Identifier: Apache-2.0
//! The commands that read values: get, gets, gat, gats; and touch, which is gat without the value.

use super::MemcacheService;
use super::discovery::CLUSTER_KEY;
use super::outcome::Outcome;
use super::set::refused;
use crate::command::CommandId;
use crate::metrics;
use crate::op::{Family, Get};
use crate::reply::Dialect;
use buffer::SendBuf;
use bytes::Bytes;
use clock::Now;
use storage::{Change, Expiry, Item, Receive, StoreError};

/// Values of at least this size are sent by reference, if the store can lend them. For smaller
/// ones, one more slice in the gathering write and the reference count cost more than the copy.
const PIN_MIN: usize = 16 * 1024;

impl<S: Receive> MemcacheService<S> {
    /// Reads one key. One look-up, one copy of the value into the reply.
    #[inline(always)]
    pub(super) fn get<D: Dialect>(
        &mut self,
        get: &Get<'_>,
        reply: D,
        out: &mut SendBuf,
        now: Now,
    ) -> Outcome {
        let family = Family::of(get.cas, false);
        // Not in a closure, which would not be inlined.
        let bytes = out.tail();
        let Some(item) = self.store.get(get.key, now.ticks) else {
            // The one key whose value is no item's, by its length, and on a miss alone.
            if get.key.len() == CLUSTER_KEY.len()
                && let Some(nodes) = self.nodes(get.key)
            {
                text_value(bytes, get, &nodes, reply);
                return count(family, true);
            }
            reply.miss(bytes, get);
            return count(family, false);
        };
        let pinned = text_value(bytes, get, &item, reply);
        drop(item);
        if let Some(pinned) = pinned {
            put_pinned(pinned, reply, out);
        }
        count(family, true)
    }

    /// Reads one key and changes its expiry, in one atomic step.
    #[inline(never)]
    pub(super) fn get_and_touch<D: Dialect>(
        &mut self,
        get: &Get<'_>,
        command: CommandId,
        expiry: Expiry,
        reply: D,
        out: &mut SendBuf,
        now: Now,
    ) -> Outcome {
        let mut found = Ok(None);
        out.put_with(|bytes| {
            let start = bytes.len();
            found = self.store.update(get.key, now.ticks, |item| {
                // The store may call this again after another worker's change.
                bytes.truncate(start);
                match item {
                    Some(item) => {
                        let pinned = text_value(bytes, get, &item, reply);
                        (Change::Expire(expiry), Some(pinned))
                    }
                    None => (Change::Miss, None),
                }
            });
            if found.is_err() {
                bytes.truncate(start);
            }
        });
        match found {
            Ok(Some(pinned)) => {
                if let Some(pinned) = pinned {
                    put_pinned(pinned, reply, out);
                }
                count(Family::Gat, true)
            }
            Ok(None) | Err(StoreError::NotFound) => {
                out.put_with(|bytes| reply.miss(bytes, get));
                count(Family::Gat, false)
            }
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                not_touched(command, error, reply, out)
            }
        }
    }

    /// Changes a key's expiry.
    #[inline]
    pub(super) fn touch(&mut self, key: &[u8], expiry: Expiry, now: Now) -> Outcome {
        let touched = self.store.update_versioned(key, now.ticks, |item| match item {
            Some(item) => (Change::Expire(expiry), Some(item.flags())),
            None => (Change::Miss, None),
        });
        match touched {
            Ok((Some(flags), Some(version))) => {
                metrics::TOUCH_TOUCHED.increment();
                Outcome::Touched(flags, version)
            }
            Ok((_, _)) | Err(StoreError::NotFound) => {
                metrics::TOUCH_NOT_FOUND.increment();
                Outcome::NotFound
            }
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                refused(error)
            }
        }
    }
}

/// Replies for an existing key whose expiry the store could not change. The error takes the place of the
/// `END` up to which a client reads. So within a list the connection closes after it, or the client would
/// take the rest of the list for the next reply.
#[cold]
fn not_touched<D: Dialect>(
    command: CommandId,
    error: StoreError,
    reply: D,
    out: &mut SendBuf,
) -> Outcome {
    let outcome = refused(error).tell(reply, out);
    if !reply.is_listed() {
        return outcome;
    }
    command.command().requests.increment();
    Outcome::Closed
}

/// Appends a hit, with what the dialect writes around the value.
#[inline]
fn text_value<D: Dialect>(
    bytes: &mut Vec<u8>,
    get: &Get<'_>,
    item: &impl Item,
    reply: D,
) -> Option<Bytes> {
    let before = |bytes: &mut Vec<u8>, copied| reply.hit(bytes, get, item, copied);
    value(bytes, item, reply.sends_value(), before, |bytes| reply.behind_value(bytes)).1
}

/// Appends a hit: what `before` writes, and if the value is `sent`, the value and what `behind` writes. If the value is
/// to be sent by reference, returns it instead of copying it; then what follows it is not written yet.
#[inline]
pub(super) fn value<R>(
    bytes: &mut Vec<u8>,
    item: &impl Item,
    sent: bool,
    before: impl FnOnce(&mut Vec<u8>, bool) -> R,
    behind: impl FnOnce(&mut Vec<u8>),
) -> (R, Option<Bytes>) {
    let value = item.value();
    let pinned = if sent && value.len() >= PIN_MIN { item.pin() } else { None };
    let copied = sent && pinned.is_none();
    let result = before(bytes, copied);
    if copied {
        bytes.extend_from_slice(value);
        behind(bytes);
    }
    (result, pinned)
}

#[cold]
fn put_pinned<D: Dialect>(value: Bytes, reply: D, out: &mut SendBuf) {
    out.put_lent(value);
    out.put_with(|bytes| reply.behind_value(bytes));
}

#[inline(always)]
pub(super) fn count(family: Family, hit: bool) -> Outcome {
    let metrics = metrics::of_get(family);
    if hit {
        metrics.hit.increment();
        Outcome::Hit
    } else {
        metrics.miss.increment();
        Outcome::Miss
    }
}
