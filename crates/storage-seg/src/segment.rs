// SPDX-License-Identifier: Apache-2.0
//! [`Segment`]: the bookkeeping of one segment, kept apart from its memory.

use crate::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::zeroed::Zero;

/// The `due_ms` of a segment with an item that never expires.
pub(crate) const NEVER_MS: u64 = u64::MAX;

/// What a segment is used for. Changes under the pool's lock only.
///
/// ```text
///   Free ──▶ Open ──▶ Sealed ◀──▶ Claimed ──▶ Limbo ──▶ Free
///              │
///              └──▶ Free or Withdrawn, if nothing was written to it
/// ```
///
/// A withdrawn segment becomes free or open. A row claims segments that are sealed, and holds those that are free or
/// withdrawn.
/// [`State::may_become`] says it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// It has no memory: it was given back to the operating system to make room for something else, or never
    /// taken. All segments begin so, as zeros.
    Withdrawn,
    /// Its memory may be used.
    Free,
    /// One handle writes into it.
    Open,
    /// Full, or closed for another reason; in a list, for an evictor or sweeper to find.
    Sealed,
    /// One handle empties it.
    Claimed,
    /// Without items, and set aside: until its memory has been taken from the system, or until its row is ready.
    Held,
    /// No slot points to it any more; it waits until nobody can be reading it.
    Limbo,
    /// Not the first of several in a row that hold one very large item.
    Tail,
}

impl State {
    const ALL: [State; 8] = [
        State::Withdrawn,
        State::Free,
        State::Open,
        State::Sealed,
        State::Claimed,
        State::Held,
        State::Limbo,
        State::Tail,
    ];

    /// Whether a segment may go from this state to that one.
    const fn may_become(self, next: State) -> bool {
        use State::*;
        match self {
            Free => matches!(next, Open | Held),
            Open => matches!(next, Sealed | Free | Withdrawn),
            Sealed => matches!(next, Claimed),
            Claimed => matches!(next, Sealed | Limbo | Tail),
            Held => matches!(next, Free | Withdrawn | Tail),
            Limbo => matches!(next, Free),
            Withdrawn => matches!(next, Free | Open | Held),
            // `Tail` again when the row that it was in becomes another one.
            Tail => matches!(next, Tail | Open | Free),
        }
    }

    /// Whether a segment in this state may have items that are being read.
    pub(crate) const fn may_be_read(self) -> bool {
        matches!(self, State::Open | State::Sealed | State::Claimed | State::Limbo)
    }
}

/// One segment's bookkeeping: one cache line of fields that its owner changes as it fills the segment, and that are seldom
/// changed from then on; and one of fields that change with each item that is overwritten or pinned.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The number of this opening: every opening of any segment has a larger one. It is the upper
    /// part of the versions of the segment's items, and tells whether they were written before a
    /// clear.
    birth: AtomicU64,
    /// The time of opening, from which the short form of an expiry counts.
    base_ms: AtomicU64,
    /// The latest expiry in it: from then on all its items have expired. 0 while it is empty.
    due_ms: AtomicU64,
    /// Bytes written, counted from its start.
    written: AtomicU32,
    /// Items written.
    items: AtomicU32,
    /// How many grains it has: those of a segment, those of all segments of its row if it is the first, or what a wide segment has.
    span: AtomicU32,
    /// How many blocks of address space it has, as a lone segment; 0 for others.
    blocks: AtomicU32,
    state: AtomicU8,
    class: AtomicU8,
    tier: AtomicU8,
    usage: Usage,
}

/// The fields that any thread changes.
#[derive(Debug)]
#[repr(align(64))]
struct Usage {
    /// The number of items that the index points to in the upper half, their bytes in the lower half.
    /// Both change in one step, modulo 2^64, since removals may be counted before the additions.
    live: AtomicU64,
    /// The number of pinned values in the lower half, and in the upper half the span when the first
    /// was pinned, since an open segment may grow meanwhile.
    pins: AtomicU64,
}

// SAFETY: it is made of atomics, and zeros are a segment that is withdrawn.
unsafe impl Zero for Segment {
    #[cfg(loom)]
    fn zero() -> Self {
        let segment = Segment::new(State::Withdrawn);
        segment.set_span(0);
        segment
    }

    #[cfg(loom)]
    fn clear(&self) {
        unreachable!("no memory of segments is given back");
    }
}

/// A number of live items and their bytes, packed as in `Usage::live`.
const fn live(items: u64, bytes: u32) -> u64 {
    items << 32 | bytes as u64
}

impl Segment {
    #[cfg(any(test, loom))]
    pub(crate) fn new(state: State) -> Self {
        Segment {
            birth: AtomicU64::new(0),
            base_ms: AtomicU64::new(0),
            due_ms: AtomicU64::new(0),
            written: AtomicU32::new(0),
            items: AtomicU32::new(0),
            span: AtomicU32::new(1),
            blocks: AtomicU32::new(0),
            state: AtomicU8::new(state as u8),
            class: AtomicU8::new(0),
            tier: AtomicU8::new(0),
            usage: Usage { live: AtomicU64::new(0), pins: AtomicU64::new(0) },
        }
    }

    /// Opens the segment for the handle that took it from the pool.
    pub(crate) fn open(&self, birth: u64, base_ms: u64, class: u8, tier: u8, written: u32) {
        debug_assert_eq!(self.state(), State::Open, "INV-OWNER");
        debug_assert_eq!(self.pins(), 0, "INV-GRACE: used again while a value is lent");
        debug_assert!(birth > self.birth(), "every opening has a larger number");
        self.base_ms.store(base_ms, Ordering::Relaxed);
        self.due_ms.store(0, Ordering::Relaxed);
        self.written.store(written, Ordering::Relaxed);
        self.items.store(0, Ordering::Relaxed);
        self.usage.live.store(0, Ordering::Relaxed);
        self.class.store(class, Ordering::Relaxed);
        self.tier.store(tier, Ordering::Relaxed);
        // Whoever reads an item of this opening has seen its slot, which is published later.
        self.birth.store(birth, Ordering::Release);
    }

    pub(crate) fn state(&self) -> State {
        State::ALL[usize::from(self.state.load(Ordering::Acquire))]
    }

    /// For the pool, under its lock.
    pub(crate) fn set_state(&self, state: State) {
        debug_assert!(self.state().may_become(state), "INV-OWNER: {self:?} to {state:?}");
        self.state.store(state as u8, Ordering::Release);
    }

    #[inline]
    pub(crate) fn birth(&self) -> u64 {
        self.birth.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn base_ms(&self) -> u64 {
        self.base_ms.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn due_ms(&self) -> u64 {
        self.due_ms.load(Ordering::Acquire)
    }

    /// Extends the due time to an item that expires at `expiry_ms`: a new one, or one in the segment
    /// that any handle touches. Returns whether it is the first.
    #[inline]
    pub(crate) fn extend_due(&self, expiry_ms: Option<u64>) -> bool {
        let expiry_ms = expiry_ms.unwrap_or(NEVER_MS);
        let due_ms = self.due_ms.load(Ordering::Relaxed);
        if due_ms < expiry_ms {
            self.due_ms.fetch_max(expiry_ms, Ordering::Release);
        }
        due_ms == 0
    }

    #[inline]
    pub(crate) fn written(&self) -> u32 {
        self.written.load(Ordering::Acquire)
    }

    /// Makes the written bytes visible to a walk over the segment.
    #[inline]
    pub(crate) fn set_written(&self, written: u32) {
        debug_assert_eq!(self.state(), State::Open, "INV-OWNER");
        debug_assert!(written > self.written(), "INV-ROOM: items follow one after the other");
        self.written.store(written, Ordering::Release);
    }

    pub(crate) fn items(&self) -> u32 {
        self.items.load(Ordering::Relaxed)
    }

    pub(crate) fn live_items(&self) -> u32 {
        (self.usage.live.load(Ordering::Relaxed) >> 32) as u32
    }

    pub(crate) fn live_bytes(&self) -> u32 {
        self.usage.live.load(Ordering::Relaxed) as u32
    }

    /// Panics unless nobody can reach an item of it: all were counted out, and no value is pinned.
    /// True once every handle has passed a quiescent state since it was emptied, for a handle counts
    /// out what it has removed within the same turn.
    pub(crate) fn check_unreachable(&self) {
        let counted = (self.live_items(), self.live_bytes(), self.pins());
        assert_eq!(counted, (0, 0, 0), "INV-GRACE: live items, live bytes, pins");
    }

    /// Counts an item that was written and that the index points to. For the handle that writes
    /// into the segment.
    #[inline]
    pub(crate) fn add_live(&self, bytes: u32, exclusive: bool) {
        self.items.store(self.items() + 1, Ordering::Relaxed);
        self.usage.adjust(live(1, bytes), exclusive);
    }

    /// Counts out an item that was removed from the index. Returns how many are left.
    #[inline]
    pub(crate) fn remove_live(&self, bytes: u32, exclusive: bool) -> u32 {
        (self.usage.adjust(live(1, bytes).wrapping_neg(), exclusive) >> 32) as u32
    }

    pub(crate) fn pins(&self) -> u32 {
        self.usage.pins.load(Ordering::Acquire) as u32
    }

    /// Adds a pin. Returns by how much the span is larger than at earlier pins: all of it if it is the first.
    pub(crate) fn pin(&self) -> u32 {
        let span = self.span();
        let add = |pins: u64| {
            let counted = (pins >> 32).max(u64::from(span));
            counted << 32 | u64::from(pins as u32 + 1)
        };
        span.saturating_sub((self.usage.change_pins(add) >> 32) as u32)
    }

    /// Removes a pin. If it was the last, returns the sum of what [`Segment::pin`] has returned.
    pub(crate) fn unpin(&self) -> Option<u32> {
        let remove = |pins: u64| if pins as u32 == 1 { 0 } else { pins - 1 };
        let before = self.usage.change_pins(remove);
        debug_assert_ne!(before as u32, 0, "INV-PINS");
        (before as u32 == 1).then_some((before >> 32) as u32)
    }

    pub(crate) fn span(&self) -> u32 {
        self.span.load(Ordering::Relaxed)
    }

    /// For the pool, under its lock.
    pub(crate) fn set_span(&self, span: u32) {
        self.span.store(span, Ordering::Relaxed);
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// For the pool, under its lock, when a lone segment is made.
    pub(crate) fn set_blocks(&self, blocks: u32) {
        self.blocks.store(blocks, Ordering::Relaxed);
    }

    /// Whether it has only one item: as a lone segment, or because that takes more than the `grains` of a segment.
    pub(crate) fn has_one_large(&self, grains: u32) -> bool {
        self.blocks() > 0 || self.span() > grains && self.items() == 1
    }

    /// For how many grains it counts in the order. An item that is alone counts as one and a half segments of `grains` at the
    /// most; else a few of the largest would fill the share of new items. With less, many of a middle size would hardly count,
    /// and what was kept would go before them.
    pub(crate) fn weight(&self, grains: u32) -> u32 {
        if self.has_one_large(grains) { self.span().min(grains + grains / 2) } else { self.span() }
    }

    pub(crate) fn class(&self) -> u8 {
        self.class.load(Ordering::Relaxed)
    }

    /// For the handle that has claimed it.
    pub(crate) fn set_tier(&self, tier: u8) {
        self.tier.store(tier, Ordering::Relaxed);
    }

    pub(crate) fn tier(&self) -> u8 {
        self.tier.load(Ordering::Relaxed)
    }
}

impl Usage {
    /// Changes the pins. Returns their previous value.
    fn change_pins(&self, change: impl Fn(u64) -> u64) -> u64 {
        let mut before = self.pins.load(Ordering::Relaxed);
        while let Err(now) = self.pins.compare_exchange_weak(
            before,
            change(before),
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            before = now;
        }
        before
    }

    /// Returns the sum.
    #[inline]
    fn adjust(&self, by: u64, exclusive: bool) -> u64 {
        if exclusive {
            let sum = self.live.load(Ordering::Relaxed).wrapping_add(by);
            self.live.store(sum, Ordering::Relaxed);
            sum
        } else {
            self.live.fetch_add(by, Ordering::Relaxed).wrapping_add(by)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_often_has_a_cache_line_of_its_own() {
        assert_eq!((size_of::<Segment>(), align_of::<Segment>()), (128, 64));
        assert_eq!(std::mem::offset_of!(Segment, usage) % 64, 0);
    }

    #[test]
    fn a_new_use_forgets_the_last() {
        let segment = Segment::new(State::Open);
        segment.open(1, 100, 3, 0, 16);
        assert!(segment.extend_due(Some(500)));
        assert!(!segment.extend_due(Some(400)));
        segment.add_live(40, false);
        segment.add_live(30, true);
        segment.remove_live(40, false);
        assert_eq!((segment.live_items(), segment.live_bytes(), segment.due_ms()), (1, 30, 500));
        assert_eq!(segment.items(), 2);
        segment.open(2, 200, 0, 1, 16);
        assert_eq!((segment.live_items(), segment.live_bytes(), segment.due_ms()), (0, 0, 0));
        assert_eq!(segment.items(), 0);
        assert!(segment.extend_due(None));
        assert_eq!(segment.due_ms(), NEVER_MS);
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "INV-OWNER")]
    fn a_segment_that_was_not_claimed_is_not_used_again() {
        Segment::new(State::Sealed).set_state(State::Free);
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "INV-GRACE")]
    fn a_segment_with_a_value_that_is_lent_is_not_used_again() {
        let segment = Segment::new(State::Open);
        segment.pin();
        segment.open(1, 0, 0, 0, 16);
    }

    #[test]
    fn pins_tell_what_is_more_and_the_last() {
        let segment = Segment::new(State::Sealed);
        assert_eq!(segment.pin(), 1);
        assert_eq!(segment.pin(), 0);
        segment.set_span(3);
        assert_eq!(segment.pin(), 2);
        assert_eq!((segment.unpin(), segment.unpin(), segment.pins()), (None, None, 1));
        assert_eq!((segment.unpin(), segment.pins()), (Some(3), 0));
        assert_eq!(segment.pin(), 3);
    }
}
