// SPDX-License-Identifier: Apache-2.0
//! The numbers of segments: which were made so far, and how others come into service.
//!
//! There are numbers for the highest memory limit that can be set. Those of segments that were never needed stand
//! for nothing but zeros, in pages that nobody has touched.

use super::{Inner, Pool};
use crate::segment::State;
use crate::sync::atomic::Ordering;

/// Wide segments in addition to half the number of segments: for those that are open or were sealed
/// early.
const WIDE_MORE: usize = 16;

/// Wide segments for a number of others.
pub(crate) const fn wide_for(total: usize) -> usize {
    total / 2 + WIDE_MORE
}

/// Withdrawn segments that come back into service at a time, at most.
const RESTORED_MAX: usize = 256;

impl Pool {
    /// How many segments were made that may have several items, wide ones included.
    pub(crate) fn len(&self) -> usize {
        self.made() + self.made_wide.load(Ordering::Acquire)
    }

    /// The number of one of them, counted from 0 to [`Pool::len`].
    pub(crate) fn number(&self, at: usize) -> u32 {
        let made = self.made();
        (if at < made { at } else { self.narrow + at - made }) as u32
    }

    /// The numbers of all segments that were made.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let wide = self.narrow + self.made_wide.load(Ordering::Acquire);
        (0..self.made() as u32).chain(self.narrow as u32..wide as u32).chain(self.lone())
    }

    /// How many segments that are not wide were made.
    pub(super) fn made(&self) -> usize {
        self.made.load(Ordering::Acquire)
    }

    /// Lets withdrawn segments come back into service, or makes others, while the target allows it: a bounded number
    /// at a time. They are used after those that are free already, since they have no memory yet; the first of them first.
    pub(super) fn restore(&self, inner: &mut Inner) {
        let mut restored = 0;
        while self.can_return() && restored < RESTORED_MAX {
            let Some(number) = inner.withdrawn.pop().or_else(|| self.make()) else { break };
            self.segment(number).set_state(State::Free);
            inner.free.push_front(number);
            restored += 1;
            self.in_service.fetch_add(self.grains(), Ordering::Relaxed);
        }
        if restored > 0 {
            self.count_free(inner);
        }
    }

    /// Makes the next segment, which is withdrawn, if there is a number for it. Under the lock.
    pub(super) fn make(&self) -> Option<u32> {
        let number = self.made();
        if number == self.narrow {
            return None;
        }
        self.segment(number as u32).set_span(self.grains);
        self.made.store(number + 1, Ordering::Release);
        Some(number as u32)
    }

    /// The same for a wide one, without memory, of which there are as many as suit the limit.
    pub(super) fn make_wide(&self) -> Option<u32> {
        let made = self.made_wide.load(Ordering::Relaxed);
        let most = wide_for(self.total()).min(self.lone_from as usize - self.narrow);
        (made < most).then(|| {
            self.made_wide.store(made + 1, Ordering::Release);
            (self.narrow + made) as u32
        })
    }
}
