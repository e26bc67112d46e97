// SPDX-License-Identifier: Apache-2.0
//! [`KeyAccess`] and [`StringAccess`] over a keyspace with values of all types.

use super::{
    Change, Counted, Expiry, KeyAccess, KeyChange, NewNumber, Number, Only, StringAccess,
    StringValue, Until, visit_ahead,
};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::session::connection::BULK_MAX_LEAST;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use bytes::Bytes;
use keyspace::View;
use values::{Digits, Entry, Type};

/// A string was stored.
const SET: Event = Event::of(Class::STRING, "set");

/// A key was given an expiry.
const EXPIRE: Event = Event::of(Class::GENERIC, "expire");

/// An integer was added to.
const INCRBY: Event = Event::of(Class::STRING, "incrby");

/// A number with a fraction was added to.
const INCRBYFLOAT: Event = Event::of(Class::STRING, "incrbyfloat");

/// The expiry of a key was taken away.
const PERSIST: Event = Event::of(Class::GENERIC, "persist");

impl<V: View> Call<'_, V> {
    /// Stores a string in place of whatever is under `key`.
    #[inline]
    fn store(&mut self, key: &[u8], value: &[u8], expiry: Expiry) {
        let kept = self.kept(value);
        if kept.is_none()
            && let Some(mut entry) = self.keys.any_mut(key)
            && !entry.is_large()
        {
            entry.set_string(value);
            match expiry {
                Expiry::Never => entry.set_expiry(None),
                Expiry::At(moment) => entry.set_expiry(Some(moment)),
                Expiry::Keep => {}
            }
        } else {
            let mut entry = match kept {
                Some((value, capacity)) => Entry::shared_string(key, value, capacity),
                None => Entry::string(key, value),
            };
            entry.set_expiry(match expiry {
                Expiry::Never => None,
                Expiry::At(moment) => Some(moment),
                Expiry::Keep => self.keys.peek(key).and_then(Entry::expiry),
            });
            self.keys.put(entry);
        }
        self.modified(key, SET);
        if matches!(expiry, Expiry::At(_)) {
            self.notify(key, EXPIRE);
        }
    }

    /// A large value in the block that its request has come in, if it has one for itself, and the bytes of that block.
    #[inline]
    fn kept(&self, value: &[u8]) -> Option<(Bytes, usize)> {
        let lent = self.lent?;
        Some((lent.share(value)?, lent.capacity()))
    }

    /// Whether a key is as a condition wants it.
    #[inline]
    fn meets(&mut self, key: &[u8], only: Only) -> bool {
        match only {
            Only::Always => true,
            Only::IfAbsent => self.keys.any_mut(key).is_none(),
            Only::IfPresent => self.keys.peek(key).is_some(),
        }
    }

    /// Carries out what a command does to a string that it has seen.
    #[inline]
    fn apply(&mut self, key: &[u8], change: Change<'_>) {
        match change {
            Change::Put(value, expiry) => self.store(key, value, expiry),
            Change::Key(KeyChange::Keep) => {}
            Change::Key(KeyChange::Expire(moment)) => {
                self.keys.set_expiry(key, Some(moment));
                self.modified(key, EXPIRE);
            }
            Change::Key(KeyChange::Persist) => {
                self.keys.set_expiry(key, None);
                self.modified(key, PERSIST);
            }
            Change::Key(KeyChange::Remove) => {
                self.remove(key);
            }
        }
    }

    /// Stores a number in place of the one under `key`, or where there is none.
    fn store_number(&mut self, key: &[u8], number: &NewNumber, until: Until) {
        let event = match number {
            NewNumber::Integer(integer) => {
                if let Some(mut entry) = self.keys.any_mut(key) {
                    entry.set_integer(*integer);
                } else {
                    self.keys.put(Entry::integer(key, *integer));
                }
                INCRBY
            }
            NewNumber::Float(text) => {
                if let Some(mut entry) = self.keys.any_mut(key) {
                    entry.set_text(text.as_bytes());
                } else {
                    self.keys.put(number_entry(key, text));
                }
                INCRBYFLOAT
            }
        };
        self.modified(key, event);
        match until {
            Until::Keep => {}
            Until::At(moment) => {
                self.keys.set_expiry(key, Some(moment));
                self.notify(key, EXPIRE);
            }
            Until::Persist => {
                self.keys.set_expiry(key, None);
                self.notify(key, PERSIST);
            }
        }
    }
}

/// A new entry of a number with a fraction.
fn number_entry(key: &[u8], text: &str) -> Entry {
    let mut entry = Entry::raw_string(key, b"");
    entry.set_text(text.as_bytes());
    entry
}

/// Refuses to make a string of so many bytes: no string is longer than an argument may be.
fn check_length(bulk_max: usize, len: usize) -> Done {
    if len > BULK_MAX_LEAST && len > bulk_max {
        return Err(Fault::TOO_LONG);
    }
    Ok(())
}

impl<'c, V: View> KeyAccess<'c> for Call<'c, V> {
    fn remove(&mut self, key: &[u8]) -> bool {
        let was_there = self.keys.remove(key);
        if was_there {
            self.modified(key, Event::DEL);
        }
        was_there
    }

    fn contains(&mut self, key: &[u8]) -> bool {
        let is_there = self.keys.glance(key).is_some();
        if !is_there {
            self.missed(key);
        }
        is_there
    }

    fn touch(&mut self, key: &[u8]) -> bool {
        let is_there = self.keys.any(key).is_some();
        if !is_there {
            self.missed(key);
        }
        is_there
    }

    fn type_name(&mut self, key: &[u8]) -> Option<&'static str> {
        let name = self.keys.glance(key).map(|entry| entry.data_type().name());
        if name.is_none() {
            self.missed(key);
        }
        name
    }

    fn expiry(&mut self, key: &[u8]) -> Option<Option<u64>> {
        let expiry = self.keys.glance(key).map(Entry::expiry);
        if expiry.is_none() {
            self.missed(key);
        }
        expiry
    }

    fn change_key(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(Option<u64>) -> KeyChange,
    ) -> Result<bool, Fault> {
        let Some(mut entry) = self.keys.any_mut(key) else { return Ok(false) };
        let change = decide(entry.expiry());
        match change {
            KeyChange::Keep => return Ok(false),
            KeyChange::Expire(moment) => {
                entry.set_expiry(Some(moment));
                drop(entry);
                self.modified(key, EXPIRE);
            }
            KeyChange::Persist => {
                entry.set_expiry(None);
                drop(entry);
                self.modified(key, PERSIST);
            }
            KeyChange::Remove => {
                drop(entry);
                self.remove(key);
            }
        }
        Ok(true)
    }
}

impl StringValue for &Entry {
    /// As entries, and as [orphans](values::orphans).
    const COUNTS_HELD: bool = true;

    #[inline]
    fn text<'a>(&'a self, digits: &'a mut Digits) -> &'a [u8] {
        Entry::text(self, digits)
    }

    #[inline]
    fn len(&self) -> usize {
        Entry::len(self)
    }

    #[inline]
    fn pin(&self) -> Option<Bytes> {
        Entry::pin(self)
    }

    #[inline]
    fn has_expiry(&self) -> bool {
        self.expiry().is_some()
    }
}

impl<'c, V: View> StringAccess<'c> for Call<'c, V> {
    type Value<'v> = &'v Entry;

    #[inline]
    fn read(&mut self, key: &[u8], see: impl FnOnce(Option<&Entry>, &mut Writer<'c>)) -> Done {
        match self.keys.get(key, Type::String)? {
            Some(entry) => see(Some(entry), &mut self.out),
            None => {
                see(None, &mut self.out);
                self.missed(key);
            }
        }
        Ok(())
    }

    fn read_and_change<'v>(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(Option<&Entry>, &mut Writer<'c>) -> Result<Change<'v>, Fault>,
    ) -> Done {
        let found = self.keys.get(key, Type::String)?;
        let is_missing = found.is_none();
        let change = decide(found, &mut self.out)?;
        if is_missing {
            self.missed(key);
        }
        self.apply(key, change);
        Ok(())
    }

    fn compare_and_change<'v>(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(Option<&Entry>, &mut Writer<'c>) -> Result<Change<'v>, Fault>,
    ) -> Done {
        let found = self.keys.touch(key);
        if found.is_some_and(|entry| entry.data_type() != Type::String) {
            return Err(Fault::WRONG_TYPE);
        }
        let change = decide(found, &mut self.out)?;
        self.apply(key, change);
        Ok(())
    }

    fn len_of(&mut self, key: &[u8]) -> Result<usize, Fault> {
        Ok(self.keys.get_mut(key, Type::String)?.map_or(0, |entry| entry.len()))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8], expiry: Expiry, only: Only) -> Result<bool, Fault> {
        let stores = self.meets(key, only);
        if stores {
            self.store(key, value, expiry);
        }
        Ok(stores)
    }

    fn put_all(&mut self, pairs: Args<'_>, expiry: Expiry, only: Only) -> Result<bool, Fault> {
        let stores = only == Only::Always || pairs.pairs().all(|[key, _]| self.meets(key, only));
        if stores {
            visit_ahead(self, pairs, |call, [key, value]| {
                call.store(key, value, expiry);
                Ok(())
            })?;
        }
        Ok(stores)
    }

    fn append(&mut self, key: &[u8], more: &[u8]) -> Result<usize, Fault> {
        let bulk_max = self.bulk_max();
        let len = if let Some(mut entry) = self.keys.get_mut(key, Type::String)? {
            check_length(bulk_max, entry.len().saturating_add(more.len()))?;
            entry.append(more);
            entry.len()
        } else {
            self.keys.put(Entry::string(key, more));
            more.len()
        };
        self.modified(key, Event::of(Class::STRING, "append"));
        Ok(len)
    }

    fn overwrite(&mut self, key: &[u8], offset: usize, with: &[u8]) -> Result<usize, Fault> {
        let (bulk_max, end) = (self.bulk_max(), offset.saturating_add(with.len()));
        let len = if let Some(mut entry) = self.keys.get_mut(key, Type::String)? {
            check_length(bulk_max, end)?;
            entry.set_range(offset, with);
            entry.len()
        } else {
            check_length(bulk_max, end)?;
            let mut entry = Entry::raw_string(key, b"");
            entry.set_range(offset, with);
            self.keys.put(entry);
            end
        };
        self.modified(key, Event::of(Class::STRING, "setrange"));
        Ok(len)
    }

    #[inline]
    fn change_integer(
        &mut self,
        key: &[u8],
        first: i64,
        change: impl Fn(i64) -> Result<i64, Fault>,
    ) -> Result<i64, Fault> {
        let new = if let Some(mut entry) = self.keys.get_mut(key, Type::String)? {
            let new = change(entry.as_integer().ok_or(Fault::NOT_INTEGER)?)?;
            entry.set_integer(new);
            new
        } else {
            self.keys.put(Entry::integer(key, first));
            first
        };
        self.modified(key, INCRBY);
        Ok(new)
    }

    fn change_number(
        &mut self,
        key: &[u8],
        mut change: impl FnMut(Option<&[u8]>) -> Result<String, Fault>,
    ) -> Result<String, Fault> {
        let text = if let Some(mut entry) = self.keys.get_mut(key, Type::String)? {
            let text = change(Some(entry.text(&mut Digits::new())))?;
            entry.set_text(text.as_bytes());
            text
        } else {
            let text = change(None)?;
            self.keys.put(number_entry(key, &text));
            text
        };
        self.modified(key, INCRBYFLOAT);
        Ok(text)
    }

    fn count<R>(
        &mut self,
        key: &[u8],
        mut decide: impl FnMut(Option<Number<'_>>) -> Result<(Counted, R), Fault>,
    ) -> Result<R, Fault> {
        let mut digits = Digits::new();
        let entry = self.keys.get_mut(key, Type::String)?;
        let number = entry.as_ref().map(|entry| Number {
            has_expiry: entry.expiry().is_some(),
            text: entry.text(&mut digits),
        });
        let (counted, result) = decide(number)?;
        drop(entry);
        match counted {
            Counted::Keep => {}
            Counted::Put(number, until) => self.store_number(key, &number, until),
            Counted::Remove => {
                self.remove(key);
            }
        }
        Ok(result)
    }
}
