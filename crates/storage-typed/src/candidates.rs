// SPDX-License-Identifier: Apache-2.0
//! [`Candidates`]: the best entries to evict among those examined lately.
//!
//! The best of a few samples is often a bad choice. The best of many samples, kept from one
//! eviction to the next, is nearly as good as the best of all entries. So the approximation of LRU
//! or LFU is close.

use super::access::Access;
use arrayvec::ArrayVec;
use keyspace::Policy;
use values::{Entry, hash_of};

/// How many candidates are kept.
const KEPT: usize = 16;

/// Entries that may be evicted, found again by their hash.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    policy: Policy,
    list: ArrayVec<Candidate, KEPT>,
}

/// An entry as it was when it was examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) db: usize,
    pub(crate) hash: u64,
    access: u32,
    expiry: Option<u64>,
}

/// The rules by which candidates are ranked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge {
    pub(crate) policy: Policy,
    pub(crate) access: Access,
    pub(crate) unix_ms: u64,
    /// For the policies that choose at random: another number each time.
    pub(crate) salt: u64,
}

impl Judge {
    /// The eviction score: the higher, the sooner the candidate is evicted.
    fn score(&self, candidate: &Candidate) -> u64 {
        if candidate.expiry.is_some_and(|expiry| expiry <= self.unix_ms) {
            return u64::MAX;
        }
        match self.policy {
            Policy::AllkeysRandom | Policy::VolatileRandom => {
                (candidate.hash ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
            }
            Policy::VolatileTtl => u64::MAX - candidate.expiry.unwrap_or(u64::MAX),
            Policy::NoEviction
            | Policy::AllkeysLru
            | Policy::AllkeysLrm
            | Policy::AllkeysLfu
            | Policy::VolatileLru
            | Policy::VolatileLrm
            | Policy::VolatileLfu => self.access.staleness(candidate.access),
        }
    }

    /// Whether the policy may evict the entry.
    pub(crate) fn allows(&self, entry: &Entry) -> bool {
        !self.policy.is_volatile() || entry.expiry().is_some()
    }
}

impl Candidate {
    pub(crate) fn of(db: usize, entry: &Entry) -> Self {
        let hash = hash_of(entry.key());
        Candidate { db, hash, access: entry.access(), expiry: entry.expiry() }
    }

    /// Whether this is the entry, or one just like it, and it was not used since.
    pub(crate) fn is(&self, entry: &Entry) -> bool {
        entry.access() == self.access
            && entry.expiry() == self.expiry
            && hash_of(entry.key()) == self.hash
    }
}

impl Candidates {
    /// Forgets candidates that another policy has chosen.
    pub(crate) fn prepare(&mut self, policy: Policy) {
        if self.policy != policy {
            self.policy = policy;
            self.list.clear();
        }
    }

    /// Keeps a candidate if it is new, and better than the worst of those kept or there is room.
    pub(crate) fn consider(&mut self, judge: &Judge, candidate: Candidate) {
        let is_same =
            |kept: &&mut Candidate| (kept.db, kept.hash) == (candidate.db, candidate.hash);
        if let Some(kept) = self.list.iter_mut().find(is_same) {
            *kept = candidate;
            return;
        }
        let Err(refused) = self.list.try_push(candidate) else { return };
        let candidate = refused.element();
        let worst = self.list.iter_mut().min_by_key(|kept| judge.score(kept));
        if let Some(worst) = worst
            && judge.score(worst) < judge.score(&candidate)
        {
            *worst = candidate;
        }
    }

    /// Takes the best one.
    pub(crate) fn take_best(&mut self, judge: &Judge) -> Option<Candidate> {
        let scores = self.list.iter().map(|kept| judge.score(kept)).enumerate();
        let (best, _) = scores.max_by_key(|&(_, score)| score)?;
        Some(self.list.swap_remove(best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyspace::Settings;

    const NOW_MS: u64 = 1_700_000_000_000;

    fn judge(policy: Policy) -> Judge {
        let settings = Settings::default();
        settings.set_policy(policy);
        Judge { policy, access: Access::new(&settings, NOW_MS), unix_ms: NOW_MS, salt: 0 }
    }

    /// Candidates that were used so many seconds ago.
    fn idle(seconds: u64) -> Candidate {
        let access = Access::new(&Settings::default(), NOW_MS - seconds * 1000).fresh();
        Candidate { db: 0, hash: seconds, access, expiry: None }
    }

    #[test]
    fn the_best_go_first_and_the_worst_are_not_kept() {
        let judge = judge(Policy::AllkeysLru);
        let mut candidates = Candidates::default();
        candidates.prepare(Policy::AllkeysLru);
        for seconds in [7, 3, 90, 30, 41, 5, 60, 8, 9, 10, 11, 12, 13, 14, 15, 16, 70, 1, 41] {
            candidates.consider(&judge, idle(seconds));
        }
        let order: Vec<_> = std::iter::from_fn(|| candidates.take_best(&judge)).collect();
        let order: Vec<_> = order.iter().map(|candidate| candidate.hash).collect();
        assert_eq!(order, [90, 70, 60, 41, 30, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 5]);
    }

    #[test]
    fn an_expired_one_goes_before_all_others() {
        let judge = judge(Policy::AllkeysLru);
        let mut candidates = Candidates::default();
        let expired = Candidate { expiry: Some(NOW_MS), ..idle(1) };
        candidates.consider(&judge, idle(1000));
        candidates.consider(&judge, expired);
        assert_eq!(candidates.take_best(&judge), Some(expired));
    }

    #[test]
    fn the_soonest_to_expire_goes_first_by_ttl() {
        let judge = judge(Policy::VolatileTtl);
        let mut candidates = Candidates::default();
        for later in [500, 20, 3000] {
            let expiry = Some(NOW_MS + later);
            candidates.consider(&judge, Candidate { expiry, ..idle(later) });
        }
        assert_eq!(candidates.take_best(&judge).map(|best| best.hash), Some(20));
        assert_eq!(candidates.take_best(&judge).map(|best| best.hash), Some(500));
    }

    #[test]
    fn another_policy_begins_anew() {
        let mut candidates = Candidates::default();
        candidates.prepare(Policy::AllkeysLru);
        candidates.consider(&judge(Policy::AllkeysLru), idle(1));
        candidates.prepare(Policy::AllkeysLfu);
        assert_eq!(candidates.take_best(&judge(Policy::AllkeysLfu)), None);
    }
}
