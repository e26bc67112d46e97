// SPDX-License-Identifier: Apache-2.0
//! [`Database`]: the part of one numbered database that is in one shard.

use super::access::Access;
use super::random::Random;
use super::sweep::Sweep;
use keyspace::Tally;
use storage::metrics::{ITEM_ALLOCATE, ITEM_CURRENT, ITEM_CURRENT_BYTES, ITEM_REPLACE};
use values::{Entry, Keyed, Table, hash_of};

/// A table of entries, and sums over them.
#[derive(Debug, Default)]
pub(crate) struct Database {
    pub(crate) table: Table<Entry>,
    pub(crate) books: Books,
    pub(crate) sweep: Sweep,
    /// The bucket at which the search for entries with an expiry goes on, for evictions.
    pub(crate) hand: usize,
}

/// The sums over all entries of a [`Database`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    /// Bytes that the entries hold.
    pub(crate) bytes: u64,
    /// Entries with an expiry of their own.
    pub(crate) volatile: u64,
}

impl Books {
    #[inline]
    pub(crate) fn add(&mut self, entry: &Entry) {
        let bytes = entry.heap_bytes();
        self.bytes += bytes as u64;
        self.volatile += u64::from(entry.expiry().is_some());
        ITEM_CURRENT.increment();
        ITEM_CURRENT_BYTES.add(bytes as i64);
    }

    #[inline]
    pub(crate) fn subtract(&mut self, entry: &Entry) {
        let bytes = entry.heap_bytes();
        self.bytes -= bytes as u64;
        self.volatile -= u64::from(entry.expiry().is_some());
        ITEM_CURRENT.decrement();
        ITEM_CURRENT_BYTES.sub(bytes as i64);
    }

    #[inline]
    fn replace(&mut self, old: &Entry, new: &Entry) {
        let bytes = new.heap_bytes() as i64 - old.heap_bytes() as i64;
        let volatile = i64::from(new.expiry().is_some()) - i64::from(old.expiry().is_some());
        self.change(Tally { bytes, volatile, due_moved: false });
    }

    /// Updates the sums for an entry that held `before` bytes and now holds `after`.
    pub(crate) fn resized(&mut self, before: usize, after: usize) {
        self.change(Tally { bytes: after as i64 - before as i64, ..Tally::default() });
    }

    #[inline]
    pub(crate) fn change(&mut self, tally: Tally) {
        debug_assert!(self.bytes.checked_add_signed(tally.bytes).is_some(), "INV-BYTES");
        debug_assert!(self.volatile.checked_add_signed(tally.volatile).is_some(), "INV-BYTES");
        self.bytes = self.bytes.wrapping_add_signed(tally.bytes);
        self.volatile = self.volatile.wrapping_add_signed(tally.volatile);
        ITEM_CURRENT_BYTES.add(tally.bytes);
    }
}

/// Whether an entry has expired at `unix_ms`.
#[inline]
pub(crate) fn is_past(entry: &Entry, unix_ms: u64) -> bool {
    entry.expiry().is_some_and(|expiry| expiry <= unix_ms)
}

impl Database {
    /// Bytes of everything in it.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.books.bytes + self.table.heap_bytes() as u64
    }

    /// The moment from which there is something to sweep; `u64::MAX` for never.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.table.earliest_due().unwrap_or(u64::MAX)
    }

    /// Entries that may be evicted: all of them, or those with an expiry.
    pub(crate) fn candidates(&self, volatile_only: bool) -> u64 {
        if volatile_only { self.books.volatile } else { self.table.len() as u64 }
    }

    /// Adds an entry, or replaces the one with its key. Where uses are counted, the new entry keeps
    /// the count of a live old one.
    pub(crate) fn put(
        &mut self,
        hash: u64,
        mut entry: Entry,
        (access, unix_ms): (Access, u64),
        random: &mut Random,
    ) -> Option<Entry> {
        debug_assert_eq!(hash_of(entry.key()), hash, "INV-PLACE");
        let due = entry.due();
        let Some(slot) = self.table.find_mut(hash, entry.key()) else {
            entry.set_access(access.fresh());
            self.books.add(&entry);
            self.table.insert(hash, entry);
            ITEM_ALLOCATE.increment();
            return None;
        };
        let is_live = !is_past(slot, unix_ms);
        let bits = if is_live { access.used(slot.access(), random) } else { access.fresh() };
        entry.set_access(bits);
        self.books.replace(slot, &entry);
        let old = std::mem::replace(slot, entry);
        if old.due() != due {
            self.table.refresh_due(hash, old.key());
        }
        ITEM_REPLACE.increment();
        Some(old)
    }

    /// Removes the entry with this hash for which `is_it` holds.
    pub(crate) fn remove_by(&mut self, hash: u64, is_it: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let entry = self.table.remove_by(hash, is_it, |entry| hash_of(entry.key()))?;
        debug_assert_eq!(hash_of(entry.key()), hash, "INV-PLACE");
        self.books.subtract(&entry);
        Some(entry)
    }

    /// Updates the sums and the due time for a change of an entry with this hash.
    pub(crate) fn settle(&mut self, hash: u64, tally: Tally) {
        self.books.change(tally);
        if tally.due_moved {
            self.table.refresh_dues(hash);
        }
    }
}
