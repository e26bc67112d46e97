// SPDX-License-Identifier: Apache-2.0
//! Lone segments: which items get one, and when its memory comes back.
//!
//! A large item that lies with others is copied: when they are moved or emptied. On today's machines that takes longer than to
//! receive it. So it gets a segment for itself, with memory of its size (`pool/lone.rs`), is received there, and stays.
//! Whoever removes the item from the index frees the segment.
//!
//! There may be very many lone segments. So nothing walks over all of them but what statistics and checks do; those that
//! are due are found by [`Dues`].

use crate::class::Class;
use crate::heap::{BLOCK_BYTES, FIRST_OFFSET, blocks_for};
use crate::order::{KEPT, NEW};
use crate::place::{Lack, Spot, Stream};
use crate::pool::{Memory, Need};
use crate::shared::Shared;
use crate::store::SegStore;
use crate::zeroed::Zeroed;
use clock::Ticks;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

/// The least size of an item with a lone segment, in bytes: the loss of half a page on average, and of what the store
/// knows of a segment, is little then.
const LONE_MIN: usize = 64 << 10;

/// The same as a divisor of the size of a segment: it bounds the number of lone segments in a large store.
const LONE_SHARE: usize = 64;

/// For how many large items memory is kept free, and the most of it, as a divisor of all memory.
const WANTED: usize = 2;
const WANTED_SHARE: usize = 64;

/// The least size of such an item in a store with segments of this size.
pub(crate) fn lone_min(segment_bytes: usize) -> usize {
    LONE_MIN.max(segment_bytes / LONE_SHARE)
}

/// Lone segments of which the soonest due time is known.
const GROUP: u32 = 64;

/// When lone segments are due: for each group of them, the complement of a time in milliseconds before which none is. So 0 is
/// never.
#[derive(Debug)]
pub(crate) struct Dues(Zeroed<AtomicU64>);

impl Dues {
    /// # Errors
    ///
    /// When the system gives no address space for them.
    pub(crate) fn new(lone: u32) -> io::Result<Self> {
        Ok(Dues(Zeroed::new(lone.div_ceil(GROUP).max(1) as usize)?))
    }

    /// Notes that a segment, by its number among lone ones, is due then.
    pub(crate) fn note(&self, lone: u32, due_ms: u64) {
        self.0[(lone / GROUP) as usize].fetch_max(!due_ms, Ordering::SeqCst);
    }

    /// A time before which none of a group is due.
    fn soonest(&self, group: u32) -> u64 {
        !self.0[group as usize].load(Ordering::SeqCst)
    }

    /// Forgets the time of a group, whose segments are then looked at.
    fn forget(&self, group: u32) {
        self.0[group as usize].store(0, Ordering::SeqCst);
    }
}

impl Shared {
    /// Whether an item of `len` bytes gets a lone segment, if there is one.
    #[inline]
    pub(crate) fn is_lone(&self, len: usize) -> bool {
        len >= lone_min(self.heap.segment_bytes()) && self.heap.lone() > 0
    }

    /// Takes a lone segment for an item of `len` bytes, with whatever memory it has, `at_once` grains at the most.
    pub(crate) fn take_lone(&self, len: usize, at_once: usize, spare: usize) -> Option<u32> {
        let need = self.lone_need(len, at_once)?;
        let give = |lone, blocks| self.heap.give_blocks(lone, blocks);
        let memory = Memory { give, release: self.releaser() };
        self.pool.take_lone(need, (spare, &self.epochs), memory)
    }

    /// Takes one that has `least` grains already.
    pub(crate) fn take_lone_with(&self, least: usize, len: usize, spare: usize) -> Option<u32> {
        let need = self.lone_need(len, usize::MAX)?;
        self.pool.take_lone_with(least as u32, need, (spare, &self.epochs), self.releaser())
    }

    /// What an item of `len` bytes needs; `None` if it is more than a mapping has room for.
    fn lone_need(&self, len: usize, at_once: usize) -> Option<Need> {
        let bytes = len + FIRST_OFFSET as usize;
        let is_possible = bytes <= u32::MAX as usize / 2;
        let (grains, at_once) = (self.grains(bytes) as u32, at_once as u32);
        is_possible.then(|| Need { grains, at_once, blocks: blocks_for(bytes) })
    }

    /// Free memory, in grains, to keep for large items to come: so that each finds a segment with its memory.
    pub(crate) fn lone_wanted(&self) -> usize {
        (WANTED * self.pool.lone_mean()).min(self.pool.target() / WANTED_SHARE)
    }

    /// Seals a segment that its owner has finished with, and frees it if all its items are gone already. Returns what
    /// [`free_dead`](Shared::free_dead) does.
    pub(crate) fn seal(&self, number: u32) -> Option<u32> {
        if self.pool.is_lone(number) {
            let before = self.pool.lone_mean();
            self.pool.note_lone(self.pool.segment(number).span());
            if self.pool.lone_mean() != before {
                self.reckon_reserve();
            }
        }
        self.pool.seal(number);
        self.free_dead(number)
    }

    /// Counts bytes of items in lone segments. They may be counted out before they are counted in.
    pub(crate) fn count_lone(&self, bytes: u64) {
        self.lone_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes of items in lone segments.
    pub(crate) fn lone_bytes(&self) -> u64 {
        self.lone_bytes.load(Ordering::Relaxed).cast_signed().max(0).cast_unsigned()
    }

    /// Notes when a segment is due.
    pub(crate) fn note_due(&self, number: u32, due_ms: u64) {
        if let Some(lone) = self.pool.lone_at(number) {
            self.dues.note(lone, due_ms);
        }
        self.next_due_ms.fetch_min(due_ms, Ordering::SeqCst);
    }

    /// Extends the time when a segment is due, as [`Segment::extend_due`](crate::segment::Segment::extend_due), and notes the
    /// first. That may be of another handle than the segment's own, which touches an item that has just come into the index.
    #[inline]
    pub(crate) fn extend_due(&self, number: u32, expiry_ms: Option<u64>) -> bool {
        let segment = self.pool.segment(number);
        let is_first = segment.extend_due(expiry_ms);
        if is_first {
            self.note_due(number, segment.due_ms());
        }
        is_first
    }

    /// Has all lone segments looked at by the next search for those that are due.
    pub(crate) fn look_at_lone(&self) {
        let Range { start, end } = self.pool.lone();
        (0..end - start).step_by(GROUP as usize).for_each(|lone| self.dues.note(lone, 0));
    }

    /// Whether a lone segment has an item from before the opening of this number. The next search looks at it.
    pub(crate) fn has_lone_from_before(&self, birth: u64) -> bool {
        let is_such = |&number: &u32| {
            let segment = self.pool.segment(number);
            segment.birth() < birth && segment.state().may_be_read()
        };
        let found = self.pool.lone().find(is_such);
        if let Some(lone) = found.and_then(|number| self.pool.lone_at(number)) {
            self.dues.note(lone, 0);
        }
        found.is_some()
    }

    /// Calls `look` with the lone segments of each group in which one may be due, until it breaks; it returns when to look at
    /// the segment again. Begins with the group of the segment `from`. Returns the soonest time at which one may be due.
    pub(crate) fn lone_due(
        &self,
        from: u32,
        now_ms: u64,
        mut look: impl FnMut(u32) -> ControlFlow<(), u64>,
    ) -> u64 {
        let Range { start, end } = self.pool.lone();
        let (mut soonest, groups) = (u64::MAX, (end - start).div_ceil(GROUP));
        let first = from.saturating_sub(start) / GROUP;
        for group in (0..groups).map(|step| (first + step) % groups) {
            if self.dues.soonest(group) <= now_ms {
                // Whoever opens one of them from here on notes it again.
                self.dues.forget(group);
                for lone in group * GROUP..((group + 1) * GROUP).min(end - start) {
                    match look(start + lone) {
                        ControlFlow::Continue(due_ms) => self.dues.note(lone, due_ms),
                        ControlFlow::Break(()) => {
                            self.dues.note(lone, 0);
                            return 0;
                        }
                    }
                }
            }
            soonest = soonest.min(self.dues.soonest(group));
        }
        soonest
    }
}

impl SegStore {
    /// Room for an item in a lone segment with all its memory; `None` if there is no such segment.
    pub(crate) fn place_lone(
        &mut self,
        (stream, class): (Stream, Class),
        len: usize,
        spare: usize,
        now: Ticks,
    ) -> Option<Result<Spot, Lack>> {
        let shared = &*self.shared;
        let grains = shared.grains(len + FIRST_OFFSET as usize);
        let number = shared.take_lone(len, usize::MAX, spare)?;
        let missing = grains.saturating_sub(shared.pool.segment(number).span() as usize);
        if shared.pool.free() + shared.pool.in_limbo() < missing + spare {
            shared.pool.give_back(number);
            return Some(Err(Lack::Free(grains)));
        }
        let growth = (spare, &*shared.epochs);
        if shared.pool.grow(number, missing as u32, growth, shared.releaser()) > 0 {
            // Others may take it meanwhile, so that a write in a small store has to begin anew several times.
            shared.pool.give_back(number);
            self.note_given_back();
            return Some(Err(Lack::Free(grains)));
        }
        let tier = if stream == Stream::Kept { KEPT } else { NEW };
        Some(Ok(self.alone_spot(number, tier, class, now)))
    }
}

/// A lone segment has a block at least.
const _: () = assert!(LONE_MIN >= BLOCK_BYTES);

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    #[test]
    fn whoever_sets_the_first_time_of_a_segment_notes_it() {
        let store = crate::SegStore::builder()
            .memory(64 << 20)
            .value_max(4 << 20)
            .build()
            .expect("it is possible");
        let shared = &store.shared;
        let number = shared.take_lone(100 << 10, usize::MAX, 0).expect("none is in use");
        let look = |due_ms| shared.lone_due(0, due_ms, |_| ControlFlow::Continue(u64::MAX));
        assert_eq!(look(1_000), u64::MAX);
        assert!(shared.extend_due(number, Some(500)), "another handle has touched the item");
        assert!(!shared.extend_due(number, Some(400)), "its own handle comes later");
        assert_eq!(look(0), 500);
    }
}
