// SPDX-License-Identifier: Apache-2.0
//! The segments of drafts, lone ones or wide ones: each has one open for itself while its value arrives. A wide one is taken
//! from the handle's open ones or from the pool, and left to the handle with the item in it.

use super::{Keeper, Open, Spot, Stream};
use crate::class::Class;
use crate::place::Lack;
use crate::segment::Segment;
use crate::shared::Shared;
use crate::store::SegStore;
use clock::Ticks;

/// The memory that a draft's segment may have at first, in segments, if a free wide one has it. More would be taken
/// from others for bytes that may never arrive. It is more in a store whose wide segments with several items are wider.
const FIRST_SEGMENTS: usize = 6;

/// Items up to this size are moved to a segment that they share with others.
const MOVED_MAX: usize = 4 << 20;

/// A segment that is open for a draft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    open: Open,
    /// Its place among the open segments of a handle; none for a lone segment.
    number: Option<usize>,
}

impl Lease {
    pub(crate) fn segment(&self) -> u32 {
        self.open.segment
    }

    /// Where the item begins.
    pub(crate) fn at(&self) -> u32 {
        self.open.at
    }

    pub(crate) fn is_lone(&self) -> bool {
        self.number.is_none()
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
    /// A segment for an item of `len` bytes, whatever memory it has: a lone one for a large item. A wide one for an item that
    /// is to stay there may be the handle's open one of its class.
    ///
    /// An item that is to move gets a wide one for itself: the last item's, usually, with its memory. To copy the item to a
    /// segment that has its memory, too, takes less time than to move memory to where the item is.
    pub(crate) fn lease(&mut self, class: Class, len: usize, now: Ticks) -> Result<Lease, Lack> {
        let at_first = self.shared.shared_max().max(FIRST_SEGMENTS * self.shared.pool.grains());
        if self.shared.is_lone(len)
            && let Some(segment) = self.shared.take_lone(len, at_first, self.shared.spare())
        {
            let open = self.begin(segment, Stream::Written.tier(), class, now);
            return Ok(Lease { open, number: None });
        }
        let mut number = self.open.number(true, Stream::Written, class);
        if self.open.open[number].is_none() && self.open.count >= self.open_max() {
            number = self.open.nearest(true, Stream::Written, class).unwrap_or(number);
        }
        let is_staying = !self.is_moving(len);
        if let Some(open) = self.open.open[number].filter(|_| is_staying) {
            let is_cleared = open.birth < self.shared.cleared_before();
            if !is_cleared && self.shared.has_room(open, len) {
                self.open.open[number] = None;
                self.open.count -= 1;
                return Ok(Lease { open, number: Some(number) });
            }
            self.seal(number);
        }
        let segment = self.shared.take_wide_up_to(at_first, len)?;
        if is_staying {
            self.compactor.remind();
        }
        let class = (number - self.open.number(true, Stream::Written, 0)) as Class;
        let open = self.begin(segment, Stream::Written.tier(), class, now);
        Ok(Lease { open, number: Some(number) })
    }

    /// Room for the item of a draft in its own segment.
    pub(crate) fn leased_spot(&self, lease: &Lease) -> Spot {
        let Open { segment, at, birth, .. } = lease.open;
        let base_ms = self.shared.pool.segment(segment).base_ms();
        Spot { segment, offset: at, birth, base_ms, keeper: Keeper::Draft }
    }

    /// Whether the item of a draft, of `len` bytes, should move from its own segment to one that it shares.
    pub(crate) fn is_better_moved(&self, lease: &Lease, len: usize) -> bool {
        lease.number.is_some() && lease.is_empty() && self.is_moving(len)
    }

    fn is_moving(&self, len: usize) -> bool {
        len <= MOVED_MAX && self.shared.is_sharing(len)
    }

    /// Makes a draft's segment, in which its item of `len` bytes is published, the handle's open one, if it has none
    /// there that takes another such item, and this one does.
    pub(crate) fn keep_leased(&mut self, lease: Lease, len: usize) {
        let Lease { open, number } = lease;
        let Some(number) = number.filter(|_| !self.shared.is_alone(open, len)) else {
            return self.count_freed(self.shared.close(open));
        };
        if let Some(present) = self.open.open[number] {
            if self.shared.has_room(present, len) {
                return self.count_freed(self.shared.close(open));
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
        *lease = self.renewed(lease, lease.segment());
        false
    }

    /// A lease without items of another segment, or the same, which is opened as that of `lease` was.
    pub(crate) fn renewed(&self, lease: &Lease, number: u32) -> Lease {
        debug_assert!(lease.is_empty());
        let segment: &Segment = self.pool.segment(lease.segment());
        let (base_ms, class, tier) = (segment.base_ms(), segment.class(), segment.tier());
        let birth = self.next_birth();
        self.pool.segment(number).open(birth, base_ms, class, tier, lease.at());
        Lease { open: Open { segment: number, birth, ..lease.open }, ..*lease }
    }

    /// Ends a lease without a handle.
    pub(crate) fn end_lease(&self, lease: &Lease) {
        let segment = self.pool.segment(lease.segment());
        if segment.written() < lease.at() {
            // A panic has ended the commit. The item may be published, so walks must meet it.
            segment.set_written(lease.at());
        }
        // No handle counts it, should its items be gone.
        let _freed = self.close(lease.open);
    }
}
