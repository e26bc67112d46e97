// SPDX-License-Identifier: Apache-2.0
//! Eviction: room for a write, made before the write takes its locks.
//!
//! A shard chosen by chance shows some of its entries, as many as the setting says. They are added
//! to the handle's [`Candidates`](super::candidates::Candidates), of which the best goes. Entries
//! are looked at in the order of the table, from where the last look ended: buckets that the CPU
//! has fetched already, and none again before all others had their turn. An entry's place in the
//! table is chance, so the samples are. Where only entries with an expiry may go the look passes
//! over buckets that have none without touching an entry.
//!
//! What is large goes to the bin, and the bin is emptied before anything else is evicted. So nothing
//! is evicted for memory that is about to be free.

use super::access::Access;
use super::candidates::{Candidate, Candidates, Judge, had_expired};
use super::database::Database;
use super::random::Random;
use super::shard::Shard;
use super::shared::Shared;
use super::store::TypedStore;
use parking_lot::MutexGuard;
use storage::keyspace::{Gone, Policy, Reason};
use storage::metrics::{ITEM_EVICT, ITEM_EXPIRE};

/// Evictions in one call while more is used than the limit, of a microsecond or so each.
const EVICTIONS: usize = 64;
/// The same, for a handle that has added more than that frees.
const EVICTIONS_MAX: usize = 64 << 10;
/// Looks in one call that find nothing to evict.
const MISSES_MAX: usize = 64;
/// Buckets that one look passes over.
const BUCKETS_MAX: usize = 1024;
/// Steps of freeing in place of one eviction.
const FREE_STEPS: usize = 64;

/// How an attempt to evict has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// An entry went, and so many bytes are free at once.
    Evicted(u64),
    /// Nothing went, but something might at the next attempt.
    Missed,
    /// There is nothing that the policy may evict.
    Nothing,
}

impl TypedStore {
    /// Evicts until no more than `limit` is used, or the work was enough for one call. `false` if
    /// there is nothing to evict.
    #[cold]
    pub(crate) fn evict(
        &mut self,
        limit: u64,
        unix_ms: u64,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let owed = self.local.added.max(0) as u64;
        let (mut freed, mut misses) = (0, 0);
        for evictions in 0..EVICTIONS_MAX {
            if self.shared.ledger.used() <= limit {
                self.local.added = 0;
                return true;
            }
            if (evictions >= EVICTIONS && freed >= owed) || misses >= MISSES_MAX {
                break;
            }
            match self.evict_or_free(unix_ms, gone) {
                Outcome::Evicted(bytes) => freed += bytes,
                Outcome::Missed => misses += 1,
                Outcome::Nothing => return self.shared.ledger.used() <= limit,
            }
        }
        self.local.added = owed.saturating_sub(freed) as i64;
        true
    }

    /// Evicts a little while more is used than the limit, so that memory comes down to a limit that
    /// was lowered also while nobody writes. Whether there is more to do.
    pub(crate) fn evict_ahead(
        &mut self,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let limit = self.shared.settings.maxmemory();
        let is_over = |shared: &Shared| limit != 0 && shared.ledger.used() > limit;
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
        let Some(mut shard) = choose(shared, &judge, &mut self.local.random) else {
            return Outcome::Nothing;
        };
        let candidates = &mut self.local.candidates;
        candidates.prepare(judge.policy);
        let samples = shared.settings.samples();
        shard.sample(&judge, samples, &mut self.local.random, candidates);
        while let Some(candidate) = candidates.take_best(&judge) {
            let number = shared.shard_of(candidate.hash);
            if number != shard.number {
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

/// Locks a shard with something to evict: one chosen by chance, or the next one that has.
fn choose<'a>(
    shared: &'a Shared,
    judge: &Judge,
    random: &mut Random,
) -> Option<MutexGuard<'a, Shard>> {
    let shards = shared.shards();
    let first = random.below(shards as u64) as usize;
    for step in 0..shards {
        let mut shard = shared.lock((first + step) % shards);
        if shard.candidates(judge.policy.is_volatile()) > 0 {
            return Some(shard);
        }
        // Where there is little, every byte counts.
        shard.publish(shared);
    }
    None
}

impl Shard {
    /// Looks at some entries and keeps the best of them as candidates.
    fn sample(
        &mut self,
        judge: &Judge,
        samples: u32,
        random: &mut Random,
        candidates: &mut Candidates,
    ) {
        let is_volatile = judge.policy.is_volatile();
        let mut place = random.below(self.candidates(is_volatile));
        let Some((db, database)) = self.databases.iter_mut().enumerate().find(|(_, database)| {
            let len = database.candidates(is_volatile);
            let is_here = place < len;
            place = place.saturating_sub(len);
            is_here
        }) else {
            return;
        };
        let mut left = samples;
        let budget = BUCKETS_MAX.min(database.table.buckets());
        database.hand = database.table.look_from(database.hand, budget, is_volatile, |entry| {
            if judge.allows(entry) {
                candidates.consider(judge, Candidate::of(db, entry));
                left -= 1;
            }
            left > 0
        });
    }

    /// Evicts a candidate, unless it was used or changed or has gone; how much that frees.
    fn evict(
        &mut self,
        shared: &Shared,
        judge: &Judge,
        candidate: Candidate,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> Option<u64> {
        let Candidate { db, hash, .. } = candidate;
        let is_it = |entry: &_| candidate.is(entry) && judge.allows(entry);
        let mut added = 0;
        let remove = |database: &mut Database| database.remove_by(hash, is_it);
        let entry = self.change(shared, &mut added, db, remove)?;
        let reason = if had_expired(judge, &entry) {
            self.counts.expired += 1;
            ITEM_EXPIRE.increment();
            Reason::Expired
        } else {
            self.counts.evicted += 1;
            ITEM_EVICT.increment();
            Reason::Evicted
        };
        gone(Gone { db, key: entry.key(), reason });
        let freed = if entry.is_large() { 0 } else { (-added).max(0) as u64 };
        shared.discard(entry);
        Some(freed)
    }
}
