// SPDX-License-Identifier: Apache-2.0
//! [`LargeZset`]: the form of a sorted set that is too big to be packed.
//!
//! ```text
//!  member ──hash──▶ index   Table of ids           8 bytes a member
//!                     │
//!                     ▼
//!                  members  Slab of                24 bytes a member, and the member's own
//!                     ▲     (score, member)
//!                     │
//!  rank ───────────▶ order  Tree of (score, id)    12 to 24 bytes a member
//! ```
//!
//! * INV-IDS: index, slab and tree have the same ids, and the same score for each.
//! * INV-ORDER: the tree's keys ascend by score, and by member where scores are equal.

use super::is_before;
use super::slab::{Id, Slab};
use super::tree::{Key, Keys, Tree};
use crate::table::{Compact, Hashes, Table, hash_of};

/// A sorted set with an index by member and an order by score.
#[derive(Debug)]
pub(crate) struct LargeZset {
    members: Slab,
    index: Table<Id, Compact>,
    order: Tree,
}

impl LargeZset {
    /// An empty sorted set.
    pub(super) fn new() -> Self {
        LargeZset { members: Slab::new(), index: Table::new(), order: Tree::new() }
    }

    /// One of members that are in the index, in this order.
    pub(super) fn assemble(members: Slab, index: Table<Id, Compact>, keys: Vec<Key>) -> Self {
        let mut order = Tree::new();
        keys.into_iter().for_each(|key| order.push(key));
        LargeZset { members, index, order }
    }

    /// Prefetches the place of a member.
    pub(crate) fn prefetch(&self, member: &[u8]) {
        self.index.prefetch(hash_of(member));
    }

    /// Prefetches members that are found by these hashes.
    pub(crate) fn prefetch_group(&self, hashes: &Hashes) {
        self.members.prefetch_group(&self.index, hashes);
    }

    /// Members.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// All memory behind this struct. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.members.heap_bytes() + self.index.heap_bytes() + self.order.heap_bytes()
    }

    /// A deep copy. Nothing is hashed or compared for it, and members are read in the order in which they lie.
    pub(crate) fn copy(&self) -> LargeZset {
        let (members, copies) = self.members.copy();
        let mut order = Tree::new();
        for Key { score, id } in self.order.range(0, self.len()) {
            order.push(Key { score, id: copies.of(id) });
        }
        LargeZset { members, index: self.index.copy_with(|id| copies.of(*id)), order }
    }

    /// Frees about `budget` pieces of memory. Returns true when nothing is left. The sorted set can
    /// be used for nothing else from then on.
    pub(crate) fn free_some(&mut self, mut budget: usize) -> bool {
        budget -= self.members.free_some(budget);
        while budget > 0 && self.order.free_leaf() {
            budget -= 1;
        }
        budget > 0 && self.index.pop_some(budget, drop) < budget
    }

    fn find(&self, hash: u64, member: &[u8]) -> Option<Id> {
        self.index.find_by(hash, |id| self.members.member(*id) == member).copied()
    }

    pub(super) fn score(&self, member: &[u8]) -> Option<f64> {
        let id = self.find(hash_of(member), member)?;
        Some(self.members.get(id).1)
    }

    pub(super) fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = self.score(member)?;
        Some(self.rank_of(member, score))
    }

    /// The rank that a member has, or would have, with this score.
    fn rank_of(&self, member: &[u8], score: f64) -> usize {
        self.order.partition_point(|key| self.is_key_before(key, member, score))
    }

    #[inline]
    fn is_key_before(&self, key: Key, member: &[u8], score: f64) -> bool {
        // The member is read only if the scores are equal: it is two cache lines away.
        key.score < score
            || (key.score == score
                && is_before((score, self.members.member(key.id)), (score, member)))
    }

    pub(super) fn partition_by_score(&self, is_before: impl Fn(f64) -> bool) -> usize {
        self.order.partition_point(|key| is_before(key.score))
    }

    pub(super) fn partition_by_member(&self, is_before: impl Fn(&[u8]) -> bool) -> usize {
        self.order.partition_point(|key| is_before(self.members.member(key.id)))
    }

    /// The member of this rank, which is there.
    pub(super) fn get(&self, rank: usize) -> (&[u8], f64) {
        self.members.get(self.order.get(rank).id)
    }

    /// The members of these ranks, all of which are there.
    pub(super) fn range(&self, start: usize, end: usize) -> Iter<'_> {
        Iter { members: &self.members, keys: self.order.range(start, end) }
    }

    /// All members in no order.
    pub(super) fn members(&self) -> impl Iterator<Item = (&[u8], f64)> {
        self.members.iter_ahead()
    }

    /// Visits a few members; see [`Table::scan`].
    pub(super) fn scan<'a>(&'a self, cursor: u64, mut visit: impl FnMut(&'a [u8], f64)) -> u64 {
        let rehash = |id: &Id| hash_of(self.members.member(*id));
        self.index.scan_by(cursor, rehash, |id| {
            let (member, score) = self.members.get(*id);
            visit(member, score);
        })
    }

    /// Adds a member or changes its score. Returns the score that it had.
    pub(super) fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let hash = hash_of(member);
        let Some(id) = self.find(hash, member) else {
            let rank = self.rank_of(member, score);
            self.insert_at(rank, hash, member, score);
            return None;
        };
        let (_, old) = self.members.get(id);
        if old != score {
            self.set_score(id, member, old, score);
        }
        Some(old)
    }

    /// Adds a member that is not there and comes after all others.
    pub(super) fn append(&mut self, member: &[u8], score: f64) {
        self.insert_at(self.len(), hash_of(member), member, score);
    }

    fn insert_at(&mut self, rank: usize, hash: u64, member: &[u8], score: f64) {
        let id = self.members.insert(member, score);
        self.order.insert_at(rank, Key { score, id });
        self.members.index(&mut self.index, hash, id);
    }

    fn set_score(&mut self, id: Id, member: &[u8], old: f64, score: f64) {
        let rank = self.rank_of(member, old);
        self.members.set_score(id, score);
        let key = Key { score, id };
        if self.belongs_at(rank, member, score) {
            self.order.replace_at(rank, key);
        } else {
            self.order.remove_at(rank);
            self.order.insert_at(self.rank_of(member, score), key);
        }
    }

    /// Whether the member of this rank would keep its rank with another score.
    fn belongs_at(&self, rank: usize, member: &[u8], score: f64) -> bool {
        let is_before = |rank| self.is_key_before(self.order.get(rank), member, score);
        (rank == 0 || is_before(rank - 1)) && (rank + 1 == self.len() || !is_before(rank + 1))
    }

    /// Removes a member. Returns its score.
    pub(super) fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let hash = hash_of(member);
        let id = self.find(hash, member)?;
        let (_, score) = self.members.get(id);
        self.order.remove_at(self.rank_of(member, score));
        self.forget(id, hash);
        Some(score)
    }

    /// Removes the member of this rank, which must exist.
    pub(super) fn remove_at(&mut self, rank: usize) -> (Box<[u8]>, f64) {
        let Key { score, id } = self.order.remove_at(rank);
        let hash = hash_of(self.members.member(id));
        (self.forget(id, hash), score)
    }

    /// Removes a member that is not in the tree any more from index and slab.
    fn forget(&mut self, id: Id, hash: u64) -> Box<[u8]> {
        let members = &self.members;
        let found =
            self.index.remove_by(hash, |other| *other == id, |id| hash_of(members.member(*id)));
        debug_assert_eq!(found, Some(id), "INV-IDS: the index knows all members");
        let member = self.members.remove(id);
        // Each removal leaves at most two surplus slots.
        self.tighten();
        self.tighten();
        member
    }

    /// Removes the last slot of a slab that has too many.
    fn tighten(&mut self) {
        if !self.members.is_sparse() {
            return;
        }
        let Some(from) = self.members.last() else {
            self.members.move_last();
            return;
        };
        let (member, score) = self.members.get(from);
        let (rank, hash) = (self.rank_of(member, score), hash_of(member));
        let to = self.members.move_last().expect("the last slot is not free");
        self.order.replace_at(rank, Key { score, id: to });
        let known = self.index.find_by_mut(hash, |id| *id == from);
        *known.expect("INV-IDS: the index knows all members") = to;
    }

    /// Checks all invariants.
    ///
    /// # Panics
    ///
    /// When one does not hold.
    pub(super) fn check(&self) {
        self.members.check_integrity();
        self.index.check_integrity_by(|id| hash_of(self.members.member(*id)));
        self.order.check_integrity(|a, b| {
            is_before((a.score, self.members.member(a.id)), (b.score, self.members.member(b.id)))
        });
        let lens = (self.order.len(), self.index.len());
        assert_eq!(lens, (self.len(), self.len()), "INV-IDS: members");
        for key in self.order.range(0, self.order.len()) {
            let (member, score) = self.members.get(key.id);
            assert!(!score.is_nan(), "INV-ORDER: a score that is no number");
            assert_eq!(key.score.to_bits(), score.to_bits(), "INV-IDS: scores");
            assert_eq!(self.find(hash_of(member), member), Some(key.id), "INV-IDS: the index");
        }
    }
}

/// A range of members, from both ends.
#[derive(Clone, Debug)]
pub(super) struct Iter<'a> {
    members: &'a Slab,
    keys: Keys<'a>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.keys.next()?;
        Some((self.members.member(key.id), key.score))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }

    fn nth(&mut self, skip: usize) -> Option<Self::Item> {
        let key = self.keys.nth(skip)?;
        Some((self.members.member(key.id), key.score))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let key = self.keys.next_back()?;
        Some((self.members.member(key.id), key.score))
    }

    fn nth_back(&mut self, skip: usize) -> Option<Self::Item> {
        let key = self.keys.nth_back(skip)?;
        Some((self.members.member(key.id), key.score))
    }
}
