// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: which segment is used for what.
//!
//! The lock is taken once for each segment that is filled or emptied, not for each item. Nothing is
//! called with it held that could wait.
//!
//! INV-OWNER: a segment that is `Open` or `Claimed` belongs to one handle, which alone writes to it or
//! empties it. INV-ORDER: a segment is in a list of [`Order`] exactly when it is `Sealed`.
//! INV-GRACE: a segment goes from `Limbo` to `Free` only when every handle has passed a quiescent
//! state since nothing led to it any more, and nobody has a value of it pinned.
//! INV-SERVICE: segments that are neither `Withdrawn` nor more than the target are what the memory
//! limit leaves beside index and reservations.

use crate::epoch::{Epoch, Epochs};
use crate::order::Order;
use crate::segment::{Segment, State};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::ops::Range;

/// The segments and what they are used for.
#[derive(Debug)]
pub(crate) struct Pool {
    segments: Box<[Segment]>,
    segment_bytes: u64,
    inner: Mutex<Inner>,
    /// Free segments, for a look without the lock.
    free: AtomicUsize,
    /// Segments in limbo: free soon.
    limbo: AtomicUsize,
    /// Segments that are not withdrawn.
    in_service: AtomicUsize,
    /// How many the memory limit has room for.
    target: AtomicUsize,
    /// Withdrawn segments that rows are about to use, in the place of others.
    swapped: AtomicUsize,
}

/// Segments in a row that are claimed to become one, for a large item. It ends with
/// [`Pool::form_span`] or [`Pool::dissolve_row`].
#[derive(Debug)]
pub(crate) struct Row {
    segments: Range<u32>,
    /// Those that have to be emptied first.
    pub(crate) occupied: Vec<u32>,
    /// Those that were withdrawn: as many others have to be, before these come into service.
    swapped: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    free: Vec<u32>,
    limbo: VecDeque<(Epoch, u32)>,
    /// Segments in limbo that were found pinned when their time had come.
    pinned: Vec<u32>,
    withdrawn: Vec<u32>,
    pub(crate) order: Order,
}

impl Pool {
    /// `total` segments, of which the last ones are withdrawn.
    pub(crate) fn new(total: usize, in_service: usize, segment_bytes: u64) -> Self {
        let state = |number| if number < in_service { State::Free } else { State::Withdrawn };
        let inner = Inner {
            // The lowest numbers first: memory is touched from its start.
            free: (0..in_service as u32).rev().collect(),
            limbo: VecDeque::with_capacity(total),
            pinned: Vec::new(),
            withdrawn: (in_service as u32..total as u32).rev().collect(),
            order: Order::new(total),
        };
        Pool {
            segment_bytes,
            segments: (0..total).map(|number| Segment::new(state(number))).collect(),
            inner: Mutex::new(inner),
            free: AtomicUsize::new(in_service),
            limbo: AtomicUsize::new(0),
            in_service: AtomicUsize::new(in_service),
            target: AtomicUsize::new(in_service),
            swapped: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn segment(&self, number: u32) -> &Segment {
        &self.segments[number as usize]
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
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

    /// Segments that will be free without further work, once everybody has let go of them.
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

    /// How many segments the memory limit has room for; more become available or have to be
    /// withdrawn.
    pub(crate) fn set_target(&self, target: usize) {
        self.target.store(target.min(self.segments.len()), Ordering::Relaxed);
    }

    /// Takes a free segment, which is `Open` then and the caller's, if so many others stay free.
    pub(crate) fn take(&self, spare: usize, epochs: &Epochs) -> Option<u32> {
        if self.free() <= spare && self.in_limbo() == 0 && !self.can_return() {
            return None;
        }
        let mut inner = self.inner.lock();
        self.collect(&mut inner, epochs);
        self.restore(&mut inner);
        if inner.free.len() <= spare {
            return None;
        }
        self.pop(&mut inner)
    }

    fn pop(&self, inner: &mut Inner) -> Option<u32> {
        let segment = inner.free.pop()?;
        self.free.store(inner.free.len(), Ordering::Relaxed);
        self.segment(segment).set_state(State::Open);
        Some(segment)
    }

    /// Puts a segment that its owner has finished with into the order.
    pub(crate) fn seal(&self, number: u32) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Open, "INV-OWNER");
        segment.set_state(State::Sealed);
        inner.order.push(number, segment.tier(), segment.class());
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

    /// Puts a claimed segment back into the order, as if it was sealed just now.
    pub(crate) fn unclaim(&self, number: u32) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Claimed, "INV-OWNER");
        segment.set_state(State::Sealed);
        inner.order.push(number, segment.tier(), segment.class());
    }

    /// Retires a claimed segment to which nothing leads any more.
    pub(crate) fn retire(&self, number: u32, epochs: &Epochs) {
        let mut inner = self.inner.lock();
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Claimed, "INV-OWNER");
        segment.set_state(State::Limbo);
        // Under the lock, so that epochs in the queue ascend.
        inner.limbo.push_back((epochs.retire(), number));
        self.count_limbo(&inner);
    }

    /// Frees segments in limbo whose time has come, and withdraws one if there are too many: `release`
    /// gives its memory back. That many free ones stay.
    pub(crate) fn tidy(&self, stay: usize, epochs: &Epochs, release: impl FnOnce(u32)) {
        if self.in_limbo() == 0 && self.surplus() == 0 && !self.can_return() {
            return;
        }
        let number = {
            let mut inner = self.inner.lock();
            self.collect(&mut inner, epochs);
            self.restore(&mut inner);
            if self.surplus() == 0 || inner.free.len() <= stay {
                return;
            }
            let Some(number) = self.pop(&mut inner) else { return };
            number
        };
        // It takes a while, and is nobody else's business.
        release(number);
        let mut inner = self.inner.lock();
        self.segment(number).set_state(State::Withdrawn);
        inner.withdrawn.push(number);
        self.in_service.fetch_sub(1, Ordering::Relaxed);
    }

    /// Claims at least `count` segments in a row that are free or sealed, at the least loss of live
    /// bytes. Large items in the row are taken whole, so it may be longer.
    pub(crate) fn claim_row(&self, count: usize, may_evict: bool, epochs: &Epochs) -> Option<Row> {
        let mut inner = self.inner.lock();
        self.collect(&mut inner, epochs);
        let segments = self.cheapest_row(count, may_evict)?;
        let mut row = Row { segments: segments.clone(), occupied: Vec::new(), swapped: Vec::new() };
        let mut number = segments.start;
        while number < segments.end {
            let segment = self.segment(number);
            match segment.state() {
                State::Sealed => {
                    inner.order.remove(number);
                    row.occupied.push(number);
                }
                State::Withdrawn => row.swapped.push(number),
                _ => {}
            }
            segment.set_state(State::Claimed);
            number += segment.span();
        }
        inner.free.retain(|number| !segments.contains(number));
        self.free.store(inner.free.len(), Ordering::Relaxed);
        inner.withdrawn.retain(|number| !segments.contains(number));
        self.swapped.fetch_add(row.swapped.len(), Ordering::Relaxed);
        Some(row)
    }

    fn cheapest_row(&self, count: usize, may_evict: bool) -> Option<Range<u32>> {
        let usable = |segment: &Segment| match segment.state() {
            // One that is withdrawn can be swapped for one that is not.
            State::Free | State::Withdrawn => true,
            State::Sealed => may_evict && segment.pins() == 0,
            _ => false,
        };
        let (mut best, mut least) = (None, u64::MAX);
        for first in 0..=self.segments.len().checked_sub(count)? {
            let (mut at, mut cost) = (first, 0);
            while at < first + count && usable(&self.segments[at]) {
                cost += match self.segments[at].state() {
                    State::Sealed => u64::from(self.segments[at].live_bytes()),
                    // Another will have to go.
                    State::Withdrawn => self.segment_bytes,
                    _ => 0,
                };
                at += self.segments[at].span() as usize;
            }
            if at >= first + count && cost < least {
                (best, least) = (Some(first as u32..at as u32), cost);
            }
        }
        best
    }

    /// Makes the first `count` segments of an emptied row one long open segment. What the row has
    /// beyond them is free.
    pub(crate) fn form_span(&self, row: &Row, count: u32) -> u32 {
        let mut inner = self.inner.lock();
        let first = row.segments.start;
        self.in_service.fetch_add(row.swapped.len(), Ordering::Relaxed);
        self.swapped.fetch_sub(row.swapped.len(), Ordering::Relaxed);
        for number in row.segments.clone() {
            self.segment(number).set_span(1);
            self.segment(number).set_state(State::Tail);
        }
        self.segment(first).set_span(count);
        self.segment(first).set_state(State::Open);
        for number in (first + count..row.segments.end).rev() {
            self.free_one(&mut inner, number);
        }
        first
    }

    /// Gives up a row: what was emptied goes to limbo, what was free is free again.
    pub(crate) fn dissolve_row(&self, row: &Row, epochs: &Epochs) {
        {
            let mut inner = self.inner.lock();
            for &number in &row.swapped {
                self.segment(number).set_state(State::Withdrawn);
                inner.withdrawn.push(number);
            }
            self.swapped.fetch_sub(row.swapped.len(), Ordering::Relaxed);
        }
        let mut number = row.segments.start;
        while number < row.segments.end {
            let span = self.segment(number).span();
            if row.occupied.contains(&number) {
                self.retire(number, epochs);
            } else if !row.swapped.contains(&number) {
                self.give_back(number);
            }
            number += span;
        }
    }

    /// Looks at the lists and the segments together, under the lock.
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
                self.free_one(inner, number);
            } else {
                at += 1;
            }
        }
        self.count_limbo(inner);
    }

    fn count_limbo(&self, inner: &Inner) {
        self.limbo.store(inner.limbo.len() + inner.pinned.len(), Ordering::Relaxed);
    }

    fn free_one(&self, inner: &mut Inner, number: u32) {
        let span = self.segment(number).span();
        // The lowest number is used first.
        for number in (number..number + span).rev() {
            self.segment(number).set_span(1);
            self.segment(number).set_state(State::Free);
            inner.free.push(number);
        }
        self.free.store(inner.free.len(), Ordering::Relaxed);
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
            self.free.store(inner.free.len(), Ordering::Relaxed);
            self.in_service.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Inner {
    /// Panics unless states and lists agree. With the number of segments in each list, checked
    /// against what the caller knows of open and claimed ones.
    pub(crate) fn check(&self, segments: &[Segment]) {
        let mut seen = vec![None; segments.len()];
        let mut enter = |number: u32, state: State| {
            let segment = &segments[number as usize];
            assert_eq!(segment.state(), state, "INV-OWNER: segment {number}");
            assert_eq!(seen[number as usize], None, "INV-OWNER: segment {number} is in two places");
            seen[number as usize] = Some(state);
        };
        self.free.iter().for_each(|&number| enter(number, State::Free));
        self.withdrawn.iter().for_each(|&number| enter(number, State::Withdrawn));
        let limbo = self.limbo.iter().map(|&(_, number)| number);
        limbo.chain(self.pinned.iter().copied()).for_each(|number| enter(number, State::Limbo));
        for (number, segment) in segments.iter().enumerate() {
            let listed = self.order.contains(number as u32);
            let state = segment.state();
            assert_eq!(listed, state == State::Sealed, "INV-ORDER: segment {number} is {state:?}");
            let elsewhere = matches!(state, State::Free | State::Withdrawn | State::Limbo);
            assert_eq!(seen[number].is_some(), elsewhere, "INV-OWNER: segment {number} is lost");
        }
    }
}
