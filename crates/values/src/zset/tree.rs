// SPDX-License-Identifier: Apache-2.0
//! [`Tree`]: the keys of a large sorted set in their order, each found by its rank.
//!
//! A B+tree whose inner nodes store how many keys are below each child (an order-statistic tree).
//! It works as a sequence: keys are inserted, removed and replaced *at a rank*, which needs no
//! comparison and so reads no member. One search, [`Tree::partition_point`], finds the rank for a
//! score or a member. Ranges of all kinds are then ranges of ranks, and counting them is a
//! subtraction.
//!
//! ```text
//!  Inner   heads     [ first key, count | first key, count | … ]
//!          children  [        ▼         |        ▼         | … ]
//!  Leaf    scores    [ 1.0 | 1.0 | 2.5 | … ]
//!          ids       [  7  |  3  |  9  | … ]
//! ```
//!
//! Nodes own their children, so there are no links between leaves: at the end of a leaf an iterator
//! goes down from the root once more, which is once in about fifty keys.
//!
//! * INV-COUNT: a head's count is the number of keys below its child.
//! * INV-FIRST: a head's key is the first key below its child.
//! * INV-DEPTH: all leaves are equally deep. A root that is an inner node has two children or more.
//! * INV-FILL: a node is at least half full. Those on the way to the first and the last leaf may
//!   have any number of keys but 0: so keys added in order, from either side, leave full leaves
//!   behind them, and keys removed in order move no others.

mod inner;
mod iter;
mod leaf;
mod node;

#[cfg(test)]
mod tests;

pub(super) use iter::Keys;
pub(super) use leaf::Leaf;

use node::{Edges, Node, Tally};

use super::slab::Id;

/// Keys of a leaf: together with the two lengths 768 bytes, a size class of the allocator.
const LEAF: usize = 63;
/// Children of an inner node: 1008 of the 1024 bytes of a size class.
const FAN: usize = 31;

const _: () = assert!(size_of::<Leaf<LEAF>>() == 768, "a leaf fills its size class");
const _: () = assert!(size_of::<inner::Inner<LEAF, FAN>>() == 1008, "an inner node fits its class");

/// A key of the tree: a score, and the id of the member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key {
    pub(super) score: f64,
    pub(super) id: Id,
}

/// Keys in the order in which they were placed, found by rank.
///
/// The sizes of nodes are parameters so that tests can make them small.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree<const L: usize = LEAF, const F: usize = FAN> {
    root: Option<Node<L, F>>,
    len: usize,
    nodes: Tally,
}

impl<const L: usize, const F: usize> Tree<L, F> {
    /// An empty tree. Allocates nothing.
    pub(super) fn new() -> Self {
        Tree { root: None, len: 0, nodes: Tally::default() }
    }

    /// Keys.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Memory of all nodes. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.heap_bytes::<L, F>()
    }

    /// The rank of the first key for which `is_before` does not hold; it holds for all keys before
    /// that one and for none after it.
    ///
    /// In a tree of a million keys it calls `is_before` about ten times, with keys from the nodes.
    pub(super) fn partition_point(&self, mut is_before: impl FnMut(Key) -> bool) -> usize {
        self.root.as_ref().map_or(0, |root| root.partition_point(&mut is_before))
    }

    /// The leaf with the key of this rank, and the place of the key in it.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    fn leaf_at(&self, rank: usize) -> (&Leaf<L>, usize) {
        assert!(rank < self.len, "no key has the rank {rank}");
        let root = self.root.as_ref().expect("INV-COUNT: a tree with keys has a root");
        root.leaf_at(rank)
    }

    /// The key of this rank.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    pub(super) fn get(&self, rank: usize) -> Key {
        let (leaf, at) = self.leaf_at(rank);
        leaf.key(at)
    }

    /// The keys from rank `start` up to `end`, from both ends.
    ///
    /// # Panics
    ///
    /// When a range of a slice would.
    pub(super) fn range(&self, start: usize, end: usize) -> Keys<'_, L, F> {
        assert!(start <= end && end <= self.len, "no ranks are {start}..{end}");
        Keys::new(self, start, end)
    }

    /// Inserts a key in front of the one that has this rank now, or at the end.
    ///
    /// # Panics
    ///
    /// When the rank is behind the end.
    pub(super) fn insert_at(&mut self, rank: usize, key: Key) {
        assert!(rank <= self.len, "a key cannot get the rank {rank}");
        self.len += 1;
        let root = self.root.get_or_insert_with(|| self.nodes.leaf(Leaf::new()));
        if let Some(right) = root.insert(rank, key, Edges::BOTH, &mut self.nodes) {
            let left = self.root.take().expect("it has just been split");
            self.root = Some(self.nodes.parent(left, right));
        }
    }

    /// Inserts a key at the end.
    pub(super) fn push(&mut self, key: Key) {
        self.insert_at(self.len, key);
    }

    /// Removes the key of this rank.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    pub(super) fn remove_at(&mut self, rank: usize) -> Key {
        assert!(rank < self.len, "no key has the rank {rank}");
        let mut root = self.root.take().expect("INV-COUNT: a tree with keys has a root");
        let key = root.remove(rank, Edges::BOTH, &mut self.nodes);
        self.len -= 1;
        self.root = self.nodes.without_idle_roots(root);
        key
    }

    /// Replaces the key of this rank.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    pub(super) fn replace_at(&mut self, rank: usize, key: Key) {
        assert!(rank < self.len, "no key has the rank {rank}");
        let root = self.root.as_mut().expect("INV-COUNT: a tree with keys has a root");
        root.replace(rank, key);
    }

    /// Frees the last leaf with the keys in it. False when there is none left.
    pub(super) fn free_leaf(&mut self) -> bool {
        let Some(root) = self.root.as_mut() else { return false };
        let (freed, is_empty) = root.free_leaf(&mut self.nodes);
        self.len -= freed;
        if is_empty {
            self.root = None;
        }
        true
    }

    /// Checks the invariants of the tree, and that each key is before the next one.
    ///
    /// # Panics
    ///
    /// When one does not hold.
    pub(super) fn check_integrity(&self, is_before: impl Fn(Key, Key) -> bool) {
        let mut seen = Tally::default();
        let len = self.root.as_ref().map_or(0, |root| {
            assert!(root.len() > 0, "INV-FILL: the root is empty");
            assert!(root.is_leaf() || root.len() > 1, "INV-DEPTH: a root with one child");
            root.check_integrity(Edges::BOTH, &mut seen)
        });
        assert_eq!(len, self.len, "INV-COUNT: keys of the tree");
        assert_eq!(seen, self.nodes, "INV-COUNT: nodes of the tree");
        let keys = || self.range(0, self.len);
        assert!(keys().zip(keys().skip(1)).all(|(a, b)| is_before(a, b)), "INV-ORDER");
    }
}
