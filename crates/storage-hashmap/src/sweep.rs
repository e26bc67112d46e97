// SPDX-License-Identifier: Apache-2.0
//! The sweep: reclaims the memory of expired and cleared items, a few at a time.
//!
//! A second hand passes over the slots, chunk by chunk. Each chunk knows a moment before which none
//! of its items expires, and so does the shard: a chunk is skipped and a pass not begun before that
//! moment. Items stored together mostly expire together, so few chunks are looked at in vain.
//!
//! INV-DUE: an item expires no earlier than its chunk's moment, and that is no earlier than the
//! shard's, but for chunks that the pass under way is in or has yet to reach.

use crate::shard::Shard;
use crate::slab::{ERAS, NEVER_MS};
use clock::Ticks;
use std::sync::atomic::Ordering::Relaxed;

/// Slots and chunks that may be skipped per item of the budget, and at least.
const STEPS_PER_ITEM: usize = 4;
const STEPS_MIN: usize = 64;

/// Where the sweep is.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// The next slot of the pass under way.
    pass: Option<u32>,
    /// Whether the pass under way looks at every chunk, for cleared items.
    thorough: bool,
    /// Whether the store was cleared since the last thorough pass began.
    cleared: bool,
    /// Eras before this one of which items may still be there.
    eras: u32,
    /// No item expires before this that the pass under way will not meet.
    due_ms: u64,
    /// What other threads see of [`Sweep::due`].
    published_ms: u64,
}

impl Sweep {
    /// No items, nothing to do.
    pub(crate) fn new() -> Self {
        let never = NEVER_MS;
        Sweep {
            pass: None,
            thorough: false,
            cleared: false,
            eras: 0,
            due_ms: never,
            published_ms: never,
        }
    }

    /// The moment in milliseconds from which there is something to do; [`NEVER_MS`] for never.
    fn due(&self) -> u64 {
        if self.pass.is_some() || self.cleared { 0 } else { self.due_ms }
    }

    /// The slot before which the pass under way has been, if there is one.
    pub(crate) fn position(&self) -> Option<u32> {
        self.pass
    }

    /// The shard's moment of INV-DUE.
    pub(crate) fn due_ms(&self) -> u64 {
        self.due_ms
    }
}

impl Shard {
    /// Lowers the shard's due time to that of an item that expires at this moment.
    pub(crate) fn note_due(&mut self, expiry_ms: u64) {
        if expiry_ms < self.sweep.due_ms {
            self.sweep.due_ms = expiry_ms;
            self.publish();
        }
    }

    fn publish(&mut self) {
        let due = self.sweep.due();
        if due != self.sweep.published_ms {
            self.sweep.published_ms = due;
            self.common.dues[self.number].store(due, Relaxed);
        }
    }

    /// Makes all items unreadable.
    pub(crate) fn clear(&mut self) {
        if self.slab.live() > 0 {
            if self.sweep.eras == ERAS - 1 {
                // All other numbers may be those of items that are still there.
                self.expire(Ticks::ZERO, usize::MAX);
            }
            self.era = self.era.next();
            self.current = 0;
            self.sweep.eras += 1;
            self.sweep.cleared = true;
            self.publish();
        }
    }

    /// Goes on with the sweep, looking at `budget` items at most. Returns how many of them it
    /// looked at and how many it freed.
    pub(crate) fn expire(&mut self, now: Ticks, budget: usize) -> (usize, usize) {
        let (mut looked, mut freed) = (0, 0);
        let mut steps = budget.saturating_mul(STEPS_PER_ITEM).saturating_add(STEPS_MIN);
        let Some(mut slot) = self.begin(now) else { return (0, 0) };
        while looked < budget && steps > 0 && slot < self.slab.slots() {
            steps -= 1;
            let chunk = self.slab.chunk_of(slot);
            let first = chunk * self.slab.chunk_len();
            let state = self.slab.chunk_mut(chunk);
            if state.live == 0 {
                slot = first + self.slab.chunk_len();
                continue;
            }
            if slot == first {
                if state.due_ms > now.as_millis() && !self.sweep.thorough {
                    self.sweep.due_ms = self.sweep.due_ms.min(state.due_ms);
                    slot += self.slab.chunk_len();
                    continue;
                }
                state.due_ms = NEVER_MS;
            }
            if !self.slab.entry(slot).record.is_vacant() {
                looked += 1;
                freed += usize::from(self.look_at(slot, now));
            }
            slot += 1;
        }
        self.sweep.pass = (slot < self.slab.slots()).then_some(slot);
        if self.sweep.pass.is_none() && self.sweep.thorough && !self.sweep.cleared {
            self.sweep.eras = 0;
        }
        self.publish();
        (looked, freed)
    }

    /// The slot at which the pass continues. Begins a pass if one is due.
    fn begin(&mut self, now: Ticks) -> Option<u32> {
        if self.sweep.cleared {
            self.sweep.cleared = false;
            self.sweep.thorough = true;
        } else if let Some(slot) = self.sweep.pass {
            return Some(slot);
        } else if self.sweep.due_ms > now.as_millis() || self.sweep.due_ms == NEVER_MS {
            return None;
        } else {
            self.sweep.thorough = false;
        }
        self.sweep.due_ms = NEVER_MS;
        Some(0)
    }

    /// Frees a dead item, or takes note of when a live one expires.
    fn look_at(&mut self, slot: u32, now: Ticks) -> bool {
        if let Some(gone) = self.fate(slot, now) {
            self.remove(slot, gone);
            return true;
        }
        let expiry_ms = self.slab.entry(slot).expiry_ms;
        let chunk = self.slab.chunk_of(slot);
        let state = self.slab.chunk_mut(chunk);
        state.due_ms = state.due_ms.min(expiry_ms);
        self.sweep.due_ms = self.sweep.due_ms.min(expiry_ms);
        false
    }
}
