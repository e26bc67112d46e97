// SPDX-License-Identifier: Apache-2.0
//! [`ByAge`]: the items of a group that are not acknowledged, in the order in which they are claimed.
//!
//! Those that were given back come first, in the order in which that happened, and then the others, by the time
//! at which they were given to their consumers. A group has this order from the first `XREADGROUP` with `CLAIM` that
//! reads it on, so that others do not pay for it.
//!
//! INV-AGE: it has each pending item of its group once.

use super::StreamId;
use super::chunks::{Elements, SortedChunks};
use super::pending::Pending;

/// The place of an item in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Age {
    /// A consumer has it.
    is_owned: bool,
    /// Since when its consumer has it, in unix milliseconds; or its number among those that were given back.
    since: u64,
    pub(super) id: StreamId,
}

impl Age {
    pub(super) fn of(pending: &Pending) -> Self {
        let is_owned = pending.consumer != Pending::NOBODY;
        Age { is_owned, since: pending.since(), id: pending.id }
    }

    /// From when on the item can be claimed, in unix milliseconds.
    pub(super) fn claimable_ms(self, idle_ms_min: u64) -> u64 {
        if self.is_owned { self.since.saturating_add(idle_ms_min) } else { 0 }
    }
}

/// Pending items by their age.
#[derive(Clone, Debug)]
pub(super) struct ByAge(SortedChunks<Age>);

impl ByAge {
    pub(super) fn new<'a>(pending: impl Iterator<Item = &'a Pending>) -> Self {
        let mut ages: Vec<Age> = pending.map(Age::of).collect();
        ages.sort_unstable();
        let mut chunks = SortedChunks::new();
        ages.into_iter().for_each(|age| chunks.push(age));
        ByAge(chunks)
    }

    pub(super) fn insert(&mut self, pending: &Pending) {
        let age = Age::of(pending);
        self.0.insert(self.0.partition(|other| *other < age), age);
    }

    pub(super) fn remove(&mut self, pending: &Pending) {
        let age = Age::of(pending);
        let place = self.0.partition(|other| *other < age);
        if self.0.get(place) == Some(&age) {
            self.0.remove(place);
        }
    }

    pub(super) fn iter(&self) -> Elements<'_, Age> {
        self.0.iter()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    /// Removes some of them; how many. `None`: there are no more.
    pub(super) fn free_some(&mut self) -> Option<usize> {
        self.0.take_chunk().map(|chunk| chunk.len())
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check<'a>(&self, pending: impl Iterator<Item = &'a Pending>) {
        self.0.check(|one, next| one < next);
        assert!(ByAge::new(pending).iter().eq(self.iter()), "INV-AGE");
    }
}
