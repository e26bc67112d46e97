// SPDX-License-Identifier: Apache-2.0
//! Where a draft gets the rest of its memory from in a full store.
//!
//! A length alone takes no memory, so a draft begins in a segment with little of it. Memory that others have is given back
//! to the system for each piece that it grows by then, and its own is taken from the system page by page: that takes longer
//! than to receive the bytes. So as soon as a draft may have all its memory it is carried to a free segment that has that
//! already, which others of its size leave; what has arrived by then is copied, an eighth at the most. Its first segment
//! serves for the beginning of another.

use super::TRUST;
use crate::draft::Placed;
use crate::heap::FIRST_OFFSET;
use crate::store::SegStore;
use clock::Ticks;

/// The most bytes that are copied at once, so that no call takes long.
const CARRIED_MAX: usize = 1 << 20;

/// The most steps of making room at once: enough for a few large items to go, and not for thousands of small ones.
const ROOM_STEPS: usize = 4;

impl SegStore {
    /// Carries a draft, of which `arrived` bytes are there besides those written, to a lone segment with more memory, if
    /// there is one or room is made by one. Else it goes on where it is.
    pub(super) fn carry(&mut self, placed: &mut Placed, arrived: usize, now: Ticks) {
        let (written, len) = (placed.begun.written(), placed.begun.whole());
        let is_trusted = (written + arrived) * TRUST >= len;
        if !is_trusted || written > CARRIED_MAX || !placed.holding.lease.is_lone() {
            return;
        }
        let shared = &*self.shared;
        let grains = shared.grains(FIRST_OFFSET as usize + len);
        let span = shared.pool.segment(placed.holding.lease.segment()).span() as usize;
        // To copy a page takes about as long as to take one from the system.
        let least = (grains / 2).max(span + 2 * shared.grains(written));
        if least > grains || shared.is_roomy() || placed.holding.count(grains).is_err() {
            return;
        }
        let is_full = shared.pool.free() < grains + shared.spare();
        if is_full && shared.evicts() && shared.pool.lone_mean() >= least {
            // Without so much at once there may be enough for the next piece.
            let _ = self.make_room_within(ROOM_STEPS, grains, now);
        }
        let shared = &*self.shared;
        let Some(segment) = shared.take_lone_with(least, len, shared.spare()) else { return };
        let lease = shared.renewed(&placed.holding.lease, segment);
        shared.carry(&mut placed.begun, self.leased_spot(&lease));
        placed.location = shared.heap.location(lease.segment(), lease.at());
        placed.holding.replace(lease);
    }
}
