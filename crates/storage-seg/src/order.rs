// SPDX-License-Identifier: Apache-2.0
//! [`Order`]: the sealed segments in the order in which they were sealed, in one list for each pair
//! of tier and TTL class. The lists are doubly linked by a table beside the segments, so any
//! segment leaves its list at the cost of a few stores.

use crate::class::CLASSES_MAX;

/// Tiers: policies that keep items separate new items from kept ones.
pub(crate) const TIERS: usize = 2;
/// Items as clients write them.
pub(crate) const NEW: u8 = 0;
/// Items that were relocated when their segment was emptied.
pub(crate) const KEPT: u8 = 1;

const NONE: u32 = u32::MAX;

/// Lists of segments.
#[derive(Debug)]
pub(crate) struct Order {
    lists: Box<[List]>,
    links: Box<[Link]>,
}

#[derive(Clone, Copy, Debug)]
struct List {
    oldest: u32,
    newest: u32,
    len: u32,
    /// The sum of its segments' weights.
    weight: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    older: u32,
    newer: u32,
    /// The list it is in, or `NONE`.
    list: u32,
    /// See [`Segment::weight`](crate::segment::Segment::weight).
    weight: u32,
}

impl Order {
    pub(crate) fn new(segments: usize) -> Self {
        let list = List { oldest: NONE, newest: NONE, len: 0, weight: 0 };
        let link = Link { older: NONE, newer: NONE, list: NONE, weight: 0 };
        Order { lists: vec![list; TIERS * CLASSES_MAX].into(), links: vec![link; segments].into() }
    }

    fn list_of(tier: u8, class: u8) -> usize {
        usize::from(tier) * CLASSES_MAX + usize::from(class)
    }

    /// Adds a segment of this weight to its list, as the newest.
    pub(crate) fn push(&mut self, segment: u32, tier: u8, class: u8, weight: u32) {
        let number = Self::list_of(tier, class);
        let list = &mut self.lists[number];
        let link = &mut self.links[segment as usize];
        assert_eq!(link.list, NONE, "INV-ORDER: segment {segment} is in a list");
        *link = Link { older: list.newest, newer: NONE, list: number as u32, weight };
        match list.newest {
            NONE => list.oldest = segment,
            newest => self.links[newest as usize].newer = segment,
        }
        list.newest = segment;
        list.len += 1;
        list.weight += weight;
    }

    /// Takes a segment out of its list.
    pub(crate) fn remove(&mut self, segment: u32) {
        let Link { older, newer, list, weight } = self.links[segment as usize];
        debug_assert_ne!(list, NONE, "INV-ORDER: segment {segment} is in no list");
        let list = &mut self.lists[list as usize];
        match older {
            NONE => list.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        match newer {
            NONE => list.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        list.len -= 1;
        list.weight -= weight;
        self.links[segment as usize].list = NONE;
    }

    pub(crate) fn contains(&self, segment: u32) -> bool {
        self.links[segment as usize].list != NONE
    }

    /// The segments of a tier and class, oldest first.
    pub(crate) fn of(&self, tier: u8, class: u8) -> impl Iterator<Item = u32> + '_ {
        self.from(self.lists[Self::list_of(tier, class)].oldest)
    }

    /// A segment, if there is one, and those sealed after it in its list.
    fn from(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |segment: u32| (segment != NONE).then_some(segment);
        let next = move |&segment: &u32| some(self.links[segment as usize].newer);
        std::iter::successors(some(first), next)
    }

    /// The oldest segment of each list that is not empty, of one tier.
    pub(crate) fn oldest(&self, tier: u8) -> impl Iterator<Item = u32> + '_ {
        let from = Self::list_of(tier, 0);
        self.lists[from..from + CLASSES_MAX]
            .iter()
            .filter(|list| list.len > 0)
            .map(|list| list.oldest)
    }

    /// All segments in lists of a tier.
    pub(crate) fn tier(&self, tier: u8) -> impl Iterator<Item = u32> + '_ {
        (0..CLASSES_MAX as u8).flat_map(move |class| self.of(tier, class))
    }

    /// The sum of the weights of all segments in a tier's lists.
    pub(crate) fn weight(&self, tier: u8) -> usize {
        let from = Self::list_of(tier, 0);
        self.lists[from..from + CLASSES_MAX].iter().map(|list| list.weight as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order_whatever_leaves_it() {
        let mut order = Order::new(10);
        for segment in 0..6 {
            order.push(segment, NEW, 3, 2);
        }
        order.push(6, KEPT, 3, 1);
        for gone in [0, 3, 5] {
            order.remove(gone);
        }
        assert_eq!(order.of(NEW, 3).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(order.oldest(NEW).collect::<Vec<_>>(), [1]);
        assert_eq!(order.tier(KEPT).collect::<Vec<_>>(), [6]);
        assert_eq!((order.weight(NEW), order.weight(KEPT)), (6, 1));
        assert!(order.contains(4) && !order.contains(3));
        order.push(3, NEW, 0, 1);
        assert_eq!(order.oldest(NEW).collect::<Vec<_>>(), [3, 1]);
        for rest in [1, 2, 4, 3, 6] {
            order.remove(rest);
        }
        assert_eq!(order.tier(NEW).chain(order.tier(KEPT)).count(), 0);
    }

    #[test]
    #[should_panic(expected = "INV-ORDER")]
    fn a_segment_is_in_one_list() {
        let mut order = Order::new(2);
        order.push(1, NEW, 0, 1);
        order.push(1, NEW, 1, 1);
    }
}
