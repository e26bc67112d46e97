// SPDX-License-Identifier: Apache-2.0
//! `md`.

use super::super::MemcacheService;
use super::super::outcome::Outcome;
use super::{failed, given_version};
use crate::metrics;
use crate::parse::meta::Letters;
use crate::reply::meta::{Shown, exptime};
use buffer::SendBuf;
use storage::{Change, Content, Expiry, Item, Marks, Receive, StoreError, Write};

/// Flags with which the item may stay: a condition, a mark instead of the removal, the removal of its value alone.
const STAYING: Letters = Letters::of(b"CIx");
const STALE: Letters = Letters::of(b"I");
const VALUE_ONLY: Letters = Letters::of(b"x");

/// What an atomic step decided.
enum Decided {
    Removed,
    /// The item stays, with a mark: no deletion, as memcached counts.
    Marked,
    Changed,
    NotFound,
}

impl<S: Receive> MemcacheService<S> {
    /// Removes an item, its value alone, or marks it as stale.
    #[inline(never)]
    pub(super) fn meta_delete(&mut self, shown: &Shown<'_>, out: &mut SendBuf) -> Outcome {
        let decided = if shown.flags.has(STAYING) {
            self.store.update(shown.key, shown.now.ticks, |item| decide(shown, item.as_ref()))
        } else if self.store.delete(shown.key, shown.now.ticks) {
            Ok(Decided::Removed)
        } else {
            Ok(Decided::NotFound)
        };
        match decided {
            Ok(done @ (Decided::Removed | Decided::Marked)) => {
                if matches!(done, Decided::Removed) {
                    metrics::DELETE_DELETED.increment();
                }
                out.put_with(|bytes| shown.done(bytes));
                Outcome::Deleted
            }
            Ok(Decided::Changed) => {
                metrics::DELETE_NOT_FOUND.increment();
                out.put_with(|bytes| shown.not_done(bytes, b"EX"));
                Outcome::Exists
            }
            Ok(Decided::NotFound) | Err(StoreError::NotFound) => {
                metrics::DELETE_NOT_FOUND.increment();
                out.put_with(|bytes| shown.not_done(bytes, b"NF"));
                Outcome::NotFound
            }
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                failed(error, out)
            }
        }
    }
}

fn decide(shown: &Shown<'_>, item: Option<&impl Item>) -> (Change<'static>, Decided) {
    let flags = &shown.flags;
    let Some(item) = item else { return (Change::Keep, Decided::NotFound) };
    if flags.number(b'C').is_some_and(|wanted| wanted != item.version().get()) {
        return (Change::Keep, Decided::Changed);
    }
    let expiry = flags.argument(b'T').map(|argument| exptime(argument).expiry(shown.now));
    // The next reader is to fetch the value, also if another one was told so before.
    let stale = flags.has(STALE).then_some(Marks { stale: true, claimed: false });
    let version = given_version(flags);
    let write = if flags.has(VALUE_ONLY) {
        Write {
            flags: Some(flags.number(b'F').map_or(0, |number| number as u32)),
            expiry: Some(expiry.unwrap_or(Expiry::NEVER)),
            // Without the mark, nobody has to notice.
            version: version.or_else(|| stale.is_none().then(|| item.version())),
            marks: stale,
            ..Write::new(Content::Whole(b""))
        }
    } else if stale.is_some() {
        Write { expiry, version, marks: stale, ..Write::new(Content::Same) }
    } else {
        return (Change::Delete, Decided::Removed);
    };
    let done = if stale.is_some() { Decided::Marked } else { Decided::Removed };
    (Change::Write(write), done)
}
