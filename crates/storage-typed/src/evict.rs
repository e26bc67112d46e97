// SPDX-License-Identifier: Apache-2.0
//! Eviction: room for a write, made before the write takes its locks.
//!
//! A table is chosen at random, some of its entries are sampled, as many as the setting says, and added to the
//! handle's [`Candidates`], and the best candidate is evicted. Samples are taken in the order of the table, from where
//! the last sampling ended: neighbouring buckets are cheap to read, and no bucket is read again before all others. An
//! entry's place in the table is random, so the samples are random too. Where only entries with an expiry may be
//! evicted, buckets without one are skipped without touching an entry.
//!
//! An entry that nobody has used lately is in no cache, and to wait for it takes longer than all else that an eviction
//! does. The order of the table says what is sampled next, so that is prefetched while the write goes on
//! ([`Sampling`]).
//!
//! Large values go to the bin, and the bin is emptied before anything else is evicted. So no entry
//! is evicted for memory that is about to be free.

use super::access::Access;
use super::candidates::{BucketPlace, Candidate, Candidates, Judge};
use super::database::{Database, is_past};
use super::random::Random;
use super::shard::Shard;
use super::shared::Shared;
use super::store::{Local, TypedStore};
use keyspace::{Gone, Policy, Reason};
use parking_lot::MutexGuard;
use storage::metrics::{EVICT_NEEDED, ITEM_EXPIRE};
use values::{Entry, hash_of};

/// The most evictions in one call while more than the limit is used. Each takes about a
/// microsecond.
const EVICTIONS: usize = 64;
/// The same, for a handle that has added more memory than those evictions free.
const EVICTIONS_MAX: usize = 64 << 10;
/// The most samplings in one call that find nothing to evict.
const MISSES_MAX: usize = 64;
/// The most buckets that one sampling visits.
const BUCKETS_MAX: usize = 1024;
/// About half the entries of a bucket.
const BUCKET_HALF: u32 = 2;
/// The most evictions for which samples come from the same table.
const STAY_MAX: usize = 16;
/// Of a table's buckets that many times fewer are sampled before another table is chosen, or small tables would lose
/// more entries than is their share.
const STAY_SHARE: usize = 16;
/// Buckets that are prefetched before they are sampled.
const AHEAD: usize = 2;
/// Steps of freeing in place of one eviction.
const FREE_STEPS: usize = 64;

/// How an attempt to evict has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// An entry was evicted, and this many bytes are free at once.
    Evicted(u64),
    /// No entry was evicted, but the next attempt may evict one.
    Missed,
    /// There is nothing that the policy may evict.
    Nothing,
}

impl TypedStore {
    /// Evicts until no more than `limit` is used, or the call's work limit is reached. `false` if
    /// there is nothing to evict.
    #[cold]
    pub(crate) fn evict(
        &mut self,
        limit: u64,
        unix_ms: u64,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let owed = self.local.added.max(0) as u64;
        let (mut evictions, mut freed, mut misses) = (0, 0, 0);
        while self.shared.ledger.used() > limit {
            let is_enough = evictions >= EVICTIONS && freed >= owed;
            if is_enough || misses >= MISSES_MAX || evictions >= EVICTIONS_MAX {
                break;
            }
            match self.evict_or_free(unix_ms, gone) {
                Outcome::Evicted(bytes) => {
                    freed += bytes;
                    evictions += 1;
                }
                Outcome::Missed => misses += 1,
                Outcome::Nothing => return self.shared.ledger.used() <= limit,
            }
        }
        let is_done = self.shared.ledger.used() <= limit;
        self.local.added = if is_done { 0 } else { owed.saturating_sub(freed) as i64 };
        self.defragment_after(evictions, freed);
        true
    }

    /// Evicts a few entries while more than the limit is used, so that memory comes down to a
    /// lowered limit even while nobody writes. Returns whether there is more to do.
    pub(crate) fn evict_ahead(
        &mut self,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let Some(limit) = self.shared.settings.limit() else { return false };
        let is_over = |shared: &Shared| shared.ledger.used() > limit;
        for _ in 0..budget.div_ceil(8) {
            if !is_over(&self.shared) || self.evict_or_free(unix_ms, gone) == Outcome::Nothing {
                return false;
            }
        }
        is_over(&self.shared)
    }

    fn evict_or_free(&mut self, unix_ms: u64, gone: &mut dyn FnMut(Gone<'_>)) -> Outcome {
        let shared = &*self.shared;
        if !shared.bin.is_empty() {
            return Outcome::Evicted(shared.bin.free_some(&shared.ledger, FREE_STEPS).bytes);
        }
        let judge = Judge {
            policy: shared.settings.policy(),
            access: Access::new(&shared.settings, unix_ms),
            unix_ms,
            salt: self.local.random.next(),
        };
        if judge.policy == Policy::NoEviction {
            return Outcome::Nothing;
        }
        let Local { sampling, candidates, random, .. } = &mut self.local;
        let Some(mut shard) = sampling.enter(shared, &judge, random) else {
            return Outcome::Nothing;
        };
        candidates.prepare(judge.policy);
        sampling.sample(&mut shard, &judge, shared.settings.samples(), candidates);
        while let Some(candidate) = candidates.take_best() {
            let number = candidate.place.shard;
            if number != shard.number() {
                // One lock at a time: INV-ORDER.
                drop(shard);
                shard = shared.lock(number);
            }
            if let Some(freed) = shard.evict(shared, &judge, candidate, gone) {
                return Outcome::Evicted(freed);
            }
        }
        Outcome::Missed
    }
}

/// The table from which samples are taken.
#[derive(Debug, Default)]
pub(crate) struct Sampling {
    shard: usize,
    db: usize,
    /// The samplings after which another table is chosen.
    left: usize,
}

impl Sampling {
    /// Locks the shard of a table with something to evict.
    fn enter<'a>(
        &mut self,
        shared: &'a Shared,
        judge: &Judge,
        random: &mut Random,
    ) -> Option<MutexGuard<'a, Shard>> {
        let is_volatile = judge.policy.is_volatile();
        if let Some(left) = self.left.checked_sub(1) {
            let shard = shared.lock(self.shard);
            if shard.databases[self.db].candidates(is_volatile) > 0 {
                self.left = left;
                return Some(shard);
            }
        }
        let shard = choose(shared, is_volatile, random)?;
        self.settle(&shard, is_volatile, random);
        Some(shard)
    }

    /// Chooses one of a shard's tables, each as often as it has a share of the entries.
    fn settle(&mut self, shard: &Shard, is_volatile: bool, random: &mut Random) {
        let mut place = random.below(shard.candidates(is_volatile));
        let chosen = shard.databases.iter().position(|database| {
            let len = database.candidates(is_volatile);
            let is_here = place < len;
            place = place.saturating_sub(len);
            is_here
        });
        self.db = chosen.unwrap_or(0);
        self.shard = shard.number();
        let Database { table, hand, .. } = &shard.databases[self.db];
        self.left = (table.buckets() / STAY_SHARE).min(STAY_MAX);
        (0..AHEAD).for_each(|step| table.prefetch_look(hand + step, is_volatile));
    }

    /// Samples some entries of the table, whose shard is locked, and keeps the best of them as candidates.
    fn sample(&self, shard: &mut Shard, judge: &Judge, samples: u32, candidates: &mut Candidates) {
        let is_volatile = judge.policy.is_volatile();
        let &Sampling { shard: number, db, left: _ } = self;
        let Database { table, hand, .. } = &mut shard.databases[db];
        let (mut seen, mut looked) = (0, 0);
        let buckets_max = BUCKETS_MAX.min(table.buckets());
        // Whole buckets, as many as come closest to the number: else the first entries of each
        // bucket would be sampled more often than the last.
        while looked < buckets_max && (seen == 0 || seen + BUCKET_HALF < samples) {
            // The table may have shrunk.
            let home = if *hand < table.buckets() { *hand } else { 0 };
            *hand = table.look_from(home, 1, is_volatile, |entry| {
                if judge.allows(entry) {
                    candidates.consider(judge, BucketPlace { shard: number, db, home }, entry);
                    seen += 1;
                }
                true
            });
            table.prefetch_look(home + AHEAD, is_volatile);
            looked += 1;
        }
    }
}

/// Locks a shard with something to evict: one chosen at random, or the next that has something.
fn choose<'a>(
    shared: &'a Shared,
    is_volatile: bool,
    random: &mut Random,
) -> Option<MutexGuard<'a, Shard>> {
    let shards = shared.shards();
    let first = random.below(shards as u64) as usize;
    for step in 0..shards {
        let mut shard = shared.lock((first + step) % shards);
        if shard.candidates(is_volatile) > 0 {
            return Some(shard);
        }
        // In a small keyspace every byte counts.
        shard.publish(shared);
    }
    None
}

impl Shard {
    /// Evicts a candidate, unless it was used, changed or removed. Returns how much that frees.
    fn evict(
        &mut self,
        shared: &Shared,
        judge: &Judge,
        candidate: Candidate,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> Option<u64> {
        let BucketPlace { db, home, .. } = candidate.place;
        let is_it = |entry: &Entry| candidate.is(entry) && judge.allows(entry);
        let hash = hash_of(self.databases[db].table.find_in(home, is_it)?.key());
        let mut added = 0;
        let remove = |database: &mut Database| database.remove_by(hash, is_it);
        let entry = self.change(shared, &mut added, db, remove)?;
        self.publish(shared);
        let reason = if is_past(&entry, judge.unix_ms) {
            self.counts.expired += 1;
            ITEM_EXPIRE.increment();
            Reason::Expired
        } else {
            self.counts.evicted += 1;
            EVICT_NEEDED.increment();
            Reason::Evicted
        };
        gone(Gone { db, key: entry.key(), reason, fields: &[] });
        let freed = if entry.is_large() { 0 } else { (-added).max(0) as u64 };
        shared.discard(entry);
        Some(freed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::ERROR_MAX;
    use keyspace::{Keyspace, Scope, View};

    const NOW_MS: u64 = 1_700_000_000_000;

    /// A store of `entries` entries of a hundred bytes, the later ones used later, and almost no
    /// memory.
    fn full(entries: u32, policy: Policy) -> TypedStore {
        let mut store = TypedStore::builder().shards(4).seed(1).build();
        for number in 0..entries {
            let now_ms = NOW_MS + u64::from(number) * 1000;
            let entry = Entry::string(&number.to_le_bytes(), &[7; 100]);
            store.view(Scope::ALL, now_ms).put(entry, 0);
        }
        assert!(store.make_room(NOW_MS, &mut |_| ()), "there is no limit yet");
        store.settings().set_policy(policy);
        store.settings().set_maxmemory(1);
        store
    }

    fn end_ms(entries: u32) -> u64 {
        NOW_MS + u64::from(entries) * 1000
    }

    #[test]
    fn those_unused_for_longest_go_first_by_and_large() {
        let mut store = full(1000, Policy::AllkeysLru);
        let mut order = Vec::new();
        for _ in 0..500 {
            let mut note = |gone: Gone<'_>| {
                order.push(u32::from_le_bytes(gone.key.try_into().expect("four bytes")));
            };
            let outcome = store.evict_or_free(end_ms(1000), &mut note);
            assert!(matches!(outcome, Outcome::Evicted(_)), "{outcome:?}");
        }
        let right = order.iter().filter(|&&number| number < 500).count();
        assert!(right > 440, "{right} of 500 are of the older half");
        let first = order[..100].iter().filter(|&&number| number < 250).count();
        assert!(first > 85, "{first} of the first 100 are of the oldest quarter");
    }

    #[test]
    fn a_candidate_that_was_used_since_stays() {
        let mut store = full(1, Policy::AllkeysLru);
        let key = 0_u32.to_le_bytes();
        let judge = Judge {
            policy: Policy::AllkeysLru,
            access: Access::new(store.settings(), end_ms(1)),
            unix_ms: end_ms(1),
            salt: 0,
        };
        let place = BucketPlace { shard: store.shared.shard_of(hash_of(&key)), db: 0, home: 0 };
        let candidate = |entry: &Entry| {
            let mut candidates = Candidates::default();
            candidates.consider(&judge, place, entry);
            candidates.take_best().expect("the only one")
        };
        let peeked = candidate(store.view(Scope::ALL, NOW_MS).peek(0, &key).expect("there"));
        assert!(store.view(Scope::ALL, end_ms(1)).get(0, &key).is_some());
        let shared = &store.shared;
        let mut shard = shared.lock(place.shard);
        assert_eq!(shard.evict(shared, &judge, peeked, &mut |_| ()), None);
        let now = candidate(shard.databases[0].table.iter().next().expect("there"));
        assert!(shard.evict(shared, &judge, now, &mut |_| ()).is_some());
    }

    #[test]
    fn rare_entries_with_an_expiry_are_found_among_many_without() {
        let mut store = full(30_000, Policy::VolatileLru);
        let now_ms = end_ms(30_000);
        for number in [7, 15_000, 29_000_u32] {
            store.view(Scope::ALL, now_ms).set_expiry(0, &number.to_le_bytes(), Some(u64::MAX));
        }
        let mut gone = 0;
        let mut calls = 0;
        while store.make_room(now_ms, &mut |_| gone += 1) {
            calls += 1;
            assert!(calls < 100);
        }
        assert_eq!(gone, 3);
    }

    #[test]
    fn a_handle_that_adds_much_evicts_as_much() {
        let mut store = full(20_000, Policy::AllkeysLru);
        let (limit, now_ms) = (store.used_bytes(), end_ms(20_000));
        store.settings().set_maxmemory(limit);
        store.view(Scope::ALL, now_ms).put(Entry::string(b"large", &[7; 1 << 20]), 1);
        let mut gone = 0;
        assert!(store.make_room(now_ms, &mut |_| gone += 1));
        assert!(gone > 1000, "{gone} entries for a megabyte");
        // Shards had not published all when the limit was taken, and have not now.
        assert!(store.used_bytes() <= limit + 2 * ERROR_MAX);
    }

    #[test]
    fn no_more_is_evicted_than_is_needed() {
        for shards in [1, 64] {
            let mut store = TypedStore::builder().shards(shards).seed(1).build();
            for number in 0..1000_u32 {
                let entry = Entry::string(&number.to_le_bytes(), &[7; 1000]);
                store.view(Scope::ALL, NOW_MS).put(entry, 0);
            }
            store.settings().set_policy(Policy::AllkeysLru);
            let (used, entry) = (store.stats().used_bytes, store.stats().entry_bytes / 1000);
            for step in 1..=5 {
                let limit = used - step * 7000;
                store.settings().set_maxmemory(limit);
                assert!(store.make_room(NOW_MS, &mut |_| ()));
                let left = store.stats().used_bytes;
                let error = (shards as u64 * store.shared.ledger.batch()).min(1 << 10);
                assert!(left <= limit + error, "{left} of {limit}, {shards} shards");
                assert!(left + entry + error > limit, "{left} of {limit}, {shards} shards");
            }
        }
    }

    #[test]
    fn a_limit_that_was_lowered_is_reached_in_bounded_steps() {
        let mut store = full(20_000, Policy::AllkeysLru);
        let mut gone = 0;
        assert!(store.make_room(NOW_MS, &mut |_| gone += 1));
        assert_eq!(gone, EVICTIONS, "of 20 000 that are too many");
        let mut calls = 0;
        while store.maintain(NOW_MS, 64, &mut |_| ()) {
            calls += 1;
            assert!(calls < 20_000);
        }
        assert!(calls > 1000, "{calls} calls");
        assert_eq!(store.stats().entry_bytes, 0);
        store.check_integrity();
    }
}
