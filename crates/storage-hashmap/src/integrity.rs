// SPDX-License-Identifier: Apache-2.0
//! Checks of a shard's invariants, at whatever cost.
//!
//! * INV-LIMIT: a shard uses no more than it has leased, and its use is the size of its index plus
//!   the sum of its items' costs. (`budget.rs` has the rest of it.)
//! * INV-CHAIN: each item is in exactly one chain, that of its tag's bucket, and each chain ends.
//! * INV-TAG: an item's tag is its key's hash.
//! * INV-KEY: no two items have the same key.
//! * INV-SLOT: each slot of a chunk with memory holds an item or is on the chunk's list of free
//!   ones, and each chunk with a free slot is on the list of those to be filled.
//! * INV-BUCKET: there is memory for all buckets, and none for two chunks of buckets more.
//! * INV-ROOM: a value is written in place only where it fits; INV-SIZE: a key's length fits its
//!   field. Both are asserted where they are relied on, in `record.rs`.
//! * INV-VERSION: versions are not zero.
//! * INV-ERA: the items of the present era are counted.
//! * INV-DUE: see `sweep.rs`.

use crate::hash::Hasher;
use crate::shard::Shard;
use crate::slab::{NEVER_MS, NONE};
use std::collections::HashSet;

impl Shard {
    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(crate) fn check_integrity(&self, hasher: &Hasher) {
        let reached = self.check_chains(hasher);
        self.slab.check_integrity();
        assert_eq!(reached.len(), self.slab.live() as usize, "INV-CHAIN: items out of reach");
        self.check_account(&reached);
        self.check_sweep(&reached);
    }

    /// Walks all chains. Returns the slots met on them.
    fn check_chains(&self, hasher: &Hasher) -> HashSet<u32> {
        let (mut slots, mut keys) = (HashSet::new(), HashSet::new());
        for bucket in 0..self.heads.buckets() {
            let mut slot = *self.heads.head(bucket);
            while slot != NONE {
                assert!(slots.insert(slot), "INV-CHAIN: slot {slot} is met twice");
                let entry = self.slab.entry(slot);
                assert!(!entry.record.is_vacant(), "INV-CHAIN: slot {slot} is free");
                assert_eq!(self.heads.bucket(entry.tag), bucket, "INV-CHAIN: a stray item");
                let hash = hasher.hash(entry.record.key());
                assert_eq!((hash.shard, hash.tag), (self.number, entry.tag), "INV-TAG");
                assert!(keys.insert(entry.record.key()), "INV-KEY: a key is there twice");
                let version = entry.record.version();
                assert_ne!(version, 0, "INV-VERSION");
                slot = entry.next();
            }
        }
        slots
    }

    /// The part of the check that costs no more than a few additions. With debug assertions it is made
    /// each time a thread takes the lock of the shard or is about to release it after a change.
    ///
    /// # Panics
    ///
    /// As [`Shard::check_integrity`] does.
    pub(crate) fn check_sums(&self) {
        let heads = self.heads.present() as u64 * self.heads.chunk_cost();
        let slab = self.slab.present() as u64 * self.slab.chunk_cost();
        let used = self.account.used();
        assert_eq!(used, self.item_bytes + heads + slab, "INV-LIMIT: bytes used");
        assert!(used <= self.account.lease(), "INV-LIMIT: more than leased");
        let most = self.common.limits.limit() + self.common.pool.debt();
        assert!(self.account.lease() <= most, "INV-LIMIT: more than there is");
        assert!(self.slab.live() <= self.slab.slots(), "INV-SLOT: more items than slots");
        assert_eq!(self.slab.live() == 0, self.item_bytes == 0, "INV-LIMIT: items and their bytes");
        let buckets = self.heads.buckets() as usize;
        assert!(buckets <= self.heads.capacity(), "INV-BUCKET: buckets without memory");
    }

    fn check_account(&self, slots: &HashSet<u32>) {
        let items: u64 = slots.iter().map(|&slot| self.slab.entry(slot).record.cost()).sum();
        assert_eq!(items, self.item_bytes, "INV-LIMIT: bytes of items");
        let is_current = |slot: &&u32| self.slab.entry(**slot).era() == self.era;
        let current = slots.iter().filter(is_current).count();
        assert_eq!(current, self.current as usize, "INV-ERA");
        self.check_sums();
        let capacity = self.heads.capacity();
        let buckets = self.heads.buckets() as usize;
        let spare = capacity.checked_sub(buckets).expect("INV-BUCKET: buckets without memory");
        let chunk = capacity / self.heads.present();
        assert!(spare < 2 * chunk, "INV-BUCKET: {buckets} buckets in {capacity}");
    }

    fn check_sweep(&self, slots: &HashSet<u32>) {
        let position = self.sweep.position().unwrap_or(u32::MAX);
        for &slot in slots {
            let expiry_ms = self.slab.entry(slot).expiry_ms;
            let chunk = self.slab.chunk_of(slot);
            let is_passed = slot < position || self.sweep.position().is_none();
            if expiry_ms == NEVER_MS || !is_passed {
                continue;
            }
            assert!(self.slab.chunk(chunk).due_ms <= expiry_ms, "INV-DUE: chunk {chunk}");
            assert!(self.sweep.due_ms() <= expiry_ms, "INV-DUE: the shard");
        }
    }
}
