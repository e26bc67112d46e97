// SPDX-License-Identifier: Apache-2.0
//! Values that arrive in pieces: large ones are written to their final place as they arrive, and published when they
//! are whole, as any item is.
//!
//! A draft's segment takes memory as the bytes arrive (`receive/carry.rs` tells from where). Items that do not go to wide
//! segments, and any while all wide ones are in use, are collected outside of the store and then put.

use crate::draft::{Holding, Kind, Placed, SegDraft};
use crate::heap::NewItem;
use crate::place::Lease;
use crate::store::SegStore;
use crate::sync::Arc;
use crate::write::{Filled, expiry_ms};
use clock::Ticks;
use storage::{Announced, Collected, Condition, Receive, StoreError, Version};

mod carry;

/// Bytes of an item from which on the rest of it is given a place.
const PLACED_MIN: usize = 4 << 10;

/// How many times as large as what has arrived of an item its memory may be.
const TRUST: usize = 8;

impl Receive for SegStore {
    type Draft = SegDraft;

    fn admits(&self, bytes: u64) -> bool {
        self.shared.admits(bytes)
    }

    fn begin(&mut self, announced: Announced<'_>, now: Ticks) -> Result<SegDraft, StoreError> {
        let item = NewItem {
            key: announced.key,
            value: [b"", b"", b""],
            flags: announced.flags,
            expiry_ms: expiry_ms(announced.expiry),
            version: None,
            state: None,
        };
        self.check_lengths(announced.key.len(), announced.value_len)?;
        self.turn.enter();
        Ok(SegDraft(match self.begin_placed(&item, announced.value_len, now)? {
            Some(placed) => Kind::Placed(placed),
            None => Kind::Collected(Collected::new(announced)),
        }))
    }

    fn append(&mut self, draft: &mut SegDraft, piece: &[u8], now: Ticks) -> Result<(), StoreError> {
        match &mut draft.0 {
            Kind::Collected(collected) => {
                collected.append(piece);
                Ok(())
            }
            Kind::Placed(placed) => self.append_placed(placed, piece, now),
        }
    }

    fn place<'a>(
        &'a mut self,
        draft: &'a mut SegDraft,
        most: usize,
        now: Ticks,
    ) -> Option<&'a mut [u8]> {
        match &mut draft.0 {
            Kind::Collected(_) => None,
            Kind::Placed(placed) => self.place_of(placed, most, now),
        }
    }

    fn placed(&mut self, draft: &mut SegDraft, n: usize) {
        match &mut draft.0 {
            Kind::Collected(_) => assert_eq!(n, 0, "bytes without a place"),
            Kind::Placed(Placed { holding, begun, .. }) => {
                self.shared.fill_gap(self.leased_spot(&holding.lease), begun, n);
            }
        }
    }

    fn commit(
        &mut self,
        draft: SegDraft,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        match draft.0 {
            Kind::Collected(collected) => self.put_item(&collected.put(condition), now),
            Kind::Placed(placed) => self.commit_placed(placed, condition, now),
        }
    }
}

impl SegStore {
    /// Begins an item with a value of `value_len` bytes in its final place, if it goes to a lone or wide segment and there
    /// is one. The value in `item` is not looked at.
    fn begin_placed(
        &mut self,
        item: &NewItem<'_>,
        value_len: usize,
        now: Ticks,
    ) -> Result<Option<Placed>, StoreError> {
        let len = self.shared.heap.len_with(item, value_len);
        if !self.shared.is_lone(len) && self.is_wide(len) != Ok(true) {
            return Ok(None);
        }
        if self.shared.left_for_drafts() == 0 {
            return Err(StoreError::OutOfMemory);
        }
        self.upkeep(now);
        let class = self.shared.class_of(item.expiry_ms, now);
        let Ok(lease) = self.lease(class, len, now) else { return Ok(None) };
        let mut holding = Holding::new(Arc::clone(&self.shared), lease, len);
        self.provide(&mut holding, self.shared.heap.head_len(item, value_len), now)?;
        let shared = &*self.shared;
        let begun = shared.begin(self.leased_spot(&lease), item, value_len);
        let location = shared.heap.location(lease.segment(), lease.at());
        let (hash, expiry_ms) = (shared.hash(item.key), item.expiry_ms);
        Ok(Some(Placed { holding, begun, location, hash, expiry_ms }))
    }

    fn append_placed(
        &mut self,
        placed: &mut Placed,
        piece: &[u8],
        now: Ticks,
    ) -> Result<(), StoreError> {
        assert!(placed.holding.is_in(&self.shared), "a draft of another store");
        let missing = placed.begun.missing();
        assert!(piece.len() <= missing, "{} bytes of {missing} that are missing", piece.len());
        if piece.is_empty() {
            return Ok(());
        }
        self.turn.enter();
        self.upkeep(now);
        self.carry(placed, piece.len(), now);
        let Placed { holding, begun, .. } = placed;
        self.provide(holding, begun.written() + piece.len(), now)?;
        self.shared.append(self.leased_spot(&holding.lease), begun, piece);
        Ok(())
    }

    /// A place for the next bytes, of which there are no more than [`TRUST`] allows: a length alone takes no memory.
    fn place_of<'a>(
        &'a mut self,
        placed: &'a mut Placed,
        most: usize,
        now: Ticks,
    ) -> Option<&'a mut [u8]> {
        assert!(placed.holding.is_in(&self.shared), "a draft of another store");
        let written = placed.begun.written();
        let len = most.min(placed.begun.missing()).min((TRUST - 1) * written);
        if len == 0 || written < PLACED_MIN {
            return None;
        }
        self.turn.enter();
        self.upkeep(now);
        self.carry(placed, 0, now);
        let Placed { holding, begun, .. } = placed;
        self.provide(holding, written + len, now).ok()?;
        Some(self.shared.gap(self.leased_spot(&holding.lease), begun, len))
    }

    /// Gives a draft's segment memory for the first `len` bytes of its item, emptying segments if it must.
    fn provide(&mut self, holding: &mut Holding, len: usize, now: Ticks) -> Result<(), StoreError> {
        let grains = self.shared.grains(holding.lease.at() as usize + len);
        holding.count(grains)?;
        loop {
            match self.shared.extend(holding.lease.segment(), grains) {
                0 => return Ok(()),
                missing => self.make_room(missing, now)?,
            }
        }
    }

    fn commit_placed(
        &mut self,
        mut placed: Placed,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        assert!(placed.holding.is_in(&self.shared), "a draft of another store");
        self.turn.enter();
        let len = self.shared.end(self.leased_spot(&placed.holding.lease), &placed.begun);
        if self.is_better_moved(&placed.holding.lease, len) {
            self.check_condition(placed.hash, placed.item().key(), condition, now)?;
            if let Ok(moved) = self.write_again(&placed, now) {
                return self.publish_if(placed.hash, placed.item().key(), moved, condition, now);
            }
        }
        if self.shared.is_lease_cleared(&mut placed.holding.lease) {
            let again = self.write_again(&placed, now)?;
            return self.publish_if(placed.hash, placed.item().key(), again, condition, now);
        }
        let lease = placed.holding.lease;
        let filled = self.filled(self.leased_spot(&lease), len, placed.expiry_ms, None);
        // Whatever happens from here on, memory is not taken from an item that may be published.
        placed.holding.lease.set_at(lease.at() + len as u32);
        let published = self.publish_if(placed.hash, placed.item().key(), filled, condition, now);
        match published {
            Ok(_) => {
                let lease: Lease = placed.holding.leave();
                self.keep_leased(lease, len);
            }
            Err(_) => placed.holding.lease.set_at(lease.at()),
        }
        published
    }

    /// Writes the item of a draft elsewhere. It is not one that is alone because of its size, so this does not take
    /// long.
    fn write_again(&mut self, placed: &Placed, now: Ticks) -> Result<Filled, StoreError> {
        let item = placed.item().renewed(placed.expiry_ms, None);
        let spot = self.room(self.shared.heap.len_of(&item), item.expiry_ms, now)?;
        Ok(self.fill(spot, &item))
    }
}
