// SPDX-License-Identifier: Apache-2.0
//! [`TypedView`]: one command's access to the shards of its keys.
//!
//! A lookup returns a borrow of an entry, so it cannot remove the entry or update the sums at the
//! same time. The work left to do is recorded as [`Pending`] and done at the beginning of the next
//! operation, or when the view is dropped: before anyone could see the difference.

use super::access::Access;
use super::database::{Database, is_past};
use super::guards::Guards;
use super::prefetches::prefetch_held;
use super::random::Random;
use super::shared::Shared;
use super::store::Local;
use keyspace::{EntryMut, Gone, Reason, Scope, Tally, Use, View};
use storage::metrics::{ITEM_DELETE, ITEM_EXPIRE};
use values::{Entry, hash_of};

/// Draws of a random entry until an expired one will do, while these stay.
const TRIES_MAX: usize = 100;

/// A locked part of a [`TypedStore`](super::TypedStore).
#[derive(Debug)]
pub struct TypedView<'a> {
    shared: &'a Shared,
    local: &'a mut Local,
    guards: Guards<'a>,
    unix_ms: u64,
    access: Access,
    touch: bool,
    pending: Pending,
    tally: Tally,
}

/// The work that the last operation has left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    /// An entry with this hash was changed; the tally has the change.
    Changed {
        db: usize,
        hash: u64,
    },
    /// An entry with this hash was found expired.
    Dead {
        db: usize,
        hash: u64,
    },
}

impl<'a> TypedView<'a> {
    /// An entry of a shard by a random number.
    fn sample(&self, db: usize, number: usize, random: u64) -> Option<&Entry> {
        self.guards.shard(number).databases[db].table.sample(random)
    }

    /// The first entry that has not expired: those that have may be so many that nobody draws another.
    #[cold]
    fn first_live(&self, db: usize) -> Option<&Entry> {
        let mut entries = self.databases(db).flat_map(|database| database.table.iter());
        entries.find(|entry| !is_past(entry, self.unix_ms))
    }

    #[inline]
    pub(crate) fn new(
        shared: &'a Shared,
        local: &'a mut Local,
        scope: Scope,
        unix_ms: u64,
    ) -> Self {
        TypedView {
            shared,
            local,
            guards: Guards::lock(shared, scope),
            unix_ms,
            access: Access::new(&shared.settings, unix_ms),
            touch: true,
            pending: Pending::Nothing,
            tally: Tally::default(),
        }
    }

    /// Does the pending work of the last operation. Reads leave none as a rule.
    #[inline]
    fn settle(&mut self) {
        if !matches!(self.pending, Pending::Nothing) {
            self.settle_pending();
        }
    }

    fn settle_pending(&mut self) {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => {}
            Pending::Changed { db, hash } => {
                let tally = std::mem::take(&mut self.tally);
                if tally != Tally::default() {
                    self.change(db, hash, |database| database.settle(hash, tally));
                }
            }
            Pending::Dead { db, hash } => self.bury(db, hash),
        }
    }

    /// Removes an expired entry with this hash, unless entries stay.
    #[cold]
    fn bury(&mut self, db: usize, hash: u64) {
        if self.shared.settings.keeps_entries() {
            return;
        }
        let unix_ms = self.unix_ms;
        // Other entries in the bucket may have the same tag and be expired, too.
        let is_dead = |entry: &Entry| is_past(entry, unix_ms) && hash_of(entry.key()) == hash;
        if let Some(entry) = self.change(db, hash, |database| database.remove_by(hash, is_dead)) {
            self.mourn(db, hash, entry);
        }
    }

    /// Counts and reports an expired entry that is no longer in its table, and frees it.
    fn mourn(&mut self, db: usize, hash: u64, entry: Entry) {
        self.guards.shard_mut(self.shared.shard_of(hash)).counts.expired += 1;
        ITEM_EXPIRE.increment();
        if self.shared.settings.has_listeners() {
            self.local.notes.push(db, entry.key(), Reason::Expired);
        }
        self.shared.discard(entry);
    }

    /// Changes a database in the shard of a hash, and updates the sums.
    #[inline]
    fn change<R>(&mut self, db: usize, hash: u64, change: impl FnOnce(&mut Database) -> R) -> R {
        let shard = self.guards.shard_mut(self.shared.shard_of(hash));
        shard.change(self.shared, &mut self.local.added, db, change)
    }

    #[inline]
    fn database(&self, db: usize, hash: u64) -> &Database {
        &self.guards.shard(self.shared.shard_of(hash)).databases[db]
    }

    /// The live entry under a key, and whether there is one is counted; marked as used if `touch`.
    #[inline]
    fn read(&mut self, db: usize, key: &[u8], touch: bool) -> Option<&Entry> {
        self.settle();
        let hash = hash_of(key);
        let shard = self.guards.shard_mut(self.shared.shard_of(hash));
        let Some(entry) = shard.databases[db].table.find_mut(hash, key) else {
            shard.counts.misses += 1;
            return None;
        };
        if is_past(entry, self.unix_ms) {
            shard.counts.misses += 1;
            self.pending = Pending::Dead { db, hash };
            return None;
        }
        shard.hits += 1;
        if touch {
            let bits = self.access.read(entry.access(), &mut self.local.random);
            mark(entry, bits);
        }
        Some(entry)
    }

    /// The live entry under a key, to be changed; marked as used if `touch`.
    #[inline]
    fn live_mut(&mut self, db: usize, key: &[u8], touch: bool) -> Option<EntryMut<'_>> {
        self.settle();
        let hash = hash_of(key);
        let shard = self.guards.shard_mut(self.shared.shard_of(hash));
        let entry = shard.databases[db].table.find_mut(hash, key)?;
        if is_past(entry, self.unix_ms) {
            self.pending = Pending::Dead { db, hash };
            return None;
        }
        if touch {
            let bits = self.access.used(entry.access(), &mut self.local.random);
            mark(entry, bits);
        }
        self.pending = Pending::Changed { db, hash };
        Some(EntryMut::new(entry, &mut self.tally))
    }

    fn assert_whole(&self) {
        let all = self.shared.clip(Scope::ALL);
        assert!(self.guards.scope() == all, "the scope of the view is not everything");
    }

    /// The first shard from a number on that a walk over a database has anything to find in, as far as they are locked.
    fn filled_from(&self, db: usize, number: usize) -> Option<usize> {
        let is_empty = |number: usize| {
            self.guards.scope().has(number)
                && self.guards.shard(number).databases[db].table.is_empty()
        };
        (number..self.shared.shards()).find(|&number| !is_empty(number))
    }

    fn databases(&self, db: usize) -> impl Iterator<Item = &Database> {
        self.assert_whole();
        (0..self.shared.shards()).map(move |number| &self.guards.shard(number).databases[db])
    }
}

/// Notes the last use of an entry in it.
#[inline]
fn mark(entry: &mut Entry, bits: u32) {
    // A write would take the cache line from other CPUs that read it.
    if bits != entry.access() {
        entry.set_access(bits);
    }
}

impl Drop for TypedView<'_> {
    #[inline]
    fn drop(&mut self) {
        self.settle();
    }
}

impl View for TypedView<'_> {
    #[inline]
    fn used_bytes(&self) -> u64 {
        self.shared.ledger.used()
    }

    fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    fn set_unix_ms(&mut self, unix_ms: u64) {
        // What the last operation has found expired was so by its own time.
        self.settle();
        self.unix_ms = unix_ms;
        self.access = Access::new(&self.shared.settings, unix_ms);
    }

    fn scope_of(&self, key: &[u8]) -> Scope {
        Scope::shard(self.shared.shard_of(hash_of(key)))
    }

    fn scan_scope(&self, cursor: u64) -> Scope {
        self.shared.scan_scope(cursor)
    }

    fn prefetch<'k>(&self, db: usize, keys: impl Iterator<Item = &'k [u8]>) {
        prefetch_held(self.shared, &self.guards, db, keys);
    }

    fn relock(&mut self, scope: Scope) {
        self.settle();
        self.guards.relock(scope);
    }

    fn extend(&mut self, scope: Scope) -> bool {
        self.guards.extend(scope)
    }

    fn set_touch(&mut self, touch: bool) {
        self.touch = touch;
    }

    #[inline]
    fn get(&mut self, db: usize, key: &[u8]) -> Option<&Entry> {
        self.read(db, key, self.touch)
    }

    fn glance(&mut self, db: usize, key: &[u8]) -> Option<&Entry> {
        self.read(db, key, false)
    }

    #[inline]
    fn peek(&self, db: usize, key: &[u8]) -> Option<&Entry> {
        let hash = hash_of(key);
        let entry = self.database(db, hash).table.find(hash, key)?;
        (!is_past(entry, self.unix_ms)).then_some(entry)
    }

    #[inline]
    fn get_mut(&mut self, db: usize, key: &[u8]) -> Option<EntryMut<'_>> {
        self.live_mut(db, key, self.touch)
    }

    fn put(&mut self, entry: Entry, db: usize) -> Option<Entry> {
        self.settle();
        let hash = hash_of(entry.key());
        let now = (self.access, self.unix_ms);
        let shard = self.guards.shard_mut(self.shared.shard_of(hash));
        let Local { added, random, .. } = &mut *self.local;
        let put = |database: &mut Database| database.put(hash, entry, now, random);
        let old = shard.change(self.shared, added, db, put)?;
        if is_past(&old, self.unix_ms) {
            self.mourn(db, hash, old);
            return None;
        }
        Some(old)
    }

    fn take(&mut self, db: usize, key: &[u8]) -> Option<Entry> {
        self.settle();
        let hash = hash_of(key);
        let is_it = |entry: &Entry| entry.key() == key;
        let entry = self.change(db, hash, |database| database.remove_by(hash, is_it))?;
        if is_past(&entry, self.unix_ms) {
            self.mourn(db, hash, entry);
            return None;
        }
        ITEM_DELETE.increment();
        Some(entry)
    }

    fn set_expiry(&mut self, db: usize, key: &[u8], expiry: Option<u64>) -> bool {
        let entry = self.live_mut(db, key, false);
        entry.map(|mut entry| entry.set_expiry(expiry)).is_some()
    }

    #[inline]
    fn dispose(&mut self, entry: Entry) {
        self.shared.discard(entry);
    }

    fn len(&self, db: usize) -> usize {
        self.databases(db).map(|database| database.table.len()).sum()
    }

    fn volatile_len(&self, db: usize) -> usize {
        let booked: u64 = self.databases(db).map(|database| database.books.volatile).sum();
        let is_pending =
            matches!(self.pending, Pending::Changed { db: changed, .. } if changed == db);
        let pending = if is_pending { self.tally.volatile } else { 0 };
        booked.wrapping_add_signed(pending) as usize
    }

    fn scan(&mut self, db: usize, cursor: u64, visit: &mut dyn FnMut(&Entry)) -> u64 {
        self.settle();
        let shards = self.shared.shards() as u64;
        let (mut number, place) = ((cursor % shards) as usize, cursor / shards);
        if place == 0 {
            match self.filled_from(db, number) {
                None => return 0,
                Some(filled) if !self.guards.scope().has(filled) => return filled as u64,
                Some(filled) => number = filled,
            }
        }
        let unix_ms = self.unix_ms;
        let table = &self.guards.shard(number).databases[db].table;
        // Allocates only where there are such.
        let mut dead = Vec::new();
        table.prefetch_scan(place);
        let next = table.scan(place, |entry| {
            if is_past(entry, unix_ms) {
                dead.push(hash_of(entry.key()));
            } else {
                visit(entry);
            }
        });
        dead.into_iter().for_each(|hash| self.bury(db, hash));
        match next {
            0 => self.filled_from(db, number + 1).map_or(0, |filled| filled as u64),
            next => next * shards + number as u64,
        }
    }

    fn random(&mut self, db: usize, random: u64) -> Option<&Entry> {
        self.settle();
        let mut random = Random::new(random);
        let mut tries = 0_usize;
        let (number, draw) = loop {
            let len = self.len(db) as u64;
            let mut place = random.below(len);
            let (number, database) = self.databases(db).enumerate().find(|(_, database)| {
                let len = database.table.len() as u64;
                let is_here = place < len;
                place = place.saturating_sub(len);
                is_here
            })?;
            let draw = random.next();
            let entry = database.table.sample(draw)?;
            tries += 1;
            if !is_past(entry, self.unix_ms) {
                break (number, draw);
            }
            if tries >= TRIES_MAX {
                // While expired entries stay, there may be no other.
                let keeps = self.shared.settings.keeps_entries();
                return if keeps { self.sample(db, number, draw) } else { self.first_live(db) };
            }
            let hash = hash_of(entry.key());
            self.bury(db, hash);
        };
        self.sample(db, number, draw)
    }

    fn clear(&mut self, db: usize) {
        self.settle();
        self.assert_whole();
        for number in 0..self.shared.shards() {
            self.guards.shard_mut(number).clear(self.shared, db);
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.settle();
        self.assert_whole();
        for number in 0..self.shared.shards() {
            self.guards.shard_mut(number).databases.swap(a, b);
        }
    }

    fn idle_ms(&self, entry: &Entry) -> Option<u64> {
        let is_clock = matches!(self.access, Access::Clock(_) | Access::ChangeClock(_));
        is_clock.then(|| self.access.idle_ms(entry.access()))
    }

    fn frequency(&self, entry: &Entry) -> Option<u8> {
        let is_count = matches!(self.access, Access::Count { .. });
        is_count.then(|| self.access.count(entry.access()) as u8)
    }

    fn set_use(&mut self, db: usize, key: &[u8], used: Use) {
        if let Some(bits) = self.access.with(used)
            && let Some(mut entry) = self.live_mut(db, key, false)
        {
            entry.set_access(bits);
        }
    }

    fn drain_gone(&mut self, gone: &mut dyn FnMut(Gone<'_>)) {
        self.settle();
        self.local.notes.drain(gone);
    }
}
