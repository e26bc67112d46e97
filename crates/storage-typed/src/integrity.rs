// SPDX-License-Identifier: Apache-2.0
//! Checks of a keyspace's invariants, at whatever cost.
//!
//! * INV-PLACE: a key is in the shard of its hash, and only once in a database.
//! * INV-BYTES: a database's counts of bytes and volatile entries are the sums over its entries; a
//!   shard's bytes are the sum over its databases, entries and tables.
//! * INV-LEDGER: see `ledger.rs`. The bytes that a shard has not published are less than a batch.
//! * INV-BIN: the ledger's leaving bytes are those of the bin.
//! * INV-DUE: no entry is due before its table's earliest due time, and no table's earliest due
//!   time is before the one that its shard has published.
//! * INV-ORDER (`lib.rs`) is not checked here: a test that breaks it does not end.

use super::database::Database;
use super::shard::Shard;
use super::shared::Shared;
use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use values::{Keyed, hash_of};

impl Shared {
    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(crate) fn check_integrity(&self) {
        let shards: Vec<_> = (0..self.shards()).map(|number| self.lock(number)).collect();
        let mut published = 0;
        for shard in &shards {
            shard.check_integrity(self);
            published += shard.published;
        }
        let leaving = self.ledger.leaving();
        assert_eq!(self.bin.recount(), leaving, "INV-BIN");
        let known = published + leaving + self.ledger.reserved() + self.ledger.gaps();
        assert_eq!(self.ledger.used(), known, "INV-LEDGER: the sum");
    }
}

impl Shard {
    fn check_integrity(&self, shared: &Shared) {
        for (db, database) in self.databases.iter().enumerate() {
            self.check_places(shared, database, db);
            database.table.check_integrity();
            database.check_integrity(db);
        }
        self.check_sums(shared, self.number());
    }

    /// The part of the check that costs a few additions for each database. With debug assertions it is
    /// made each time a thread takes the lock of shard `number`, and when a view releases it.
    ///
    /// # Panics
    ///
    /// As [`Shared::check_integrity`] does.
    pub(crate) fn check_sums(&self, shared: &Shared, number: usize) {
        assert_eq!(self.number(), number, "INV-PLACE: the shard");
        let published = shared.dues[number].load(Relaxed);
        assert_eq!(self.due_published, published, "INV-DUE: shard {number}");
        let mut bytes = 0;
        for (db, database) in self.databases.iter().enumerate() {
            bytes += database.bytes();
            assert!(published <= database.due(), "INV-DUE: published, database {db}");
            let (volatile, len) = (database.books.volatile, database.table.len() as u64);
            assert!(volatile <= len, "INV-BYTES: {volatile} of {len} entries expire");
        }
        assert_eq!(self.bytes, bytes, "INV-BYTES: shard {number}");
        let unpublished = self.bytes as i64 - self.published as i64;
        assert!(unpublished.unsigned_abs() < shared.ledger.batch(), "INV-LEDGER: {unpublished}");
    }

    fn check_places(&self, shared: &Shared, database: &Database, db: usize) {
        let mut keys = HashSet::new();
        for entry in database.table.iter() {
            let hash = hash_of(entry.key());
            assert_eq!(shared.shard_of(hash), self.number(), "INV-PLACE: the shard");
            assert!(keys.insert(entry.key()), "INV-PLACE: a key is twice in database {db}");
            let found = database.table.find(hash, entry.key());
            assert!(found.is_some_and(|found| std::ptr::eq(found, entry)), "INV-PLACE: lost");
        }
        assert_eq!(keys.len(), database.table.len(), "INV-PLACE: entries of database {db}");
    }
}

impl Database {
    fn check_integrity(&self, db: usize) {
        let (mut bytes, mut volatile) = (0, 0);
        for entry in self.table.iter() {
            bytes += entry.heap_bytes() as u64;
            volatile += u64::from(entry.expiry().is_some());
            assert!(self.due() <= entry.due().unwrap_or(u64::MAX), "INV-DUE: database {db}");
        }
        assert_eq!((bytes, volatile), (self.books.bytes, self.books.volatile), "INV-BYTES: {db}");
    }
}
