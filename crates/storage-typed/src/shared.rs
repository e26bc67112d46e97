// SPDX-License-Identifier: Apache-2.0
//! [`Shared`]: the state that all handles of a keyspace share.

use super::bin::Bin;
use super::defrag::Defrag;
use super::ledger::Ledger;
use super::random::Random;
use super::shard::Shard;
use super::slabs::Slabs;
use keyspace::{DatabaseStats, KeyspaceStats, Scope, Settings};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use values::Entry;

/// The shards, and the state beside them.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) ledger: Ledger,
    pub(crate) bin: Bin,
    pub(crate) defrag: Defrag,
    /// For each shard, the moment in unix milliseconds from which its sweep has something to do.
    pub(crate) dues: Box<[AtomicU64]>,
    shards: Box<[Padded]>,
    /// All shards that there are.
    all: Scope,
    pub(crate) databases: usize,
    /// The source that seeds the handles' own random numbers.
    random: Mutex<Random>,
}

/// A shard on two cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Padded(Mutex<Shard>);

// Each use of a shard fetches its cache line from the CPU that used it last, so it should be a
// single line.
const _: () = assert!(size_of::<Mutex<Shard>>() <= 64, "a shard and its lock share a cache line");
const _: () = assert!(size_of::<Padded>() == 128, "two cache lines");

impl Shared {
    /// Empty shards, a power of two of them and [`Scope::SHARDS_MAX`] at most.
    pub(crate) fn new(
        shards: usize,
        databases: usize,
        random: Random,
        slabs: Option<Arc<dyn Slabs>>,
    ) -> Self {
        debug_assert!(shards.is_power_of_two() && shards <= Scope::SHARDS_MAX, "{shards} shards");
        Shared {
            settings: Arc::default(),
            ledger: Ledger::new(shards),
            bin: Bin::default(),
            defrag: Defrag::new(slabs),
            dues: (0..shards).map(|_| AtomicU64::new(u64::MAX)).collect(),
            shards: (0..shards)
                .map(|number| Padded(Mutex::new(Shard::new(number, databases))))
                .collect(),
            all: Scope::from_bits(u128::MAX >> (Scope::SHARDS_MAX - shards)),
            databases,
            random: Mutex::new(random),
        }
    }

    /// See [`keyspace::Keyspace::stats`]. Locks one shard after the other.
    pub(crate) fn stats(&self) -> KeyspaceStats {
        let mut stats = KeyspaceStats::default();
        stats.databases = vec![DatabaseStats::default(); self.databases];
        for number in 0..self.shards() {
            let shard = self.lock(number);
            for (sum, database) in stats.databases.iter_mut().zip(&shard.databases) {
                sum.keys += database.table.len() as u64;
                sum.volatile += database.books.volatile;
                sum.index_bytes += database.table.heap_bytes() as u64;
                stats.entry_bytes += database.books.bytes;
            }
            stats.used_bytes += shard.bytes;
            stats.hits += shard.hits;
            stats.misses += shard.counts.misses;
            stats.expired += shard.counts.expired;
            stats.expired_fields += shard.counts.expired_fields;
            stats.evicted += shard.counts.evicted;
        }
        stats.index_bytes = stats.used_bytes - stats.entry_bytes;
        stats.leaving_bytes = self.ledger.leaving();
        (stats.leaving, stats.left) = self.bin.entries();
        stats.reserved_bytes = self.ledger.reserved();
        stats.gap_bytes = self.ledger.gaps();
        stats.used_bytes += stats.leaving_bytes + stats.reserved_bytes + stats.gap_bytes;
        stats.defragments = self.defrag.is_running();
        stats.moved = self.defrag.moved.load(Relaxed);
        stats.kept = self.defrag.kept.load(Relaxed);
        stats
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The shard of the next step of a walk: see `TypedView::scan`.
    pub(crate) fn scan_scope(&self, cursor: u64) -> Scope {
        Scope::shard((cursor % self.shards() as u64) as usize)
    }

    /// The shard of the keys with this hash: by its top bits, which tables do not use.
    #[inline]
    pub(crate) fn shard_of(&self, hash: u64) -> usize {
        (hash >> 56) as usize & (self.shards.len() - 1)
    }

    /// The part of a scope for which there are shards.
    #[inline]
    pub(crate) fn clip(&self, scope: Scope) -> Scope {
        Scope::from_bits(scope.bits() & self.all.bits())
    }

    #[inline]
    pub(crate) fn mutex(&self, number: usize) -> &Mutex<Shard> {
        &self.shards[number].0
    }

    #[inline]
    pub(crate) fn lock(&self, number: usize) -> MutexGuard<'_, Shard> {
        let shard = self.shards[number].0.lock();
        if cfg!(debug_assertions) {
            shard.check_sums(self, number);
        }
        shard
    }

    #[inline]
    pub(crate) fn try_lock(&self, number: usize) -> Option<MutexGuard<'_, Shard>> {
        let shard = self.shards[number].0.try_lock();
        if cfg!(debug_assertions) {
            shard.iter().for_each(|shard| shard.check_sums(self, number));
        }
        shard
    }

    /// Prefetches the cache line of a shard, to lock it soon.
    #[inline]
    pub(crate) fn prefetch(&self, number: usize) {
        prefetch::write(&self.shards[number]);
    }

    /// Random numbers for one more handle.
    pub(crate) fn random(&self) -> Random {
        self.random.lock().fork()
    }

    /// Frees an entry that no shard accounts for any more: a small one at once, a large one through
    /// the bin.
    #[inline]
    pub(crate) fn discard(&self, entry: Entry) {
        if entry.is_large() {
            self.ledger.adopt(entry.heap_bytes() as u64);
            self.bin.push_value(entry);
        }
    }
}
