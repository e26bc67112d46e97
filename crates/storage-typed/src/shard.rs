// SPDX-License-Identifier: Apache-2.0
//! [`Shard`]: a part of all databases, used by one worker at a time.

use super::database::Database;
use super::shared::Shared;
use std::sync::atomic::Ordering::Relaxed;
use storage::metrics::{ITEM_CURRENT, ITEM_CURRENT_BYTES};

/// The entries of all databases whose keys hash to this shard.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) databases: Box<[Database]>,
    /// Bytes of everything in it; see INV-BYTES.
    pub(crate) bytes: u64,
    /// How many of them the ledger knows of.
    pub(crate) published: u64,
    /// What other threads see as the moment from which there is something to sweep.
    pub(crate) due_published: u64,
    /// Reads that found an entry, since the same moment as the other counts.
    pub(crate) hits: u64,
    pub(crate) counts: Box<Counts>,
}

/// A shard's counts since it was made, or since they were reset. In an allocation of their own, since
/// they change less often than hits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// The shard's number among the shards.
    pub(crate) number: usize,
    pub(crate) misses: u64,
    pub(crate) expired: u64,
    pub(crate) expired_fields: u64,
    pub(crate) evicted: u64,
}

impl Shard {
    pub(crate) fn new(number: usize, databases: usize) -> Self {
        Shard {
            databases: (0..databases).map(|_| Database::default()).collect(),
            bytes: 0,
            published: 0,
            due_published: u64::MAX,
            hits: 0,
            counts: Box::new(Counts { number, ..Counts::default() }),
        }
    }

    /// Its number among the shards.
    pub(crate) fn number(&self) -> usize {
        self.counts.number
    }

    /// Resets the counts to 0.
    pub(crate) fn reset_counts(&mut self) {
        self.hits = 0;
        *self.counts = Counts { number: self.number(), ..Counts::default() };
    }

    /// Changes a database and updates the memory in use and the time of the next sweep. The bytes
    /// that it has grown by are added to `added`.
    #[inline]
    pub(crate) fn change<R>(
        &mut self,
        shared: &Shared,
        added: &mut i64,
        db: usize,
        change: impl FnOnce(&mut Database) -> R,
    ) -> R {
        let database = &mut self.databases[db];
        let before = database.bytes();
        let result = change(database);
        let after = database.bytes();
        let due = database.due();
        if due < self.due_published {
            self.publish_due(shared, due);
        }
        *added += after as i64 - before as i64;
        self.bytes = self.bytes - before + after;
        let unpublished = self.bytes as i64 - self.published as i64;
        if unpublished.unsigned_abs() >= shared.ledger.batch() {
            self.publish(shared);
        }
        result
    }

    /// Tells the ledger what the shard uses.
    pub(crate) fn publish(&mut self, shared: &Shared) {
        if self.bytes != self.published {
            shared.ledger.publish(self.bytes as i64 - self.published as i64);
            self.published = self.bytes;
        }
    }

    /// Publishes to other threads the moment from which there is something to sweep.
    pub(crate) fn publish_due(&mut self, shared: &Shared, due: u64) {
        self.due_published = due;
        shared.dues[self.number()].store(due, Relaxed);
    }

    /// Removes everything from a database. Its memory counts as used until the bin has freed it.
    pub(crate) fn clear(&mut self, shared: &Shared, db: usize) {
        let database = std::mem::take(&mut self.databases[db]);
        let bytes = database.bytes();
        if bytes > 0 {
            self.publish(shared);
            self.bytes -= bytes;
            self.published = self.bytes;
            shared.ledger.depart(bytes);
            shared.bin.push_database(database.table, database.books.bytes);
        }
    }

    /// Entries of all databases, or those of them with an expiry.
    pub(crate) fn candidates(&self, volatile_only: bool) -> u64 {
        self.databases.iter().map(|database| database.candidates(volatile_only)).sum()
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        for database in &self.databases {
            ITEM_CURRENT.sub(database.table.len() as i64);
            ITEM_CURRENT_BYTES.sub(database.books.bytes as i64);
        }
    }
}
