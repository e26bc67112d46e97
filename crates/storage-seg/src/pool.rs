// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: the use of each segment, free, open, sealed, claimed, held, in limbo or withdrawn.
//!
//! The lock is taken once for each segment that is filled or emptied, not for each item. Its holder
//! calls nothing that could wait.
//!
//! INV-OWNER: a segment that is `Open`, `Claimed` or `Held` belongs to one thread, which alone writes to it or
//! empties it. INV-ORDER: a segment is in a list of [`Order`] exactly when it is `Sealed`. INV-GRACE:
//! a segment goes from `Limbo` to `Free` only when every handle has passed a quiescent state since the
//! last slot that pointed to it was removed, and no value of it is pinned. INV-SERVICE: `in_service`
//! is the memory of all segments that are not `Withdrawn`. The target is how much
//! of it the memory limit leaves beside index and reservations. INV-PIECE: memory in a [`Piece`] is
//! that of a free segment: nobody reads or writes it.
//!
//! There are numbers for more segments than the memory limit has room for, so that it can be raised. A segment
//! is made when it is first needed, in ascending order; walks visit those that were made.
//!
//! A *wide* segment has address space for many segments' memory and takes as much of it as it needs,
//! from those that are free (`pool/wide.rs`). A very large item takes a row of neighbouring segments
//! (`pool/rows.rs`). A *lone segment* has one large item, and address space of its size (`pool/lone.rs`).
//!
//! All counts of memory are in grains, the pages of the system: what is free, in service, to be left free or missing, and
//! a segment's span. Numbers of segments are told by their names.

use crate::epoch::Epochs;
use crate::order::Order;
use crate::segment::{Segment, State};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::zeroed::Zeroed;
use std::collections::VecDeque;
use std::io;

#[cfg(not(loom))]
mod ahead;
mod check;
mod dead;
mod limbo;
mod lone;
mod made;
mod rows;
mod wide;

use limbo::Limbo;
pub(crate) use lone::{Memory, Need};
pub(crate) use made::wide_for;
pub(crate) use rows::Row;
pub(crate) use wide::Piece;

/// The segments and what they are used for.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The wide ones come after the others, and behind them the lone ones.
    segments: Zeroed<Segment>,
    /// How many numbers are not those of wide or lone segments.
    narrow: usize,
    lone_from: u32,
    /// How many grains a segment has that is not wide.
    grains: u32,
    grain_bytes: u64,
    inner: Mutex<Inner>,
    /// The segments that the memory limit is divided into.
    total: AtomicUsize,
    /// How many were made.
    made: AtomicUsize,
    made_wide: AtomicUsize,
    made_lone: AtomicUsize,
    /// The memory of free segments, readable without the lock.
    free: AtomicUsize,
    /// That of segments in limbo, which will soon be free.
    limbo: AtomicUsize,
    /// Those of them whose grace period has not passed.
    waiting: AtomicUsize,
    /// That of all segments that are not withdrawn.
    in_service: AtomicUsize,
    /// How much the memory limit has room for.
    target: AtomicUsize,
    /// Withdrawn segments that rows are about to use in exchange for others.
    swapped: AtomicUsize,
    /// The largest span that a wide segment with several items was sealed with.
    widest: AtomicUsize,
    /// The mean span of the latest lone segments.
    lone_mean: AtomicUsize,
}

#[derive(Debug)]
pub(crate) struct Inner {
    /// Those that are used next are at the end.
    free: VecDeque<u32>,
    /// Free wide segments that have memory.
    backed: Vec<u32>,
    backed_span: u32,
    /// Wide segments that have none any more.
    bare: Vec<u32>,
    /// The same of lone segments. Those without memory are apart by their address space, as a power of two.
    backed_lone: Vec<u32>,
    lone_span: u32,
    bare_lone: Vec<Vec<u32>>,
    limbo: Limbo,
    withdrawn: Vec<u32>,
    pub(crate) order: Order,
}

/// The sizes of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// The segments that the memory limit is divided into.
    pub(crate) total: usize,
    /// How many of them are in service at first.
    pub(crate) in_service: usize,
    /// The most segments there may ever be, and wide and lone ones besides.
    pub(crate) most: usize,
    pub(crate) most_wide: usize,
    pub(crate) most_lone: usize,
    pub(crate) segment_bytes: u64,
    /// Bytes of a grain; a segment has a whole number of them.
    pub(crate) grain_bytes: u64,
}

/// Counts of memory, in grains, that belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) in_service: usize,
    pub(crate) free: usize,
    /// What has to be withdrawn, free or not.
    pub(crate) surplus: usize,
}

impl Pool {
    /// Segments of which the last ones are withdrawn, and wide ones without memory.
    ///
    /// # Errors
    ///
    /// When the operating system has no memory for their bookkeeping.
    pub(crate) fn new(sizes: Sizes) -> io::Result<Self> {
        let Sizes { total, in_service, most, most_wide, most_lone, .. } = sizes;
        let wide = wide_for(total).min(most_wide);
        let grains = (sizes.segment_bytes / sizes.grain_bytes) as u32;
        let served = in_service * grains as usize;
        let pool = Pool {
            segments: Zeroed::new(most + most_wide + most_lone)?,
            narrow: most,
            lone_from: (most + most_wide) as u32,
            grains,
            grain_bytes: sizes.grain_bytes,
            inner: Mutex::new(Inner::new((most, most_wide), total, wide)),
            total: AtomicUsize::new(total),
            made: AtomicUsize::new(0),
            made_wide: AtomicUsize::new(0),
            made_lone: AtomicUsize::new(0),
            free: AtomicUsize::new(0),
            limbo: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            in_service: AtomicUsize::new(served),
            target: AtomicUsize::new(served),
            swapped: AtomicUsize::new(0),
            widest: AtomicUsize::new(grains as usize),
            lone_mean: AtomicUsize::new(0),
        };
        {
            let mut inner = pool.inner.lock();
            // The lowest numbers first: memory is touched from its start.
            inner.withdrawn = std::iter::from_fn(|| pool.make()).take(total).collect();
            inner.withdrawn.reverse();
            let free = inner.withdrawn.split_off(total - in_service);
            free.iter().for_each(|&number| pool.segment(number).set_state(State::Free));
            inner.free = free.into();
            pool.count_free(&inner);
        }
        Ok(pool)
    }

    #[inline]
    pub(crate) fn segment(&self, number: u32) -> &Segment {
        &self.segments[number as usize]
    }

    /// The segments by their numbers, also those that were not made.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many segments the memory limit is divided into. Their sizes add up to all the memory.
    pub(crate) fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    /// Sets how many segments the memory limit is divided into. [`Pool::set_target`] follows.
    pub(crate) fn set_total(&self, total: usize) {
        debug_assert!(
            total <= self.narrow,
            "there are {} numbers for {total} segments",
            self.narrow
        );
        self.total.store(total, Ordering::Relaxed);
    }

    /// How many grains a segment has that is not wide.
    #[inline]
    pub(crate) fn grains(&self) -> usize {
        self.grains as usize
    }

    /// Free memory that need not be withdrawn. Negative when more must go than is free.
    #[inline]
    pub(crate) fn available(&self) -> isize {
        self.free() as isize - self.surplus() as isize
    }

    /// Memory that has to be withdrawn, free or not.
    #[inline]
    pub(crate) fn surplus(&self) -> usize {
        self.in_service().saturating_sub(self.target())
    }

    /// Memory that will be free without further work, once every handle has passed a quiescent
    /// state.
    pub(crate) fn in_limbo(&self) -> usize {
        self.limbo.load(Ordering::Relaxed)
    }

    /// What of it waits until every handle has passed a quiescent state, and not for pins, as far as is known.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Memory for new items: that of free segments, and what may come into service.
    #[inline]
    pub(crate) fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed) + self.headroom()
    }

    /// Memory that may come into service.
    #[inline]
    pub(crate) fn headroom(&self) -> usize {
        self.target().saturating_sub(self.in_service())
    }

    pub(crate) fn in_service(&self) -> usize {
        self.in_service.load(Ordering::Relaxed)
    }

    /// How much memory may be in service.
    pub(crate) fn target(&self) -> usize {
        let swapped = self.swapped.load(Ordering::Relaxed);
        self.target.load(Ordering::Relaxed).saturating_sub(swapped)
    }

    /// Sets for how many segments the memory limit has room; more memory becomes available or has to be
    /// withdrawn.
    ///
    /// `reckon` is called with the lock held: of two threads, the one that comes later knows what the
    /// earlier one has changed, and no memory comes into service for a target of before.
    pub(crate) fn set_target(&self, reckon: impl FnOnce() -> usize) {
        let _inner = self.inner.lock();
        self.target.store(reckon().min(self.total()) * self.grains(), Ordering::Relaxed);
    }

    /// The memory in service, what of it is free, and how much has to be withdrawn, all at one moment.
    pub(crate) fn counts(&self) -> Counts {
        let _inner = self.inner.lock();
        let free = self.free.load(Ordering::Relaxed);
        Counts { in_service: self.in_service(), free, surplus: self.surplus() }
    }

    /// Takes a free segment for the caller and makes it `Open`, if as much as asked for stays free. If only wide ones are
    /// free, `release` gives their memory back.
    pub(crate) fn take(
        &self,
        spare: usize,
        epochs: &Epochs,
        release: impl Fn(&Piece),
    ) -> Option<u32> {
        let least = spare + self.grains();
        if self.free() < least && self.in_limbo() == 0 {
            return None;
        }
        loop {
            let piece = {
                let mut inner = self.inner.lock();
                self.collect(&mut inner, epochs);
                self.restore(&mut inner);
                if self.free() < least {
                    return None;
                }
                if let Some(segment) = inner.free.pop_back() {
                    debug_assert_eq!(self.segment(segment).state(), State::Free, "INV-OWNER");
                    self.count_free(&inner);
                    self.segment(segment).set_state(State::Open);
                    return Some(segment);
                }
                self.cut(&mut inner, self.grains)?
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
        inner.order.push(number, segment.tier(), segment.class(), segment.weight(self.grains));
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
        inner.order.push(number, segment.tier(), segment.class(), segment.weight(self.grains));
    }

    /// Frees segments in limbo whose grace period has passed, and withdraws one if there is too much memory:
    /// `release` gives its memory back. As much as `stay` stays free.
    pub(crate) fn tidy(&self, stay: usize, epochs: &Epochs, release: impl FnOnce(&Piece)) {
        if self.in_limbo() == 0 && self.surplus() == 0 && !self.can_return() {
            return;
        }
        let piece = {
            let mut inner = self.inner.lock();
            self.collect(&mut inner, epochs);
            self.restore(&mut inner);
            let most = self.surplus().min(self.free().saturating_sub(stay));
            let Some(piece) = self.cut(&mut inner, most as u32) else { return };
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

    fn count_free(&self, inner: &Inner) {
        let backed = (inner.backed_span + inner.lone_span) as usize;
        let free = inner.free.len() * self.grains() + backed;
        self.free.store(free, Ordering::Relaxed);
    }

    fn free_one(&self, inner: &mut Inner, number: u32) {
        if self.has_own_space(number) {
            self.free_own(inner, number);
            return self.count_free(inner);
        }
        let count = self.segment(number).span() / self.grains;
        // The lowest number is used first.
        for number in (number..number + count).rev() {
            self.segment(number).set_span(self.grains);
            self.segment(number).set_state(State::Free);
            inner.free.push_back(number);
        }
        self.count_free(inner);
    }

    /// Whether a withdrawn segment may be used again.
    fn can_return(&self) -> bool {
        self.headroom() >= self.grains()
    }
}

impl Inner {
    /// No segments, with room in the lists for so many. There are numbers for `narrow` segments, and then for so many wide
    /// ones.
    fn new((narrow, most_wide): (usize, usize), total: usize, wide: usize) -> Self {
        Inner {
            free: VecDeque::new(),
            backed: Vec::with_capacity(wide),
            backed_span: 0,
            bare: Vec::with_capacity(wide),
            backed_lone: Vec::new(),
            lone_span: 0,
            bare_lone: vec![Vec::new(); u32::BITS as usize],
            limbo: Limbo::new(total + wide),
            withdrawn: Vec::new(),
            order: Order::new(narrow as u32, (narrow + most_wide) as u32),
        }
    }
}
