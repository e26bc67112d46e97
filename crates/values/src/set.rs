// SPDX-License-Identifier: Apache-2.0
//! Sets: [`SetRef`] reads one and [`SetMut`] edits one.
//!
//! A small set of integers is a sorted [array](crate::intset), any other small set is
//! [packed](crate::pack), and a [large] one has an index. The form follows Redis's rules: a set of
//! integers changes to the packed form when it gets its first member that is not an integer, if it
//! is small enough; a set that outgrows its form becomes large. No set changes back.

pub(crate) mod large;
#[allow(unsafe_code)]
mod member;
#[cfg(test)]
mod tests;

use crate::either::Either;
use crate::intset::{Intset, Width};
use crate::kind::Kind;
use crate::large::{Large, LargeMut, LargeRef};
use crate::pack::{Pack, element_len, is_same};
use crate::scratch::Scratch;
use crate::table::hashes_of;
use crate::{Digits, Entry, Limits, Text, parse_i64, sample};
use large::LargeSet;
use member::Member;
use std::collections::HashSet;

impl Entry {
    /// A set without members, whose first member is to be added next.
    pub fn new_set(key: &[u8]) -> Entry {
        Entry::with_bytes(key, Kind::SetInts, &[])
    }

    /// The value, if it is a set; `None` for another type.
    #[inline]
    pub fn set(&self) -> Option<SetRef<'_>> {
        let form = match self.kind() {
            Kind::SetInts => Form::Ints(Intset::new(self.bytes())),
            Kind::SetPack => Form::Packed(Pack::new(self.bytes())),
            Kind::LargeSet => match self.large() {
                Some(LargeRef::Set(large)) => Form::Large(large),
                _ => return None,
            },
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::ZsetPack
            | Kind::Apart
            | Kind::LargeString
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeZset
            | Kind::LargeStream => return None,
        };
        Some(SetRef { form })
    }

    /// The value, to be edited within limits, if it is a set; `None` for another type.
    pub fn set_mut<'a>(&'a mut self, limits: &'a Limits) -> Option<SetMut<'a>> {
        self.set()?;
        Some(SetMut { entry: self, limits })
    }
}

/// The most integers, so that their bytes never exceed the packed limit.
const INTS_MAX: usize = Limits::PACKED_MAX / 8;

/// A set to read.
///
/// ```
/// use values::{Encoding, Entry, Limits};
///
/// let (mut entry, limits) = (Entry::new_set(b"seen"), Limits::default());
/// let mut edit = entry.set_mut(&limits).expect("it is a set");
/// assert!(edit.add(b"10") && edit.add(b"9") && !edit.add(b"10"));
/// assert_eq!(entry.encoding(), Encoding::Intset);
///
/// let set = entry.set().expect("it is a set");
/// assert!(set.contains(b"9") && !set.contains(b"09"));
/// assert!(set.iter().map(|member| member.to_vec()).eq([b"9".to_vec(), b"10".to_vec()]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SetRef<'a> {
    form: Form<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Ints(Intset<'a>),
    Packed(Pack<'a>),
    Large(&'a LargeSet),
}

impl<'a> SetRef<'a> {
    /// Members.
    #[expect(clippy::len_without_is_empty, reason = "an empty set is removed")]
    pub fn len(self) -> usize {
        match self.form {
            Form::Ints(ints) => ints.len(),
            Form::Packed(pack) => pack.count(),
            Form::Large(large) => large.len(),
        }
    }

    /// Whether `member` is in the set.
    #[inline]
    pub fn contains(self, member: &[u8]) -> bool {
        match self.form {
            Form::Ints(ints) => parse_i64(member).is_some_and(|int| ints.contains(int)),
            Form::Packed(pack) => pack.find(member).is_some(),
            Form::Large(large) => large.contains(member),
        }
    }

    /// Whether an element is found by its number, or at random, without a walk over others.
    pub fn has_index(self) -> bool {
        !matches!(self.form, Form::Packed(_))
    }

    /// Keeps of `members` those that are in the set, or those that are not, in their order.
    ///
    /// Looking many up together takes less time than one after the other, where the set is large.
    pub fn sift(self, members: &mut Vec<Text<'_>>, are_in: bool) {
        match self.form {
            Form::Large(large) => large.sift(members, are_in),
            Form::Ints(_) | Form::Packed(_) => {
                members.retain(|member| self.contains(member) == are_in);
            }
        }
    }

    /// The members: integers in order, others in no order.
    pub fn iter(self) -> impl Iterator<Item = Text<'a>> + use<'a> {
        match self.form {
            Form::Ints(ints) => Either::Left(ints.iter().map(Text::from)),
            Form::Packed(pack) => Either::Right(Either::Left(pack.iter().map(Text::from))),
            Form::Large(large) => Either::Right(Either::Right(large.iter().map(Member::text))),
        }
    }

    /// Visits about `count` members and returns the cursor of the next call. Begins and ends with 0;
    /// a member that is there from the first call to the last is visited. A small set is visited in
    /// one call.
    pub fn scan(self, cursor: u64, count: usize, mut visit: impl FnMut(Text<'a>)) -> u64 {
        let Form::Large(large) = self.form else {
            self.iter().for_each(visit);
            return 0;
        };
        sample::scan(cursor, count, |cursor, met| {
            large.scan(cursor, |member| {
                *met += 1;
                visit(member.text());
            })
        })
    }

    /// A member by a random number, all about equally likely.
    pub fn sample(self, random: u64) -> Option<Text<'a>> {
        let index = |len: usize| Some(random.checked_rem(len as u64)? as usize);
        match self.form {
            Form::Ints(ints) => ints.nth(index(ints.len())?).map(Text::from),
            Form::Packed(pack) => {
                pack.nth(index(pack.count())?).map(|element| Text::from(element.text))
            }
            Form::Large(large) => large.sample(random).map(Member::text),
        }
    }

    /// Visits `count` different members, or all if there are no more.
    pub fn sample_distinct(
        self,
        count: usize,
        mut random: impl FnMut() -> u64,
        mut visit: impl FnMut(Text<'a>),
    ) {
        if let Form::Large(large) = self.form
            && let Some(drawn) =
                sample::draw(large.len(), count, &mut random, |random| large.sample(random))
        {
            drawn.into_iter().for_each(|member| visit(member.text()));
            return;
        }
        sample::select(self.iter(), self.len(), count, random, visit);
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
            Form::Ints(ints) => ints.check(),
            Form::Packed(pack) => {
                let distinct = pack.iter().collect::<HashSet<_>>().len();
                assert_eq!(pack.check(), distinct, "INV-PACK: a member is there twice");
            }
            Form::Large(large) => large.check(),
        }
    }
}

/// A set to edit.
#[derive(Debug)]
pub struct SetMut<'a> {
    entry: &'a mut Entry,
    limits: &'a Limits,
}

impl<'a> SetMut<'a> {
    /// The set that an entry is known to be.
    pub(crate) fn known(entry: &'a mut Entry, limits: &'a Limits) -> Self {
        SetMut { entry, limits }
    }

    /// The set, to read.
    pub fn read(&self) -> SetRef<'_> {
        self.entry.set().expect("an edit does not change the type")
    }

    /// Members.
    #[expect(clippy::len_without_is_empty, reason = "an empty set is removed")]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these members.
    #[inline]
    pub(crate) fn prefetch_elements<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
        self.entry.prefetch_elements(names);
    }

    /// Gives a set that is still empty the form for `expected` members that begin with `first`, as
    /// Redis chooses it. A set that is not empty stays as it is. Never needed: `add` chooses too.
    pub fn expect(&mut self, first: &[u8], expected: usize) {
        if self.len() > 0 {
            return;
        }
        if parse_i64(first).is_some() && expected <= self.limits.set_intset {
            self.entry.set_bytes(Kind::SetInts, &[]);
        } else if expected <= self.limits.set_entries {
            self.entry.set_bytes(Kind::SetPack, &[]);
        } else {
            self.entry.set_large(Large::Set(Box::new(LargeSet::new())));
        }
    }

    /// Makes a set that is still empty a large one at once if so many members are too many for every other
    /// form. Allocates nothing for them: their number may be a wrong claim.
    pub(crate) fn expect_count(&mut self, expected: u64) {
        let packed_max = self.limits.set_entries.max(self.limits.set_intset);
        let is_few = usize::try_from(expected).is_ok_and(|expected| expected <= packed_max);
        if !is_few && self.len() == 0 {
            self.entry.set_large(Large::Set(Box::new(LargeSet::new())));
        }
    }

    /// Adds a member. Returns true if it was not there.
    pub fn add(&mut self, member: &[u8]) -> bool {
        match self.entry.kind() {
            Kind::SetInts => match parse_i64(member) {
                Some(int) => self.add_int(int, member),
                None => self.add_to_ints(member),
            },
            Kind::SetPack => self.add_packed(member),
            _ => self.large().add(member),
        }
    }

    /// Adds the members of another set. A large one is copied as a whole to a set that is still empty, which takes a fraction of
    /// the time.
    pub fn add_all(&mut self, other: SetRef<'_>) {
        let packed_max = self.limits.set_entries.max(self.limits.set_intset);
        match other.form {
            Form::Large(large) if self.len() == 0 && large.len() > packed_max => {
                self.entry.set_large(Large::Set(Box::new(large.copy())));
            }
            _ => other.iter().for_each(|member| {
                self.add(&member);
            }),
        }
    }

    /// Adds an integer to a set of integers.
    fn add_int(&mut self, int: i64, member: &[u8]) -> bool {
        let set = Intset::new(self.entry.bytes());
        let Err(index) = set.search(int) else { return false };
        if set.len() >= self.limits.set_intset.min(INTS_MAX) {
            // An empty set has not outgrown its form: it has no form yet.
            return if set.len() == 0 {
                self.add_to_ints(member)
            } else {
                self.make_large().add(member)
            };
        }
        if self.entry.bytes().is_empty() || Width::of(int) > set.width() {
            let bytes = set.widened(int);
            self.entry.set_bytes(Kind::SetInts, &bytes);
        } else {
            let (start, encoded) = (set.range(index).start, set.encode(int));
            self.entry.splice(start..start, encoded.as_ref());
        }
        true
    }

    /// Adds a member to a set of integers that cannot stay one with it.
    fn add_to_ints(&mut self, member: &[u8]) -> bool {
        let set = Intset::new(self.entry.bytes());
        let mut digits = Digits::new();
        // The first and the last are the longest.
        let ends = [set.nth(0), set.nth(set.len().saturating_sub(1))];
        let longest = ends.into_iter().flatten().map(|int| digits.format(int).len()).max();
        let fits = set.len() < self.limits.set_entries
            && longest.unwrap_or(0) <= self.limits.set_value
            && self.is_short(member);
        if !fits {
            return self.make_large().add(member);
        }
        let mut bytes = Vec::with_capacity(self.entry.bytes().len() * 2);
        for text in set.iter().map(Text::from) {
            crate::pack::push(&mut bytes, &text);
        }
        if bytes.len() > Limits::PACKED_MAX {
            return self.make_large().add(member);
        }
        crate::pack::push(&mut bytes, member);
        self.entry.set_bytes(Kind::SetPack, &bytes);
        true
    }

    fn add_packed(&mut self, member: &[u8]) -> bool {
        let pack = Pack::new(self.entry.bytes());
        let mut others = 0;
        for text in pack.iter() {
            if is_same(text, member) {
                return false;
            }
            others += 1;
        }
        if others >= self.limits.set_entries || !self.is_short(member) {
            return self.make_large().add(member);
        }
        let mut scratch = Scratch::new();
        scratch.element(member);
        let end = self.entry.bytes().len();
        self.entry.splice(end..end, scratch.as_slice());
        true
    }

    /// Whether the packed form has room for such a member.
    fn is_short(&self, member: &[u8]) -> bool {
        member.len() <= self.limits.set_value
            && self.entry.bytes().len() + element_len(member.len()) <= Limits::PACKED_MAX
    }

    /// Removes a member. Returns true if it was there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        let range = match self.read().form {
            Form::Ints(set) => {
                let index = parse_i64(member).and_then(|int| set.search(int).ok());
                index.map(|index| set.range(index))
            }
            Form::Packed(pack) => pack.find(member).map(|element| element.range()),
            Form::Large(_) => return self.large().remove(member),
        };
        let Some(range) = range else { return false };
        self.entry.splice(range, &[]);
        true
    }

    /// Removes a member by a random number, all about equally likely.
    pub fn pop(&mut self, random: u64) -> Option<Vec<u8>> {
        let member = self.read().sample(random)?.to_vec();
        self.remove(&member);
        Some(member)
    }

    /// The index of a set that is large.
    fn large(&mut self) -> &mut LargeSet {
        match self.entry.large_mut() {
            Some(LargeMut::Set(large)) => large,
            _ => unreachable!("a set is an array, packed or large"),
        }
    }

    /// Turns a small set into a large one.
    fn make_large(&mut self) -> &mut LargeSet {
        let mut large = LargeSet::new();
        self.read().iter().for_each(|member| {
            large.add(&member);
        });
        self.entry.set_large(Large::Set(Box::new(large)));
        self.large()
    }
}
