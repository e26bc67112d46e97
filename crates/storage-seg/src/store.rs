// SPDX-License-Identifier: Apache-2.0
//! [`SegStore`]: one worker's handle, and the operations that write nothing.

use crate::Reason;
use crate::compact::Compactor;
use crate::epoch::Participant;
use crate::evict::{Deed, Evictor, Lesson, Sampler};
use crate::index::{Entry, Location};
use crate::item::SegItem;
use crate::place::OpenSegments;
use crate::report::Report;
use crate::shared::Shared;
use crate::sweep::Sweeper;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;
use crate::tally::{Count, Tally};
use clock::Ticks;
use prefetch::{Hint, Memos};
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::time::Duration;
use storage::{
    Change, ClassStats, Evicted, Evictions, Put, ResizeError, Stage, Stats, Store, StoreError,
    Version,
};

/// One worker's handle on a segment store.
///
/// Each worker has its own handle; clones share the items. A handle that was used delays the reuse of
/// segments until its next [`Store::expire`] or [`Store::rest`], so a worker calls `expire` in each
/// turn of its loop and `rest` before it sleeps.
pub struct SegStore {
    pub(crate) shared: Arc<Shared>,
    pub(crate) turn: Participant,
    pub(crate) tally: Arc<Tally>,
    pub(crate) open: OpenSegments,
    pub(crate) evictor: Evictor,
    pub(crate) compactor: Compactor,
    pub(crate) sweeper: Sweeper,
    pub(crate) lesson: Lesson,
    pub(crate) sampler: Sampler,
    /// Writes so far, for upkeep that is done once per some number of writes.
    pub(crate) writes: u32,
    /// Bytes of the limit that this handle has reserved for memory outside of the store.
    reserved: u64,
    /// The last turn has found work that a lower limit needs.
    is_shrinking: bool,
    /// When such work is looked for again, after a turn that has found none.
    pub(crate) shrink_at: Ticks,
    /// How many more waits for room were in vain than not.
    pub(crate) vain_waits: u32,
    /// Counts turns of the event loop, and how many writes there were when the index was looked at last.
    pub(crate) turns: u32,
    pub(crate) tended_writes: u32,
    evictions: RefCell<Evictions>,
    /// The hashes of keys that are prefetched.
    hashes: Memos<u64>,
    /// The item that was read last goes on behind the lines that are prefetched of each, so the next may do so, too.
    reads_are_long: Cell<bool>,
}

/// Why a key has no item that can be read.
#[derive(Clone, Copy, Debug)]
enum Miss {
    /// There is none.
    Absent,
    /// It has expired, or was cleared.
    Dead(Location),
}

impl std::fmt::Debug for SegStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegStore").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl SegStore {
    pub(crate) fn new(shared: Arc<Shared>, turn: Participant) -> Self {
        let tally = shared.tallies.register();
        let handle = shared.tallies.handles() as u64;
        SegStore {
            turn,
            tally,
            open: OpenSegments::new(shared.classes.count()),
            evictor: Evictor::default(),
            compactor: Compactor::default(),
            sweeper: Sweeper::default(),
            lesson: Lesson::new(handle),
            sampler: Sampler::new(),
            writes: 0,
            reserved: 0,
            is_shrinking: false,
            shrink_at: Ticks::ZERO,
            vain_waits: 0,
            turns: 0,
            tended_writes: 0,
            evictions: RefCell::default(),
            hashes: Memos::new(),
            reads_are_long: Cell::new(false),
            shared,
        }
    }

    /// Statistics about the store's inside. Reads two cache lines for each segment.
    pub fn report(&self, now: Ticks) -> Report {
        self.shared.report(now)
    }

    /// The live item under a key, and its slot. The handle is online.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        hash: u64,
        key: &[u8],
        now: Ticks,
    ) -> Option<(Entry<'_>, SegItem<'_>)> {
        self.find_or(hash, key, now).ok()
    }

    /// As `find`, and why there is none.
    #[inline]
    fn find_or(&self, hash: u64, key: &[u8], now: Ticks) -> Result<(Entry<'_>, SegItem<'_>), Miss> {
        let (shared, turn) = (&self.shared, &self.turn);
        let mut found = None;
        let entry = shared.index.find(hash, |location| {
            let item = shared.item(turn, location);
            let is_key = item.key() == key;
            if is_key {
                found = Some(item);
            }
            is_key
        });
        let (Some(entry), Some(item)) = (entry, found) else { return Err(Miss::Absent) };
        let location = entry.location();
        match SegItem::live(shared, turn, item, location, now) {
            Some(item) => Ok((entry, item.found_by(&entry))),
            None => Err(Miss::Dead(location)),
        }
    }

    /// Prefetches an item behind the lines of [`Stage::Item`]. Its head, which is in the first of them, says how much
    /// that is.
    #[inline(never)]
    fn prefetch_behind(&self, key: &[u8]) {
        // Before the first operation of a turn nothing keeps an item where it is.
        if self.turn.is_online()
            && let Some(hash) = self.hashes.of(key)
            && let Some(location) = self.shared.index.candidate(hash)
        {
            let len = self.shared.item(&self.turn, location).len();
            self.shared.heap.prefetch_behind(location, len);
        }
    }

    /// Counts a read that found a dead item.
    #[inline]
    fn missed<R>(&self, miss: Miss) -> Option<R> {
        if let Miss::Dead(location) = miss {
            self.count_dead(location);
        }
        None
    }

    #[cold]
    fn count_dead(&self, location: Location) {
        let is_cleared = self.shared.segment_of(location).birth() < self.shared.cleared_before();
        self.tally.add(if is_cleared { Count::ReadCleared } else { Count::ReadExpired }, 1);
    }

    #[inline(never)]
    pub(crate) fn look(&self, hash: u64, key: &[u8], now: Ticks) -> Option<SegItem<'_>> {
        self.find(hash, key, now).map(|(_, item)| item)
    }

    /// Removes the item at exactly this location from the index. Returns whether it was there.
    pub(crate) fn remove(&mut self, hash: u64, location: Location) -> bool {
        let home = self.shared.index.lock(hash);
        let Some(entry) = home.find_location(location) else { return false };
        home.remove(&entry, false);
        drop(home);
        self.count_out(location, Count::Deleted);
        true
    }

    /// Counts an item that is no longer in the index, and marks it for walks over its segment.
    pub(crate) fn count_out(&self, location: Location, count: Count) {
        let item = self.shared.item(&self.turn, location);
        item.mark_dead();
        let len = item.len() as u32;
        self.remove_live(location, len);
        self.tally.sub(Count::Items, 1);
        self.tally.sub(Count::ItemBytes, u64::from(len));
        self.tally.add(count, 1);
    }

    /// Counts an item out that expires or is evicted, and calls `on_drop` if it is set. `frequency` is what its
    /// slot had, if that is known.
    pub(crate) fn dropped(
        &self,
        location: Location,
        reason: Reason,
        count: Count,
        frequency: Option<u8>,
    ) {
        self.count_drop(location, reason, frequency);
        if reason == Reason::Evicted {
            self.evictions.borrow_mut().note(|| self.evicted(location, frequency));
        }
        if let Some(on_drop) = &self.shared.settings.on_drop {
            let item = self.shared.item(&self.turn, location);
            on_drop(item.key(), item.value(), reason);
        }
        self.count_out(location, count);
    }

    /// Whether an item's checksum matches its bytes. If not, the item is dropped.
    #[inline]
    pub(crate) fn is_sound(&self, hash: u64, item: &SegItem<'_>) -> bool {
        let is_sound = !self.shared.settings.integrity || item.item().checksum_ok();
        if !is_sound {
            self.corrupt(hash, item.location());
        }
        is_sound
    }

    /// Drops an item whose bytes are not what was written.
    #[cold]
    fn corrupt(&self, hash: u64, location: Location) {
        let home = self.shared.index.lock(hash);
        let Some(entry) = home.find_location(location) else { return };
        home.remove(&entry, false);
        drop(home);
        self.count_out(location, Count::Corrupt);
        log::error!("an item's checksum does not match its bytes: it is dropped; check the memory");
    }
}

impl Store for SegStore {
    type Item<'a> = SegItem<'a>;

    #[inline]
    fn prefetch(&self, key: &[u8], stage: Stage) {
        let shared = &*self.shared;
        match stage {
            Stage::Index => {
                let hash = shared.hash(key);
                self.hashes.set(key, hash);
                shared.index.prefetch(hash);
            }
            Stage::Item => {
                let hash = self.hashes.of(key).unwrap_or_else(|| shared.hash(key));
                if let Some(location) = shared.index.candidate(hash) {
                    shared.heap.prefetch(location);
                }
            }
            // Key and value lie where the item does.
            Stage::Value => {}
        }
    }

    #[inline]
    fn goes_on_after(&self, stage: Stage) -> bool {
        stage == Stage::Index || self.reads_are_long.get()
    }

    #[inline]
    fn prefetch_rest(&self, key: &[u8]) {
        if self.reads_are_long.get() {
            self.prefetch_behind(key);
        }
    }

    #[inline]
    fn get(&mut self, key: &[u8], now: Ticks) -> Option<SegItem<'_>> {
        self.turn.enter();
        let hash = self.shared.hash(key);
        self.sample(hash, Deed::Read, now);
        let (entry, item) = match self.find_or(hash, key, now) {
            Ok(found) => found,
            Err(miss) => return self.missed(miss),
        };
        if !self.is_sound(hash, &item) {
            return None;
        }
        if let Some(frequency) = self.lesson.read(entry.frequency()) {
            entry.set_frequency(frequency);
        }
        item.item().note_access(now);
        self.reads_are_long.set(item.item().len() > Hint::FIRST_BYTES);
        if self.sampler.is_long(item.item().value().len()) {
            self.sample_long(hash, item.location(), now);
        }
        Some(item)
    }

    fn peek(&mut self, key: &[u8], now: Ticks) -> Option<SegItem<'_>> {
        self.turn.enter();
        let hash = self.shared.hash(key);
        let (_, item) = self.find(hash, key, now)?;
        self.is_sound(hash, &item).then_some(item)
    }

    #[inline]
    fn put(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        self.put_item(&put, now)
    }

    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        decide: impl FnMut(Option<SegItem<'_>>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        self.update_item(key, now, decide)
    }

    fn delete(&mut self, key: &[u8], now: Ticks) -> bool {
        self.turn.enter();
        let hash = self.shared.hash(key);
        // Another handle may relocate or replace the item between the look and the removal.
        while let Some(live) = self.look(hash, key, now) {
            let (location, len) = (live.location(), live.item().len() as u32);
            if self.remove(hash, location) {
                self.sample_changed(hash, len, Deed::Delete { len }, now);
                return true;
            }
        }
        false
    }

    fn expire(&mut self, now: Ticks, budget: usize) -> usize {
        self.turn.quiesce();
        self.turn.enter();
        self.shared.export(now);
        self.seal_stale(now);
        let freed = self.sweep(now, budget);
        if self.is_index_to_be_looked_at() {
            self.tend_index();
        } else {
            self.shared.tidy();
        }
        self.tend_trials();
        self.is_shrinking = self.shared.is_lowering() && self.shrink(now);
        self.keep_ahead(now);
        freed
    }

    fn may_nap(&self, now: Ticks, nap: Duration) -> bool {
        let (shared, pool) = (&*self.shared, &self.shared.pool);
        let is_swept = !self.sweeper.is_busy() && shared.is_nothing_due(now + nap);
        let is_tidy = pool.in_limbo() == 0 && pool.surplus() == 0 && !shared.is_lowering();
        let is_ahead = shared.missing() <= 0 || !shared.evicts();
        is_swept && is_tidy && is_ahead && !self.compactor.is_due() && !shared.index.is_growing()
    }

    fn rest(&mut self) {
        self.turn.leave();
    }

    fn reserve(&mut self, bytes: u64) {
        let by = bytes.wrapping_sub(self.reserved);
        self.reserved = bytes;
        self.shared.reserved.fetch_add(by, Ordering::Relaxed);
        self.shared.retarget();
    }

    /// The size of a segment, the TTL classes and the longest value stay as the first limit has set them. So a
    /// lower limit must have room for eight segments and four of the longest values. A higher one is up to 16
    /// times the first, less where the system does not give the address space.
    fn resize(&mut self, bytes: u64) -> Result<(), ResizeError> {
        self.shared.resize(bytes)
    }

    fn note_evicted(&mut self, is_on: bool) {
        self.evictions.get_mut().set(is_on);
    }

    fn take_evicted(&mut self, show: &mut dyn FnMut(Evicted)) -> u64 {
        self.evictions.get_mut().take(show)
    }

    fn is_shrinking(&self) -> bool {
        self.is_shrinking
    }

    fn clear(&mut self) {
        self.shared.clear();
    }

    fn limit_bytes(&self) -> u64 {
        self.shared.limit()
    }

    fn stats(&self) -> Stats {
        self.shared.stats()
    }

    fn details(&self, now: Ticks, show: &mut dyn FnMut(&str, &dyn Display)) {
        self.shared.details(now, show);
    }

    fn classes(&self, now: Ticks, show: &mut dyn FnMut(&ClassStats)) {
        self.shared.classes(now, show);
    }

    fn check_integrity(&self) {
        crate::integrity::check(&self.shared, &self.turn);
    }
}

impl Clone for SegStore {
    /// Another handle on the same items.
    ///
    /// # Panics
    ///
    /// When the store was built for one worker, or has as many handles as it was built for.
    fn clone(&self) -> Self {
        let turn = self.turn.register_another();
        let turn = turn.expect("the store was built for fewer handles: see Builder::workers");
        SegStore::new(Arc::clone(&self.shared), turn)
    }
}

impl Drop for SegStore {
    fn drop(&mut self) {
        self.turn.enter();
        self.seal_all();
        self.release_claims();
        self.turn.leave();
        self.shared.reserved.fetch_sub(self.reserved, Ordering::Relaxed);
        if self.shared.tallies.unregister(&self.tally) {
            self.shared.withdraw();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
