// SPDX-License-Identifier: Apache-2.0
//! Making room for an entry when all buckets that it may go to are full: an entry of another home
//! is shifted further away from its own. Without it, one insert in ten thousand would find the index
//! full at a load of 0.9.

use super::home::Home;
use super::slot::{DISPLACEMENT_MAX, Slot, distance};
use super::table::Probe;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Acquire;

impl Home<'_> {
    /// Frees a slot within reach of this home, if an entry of another home can be shifted. Returns
    /// whether it could. Another thread may take the slot first.
    #[cold]
    pub(super) fn make_room(&self) -> bool {
        (0..=DISPLACEMENT_MAX).any(|displacement| {
            let number = self.probe.home + distance(displacement);
            let mut slots = self.probe.bucket(displacement).slots().iter();
            slots.any(|slot| self.shift_if_foreign(number, slot))
        })
    }

    /// Shifts the entry of a slot in the bucket with that number, unless it is of this home.
    fn shift_if_foreign(&self, number: usize, slot: &AtomicU64) -> bool {
        let seen = Slot(slot.load(Acquire));
        if seen.location().is_none() {
            return true;
        }
        let home = number - distance(seen.displacement());
        if home == self.probe.home || seen.displacement() == DISPLACEMENT_MAX {
            return false;
        }
        let probe = Probe { home, pattern: seen.pattern(), ..self.probe };
        // Only tried: the holder of that lock may be waiting for ours, if it is growing the index.
        let Some(other) = Home::try_lock(probe) else { return false };
        let locked = Slot(slot.load(Acquire));
        locked.is_same_entry(seen) && !other.has_moved() && other.shift(slot, locked)
    }

    /// Moves an entry of this home to the first free slot further away. INV-OUTWARD.
    fn shift(&self, slot: &AtomicU64, entry: Slot) -> bool {
        let Some(location) = entry.location() else { return false };
        for displacement in entry.displacement() + 1..=DISPLACEMENT_MAX {
            if self.place(displacement, location, entry.frequency()) {
                self.probe.sharing.update(slot, Slot::to_empty);
                return true;
            }
        }
        false
    }
}
