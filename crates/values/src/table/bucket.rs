// SPDX-License-Identifier: Apache-2.0
//! [`Bucket`]: up to six elements with a byte of each one's hash, in one cache line.
//!
//! ```text
//!  tags 6 │ volatile bits │ free mark │ next u32 │ due u32 │ six slots of 8 bytes
//! ```
//!
//! The slots are filled from the first on. A tag is zero if and only if its slot is empty.

/// Elements of a bucket.
pub(super) const SLOTS: usize = 6;

/// No bucket, or no time.
const NONE: u32 = u32::MAX;

/// The bits of the tags that belong to slots.
const TAG_BITS: u64 = (1 << (8 * SLOTS)) - 1;
/// The lowest and the highest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Where in the tags the volatile bits are.
const VOLATILE: usize = 6;
/// Where in the tags the mark of a free bucket is.
const FREE: usize = 7;

/// Six slots, and data about their elements that can be read without the elements.
///
/// `A` decides where a bucket may begin.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Bucket<T, A> {
    align: [A; 0],
    tags: [u8; 8],
    next: u32,
    due: u32,
    slots: [Option<T>; SLOTS],
}

const _: () = {
    type Wide = Bucket<Box<u8>, super::CacheLine>;
    assert!(size_of::<Wide>() == 64 && align_of::<Wide>() == 64, "pointers fill a cache line");
    type Narrow = Bucket<std::num::NonZeroU32, super::Compact>;
    assert!(size_of::<Narrow>() == 40, "numbers take no room for an alignment");
};

/// An element on its way into a bucket or out of one.
#[derive(Debug)]
pub(super) struct Item<T> {
    pub(super) element: T,
    /// Never zero.
    pub(super) tag: u8,
    /// Whether the element has a time at which it is due.
    pub(super) volatile: bool,
}

/// The links of a free bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreeLinks {
    pub(super) next: Option<u32>,
    pub(super) before: Option<u32>,
}

/// The tag of a hash.
#[inline]
pub(super) fn tag_of(hash: u64) -> u8 {
    ((hash >> 48) as u8).max(1)
}

/// A time in whole seconds that is no later than `due_ms`, and differs from the mark for no time.
#[inline]
pub(super) fn seconds(due_ms: u64) -> u32 {
    u32::try_from(due_ms / 1000).unwrap_or(NONE).min(NONE - 1)
}

fn link(index: Option<u32>) -> u32 {
    debug_assert!(index != Some(NONE), "the overflow buckets are fewer");
    index.unwrap_or(NONE)
}

fn unlink(link: u32) -> Option<u32> {
    (link != NONE).then_some(link)
}

impl<T, A> Bucket<T, A> {
    pub(super) const EMPTY: Self =
        Bucket { align: [], tags: [0; 8], next: NONE, due: NONE, slots: [const { None }; SLOTS] };

    /// Elements, which are in the first slots.
    #[inline]
    pub(super) fn len(&self) -> usize {
        let tags = u64::from_le_bytes(self.tags);
        // The lowest byte that this finds to be zero really is zero; the bit behind the tags ends
        // the search.
        let zeros = (tags & TAG_BITS).wrapping_sub(LOW) & !tags & HIGH | !TAG_BITS;
        zeros.trailing_zeros() as usize / 8
    }

    /// A copy, with copies of the elements.
    pub(super) fn copy_with(&self, copy: &mut impl FnMut(&T) -> T) -> Self {
        let slots = self.slots.each_ref().map(|slot| slot.as_ref().map(&mut *copy));
        Bucket { align: [], tags: self.tags, next: self.next, due: self.due, slots }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tags[0] == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.tags[SLOTS - 1] != 0
    }

    /// The slots whose tag is `tag`, and sometimes one with another tag.
    #[inline]
    pub(super) fn candidates(&self, tag: u8) -> Candidates {
        let difference = u64::from_le_bytes(self.tags) ^ LOW.wrapping_mul(u64::from(tag));
        let zeros = difference.wrapping_sub(LOW) & !difference & HIGH;
        Candidates(zeros & TAG_BITS)
    }

    /// The slot of the element with this hash for which `eq` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<usize> {
        self.candidates(tag_of(hash)).find(|&slot| self.get(slot).is_some_and(&eq))
    }

    #[inline]
    pub(super) fn get(&self, slot: usize) -> Option<&T> {
        self.slots.get(slot)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.slots.get_mut(slot)?.as_mut()
    }

    #[inline]
    pub(super) fn tag(&self, slot: usize) -> u8 {
        self.tags[slot]
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map_while(Option::as_ref)
    }

    /// Adds an element to a bucket that is not full.
    pub(super) fn push(&mut self, item: Item<T>) {
        let slot = self.len();
        debug_assert!(item.tag != 0 && slot < SLOTS);
        self.slots[slot] = Some(item.element);
        self.tags[slot] = item.tag;
        self.set_volatile(slot, item.volatile);
    }

    /// Takes the last element out.
    pub(super) fn pop(&mut self) -> Option<Item<T>> {
        let slot = self.len().checked_sub(1)?;
        let (tag, volatile) = (self.tags[slot], self.is_volatile(slot));
        self.tags[slot] = 0;
        self.set_volatile(slot, false);
        let element = self.slots[slot].take()?;
        Some(Item { element, tag, volatile })
    }

    /// Puts an element in the place of another.
    pub(super) fn replace(&mut self, slot: usize, item: Item<T>) -> Option<Item<T>> {
        let (tag, volatile) = (self.tags[slot], self.is_volatile(slot));
        self.tags[slot] = item.tag;
        self.set_volatile(slot, item.volatile);
        let element = self.slots[slot].replace(item.element)?;
        Some(Item { element, tag, volatile })
    }

    #[inline]
    pub(super) fn is_volatile(&self, slot: usize) -> bool {
        self.tags[VOLATILE] & (1 << slot) != 0
    }

    pub(super) fn set_volatile(&mut self, slot: usize, volatile: bool) {
        self.tags[VOLATILE] = self.tags[VOLATILE] & !(1 << slot) | u8::from(volatile) << slot;
    }

    /// Whether an element of this bucket has a time at which it is due.
    pub(super) fn has_volatile(&self) -> bool {
        self.tags[VOLATILE] != 0
    }

    /// The overflow bucket behind this one.
    #[inline]
    pub(super) fn next(&self) -> Option<u32> {
        unlink(self.next)
    }

    pub(super) fn set_next(&mut self, next: Option<u32>) {
        self.next = link(next);
    }

    /// The second before which no element of the chain is due; `None` if none ever is.
    #[inline]
    pub(super) fn due(&self) -> Option<u32> {
        unlink(self.due)
    }

    pub(super) fn set_due(&mut self, due: Option<u32>) {
        self.due = link(due);
    }

    /// The links of a free bucket; `None` if it is in use.
    pub(super) fn free_links(&self) -> Option<FreeLinks> {
        let links = FreeLinks { next: unlink(self.next), before: unlink(self.due) };
        (self.tags[FREE] != 0).then_some(links)
    }

    /// Makes an empty bucket a free one.
    pub(super) fn set_free(&mut self, links: FreeLinks) {
        debug_assert!(self.is_empty());
        self.tags[FREE] = 1;
        (self.next, self.due) = (link(links.next), link(links.before));
    }
}

/// Slots to be looked at, in ascending order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates(u64);

impl Iterator for Candidates {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::CacheLine;

    type Small = Bucket<Box<u8>, CacheLine>;

    fn item(tag: u8) -> Item<Box<u8>> {
        Item { element: Box::new(tag), tag, volatile: tag % 2 == 1 }
    }

    #[test]
    fn candidates_are_the_slots_of_the_tag() {
        let mut bucket = Small::EMPTY;
        for tag in [7, 200, 7, 1, 255, 7] {
            assert!(!bucket.is_full());
            bucket.push(item(tag));
        }
        assert!(bucket.is_full());
        let bucket = &bucket;
        let slots = |tag| bucket.candidates(tag).filter(move |&slot| bucket.tag(slot) == tag);
        assert!(slots(7).eq([0, 2, 5]));
        assert!(slots(255).eq([4]));
        assert!(slots(9).eq([]));
        for tag in 1..=255 {
            let candidates: Vec<usize> = bucket.candidates(tag).collect();
            assert!(candidates.iter().all(|&slot| slot < SLOTS));
            assert!(slots(tag).all(|slot| candidates.contains(&slot)), "none is missed");
        }
    }

    #[test]
    fn elements_come_out_with_their_tags_and_bits() {
        let mut bucket = Small::EMPTY;
        for tag in 1..=6 {
            assert_eq!(bucket.len(), usize::from(tag) - 1);
            bucket.push(item(tag));
        }
        assert_eq!(bucket.len(), 6);
        let old = bucket.replace(2, item(10)).expect("the slot is filled");
        assert_eq!((*old.element, old.tag, old.volatile), (3, 3, true));
        for (len, tag) in [6, 5, 4, 10, 2, 1].into_iter().enumerate() {
            let last = bucket.pop().expect("there are six");
            assert_eq!((*last.element, last.tag, last.volatile), (tag, tag, tag % 2 == 1));
            assert_eq!(bucket.len(), 5 - len);
        }
        assert!(bucket.pop().is_none() && bucket.is_empty() && !bucket.has_volatile());
    }

    #[test]
    fn the_due_second_is_never_later_than_the_time_itself() {
        let mut bucket = Small::EMPTY;
        assert_eq!(bucket.due(), None);
        for due_ms in [u64::MAX, 5_000_999, 5_001_000, 999, 0] {
            bucket.set_due(Some(seconds(due_ms)));
            assert!(bucket.due().is_some_and(|due| u64::from(due) * 1000 <= due_ms));
        }
        bucket.set_due(None);
        assert_eq!(bucket.due(), None);
    }
}
