// SPDX-License-Identifier: Apache-2.0
//! Defragmentation: entries are moved together, so that memory between them goes back.
//!
//! An allocator divides a *slab*, a run of pages, into small blocks of one size. When the sizes of values change,
//! entries of the old size are evicted here and there, and their slabs stay, each with a few entries left. A free block
//! between them is a *gap*: it is of no use to entries of another size. So resident memory could be twice the memory in
//! use.
//!
//! Where gaps are more than a small share of the memory, all tables are walked, a few entries at a time, and entries of
//! the sizes that have gaps are moved: copied to a new block, which the allocator takes from its oldest slabs, while the
//! old one is freed. So old slabs fill up and young ones become empty. A pass moves every entry of such a size once.
//!
//! * Steps are taken at the end of each turn, and with evictions in proportion, since those are what makes gaps.
//! * Only the blocks of entries and of their strings are moved, not what is inside large values. Whatever the reason,
//!   gaps beyond [`allowance`] count as used, so that entries are evicted for them: resident memory stays within the
//!   limit.
//! * Slabs that were freed are pages between others, which slabs of another length may not fit. So when resident memory is
//!   near its bound, idle pages are given back at once.
//! * A pass that did not help is not repeated before gaps have grown.

use super::shard::Shard;
use super::shared::Shared;
use super::slabs::{BlockSizes, Slabs};
use super::store::TypedStore;
use allocator::SlabUse;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use values::Entry;

/// How often gaps are measured where little changes, in milliseconds: it takes most of a millisecond.
const REST_MS: u64 = 5000;
/// How often they are measured at most.
const CHECK_MS: u64 = 100;
/// Bytes by which the memory in use has changed, or that a handle has evicted, after which gaps are measured before
/// they would be otherwise.
const CHECK_BYTES: u64 = 2 << 20;
/// Entries that are looked at in a step.
const STEP: usize = 128;
/// Entries that are looked at for each that is evicted, while a pass goes on. Where an eighth of the slabs is free, to
/// move seven entries frees as much memory as one takes.
const FOR_EVICTION: usize = 8;
/// The most entries that are looked at between two writes.
const OWED_MAX: usize = 8 * STEP;
/// Gaps of one size that are not worth a pass: some slabs are always being filled.
const SIZE_GAPS_MIN: u64 = 128 << 10;
/// The share of a size's slabs below which gaps are left alone.
const SIZE_SHARE: u64 = 16;

/// Gaps from which on entries are moved, beside so many bytes in use.
fn bearable(used: u64) -> u64 {
    used / 12 + (4 << 20)
}

/// Gaps that do not count as used, beside so many bytes in use.
fn allowance(used: u64) -> u64 {
    used / 11 + (6 << 20)
}

/// Memory in use, gaps and idle pages from which on idle pages are given back before their time.
fn purged(limit: u64) -> u64 {
    limit.saturating_add(limit / 12).saturating_add(6 << 20)
}

/// The state of defragmentation that all handles share.
#[derive(Debug, Default)]
pub(crate) struct Defrag {
    slabs: Option<Arc<dyn Slabs>>,
    is_running: AtomicBool,
    /// When gaps were last measured.
    checked_ms: AtomicU64,
    /// Bytes that were in use then.
    checked_bytes: AtomicU64,
    pass: Mutex<Pass>,
    /// Entries that were moved.
    pub(crate) moved: AtomicU64,
    /// Entries that were looked at and stayed.
    pub(crate) kept: AtomicU64,
}

/// A walk over all tables, and what came of the last one.
#[derive(Debug, Default)]
struct Pass {
    sizes: BlockSizes,
    shard: usize,
    db: usize,
    home: usize,
    /// Gaps when it began.
    gaps_before: u64,
    /// Gaps that the last pass has left, if it did not help.
    stubborn: u64,
}

/// What was measured.
#[derive(Debug, Default)]
struct Gaps {
    bytes: u64,
    sizes: BlockSizes,
}

impl Defrag {
    pub(crate) fn new(slabs: Option<Arc<dyn Slabs>>) -> Self {
        Defrag { slabs, ..Defrag::default() }
    }

    /// Counts moved and kept entries from here on.
    pub(crate) fn reset(&self) {
        self.moved.store(0, Relaxed);
        self.kept.store(0, Relaxed);
    }

    /// Whether a pass goes on.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Relaxed)
    }

    /// Whether it is time to measure gaps, beside so many bytes in use.
    fn is_due(&self, unix_ms: u64, used: u64) -> bool {
        let passed_ms = unix_ms.wrapping_sub(self.checked_ms.load(Relaxed));
        let changed = used.abs_diff(self.checked_bytes.load(Relaxed));
        passed_ms >= REST_MS || (passed_ms >= CHECK_MS && changed >= CHECK_BYTES)
    }

    fn measure(slabs: &dyn Slabs) -> Gaps {
        let mut gaps = Gaps::default();
        slabs.each(&mut |SlabUse { size, used, free }| {
            gaps.bytes += free;
            if free > SIZE_GAPS_MIN && free > (used + free) / SIZE_SHARE {
                gaps.sizes.add(size);
            }
        });
        gaps
    }

    /// Measures gaps, counts those that are too many, and begins a pass if it is time.
    fn check(&self, slabs: &dyn Slabs, pass: &mut Pass, shared: &Shared) -> Gaps {
        let gaps = Self::measure(slabs);
        let ledger = &shared.ledger;
        let used = ledger.used().saturating_sub(ledger.gaps());
        ledger.count_gaps(gaps.bytes.saturating_sub(allowance(used)));
        let resident = used + gaps.bytes + slabs.idle();
        if shared.settings.limit().is_some_and(|limit| resident > purged(limit)) {
            slabs.purge();
        }
        if !self.is_running() {
            let is_much = gaps.bytes > bearable(used);
            let has_grown = gaps.bytes > pass.stubborn + pass.stubborn / 8;
            if !is_much {
                pass.stubborn = 0;
            } else if has_grown && gaps.sizes != BlockSizes::default() {
                *pass = Pass { sizes: gaps.sizes, gaps_before: gaps.bytes, ..Pass::default() };
                self.is_running.store(true, Relaxed);
            }
        }
        gaps
    }

    /// Looks at some entries, and moves those of the sizes of the pass.
    fn step(&self, slabs: &dyn Slabs, pass: &mut Pass, shared: &Shared, budget: usize) {
        let mut is_over = false;
        slabs.directly(&mut || is_over = self.walk(pass, shared, budget));
        if is_over {
            self.is_running.store(false, Relaxed);
            let before = pass.gaps_before;
            let gaps = self.check(slabs, &mut Pass { stubborn: u64::MAX / 2, ..*pass }, shared);
            pass.stubborn = if gaps.bytes < before - before / 8 { 0 } else { gaps.bytes };
        }
    }

    /// Returns whether the walk is at its end.
    fn walk(&self, pass: &mut Pass, shared: &Shared, budget: usize) -> bool {
        let (mut looked, mut moved) = (0, 0);
        while pass.shard < shared.shards() && looked < budget {
            let mut shard = shared.lock(pass.shard);
            while pass.db < shared.databases && looked < budget {
                let (all, relocated) = pass.walk_table(&mut shard, budget - looked);
                looked += all;
                moved += relocated;
            }
            if pass.db == shared.databases {
                (pass.shard, pass.db) = (pass.shard + 1, 0);
                looked += 1;
            }
        }
        self.moved.fetch_add(moved as u64, Relaxed);
        self.kept.fetch_add(looked.saturating_sub(moved) as u64, Relaxed);
        pass.shard == shared.shards()
    }
}

impl Pass {
    /// Goes on in the present table. Returns how many entries it looked at, and how many of them it moved.
    fn walk_table(&mut self, shard: &mut Shard, budget: usize) -> (usize, usize) {
        let table = &mut shard.databases[self.db].table;
        let (mut looked, mut moved) = (0, 0);
        while self.home < table.buckets() {
            if looked >= budget {
                return (looked, moved);
            }
            table.prefetch_look(self.home + 2, false);
            table.change_in(self.home, |entry: &mut Entry| {
                looked += 1;
                moved += usize::from(entry.relocate(|size| self.sizes.has(size)));
            });
            self.home += 1;
        }
        (self.db, self.home) = (self.db + 1, 0);
        (looked, moved)
    }
}

impl TypedStore {
    /// Measures gaps from time to time if there is a limit to keep, and goes on with a pass. Returns whether there is
    /// more to do.
    pub(crate) fn defragment(&self, unix_ms: u64) -> bool {
        let (defrag, ledger) = (&self.shared.defrag, &self.shared.ledger);
        let Some(slabs) = &defrag.slabs else { return false };
        let used = ledger.used().saturating_sub(ledger.gaps());
        let is_due = self.shared.settings.limit().is_some() && defrag.is_due(unix_ms, used);
        if !is_due && !defrag.is_running() {
            return false;
        }
        let Some(mut pass) = defrag.pass.try_lock() else { return false };
        if is_due {
            defrag.checked_ms.store(unix_ms, Relaxed);
            defrag.checked_bytes.store(used, Relaxed);
            defrag.check(&**slabs, &mut pass, &self.shared);
        }
        if defrag.is_running() {
            defrag.step(&**slabs, &mut pass, &self.shared, STEP);
        }
        defrag.is_running()
    }

    /// Does what evictions make necessary: so many, which have freed so much.
    pub(crate) fn defragment_after(&mut self, evictions: usize, freed: u64) {
        let Some(slabs) = &self.shared.defrag.slabs else { return };
        let defrag = &self.shared.defrag;
        self.local.unchecked += freed;
        if self.local.unchecked >= CHECK_BYTES
            && let Some(mut pass) = defrag.pass.try_lock()
        {
            self.local.unchecked = 0;
            defrag.check(&**slabs, &mut pass, &self.shared);
        }
        if !defrag.is_running() {
            self.local.owed = 0;
            return;
        }
        self.local.owed = (self.local.owed + evictions * FOR_EVICTION).min(OWED_MAX);
        while self.local.owed >= STEP
            && let Some(mut pass) = defrag.pass.try_lock()
            && defrag.is_running()
        {
            self.local.owed -= STEP;
            defrag.step(&**slabs, &mut pass, &self.shared, STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyspace::{Keyspace, Policy, Scope, View};

    const NOW_MS: u64 = 1_700_000_000_000;

    #[test]
    fn a_limit_may_be_as_large_as_any_number() {
        assert_eq!(purged(1200 << 20), 1306 << 20);
        assert_eq!(purged(u64::MAX - 1), u64::MAX);
    }

    /// Slabs that are as full as a test says.
    #[derive(Debug, Default)]
    struct Said {
        uses: Mutex<Vec<SlabUse>>,
        idle: AtomicU64,
        purges: AtomicU64,
    }

    impl Said {
        fn say(&self, size: usize, used: u64, free: u64) {
            *self.uses.lock() = vec![SlabUse { size, used, free }];
        }
    }

    impl Slabs for Said {
        fn each(&self, see: &mut dyn FnMut(SlabUse)) {
            self.uses.lock().iter().copied().for_each(see);
        }

        fn directly(&self, work: &mut dyn FnMut()) {
            work();
        }

        fn idle(&self) -> u64 {
            self.idle.load(Relaxed)
        }

        fn purge(&self) {
            self.purges.fetch_add(1, Relaxed);
        }
    }

    /// A store of entries of 128 bytes and as many of 1,024.
    fn store(entries: u32) -> (TypedStore, Arc<Said>) {
        let said = Arc::new(Said::default());
        let slabs: Arc<dyn Slabs> = Arc::clone(&said) as _;
        let mut store = TypedStore::builder().shards(4).databases(2).seed(1).slabs(slabs).build();
        store.settings().set_maxmemory(1 << 40);
        for number in 0..entries {
            let key = number.to_le_bytes();
            store.view(Scope::ALL, NOW_MS).put(Entry::string(&key, &[7; 110]), 0);
            store.view(Scope::ALL, NOW_MS).put(Entry::string(&key, &[7; 1000]), 1);
        }
        (store, said)
    }

    fn addresses(store: &mut TypedStore, db: usize, entries: u32) -> Vec<usize> {
        let view = store.view(Scope::ALL, NOW_MS);
        let address = |number: u32| view.peek(db, &number.to_le_bytes()).map(Entry::address);
        (0..entries).map(|number| address(number).expect("it is there")).collect()
    }

    /// The turns until there is nothing more to do.
    fn turns(store: &mut TypedStore, unix_ms: u64) -> usize {
        let mut turns = 1;
        while store.maintain(unix_ms, 64, &mut |_| ()) {
            turns += 1;
            assert!(turns < 1000, "it does not end");
        }
        turns
    }

    #[test]
    fn entries_of_the_sizes_with_gaps_are_moved_and_others_stay() {
        let (mut store, said) = store(2000);
        let before = [0, 1].map(|db| addresses(&mut store, db, 2000));
        said.say(128, 2000 * 128, 8 << 20);
        let turns = turns(&mut store, NOW_MS);
        assert!(turns * (STEP + 16) > 2 * 2000, "{turns} turns");
        let after = [0, 1].map(|db| addresses(&mut store, db, 2000));
        assert!(before[0].iter().zip(&after[0]).all(|(before, after)| before != after));
        assert_eq!(before[1], after[1]);
        let stats = store.stats();
        assert_eq!((stats.moved, stats.defragments), (2000, false));
        assert!(stats.kept >= 2000);
        store.reset_stats();
        assert_eq!((store.stats().moved, store.stats().kept), (0, 0));
        store.check_integrity();
    }

    #[test]
    fn a_pass_that_did_not_help_is_repeated_when_gaps_have_grown() {
        let (mut store, said) = store(500);
        let mut at = |free: u64, later: u64| {
            said.say(128, 500 * 128, free);
            turns(&mut store, NOW_MS + later * REST_MS);
            store.stats().moved
        };
        assert_eq!(at(8 << 20, 1), 500);
        assert_eq!(at(8 << 20, 2), 500, "they are where they were");
        assert_eq!(at(10 << 20, 3), 1000, "there are more");
        assert_eq!(at(1 << 20, 4), 1000, "they are gone");
        assert_eq!(at(8 << 20, 5), 1500, "they are back");
    }

    #[test]
    fn gaps_are_measured_when_much_has_changed_or_after_a_rest() {
        let (mut store, said) = store(2000);
        let mut gaps = |free: u64, later_ms: u64| {
            said.say(64, 0, free);
            turns(&mut store, NOW_MS + later_ms);
            store.stats().gap_bytes > 0
        };
        assert!(!gaps(0, 0));
        assert!(!gaps(1 << 30, CHECK_MS), "nothing has changed");
        assert!(gaps(1 << 30, REST_MS));
        for number in 2000..6000_u32 {
            store.view(Scope::ALL, NOW_MS).put(Entry::string(&number.to_le_bytes(), &[7; 1000]), 1);
        }
        let mut gaps = |free: u64, later_ms: u64| {
            said.say(64, 0, free);
            turns(&mut store, NOW_MS + REST_MS + later_ms);
            store.stats().gap_bytes > 0
        };
        assert!(gaps(0, CHECK_MS - 1), "it was just done");
        assert!(!gaps(0, CHECK_MS));
        store.settings().set_maxmemory(0);
        said.say(64, 0, 1 << 30);
        turns(&mut store, NOW_MS + 9 * REST_MS);
        assert_eq!(store.stats().gap_bytes, 0, "there is no limit to keep");
    }

    #[test]
    fn few_gaps_are_left_alone() {
        let (mut store, said) = store(2000);
        said.say(128, 2000 * 128, 1 << 20);
        assert_eq!(turns(&mut store, NOW_MS), 1);
        said.say(128, 200 << 20, 12 << 20);
        assert_eq!(turns(&mut store, NOW_MS + REST_MS), 1, "a size whose slabs are full");
        assert_eq!(store.stats().moved, 0);
    }

    #[test]
    fn entries_are_evicted_for_gaps_that_cannot_be_closed() {
        let (mut store, said) = store(2000);
        let used = store.used_bytes();
        store.settings().set_maxmemory(used + (1 << 20));
        store.settings().set_policy(Policy::AllkeysLru);
        // None of the entries is of this size.
        said.say(64, 0, 8 << 20);
        turns(&mut store, NOW_MS);
        let stats = store.stats();
        assert!(stats.evicted > 100 && stats.moved == 0, "{stats:?}");
        assert!(stats.gap_bytes > 1 << 20 && stats.used_bytes <= used + (1 << 20), "{stats:?}");
        store.check_integrity();
        said.say(64, 0, 0);
        turns(&mut store, NOW_MS + REST_MS);
        assert_eq!(store.stats().gap_bytes, 0);
    }

    #[test]
    fn idle_pages_are_given_back_where_they_would_be_too_many() {
        let (mut store, said) = store(100);
        let mut purges = |idle: u64, later: u64| {
            said.idle.store(idle, Relaxed);
            turns(&mut store, NOW_MS + later * REST_MS);
            said.purges.load(Relaxed)
        };
        assert_eq!(purges(1 << 30, 1), 0, "the limit is far away");
        store.settings().set_maxmemory(20 << 20);
        let mut purges = |idle: u64, later: u64| {
            said.idle.store(idle, Relaxed);
            turns(&mut store, NOW_MS + later * REST_MS);
            said.purges.load(Relaxed)
        };
        assert_eq!([purges(25 << 20, 2), purges(40 << 20, 3)], [0, 1]);
    }

    #[test]
    fn evictions_take_steps_in_proportion() {
        let (mut store, said) = store(2000);
        store.settings().set_policy(Policy::AllkeysLru);
        said.say(128, 2000 * 128, 8 << 20);
        assert!(store.maintain(NOW_MS, 64, &mut |_| ()), "a pass has begun");
        let before = store.stats();
        store.settings().set_maxmemory(store.used_bytes() - 128 * 200);
        let mut gone = 0;
        while store.used_bytes() > store.settings().maxmemory() {
            assert!(store.make_room(NOW_MS, &mut |_| gone += 1));
        }
        let after = store.stats();
        let looked = (after.moved + after.kept - before.moved - before.kept) as usize;
        let expected = gone * FOR_EVICTION;
        assert!((expected - STEP..=expected + STEP).contains(&looked), "{looked} for {gone}");
    }
}
