// SPDX-License-Identifier: Apache-2.0
//! Lends the heap's memory as borrows. This is the only unsafe code above `heap` and `index`.
//!
//! Why a borrowed item is never freed memory:
//!
//! * INV-PUBLISHED: a location comes from a slot of the index or from a walk over a segment that the
//!   caller owns, and its item was written before it was published there.
//! * INV-TURN: between entering a turn and its next quiescent state a handle is online. A segment to
//!   which no slot points any more is used again only after every online handle has passed a
//!   quiescent state ([`crate::epoch`]), so an item found within a turn stays in place for the rest
//!   of it.
//! * A borrow of an item borrows the handle's participant, and passing a quiescent state needs an
//!   exclusive borrow of it. So the borrow checker proves that no item outlives its turn.
//! * INV-PINS: the only bytes that outlive a turn are pinned, and a pinned segment is not used again.
//! * INV-ROOM: items are written only to an open segment that belongs to the handle alone, behind all
//!   items published in it (INV-OWNER of [`crate::pool`]).

use crate::draft::Placed;
use crate::epoch::Participant;
use crate::heap::{Begun, Heap, ItemRef, NewItem};
use crate::index::Location;
use crate::item::Pin;
use crate::place::Spot;
use crate::pool::Piece;
use crate::segment::State;
use crate::shared::Shared;
use bytes::Bytes;

impl Shared {
    /// The item at a location that was found within this turn.
    #[inline]
    pub(crate) fn item<'a>(&'a self, turn: &'a Participant, location: Location) -> ItemRef<'a> {
        debug_assert!(turn.is_online(), "INV-TURN");
        debug_assert!(self.segment_of(location).state().may_be_read(), "INV-TURN: {location:?}");
        // SAFETY: INV-PUBLISHED, and INV-TURN for as long as `turn` is borrowed.
        unsafe { self.heap.item(location) }
    }

    /// Overwrites an item's value in place with one of the same length, if the item stores a version
    /// and nobody else can be reading it. Returns the new version if it did.
    pub(crate) fn overwrite(
        &self,
        turn: &mut Participant,
        location: Location,
        value: &[u8],
    ) -> Option<u64> {
        debug_assert!(turn.is_online(), "INV-TURN");
        if !self.settings.exclusive || self.segment_of(location).pins() > 0 {
            return None;
        }
        let version = self.explicit_version();
        // SAFETY: INV-PUBLISHED. There is no other handle; this one's participant is borrowed
        // exclusively, so no item is; and it is not pinned.
        unsafe { self.heap.overwrite_value(location, value, version) }.then_some(version)
    }

    /// Writes an item into room that is the caller's alone. Returns its length.
    pub(crate) fn fill(&self, spot: Spot, item: &NewItem<'_>) -> usize {
        debug_assert!(self.is_room(spot, self.heap.len_of(item)), "INV-ROOM: {spot:?}");
        // SAFETY: INV-OWNER: the segment is open and the caller's, and nothing is published from
        // `spot.offset` on, where `place` has found room for the item.
        unsafe { self.heap.write(spot.segment, spot.offset, spot.base_ms, item) }
    }

    /// Copies an item into room that is the caller's alone. Returns the copy's length.
    pub(crate) fn copy(
        &self,
        item: &ItemRef<'_>,
        expiry_ms: Option<u64>,
        version: Option<u64>,
        spot: Spot,
    ) -> usize {
        let len = || self.heap.len_of(&item.renewed(expiry_ms, version));
        debug_assert!(self.is_room(spot, len()), "INV-ROOM: {spot:?}");
        // SAFETY: as for `fill`.
        unsafe { self.heap.copy(item, expiry_ms, version, spot.segment, spot.offset, spot.base_ms) }
    }

    /// Begins an item whose value follows in pieces, in room that is the caller's alone.
    pub(crate) fn begin(&self, spot: Spot, item: &NewItem<'_>, value_len: usize) -> Begun {
        let head_len = self.heap.head_len(item, value_len);
        debug_assert!(self.is_room(spot, head_len), "INV-ROOM: {spot:?}");
        // SAFETY: as for `fill`; the caller has made room for header and key.
        unsafe { self.heap.begin((spot.segment, spot.offset), spot.base_ms, item, value_len) }
    }

    /// Writes the next bytes of a value, for which its segment has memory.
    pub(crate) fn append(&self, spot: Spot, begun: &mut Begun, piece: &[u8]) {
        let len = begun.written() + piece.len();
        debug_assert!(self.is_room(spot, len), "INV-ROOM: {spot:?}");
        // SAFETY: as for `fill`: the draft that was begun there has the segment still, and its room.
        unsafe { self.heap.append(begun, piece) }
    }

    /// The memory of the next `len` bytes of a value, for which its segment has memory.
    pub(crate) fn gap<'a>(&self, spot: Spot, begun: &'a mut Begun, len: usize) -> &'a mut [u8] {
        debug_assert!(self.is_room(spot, begun.written() + len), "INV-ROOM: {spot:?}");
        // SAFETY: as for `append`. The draft is borrowed as long as the bytes are, so it keeps its segment.
        unsafe { self.heap.gap(begun, len) }
    }

    /// Adds the first `n` bytes of the gap to the value.
    pub(crate) fn fill_gap(&self, spot: Spot, begun: &mut Begun, n: usize) {
        debug_assert!(self.is_room(spot, begun.written() + n), "INV-ROOM: {spot:?}");
        // SAFETY: as for `append`.
        unsafe { self.heap.fill_gap(begun, n) }
    }

    /// Copies what is written of an item to another segment, which has memory for it.
    pub(crate) fn carry(&self, begun: &mut Begun, to: Spot) {
        debug_assert!(self.is_room(to, begun.written()), "INV-ROOM: {to:?}");
        // SAFETY: as for `append`, and so is the other segment.
        unsafe { self.heap.carry(begun, (to.segment, to.offset)) }
    }

    /// Ends an item whose value is there. Returns its length.
    pub(crate) fn end(&self, spot: Spot, begun: &Begun) -> usize {
        debug_assert!(self.is_room(spot, begun.written()), "INV-ROOM: {spot:?}");
        // SAFETY: as for `append`.
        unsafe { self.heap.end(begun) }
    }

    /// Whether a spot is behind all items of its open segment, and in front of `len` bytes of its
    /// memory: what INV-ROOM says.
    fn is_room(&self, spot: Spot, len: usize) -> bool {
        let segment = self.pool.segment(spot.segment);
        segment.state() == State::Open
            && segment.birth() == spot.birth
            && segment.written() == spot.offset
            && spot.offset as usize + len <= segment.span() as usize * self.heap.grain_bytes()
    }

    /// The value of an item found in this turn, as bytes that outlive it.
    pub(crate) fn bytes(&self, location: Location, pin: Pin) -> Bytes {
        debug_assert_ne!(self.segment_of(location).pins(), 0, "INV-PINS");
        // SAFETY: INV-PUBLISHED, and INV-PINS: `pin` was made in the turn in which the item was found.
        unsafe { Heap::bytes(&self.heap, location, pin) }
    }

    /// Returns memory that the pool has just withdrawn to the operating system.
    pub(crate) fn release(&self, piece: &Piece) {
        let state = || self.pool.segment(piece.segment).state();
        debug_assert!(matches!(state(), State::Open | State::Withdrawn), "INV-PIECE: {piece:?}");
        // SAFETY: INV-PIECE of the pool: nobody reads it, and the pool keeps it from writers.
        unsafe { self.heap.release(piece.segment, piece.grains.clone()) }
    }
}

impl Placed {
    /// The draft's own item, which is not published.
    pub(crate) fn item(&self) -> ItemRef<'_> {
        // SAFETY: INV-PUBLISHED: the draft is the writer of the item. INV-STAYS: the segment is open and the draft's
        // (INV-OWNER) for as long as it is borrowed.
        unsafe { self.shared().heap.item(self.location()) }
    }
}
