// SPDX-License-Identifier: Apache-2.0
//! [`Scores`]: members with scores that are put in order once, when all are there.
//!
//! A sorted set that is filled member by member looks for the place of each, and of each once more whenever its score
//! changes. Here a change is a store, and the order is that of one sort.

use super::large::LargeZset;
use super::slab::{Id, Slab};
use super::tree::Key;
use super::{CACHED_MAX, ZsetMut, packed};
use crate::Limits;
use crate::large::Large;
use crate::scratch::Scratch;
use crate::table::{Compact, Table, hash_of, hashes_of};

/// Bytes of a member that are compared without reading it.
const PREFIX: usize = size_of::<u64>();

/// Members with their scores, in no order yet, such as those of a union of sorted sets.
///
/// ```
/// use values::{Limits, NewZset, Scores};
///
/// let mut scores = Scores::new();
/// for word in ["the", "cat", "the", "dog"] {
///     scores.merge(word.as_bytes(), 1.0, |total| total + 1.0);
/// }
/// let mut words = NewZset::new(b"words");
/// words.edit(&Limits::default()).fill(scores);
/// let last = words.read().iter().next_back();
/// assert_eq!(last, Some((&b"the"[..], 2.0)));
/// ```
#[derive(Debug)]
pub struct Scores {
    members: Slab,
    index: Table<Id, Compact>,
}

impl Default for Scores {
    fn default() -> Self {
        Self::new()
    }
}

impl Scores {
    /// No members. Allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Scores { members: Slab::new(), index: Table::new() }
    }

    /// Members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the index for so many members at once, if there are none yet: it need not grow by splitting its buckets.
    pub fn reserve(&mut self, members: usize) {
        self.index.reserve(members);
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these members, which are added or merged next.
    pub fn prefetch<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
        if self.len() <= CACHED_MAX {
            return;
        }
        self.members.prefetch_group(&self.index, &hashes_of(names));
    }

    /// Adds a member with a score, or gives one that is there the score that `combine` makes of its own.
    ///
    /// # Panics
    ///
    /// When the score is NaN, or at 2^32 members.
    pub fn merge(&mut self, member: &[u8], score: f64, combine: impl FnOnce(f64) -> f64) {
        let hash = hash_of(member);
        let members = &mut self.members;
        let found = self.index.find_by(hash, |id| members.member(*id) == member).copied();
        let Some(id) = found else { return self.insert(hash, member, score) };
        let score = combine(members.get(id).1);
        assert!(!score.is_nan(), "NaN is no score");
        members.set_score(id, score);
    }

    /// Adds a member that is not there, which the caller knows.
    ///
    /// # Panics
    ///
    /// When the score is NaN, or at 2^32 members.
    pub fn add(&mut self, member: &[u8], score: f64) {
        self.insert(hash_of(member), member, score);
    }

    fn insert(&mut self, hash: u64, member: &[u8], score: f64) {
        assert!(!score.is_nan(), "NaN is no score");
        let id = self.members.insert(member, score);
        self.members.index(&mut self.index, hash, id);
    }

    /// All members, by score, and by their bytes where scores are equal.
    pub fn in_order(&self) -> impl ExactSizeIterator<Item = (&[u8], f64)> {
        self.order().into_iter().map(|key| (self.members.member(key.id), key.score))
    }

    fn order(&self) -> Vec<Key> {
        let mut keys: Vec<Key> =
            self.members.iter().map(|(id, _, score)| Key { score, id }).collect();
        // Both zeros are one score.
        keys.sort_unstable_by(|a, b| (a.score + 0.0).total_cmp(&(b.score + 0.0)));
        for tied in keys.chunk_by_mut(|a, b| a.score == b.score) {
            if tied.len() > 1 {
                self.sort_by_member(tied);
            }
        }
        keys
    }

    /// Sorts by member alone. What all begin with is left out, and of what follows the first bytes are beside the keys:
    /// most comparisons read no member, which is two cache lines away.
    fn sort_by_member(&self, keys: &mut [Key]) {
        let member = |key: &Key| self.members.member(key.id);
        let common = keys[1..].iter().fold(member(&keys[0]), |common, key| {
            let same = common.iter().zip(member(key)).take_while(|(a, b)| a == b).count();
            &common[..same]
        });
        let prefix = |key: &Key| {
            let rest = &member(key)[common.len()..];
            let mut bytes = [0; PREFIX];
            let len = rest.len().min(PREFIX);
            bytes[..len].copy_from_slice(&rest[..len]);
            u64::from_be_bytes(bytes)
        };
        let mut prefixed: Vec<(u64, Key)> = keys.iter().map(|key| (prefix(key), *key)).collect();
        prefixed
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| member(&a.1).cmp(member(&b.1))));
        keys.iter_mut().zip(prefixed).for_each(|(key, (_, sorted))| *key = sorted);
    }

    /// The bytes of a packed sorted set, if it may be packed.
    fn packed(&self, limits: &Limits) -> Option<Scratch> {
        let members = || self.members.iter().map(|(_, member, _)| member.len());
        let fits = self.len() <= limits.zset_entries
            && members().all(|len| len <= limits.zset_value)
            && members().map(packed::item_len).sum::<usize>() <= Limits::PACKED_MAX;
        fits.then(|| packed::all(self.in_order()))
    }
}

impl ZsetMut<'_> {
    /// Makes the sorted set, which is empty, one of these members.
    ///
    /// # Panics
    ///
    /// When it is not empty.
    pub fn fill(&mut self, scores: Scores) {
        assert!(self.is_empty(), "what is filled is empty");
        if let Some(packed) = scores.packed(self.limits) {
            self.entry.splice(0..0, packed.as_slice());
            return;
        }
        let order = scores.order();
        let large = LargeZset::assemble(scores.members, scores.index, order);
        self.entry.set_large(Large::Zset(Box::new(large)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, NewZset};
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Members that begin alike, some being the beginning of others; one is too long to be packed.
    fn members() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let member = (0..3_usize, any::<u16>(), 0..4_usize).prop_map(|(before, number, zeros)| {
            let mut member = b"member:"[..before * 3].to_vec();
            member.extend_from_slice(&(number % 300).to_be_bytes());
            member.resize(member.len() + zeros * 4, 0);
            member
        });
        prop::collection::vec(member, 0..400)
    }

    proptest! {
        #[test]
        fn what_was_merged_is_the_sorted_set_that_insertions_make(
            members in members(),
            scores in prop::collection::vec(prop::sample::select(vec![0.0, -0.0, 1.0, -3.5]), 1..20),
            entries in prop::sample::select(vec![0, 20, 1000]),
        ) {
            let limits = Limits { zset_entries: entries, zset_value: 12, ..Limits::default() };
            let (mut merged, mut model) = (Scores::new(), HashMap::new());
            for (member, score) in members.iter().zip(scores.iter().cycle()) {
                merged.merge(member, *score, |total| total + score);
                model.entry(&**member).and_modify(|total| *total += score).or_insert(*score);
            }
            let mut expected = NewZset::new(b"key");
            for (member, score) in model {
                expected.edit(&limits).insert(member, score);
            }
            let expected: Vec<_> = expected.read().iter().collect();
            prop_assert!(merged.in_order().eq(expected.iter().copied()));

            let mut filled = NewZset::new(b"key");
            filled.edit(&limits).fill(merged);
            filled.read().check_integrity();
            prop_assert!(filled.read().iter().eq(expected.iter().copied()));
            let fits = expected.len() <= entries && expected.iter().all(|(member, _)| member.len() <= 12);
            let encoding = if fits { Encoding::Listpack } else { Encoding::Skiplist };
            prop_assert_eq!(filled.into_entry().encoding(), encoding);
        }
    }
}
