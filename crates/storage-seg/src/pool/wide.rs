// SPDX-License-Identifier: Apache-2.0
//! Wide segments: each has address space of its own for many segments' memory, and takes as much as
//! it needs. So their memory need not come from neighbouring segments, and they can have any size.
//!
//! To move memory from one segment to another, a free segment's pages are given back to the operating
//! system before the other's are touched: the limit bounds the memory in use, not the address space. A
//! free wide segment keeps its memory for its next use, as long as it is not needed elsewhere.

use super::{Inner, Pool};
use crate::epoch::Epochs;
use crate::place::Lack;
use crate::segment::State;
use crate::sync::atomic::Ordering;
use std::ops::Range;

/// Memory of a free segment that is about to be given back (INV-PIECE): all of it, or the last grains of
/// a wide one.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) segment: u32,
    pub(crate) grains: Range<u32>,
}

impl Pool {
    pub(crate) fn is_wide(&self, number: u32) -> bool {
        self.has_own_space(number) && !self.is_lone(number)
    }

    /// Whether a segment is wide or a lone one: its address space is larger than its memory.
    pub(super) fn has_own_space(&self, number: u32) -> bool {
        number as usize >= self.narrow
    }

    /// Takes a free wide segment for an item of so many `grains`: the largest that has at most
    /// `most`, if it leaves `spare` free, or else one without memory. If the largest has at most
    /// `awaited`, the call fails with the free memory that would let it take that one: waiting
    /// is better than moving memory from one segment to another for each item.
    pub(crate) fn take_wide(
        &self,
        (grains, most): (usize, usize),
        (spare, awaited): (usize, usize),
        epochs: &Epochs,
    ) -> Result<u32, Lack> {
        let mut inner = self.inner.lock();
        self.collect(&mut inner, epochs);
        let allowed = self.free().saturating_sub(spare);
        let span = |number: u32| self.segment(number).span() as usize;
        let spans = inner.backed.iter().map(|&number| span(number)).enumerate();
        let largest = spans.filter(|&(_, span)| span <= most).max_by_key(|&(_, span)| span);
        let unbacked = self.free().saturating_sub(inner.backed_span as usize);
        let is_scarce = unbacked < grains + spare;
        let number = match largest {
            Some((at, span)) if span <= allowed => inner.backed.swap_remove(at),
            Some((_, span)) if span <= awaited && is_scarce => return Err(Lack::Free(span)),
            _ => inner.bare.pop().or_else(|| self.make_wide()).ok_or(Lack::Wide)?,
        };
        inner.backed_span -= span(number) as u32;
        self.count_free(&inner);
        self.segment(number).set_state(State::Open);
        Ok(number)
    }

    /// Gives the caller's open wide segment `count` more grains, or as many as are free beyond `spare`. Returns how many
    /// are still missing.
    pub(crate) fn grow(
        &self,
        number: u32,
        count: u32,
        (spare, epochs): (usize, &Epochs),
        release: impl Fn(&Piece),
    ) -> u32 {
        let mut missing = count;
        while missing > 0 {
            let piece = {
                let mut inner = self.inner.lock();
                self.collect(&mut inner, epochs);
                let most = self.free().saturating_sub(spare).min(missing as usize) as u32;
                if most == 0 {
                    break;
                }
                let at_once = most.min(self.headroom() as u32);
                if at_once > 0 {
                    self.serve(number, at_once);
                    missing -= at_once;
                    continue;
                }
                let Some(piece) = self.cut(&mut inner, most) else { break };
                piece
            };
            release(&piece);
            let mut inner = self.inner.lock();
            self.withdraw(&mut inner, &piece);
            let more = missing.min(piece.grains.len() as u32);
            self.serve(number, more);
            missing -= more;
        }
        missing
    }

    /// Takes so much memory into service for a wide segment. Under the lock.
    fn serve(&self, number: u32, grains: u32) {
        self.in_service.fetch_add(grains as usize, Ordering::Relaxed);
        self.segment(number).set_span(self.segment(number).span() + grains);
    }

    /// Takes the memory beyond `span`, where nothing was written, from the caller's open wide segment.
    pub(crate) fn trim(&self, number: u32, span: u32, release: impl FnOnce(&Piece)) {
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Open, "INV-OWNER");
        let grains = span..segment.span();
        if grains.is_empty() {
            return;
        }
        release(&Piece { segment: number, grains: grains.clone() });
        let _inner = self.inner.lock();
        segment.set_span(span);
        self.in_service.fetch_sub(grains.len(), Ordering::Relaxed);
    }

    /// Notes the span of a wide segment with several items, all of which may have to move at once.
    pub(crate) fn note_span(&self, span: u32) {
        self.widest.fetch_max(span as usize, Ordering::Relaxed);
    }

    /// The largest span noted.
    pub(crate) fn widest(&self) -> usize {
        self.widest.load(Ordering::Relaxed)
    }

    /// Takes memory of a free segment: all of one that is neither wide nor a lone one, or at most `most` grains. Such segments
    /// come first, since a wide or lone one can use its memory again as it is. Of them it is the one that would be used last:
    /// its memory was probably never touched, while that of the next is in caches, or was just taken ahead.
    pub(super) fn cut(&self, inner: &mut Inner, most: u32) -> Option<Piece> {
        if most == 0 {
            return None;
        }
        let piece = if let Some(segment) = inner.free.pop_front() {
            Piece { segment, grains: 0..self.grains }
        } else if let Some(segment) = inner.backed.pop() {
            let span = self.segment(segment).span();
            inner.backed_span -= span;
            Piece { segment, grains: span - most.min(span)..span }
        } else {
            self.cut_lone(inner, most)?
        };
        let segment = self.segment(piece.segment);
        debug_assert_eq!(segment.state(), State::Free, "INV-PIECE");
        segment.set_state(State::Open);
        self.count_free(inner);
        Some(piece)
    }

    /// Counts memory that was given back as out of service.
    pub(super) fn withdraw(&self, inner: &mut Inner, piece: &Piece) {
        let number = piece.segment;
        let segment = self.segment(number);
        debug_assert_eq!(segment.state(), State::Open, "INV-PIECE");
        debug_assert_eq!(segment.span(), piece.grains.end, "INV-PIECE: its last memory");
        if self.has_own_space(number) {
            self.segment(number).set_span(piece.grains.start);
            self.free_own(inner, number);
            self.count_free(inner);
        } else {
            self.segment(number).set_state(State::Withdrawn);
            inner.withdrawn.push(number);
        }
        self.in_service.fetch_sub(piece.grains.len(), Ordering::Relaxed);
    }

    pub(super) fn free_own(&self, inner: &mut Inner, number: u32) {
        if self.is_lone(number) {
            return self.free_lone(inner, number);
        }
        let segment = self.segment(number);
        let span = segment.span();
        if span == 0 {
            segment.set_state(State::Withdrawn);
            inner.bare.push(number);
        } else {
            segment.set_state(State::Free);
            inner.backed.push(number);
            inner.backed_span += span;
        }
    }
}
