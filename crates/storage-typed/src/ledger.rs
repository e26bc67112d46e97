// SPDX-License-Identifier: Apache-2.0
//! [`Ledger`]: the bytes in use, over all shards.
//!
//! INV-LEDGER: the ledger's bytes in use are the sum of the bytes that shards have published, that
//! are leaving, that handles have reserved, and of gaps that count. A shard counts its own bytes exactly, under its
//! lock, and publishes them when they have changed by the ledger's batch. So a write seldom touches
//! the cache line that all shards share, and the ledger's error is at most a batch per shard. An eviction publishes at
//! once, so that none goes beyond what is needed.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// The ledger's greatest error, over all shards, in bytes.
pub(crate) const ERROR_MAX: u64 = 8 << 10;

/// The greatest error of one shard. Few shards have few users, which seldom wait for the cache line, and are of small
/// keyspaces, where every kilobyte is seen.
const BATCH_MAX: u64 = 512;

/// The byte counts that all shards share.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Ledger {
    used: AtomicI64,
    leaving: AtomicU64,
    reserved: AtomicU64,
    gaps: AtomicU64,
    batch: u64,
}

const _: () = assert!(size_of::<Ledger>() == 128, "cache lines of its own");

impl Ledger {
    pub(crate) fn new(shards: usize) -> Self {
        Ledger {
            used: AtomicI64::new(0),
            leaving: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            gaps: AtomicU64::new(0),
            batch: (ERROR_MAX / shards as u64).min(BATCH_MAX),
        }
    }

    /// Bytes in use.
    #[inline]
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed).max(0) as u64
    }

    /// Bytes that were removed and are yet to be freed; a part of those in use.
    pub(crate) fn leaving(&self) -> u64 {
        self.leaving.load(Relaxed)
    }

    /// Bytes that handles have reserved; a part of those in use.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved.load(Relaxed)
    }

    /// Bytes between blocks that count as used; a part of those in use.
    pub(crate) fn gaps(&self) -> u64 {
        self.gaps.load(Relaxed)
    }

    /// Counts so many bytes between blocks as used, in place of those before.
    pub(crate) fn count_gaps(&self, bytes: u64) {
        let before = self.gaps.swap(bytes, Relaxed);
        self.used.fetch_add(bytes as i64 - before as i64, Relaxed);
    }

    /// By how many bytes a shard may change before it publishes.
    #[inline]
    pub(crate) fn batch(&self) -> u64 {
        self.batch
    }

    /// Adds the change of a shard's bytes.
    pub(crate) fn publish(&self, moved: i64) {
        self.used.fetch_add(moved, Relaxed);
    }

    /// Counts bytes that were in use as leaving.
    pub(crate) fn depart(&self, bytes: u64) {
        self.leaving.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that no shard accounted for as leaving.
    pub(crate) fn adopt(&self, bytes: u64) {
        self.used.fetch_add(bytes as i64, Relaxed);
        self.leaving.fetch_add(bytes, Relaxed);
    }

    /// Counts leaving bytes as freed.
    pub(crate) fn release(&self, bytes: u64) {
        let before = self.leaving.fetch_sub(bytes, Relaxed);
        debug_assert!(bytes <= before, "INV-LEDGER: {bytes} of {before} leaving");
        self.used.fetch_sub(bytes as i64, Relaxed);
    }

    /// Changes the reservation of a handle.
    pub(crate) fn reserve(&self, before: u64, after: u64) {
        let moved = after.wrapping_sub(before);
        let reserved = self.reserved.fetch_add(moved, Relaxed);
        debug_assert!(before <= reserved, "INV-LEDGER: {before} of {reserved} reserved");
        self.used.fetch_add(moved as i64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_counts_until_it_has_left() {
        let ledger = Ledger::new(8);
        ledger.publish(1000);
        ledger.depart(300);
        ledger.adopt(50);
        assert_eq!((ledger.used(), ledger.leaving()), (1050, 350));
        ledger.release(350);
        assert_eq!((ledger.used(), ledger.leaving()), (700, 0));
    }

    #[test]
    fn gaps_take_the_place_of_those_before() {
        let ledger = Ledger::new(1);
        ledger.count_gaps(500);
        ledger.count_gaps(200);
        assert_eq!((ledger.used(), ledger.gaps()), (200, 200));
        ledger.count_gaps(0);
        assert_eq!(ledger.used(), 0);
    }

    #[test]
    fn a_reservation_replaces_the_one_before() {
        let ledger = Ledger::new(1);
        ledger.reserve(0, 500);
        ledger.reserve(500, 200);
        assert_eq!((ledger.used(), ledger.reserved()), (200, 200));
        ledger.reserve(200, 0);
        assert_eq!((ledger.used(), ledger.reserved()), (0, 0));
    }
}
