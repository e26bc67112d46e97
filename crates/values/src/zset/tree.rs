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
//! A tree that never had more than seven keys is one small leaf.
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
use allocator::size_class;

/// Keys of a leaf: together with the two lengths 768 bytes, a size class of the allocator.
const LEAF: usize = 63;
/// Children of an inner node: 1008 of the 1024 bytes of a size class.
const FAN: usize = 31;

/// Keys of the small leaf.
const FEW: usize = 7;

const _: () = assert!(size_of::<Leaf<FEW>>() == 96, "a small leaf has no padding");
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
    root: Root<L, F>,
    len: usize,
    /// Without the small leaf.
    nodes: Tally,
}

/// Where all keys are.
#[derive(Clone, Debug, Default)]
enum Root<const L: usize, const F: usize> {
    #[default]
    Empty,
    Few(Box<Leaf<FEW>>),
    Node(Node<L, F>),
}

impl<const L: usize, const F: usize> Root<L, F> {
    /// Makes room for one more key in a small leaf, or a node of it.
    fn make_room(&mut self, nodes: &mut Tally) {
        match self {
            Root::Empty => *self = Root::Few(Box::new(Leaf::new())),
            Root::Few(few) if few.len() == FEW.min(L) => {
                *self = Root::Node(nodes.leaf(few.resized()));
            }
            Root::Few(_) | Root::Node(_) => {}
        }
    }
}

impl<const L: usize, const F: usize> Tree<L, F> {
    /// An empty tree. Allocates nothing.
    pub(super) fn new() -> Self {
        Tree { root: Root::Empty, len: 0, nodes: Tally::default() }
    }

    /// Keys.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Memory of all nodes. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        let few = match self.root {
            Root::Few(_) => size_class(size_of::<Leaf<FEW>>()),
            Root::Empty | Root::Node(_) => 0,
        };
        few + self.nodes.heap_bytes::<L, F>()
    }

    /// The rank of the first key for which `is_before` does not hold; it holds for all keys before
    /// that one and for none after it.
    ///
    /// In a tree of a million keys it calls `is_before` about ten times, with keys from the nodes.
    pub(super) fn partition_point(&self, mut is_before: impl FnMut(Key) -> bool) -> usize {
        match &self.root {
            Root::Empty => 0,
            Root::Few(few) => few.partition_point(&mut is_before),
            Root::Node(root) => root.partition_point(&mut is_before),
        }
    }

    /// Scores and ids of the leaf with the key of this rank, and the place of the key in it.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    fn leaf_at(&self, rank: usize) -> ((&[f64], &[Id]), usize) {
        assert!(rank < self.len, "no key has the rank {rank}");
        match &self.root {
            Root::Empty => unreachable!("INV-COUNT: a tree with keys has a root"),
            Root::Few(few) => (few.parts(), rank),
            Root::Node(root) => {
                let (leaf, at) = root.leaf_at(rank);
                (leaf.parts(), at)
            }
        }
    }

    /// The key of this rank.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    pub(super) fn get(&self, rank: usize) -> Key {
        let ((scores, ids), at) = self.leaf_at(rank);
        Key { score: scores[at], id: ids[at] }
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
        self.root.make_room(&mut self.nodes);
        let root = match &mut self.root {
            Root::Empty => unreachable!("room has just been made"),
            Root::Few(few) => return few.place(rank, key),
            Root::Node(root) => root,
        };
        if let Some(right) = root.insert(rank, key, Edges::BOTH, &mut self.nodes)
            && let Root::Node(left) = std::mem::take(&mut self.root)
        {
            self.root = Root::Node(self.nodes.parent(left, right));
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
        self.len -= 1;
        match std::mem::take(&mut self.root) {
            Root::Empty => unreachable!("INV-COUNT: a tree with keys has a root"),
            Root::Few(mut few) => {
                let key = few.remove(rank);
                if few.len() > 0 {
                    self.root = Root::Few(few);
                }
                key
            }
            Root::Node(mut root) => {
                let key = root.remove(rank, Edges::BOTH, &mut self.nodes);
                if let Some(root) = self.nodes.without_idle_roots(root) {
                    self.root = Root::Node(root);
                }
                key
            }
        }
    }

    /// Replaces the key of this rank.
    ///
    /// # Panics
    ///
    /// When there is no such rank.
    pub(super) fn replace_at(&mut self, rank: usize, key: Key) {
        assert!(rank < self.len, "no key has the rank {rank}");
        match &mut self.root {
            Root::Empty => unreachable!("INV-COUNT: a tree with keys has a root"),
            Root::Few(few) => few.replace(rank, key),
            Root::Node(root) => root.replace(rank, key),
        }
    }

    /// Frees the last leaf with the keys in it. False when there is none left.
    pub(super) fn free_leaf(&mut self) -> bool {
        let (freed, is_empty) = match &mut self.root {
            Root::Empty => return false,
            Root::Few(few) => (few.len(), true),
            Root::Node(root) => root.free_leaf(&mut self.nodes),
        };
        self.len -= freed;
        if is_empty {
            self.root = Root::Empty;
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
        let len = match &self.root {
            Root::Empty => 0,
            Root::Few(few) => {
                assert!(few.len() > 0, "INV-FILL: the small leaf is empty");
                few.check_integrity();
                few.len()
            }
            Root::Node(root) => {
                assert!(root.len() > 0, "INV-FILL: the root is empty");
                assert!(root.is_leaf() || root.len() > 1, "INV-DEPTH: a root with one child");
                root.check_integrity(Edges::BOTH, &mut seen)
            }
        };
        assert_eq!(len, self.len, "INV-COUNT: keys of the tree");
        assert_eq!(seen, self.nodes, "INV-COUNT: nodes of the tree");
        let keys = || self.range(0, self.len);
        assert!(keys().zip(keys().skip(1)).all(|(a, b)| is_before(a, b)), "INV-ORDER");
    }
}
