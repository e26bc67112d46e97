// SPDX-License-Identifier: Apache-2.0
//! [`Bin`]: where large values and cleared databases wait to be freed, step by step.
//!
//! Memory in the bin counts as used until it is free; the [`Ledger`] counts it as leaving.

use super::ledger::Ledger;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use storage::metrics::{ITEM_CLEAR, ITEM_CURRENT, ITEM_CURRENT_BYTES};
use values::{Entry, Remains, Table};

/// A queue that all handles add to, and that all of them free.
///
/// Its lock is the innermost: whoever holds it takes no other.
#[derive(Debug, Default)]
pub(crate) struct Bin {
    waste: Mutex<VecDeque<Waste>>,
    /// The number of things in the bin, readable without the lock.
    pieces: AtomicUsize,
    /// Entries in it that are not free yet.
    pending: AtomicU64,
    /// Entries that were freed since this was reset.
    freed: AtomicU64,
}

/// Something to free.
#[derive(Debug)]
enum Waste {
    Value(Remains),
    Database { table: Table<Entry>, entry_bytes: u64 },
}

/// The work that one call has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) steps: usize,
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
}

impl Bin {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.load(Relaxed) == 0
    }

    /// Adds a value whose bytes the ledger counts as leaving.
    pub(crate) fn push_value(&self, entry: Entry) {
        self.push(Waste::Value(Remains::from(entry)));
    }

    /// Adds the table of a cleared database, whose bytes the ledger counts as leaving.
    pub(crate) fn push_database(&self, table: Table<Entry>, entry_bytes: u64) {
        self.push(Waste::Database { table, entry_bytes });
    }

    /// Entries in it that are not free yet, and those that were freed since the last [`Bin::reset`].
    pub(crate) fn entries(&self) -> (u64, u64) {
        (self.pending.load(Relaxed), self.freed.load(Relaxed))
    }

    /// Counts freed entries from here on.
    pub(crate) fn reset(&self) {
        self.freed.store(0, Relaxed);
    }

    fn push(&self, waste: Waste) {
        self.pending.fetch_add(waste.entries(), Relaxed);
        self.waste.lock().push_back(waste);
        self.pieces.fetch_add(1, Relaxed);
    }

    /// Frees a part of the bin, in about `budget` steps. Waits if another thread is freeing.
    pub(crate) fn free_some(&self, ledger: &Ledger, budget: usize) -> Freed {
        self.free_from(self.waste.lock(), ledger, budget)
    }

    /// Frees a part of the bin, in about `budget` steps. Does nothing while another thread is
    /// freeing.
    pub(crate) fn try_free_some(&self, ledger: &Ledger, budget: usize) -> Option<Freed> {
        Some(self.free_from(self.waste.try_lock()?, ledger, budget))
    }

    fn free_from(
        &self,
        mut waste: MutexGuard<'_, VecDeque<Waste>>,
        ledger: &Ledger,
        budget: usize,
    ) -> Freed {
        let mut freed = Freed::default();
        while freed.steps < budget
            && let Some(piece) = waste.pop_front()
        {
            let rest = piece.free_some(budget - freed.steps, &mut freed, &mut |entry| {
                waste.push_back(Waste::Value(Remains::from(entry)));
                self.pieces.fetch_add(1, Relaxed);
            });
            match rest {
                Some(rest) => waste.push_front(rest),
                None => {
                    self.pieces.fetch_sub(1, Relaxed);
                }
            }
        }
        ledger.release(freed.bytes);
        // Under the lock, and added before: there are as many.
        self.pending.fetch_sub(freed.entries, Relaxed);
        self.freed.fetch_add(freed.entries, Relaxed);
        freed
    }

    /// The bytes of everything in the bin, recounted for the integrity check.
    pub(crate) fn recount(&self) -> u64 {
        let waste = self.waste.lock();
        assert_eq!(waste.len(), self.pieces.load(Relaxed), "INV-BIN: pieces");
        let entries: u64 = waste.iter().map(Waste::entries).sum();
        assert_eq!(entries, self.pending.load(Relaxed), "INV-BIN: entries");
        waste.iter().map(Waste::recount).sum()
    }
}

impl Waste {
    /// Entries of it that are not free yet.
    fn entries(&self) -> u64 {
        match self {
            Waste::Value(_) => 1,
            Waste::Database { table, entry_bytes: _ } => table.len() as u64,
        }
    }

    /// Frees a part of it, and adds that to `freed`. Returns the rest. Large values of a database go to `set_aside`.
    fn free_some(
        self,
        budget: usize,
        freed: &mut Freed,
        set_aside: &mut dyn FnMut(Entry),
    ) -> Option<Waste> {
        match self {
            Waste::Value(mut remains) => {
                let before = remains.heap_bytes() as u64;
                freed.steps += budget;
                if remains.free_some(budget) {
                    freed.bytes += before;
                    freed.entries += 1;
                    return None;
                }
                freed.bytes += before - remains.heap_bytes() as u64;
                Some(Waste::Value(remains))
            }
            Waste::Database { mut table, mut entry_bytes } => {
                let before = entry_bytes + table.heap_bytes() as u64;
                let mut moved = 0;
                let popped = table.pop_some(budget, |entry| {
                    let bytes = entry.heap_bytes() as u64;
                    entry_bytes -= bytes;
                    ITEM_CLEAR.increment();
                    ITEM_CURRENT.decrement();
                    ITEM_CURRENT_BYTES.sub(bytes as i64);
                    if entry.is_large() {
                        moved += bytes;
                        set_aside(entry);
                    } else {
                        freed.entries += 1;
                    }
                });
                freed.steps += popped;
                if popped < budget {
                    freed.steps += 1;
                    freed.bytes += before - moved;
                    return None;
                }
                let after = entry_bytes + table.heap_bytes() as u64;
                freed.bytes += before - moved - after;
                Some(Waste::Database { table, entry_bytes })
            }
        }
    }

    fn recount(&self) -> u64 {
        match self {
            Waste::Value(remains) => remains.heap_bytes() as u64,
            Waste::Database { table, entry_bytes } => {
                let entries: u64 = table.iter().map(|entry| entry.heap_bytes() as u64).sum();
                assert_eq!(entries, *entry_bytes, "INV-BYTES: a cleared database");
                entries + table.heap_bytes() as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use values::{Limits, hash_of};

    /// A hash that takes many steps to free.
    fn large(fields: u32) -> Entry {
        let limits = Limits::default();
        let mut entry = Entry::new_hash(b"large");
        for field in 0..fields {
            let mut hash = entry.hash_mut(&limits).expect("it is a hash");
            hash.set(&field.to_le_bytes(), b"value", 0);
        }
        assert!(entry.is_large());
        entry
    }

    fn filled(bin: &Bin, ledger: &Ledger, waste: Vec<Entry>) -> u64 {
        let mut table = Table::new();
        let mut entry_bytes = 0;
        for entry in waste {
            entry_bytes += entry.heap_bytes() as u64;
            table.insert(hash_of(entry.key()), entry);
        }
        let bytes = entry_bytes + table.heap_bytes() as u64;
        ledger.adopt(bytes);
        bin.push_database(table, entry_bytes);
        bytes
    }

    #[test]
    fn a_value_is_freed_in_steps_and_counts_until_then() {
        let (bin, ledger) = (Bin::default(), Ledger::new(1));
        let entry = large(5000);
        let bytes = entry.heap_bytes() as u64;
        ledger.adopt(bytes);
        bin.push_value(entry);
        let first = bin.free_some(&ledger, 100);
        assert!(first.bytes > 0 && first.bytes < bytes / 2, "{first:?} of {bytes}");
        assert_eq!(ledger.used(), bin.recount(), "INV-BIN");
        let mut calls = 1;
        while !bin.is_empty() {
            assert!(bin.free_some(&ledger, 100).steps <= 100);
            calls += 1;
        }
        assert!((40..80).contains(&calls), "{calls} calls");
        assert_eq!((ledger.used(), ledger.leaving(), bin.recount()), (0, 0, 0));
    }

    #[test]
    fn large_values_of_a_database_are_freed_in_steps_too() {
        let (bin, ledger) = (Bin::default(), Ledger::new(1));
        let small = (0..1000_u32).map(|number| Entry::string(&number.to_le_bytes(), b"value"));
        filled(&bin, &ledger, small.chain([large(2000)]).collect());
        assert_eq!(bin.entries(), (1001, 0));
        while !bin.is_empty() {
            let freed = bin.free_some(&ledger, 50);
            assert!(freed.steps <= 51, "{freed:?}");
            assert_eq!(ledger.used(), bin.recount(), "INV-BIN");
            let (pending, freed) = bin.entries();
            assert_eq!(pending + freed, 1001);
        }
        assert_eq!(bin.entries(), (0, 1001));
        bin.reset();
        assert_eq!(bin.entries(), (0, 0));
        assert_eq!((ledger.used(), ledger.leaving()), (0, 0));
    }

    #[test]
    fn no_step_frees_much() {
        let (bin, ledger) = (Bin::default(), Ledger::new(1));
        let keys = (0..100_000_u32).map(|number| Entry::string(&number.to_le_bytes(), b"value"));
        filled(&bin, &ledger, keys.collect());
        let hash = large(100_000);
        ledger.adopt(hash.heap_bytes() as u64);
        bin.push_value(hash);
        while !bin.is_empty() {
            let freed = bin.free_some(&ledger, 64);
            // Two pieces of the index, beside the entries.
            assert!(freed.bytes < 2 * (64 << 10) + 64 * 64, "{freed:?}");
        }
    }

    #[test]
    fn who_finds_another_at_it_goes_on_without() {
        let (bin, ledger) = (Bin::default(), Ledger::new(1));
        filled(&bin, &ledger, vec![Entry::string(b"key", b"value")]);
        let held = bin.waste.lock();
        assert_eq!(bin.try_free_some(&ledger, 9), None);
        drop(held);
        assert!(bin.try_free_some(&ledger, 9).is_some_and(|freed| freed.bytes > 0));
        assert!(bin.is_empty());
    }
}
