// SPDX-License-Identifier: Apache-2.0
//! [`Home`]: the right to change the entries of one home bucket.

use super::bucket::Sharing;
use super::entry::Entry;
use super::slot::{DISPLACEMENT_MAX, LOCK, Location, REACH_STEP, Slot, reach_level};
use super::table::Probe;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::pause;

/// There is no free slot within reach of the home. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The lock of a hash's home, released on drop. Only a marker in an exclusive index.
///
/// It excludes the other writers of all hashes of that home, but no reader. A thread must not take
/// a second one: two threads could wait for each other's.
#[derive(Debug)]
#[must_use = "the lock is given back on drop"]
pub(crate) struct Home<'a> {
    pub(super) probe: Probe<'a>,
}

impl<'a> Home<'a> {
    /// Waits for the lock. The caller makes sure afterwards that the home has not moved meanwhile.
    #[inline]
    pub(super) fn lock(probe: Probe<'a>) -> Self {
        if probe.sharing == Sharing::Shared {
            let first = probe.bucket(0).first();
            let mut spins = 0;
            // INV-LOCK: acquired here, released in `drop`.
            while Slot(first.fetch_or(LOCK, Acquire)).is_locked() {
                while Slot(first.load(Relaxed)).is_locked() {
                    pause(spins);
                    spins += 1;
                }
            }
        }
        Home { probe }
    }

    /// The lock, if nobody has it.
    pub(super) fn try_lock(probe: Probe<'a>) -> Option<Self> {
        let first = probe.bucket(0).first();
        let is_taken = match probe.sharing {
            Sharing::Exclusive => false,
            Sharing::Shared => Slot(first.fetch_or(LOCK, Acquire)).is_locked(),
        };
        // Not `then_some`: a `Home` that is made is dropped, and gives the lock back.
        (!is_taken).then(|| Home { probe })
    }

    /// Whether the home is in the next generation. It cannot move while locked.
    #[inline]
    pub(super) fn has_moved(&self) -> bool {
        self.probe.home < self.probe.table.moved()
    }

    /// The entry of this hash whose location passes the test.
    #[inline]
    pub(crate) fn find(&self, is_key: impl FnMut(Location) -> bool) -> Option<Entry<'a>> {
        self.probe.find(is_key)
    }

    /// The entry of this hash with that very location.
    #[inline]
    pub(crate) fn find_location(&self, location: Location) -> Option<Entry<'a>> {
        self.probe.find(|other| other == location)
    }

    /// All entries of this home, whatever their hash.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        self.probe.entries()
    }

    /// The entry with the lowest frequency of those that share this home, whatever their hash.
    pub(crate) fn weakest(&self) -> Option<Entry<'a>> {
        self.probe.entries().min_by_key(Entry::frequency)
    }

    /// Points the slot of an entry of this home to another location: to the next copy of its item,
    /// or to the item of this hash in place of the [`Home::weakest`] one. Readers see either the
    /// old or the new location.
    ///
    /// A displaced entry is drawn in, if there is a free slot closer to its home. Without this,
    /// turnover would in time displace all entries far from home.
    #[inline]
    pub(crate) fn replace(&self, entry: &Entry<'_>, location: Location, frequency: u8) {
        self.assert_ours(entry);
        if entry.seen.displacement() > 0 && self.draw_in(entry, location, frequency) {
            return;
        }
        let pattern = self.probe.pattern.displaced(entry.seen.displacement());
        let next = Slot::entry(pattern, frequency, location);
        self.probe.sharing.update(entry.slot, |seen| {
            debug_assert_eq!(seen.location(), Some(entry.location), "INV-LOCK");
            seen.with_entry(next)
        });
    }

    /// Writes an entry's successor into a free slot closer to home, if there is one. INV-INWARD.
    #[inline(never)]
    fn draw_in(&self, entry: &Entry<'_>, location: Location, frequency: u8) -> bool {
        let mut closer = 0..entry.seen.displacement();
        if !closer.any(|place| self.place(place, location, frequency)) {
            return false;
        }
        if self.probe.sharing == Sharing::Shared {
            self.probe.table.count_drawn();
        }
        self.probe.sharing.update(entry.slot, Slot::to_empty);
        self.lower_reach();
        true
    }

    /// Removes an entry of this home. With `ghost` its frequency stays in the slot until the slot
    /// is used.
    #[inline]
    pub(crate) fn remove(&self, entry: &Entry<'_>, ghost: bool) {
        self.assert_ours(entry);
        self.probe.sharing.update(entry.slot, |seen| {
            debug_assert_eq!(seen.location(), Some(entry.location), "INV-LOCK");
            if ghost { seen.to_ghost() } else { seen.to_empty() }
        });
        if entry.seen.displacement() > 0 {
            self.lower_reach();
        }
    }

    /// Adds an entry for this hash, for which there is none.
    #[inline]
    pub(crate) fn insert(&self, location: Location, frequency: u8) -> Result<(), Full> {
        loop {
            if (0..=DISPLACEMENT_MAX).any(|place| self.place(place, location, frequency)) {
                return Ok(());
            }
            if !self.make_room() {
                self.lower_reach();
                return Err(Full);
            }
        }
    }

    /// Adds an entry for this hash with that displacement, if there is a free slot.
    #[inline]
    pub(super) fn place(&self, displacement: usize, location: Location, frequency: u8) -> bool {
        let pattern = self.probe.pattern.displaced(displacement);
        let entry = Slot::entry(pattern, frequency, location);
        // Writers of other homes may take the same slot first: then look again.
        while let Some((slot, seen)) = self.probe.bucket(displacement).vacancy(pattern) {
            self.raise_reach(displacement);
            if self.probe.sharing.exchange(slot, seen, seen.with_entry(entry)) {
                return true;
            }
        }
        false
    }

    /// The frequency in a ghost that matches this hash, if there is one.
    ///
    /// A ghost has only 12 bits of the hash, so it may be that of another key of this home.
    pub(crate) fn ghost(&self) -> Option<u8> {
        // The reach covers entries, not ghosts. If none is displaced now, one may have been not
        // long ago.
        let reach = self.probe.bucket(0).reach().max(1);
        (0..=reach).find_map(|displacement| {
            let pattern = self.probe.pattern.displaced(displacement);
            self.probe.bucket(displacement).ghost(pattern)
        })
    }

    /// Raises the reach before an entry is written at that displacement. INV-REACH.
    #[inline]
    fn raise_reach(&self, displacement: usize) {
        if displacement > 0 {
            let level = Slot(self.probe.bucket(0).first().load(Relaxed)).reach_level();
            self.set_reach(level, level.max(reach_level(displacement)));
        }
    }

    /// Lowers the reach after an entry was removed. INV-REACH.
    #[inline(never)]
    fn lower_reach(&self) {
        let first = Slot(self.probe.bucket(0).first().load(Relaxed));
        let is_used = |&place: &usize| self.probe.bucket(place).has_displaced(place);
        let furthest = (1..=first.reach()).rev().find(is_used).unwrap_or(0);
        self.set_reach(first.reach_level(), reach_level(furthest));
    }

    /// Sets the reach by adding the difference. The reach changes only under the lock, so this is
    /// exact whatever else happens to the slot.
    fn set_reach(&self, level: u64, next: u64) {
        let first = self.probe.bucket(0).first();
        let difference = next.wrapping_sub(level).wrapping_mul(REACH_STEP);
        match self.probe.sharing {
            _ if difference == 0 => {}
            Sharing::Exclusive => {
                first.store(first.load(Relaxed).wrapping_add(difference), Release);
            }
            Sharing::Shared => {
                first.fetch_add(difference, Release);
            }
        }
    }

    /// Asserts that this home's lock protects the entry.
    fn assert_ours(&self, entry: &Entry<'_>) {
        debug_assert!(
            {
                let bucket = self.probe.bucket(entry.seen.displacement());
                bucket.slots().iter().any(|slot| std::ptr::eq(slot, entry.slot))
            },
            "an entry of another home"
        );
    }
}

impl Drop for Home<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.probe.sharing == Sharing::Shared {
            self.probe.bucket(0).first().fetch_and(!LOCK, Release);
        }
    }
}
