// SPDX-License-Identifier: Apache-2.0
//! [`Keys`]: a command's access to the keys it has locked, in the database its connection selected.

use crate::host::stats::Lookups;
use crate::wire::fault::Fault;
use keyspace::{EntryMut, View};
use values::{Entry, Limits, Type};

/// The locked part of the keyspace as one command sees it.
///
/// A field of its own in [`Call`](crate::engine::call::Call), so that a value can be borrowed from it while the
/// reply is written.
#[derive(Debug)]
pub(crate) struct Keys<'c, V> {
    pub(crate) view: &'c mut V,
    /// The selected database.
    pub(crate) db: usize,
    /// Size limits of the compact forms of values.
    pub(crate) limits: &'c Limits,
    /// A new key was created and not reported yet.
    pub(crate) has_new: bool,
    /// What the command has looked up so far.
    pub(crate) lookups: Lookups,
}

impl<V: View> Keys<'_, V> {
    /// The live entry under `key`, whatever its type. Counts as an access.
    #[inline]
    pub(crate) fn any(&mut self, key: &[u8]) -> Option<&Entry> {
        let found = self.view.get(self.db, key);
        self.lookups.add(found.is_some());
        found
    }

    /// The live entry under `key`, whatever its type. Counts as a hit or a miss, but not as an
    /// access.
    #[inline]
    pub(crate) fn glance(&mut self, key: &[u8]) -> Option<&Entry> {
        let found = self.view.glance(self.db, key);
        self.lookups.add(found.is_some());
        found
    }

    /// The live entry under `key`. Counts neither as a hit or miss nor as an access.
    #[inline]
    pub(crate) fn peek(&self, key: &[u8]) -> Option<&Entry> {
        self.view.peek(self.db, key)
    }

    /// The live entry under `key`, to change, whatever its type.
    #[inline]
    pub(crate) fn any_mut(&mut self, key: &[u8]) -> Option<EntryMut<'_>> {
        self.view.get_mut(self.db, key)
    }

    /// The live entry under `key`, for a command that may write it. Counts as an access, but not as a
    /// hit or a miss.
    #[inline]
    pub(crate) fn touch(&mut self, key: &[u8]) -> Option<&Entry> {
        self.any_mut(key)?;
        self.peek(key)
    }

    /// The live entry under `key`, which must be of type `of`.
    #[inline]
    pub(crate) fn get(&mut self, key: &[u8], of: Type) -> Result<Option<&Entry>, Fault> {
        let found = self.view.get(self.db, key);
        self.lookups.add(found.is_some());
        match found {
            Some(entry) if entry.data_type() != of => Err(Fault::WRONG_TYPE),
            found => Ok(found),
        }
    }

    /// The live entry under `key`, to change, which must be of type `of`.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: &[u8], of: Type) -> Result<Option<EntryMut<'_>>, Fault> {
        match self.view.get_mut(self.db, key) {
            Some(entry) if entry.data_type() != of => Err(Fault::WRONG_TYPE),
            found => Ok(found),
        }
    }

    /// Puts an entry in place of what is there.
    #[inline]
    pub(crate) fn put(&mut self, entry: Entry) {
        match self.view.put(entry, self.db) {
            Some(old) => self.view.dispose(old),
            None => self.has_new = true,
        }
    }

    /// Changes when the live entry under `key` expires.
    #[inline]
    pub(crate) fn set_expiry(&mut self, key: &[u8], expiry: Option<u64>) -> bool {
        self.view.set_expiry(self.db, key, expiry)
    }

    /// Removes the live entry under `key`; whether there was one.
    #[inline]
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        match self.view.take(self.db, key) {
            Some(old) => {
                self.view.dispose(old);
                true
            }
            None => false,
        }
    }
}
