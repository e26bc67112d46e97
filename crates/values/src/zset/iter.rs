// SPDX-License-Identifier: Apache-2.0
//! [`ZsetIter`]: members of a sorted set in their order.

use std::iter::FusedIterator;

use super::{large, packed};

/// Members of a sorted set with their scores, from both ends.
///
/// It knows their number, and skipping some costs no more than finding one. Walking a packed set
/// backwards reads about three times as many members as it returns.
#[derive(Clone, Debug)]
pub struct ZsetIter<'a>(pub(super) Form<'a>);

#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    Packed(packed::Iter<'a>),
    Large(large::Iter<'a>),
}

impl<'a> Iterator for ZsetIter<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Form::Packed(iter) => iter.next(),
            Form::Large(iter) => iter.next(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Form::Packed(iter) => iter.size_hint(),
            Form::Large(iter) => iter.size_hint(),
        }
    }

    fn nth(&mut self, skip: usize) -> Option<Self::Item> {
        match &mut self.0 {
            Form::Packed(iter) => iter.nth(skip),
            Form::Large(iter) => iter.nth(skip),
        }
    }
}

impl DoubleEndedIterator for ZsetIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Form::Packed(iter) => iter.next_back(),
            Form::Large(iter) => iter.next_back(),
        }
    }

    fn nth_back(&mut self, skip: usize) -> Option<Self::Item> {
        match &mut self.0 {
            Form::Packed(iter) => iter.nth_back(skip),
            Form::Large(iter) => iter.nth_back(skip),
        }
    }
}

impl ExactSizeIterator for ZsetIter<'_> {}

impl FusedIterator for ZsetIter<'_> {}
