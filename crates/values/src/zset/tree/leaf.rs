// SPDX-License-Identifier: Apache-2.0
//! [`Leaf`]: a run of keys.

use arrayvec::ArrayVec;

use super::super::slab::Id;
use super::Key;
use super::node::{self, Edges};

/// A run of keys, scores and ids apart so that neither is padded.
#[derive(Clone, Debug, Default)]
pub(in crate::zset) struct Leaf<const L: usize> {
    scores: ArrayVec<f64, L>,
    ids: ArrayVec<Id, L>,
}

impl<const L: usize> Leaf<L> {
    pub(super) fn new() -> Self {
        Leaf { scores: ArrayVec::new(), ids: ArrayVec::new() }
    }

    /// The same keys in a leaf with another capacity, in which they have room.
    pub(super) fn resized<const M: usize>(&self) -> Leaf<M> {
        let (scores, ids) = self.parts();
        Leaf { scores: scores.iter().copied().collect(), ids: ids.iter().copied().collect() }
    }

    /// Keys.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    #[inline]
    pub(super) fn key(&self, at: usize) -> Key {
        Key { score: self.scores[at], id: self.ids[at] }
    }

    /// The keys as slices of equal length.
    #[inline]
    pub(super) fn parts(&self) -> (&[f64], &[Id]) {
        (&self.scores, &self.ids)
    }

    /// The place of the first key for which `is_before` does not hold.
    pub(super) fn partition_point(&self, is_before: &mut impl FnMut(Key) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            if is_before(self.key(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Inserts a key. When there is no room, the second part becomes a leaf of its own and is
    /// returned.
    pub(super) fn insert(&mut self, at: usize, key: Key, edges: Edges) -> Option<Self> {
        if self.len() < L {
            self.place(at, key);
            return None;
        }
        let split = edges.split::<L>(at, 0);
        let mut right = Leaf {
            scores: node::split_off(&mut self.scores, split),
            ids: node::split_off(&mut self.ids, split),
        };
        if edges.goes_left::<L>(at, split) {
            self.place(at, key);
        } else {
            right.place(at - split, key);
        }
        Some(right)
    }

    /// Inserts a key where there is room.
    pub(super) fn place(&mut self, at: usize, key: Key) {
        self.scores.insert(at, key.score);
        self.ids.insert(at, key.id);
    }

    pub(super) fn remove(&mut self, at: usize) -> Key {
        Key { score: self.scores.remove(at), id: self.ids.remove(at) }
    }

    pub(super) fn replace(&mut self, at: usize, key: Key) {
        self.scores[at] = key.score;
        self.ids[at] = key.id;
    }

    /// Moves keys between neighbours so that this one has `len`.
    pub(super) fn level(&mut self, right: &mut Self, len: usize) {
        node::level(&mut self.scores, &mut right.scores, len);
        node::level(&mut self.ids, &mut right.ids, len);
    }

    pub(super) fn check_integrity(&self) {
        assert_eq!(self.scores.len(), self.ids.len(), "INV-COUNT: scores and ids of a leaf");
    }
}
