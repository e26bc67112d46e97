// SPDX-License-Identifier: Apache-2.0
//! [`Candidates`]: the best entries to evict among those examined lately.
//!
//! The best of a few samples is often a bad choice. The best of many samples, kept from one
//! eviction to the next, is nearly as good as the best of all entries. So the approximation of LRU
//! or LFU is close.
//!
//! Of entries that are used about as little the best is the one that has wasted most memory: its size times the time for
//! which it was not used. A large one makes room for more entries, and more of these will be asked for. "About" is what
//! the policies leave open anyway. LFU has counts that many entries share. An idle time means no more than its order of
//! magnitude: entries whose idle times are in the same doubling are as likely to be used again, as far as anyone can
//! tell.
//!
//! Most samples are worse than all that are kept, so that is decided first: by the score alone, and before the key is
//! looked at. A candidate is found again by its bucket and its address, and only the one that is evicted is hashed.

use super::access::{Access, Staleness};
use arrayvec::ArrayVec;
use keyspace::Policy;
use values::Entry;

/// How many candidates are kept.
const KEPT: usize = 16;
/// The bits of a score below the level of staleness: for the memory wasted, in bytes times a unit of time.
const WASTE_BITS: u32 = 56;
/// Larger entries count as much.
const BYTES_MAX: u64 = (1 << (WASTE_BITS - Entry::ACCESS_BITS - 1)) - 1;

/// Entries that may be evicted, the best last.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    policy: Policy,
    list: ArrayVec<Candidate, KEPT>,
}

/// An entry as it was when it was examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The higher, the sooner it is evicted.
    score: u64,
    pub(crate) place: BucketPlace,
    address: usize,
    access: u32,
    expiry: Option<u64>,
}

/// The bucket of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BucketPlace {
    pub(crate) shard: usize,
    pub(crate) db: usize,
    /// The number of the bucket in the table.
    pub(crate) home: usize,
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
    /// The eviction score: the higher, the sooner the entry is evicted.
    #[inline]
    fn score(&self, entry: &Entry) -> u64 {
        let expiry = entry.expiry();
        if expiry.is_some_and(|expiry| expiry <= self.unix_ms) {
            return u64::MAX;
        }
        match self.policy {
            Policy::AllkeysRandom | Policy::VolatileRandom => {
                (entry.address() as u64 ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
            }
            Policy::VolatileTtl => u64::MAX - expiry.unwrap_or(u64::MAX),
            Policy::NoEviction
            | Policy::AllkeysLru
            | Policy::AllkeysLrm
            | Policy::AllkeysLfu
            | Policy::VolatileLru
            | Policy::VolatileLrm
            | Policy::VolatileLfu => {
                let Staleness { level, idle } = self.access.staleness(entry.access());
                debug_assert!(level < 1 << (u64::BITS - WASTE_BITS));
                let bytes = (entry.heap_bytes() as u64).min(BYTES_MAX);
                (u64::from(level) << WASTE_BITS) | (bytes * (u64::from(idle) + 1))
            }
        }
    }

    /// Whether the policy may evict the entry.
    #[inline]
    pub(crate) fn allows(&self, entry: &Entry) -> bool {
        !self.policy.is_volatile() || entry.expiry().is_some()
    }
}

impl Candidate {
    /// Whether this is the entry, or one just like it in its place, and it was not used since.
    pub(crate) fn is(&self, entry: &Entry) -> bool {
        entry.address() == self.address
            && entry.access() == self.access
            && entry.expiry() == self.expiry
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

    /// Keeps an entry if it is better than the worst of those kept, or there is room.
    #[inline]
    pub(crate) fn consider(&mut self, judge: &Judge, place: BucketPlace, entry: &Entry) {
        let score = judge.score(entry);
        if self.list.is_full() && self.list.first().is_some_and(|worst| score <= worst.score) {
            return;
        }
        self.keep(Candidate {
            score,
            place,
            address: entry.address(),
            access: entry.access(),
            expiry: entry.expiry(),
        });
    }

    fn keep(&mut self, candidate: Candidate) {
        // A table with few buckets shows the same entries again.
        if let Some(same) = self.list.iter().position(|kept| kept.address == candidate.address) {
            self.list.remove(same);
        } else if self.list.is_full() {
            self.list.remove(0);
        }
        let better = self.list.iter().rposition(|kept| kept.score <= candidate.score);
        self.list.insert(better.map_or(0, |worse| worse + 1), candidate);
    }

    /// Takes the best one.
    pub(crate) fn take_best(&mut self) -> Option<Candidate> {
        self.list.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyspace::{Settings, Use};

    const NOW_MS: u64 = 1_700_000_000_000;
    const PLACE: BucketPlace = BucketPlace { shard: 0, db: 0, home: 0 };

    fn judge(policy: Policy) -> Judge {
        let settings = Settings::default();
        settings.set_policy(policy);
        Judge { policy, access: Access::new(&settings, NOW_MS), unix_ms: NOW_MS, salt: 0 }
    }

    /// An entry that was used so many seconds ago.
    fn idle(seconds: u64) -> Entry {
        let mut entry = Entry::string(&seconds.to_le_bytes(), b"value");
        entry.set_access(Access::new(&Settings::default(), NOW_MS - seconds * 1000).fresh());
        entry
    }

    fn with_expiry(mut entry: Entry, expiry: u64) -> Entry {
        entry.set_expiry(Some(expiry));
        entry
    }

    /// The numbers of the entries in the order in which candidates are taken.
    fn order(candidates: &mut Candidates, entries: &[Entry]) -> Vec<usize> {
        let best = std::iter::from_fn(|| candidates.take_best());
        let number = |candidate: Candidate| entries.iter().position(|entry| candidate.is(entry));
        best.map(|candidate| number(candidate).expect("it is one of them")).collect()
    }

    #[test]
    fn the_best_go_first_and_the_worst_are_not_kept() {
        let judge = judge(Policy::AllkeysLru);
        let seconds = [7, 3, 90, 30, 41, 5, 60, 8, 9, 10, 11, 12, 13, 14, 15, 16, 70, 1];
        let entries = seconds.map(idle);
        let mut candidates = Candidates::default();
        candidates.prepare(Policy::AllkeysLru);
        // One is seen twice.
        for entry in entries.iter().chain(&entries[4..5]) {
            candidates.consider(&judge, PLACE, entry);
        }
        let order = order(&mut candidates, &entries).into_iter().map(|number| seconds[number]);
        assert!(order.eq([90, 70, 60, 41, 30, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 5]));
    }

    #[test]
    fn of_those_used_about_as_little_the_one_that_wastes_most_goes_first() {
        let judge = judge(Policy::AllkeysLru);
        let sized = |seconds: u64, bytes: usize| {
            let mut entry = idle(seconds);
            entry.append(&vec![b'x'; bytes]);
            entry
        };
        // From 82 to 163 seconds is one doubling of ticks; the third is below it.
        let entries =
            [sized(160, 600), sized(90, 650), sized(75, 6000), sized(100, 60), sized(91, 60_000)];
        let mut candidates = Candidates::default();
        entries.iter().for_each(|entry| candidates.consider(&judge, PLACE, entry));
        assert_eq!(order(&mut candidates, &entries), [4, 0, 1, 3, 2]);
    }

    #[test]
    fn of_those_used_as_often_the_largest_goes_first() {
        let judge = judge(Policy::AllkeysLfu);
        let used = |count: u8, bytes: usize| {
            let mut entry = Entry::string(&[count], &vec![b'x'; bytes]);
            entry.set_access(judge.access.with(Use::Frequency(count)).expect("it is counted"));
            entry
        };
        let entries = [used(7, 50_000), used(5, 60), used(5, 600), used(6, 60)];
        let mut candidates = Candidates::default();
        candidates.prepare(Policy::AllkeysLfu);
        entries.iter().for_each(|entry| candidates.consider(&judge, PLACE, entry));
        assert_eq!(order(&mut candidates, &entries), [2, 1, 3, 0]);
    }

    #[test]
    fn an_entry_that_is_seen_again_has_the_score_it_has_then() {
        let judge = judge(Policy::AllkeysLru);
        let mut entries = [idle(50), idle(20)];
        let mut candidates = Candidates::default();
        entries.iter().for_each(|entry| candidates.consider(&judge, PLACE, entry));
        let used = idle(1).access();
        entries[0].set_access(used);
        candidates.consider(&judge, PLACE, &entries[0]);
        assert_eq!(order(&mut candidates, &entries), [1, 0]);
    }

    #[test]
    fn an_expired_one_goes_before_all_others() {
        let judge = judge(Policy::AllkeysLru);
        let entries = [idle(1000), with_expiry(idle(1), NOW_MS), idle(2000)];
        let mut candidates = Candidates::default();
        entries.iter().for_each(|entry| candidates.consider(&judge, PLACE, entry));
        assert_eq!(order(&mut candidates, &entries), [1, 2, 0]);
    }

    #[test]
    fn the_soonest_to_expire_goes_first_by_ttl() {
        let judge = judge(Policy::VolatileTtl);
        let entries = [500, 20, 3000].map(|later| with_expiry(idle(later), NOW_MS + later));
        let mut candidates = Candidates::default();
        entries.iter().for_each(|entry| candidates.consider(&judge, PLACE, entry));
        assert_eq!(order(&mut candidates, &entries), [1, 0, 2]);
    }

    #[test]
    fn another_policy_begins_anew() {
        let mut candidates = Candidates::default();
        candidates.prepare(Policy::AllkeysLru);
        candidates.consider(&judge(Policy::AllkeysLru), PLACE, &idle(1));
        candidates.prepare(Policy::AllkeysLfu);
        assert_eq!(candidates.take_best(), None);
    }
}
