// SPDX-License-Identifier: Apache-2.0
//! Lone segments: each has one large item, and as much memory as that needs. So the item is never copied, its memory is
//! free as soon as it is dead, and the next item of about its size uses it again as it is.
//!
//! A lone segment is made for items of a size and keeps its address space, in which smaller items have room, too.

use super::{Inner, Piece, Pool};
use crate::epoch::Epochs;
use crate::segment::State;
use crate::sync::atomic::Ordering;
use std::ops::RangeInclusive;

/// Free lone segments with memory among which the most suitable is taken.
const CHOICE: usize = 32;

/// A segment that has more memory than its item needs keeps it if it is no more than this part of it, as a divisor: its
/// next item may need it, and to give memory back and take it again costs more than to copy it.
const SLACK: u32 = 32;

/// About how many segments the mean span is of.
const MEAN_OF: usize = 8;

/// What an item needs of a lone segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// Memory.
    pub(crate) grains: u32,
    /// The most memory that it may have at once.
    pub(crate) at_once: u32,
    /// Blocks of address space.
    pub(crate) blocks: u32,
}

/// What the pool asks the heap for.
pub(crate) struct Memory<G, R> {
    /// Gives a lone segment so many blocks of address space. Called under the lock.
    pub(crate) give: G,
    /// Gives memory back to the system.
    pub(crate) release: R,
}

impl Pool {
    pub(crate) fn is_lone(&self, number: u32) -> bool {
        number >= self.lone_from
    }

    /// The number of a lone segment among these.
    pub(crate) fn lone_at(&self, number: u32) -> Option<u32> {
        number.checked_sub(self.lone_from)
    }

    /// Takes a free lone segment for the caller and makes it `Open`: one that has about the memory that is needed, or one
    /// without. `None` if there is no address space for one.
    pub(crate) fn take_lone(
        &self,
        need: Need,
        (spare, epochs): (usize, &Epochs),
        memory: Memory<impl FnOnce(u32, u32) -> bool, impl FnOnce(&Piece)>,
    ) -> Option<u32> {
        let number = {
            let mut inner = self.inner.lock();
            self.collect(&mut inner, epochs);
            let most = self.free().saturating_sub(spare).min(need.at_once as usize);
            match self.suitable(&inner, need, 0..=most as u32) {
                Some(at) => self.open_backed(&mut inner, at),
                None => {
                    let number = self.unbacked(&mut inner, need.blocks, memory.give)?;
                    self.segment(number).set_state(State::Open);
                    number
                }
            }
        };
        self.trim_slack(number, need.grains, memory.release);
        Some(number)
    }

    /// Takes a free lone segment that has at least so much memory, in grains, as [`Pool::take_lone`] does.
    pub(crate) fn take_lone_with(
        &self,
        least: u32,
        need: Need,
        (spare, epochs): (usize, &Epochs),
        release: impl FnOnce(&Piece),
    ) -> Option<u32> {
        let number = {
            let mut inner = self.inner.lock();
            self.collect(&mut inner, epochs);
            let most = self.free().saturating_sub(spare).min(need.at_once as usize);
            let at = self.suitable(&inner, need, least..=most as u32)?;
            self.open_backed(&mut inner, at)
        };
        self.trim_slack(number, need.grains, release);
        Some(number)
    }

    /// Makes the free segment at a place in the list of those with memory `Open`.
    fn open_backed(&self, inner: &mut Inner, at: usize) -> u32 {
        let number = inner.backed_lone.swap_remove(at);
        inner.lone_span -= self.segment(number).span();
        self.count_free(inner);
        self.segment(number).set_state(State::Open);
        number
    }

    /// Takes the memory from an open segment that is more than its item needs, if it is much.
    fn trim_slack(&self, number: u32, grains: u32, release: impl FnOnce(&Piece)) {
        if self.segment(number).span() > grains + grains / SLACK {
            self.trim(number, grains, release);
        }
    }

    /// Notes the span of a lone segment that was sealed.
    pub(crate) fn note_lone(&self, span: u32) {
        let mean = self.lone_mean.load(Ordering::Relaxed);
        let sum = mean * (MEAN_OF - 1) + span as usize;
        self.lone_mean.store(sum.div_ceil(MEAN_OF), Ordering::Relaxed);
    }

    /// The mean span of the latest ones, in grains; 0 before the first.
    pub(crate) fn lone_mean(&self) -> usize {
        self.lone_mean.load(Ordering::Relaxed)
    }

    /// Of the free segments with memory, the place of the one that has the most suitable amount, in grains within `spans`.
    fn suitable(&self, inner: &Inner, need: Need, spans: RangeInclusive<u32>) -> Option<usize> {
        let backed = &inner.backed_lone;
        // Of equals the one that was freed last, whose memory may still be in a cache.
        (backed.len().saturating_sub(CHOICE)..backed.len())
            .rev()
            .map(|at| (at, self.segment(backed[at])))
            .filter(|(_, segment)| {
                segment.blocks() >= need.blocks && spans.contains(&segment.span())
            })
            .min_by_key(|(_, segment)| segment.span().abs_diff(need.grains))
            .map(|(at, _)| at)
    }

    /// A lone segment without memory, with so many blocks at least.
    fn unbacked(
        &self,
        inner: &mut Inner,
        blocks: u32,
        give: impl FnOnce(u32, u32) -> bool,
    ) -> Option<u32> {
        let class = blocks.ilog2() as usize;
        if let Some(number) = inner.bare_lone[class].pop() {
            return Some(number);
        }
        let made = self.made_lone.load(Ordering::Relaxed);
        let number = self.lone_from + made as u32;
        if (number as usize) < self.segments.len() && give(made as u32, blocks) {
            self.segment(number).set_blocks(blocks);
            self.made_lone.store(made + 1, Ordering::Release);
            return Some(number);
        }
        inner.bare_lone[class..].iter_mut().find_map(Vec::pop)
    }

    /// Takes memory of a free lone segment, at most `most` grains.
    pub(super) fn cut_lone(&self, inner: &mut Inner, most: u32) -> Option<Piece> {
        // The one that has been free for longest is the least likely to be used again as it is.
        let last = inner.backed_lone.len().checked_sub(1)?;
        inner.backed_lone.swap(0, last);
        let segment = inner.backed_lone.pop()?;
        let span = self.segment(segment).span();
        inner.lone_span -= span;
        Some(Piece { segment, grains: span - most.min(span)..span })
    }

    pub(super) fn free_lone(&self, inner: &mut Inner, number: u32) {
        let segment = self.segment(number);
        let span = segment.span();
        if span == 0 {
            segment.set_state(State::Withdrawn);
            inner.bare_lone[segment.blocks().ilog2() as usize].push(number);
        } else {
            segment.set_state(State::Free);
            inner.backed_lone.push(number);
            inner.lone_span += span;
        }
    }

    /// The lone segments that were made.
    pub(crate) fn lone(&self) -> std::ops::Range<u32> {
        self.lone_from..self.lone_from + self.made_lone.load(Ordering::Acquire) as u32
    }
}
