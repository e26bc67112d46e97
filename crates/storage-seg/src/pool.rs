// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: the use of each segment, free, open, sealed, claimed, in limbo or withdrawn.
//!
//! The lock is taken once for each segment that is filled or emptied, not for each item. Its holder
//! calls nothing that could wait.
//!
//! INV-OWNER: a segment that is `Open` or `Claimed` belongs to one handle, which alone writes to it or
//! empties it. INV-ORDER: a segment is in a list of [`Order`] exactly when it is `Sealed`. INV-GRACE:
//! a segment goes from `Limbo` to `Free` only when every handle has passed a quiescent state since the
//! last slot that pointed to it was removed, and no value of it is pinned. INV-SERVICE: `in_service`
//! is the memory of all segments that are not `Withdrawn`, counted in segments. The target is how much
//! of it the memory limit leaves beside index and reservations. INV-PIECE: memory in a [`Piece`] is
//! that of a free segment: nobody reads or writes it.
//!
//! A *wide* segment has address space for many segments' memory and takes as much of it as it needs,
//! from those that are free (`pool/wide.rs`). A very large item takes a row of neighbouring segments
//! (`pool/rows.rs`). All counts of segments count memory in units of one segment's size.

use crate::epoch::{Epoch, Epochs};
use crate::order::Order;
use crate::segment::{Segment, State};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;

mod check;
mod rows;
mod wide;

pub(crate) use rows::Row;
pub(crate) use wide::Piece;

/// The segments and what they are used for.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The wide ones come after the others.
    segments: Box<[Segment]>,
    /// How many are not wide.
    total: usize,
    segment_bytes: u64,
    inner: Mutex<Inner>,
    /// The number of free segments, readable without the lock.
    free: AtomicUsize,
    /// The number of segments in limbo, which will soon be free.
    limbo: AtomicUsize,
    /// Segments that are not withdrawn.
    in_service: AtomicUsize,
    /// How many the memory limit has room for.
    target: AtomicUsize,
    /// Withdrawn segments that rows are about to use in exchange for others.
    swapped: AtomicUsize,
    /// The largest span that a wide segment with several items was sealed with.
    widest: AtomicUsize,
}

#[derive(Debug)]
pub(crate) struct Inner {
    free: Vec<u32>,
    /// Free wide segments that have memory.
    backed: Vec<u32>,
    backed_span: u32,
    /// Wide segments that have none.
    bare: Vec<u32>,
    limbo: VecDeque<(Epoch, u32)>,
    limbo_span: u32,
    /// Segments in limbo that were still pinned after their grace period.
    pinned: Vec<u32>,
    withdrawn: Vec<u32>,
    pub(crate) order: Order,
}

/// Counts of segments that belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) in_service: usize,
    pub(crate) free: usize,
    /// Segments that have to be withdrawn, free or not.
    pub(crate) surplus: usize,
}

impl Pool {
    /// `total` segments, of which the last ones are withdrawn, and `wide` ones without memory.
    pub(crate) fn new(total: usize, in_service: usize, segment_bytes: u64, wide: usize) -> Self {
        let state = |number| if number < in_service { State::Free } else { State::Withdrawn };
        let all = total + wide;
        let inner = Inner {
            // The lowest numbers first: memory is touched from its start.
            free: (0..in_service as u32).rev().collect(),
            backed: Vec::with_capacity(wide),
            backed_span: 0,
            bare: (total as u32..all as u32).rev().collect(),
            limbo: VecDeque::with_capacity(all),
            limbo_span: 0,
            pinned: Vec::new(),
            withdrawn: (in_service as u32..total as u32).rev().collect(),
            order: Order::new(all),
        };
        let segments: Box<[Segment]> = (0..all).map(|number| Segment::new(state(number))).collect();
        segments[total..].iter().for_each(|wide| wide.set_span(0));
        Pool {
            segment_bytes,
            total,
            segments,
            inner: Mutex::new(inner),
            free: AtomicUsize::new(in_service),
            limbo: AtomicUsize::new(0),
            in_service: AtomicUsize::new(in_service),
            target: AtomicUsize::new(in_service),
            swapped: AtomicUsize::new(0),
            widest: AtomicUsize::new(1),
        }
    }

    #[inline]
    pub(crate) fn segment(&self, number: u32) -> &Segment {
        &self.segments[number as usize]
    }

    /// All segments, the wide ones last.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many segments are not wide. Their sizes add up to all the memory.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Free segments that need not be withdrawn. Negative when more must go than are free.
    #[inline]
    pub(crate) fn available(&self) -> isize {
        self.free() as isize - self.surplus() as isize
    }

    /// Segments that have to be withdrawn, free or not.
    #[inline]
    pub(crate) fn surplus(&self) -> usize {
        self.in_service().saturating_sub(self.target())
    }

    /// Segments that will be free without further work, once every handle has passed a quiescent
    /// state.
    pub(crate) fn in_limbo(&self) -> usize {
        self.limbo.load(Ordering::Relaxed)
    }

    pub(crate) fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    pub(crate) fn in_service(&self) -> usize {
        self.in_service.load(Ordering::Relaxed)
    }

    /// How many segments may be in service.
    pub(crate) fn target(&self) -> usize {
        let swapped = self.swapped.load(Ordering::Relaxed);
        self.target.load(Ordering::Relaxed).saturating_sub(swapped)
    }

    /// Sets how many segments the memory limit has room for; more become available or have to be
    /// withdrawn.
    ///
    /// `reckon` is called with the lock held: of two threads, the one that comes later knows what the
    /// earlier one has changed, and no segment comes into service for a target of before.
    pub(crate) fn set_target(&self, reckon: impl FnOnce() -> usize) {
        let _inner = self.inner.lock();
        self.target.store(reckon().min(self.total), Ordering::Relaxed);
    }

    /// The segments in service, those of them that are free, and how many have to be withdrawn, all at
    /// one moment.
    pub(crate) fn counts(&self) -> Counts {
        let _inner = self.inner.lock();
        Counts { in_service: self.in_service(), free: self.free(), surplus: self.surplus() }
    }

    /// Takes a free segment for the caller and makes it `Open`, if as many others as asked for stay
    /// free. If only wide ones are free, `release` gives the memory of one back.
    pub(crate) fn take(
        &self,
        spare: usize,
        epochs: &Epochs,
        release: impl Fn(&Piece),
    ) -> Option<u32> {
        if self.free() <= spare && self.in_limbo() == 0 && !self.can_return() {
            return None;
        }
        loop {
            let piece = {
                let mut inner = self.inner.lock();
                self.collect(&mut inner, epochs);
                self.restore(&mut inner);
                if self.free() <= spare {
                    return None;
                }
                if let Some(segment) = inner.free.pop() {
                    debug_assert_eq!(self.segment(segment).state(), State::Free, "INV-OWNER");
                    self.count_free(&inner);
                    self.segment(segment).set_state(State::Open);
                    return Some(segment);
                }
                self.cut(&mut inner, 1)?
            };
            release(&piece);
            self.withdraw(&mut self.inner.lock(), &piece);
        }
    }

    /// Seals a segment that its owner has finished with: puts it into the order.
    pub(crate) fn seal(&self, number: u32) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Open, "INV-OWNER");
        segment.set_state(State::Sealed);
        inner.order.push(number, segment.tier(), segment.class(), segment.weight());
    }

    /// Gives back a segment to which nothing was written.
    pub(crate) fn give_back(&self, number: u32) {
        let mut inner = self.inner.lock();
        self.free_one(&mut inner, number);
    }

    /// Claims a segment for emptying, if it is still sealed.
    pub(crate) fn claim(&self, number: u32) -> bool {
        self.claim_by(|_| Some(number)).is_some()
    }

    /// Claims the segment that `choose` picks from the order, if it is sealed.
    pub(crate) fn claim_by(&self, choose: impl FnOnce(&Order) -> Option<u32>) -> Option<u32> {
        let mut inner = self.inner.lock();
        let number = choose(&inner.order)?;
        let segment = self.segment(number);
        if segment.state() != State::Sealed {
            return None;
        }
        inner.order.remove(number);
        segment.set_state(State::Claimed);
        Some(number)
    }

    /// Puts a claimed segment back into the order, as if sealed just now.
    pub(crate) fn unclaim(&self, number: u32) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Claimed, "INV-OWNER");
        segment.set_state(State::Sealed);
        inner.order.push(number, segment.tier(), segment.class(), segment.weight());
    }

    /// Retires a claimed segment to which no slot points any more.
    pub(crate) fn retire(&self, number: u32, epochs: &Epochs) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Claimed, "INV-OWNER");
        debug_assert!(!inner.order.contains(number), "INV-ORDER");
        segment.set_state(State::Limbo);
        // Under the lock, so that epochs in the queue ascend.
        inner.limbo.push_back((epochs.retire(), number));
        inner.limbo_span += segment.span();
        self.count_limbo(&inner);
    }

    /// Frees segments in limbo whose grace period has passed, and withdraws one if there are too many:
    /// `release` gives its memory back. At least `stay` free segments stay.
    pub(crate) fn tidy(&self, stay: usize, epochs: &Epochs, release: impl FnOnce(&Piece)) {
        if self.in_limbo() == 0 && self.surplus() == 0 && !self.can_return() {
            return;
        }
        let piece = {
            let mut inner = self.inner.lock();
            self.collect(&mut inner, epochs);
            self.restore(&mut inner);
            if self.surplus() == 0 || self.free() <= stay {
                return;
            }
            let Some(piece) = self.cut(&mut inner, 1) else { return };
            piece
        };
        // Called without the lock, since it takes a while.
        release(&piece);
        self.withdraw(&mut self.inner.lock(), &piece);
    }

    /// Calls `look` with the lists and the segments, under the lock.
    pub(crate) fn inspect<R>(&self, look: impl FnOnce(&Inner) -> R) -> R {
        look(&self.inner.lock())
    }

    fn collect(&self, inner: &mut Inner, epochs: &Epochs) {
        while let Some(&(epoch, number)) = inner.limbo.front() {
            if !epochs.has_passed(epoch) {
                break;
            }
            inner.limbo.pop_front();
            inner.pinned.push(number);
        }
        // Nobody can reach these any more, so a pin count that is zero stays zero.
        let mut at = 0;
        while at < inner.pinned.len() {
            if self.segment(inner.pinned[at]).pins() == 0 {
                let number = inner.pinned.swap_remove(at);
                if cfg!(debug_assertions) {
                    self.segment(number).check_unreachable();
                }
                inner.limbo_span -= self.segment(number).span();
                self.free_one(inner, number);
            } else {
                at += 1;
            }
        }
        self.count_limbo(inner);
    }

    fn count_limbo(&self, inner: &Inner) {
        self.limbo.store(inner.limbo_span as usize, Ordering::Relaxed);
    }

    fn count_free(&self, inner: &Inner) {
        self.free.store(inner.free.len() + inner.backed_span as usize, Ordering::Relaxed);
    }

    fn free_one(&self, inner: &mut Inner, number: u32) {
        if self.is_wide(number) {
            self.free_wide(inner, number);
            return self.count_free(inner);
        }
        let span = self.segment(number).span();
        // The lowest number is used first.
        for number in (number..number + span).rev() {
            self.segment(number).set_span(1);
            self.segment(number).set_state(State::Free);
            inner.free.push(number);
        }
        self.count_free(inner);
    }

    /// Whether withdrawn segments may be used again.
    fn can_return(&self) -> bool {
        self.in_service() < self.target()
    }

    fn restore(&self, inner: &mut Inner) {
        while self.can_return() {
            let Some(number) = inner.withdrawn.pop() else { break };
            self.segment(number).set_state(State::Free);
            inner.free.push(number);
            self.count_free(inner);
            self.in_service.fetch_add(1, Ordering::Relaxed);
        }
    }
}
