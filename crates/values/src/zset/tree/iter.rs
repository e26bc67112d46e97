// SPDX-License-Identifier: Apache-2.0
//! [`Keys`]: the keys of a range of ranks.

use std::iter::FusedIterator;

use super::super::slab::Id;
use super::{FAN, Key, LEAF, Tree};

/// The keys of a range of ranks, from both ends.
///
/// Each end holds the rest of one leaf, and goes down from the root for the next.
#[derive(Clone, Debug)]
pub(in crate::zset) struct Keys<'a, const L: usize = LEAF, const F: usize = FAN> {
    tree: &'a Tree<L, F>,
    start: usize,
    end: usize,
    front: Run<'a>,
    back: Run<'a>,
}

/// A part of a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Run<'a> {
    scores: &'a [f64],
    ids: &'a [Id],
}

impl<'a, const L: usize, const F: usize> Keys<'a, L, F> {
    pub(super) fn new(tree: &'a Tree<L, F>, start: usize, end: usize) -> Self {
        Keys { tree, start, end, front: Run::default(), back: Run::default() }
    }
}

impl<const L: usize, const F: usize> Iterator for Keys<'_, L, F> {
    type Item = Key;

    #[inline]
    fn next(&mut self) -> Option<Key> {
        if self.start == self.end {
            return None;
        }
        if self.front.scores.is_empty() {
            let ((scores, ids), at) = self.tree.leaf_at(self.start);
            self.front = Run { scores: &scores[at..], ids: &ids[at..] };
        }
        let (&score, scores) = self.front.scores.split_first()?;
        let (&id, ids) = self.front.ids.split_first()?;
        self.front = Run { scores, ids };
        self.start += 1;
        Some(Key { score, id })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.end - self.start;
        (len, Some(len))
    }

    fn nth(&mut self, skip: usize) -> Option<Key> {
        let skip = skip.min(self.len());
        self.start += skip;
        let Run { scores, ids } = self.front;
        let skip = skip.min(scores.len());
        self.front = Run { scores: &scores[skip..], ids: &ids[skip..] };
        self.next()
    }
}

impl<const L: usize, const F: usize> DoubleEndedIterator for Keys<'_, L, F> {
    #[inline]
    fn next_back(&mut self) -> Option<Key> {
        if self.start == self.end {
            return None;
        }
        if self.back.scores.is_empty() {
            let ((scores, ids), at) = self.tree.leaf_at(self.end - 1);
            self.back = Run { scores: &scores[..=at], ids: &ids[..=at] };
        }
        let (&score, scores) = self.back.scores.split_last()?;
        let (&id, ids) = self.back.ids.split_last()?;
        self.back = Run { scores, ids };
        self.end -= 1;
        Some(Key { score, id })
    }

    fn nth_back(&mut self, skip: usize) -> Option<Key> {
        let skip = skip.min(self.len());
        self.end -= skip;
        let Run { scores, ids } = self.back;
        let left = scores.len() - skip.min(scores.len());
        self.back = Run { scores: &scores[..left], ids: &ids[..left] };
        self.next_back()
    }
}

impl<const L: usize, const F: usize> ExactSizeIterator for Keys<'_, L, F> {}

impl<const L: usize, const F: usize> FusedIterator for Keys<'_, L, F> {}
