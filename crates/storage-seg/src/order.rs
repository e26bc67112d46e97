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

/// Lone segments of a list that are looked at where all segments are. There may be very many.
const LONE_MAX: usize = 64;

const NONE: u32 = u32::MAX;

/// Lists of segments.
#[derive(Debug)]
pub(crate) struct Order {
    lists: Box<[List]>,
    /// Of all segments that were in a list so far, and of wide and lone ones.
    links: Vec<Link>,
    wide_links: Vec<Link>,
    lone_links: Vec<Link>,
    /// The numbers of the first wide and of the first lone segment.
    narrow: u32,
    lone_from: u32,
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

const UNLINKED: Link = Link { older: NONE, newer: NONE, list: NONE, weight: 0 };

impl Order {
    /// No segments. Wide ones have numbers from `narrow` on, lone ones from `lone_from` on.
    pub(crate) fn new(narrow: u32, lone_from: u32) -> Self {
        let list = List { oldest: NONE, newest: NONE, len: 0, weight: 0 };
        let lists = vec![list; 2 * TIERS * CLASSES_MAX].into();
        let (links, wide_links, lone_links) = (Vec::new(), Vec::new(), Vec::new());
        Order { lists, links, wide_links, lone_links, narrow, lone_from }
    }

    fn link(&self, segment: u32) -> Link {
        let link = match (segment.checked_sub(self.lone_from), segment.checked_sub(self.narrow)) {
            (Some(at), _) => self.lone_links.get(at as usize),
            (None, Some(at)) => self.wide_links.get(at as usize),
            (None, None) => self.links.get(segment as usize),
        };
        link.copied().unwrap_or(UNLINKED)
    }

    fn link_mut(&mut self, segment: u32) -> &mut Link {
        let (lone, wide) = (segment.checked_sub(self.lone_from), segment.checked_sub(self.narrow));
        let (links, at) = match (lone, wide) {
            (Some(at), _) => (&mut self.lone_links, at as usize),
            (None, Some(at)) => (&mut self.wide_links, at as usize),
            (None, None) => (&mut self.links, segment as usize),
        };
        if links.len() <= at {
            links.resize(at + 1, UNLINKED);
        }
        &mut links[at]
    }

    /// The lists of lone segments come after the others.
    fn list_of(is_lone: bool, tier: u8, class: u8) -> usize {
        (usize::from(is_lone) * TIERS + usize::from(tier)) * CLASSES_MAX + usize::from(class)
    }

    /// A tier's lists of both kinds.
    fn lists(&self, tier: u8) -> impl Iterator<Item = &List> + '_ {
        [false, true].into_iter().flat_map(move |is_lone| {
            let from = Self::list_of(is_lone, tier, 0);
            &self.lists[from..from + CLASSES_MAX]
        })
    }

    /// Adds a segment of this weight to its list, as the newest.
    pub(crate) fn push(&mut self, segment: u32, tier: u8, class: u8, weight: u32) {
        let number = Self::list_of(segment >= self.lone_from, tier, class);
        let newest = self.lists[number].newest;
        let link = self.link_mut(segment);
        assert_eq!(link.list, NONE, "INV-ORDER: segment {segment} is in a list");
        *link = Link { older: newest, newer: NONE, list: number as u32, weight };
        match newest {
            NONE => self.lists[number].oldest = segment,
            newest => self.link_mut(newest).newer = segment,
        }
        let list = &mut self.lists[number];
        list.newest = segment;
        list.len += 1;
        list.weight += weight;
    }

    /// Takes a segment out of its list.
    pub(crate) fn remove(&mut self, segment: u32) {
        let Link { older, newer, list, weight } = self.link(segment);
        debug_assert_ne!(list, NONE, "INV-ORDER: segment {segment} is in no list");
        match older {
            NONE => self.lists[list as usize].oldest = newer,
            older => self.link_mut(older).newer = newer,
        }
        match newer {
            NONE => self.lists[list as usize].newest = older,
            newer => self.link_mut(newer).older = older,
        }
        let list = &mut self.lists[list as usize];
        list.len -= 1;
        list.weight -= weight;
        *self.link_mut(segment) = UNLINKED;
    }

    pub(crate) fn contains(&self, segment: u32) -> bool {
        self.link(segment).list != NONE
    }

    /// The segments of a tier and class that are not lone ones, oldest first.
    pub(crate) fn of(&self, tier: u8, class: u8) -> impl Iterator<Item = u32> + '_ {
        self.from(self.lists[Self::list_of(false, tier, class)].oldest)
    }

    /// The lone segments of a tier and class, oldest first.
    pub(crate) fn lone_of(&self, tier: u8, class: u8) -> impl Iterator<Item = u32> + '_ {
        self.from(self.lists[Self::list_of(true, tier, class)].oldest)
    }

    /// A segment, if there is one, and those sealed after it in its list.
    fn from(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |segment: u32| (segment != NONE).then_some(segment);
        let next = move |&segment: &u32| some(self.link(segment).newer);
        std::iter::successors(some(first), next)
    }

    /// The oldest segment of each list that is not empty, of one tier.
    pub(crate) fn oldest(&self, tier: u8) -> impl Iterator<Item = u32> + '_ {
        self.lists(tier).filter(|list| list.len > 0).map(|list| list.oldest)
    }

    /// All segments in lists of a tier but lone ones.
    pub(crate) fn tier(&self, tier: u8) -> impl Iterator<Item = u32> + '_ {
        (0..CLASSES_MAX as u8).flat_map(move |class| self.of(tier, class))
    }

    /// The oldest lone segments of a tier, [`LONE_MAX`] of each class at the most.
    pub(crate) fn lone(&self, tier: u8) -> impl Iterator<Item = u32> + '_ {
        (0..CLASSES_MAX as u8).flat_map(move |class| self.lone_of(tier, class).take(LONE_MAX))
    }

    /// The sum of the weights of all segments in a tier's lists.
    pub(crate) fn weight(&self, tier: u8) -> usize {
        self.lists(tier).map(|list| list.weight as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order_whatever_leaves_it() {
        // Some of them are wide.
        let mut order = Order::new(4, 100);
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
        let mut order = Order::new(2, 2);
        order.push(1, NEW, 0, 1);
        order.push(1, NEW, 1, 1);
    }
}
