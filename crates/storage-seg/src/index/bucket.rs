// SPDX-License-Identifier: Apache-2.0
//! [`Bucket`]: a cache line of slots, and how a slot is changed ([`Sharing`]).

use super::entry::Entry;
use super::slot::{Location, Pattern, Slot};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::zeroed::Zero;

/// Slots of a bucket.
#[cfg(not(loom))]
pub(super) const BUCKET_SLOTS: usize = 8;
#[cfg(loom)]
pub(super) const BUCKET_SLOTS: usize = 2;

/// A cache line of slots.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Bucket {
    slots: [AtomicU64; BUCKET_SLOTS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Bucket>() == 64, "a bucket is a cache line");

/// Whether other threads change slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// One thread does everything: no locks, and no read-modify-write instructions.
    Exclusive,
    /// Any thread may read, and write under a home's lock.
    Shared,
}

impl Sharing {
    /// Replaces the content that was seen in a slot, unless it has changed. Returns whether it did.
    #[inline]
    pub(super) fn exchange(self, slot: &AtomicU64, seen: Slot, next: Slot) -> bool {
        debug_assert_eq!(seen.meta(), next.meta(), "INV-META");
        match self {
            Sharing::Exclusive => {
                let is_same = slot.load(Relaxed) == seen.0;
                if is_same {
                    slot.store(next.0, Release);
                }
                is_same
            }
            Sharing::Shared => slot.compare_exchange(seen.0, next.0, Release, Relaxed).is_ok(),
        }
    }

    /// Changes a slot by a function, and retries if another thread changes it meanwhile.
    #[inline]
    pub(super) fn update(self, slot: &AtomicU64, change: impl Fn(Slot) -> Slot) {
        loop {
            let seen = Slot(slot.load(Relaxed));
            if self.exchange(slot, seen, change(seen)) {
                return;
            }
        }
    }
}

// SAFETY: it is made of atomics, and any 64 bits are a slot: zeros are a free one.
unsafe impl Zero for Bucket {
    #[cfg(loom)]
    fn zero() -> Self {
        Bucket { slots: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    #[cfg(loom)]
    fn clear(&self) {
        self.slots.iter().for_each(|slot| slot.store(0, Relaxed));
    }
}

impl Bucket {
    #[inline]
    pub(super) fn slots(&self) -> &[AtomicU64; BUCKET_SLOTS] {
        &self.slots
    }

    /// The slot with the bucket's meta bits.
    #[inline]
    pub(super) fn first(&self) -> &AtomicU64 {
        &self.slots[0]
    }

    /// The largest displacement that entries of this home may have.
    #[inline]
    pub(super) fn reach(&self) -> usize {
        Slot(self.first().load(Acquire)).reach()
    }

    /// The first entry that matches the pattern and passes the test.
    #[inline(always)]
    pub(super) fn find(
        &self,
        pattern: Pattern,
        sharing: Sharing,
        mut is_wanted: impl FnMut(Location) -> bool,
    ) -> Option<Entry<'_>> {
        let mut matches = self.matches(pattern);
        while matches != 0 {
            let slot = &self.slots[matches.trailing_zeros() as usize % BUCKET_SLOTS];
            // The slot may have changed since it matched, and its content must be acquired. An
            // entry that was there throughout is still there.
            let seen = Slot(slot.load(Acquire));
            if seen.matches(pattern)
                && let Some(location) = seen.location()
                && is_wanted(location)
            {
                return Some(Entry { slot, seen, location, sharing });
            }
            matches &= matches - 1;
        }
        None
    }

    /// One bit for each slot that matches the pattern.
    #[inline(always)]
    fn matches(&self, pattern: Pattern) -> u32 {
        self.slots_that(|slot| slot.matches(pattern))
    }

    /// One bit for each slot that passes the test. Without branches, as which slot does is not predictable.
    #[inline(always)]
    fn slots_that(&self, is_such: impl Fn(Slot) -> bool) -> u32 {
        let mut such = 0;
        for (number, slot) in self.slots.iter().enumerate() {
            such |= u32::from(is_such(Slot(slot.load(Relaxed)))) << number;
        }
        such
    }

    /// Whether an entry is here that has this displacement.
    #[inline]
    pub(super) fn has_displaced(&self, displacement: usize) -> bool {
        let is_such = |slot: Slot| slot.is_entry() & (slot.displacement() == displacement);
        self.slots_that(is_such) != 0
    }

    /// The frequency of a ghost that matches the pattern.
    #[inline]
    pub(super) fn ghost(&self, pattern: Pattern) -> Option<u8> {
        let mut matches = self.matches(pattern);
        while matches != 0 {
            let seen =
                Slot(self.slots[matches.trailing_zeros() as usize % BUCKET_SLOTS].load(Relaxed));
            if seen.is_ghost() && seen.matches(pattern) {
                return Some(seen.frequency());
            }
            matches &= matches - 1;
        }
        None
    }

    /// The free slot whose use for a new entry loses least: a ghost that matches the pattern, or an
    /// empty slot, or else the ghost with the lowest frequency.
    #[inline]
    pub(super) fn vacancy(&self, pattern: Pattern) -> Option<(&AtomicU64, Slot)> {
        // Most buckets that are asked are full, and that is told at a third of the cost.
        while self.slots_that(|slot| !slot.is_entry()) != 0 {
            // The lowest loss and, in the low bits, the number of its slot.
            let mut best = u32::MAX;
            for (number, slot) in self.slots.iter().enumerate() {
                let loss = Slot(slot.load(Relaxed)).loss(pattern);
                best = best.min(loss << 8 | number as u32);
            }
            let slot = &self.slots[best as usize % BUCKET_SLOTS];
            let seen = Slot(slot.load(Relaxed));
            if seen.location().is_none() {
                return Some((slot, seen));
            }
        }
        None
    }

    /// The locations of all entries, of whatever home.
    pub(super) fn locations(&self) -> impl Iterator<Item = Location> {
        self.slots.iter().filter_map(|slot| Slot(slot.load(Relaxed)).location())
    }

    /// Ghosts in the bucket.
    pub(super) fn ghosts(&self) -> usize {
        self.slots_that(Slot::is_ghost).count_ones() as usize
    }
}
