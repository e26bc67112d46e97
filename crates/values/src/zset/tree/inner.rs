// SPDX-License-Identifier: Apache-2.0
//! [`Inner`]: a node above others.

use arrayvec::ArrayVec;

use super::super::slab::Id;
use super::Key;
use super::node::{self, Edges, Node, Tally};

/// A node's data about a child.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// The first key below (INV-FIRST), in two fields so that the count takes no room.
    score: f64,
    id: Id,
    /// Keys below (INV-COUNT).
    count: u32,
}

const _: () = assert!(size_of::<Head>() == 16, "four heads share a cache line");

impl Head {
    fn of<const L: usize, const F: usize>(node: &Node<L, F>) -> Self {
        let Key { score, id } = node.first();
        Head { score, id, count: node.count() as u32 }
    }

    #[inline]
    fn first(&self) -> Key {
        Key { score: self.score, id: self.id }
    }

    fn set_first(&mut self, key: Key) {
        self.score = key.score;
        self.id = key.id;
    }
}

/// A node above others.
#[derive(Clone, Debug)]
pub(super) struct Inner<const L: usize, const F: usize> {
    heads: ArrayVec<Head, F>,
    children: ArrayVec<Node<L, F>, F>,
}

impl<const L: usize, const F: usize> Inner<L, F> {
    pub(super) fn new(children: [Node<L, F>; 2]) -> Self {
        let children: ArrayVec<_, F> = children.into_iter().collect();
        Inner { heads: children.iter().map(Head::of).collect(), children }
    }

    /// Children.
    pub(super) fn len(&self) -> usize {
        self.children.len()
    }

    pub(super) fn child(&self, at: usize) -> &Node<L, F> {
        &self.children[at]
    }

    pub(super) fn pop_last(&mut self) -> Node<L, F> {
        self.heads.pop();
        self.children.pop().expect("INV-FILL: a node is not empty")
    }

    /// Keys below.
    pub(super) fn count(&self) -> usize {
        count(&self.heads)
    }

    /// The first key below.
    pub(super) fn first(&self) -> Key {
        self.heads[0].first()
    }

    /// The child with the first key for which `is_before` does not hold, or the child before that
    /// key, and the number of keys before the child. `None` when it is the first key of all.
    pub(super) fn partition_point(
        &self,
        is_before: &mut impl FnMut(Key) -> bool,
    ) -> Option<(usize, &Node<L, F>)> {
        let at = self.heads.partition_point(|head| is_before(head.first())).checked_sub(1)?;
        Some((count(&self.heads[..at]), &self.children[at]))
    }

    /// The child with the key of this rank, and the key's rank in there.
    #[inline]
    pub(super) fn find(&self, rank: usize) -> (usize, usize) {
        let mut rest = rank;
        for (at, head) in self.heads.iter().enumerate() {
            let count = head.count as usize;
            if rest < count {
                return (at, rest);
            }
            rest -= count;
        }
        unreachable!("INV-COUNT: no key has the rank {rank}")
    }

    /// See [`Node::insert`].
    pub(super) fn insert(
        &mut self,
        rank: usize,
        key: Key,
        edges: Edges,
        nodes: &mut Tally,
    ) -> Option<Self> {
        // The new key goes behind the one before it, so that it is the first of a child only if it
        // is the first of all.
        let (at, rest) = match rank.checked_sub(1) {
            Some(before) => self.find(before),
            None => (0, 0),
        };
        let rest = if rank == 0 { 0 } else { rest + 1 };
        let below = edges.child(at, self.len());
        let split = self.children[at].insert(rest, key, below, nodes);
        self.heads[at].count += 1;
        if rank == 0 {
            self.heads[0].set_first(key);
        }
        let head = Head::of(split.as_ref()?);
        self.heads[at].count -= head.count;
        self.adopt(at + 1, head, split?, edges)
    }

    /// Takes in a child. When there is no room, the second part becomes a node of its own and is
    /// returned.
    fn adopt(&mut self, at: usize, head: Head, child: Node<L, F>, edges: Edges) -> Option<Self> {
        if self.len() < F {
            self.heads.insert(at, head);
            self.children.insert(at, child);
            return None;
        }
        // A child that comes from the front is the second: its place is taken by what it left
        // behind.
        let split = edges.split::<F>(at, 1);
        let mut right = Inner {
            heads: node::split_off(&mut self.heads, split),
            children: node::split_off(&mut self.children, split),
        };
        let (part, at) = match edges.goes_left::<F>(at, split) {
            true => (self, at),
            false => (&mut right, at - split),
        };
        part.heads.insert(at, head);
        part.children.insert(at, child);
        Some(right)
    }

    /// See [`Node::remove`].
    pub(super) fn remove(&mut self, rank: usize, edges: Edges, nodes: &mut Tally) -> Key {
        let (at, rest) = self.find(rank);
        let below = edges.child(at, self.len());
        let child = &mut self.children[at];
        let key = child.remove(rest, below, nodes);
        self.heads[at].count -= 1;
        if child.len() == 0 {
            self.heads.remove(at);
            nodes.free(self.children.remove(at));
            return key;
        }
        if rest == 0 {
            self.heads[at].set_first(child.first());
        }
        if child.is_underfull() {
            self.mend(at, below, nodes);
        }
        key
    }

    /// Gives an underfull child some of a neighbour's, or all.
    fn mend(&mut self, at: usize, below: Edges, nodes: &mut Tally) {
        // An only child is at an edge, where it need not be half full.
        if self.len() == 1 {
            return;
        }
        let left = at.saturating_sub(1);
        let (before, after) = self.children.split_at_mut(left + 1);
        let (first, second) = (&mut before[left], &mut after[0]);
        let both = first.len() + second.len();
        if both <= first.capacity() {
            first.level(second, both);
            let gone = self.heads.remove(left + 1);
            self.heads[left].count += gone.count;
            nodes.free(self.children.remove(left + 1));
        } else if !below.any() {
            first.level(second, both / 2);
            self.heads[left].count = first.count() as u32;
            self.heads[left + 1] = Head::of(second);
        }
    }

    /// See [`Node::replace`].
    pub(super) fn replace(&mut self, rank: usize, key: Key) {
        let (at, rest) = self.find(rank);
        self.children[at].replace(rest, key);
        if rest == 0 {
            self.heads[at].set_first(key);
        }
    }

    /// See [`Node::level`].
    pub(super) fn level(&mut self, right: &mut Self, len: usize) {
        node::level(&mut self.heads, &mut right.heads, len);
        node::level(&mut self.children, &mut right.children, len);
    }

    /// See [`Node::free_leaf`].
    pub(super) fn free_leaf(&mut self, nodes: &mut Tally) -> (usize, bool) {
        let last = self.children.last_mut().expect("INV-FILL: a node is not empty");
        let (freed, is_empty) = last.free_leaf(nodes);
        if is_empty {
            self.pop_last();
        } else if let Some(head) = self.heads.last_mut() {
            head.count -= freed as u32;
        }
        nodes.inners -= usize::from(self.children.is_empty());
        (freed, self.children.is_empty())
    }

    /// See [`Node::check_integrity`].
    pub(super) fn check_integrity(&self, edges: Edges, seen: &mut Tally) -> usize {
        assert_eq!(self.heads.len(), self.children.len(), "INV-COUNT: heads and children");
        for (at, (head, child)) in self.heads.iter().zip(&self.children).enumerate() {
            let count = child.check_integrity(edges.child(at, self.len()), seen);
            assert_eq!(head.count as usize, count, "INV-COUNT: keys below a child");
            assert_eq!(head.first(), child.first(), "INV-FIRST");
            assert_eq!(child.depth(), self.children[0].depth(), "INV-DEPTH: leaves");
        }
        self.count()
    }

    pub(super) fn depth(&self) -> usize {
        1 + self.children[0].depth()
    }
}

/// Keys below the children with these heads.
#[inline]
fn count(heads: &[Head]) -> usize {
    heads.iter().map(|head| head.count as usize).sum()
}
