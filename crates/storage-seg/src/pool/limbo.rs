// SPDX-License-Identifier: Apache-2.0
//! [`Limbo`]: segments to which no slot points any more, until nobody reads them.

use super::{Inner, Pool};
use crate::epoch::{Epoch, Epochs};
use crate::segment::State;
use crate::sync::atomic::Ordering;
use std::collections::VecDeque;

/// The most pinned segments that one call looks at. There may be very many, of clients that do not read, and all workers
/// need the lock under which they are looked at.
const PINNED_LOOK: usize = 64;

/// Segments that were retired.
#[derive(Debug)]
pub(super) struct Limbo {
    /// Those whose grace period has not passed, in the order of their epochs.
    waiting: VecDeque<(Epoch, u32)>,
    waiting_span: u32,
    /// Those that were still pinned after it, and the one among them that is looked at next.
    pinned: Vec<u32>,
    pinned_span: u32,
    next: usize,
}

impl Limbo {
    /// None, with room for so many.
    pub(super) fn new(room: usize) -> Self {
        Limbo {
            waiting: VecDeque::with_capacity(room),
            waiting_span: 0,
            pinned: Vec::new(),
            pinned_span: 0,
            next: 0,
        }
    }

    /// All of them.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().map(|&(_, number)| number).chain(self.pinned.iter().copied())
    }

    /// The memory of all of them, as it was counted, in grains.
    pub(super) fn span(&self) -> u32 {
        self.waiting_span + self.pinned_span
    }

    /// Takes a pinned segment that is pinned no more, among the next ones.
    fn take_unpinned(&mut self, looks: &mut usize, is_pinned: impl Fn(u32) -> bool) -> Option<u32> {
        while *looks > 0 && !self.pinned.is_empty() {
            *looks -= 1;
            if self.next >= self.pinned.len() {
                self.next = 0;
            }
            if !is_pinned(self.pinned[self.next]) {
                return Some(self.pinned.swap_remove(self.next));
            }
            self.next += 1;
        }
        None
    }
}

impl Pool {
    /// Retires a claimed segment to which no slot points any more.
    pub(crate) fn retire(&self, number: u32, epochs: &Epochs) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Claimed, "INV-OWNER");
        debug_assert!(!inner.order.contains(number), "INV-ORDER");
        segment.set_state(State::Limbo);
        // Under the lock, so that epochs in the queue ascend.
        inner.limbo.waiting.push_back((epochs.retire(), number));
        inner.limbo.waiting_span += segment.span();
        self.count_limbo(&inner);
    }

    /// Frees segments whose grace period has passed and that are not pinned.
    pub(super) fn collect(&self, inner: &mut Inner, epochs: &Epochs) {
        while let Some(&(epoch, number)) = inner.limbo.waiting.front() {
            if !epochs.has_passed(epoch) {
                break;
            }
            let span = self.segment(number).span();
            inner.limbo.waiting.pop_front();
            inner.limbo.waiting_span -= span;
            // Nobody can reach it any more, so a pin count that is zero stays zero.
            if self.segment(number).pins() > 0 {
                inner.limbo.pinned.push(number);
                inner.limbo.pinned_span += span;
            } else {
                self.free_unreachable(inner, number);
            }
        }
        let mut looks = inner.limbo.pinned.len().min(PINNED_LOOK);
        let is_pinned = |number| self.segment(number).pins() > 0;
        while let Some(number) = inner.limbo.take_unpinned(&mut looks, is_pinned) {
            inner.limbo.pinned_span -= self.segment(number).span();
            self.free_unreachable(inner, number);
        }
        self.count_limbo(inner);
    }

    fn free_unreachable(&self, inner: &mut Inner, number: u32) {
        if cfg!(debug_assertions) {
            self.segment(number).check_unreachable();
        }
        self.free_one(inner, number);
    }

    fn count_limbo(&self, inner: &Inner) {
        self.limbo.store(inner.limbo.span() as usize, Ordering::Relaxed);
        self.waiting.store(inner.limbo.waiting_span as usize, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn of_many_that_are_pinned_some_are_looked_at_and_in_the_end_all() {
        let mut limbo = Limbo::new(0);
        limbo.pinned = (0..200).collect();
        let mut taken = Vec::new();
        for _ in 0..4 {
            let mut looks = PINNED_LOOK;
            while let Some(number) = limbo.take_unpinned(&mut looks, |number| number % 3 > 0) {
                taken.push(number);
            }
            assert_eq!(looks, 0);
        }
        taken.sort_unstable();
        assert!(taken.into_iter().eq((0..200).step_by(3)));
        let mut looks = 10;
        limbo.pinned.clear();
        assert_eq!(limbo.take_unpinned(&mut looks, |_| false), None);
    }
}
