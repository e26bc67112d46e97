// SPDX-License-Identifier: Apache-2.0
//! Values that are computed from the ones before: read, computed, and stored if nobody has changed the item
//! meanwhile, or else once more.

use super::{at, refused, trimmed};
use crate::commands::access::{Counted, NewNumber, Number, Until};
use crate::commands::strings::PIN_MIN;
use crate::strings::store_call::StoreCall;
use crate::wire::fault::Fault;
use clock::Ticks;
use storage::Change::{Delete, Keep, Put};
use storage::{Item, Store, Version};

/// Changes an item if nobody has changed it since it had the version that was seen; returns whether it did.
fn if_unchanged<'v, S: Store>(
    store: &mut S,
    key: &[u8],
    now: Ticks,
    seen: Option<Version>,
    change: impl Fn(Option<&S::Item<'_>>) -> storage::Change<'v>,
) -> Result<bool, Fault> {
    let changed = store.update(key, now, |item| {
        let is_unchanged = item.as_ref().map(Item::version) == seen;
        (if is_unchanged { change(item.as_ref()) } else { Keep }, is_unchanged)
    });
    changed.map_err(refused)
}

/// A value in place of that of an item, whose flags and expiry stay.
fn put_in_place<'v>(item: Option<&impl Item>, value: &'v [u8]) -> storage::Change<'v> {
    let expiry = item.map_or(storage::Expiry::NEVER, Item::expiry);
    Put { value, flags: item.map_or(0, Item::flags), expiry }
}

impl<S: Store> StoreCall<'_, S> {
    /// Replaces a value by one computed from it, or from nothing if there is none, in one atomic step. Flags
    /// and expiry stay. `make` replaces the contents of the vector by the new value; it is called again if
    /// another worker has changed the item meanwhile. Its result is returned.
    pub(super) fn rewrite<R>(
        &mut self,
        key: &[u8],
        mut make: impl FnMut(Option<&[u8]>, &mut Vec<u8>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let now = self.now.ticks;
        let result = loop {
            self.scratch.clear();
            let item = self.store.get(key, now);
            let result = make(item.as_ref().map(Item::value), self.scratch)?;
            let seen = item.map(|item| item.version());
            let value = &self.scratch[..];
            let written =
                if_unchanged(self.store, key, now, seen, |item| put_in_place(item, value));
            if written? {
                break result;
            }
        };
        // One large value is no reason to hold on to so much memory.
        if self.scratch.capacity() > PIN_MIN {
            *self.scratch = Vec::new();
        }
        Ok(result)
    }

    /// Replaces a number by what `decide` makes of it; returns what `decide` says further. Flags stay.
    pub(super) fn rewrite_number<R>(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(Option<Number<'_>>) -> Result<(Counted, R), Fault>,
    ) -> Result<R, Fault> {
        let now = self.now;
        loop {
            let item = self.store.get(key, now.ticks);
            let number = item.as_ref().map(|item| Number {
                text: trimmed(item.value()),
                has_expiry: item.expiry() != storage::Expiry::NEVER,
            });
            let (counted, result) = decide(number)?;
            let seen = item.map(|item| item.version());
            let is_done = match counted {
                Counted::Keep => true,
                Counted::Remove => if_unchanged(self.store, key, now.ticks, seen, |_| Delete)?,
                Counted::Put(number, until) => {
                    let text = match number {
                        NewNumber::Integer(integer) => integer.to_string(),
                        NewNumber::Float(text) => text,
                    };
                    if_unchanged(self.store, key, now.ticks, seen, |item| {
                        let expiry = match until {
                            Until::Keep => item.map_or(storage::Expiry::NEVER, Item::expiry),
                            Until::At(moment) => at(moment, now),
                            Until::Persist => storage::Expiry::NEVER,
                        };
                        Put { value: text.as_bytes(), flags: item.map_or(0, Item::flags), expiry }
                    })?
                }
            };
            if is_done {
                return Ok(result);
            }
        }
    }
}
