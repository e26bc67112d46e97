// SPDX-License-Identifier: Apache-2.0
//! [`Node`]: a leaf or an inner node, with the operations of both.

use arrayvec::ArrayVec;

use super::inner::Inner;
use super::{Key, Leaf};
use allocator::size_class;

/// A subtree.
#[derive(Clone, Debug)]
pub(super) enum Node<const L: usize, const F: usize> {
    Leaf(Box<Leaf<L>>),
    Inner(Box<Inner<L, F>>),
}

/// How many nodes there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) leaves: usize,
    pub(super) inners: usize,
}

/// Whether a node is on the way to the first leaf, and whether it is on the way to the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    first: bool,
    last: bool,
}

impl Edges {
    /// Those of the root.
    pub(super) const BOTH: Edges = Edges { first: true, last: true };

    /// Those of the child `at` of `len`.
    #[inline]
    pub(super) fn child(self, at: usize, len: usize) -> Edges {
        Edges { first: self.first && at == 0, last: self.last && at + 1 == len }
    }

    pub(super) fn any(self) -> bool {
        self.first || self.last
    }

    /// Where to split a full node of `N` elements before an insertion at `at`: in the middle, or at
    /// `at` if elements are being added in order. `first` is the place at which such elements are
    /// added from the front.
    pub(super) fn split<const N: usize>(self, at: usize, first: usize) -> usize {
        if self.last && at == N {
            N
        } else if self.first && at == first {
            first
        } else {
            N / 2 + usize::from(at > N / 2)
        }
    }

    /// Whether the element to be inserted belongs to the left part after a [split](Edges::split).
    pub(super) fn goes_left<const N: usize>(self, at: usize, split: usize) -> bool {
        at < split || (at == split && split <= N / 2)
    }
}

impl Tally {
    /// Makes a leaf a node.
    pub(super) fn leaf<const L: usize, const F: usize>(&mut self, leaf: Leaf<L>) -> Node<L, F> {
        self.leaves += 1;
        Node::Leaf(Box::new(leaf))
    }

    /// Makes an inner node a node.
    pub(super) fn inner<const L: usize, const F: usize>(
        &mut self,
        inner: Inner<L, F>,
    ) -> Node<L, F> {
        self.inners += 1;
        Node::Inner(Box::new(inner))
    }

    /// A node above two others.
    pub(super) fn parent<const L: usize, const F: usize>(
        &mut self,
        left: Node<L, F>,
        right: Node<L, F>,
    ) -> Node<L, F> {
        self.inner(Inner::new([left, right]))
    }

    /// Frees a node that has nothing left in it.
    #[expect(clippy::needless_pass_by_value, reason = "it is freed here")]
    pub(super) fn free<const L: usize, const F: usize>(&mut self, node: Node<L, F>) {
        debug_assert_eq!(node.len(), 0, "what is freed is empty");
        match node {
            Node::Leaf(_) => self.leaves -= 1,
            Node::Inner(_) => self.inners -= 1,
        }
    }

    /// The root, without inner nodes above it that have a single child (INV-DEPTH).
    pub(super) fn without_idle_roots<const L: usize, const F: usize>(
        &mut self,
        mut root: Node<L, F>,
    ) -> Option<Node<L, F>> {
        loop {
            root = match root {
                root if root.len() == 0 => {
                    self.free(root);
                    return None;
                }
                Node::Inner(mut inner) if inner.len() == 1 => {
                    self.inners -= 1;
                    inner.pop_last()
                }
                root => return Some(root),
            }
        }
    }

    pub(super) fn heap_bytes<const L: usize, const F: usize>(&self) -> usize {
        self.leaves * size_class(size_of::<Leaf<L>>())
            + self.inners * size_class(size_of::<Inner<L, F>>())
    }
}

impl<const L: usize, const F: usize> Node<L, F> {
    pub(super) fn is_leaf(&self) -> bool {
        matches!(self, Node::Leaf(_))
    }

    /// Keys of a leaf, children of an inner node.
    pub(super) fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Inner(inner) => inner.len(),
        }
    }

    /// The most that [`Node::len`] can be.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Node::Leaf(_) => L,
            Node::Inner(_) => F,
        }
    }

    /// Whether it has less than INV-FILL requires of a node that is not at an edge.
    pub(super) fn is_underfull(&self) -> bool {
        self.len() < self.capacity() / 2
    }

    /// Keys below.
    pub(super) fn count(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Inner(inner) => inner.count(),
        }
    }

    /// The first key below.
    pub(super) fn first(&self) -> Key {
        match self {
            Node::Leaf(leaf) => leaf.key(0),
            Node::Inner(inner) => inner.first(),
        }
    }

    pub(super) fn partition_point(&self, is_before: &mut impl FnMut(Key) -> bool) -> usize {
        let (mut node, mut rank) = (self, 0);
        loop {
            match node {
                Node::Leaf(leaf) => return rank + leaf.partition_point(is_before),
                Node::Inner(inner) => match inner.partition_point(is_before) {
                    Some((before, child)) => {
                        rank += before;
                        node = child;
                    }
                    None => return rank,
                },
            }
        }
    }

    pub(super) fn leaf_at(&self, mut rank: usize) -> (&Leaf<L>, usize) {
        let mut node = self;
        loop {
            match node {
                Node::Leaf(leaf) => return (leaf, rank),
                Node::Inner(inner) => {
                    let (at, rest) = inner.find(rank);
                    node = inner.child(at);
                    rank = rest;
                }
            }
        }
    }

    /// Inserts a key. When there is no room, the second part becomes a node of its own and is
    /// returned.
    pub(super) fn insert(
        &mut self,
        rank: usize,
        key: Key,
        edges: Edges,
        nodes: &mut Tally,
    ) -> Option<Self> {
        match self {
            Node::Leaf(leaf) => leaf.insert(rank, key, edges).map(|right| nodes.leaf(right)),
            Node::Inner(inner) => {
                inner.insert(rank, key, edges, nodes).map(|right| nodes.inner(right))
            }
        }
    }

    /// Removes a key. May leave the node underfull or empty, which the caller repairs.
    pub(super) fn remove(&mut self, rank: usize, edges: Edges, nodes: &mut Tally) -> Key {
        match self {
            Node::Leaf(leaf) => leaf.remove(rank),
            Node::Inner(inner) => inner.remove(rank, edges, nodes),
        }
    }

    pub(super) fn replace(&mut self, rank: usize, key: Key) {
        match self {
            Node::Leaf(leaf) => leaf.replace(rank, key),
            Node::Inner(inner) => inner.replace(rank, key),
        }
    }

    /// Moves elements between neighbours of one kind so that this one has `len`.
    pub(super) fn level(&mut self, right: &mut Self, len: usize) {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => left.level(right, len),
            (Node::Inner(left), Node::Inner(right)) => left.level(right, len),
            _ => unreachable!("INV-DEPTH: neighbours are of one kind"),
        }
    }

    /// Frees the last leaf. Returns the keys in it, and whether nothing is left below.
    pub(super) fn free_leaf(&mut self, nodes: &mut Tally) -> (usize, bool) {
        match self {
            Node::Leaf(leaf) => {
                nodes.leaves -= 1;
                (leaf.len(), true)
            }
            Node::Inner(inner) => inner.free_leaf(nodes),
        }
    }

    /// Checks what is below, and returns how many keys that are.
    pub(super) fn check_integrity(&self, edges: Edges, seen: &mut Tally) -> usize {
        assert!(self.len() > 0, "INV-FILL: an empty node");
        assert!(edges.any() || !self.is_underfull(), "INV-FILL: an underfull node");
        match self {
            Node::Leaf(leaf) => {
                leaf.check_integrity();
                seen.leaves += 1;
                leaf.len()
            }
            Node::Inner(inner) => {
                seen.inners += 1;
                inner.check_integrity(edges, seen)
            }
        }
    }

    /// Levels below, all leaves being equally deep.
    pub(super) fn depth(&self) -> usize {
        match self {
            Node::Leaf(_) => 0,
            Node::Inner(inner) => inner.depth(),
        }
    }
}

/// Takes out the elements from `at` on.
pub(super) fn split_off<T, const N: usize>(
    elements: &mut ArrayVec<T, N>,
    at: usize,
) -> ArrayVec<T, N> {
    elements.drain(at..).collect()
}

/// Moves elements over the border of `left` and `right` so that `left` has `len`.
pub(super) fn level<T, const N: usize>(
    left: &mut ArrayVec<T, N>,
    right: &mut ArrayVec<T, N>,
    len: usize,
) {
    if left.len() > len {
        *right = left.drain(len..).chain(right.drain(..)).collect();
    } else {
        left.extend(right.drain(..len - left.len()));
    }
}
