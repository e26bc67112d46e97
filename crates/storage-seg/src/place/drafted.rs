// SPDX-License-Identifier: Apache-2.0
//! The wide segments of drafts: each has one open for itself while its value arrives, taken from the handle's open
//! ones or from the pool, and leaves it to the handle with the item in it.

use super::{Keeper, Open, Spot, Stream};
use crate::class::Class;
use crate::place::Lack;
use crate::segment::Segment;
use crate::shared::Shared;
use crate::store::SegStore;
use clock::Ticks;

/// The memory that a draft's segment may have at first, in segments, if a free wide one has it. More would be taken
/// from others for bytes that may never arrive.
const FIRST_PARTS: usize = 6;

/// Items up to this size move to the handle's open segment if much of their own would be lost.
const MOVED_MAX: usize = 4 << 20;

/// The part of a segment's memory, as a divisor, that is much.
const MUCH: usize = 4;

/// A wide segment that is open for a draft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    open: Open,
    /// Its place among the open segments of a handle.
    number: usize,
}

impl Lease {
    pub(crate) fn segment(&self) -> u32 {
        self.open.segment
    }

    /// Where the item begins.
    pub(crate) fn at(&self) -> u32 {
        self.open.at
    }

    fn is_empty(&self) -> bool {
        self.open.at == super::FIRST_OFFSET
    }

    /// Sets the end of the items.
    pub(crate) fn set_at(&mut self, at: u32) {
        self.open.at = at;
    }
}

impl SegStore {
    /// A wide segment for an item of `len` bytes, whatever memory it has: the handle's open one of its class, if it
    /// takes the item, or else another.
    pub(crate) fn lease(&mut self, class: Class, len: usize, now: Ticks) -> Result<Lease, Lack> {
        let mut number = self.open.number(true, Stream::Written, class);
        if self.open.open[number].is_none() && self.open.count >= self.open_max() {
            number = self.open.nearest(true, Stream::Written, class).unwrap_or(number);
        }
        if let Some(open) = self.open.open[number] {
            let is_cleared = open.birth < self.shared.cleared_before();
            if !is_cleared && self.shared.has_room(open, len) {
                self.open.open[number] = None;
                self.open.count -= 1;
                return Ok(Lease { open, number });
            }
            self.seal(number);
        }
        let segment = self.shared.take_wide_up_to(FIRST_PARTS, len)?;
        self.compactor.remind();
        let class = (number - self.open.number(true, Stream::Written, 0)) as Class;
        Ok(Lease { open: self.begin(segment, Stream::Written.tier(), class, now), number })
    }

    /// Room for the item of a draft in its own segment.
    pub(crate) fn leased_spot(&self, lease: &Lease) -> Spot {
        let Open { segment, at, birth, .. } = lease.open;
        let base_ms = self.shared.pool.segment(segment).base_ms();
        Spot { segment, offset: at, birth, base_ms, keeper: Keeper::Draft }
    }

    /// Whether an item of `len` bytes should move to the handle's open segment, since it would be alone in its own,
    /// and much of the memory lost.
    pub(crate) fn is_better_moved(&self, lease: &Lease, len: usize) -> bool {
        let Some(open) = self.open.open[lease.number] else { return false };
        let lost = self.shared.lost_behind(lease.at() as usize + len);
        let is_lossy = lost * MUCH > len;
        lease.is_empty() && is_lossy && len <= MOVED_MAX && self.shared.has_room(open, len)
    }

    /// Makes a draft's segment, in which its item of `len` bytes is published, the handle's open one, if it has none
    /// there that takes another such item, and this one does.
    pub(crate) fn keep_leased(&mut self, lease: Lease, len: usize) {
        let Lease { open, number } = lease;
        if self.shared.is_alone(open, len) {
            return self.shared.close(open);
        }
        if let Some(present) = self.open.open[number] {
            if self.shared.has_room(present, len) {
                return self.shared.close(open);
            }
            self.seal(number);
        }
        self.open.open[number] = Some(open);
        self.open.count += 1;
        // It may be due, or cleared.
        self.open.looked = None;
    }
}

impl Shared {
    /// Whether the items of the segment so far were cleared. If there are none it is as if opened now.
    pub(crate) fn is_lease_cleared(&self, lease: &mut Lease) -> bool {
        if lease.open.birth >= self.cleared_before() {
            return false;
        }
        if !lease.is_empty() {
            return true;
        }
        let segment: &Segment = self.pool.segment(lease.segment());
        lease.open.birth = self.next_birth();
        let (base_ms, class, tier) = (segment.base_ms(), segment.class(), segment.tier());
        segment.open(lease.open.birth, base_ms, class, tier, lease.at());
        false
    }

    /// Ends a lease without a handle.
    pub(crate) fn end_lease(&self, lease: &Lease) {
        let segment = self.pool.segment(lease.segment());
        if segment.written() < lease.at() {
            // A panic has ended the commit. The item may be published, so walks must meet it.
            segment.set_written(lease.at());
        }
        self.close(lease.open);
    }
}
