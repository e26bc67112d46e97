// SPDX-License-Identifier: Apache-2.0
//! Sorted sets: [`ZsetRef`] reads one and [`ZsetMut`] edits one.
//!
//! Members are ordered by score, and by their bytes where scores are equal. -0.0 and 0.0 are equal
//! scores; no score is NaN. A member's rank is the number of members before it.
//!
//! A small sorted set is [packed] in its entry; a [large] one has an index by member and a tree in
//! the order. A packed set becomes large when it has too many members, or one that is too long; a
//! large one stays large.
//!
//! In both forms ranges are handled as ranks: a range of scores or members is first converted to a
//! range of ranks ([`ZsetRef::ranks_by_score`]), which has a length and can be cut at both ends,
//! and is then walked in either direction ([`ZsetRef::range`]).

mod bounds;
mod iter;
pub(crate) mod large;
mod packed;
mod scores;
mod slab;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashSet;
use std::ops::Range;

use crate::either::Either;
use crate::kind::Kind;
use crate::large::{Large, LargeMut, LargeRef};
use crate::table::hashes_of;
use crate::{Entry, Limits, sample};
use large::LargeZset;

pub use bounds::{LexBound, ScoreBound};
pub use iter::ZsetIter;
pub use scores::Scores;

/// Drawing is faster than walking if at most one in this many members is wanted.
const SPARSE: usize = 3;

/// Up to about so many members are in the CPU's cache while somebody works on all of them, and there is nothing to wait
/// for.
const CACHED_MAX: usize = 4096;

/// The order of a sorted set.
#[inline]
fn is_before(a: (f64, &[u8]), b: (f64, &[u8])) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// A sorted set to read.
#[derive(Clone, Copy, Debug)]
pub struct ZsetRef<'a> {
    form: Form<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Packed(&'a [u8]),
    Large(&'a LargeZset),
}

impl<'a> ZsetRef<'a> {
    /// The sorted set that an entry is, if it is one.
    #[inline]
    pub(crate) fn of(entry: &'a Entry) -> Option<Self> {
        let form = match entry.kind() {
            Kind::ZsetPack => Form::Packed(entry.bytes()),
            Kind::LargeZset => match entry.large() {
                Some(LargeRef::Zset(large)) => Form::Large(large),
                _ => return None,
            },
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::Apart
            | Kind::LargeString
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeStream => return None,
        };
        Some(ZsetRef { form })
    }

    /// Members.
    #[expect(clippy::len_without_is_empty, reason = "an empty sorted set is removed")]
    pub fn len(self) -> usize {
        match self.form {
            Form::Packed(bytes) => packed::len(bytes),
            Form::Large(large) => large.len(),
        }
    }

    /// Whether an element is found by its number, or at random, without a walk over others.
    pub fn has_index(self) -> bool {
        matches!(self.form, Form::Large(_))
    }

    /// The score of a member.
    #[inline]
    pub fn score(self, member: &[u8]) -> Option<f64> {
        match self.form {
            Form::Packed(bytes) => packed::find(bytes, member).map(|(_, item)| item.score),
            Form::Large(large) => large.score(member),
        }
    }

    /// The number of members before this one.
    pub fn rank(self, member: &[u8]) -> Option<usize> {
        match self.form {
            Form::Packed(bytes) => packed::find(bytes, member).map(|(rank, _)| rank),
            Form::Large(large) => large.rank(member),
        }
    }

    /// The number of members behind this one.
    pub fn rank_from_end(self, member: &[u8]) -> Option<usize> {
        Some(self.len() - 1 - self.rank(member)?)
    }

    /// The member of this rank.
    pub fn get(self, rank: usize) -> Option<(&'a [u8], f64)> {
        match self.form {
            Form::Packed(bytes) => {
                packed::items(bytes).nth(rank).map(|item| (item.member, item.score))
            }
            Form::Large(large) => (rank < large.len()).then(|| large.get(rank)),
        }
    }

    /// All members in their order.
    pub fn iter(self) -> ZsetIter<'a> {
        self.range(0..self.len())
    }

    /// All members in any order, which takes less time where they are many: they are read as they lie in memory.
    pub fn members(self) -> impl Iterator<Item = (&'a [u8], f64)> + use<'a> {
        match self.form {
            Form::Large(large) if large.len() > CACHED_MAX => Either::Right(large.members()),
            Form::Packed(_) | Form::Large(_) => Either::Left(self.iter()),
        }
    }

    /// The members of these ranks, as far as there are any, in their order.
    pub fn range(self, ranks: Range<usize>) -> ZsetIter<'a> {
        let end = ranks.end.min(self.len());
        let start = ranks.start.min(end);
        ZsetIter(match self.form {
            Form::Packed(bytes) => iter::Form::Packed(packed::Iter::new(bytes, &(start..end))),
            Form::Large(large) => iter::Form::Large(large.range(start, end)),
        })
    }

    /// The ranks of the members with scores from `min` to `max`. Their number is the range's
    /// length.
    pub fn ranks_by_score(self, min: ScoreBound, max: ScoreBound) -> Range<usize> {
        let start = self.partition_by_score(|score| min.starts_after(score));
        start..self.partition_by_score(|score| max.reaches(score)).max(start)
    }

    fn partition_by_score(self, is_before: impl Fn(f64) -> bool) -> usize {
        match self.form {
            Form::Packed(bytes) => packed::partition_point(bytes, |_, score| is_before(score)),
            Form::Large(large) => large.partition_by_score(is_before),
        }
    }

    /// The ranks of the members from `min` to `max`. Meaningful only while all members have the
    /// same score.
    pub fn ranks_by_lex(self, min: LexBound<'_>, max: LexBound<'_>) -> Range<usize> {
        let start = self.partition_by_member(|member| min.starts_after(member));
        start..self.partition_by_member(|member| max.reaches(member)).max(start)
    }

    fn partition_by_member(self, is_before: impl Fn(&[u8]) -> bool) -> usize {
        match self.form {
            Form::Packed(bytes) => packed::partition_point(bytes, |member, _| is_before(member)),
            Form::Large(large) => large.partition_by_member(is_before),
        }
    }

    /// Visits about `count` members and returns the cursor of the next call. Begins and ends with
    /// 0; a member that is there from the first call to the last is visited. A packed set is
    /// visited in one call.
    pub fn scan(self, cursor: u64, count: usize, mut visit: impl FnMut(&'a [u8], f64)) -> u64 {
        let Form::Large(large) = self.form else {
            self.iter().for_each(|(member, score)| visit(member, score));
            return 0;
        };
        sample::scan(cursor, count, |cursor, met| {
            large.scan(cursor, |member, score| {
                *met += 1;
                visit(member, score);
            })
        })
    }

    /// A member by a random number, all equally likely.
    pub fn sample(self, random: u64) -> Option<(&'a [u8], f64)> {
        self.get(random.checked_rem(self.len() as u64)? as usize)
    }

    /// Visits `count` different members, or all if there are no more. Every choice is equally
    /// likely.
    pub fn sample_distinct(
        self,
        count: usize,
        mut random: impl FnMut() -> u64,
        mut visit: impl FnMut(&'a [u8], f64),
    ) {
        let len = self.len();
        let large = match self.form {
            Form::Large(large) if count <= len / SPARSE => large,
            Form::Packed(_) | Form::Large(_) => {
                let visit = |(member, score)| visit(member, score);
                return sample::select(self.iter(), len, count, random, visit);
            }
        };
        // Each step draws from one more rank (Floyd's algorithm). If the drawn rank is taken
        // already, the step takes the new rank, which is not.
        let mut drawn = HashSet::new();
        for last in len - count..len {
            let rank = (random() % (last as u64 + 1)) as usize;
            let rank = if drawn.insert(rank) { rank } else { last };
            drawn.insert(rank);
            let (member, score) = large.get(rank);
            visit(member, score);
        }
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these members.
    #[inline]
    pub(crate) fn prefetch_elements<'n>(self, names: impl Iterator<Item = &'n [u8]>) {
        if let Form::Large(large) = self.form {
            large.prefetch_group(&hashes_of(names));
        }
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub fn check_integrity(self) {
        match self.form {
            Form::Packed(bytes) => packed::check(bytes),
            Form::Large(large) => large.check(),
        }
    }
}

/// A sorted set to edit.
///
/// ```
/// use values::{Entry, Limits, ScoreBound};
///
/// let mut entry = Entry::new_zset(b"race");
/// let limits = Limits::default();
/// let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
/// set.insert(b"hare", 2.0);
/// set.insert(b"tortoise", 1.0);
/// assert_eq!(set.insert(b"hare", 0.5), Some(2.0));
///
/// let set = entry.zset().expect("it is a sorted set");
/// assert_eq!(set.rank(b"tortoise"), Some(1));
/// let ranks = set.ranks_by_score(ScoreBound::Exclusive(0.5), ScoreBound::Inclusive(9.0));
/// assert_eq!(ranks.len(), 1);
/// assert!(set.range(ranks).rev().eq([(&b"tortoise"[..], 1.0)]));
/// ```
#[derive(Debug)]
pub struct ZsetMut<'a> {
    entry: &'a mut Entry,
    limits: &'a Limits,
}

impl<'a> ZsetMut<'a> {
    /// The sorted set that an entry is, if it is one.
    pub(crate) fn of(entry: &'a mut Entry, limits: &'a Limits) -> Option<Self> {
        ZsetRef::of(entry)?;
        Some(ZsetMut::known(entry, limits))
    }

    /// The sorted set that an entry is known to be.
    pub(crate) fn known(entry: &'a mut Entry, limits: &'a Limits) -> Self {
        ZsetMut { entry, limits }
    }

    /// The sorted set, to read.
    pub fn read(&self) -> ZsetRef<'_> {
        ZsetRef::of(self.entry).expect("an edit does not change the type")
    }

    /// Members.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these members.
    #[inline]
    pub(crate) fn prefetch_elements<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
        self.entry.prefetch_elements(names);
    }

    /// Whether it has lost its last member, and is to be removed.
    pub fn is_empty(&self) -> bool {
        self.entry.is_empty()
    }

    /// Adds a member or changes its score. Returns the score that it had. A score that equals the
    /// former one is not written: -0.0 stays -0.0.
    ///
    /// Allocates nothing for a member that is present, and moves nothing if the order stays the
    /// same.
    ///
    /// # Panics
    ///
    /// When the score is NaN, or at 2^32 members.
    pub fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
        assert!(!score.is_nan(), "NaN is no score");
        if let Some(large) = self.large() {
            return large.insert(member, score);
        }
        let place = packed::place(self.entry.bytes(), member, score);
        if let Some((old, range)) = &place.found {
            if *old != score {
                packed::set_score(self.entry.bytes_mut(), range, &place, score);
            }
            return Some(*old);
        }
        let fits = place.len < self.limits.zset_entries
            && member.len() <= self.limits.zset_value
            && self.entry.bytes().len() + packed::item_len(member.len()) <= Limits::PACKED_MAX;
        if fits {
            packed::insert(self.entry, &place, member, score);
            return None;
        }
        self.make_large().insert(member, score)
    }

    /// Removes a member. Returns the score that it had.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        if let Some(large) = self.large() {
            return large.remove(member);
        }
        let (_, item) = packed::find(self.entry.bytes(), member)?;
        let (range, score) = (item.range(), item.score);
        self.entry.splice(range, &[]);
        Some(score)
    }

    /// Removes the first member, and calls `gone` with it.
    pub fn pop_min<R>(&mut self, gone: impl FnOnce(&[u8], f64) -> R) -> Option<R> {
        self.pop(0, gone)
    }

    /// Removes the last member, and calls `gone` with it.
    pub fn pop_max<R>(&mut self, gone: impl FnOnce(&[u8], f64) -> R) -> Option<R> {
        self.pop(self.len().checked_sub(1)?, gone)
    }

    fn pop<R>(&mut self, rank: usize, gone: impl FnOnce(&[u8], f64) -> R) -> Option<R> {
        if let Some(large) = self.large() {
            let (member, score) = (rank < large.len()).then(|| large.remove_at(rank))?;
            return Some(gone(&member, score));
        }
        let item = packed::items(self.entry.bytes()).nth(rank)?;
        let (range, result) = (item.range(), gone(item.member, item.score));
        self.entry.splice(range, &[]);
        Some(result)
    }

    /// Removes the members of these ranks, as far as there are any, and calls `gone` with each.
    /// Returns how many.
    pub fn remove_range(&mut self, ranks: Range<usize>, mut gone: impl FnMut(&[u8], f64)) -> usize {
        let end = ranks.end.min(self.len());
        let start = ranks.start.min(end);
        if let Some(large) = self.large() {
            for _ in start..end {
                let (member, score) = large.remove_at(start);
                gone(&member, score);
            }
        } else if let Some(cut) = packed::cut(self.entry.bytes(), &(start..end), gone) {
            self.entry.splice(cut, &[]);
        }
        end - start
    }

    /// The index, if the sorted set is large.
    fn large(&mut self) -> Option<&mut LargeZset> {
        match self.entry.large_mut() {
            Some(LargeMut::Zset(large)) => Some(large),
            _ => None,
        }
    }

    /// Turns a packed sorted set into a large one.
    fn make_large(&mut self) -> &mut LargeZset {
        let mut large = LargeZset::new();
        for item in packed::items(self.entry.bytes()) {
            large.append(item.member, item.score);
        }
        self.entry.set_large(Large::Zset(Box::new(large)));
        self.large().expect("it has just been made large")
    }
}

impl Entry {
    /// An empty sorted set.
    pub fn new_zset(key: &[u8]) -> Entry {
        Entry::with_bytes(key, Kind::ZsetPack, &[])
    }

    /// The value, if it is a sorted set.
    #[inline]
    pub fn zset(&self) -> Option<ZsetRef<'_>> {
        ZsetRef::of(self)
    }

    /// The value to be edited, if it is a sorted set. It becomes large when it passes the limits.
    #[inline]
    pub fn zset_mut<'a>(&'a mut self, limits: &'a Limits) -> Option<ZsetMut<'a>> {
        ZsetMut::of(self, limits)
    }
}
