// SPDX-License-Identifier: Apache-2.0
//! [`Slab`]: the members of a large sorted set with their scores, each found by an [`Id`].
//!
//! Slots are in chunks, of which only the first grows, so growing copies next to nothing. They have the sizes
//! of [`Quarters`]: the memory allocated ahead is about a quarter of the memory in use, or less. Slots that
//! become free are used again; when more than half of them are free, members move from the end into the free
//! ones ([`Slab::is_sparse`], [`Slab::move_last`]), and chunks are freed.
//!
//! * INV-SLOT: the list of free slots, linked both ways, has all of them and no other.

mod ahead;

use std::num::NonZeroU32;

use crate::quarters::Quarters;
use allocator::size_class;

/// The number of a slot, plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(NonZeroU32);

/// No slot: the end of the list of free ones. No slot has this number, because an id is the number
/// plus one.
const NONE: u32 = u32::MAX;

/// The sizes of the chunks.
type Sizes = Quarters<3, 12>;

/// Up to this many free slots are never too many.
const SPARE: u32 = 64;

impl Id {
    fn new(slot: u32) -> Self {
        let id = slot.checked_add(1).and_then(NonZeroU32::new);
        Id(id.expect("a sorted set has fewer than 2^32 members"))
    }

    #[inline]
    fn slot(self) -> u32 {
        self.0.get() - 1
    }
}

/// A member, or a link of the list of free slots.
#[derive(Debug)]
enum Slot {
    Used { score: f64, member: Box<[u8]> },
    Free { before: u32, after: u32 },
}

const _: () = assert!(size_of::<Slot>() == 24, "links take the place of a member");

/// Members with their scores.
#[derive(Debug)]
pub(super) struct Slab {
    chunks: Vec<Vec<Slot>>,
    /// Slots, free ones included.
    slots: u32,
    used: u32,
    /// The first free slot, or [`NONE`].
    free: u32,
    /// Memory of the chunks.
    chunk_bytes: usize,
    /// Memory of the members.
    member_bytes: usize,
}

/// Where the members of a slab are in a copy of it.
#[derive(Debug)]
pub(super) struct Copies {
    /// By slot. [`NONE`] where there was no member.
    slots: Vec<u32>,
}

impl Copies {
    /// The copy of this member.
    #[inline]
    pub(super) fn of(&self, id: Id) -> Id {
        Id::new(self.slots[id.slot() as usize])
    }
}

/// The chunk in which a slot is, and its place in there.
#[inline]
fn locate(slot: u32) -> (usize, usize) {
    Sizes::locate(slot as usize)
}

/// The memory of a chunk with room for so many slots.
fn chunk_bytes(slots: usize) -> usize {
    size_class(slots * size_of::<Slot>())
}

impl Slab {
    /// An empty slab. Allocates nothing.
    pub(super) fn new() -> Self {
        Slab { chunks: Vec::new(), slots: 0, used: 0, free: NONE, chunk_bytes: 0, member_bytes: 0 }
    }

    /// Members.
    pub(super) fn len(&self) -> usize {
        self.used as usize
    }

    /// All memory. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        let table = size_class(self.chunks.capacity() * size_of::<Vec<Slot>>());
        table + self.chunk_bytes + self.member_bytes
    }

    #[inline]
    fn slot(&self, slot: u32) -> &Slot {
        let (chunk, at) = locate(slot);
        &self.chunks[chunk][at]
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        let (chunk, at) = locate(slot);
        &mut self.chunks[chunk][at]
    }

    /// A member and its score.
    #[inline]
    pub(super) fn get(&self, id: Id) -> (&[u8], f64) {
        match self.slot(id.slot()) {
            Slot::Used { score, member } => (member, *score),
            Slot::Free { .. } => unreachable!("INV-IDS: {id:?} is free"),
        }
    }

    /// A member.
    #[inline]
    pub(super) fn member(&self, id: Id) -> &[u8] {
        self.get(id).0
    }

    pub(super) fn set_score(&mut self, id: Id, new: f64) {
        match self.slot_mut(id.slot()) {
            Slot::Used { score, .. } => *score = new,
            Slot::Free { .. } => unreachable!("INV-IDS: {id:?} is free"),
        }
    }

    /// Adds a member.
    ///
    /// # Panics
    ///
    /// At 2^32 members.
    pub(super) fn insert(&mut self, member: &[u8], score: f64) -> Id {
        self.used += 1;
        self.member_bytes += size_class(member.len());
        let content = Slot::Used { score, member: member.into() };
        if self.free == NONE {
            return self.push(content);
        }
        let slot = self.free;
        self.unlink(slot);
        *self.slot_mut(slot) = content;
        Id::new(slot)
    }

    /// All members, in the order of their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &[u8], f64)> {
        let slots = (0..).zip(self.chunks.iter().flatten());
        slots.filter_map(|(slot, content)| match content {
            Slot::Used { score, member } => Some((Id::new(slot), &**member, *score)),
            Slot::Free { .. } => None,
        })
    }

    /// A copy without free slots.
    pub(super) fn copy(&self) -> (Slab, Copies) {
        let (mut copy, mut slots) = (Slab::new(), vec![NONE; self.slots as usize]);
        for (id, member, score) in self.iter() {
            slots[id.slot() as usize] = copy.insert(member, score).slot();
        }
        (copy, Copies { slots })
    }

    /// Adds a slot at the end.
    fn push(&mut self, content: Slot) -> Id {
        let id = Id::new(self.slots);
        let (chunk, _) = locate(self.slots);
        if chunk == self.chunks.len() {
            if chunk == 0 {
                // Many sorted sets need no more.
                self.chunks.reserve_exact(1);
            }
            let room = if chunk == 0 { 1 } else { Sizes::len(chunk) };
            self.chunks.push(Vec::with_capacity(room));
            self.chunk_bytes += chunk_bytes(room);
        } else if chunk == 0 && self.chunks[0].len() == self.chunks[0].capacity() {
            // A few large members do not take the room of eight.
            let room = self.chunks[0].len();
            self.chunks[0].reserve_exact(room);
            self.chunk_bytes += chunk_bytes(2 * room) - chunk_bytes(room);
        }
        self.chunks[chunk].push(content);
        self.slots += 1;
        id
    }

    /// Takes the last slot away.
    fn pop(&mut self) -> Slot {
        let chunk = self.chunks.len() - 1;
        let content = self.chunks[chunk].pop().expect("the last chunk is not empty");
        if self.chunks[chunk].is_empty() {
            self.chunk_bytes -= chunk_bytes(self.chunks[chunk].capacity());
            self.chunks.pop();
        }
        self.slots -= 1;
        content
    }

    /// Removes a member.
    pub(super) fn remove(&mut self, id: Id) -> Box<[u8]> {
        let free = Slot::Free { before: NONE, after: self.free };
        let Slot::Used { member, .. } = std::mem::replace(self.slot_mut(id.slot()), free) else {
            unreachable!("INV-IDS: {id:?} is free")
        };
        let after = std::mem::replace(&mut self.free, id.slot());
        self.set_before(after, id.slot());
        self.used -= 1;
        self.member_bytes -= size_class(member.len());
        member
    }

    /// Removes a slot from the free list.
    fn unlink(&mut self, slot: u32) {
        let Slot::Free { before, after } = *self.slot(slot) else {
            unreachable!("INV-SLOT: {slot} is not free")
        };
        self.set_before(after, before);
        if before == NONE {
            self.free = after;
        } else if let Slot::Free { after: link, .. } = self.slot_mut(before) {
            *link = after;
        }
    }

    fn set_before(&mut self, slot: u32, to: u32) {
        if slot != NONE
            && let Slot::Free { before, .. } = self.slot_mut(slot)
        {
            *before = to;
        }
    }

    /// Whether so many slots are free that members should move.
    pub(super) fn is_sparse(&self) -> bool {
        self.slots / 2 > self.used + SPARE / 2
    }

    /// The member in the last slot; `None` when that is free.
    pub(super) fn last(&self) -> Option<Id> {
        let last = self.slots.checked_sub(1)?;
        matches!(self.slot(last), Slot::Used { .. }).then(|| Id::new(last))
    }

    /// Removes the last slot. A member in it moves to another slot, which is returned.
    pub(super) fn move_last(&mut self) -> Option<Id> {
        let last = self.slots - 1;
        if matches!(self.slot(last), Slot::Free { .. }) {
            self.unlink(last);
            self.pop();
            return None;
        }
        let to = self.free;
        self.unlink(to);
        let content = self.pop();
        *self.slot_mut(to) = content;
        Some(Id::new(to))
    }

    /// Frees up to `budget` slots from the end. Returns how many. The slab can be used for nothing
    /// else from then on.
    pub(super) fn free_some(&mut self, budget: usize) -> usize {
        let count = budget.min(self.slots as usize);
        self.free = NONE;
        for _ in 0..count {
            if let Slot::Used { member, .. } = self.pop() {
                self.member_bytes -= size_class(member.len());
                self.used -= 1;
            }
        }
        count
    }

    /// Checks INV-SLOT and the sums.
    ///
    /// # Panics
    ///
    /// When something is wrong.
    pub(super) fn check_integrity(&self) {
        let (mut bytes, mut used) = (0, 0);
        for content in self.chunks.iter().flatten() {
            if let Slot::Used { member, .. } = content {
                used += 1;
                bytes += size_class(member.len());
            }
        }
        assert_eq!((self.used, self.member_bytes), (used, bytes), "INV-SLOT: members");
        let (mut free, mut before, mut slot) = (0, NONE, self.free);
        while slot != NONE {
            let Slot::Free { before: link, after } = *self.slot(slot) else {
                panic!("INV-SLOT: {slot} is not free")
            };
            assert_eq!(link, before, "INV-SLOT: links");
            (free, before, slot) = (free + 1, slot, after);
        }
        assert_eq!(self.used + free, self.slots, "INV-SLOT: free slots out of reach");
        let slots: usize = self.chunks.iter().map(Vec::len).sum();
        let bytes: usize =
            self.chunks.iter().map(|chunk| size_class(chunk.capacity() * size_of::<Slot>())).sum();
        assert_eq!((self.slots as usize, self.chunk_bytes), (slots, bytes), "INV-SLOT: chunks");
    }
}

#[cfg(test)]
impl Id {
    /// An id of no slab, for trees alone.
    pub(super) fn of(slot: u32) -> Self {
        Id::new(slot)
    }

    /// What [`Id::of`] was called with.
    pub(super) fn number(self) -> u32 {
        self.slot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn about_a_quarter_is_allocated_ahead() {
        let mut slab = Slab::new();
        for count in 1..100_000 {
            slab.insert(b"", 0.0);
            let ahead = slab.chunk_bytes - count * size_of::<Slot>();
            assert!(ahead <= count * size_of::<Slot>() * 26 / 100 + 16 * size_of::<Slot>());
        }
        assert!(slab.chunk_bytes < 104_000 * size_of::<Slot>());
    }

    #[test]
    fn a_slab_is_freed_bit_by_bit() {
        let mut slab = Slab::new();
        let ids: Vec<Id> = (0..100).map(|_| slab.insert(b"member", 1.0)).collect();
        slab.remove(ids[99]);
        slab.remove(ids[5]);
        assert_eq!(slab.free_some(30), 30);
        assert_eq!(slab.len(), 69);
        assert_eq!(slab.free_some(1000), 70);
        assert_eq!((slab.len(), slab.chunk_bytes, slab.member_bytes), (0, 0, 0));
        assert_eq!(slab.free_some(1), 0);
    }

    proptest! {
        #[test]
        fn members_stay_under_their_ids(steps in prop::collection::vec(any::<u16>(), 0..600)) {
            let mut slab = Slab::new();
            let mut model = HashMap::new();
            let mut ids = Vec::new();
            // First many come, then many go.
            let middle = steps.len() / 2;
            for (number, step) in steps.into_iter().enumerate() {
                let odds = if number < middle { 4 } else { 1 };
                if ids.is_empty() || step % 5 < odds {
                    let member = vec![b'x'; usize::from(step % 50)];
                    let id = slab.insert(&member, f64::from(step));
                    model.insert(id.slot(), (member, f64::from(step)));
                    ids.push(id);
                } else {
                    let id = ids.swap_remove(usize::from(step) % ids.len());
                    let (member, _) = model.remove(&id.slot()).expect("it is there");
                    prop_assert_eq!(&*slab.remove(id), &*member);
                }
                while slab.is_sparse() {
                    let from = slab.last();
                    let to = slab.move_last();
                    prop_assert_eq!(from.is_some(), to.is_some());
                    if let (Some(from), Some(to)) = (from, to) {
                        let content = model.remove(&from.slot()).expect("it is there");
                        model.insert(to.slot(), content);
                        ids.retain(|id| *id != from);
                        ids.push(to);
                    }
                }
                slab.check_integrity();
                prop_assert_eq!(slab.len(), model.len());
                prop_assert!(slab.slots <= 2 * slab.used + SPARE + 1);
            }
            for id in ids {
                let (member, score) = &model[&id.slot()];
                prop_assert_eq!(slab.get(id), (&**member, *score));
            }
        }
    }
}
