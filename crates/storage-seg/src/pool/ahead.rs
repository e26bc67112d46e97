// SPDX-License-Identifier: Apache-2.0
//! Free segments that are held while their memory is taken from the system (`ahead.rs`).

use super::Pool;
use crate::segment::State;
use std::ops::Range;

impl Pool {
    /// Holds neighbouring free segments that would be used one after the other, if as much as `stay` stays free besides. Returns
    /// whether it did; [`Pool::give_back_all`] follows.
    pub(crate) fn hold_free(&self, numbers: Range<u32>, stay: usize) -> bool {
        let mut inner = self.inner.lock();
        if self.free() < stay + numbers.len() * self.grains() {
            return false;
        }
        let Some(last) = inner.free.iter().rposition(|&number| number == numbers.start) else {
            return false;
        };
        let places = (last + 1).saturating_sub(numbers.len())..last + 1;
        if !inner.free.range(places.clone()).rev().copied().eq(numbers.clone()) {
            return false;
        }
        inner.free.drain(places);
        self.count_free(&inner);
        numbers.for_each(|number| self.segment(number).set_state(State::Held));
        true
    }

    /// Gives them back, to be used before those with higher numbers.
    pub(crate) fn give_back_all(&self, numbers: Range<u32>) {
        let mut inner = self.inner.lock();
        numbers.clone().for_each(|number| self.segment(number).set_state(State::Free));
        let higher = inner.free.iter().rposition(|&number| number >= numbers.end);
        let place = higher.map_or(0, |higher| higher + 1);
        let mut later = inner.free.split_off(place);
        inner.free.extend(numbers.rev());
        inner.free.append(&mut later);
        self.count_free(&inner);
    }
}
