// SPDX-License-Identifier: Apache-2.0
//! [`LargeSet`]: a set with an index.
//!
//! INV-CONTENT: `content` is the sum of the members' memory.

use super::member::Member;
use crate::table::{Hashes, TOGETHER, hashes_of};
use crate::{Table, Text, hash_of};

/// The members of a large set.
#[derive(Debug)]
pub(crate) struct LargeSet {
    members: Table<Member>,
    content: usize,
}

impl LargeSet {
    pub(crate) fn new() -> Self {
        LargeSet { members: Table::new(), content: 0 }
    }

    /// Prefetches the place of a member.
    pub(crate) fn prefetch(&self, member: &[u8]) {
        self.members.prefetch(hash_of(member));
    }

    /// Prefetches members that are found by these hashes.
    pub(crate) fn prefetch_group(&self, hashes: &Hashes) {
        self.members.prefetch_group(hashes, Member::hint);
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// All memory behind it. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.members.heap_bytes() + self.content
    }

    #[inline]
    pub(crate) fn contains(&self, member: &[u8]) -> bool {
        self.find(hash_of(member), member).is_some()
    }

    #[inline]
    fn find(&self, hash: u64, member: &[u8]) -> Option<&Member> {
        self.members.find_by(hash, Member::has_text(member))
    }

    /// Keeps of `members` those that are in the set, or those that are not. Each access to memory is that of several
    /// members at once.
    pub(crate) fn sift(&self, members: &mut Vec<Text<'_>>, are_in: bool) {
        let mut kept = 0;
        for start in (0..members.len()).step_by(TOGETHER) {
            let hashes = hashes_of(members[start..].iter().map(|text| &**text));
            self.prefetch_group(&hashes);
            for (at, hash) in (start..).zip(hashes) {
                if self.find(hash, &members[at]).is_some() == are_in {
                    members.swap(kept, at);
                    kept += 1;
                }
            }
        }
        members.truncate(kept);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.iter_ahead_by(Member::hint)
    }

    /// Visits a few members; see [`Table::scan`].
    pub(crate) fn scan<'a>(&'a self, cursor: u64, visit: impl FnMut(&'a Member)) -> u64 {
        self.members.scan_by(cursor, Member::hash, visit)
    }

    pub(crate) fn sample(&self, random: u64) -> Option<&Member> {
        self.members.sample(random)
    }

    /// Adds a member. Returns true if it was not there.
    pub(crate) fn add(&mut self, member: &[u8]) -> bool {
        let hash = hash_of(member);
        if self.find(hash, member).is_some() {
            return false;
        }
        let member = Member::new(member);
        self.content += member.heap_bytes();
        if self.members.insert_by(hash, member, Member::hash) {
            self.members.prefetch_split(0, Member::hint);
        }
        true
    }

    /// Removes a member. Returns true if it was there.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        let removed =
            self.members.remove_by(hash_of(member), Member::has_text(member), Member::hash);
        self.content -= removed.as_ref().map_or(0, Member::heap_bytes);
        removed.is_some()
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> LargeSet {
        let members = self.members.copy_with(Member::copy);
        LargeSet { members, content: self.content }
    }

    /// Frees members and then the rest of the index, in up to `budget` steps. Returns true once
    /// nothing is left.
    pub(crate) fn free_some(&mut self, budget: usize) -> bool {
        let content = &mut self.content;
        self.members.pop_some(budget, |member| *content -= member.heap_bytes()) < budget
    }

    /// # Panics
    ///
    /// When an invariant of the set or its index does not hold.
    pub(crate) fn check(&self) {
        let content: usize = self.iter().map(Member::heap_bytes).sum();
        assert_eq!(self.content, content, "INV-CONTENT");
        assert_eq!(self.iter().count(), self.len(), "INV-CONTENT: the number of members");
        let is_found = |member: &Member| Member::has_text(&member.text())(member);
        assert!(self.iter().all(is_found), "INV-FORM");
        self.members.check_integrity_by(Member::hash);
    }
}
