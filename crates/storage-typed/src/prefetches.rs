// SPDX-License-Identifier: Apache-2.0
//! The stages of a prefetch: see [`Keyspace::prefetch_all`]. The first leaves the hashes of keys for those that follow.
//! A command on many keys, which has locked their shards, goes through all stages at once: see [`View::prefetch`].
//!
//! [`Keyspace::prefetch_all`]: keyspace::Keyspace::prefetch_all
//! [`View::prefetch`]: keyspace::View::prefetch

use super::guards::Guards;
use super::shared::Shared;
use super::store::{Layouts, TypedStore};
use arrayvec::ArrayVec;
use keyspace::Stage;
use prefetch::Hint;
use std::cell::RefCell;
use values::hash_of;

/// A keyspace that uses less than this is assumed to be in the CPU's cache anyway.
const CACHED_BYTES: u64 = 2 << 20;

/// If the average key with its value takes more than what is prefetched of each, values are prefetched to their end.
const LONG_BYTES: u64 = Hint::FIRST_BYTES as u64;

/// Keys of one command that are prefetched together.
const GROUP: usize = 32;

/// Prefetches keys whose shards are locked, each stage for a group of them at once. Does nothing while the whole
/// keyspace fits the CPU's cache.
pub(crate) fn prefetch_held<'k>(
    shared: &Shared,
    guards: &Guards<'_>,
    db: usize,
    keys: impl Iterator<Item = &'k [u8]>,
) {
    let used = shared.ledger.used();
    if used < CACHED_BYTES {
        return;
    }
    let table = |hash| &guards.shard(shared.shard_of(hash)).databases[db].table;
    let mut hashes = keys.map(hash_of).peekable();
    while hashes.peek().is_some() {
        let mut group: ArrayVec<u64, GROUP> = hashes.by_ref().take(GROUP).collect();
        group.iter().for_each(|&hash| table(hash).prefetch(hash));
        group.retain(|hash| {
            let table = table(*hash);
            let hint = table.hint(*hash);
            hint.fetch();
            let entries = (table.len() * shared.shards()) as u64;
            hint.leads_on() || used > LONG_BYTES * entries
        });
        group.iter().for_each(|&hash| table(hash).next_hint(hash).fetch());
    }
}

impl TypedStore {
    /// Does nothing while the whole keyspace fits the CPU's cache, nor for keys whose shard another worker holds. Leaves
    /// the last hints of [`Stage::Item`] to be followed. Returns whether the next stage has anything else to do.
    #[inline]
    pub(crate) fn prefetch_keys<'k>(
        &self,
        db: usize,
        keys: impl Iterator<Item = &'k [u8]>,
        stage: Stage,
    ) -> bool {
        let used = self.shared.ledger.used();
        if used < CACHED_BYTES {
            return false;
        }
        let Some(layouts) = self.layouts(db) else { return false };
        match stage {
            Stage::Index => {
                self.prefetch_buckets(layouts, keys);
                true
            }
            Stage::Item => self.prefetch_items(db, layouts, keys, used),
            Stage::Value => {
                self.prefetch_rests(db, keys);
                false
            }
        }
    }

    /// The layouts of a database's tables, if it has prefetches.
    #[inline]
    fn layouts(&self, db: usize) -> Option<&Layouts> {
        let layouts = self.local.layouts.get(db)?;
        Some(
            layouts.get_or_init(|| (0..self.shared.shards()).map(|_| RefCell::default()).collect()),
        )
    }

    /// A single shard stays in the cache. Several shards move from worker to worker, so they are
    /// prefetched first, together with the bucket, whose address is known without the shard.
    #[inline]
    fn prefetch_buckets<'k>(&self, layouts: &Layouts, keys: impl Iterator<Item = &'k [u8]>) {
        let are_several = self.shared.shards() > 1;
        for key in keys {
            let hash = hash_of(key);
            self.local.hints.note_hash(key, hash);
            let number = self.shared.shard_of(hash);
            if are_several {
                self.shared.prefetch(number);
            }
            layouts[number].borrow().prefetch(hash);
        }
    }

    /// For a keyspace that uses `used` bytes. Keys of the same shard share a lock, which is released before hints are
    /// followed. Returns whether any key is unfinished.
    #[inline]
    fn prefetch_items<'k>(
        &self,
        db: usize,
        layouts: &Layouts,
        keys: impl Iterator<Item = &'k [u8]>,
        used: u64,
    ) -> bool {
        let hints = &self.local.hints;
        let (mut locked, mut is_unfinished) = (None, false);
        for key in keys {
            let hash = hints.hash(key);
            let number = self.shared.shard_of(hash);
            if locked.as_ref().is_none_or(|(locked, _)| *locked != number) {
                drop(locked.take());
                let Some(shard) = self.shared.try_lock(number) else { continue };
                layouts[number].borrow_mut().refresh(&shard.databases[db].table);
                locked = Some((number, shard));
            }
            let Some((_, shard)) = &locked else { continue };
            let table = &shard.databases[db].table;
            let hint = table.hint(hash);
            let entries = (table.len() * self.shared.shards()) as u64;
            if hint.leads_on() || used > LONG_BYTES * entries {
                hints.note_unfinished(key, hash);
                is_unfinished = true;
            }
            if hints.add(hint) {
                locked = None;
                hints.follow();
            }
        }
        is_unfinished
    }

    #[inline]
    fn prefetch_rests<'k>(&self, db: usize, keys: impl Iterator<Item = &'k [u8]>) {
        let hints = &self.local.hints;
        hints.follow();
        for hash in keys.filter_map(|key| hints.unfinished(key)) {
            let Some(shard) = self.shared.try_lock(self.shared.shard_of(hash)) else { continue };
            let hint = shard.databases[db].table.next_hint(hash);
            drop(shard);
            hint.fetch();
        }
    }

    /// See [`Keyspace::prefetch_element`](keyspace::Keyspace::prefetch_element).
    #[inline]
    pub(crate) fn prefetch_place(&self, db: usize, key: &[u8], element: &[u8]) {
        self.local.hints.follow();
        if self.shared.ledger.used() < CACHED_BYTES {
            return;
        }
        let hash = hash_of(key);
        if let Some(shard) = self.shared.try_lock(self.shared.shard_of(hash))
            && let Some(entry) = shard.databases[db].table.find(hash, key)
        {
            entry.prefetch_element(element);
        }
    }
}
