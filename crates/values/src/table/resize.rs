// SPDX-License-Identifier: Apache-2.0
//! Growing and shrinking by one bucket.

use crate::table::bucket::{Bucket, seconds};
use crate::table::chain::{Place, Walk};
use crate::table::{Look, Table};
use prefetch::Hint;

/// A table grows above 4.8 elements per bucket, in fifths.
const GROW_FIFTHS: usize = 24;
/// A table shrinks below 3.2 elements per bucket, in fifths. The gap to growing keeps inserts and
/// removals in turn from splitting and merging the same bucket.
const SHRINK_FIFTHS: usize = 16;
/// Free overflow buckets that are given back with one element.
const TRIM_STEPS: usize = 4;

/// The bucket that was split to make bucket `index`.
fn twin(index: usize) -> usize {
    index.checked_ilog2().map_or(0, |bits| index - (1 << bits))
}

impl<T, A> Table<T, A> {
    /// Adds a bucket if there are too many elements for the present number. Returns whether it has.
    pub(super) fn grow(&mut self, look: &impl Fn(&T) -> Look) -> bool {
        if self.len * 5 <= self.heads.len() * GROW_FIFTHS {
            return false;
        }
        let new = self.heads.len();
        let home = twin(new);
        let mask = (new + 1).next_power_of_two() - 1;
        self.heads.push(Bucket::EMPTY);

        let (mut due_stay, mut due_go) = (None, None);
        let mut walk = Walk::new(home);
        let mut goes = |element: &T, volatile: bool| {
            let look = look(element);
            let goes = look.hash as usize & mask == new;
            if let Some(due) = look.due.filter(|_| volatile).map(seconds) {
                let earliest = if goes { &mut due_go } else { &mut due_stay };
                *earliest = Some(earliest.map_or(due, |earliest: u32| earliest.min(due)));
            }
            goes
        };
        while let Some(item) = walk.take(self, &mut goes) {
            self.append(new, item);
        }
        self.bucket_mut(Place::Head(home)).set_due(due_stay);
        self.bucket_mut(Place::Head(new)).set_due(due_go);
        true
    }

    /// After a split: prefetches what `hint` tells of the elements that another split will move, after `between` more
    /// splits, and the bucket that follows theirs. Some inserts later, each split finds all that it reads in the cache.
    pub fn prefetch_split(&self, between: usize, hint: impl Fn(&T) -> Hint) {
        let bucket = |nth: usize| self.heads.get(twin(self.heads.len() + nth));
        let elements = bucket(between).into_iter().flat_map(Bucket::elements);
        elements.for_each(|element| hint(element).fetch());
        bucket(between + 1).into_iter().for_each(prefetch::read);
    }

    /// Makes the buckets for so many elements in a table that has none yet, instead of one by one as they come.
    pub(crate) fn reserve(&mut self, elements: usize) {
        let buckets = if self.len == 0 { elements * 5 / GROW_FIFTHS } else { 0 };
        while self.heads.len() < buckets {
            self.heads.push(Bucket::EMPTY);
        }
    }

    /// Removes the last bucket if there are few elements for the present number, and gives back
    /// memory of overflow buckets.
    pub(super) fn shrink(&mut self, look: &impl Fn(&T) -> Look) {
        let few = self.len * 5 < self.heads.len() * SHRINK_FIFTHS;
        if self.len == 0 || (few && self.heads.len() > 1) {
            self.merge_last();
        }
        self.trim_overflow();
        if self.overflow.is_sparse() {
            self.move_last_overflow(look);
        }
    }

    /// Moves the elements of the last bucket to its twin and removes the bucket.
    fn merge_last(&mut self) {
        let Some(last) = self.heads.len().checked_sub(1) else { return };
        let home = twin(last);
        if home != last {
            let due = self.bucket(Place::Head(last)).due();
            while let Some(item) = self.pop(last) {
                self.append(home, item);
            }
            let head = self.bucket_mut(Place::Head(home));
            let earlier = head.due().into_iter().chain(due).min();
            head.set_due(earlier);
        }
        self.drop_last();
    }

    /// Removes the last bucket, which is empty.
    pub(super) fn drop_last(&mut self) {
        let emptied = self.heads.pop();
        debug_assert!(emptied.is_some_and(|bucket| bucket.is_empty() && bucket.next().is_none()));
        let last = self.heads.len();
        self.sweep.merged(last, twin(last));
    }

    /// Gives back some of the free overflow buckets at the end.
    pub(super) fn trim_overflow(&mut self) -> bool {
        (0..TRIM_STEPS).take_while(|_| self.overflow.trim()).count() > 0
    }

    /// Moves the last overflow bucket, which is in use, to a free place, so that it can be given back.
    fn move_last_overflow(&mut self, look: &impl Fn(&T) -> Look) {
        let Some(last) = self.overflow.last() else { return };
        let Some(element) = self.overflow.get(last).get(0) else { return };
        let mut before = Place::Head(self.home(look(element).hash));
        while let Some(next) = self.bucket(before).next().filter(|&next| next != last) {
            before = Place::Overflow(next);
        }
        let place = self.overflow.acquire();
        let moved = std::mem::replace(self.overflow.get_mut(last), Bucket::EMPTY);
        *self.overflow.get_mut(place) = moved;
        self.bucket_mut(before).set_next(Some(place));
        self.overflow.release(last);
        self.overflow.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_is_the_bucket_of_one_bit_less() {
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 1000].map(twin), [0, 0, 1, 0, 1, 2, 3, 0, 488]);
    }
}
