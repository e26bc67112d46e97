// SPDX-License-Identifier: Apache-2.0
//! Lists: [`ListRef`] reads one and [`ListMut`] edits one.
//!
//! A list of up to four kilobytes and 512 elements is [packed](mod@pack) in its entry, readable from both ends: an
//! edit moves the bytes behind it. A longer list is a sequence of [chunks](large), each a pack with
//! room at both ends. The [encoding](crate::Encoding) that a client is told does not depend on this
//! form: see [`measure`].
//!
//! Elements are found by index from the nearer end, or by walking.

mod chunk;
mod code;
mod edit;
mod iter;
pub(crate) mod large;
mod measure;
mod pack;
mod size;
#[cfg(test)]
mod tests;

use std::num::NonZeroI64;
use std::ops::Range;

use crate::either::Either;
use crate::kind::Kind;
use crate::large::LargeRef;
use crate::{Entry, Limits, Text};
use code::Code;
use iter::{Codes, Form};
use pack::{Element, ListPack};

pub use edit::ListMut;
pub use iter::ListIter;

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Where the element with the index 0 is: the head, or the left.
    Front,
    /// Where the element with the index -1 is: the tail, or the right.
    Back,
}

impl End {
    /// The other end.
    #[must_use]
    pub const fn opposite(self) -> End {
        match self {
            End::Front => End::Back,
            End::Back => End::Front,
        }
    }
}

/// A list to read.
#[derive(Clone, Copy, Debug)]
pub struct ListRef<'a> {
    form: Form<'a>,
}

impl<'a> ListRef<'a> {
    /// The list that an entry is, if it is one.
    #[inline]
    pub(crate) fn of(entry: &'a Entry) -> Option<Self> {
        let form = match entry.kind() {
            Kind::ListPack => Form::Packed(entry.bytes()),
            Kind::LargeList => match entry.large() {
                Some(LargeRef::List(large)) => Form::Large(large),
                _ => return None,
            },
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::HashPack
            | Kind::HashPackEx
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::Apart
            | Kind::LargeString
            | Kind::LargeHash
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => return None,
        };
        Some(ListRef { form })
    }

    /// Elements.
    #[expect(clippy::len_without_is_empty, reason = "an empty list is removed")]
    pub fn len(self) -> usize {
        match self.form {
            Form::Packed(bytes) => pack(bytes).count(),
            Form::Large(large) => large.len(),
        }
    }

    /// The element of this index: -1 is the last one.
    pub fn get(self, index: i64) -> Option<Text<'a>> {
        if let Form::Packed(bytes) = self.form {
            let mut elements = pack(bytes).elements();
            let steps = usize::try_from(if index < 0 { -1 - index } else { index }).ok()?;
            let element = if index < 0 { elements.nth_back(steps) } else { elements.nth(steps) };
            return element.map(Element::text);
        }
        let index = resolve(index, self.len())?;
        self.range(index..index + 1).next()
    }

    /// All elements.
    pub fn iter(self) -> ListIter<'a> {
        ListIter(self.codes(0..self.len()))
    }

    /// The elements with these indices, as far as there are any.
    pub fn range(self, indices: Range<usize>) -> ListIter<'a> {
        let end = indices.end.min(self.len());
        ListIter(self.codes(indices.start.min(end)..end))
    }

    /// What the elements with these indices are, all of which are there.
    fn codes(self, indices: Range<usize>) -> Codes<'a> {
        Codes::new(self.form, indices.start, indices.end)
    }

    /// The indices of elements that are `text`.
    ///
    /// A positive `rank` is the number of the match to begin with; a negative one counts from the
    /// end, and the search goes on towards the front. With `maxlen`, at most that many elements are
    /// compared.
    pub fn positions<'t>(
        self,
        text: &'t [u8],
        rank: NonZeroI64,
        maxlen: Option<usize>,
    ) -> impl Iterator<Item = usize> + use<'a, 't> {
        let (len, maxlen) = (self.len(), maxlen.unwrap_or(usize::MAX));
        let skip = usize::try_from(rank.get().unsigned_abs() - 1).unwrap_or(usize::MAX);
        let code = Code::of(text);
        let found = move |(index, other): (usize, Code<'_>)| (other == code).then_some(index);
        let elements = self.codes(0..len);
        if rank.get() > 0 {
            Either::Left(elements.enumerate().take(maxlen).filter_map(found).skip(skip))
        } else {
            let backwards = elements.rev().enumerate().take(maxlen).filter_map(found).skip(skip);
            Either::Right(backwards.map(move |index| len - 1 - index))
        }
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub fn check_integrity(self) {
        match self.form {
            Form::Packed(bytes) => {
                pack(bytes).check();
            }
            Form::Large(large) => large.check(),
        }
    }
}

#[inline]
fn pack(bytes: &[u8]) -> ListPack<'_> {
    ListPack::new(bytes)
}

/// The index from the front of one from either end, if there is such an element.
fn resolve(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add_unsigned(len as u64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

impl Entry {
    /// An empty list.
    pub fn new_list(key: &[u8]) -> Entry {
        Entry::with_bytes(key, Kind::ListPack, &[])
    }

    /// The value, if it is a list.
    #[inline]
    pub fn list(&self) -> Option<ListRef<'_>> {
        ListRef::of(self)
    }

    /// The value to be edited, if it is a list. The encoding that a client is told changes when it
    /// passes the limit.
    #[inline]
    pub fn list_mut(&mut self, limits: &Limits) -> Option<ListMut<'_>> {
        ListMut::of(self, limits)
    }
}
