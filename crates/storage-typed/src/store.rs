// SPDX-License-Identifier: Apache-2.0
//! [`TypedStore`]: the handle.

use super::builder::TypedBuilder;
use super::candidates::Candidates;
use super::evict::Sampling;
use super::hints::Hints;
use super::notes::Notes;
use super::random::Random;
use super::shared::Shared;
use super::view::TypedView;
use keyspace::{Chore, Gone, Keyspace, KeyspaceStats, Observer, Scope, Settings, Stage};
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use values::{Entry, Layout, hash_of};

/// The number of databases, from the first, for which there are prefetches: as many as there are by
/// default.
const PREFETCHED: usize = 16;

/// How long a handle pauses its sweeps after it found nothing left to sweep.
const REST_MS: u64 = 4;

/// One worker's handle on a sharded keyspace of typed values.
///
/// Clones share the keyspace. Any number of threads may use it, each with a handle of its own.
#[derive(Debug)]
pub struct TypedStore {
    pub(crate) shared: Arc<Shared>,
    pub(crate) local: Local,
}

/// Where the buckets of a database are in each shard.
pub(crate) type Layouts = Box<[RefCell<Layout<Entry>>]>;

/// The state that each handle has for itself.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) random: Random,
    /// Entries that views found expired, until they are reported.
    pub(crate) notes: Notes,
    /// The next entries to evict.
    pub(crate) candidates: Candidates,
    /// Where candidates are looked for.
    pub(crate) sampling: Sampling,
    /// Bytes that this handle has added to the keyspace and not yet evicted for.
    pub(crate) added: i64,
    /// Bytes evicted since gaps were measured.
    pub(crate) unchecked: u64,
    /// Entries that are to be looked at for those that were evicted.
    pub(crate) owed: usize,
    reserved: u64,
    /// The shard at which the next sweep begins.
    next_sweep: usize,
    /// When there was last nothing left to sweep.
    swept_ms: u64,
    /// For prefetches, the layouts of each of the first databases; made when they are first asked for.
    pub(crate) layouts: [OnceCell<Layouts>; PREFETCHED],
    pub(crate) hints: Hints,
}

impl Local {
    fn new(shared: &Shared) -> Self {
        Local {
            random: shared.random(),
            notes: Notes::default(),
            candidates: Candidates::default(),
            sampling: Sampling::default(),
            added: 0,
            unchecked: 0,
            owed: 0,
            reserved: 0,
            next_sweep: 0,
            swept_ms: 0,
            layouts: Default::default(),
            hints: Hints::default(),
        }
    }
}

impl TypedStore {
    /// Options for a new keyspace.
    pub fn builder() -> TypedBuilder {
        TypedBuilder::default()
    }

    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        TypedStore { local: Local::new(&shared), shared }
    }

    /// Continues the sweeps of all shards. Skips a shard while another worker holds its lock.
    ///
    /// If nothing is due this costs one load per shard. If entries are due but the pace allows no
    /// more buckets, it costs one lock per shard, but only once in [`REST_MS`].
    fn sweep(&mut self, unix_ms: u64, budget: usize, gone: &mut dyn FnMut(Gone<'_>)) -> bool {
        // A clock that was set back gives a huge number.
        if unix_ms.wrapping_sub(self.local.swept_ms) < REST_MS {
            return false;
        }
        let shards = self.shared.shards();
        let (mut steps, mut more) = (0, false);
        for _ in 0..shards {
            if steps >= budget {
                return true;
            }
            let number = self.local.next_sweep;
            if self.shared.dues[number].load(Relaxed) <= unix_ms
                && let Some(mut shard) = self.shared.try_lock(number)
            {
                let work = shard.sweep(&self.shared, unix_ms, budget - steps, gone);
                steps += work.steps + 1;
                more |= work.more;
            }
            // The number of shards is a power of two.
            self.local.next_sweep = (number + 1) & (shards - 1);
        }
        if !more {
            self.local.swept_ms = unix_ms;
        }
        more
    }
}

impl Clone for TypedStore {
    /// Another handle on the same keyspace, which has reserved nothing.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.shared))
    }
}

impl Drop for TypedStore {
    fn drop(&mut self) {
        self.reserve(0);
    }
}

impl Keyspace for TypedStore {
    type View<'a> = TypedView<'a>;

    fn databases(&self) -> usize {
        self.shared.databases
    }

    #[inline]
    fn scope(&self, key: &[u8]) -> Scope {
        match self.shared.shards() {
            1 => Scope::shard(0),
            _ => Scope::shard(self.shared.shard_of(hash_of(key))),
        }
    }

    fn scan_scope(&self, cursor: u64) -> Scope {
        self.shared.scan_scope(cursor)
    }

    #[inline]
    fn view(&mut self, scope: Scope, unix_ms: u64) -> TypedView<'_> {
        TypedView::new(&self.shared, &mut self.local, scope, unix_ms)
    }

    #[inline]
    fn prefetch(&self, db: usize, key: &[u8], stage: Stage) {
        self.prefetch_keys(db, std::iter::once(key), stage);
    }

    #[inline]
    fn prefetch_all<'k>(
        &self,
        db: usize,
        keys: impl Iterator<Item = &'k [u8]>,
        stage: Stage,
    ) -> bool {
        let has_more = self.prefetch_keys(db, keys, stage);
        if stage == Stage::Item {
            self.local.hints.follow();
        }
        has_more
    }

    #[inline]
    fn prefetch_element(&self, db: usize, key: &[u8], element: &[u8]) {
        self.prefetch_place(db, key, element);
    }

    #[inline]
    fn make_room(&mut self, unix_ms: u64, gone: &mut dyn FnMut(Gone<'_>)) -> bool {
        match self.shared.settings.limit() {
            Some(limit) if self.shared.ledger.used() > limit => {
                self.shared.settings.keeps_entries() || self.evict(limit, unix_ms, gone)
            }
            _ => {
                self.local.added = 0;
                true
            }
        }
    }

    fn maintain(&mut self, unix_ms: u64, budget: usize, gone: &mut dyn FnMut(Gone<'_>)) -> bool {
        self.maintain_in_chores(unix_ms, budget, gone, &mut |_| ())
    }

    fn maintain_in_chores(
        &mut self,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
        ended: &mut dyn FnMut(Chore),
    ) -> bool {
        self.local.notes.drain(gone);
        let mut more = false;
        if !self.shared.bin.is_empty() {
            let freed = self.shared.bin.try_free_some(&self.shared.ledger, budget);
            more |= freed.is_some() && !self.shared.bin.is_empty();
        }
        ended(Chore::Free);
        let settings = &self.shared.settings;
        let (expires, keeps) = (settings.active_expiry(), settings.keeps_entries());
        if expires && !keeps {
            more |= self.sweep(unix_ms, budget, gone);
        }
        ended(Chore::Expire);
        if !keeps {
            more |= self.evict_ahead(unix_ms, budget, gone);
        }
        ended(Chore::Evict);
        more |= self.defragment(unix_ms);
        ended(Chore::Defragment);
        more
    }

    /// Gaps are measured a nap later than they would be.
    fn may_nap(&self, unix_ms: u64, nap: Duration) -> bool {
        let Shared { ref settings, ref ledger, ref bin, ref defrag, ref dues, .. } = *self.shared;
        let then_ms = unix_ms.saturating_add(nap.as_millis() as u64);
        let is_due = |due: &AtomicU64| due.load(Relaxed) <= then_ms;
        let expires = settings.active_expiry() && !settings.keeps_entries();
        let is_over = settings.limit().is_some_and(|limit| ledger.used() > limit);
        let is_busy = !self.local.notes.is_empty() || !bin.is_empty() || defrag.is_running();
        !(is_busy || is_over || expires && dues.iter().any(is_due))
    }

    fn settings(&self) -> &Arc<Settings> {
        &self.shared.settings
    }

    fn stats(&self) -> KeyspaceStats {
        self.shared.stats()
    }

    fn observer(&self) -> Observer {
        let shared = Arc::downgrade(&self.shared);
        Box::new(move || Some(shared.upgrade()?.stats()))
    }

    fn reset_stats(&mut self) {
        for number in 0..self.shared.shards() {
            self.shared.lock(number).reset_counts();
        }
        self.shared.bin.reset();
        self.shared.defrag.reset();
    }

    #[inline]
    fn used_bytes(&self) -> u64 {
        self.shared.ledger.used()
    }

    fn reserve(&mut self, bytes: u64) {
        if bytes != self.local.reserved {
            self.shared.ledger.reserve(self.local.reserved, bytes);
            self.local.reserved = bytes;
        }
    }

    fn check_integrity(&self) {
        self.shared.check_integrity();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyspace::View;
    use std::collections::HashSet;

    /// Puts so much under keys of a database that prefetches are worth it.
    fn fill(store: &mut TypedStore, db: usize) {
        for number in 0..3000_u32 {
            let entry = Entry::string(&number.to_le_bytes(), &[7; 1000]);
            store.view(Scope::ALL, 1).put(entry, db);
        }
    }

    /// The shards of a database that a handle has found out about.
    fn known(store: &TypedStore, db: usize) -> usize {
        let is_known = |layout: &&RefCell<Layout<Entry>>| {
            format!("{:?}", layout.borrow()) != format!("{:?}", Layout::<Entry>::new())
        };
        store.local.layouts[db].get().map_or(0, |layouts| layouts.iter().filter(is_known).count())
    }

    fn prefetch(store: &TypedStore, db: usize) {
        // Each at an address of its own, as in a pipeline.
        let keys: Vec<[u8; 4]> = (0..100_u32).map(u32::to_le_bytes).collect();
        for stage in [Stage::Index, Stage::Item, Stage::Value] {
            keys.iter().for_each(|key| store.prefetch(db, key, stage));
        }
    }

    #[test]
    fn the_last_stage_is_left_out_where_strings_are_short() {
        let mut store = TypedStore::builder().shards(4).seed(3).build();
        let has_more = |store: &TypedStore, batch: u32| {
            let names: Vec<[u8; 4]> = (12 * batch..).take(12).map(u32::to_le_bytes).collect();
            let keys = || names.iter().map(|name| &name[..]);
            Stage::ALL.map(|stage| store.prefetch_all(0, keys(), stage))
        };
        assert_eq!(has_more(&store, 0), [false; 3], "all is in the cache");
        for number in 0..50_000_u32 {
            store.view(Scope::ALL, 1).put(Entry::string(&number.to_le_bytes(), &[7; 20]), 0);
        }
        // A few keys are in a second bucket, and which ones differs from run to run.
        let batches: Vec<_> = (0..20).map(|batch| has_more(&store, batch)).collect();
        assert!(batches.contains(&[true, false, false]), "short strings: {batches:?}");
        let mut store = TypedStore::builder().shards(4).seed(3).build();
        fill(&mut store, 0);
        assert_eq!(has_more(&store, 0), [true, true, false], "long strings");
    }

    #[test]
    fn each_of_the_first_databases_is_prefetched_by_its_own_layouts() {
        let mut store = TypedStore::builder().databases(PREFETCHED + 1).shards(4).seed(3).build();
        for db in [0, 3, PREFETCHED - 1, PREFETCHED] {
            prefetch(&store, db);
        }
        assert!(
            store.local.layouts.iter().all(|layouts| layouts.get().is_none()),
            "all is in the cache"
        );
        fill(&mut store, 3);
        fill(&mut store, PREFETCHED - 1);
        for db in [3, PREFETCHED - 1, PREFETCHED] {
            prefetch(&store, db);
        }
        assert_eq!([3, PREFETCHED - 1, 0].map(|db| known(&store, db)), [4, 4, 0]);
    }

    #[test]
    fn a_walk_removes_what_it_finds_expired() {
        let mut store = TypedStore::builder().shards(4).seed(3).build();
        store.settings().add_listener();
        for number in 0..100_u32 {
            let mut entry = Entry::string(&number.to_le_bytes(), b"value");
            entry.set_expiry((number % 2 == 0).then_some(1000));
            store.view(Scope::ALL, 1).put(entry, 0);
        }
        let mut view = store.view(Scope::ALL, 1000);
        // One that moves meanwhile may be shown twice.
        let (mut cursor, mut shown) = (0, HashSet::new());
        loop {
            cursor = view.scan(0, cursor, &mut |entry| {
                shown.insert(entry.key().to_vec());
            });
            if cursor == 0 {
                break;
            }
        }
        let mut told = 0;
        view.drain_gone(&mut |gone| told += u32::from(gone.reason == keyspace::Reason::Expired));
        assert_eq!((shown.len(), told, view.len(0), view.volatile_len(0)), (50, 50, 50, 0));
    }

    #[test]
    fn there_is_nothing_to_do_until_an_entry_is_due_or_memory_is_to_be_freed() {
        let nap = Duration::from_secs(1);
        let mut store = TypedStore::builder().shards(4).seed(3).build();
        let turn =
            |store: &mut TypedStore, now_ms| while store.maintain(now_ms, 64, &mut |_| ()) {};
        fill(&mut store, 0);
        turn(&mut store, 1);
        assert!(store.may_nap(1, nap));
        let mut entry = Entry::string(b"key", b"value");
        entry.set_expiry(Some(60_000));
        store.view(Scope::ALL, 1).put(entry, 0);
        assert!(store.may_nap(1, nap));
        assert!(!store.may_nap(59_500, nap), "it will be due");
        store.settings().set_active_expiry(false);
        assert!(store.may_nap(59_500, nap));
        store.settings().set_active_expiry(true);
        assert!(!store.may_nap(62_000, nap), "it is due");
        (62..70).for_each(|second| turn(&mut store, 1000 * second));
        assert_eq!(store.view(Scope::ALL, 1).len(0), 3000);
        assert!(store.may_nap(70_000, nap));
        store.settings().set_maxmemory(1);
        assert!(!store.may_nap(70_000, nap), "more is used than may be");
    }
}
