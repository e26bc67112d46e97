// SPDX-License-Identifier: Apache-2.0
//! Rows: neighbouring segments that become one long one, for an item that is too large for a wide
//! segment.

use super::Pool;
use crate::epoch::Epochs;
use crate::segment::{Segment, State};
use crate::sync::atomic::Ordering;
use std::ops::Range;

/// Neighbouring segments that are claimed to become one, for a large item. Ended by
/// [`Pool::form_span`] or [`Pool::dissolve_row`].
#[derive(Debug)]
pub(crate) struct Row {
    segments: Range<u32>,
    /// Those that have to be emptied first.
    pub(crate) occupied: Vec<u32>,
    /// Those that were withdrawn: as many others have to be withdrawn before these come into
    /// service.
    swapped: Vec<u32>,
}

impl Pool {
    /// Claims at least `count` neighbouring segments that are free or sealed, with the fewest live
    /// bytes. A large item at the row's end is included whole, so the row may be longer.
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
                    segment.set_state(State::Claimed);
                }
                state => {
                    if state == State::Withdrawn {
                        row.swapped.push(number);
                    }
                    segment.set_state(State::Held);
                }
            }
            number += segment.span() / self.grains;
        }
        inner.free.retain(|number| !segments.contains(number));
        self.count_free(&inner);
        inner.withdrawn.retain(|number| !segments.contains(number));
        self.swapped.fetch_add(self.swapped_by(&row), Ordering::Relaxed);
        Some(row)
    }

    fn cheapest_row(&self, count: usize, may_evict: bool) -> Option<Range<u32>> {
        let usable = |segment: &Segment| match segment.state() {
            // A withdrawn segment can be swapped for one in service.
            State::Free | State::Withdrawn => true,
            State::Sealed => may_evict && segment.pins() == 0,
            _ => false,
        };
        let (mut best, mut least) = (None, u64::MAX);
        for first in 0..=self.made().checked_sub(count)? {
            let (mut at, mut cost) = (first, 0);
            while at < first + count && usable(&self.segments[at]) {
                cost += match self.segments[at].state() {
                    State::Sealed => u64::from(self.segments[at].live_bytes()),
                    // Another one will have to be withdrawn.
                    State::Withdrawn => u64::from(self.grains) * self.grain_bytes,
                    _ => 0,
                };
                at += (self.segments[at].span() / self.grains) as usize;
            }
            if at >= first + count && cost < least {
                (best, least) = (Some(first as u32..at as u32), cost);
            }
        }
        best
    }

    /// Makes the first `count` segments of an emptied row one long open segment. The rest of the
    /// row becomes free.
    pub(crate) fn form_span(&self, row: &Row, count: u32) -> u32 {
        let mut inner = self.inner.lock();
        let first = row.segments.start;
        if cfg!(debug_assertions) {
            row.occupied.iter().for_each(|&number| self.segment(number).check_unreachable());
        }
        self.in_service.fetch_add(self.swapped_by(row), Ordering::Relaxed);
        self.swapped.fetch_sub(self.swapped_by(row), Ordering::Relaxed);
        for number in row.segments.clone() {
            self.segment(number).set_span(self.grains);
            self.segment(number).set_state(State::Tail);
        }
        self.segment(first).set_span(count * self.grains);
        self.segment(first).set_state(State::Open);
        for number in (first + count..row.segments.end).rev() {
            self.free_one(&mut inner, number);
        }
        first
    }

    /// Gives up a row: its emptied segments go to limbo, the others become free again.
    pub(crate) fn dissolve_row(&self, row: &Row, epochs: &Epochs) {
        {
            let mut inner = self.inner.lock();
            for &number in &row.swapped {
                self.segment(number).set_state(State::Withdrawn);
                inner.withdrawn.push(number);
            }
            self.swapped.fetch_sub(self.swapped_by(row), Ordering::Relaxed);
        }
        let mut number = row.segments.start;
        while number < row.segments.end {
            let count = self.segment(number).span() / self.grains;
            if row.occupied.contains(&number) {
                self.retire(number, epochs);
            } else if !row.swapped.contains(&number) {
                self.give_back(number);
            }
            number += count;
        }
    }

    fn swapped_by(&self, row: &Row) -> usize {
        row.swapped.len() * self.grains()
    }
}
