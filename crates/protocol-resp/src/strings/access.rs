// SPDX-License-Identifier: Apache-2.0
//! [`KeyAccess`] and [`StringAccess`] over a store of items that memcache clients use, too.
//!
//! A change keeps memcache's flags, a replacement sets them to 0. A number is stored as its text; spaces at
//! its end, which memcache's decr leaves when a number gets shorter, are ignored. A change of the expiry does
//! not write the value: flags and version stay, as with memcache's touch.
//!
//! `access/rewrite.rs`: values that are computed from those before.

mod rewrite;

use super::metrics::RESP_STORE_EX;
use super::store_call::{Outcome, StoreCall};
use crate::commands::access::{
    Change, Counted, Expiry, KeyAccess, KeyChange, Number, Only, StringAccess, StringValue,
};
use crate::commands::strings::PIN_MIN;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use bytes::Bytes;
use clock::Now;
use storage::Change::{Delete, Expire, Extend, Keep, Put};
use storage::{Condition, Item, Store, StoreError};

/// The most digits of a number of memcache, and so the longest value that its decr pads.
const PADDED_MAX: usize = 20;

/// A value without the spaces that memcache's decr has left at its end.
fn trimmed(value: &[u8]) -> &[u8] {
    if value.len() > PADDED_MAX {
        return value;
    }
    let end = value.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last.saturating_add(1));
    &value[..end]
}

/// The integer that a value spells.
fn integer(value: &[u8]) -> Result<i64, Fault> {
    values::parse_i64(trimmed(value)).ok_or(Fault::NOT_INTEGER)
}

/// The expiry at a moment in unix milliseconds.
fn at(moment: u64, now: Now) -> storage::Expiry {
    storage::Expiry::at(now.at_unix(moment))
}

/// The error for a write that the store refused. The old value is unchanged.
#[cold]
fn refused(error: StoreError) -> Fault {
    RESP_STORE_EX.increment();
    match error {
        StoreError::TooLarge => Fault::TOO_LONG,
        StoreError::OutOfMemory => Fault::OUT_OF_MEMORY,
        // A command with a condition handles these itself; without a condition they cannot occur.
        StoreError::Exists | StoreError::NotFound => {
            Fault::new("ERR the key was changed by somebody else meanwhile")
        }
    }
}

/// What the store does for a change of a key.
fn key_change(change: KeyChange, now: Now) -> storage::Change<'static> {
    match change {
        KeyChange::Keep => Keep,
        KeyChange::Expire(moment) => Expire(at(moment, now)),
        KeyChange::Persist => Expire(storage::Expiry::NEVER),
        KeyChange::Remove => Delete,
    }
}

impl<S: Store> StoreCall<'_, S> {
    /// Counts a look at a value, found or not.
    #[inline]
    fn count_read(&mut self, hit: bool) {
        self.lookups.add(hit);
        self.outcome = if hit { Outcome::Hit } else { Outcome::Miss };
    }

    /// Stores a value that expires when the one before it would have.
    fn put_keeping_expiry(&mut self, key: &[u8], value: &[u8], only: Only) -> Result<bool, Fault> {
        let stored = self.store.update(key, self.now.ticks, |item| {
            let stores = only.allows(item.is_some());
            let expiry = item.map_or(storage::Expiry::NEVER, |item| item.expiry());
            (if stores { Put { value, flags: 0, expiry } } else { Keep }, stores)
        });
        stored.map_err(refused)
    }
}

impl<'c, S: Store + 'static> KeyAccess<'c> for StoreCall<'c, S> {
    fn remove(&mut self, key: &[u8]) -> bool {
        self.store.delete(key, self.now.ticks)
    }

    fn contains(&mut self, key: &[u8]) -> bool {
        self.store.get(key, self.now.ticks).is_some()
    }

    fn touch(&mut self, key: &[u8]) -> bool {
        self.contains(key)
    }

    fn type_name(&mut self, key: &[u8]) -> Option<&'static str> {
        self.contains(key).then_some("string")
    }

    fn expiry(&mut self, key: &[u8]) -> Option<Option<u64>> {
        let item = self.store.get(key, self.now.ticks)?;
        Some(item.expiry().ticks().map(|at| self.now.unix_at(at)))
    }

    fn change_key(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(Option<u64>) -> KeyChange,
    ) -> Result<bool, Fault> {
        let now = self.now;
        let changed = self.store.update(key, now.ticks, |item| {
            let old = item.map(|item| item.expiry().ticks().map(|at| now.unix_at(at)));
            let change = old.map_or(KeyChange::Keep, &mut decide);
            (key_change(change, now), change != KeyChange::Keep)
        });
        changed.map_err(refused)
    }
}

/// An item as a string.
#[derive(Debug)]
pub(super) struct Stored<I>(I);

impl<I: Item> StringValue for Stored<I> {
    const COUNTS_HELD: bool = false;

    #[inline]
    fn text<'a>(&'a self, _: &'a mut values::Digits) -> &'a [u8] {
        self.0.value()
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.value().len()
    }

    #[inline]
    fn pin(&self) -> Option<Bytes> {
        if self.len() >= PIN_MIN { self.0.pin() } else { None }
    }

    #[inline]
    fn has_expiry(&self) -> bool {
        self.0.expiry() != storage::Expiry::NEVER
    }
}

impl<'c, S: Store + 'static> StoreCall<'c, S> {
    /// Carries out what `decide` says after it has seen an item; returns whether there was one.
    fn decide_and_change<'v>(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(
            Option<Stored<S::Item<'_>>>,
            &mut Writer<'c>,
        ) -> Result<Change<'v>, Fault>,
    ) -> Result<bool, Fault> {
        let StoreCall { store, out, now, .. } = self;
        let mark = out.begin_array();
        let hit = store.update(key, now.ticks, |item| {
            // The store may call this again after another worker's change.
            out.undo(mark);
            let hit = item.is_some();
            let old = item.as_ref().map_or(storage::Expiry::NEVER, Item::expiry);
            let change = match decide(item.map(Stored), out) {
                Ok(change) => change,
                Err(fault) => return (Keep, Err(fault)),
            };
            let change = match change {
                Change::Key(change) => key_change(change, *now),
                Change::Put(value, expiry) => {
                    let expiry = match expiry {
                        Expiry::Never => storage::Expiry::NEVER,
                        Expiry::At(moment) => at(moment, *now),
                        Expiry::Keep => old,
                    };
                    Put { value, flags: 0, expiry }
                }
            };
            (change, Ok(hit))
        });
        hit.map_err(refused)?
    }
}

impl<'c, S: Store + 'static> StringAccess<'c> for StoreCall<'c, S> {
    type Value<'v> = Stored<S::Item<'v>>;

    /// One look-up.
    #[inline]
    fn read(
        &mut self,
        key: &[u8],
        see: impl FnOnce(Option<Self::Value<'_>>, &mut Writer<'c>),
    ) -> Done {
        let hit = match self.store.get(key, self.now.ticks) {
            Some(item) => {
                see(Some(Stored(item)), &mut self.out);
                true
            }
            None => {
                see(None, &mut self.out);
                false
            }
        };
        self.count_read(hit);
        Ok(())
    }

    fn read_and_change<'v>(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<Self::Value<'_>>, &mut Writer<'c>) -> Result<Change<'v>, Fault>,
    ) -> Done {
        let hit = self.decide_and_change(key, decide)?;
        self.count_read(hit);
        Ok(())
    }

    fn compare_and_change<'v>(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<Self::Value<'_>>, &mut Writer<'c>) -> Result<Change<'v>, Fault>,
    ) -> Done {
        self.decide_and_change(key, decide).map(|_| ())
    }

    fn len_of(&mut self, key: &[u8]) -> Result<usize, Fault> {
        let item = self.store.get(key, self.now.ticks);
        Ok(item.map_or(0, |item| item.value().len()))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8], expiry: Expiry, only: Only) -> Result<bool, Fault> {
        let expiry = match expiry {
            Expiry::Never => storage::Expiry::NEVER,
            Expiry::At(moment) => at(moment, self.now),
            Expiry::Keep => return self.put_keeping_expiry(key, value, only),
        };
        let condition = match only {
            Only::Always => Condition::Always,
            Only::IfAbsent => Condition::IfAbsent,
            Only::IfPresent => Condition::IfPresent,
        };
        let put = storage::Put::new(key, value).expiry(expiry).condition(condition);
        match self.store.put(put, self.now.ticks) {
            Ok(_) => Ok(true),
            Err(StoreError::Exists | StoreError::NotFound) => Ok(false),
            Err(error) => Err(refused(error)),
        }
    }

    /// With several keys a condition is refused: a store whose operations have one key each cannot guarantee
    /// that all are stored or none.
    fn put_all(&mut self, pairs: Args<'_>, expiry: Expiry, only: Only) -> Result<bool, Fault> {
        if only != Only::Always && pairs.len() > 2 {
            let name = self.spec.name.to_ascii_uppercase();
            return Err(Fault::made(format!(
                "ERR {name} of more than one key on a condition is not supported by this server"
            )));
        }
        let mut is_met = true;
        for [key, value] in pairs.pairs() {
            is_met = self.put(key, value, expiry, only)?;
        }
        Ok(is_met)
    }

    fn append(&mut self, key: &[u8], more: &[u8]) -> Result<usize, Fault> {
        let len = self.store.update(key, self.now.ticks, |item| match item {
            Some(item) => {
                let len = item.value().len().saturating_add(more.len());
                (Extend { before: b"", after: more }, len)
            }
            None => (Put { value: more, flags: 0, expiry: storage::Expiry::NEVER }, more.len()),
        });
        len.map_err(refused)
    }

    fn overwrite(&mut self, key: &[u8], offset: usize, with: &[u8]) -> Result<usize, Fault> {
        let end = offset.saturating_add(with.len());
        if end > self.shared.options.value_max {
            return Err(Fault::TOO_LONG);
        }
        self.rewrite(key, |old, new| {
            new.extend_from_slice(old.unwrap_or_default());
            new.resize(new.len().max(end), 0);
            new[offset..end].copy_from_slice(with);
            Ok(new.len())
        })
    }

    #[inline]
    fn change_integer(
        &mut self,
        key: &[u8],
        first: i64,
        change: impl Fn(i64) -> Result<i64, Fault>,
    ) -> Result<i64, Fault> {
        let mut digits = itoa::Buffer::new();
        let value = digits.format(first).as_bytes();
        let new = self.store.update(key, self.now.ticks, |item| {
            let Some(item) = item else {
                return (Put { value, flags: 0, expiry: storage::Expiry::NEVER }, Ok(first));
            };
            match integer(item.value()).and_then(&change) {
                Ok(new) => {
                    let mut digits = itoa::Buffer::new();
                    (
                        storage::Change::Number(storage::Digits::new(
                            digits.format(new).as_bytes(),
                        )),
                        Ok(new),
                    )
                }
                Err(fault) => (Keep, Err(fault)),
            }
        });
        new.map_err(refused)?
    }

    fn change_number(
        &mut self,
        key: &[u8],
        mut change: impl FnMut(Option<&[u8]>) -> Result<String, Fault>,
    ) -> Result<String, Fault> {
        self.rewrite(key, |old, new| {
            let text = change(old.map(trimmed))?;
            new.extend_from_slice(text.as_bytes());
            Ok(text)
        })
    }

    fn count<R>(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<Number<'_>>) -> Result<(Counted, R), Fault>,
    ) -> Result<R, Fault> {
        self.rewrite_number(key, decide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_redis_and_what_memcache_makes_of_them() {
        assert_eq!(integer(b"7"), Ok(7));
        assert_eq!(integer(b"9   "), Ok(9));
        assert_eq!(integer(b"-1"), Ok(-1));
        assert_eq!(integer(&[b"9", &[b' '; 19][..]].concat()), Ok(9));
        assert_eq!(integer(&[b"9", &[b' '; 20][..]].concat()), Err(Fault::NOT_INTEGER));
        for value in ["", " ", "007", "+7", " 7", "7 8", "7\n", "7.0", "9223372036854775808"] {
            assert_eq!(integer(value.as_bytes()), Err(Fault::NOT_INTEGER), "{value:?}");
        }
    }
}
