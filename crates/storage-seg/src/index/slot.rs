// SPDX-License-Identifier: Apache-2.0
//! [`Slot`]: an entry of the index in 64 bits, and [`Location`], what it leads to.
//!
//! ```text
//!  63   60 59        48 47           44 43        36 35                          0
//! ┌───────┬────────────┬───────────────┬────────────┬─────────────────────────────┐
//! │ meta  │    tag     │ displacement  │ frequency  │          location           │
//! └───────┴────────────┴───────────────┴────────────┴─────────────────────────────┘
//! ```
//!
//! * *location*: where the item is, in units of the heap. 0: the slot is free.
//! * *frequency*: how often the item was read, as the owner counts.
//! * *displacement*: the number of this bucket among those that the key may be in. 0 is the home
//!   bucket, the others follow at growing distances ([`distance`]).
//! * *tag*: the low 12 bits of the key's hash. (The high bits chose the home bucket.)
//! * *meta*: about the bucket, not about the entry, and only in the bucket's first slot: bit 63 is
//!   the lock of the bucket as a home, bits 60 to 62 its reach, as an index into [`REACH`].
//!
//! A free slot with other bits set is a *ghost*: it remembers how often a dropped item was read.

use std::num::NonZeroU64;

/// Bits of a location.
const LOCATION_BITS: u32 = 36;
const LOCATION_MASK: u64 = (1 << LOCATION_BITS) - 1;
const FREQUENCY_SHIFT: u32 = LOCATION_BITS;
const FREQUENCY_MASK: u64 = 0xff << FREQUENCY_SHIFT;
const DISPLACEMENT_SHIFT: u32 = 44;
const TAG_SHIFT: u32 = 48;
const TAG_MASK: u64 = 0xfff;
const META_BITS: u32 = 4;
const META_MASK: u64 = !(u64::MAX >> META_BITS);

/// Set in a bucket's first slot while a writer of that home is at work.
pub(super) const LOCK: u64 = 1 << 63;
/// One step of the reach.
pub(super) const REACH_STEP: u64 = 1 << 60;

/// The largest displacement of an entry.
#[cfg(not(loom))]
pub(super) const DISPLACEMENT_MAX: usize = 15;
#[cfg(loom)]
pub(super) const DISPLACEMENT_MAX: usize = 1;

/// The distance of a displacement in buckets: 0, 1, 3, 6, 10 ... 120.
///
/// Growing steps keep full buckets from lining up: with 15 buckets in a row, thirty times as many
/// homes would be full at a load of 0.9.
#[inline]
pub(super) const fn distance(displacement: usize) -> usize {
    displacement * (displacement + 1) / 2
}

/// The reaches that three bits can express. The large ones, which few homes need, lie further
/// apart.
const REACH: [usize; 8] = [0, 1, 2, 3, 4, 6, 9, 15];

/// The lowest index into [`REACH`] of a reach that includes this displacement.
pub(super) fn reach_level(displacement: usize) -> u64 {
    REACH.iter().take_while(|&&reach| reach < displacement).count() as u64
}

/// More than the loss of any ghost.
const LOSS_OF_ENTRY: u32 = 1 << 9;

/// Where an item is: its offset in the heap, counted in units. Never 0 and below 2^36.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Location(NonZeroU64);

impl Location {
    /// The largest number of units.
    pub(crate) const MAX: u64 = LOCATION_MASK;

    /// # Panics
    ///
    /// When `units` is 0 or more than [`Location::MAX`].
    #[inline]
    pub(crate) fn new(units: u64) -> Location {
        match NonZeroU64::new(units) {
            Some(units) if units.get() <= Location::MAX => Location(units),
            _ => panic!("no location at {units} units"),
        }
    }

    #[inline]
    pub(crate) fn units(self) -> u64 {
        self.0.get()
    }
}

/// The bits by which a slot is matched to a hash and a displacement: tag and displacement in their
/// places, the rest zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern(u64);

impl Pattern {
    /// An entry in its home bucket.
    #[inline]
    pub(super) fn home(hash: u64) -> Pattern {
        Pattern((hash & TAG_MASK) << TAG_SHIFT)
    }

    /// The same tag, displaced.
    #[inline]
    pub(super) fn displaced(self, displacement: usize) -> Pattern {
        debug_assert!(displacement <= DISPLACEMENT_MAX);
        Pattern((self.0 >> TAG_SHIFT << TAG_SHIFT) | (displacement as u64) << DISPLACEMENT_SHIFT)
    }
}

/// The bits of a slot, as read at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u64);

impl Slot {
    /// An entry, with zero for meta.
    pub(super) fn entry(pattern: Pattern, frequency: u8, location: Location) -> Slot {
        Slot(pattern.0 | u64::from(frequency) << FREQUENCY_SHIFT | location.units())
    }

    /// Whether tag and displacement match the pattern: of an entry, of a ghost, or of an empty slot
    /// when both are zero.
    #[inline(always)]
    pub(super) fn matches(self, pattern: Pattern) -> bool {
        // Without meta, the difference is in tag and displacement or it is less than one of their
        // lowest bits. One comparison costs less than a mask of 64 bits.
        (self.0 ^ pattern.0) << META_BITS < 1 << (DISPLACEMENT_SHIFT + META_BITS)
    }

    #[inline]
    pub(super) fn location(self) -> Option<Location> {
        NonZeroU64::new(self.0 & LOCATION_MASK).map(Location)
    }

    #[inline]
    pub(super) fn frequency(self) -> u8 {
        (self.0 >> FREQUENCY_SHIFT) as u8
    }

    #[inline]
    pub(super) fn displacement(self) -> usize {
        (self.0 >> DISPLACEMENT_SHIFT & 0xf) as usize
    }

    pub(super) fn tag(self) -> u64 {
        self.0 >> TAG_SHIFT & TAG_MASK
    }

    /// The pattern of an entry with this one's tag in its home bucket.
    pub(super) fn pattern(self) -> Pattern {
        Pattern(self.tag() << TAG_SHIFT)
    }

    /// The same tag, displacement and location; frequency and meta may differ.
    pub(super) fn is_same_entry(self, other: Slot) -> bool {
        (self.0 ^ other.0) & !(META_MASK | FREQUENCY_MASK) == 0
    }

    /// Free, and remembers the frequency of an item.
    #[inline]
    pub(super) fn is_ghost(self) -> bool {
        !self.is_entry() & !self.is_empty()
    }

    /// Neither an entry nor a ghost.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 & !META_MASK == 0
    }

    /// The loss if an entry of that pattern were written here: least for a ghost that matches the
    /// pattern, then an empty slot, then a ghost with a low frequency.
    #[inline(always)]
    pub(super) fn loss(self, pattern: Pattern) -> u32 {
        // Arithmetic instead of branches, as which slot is free is not predictable.
        let (is_empty, is_entry) = (u32::from(self.is_empty()), u32::from(self.is_entry()));
        let is_other_ghost = u32::from(!self.matches(pattern)) & !is_empty;
        is_other_ghost * (2 + u32::from(self.frequency())) + is_empty + is_entry * LOSS_OF_ENTRY
    }

    #[inline]
    pub(super) fn is_entry(self) -> bool {
        self.0 & LOCATION_MASK != 0
    }

    #[inline]
    pub(super) fn is_locked(self) -> bool {
        self.0 & LOCK != 0
    }

    #[inline]
    pub(super) fn reach_level(self) -> u64 {
        (self.0 / REACH_STEP) & 7
    }

    /// The largest displacement that entries of this home may have.
    #[inline]
    pub(super) fn reach(self) -> usize {
        REACH[self.reach_level() as usize].min(DISPLACEMENT_MAX)
    }

    /// Only the meta bits.
    #[inline]
    pub(super) fn meta(self) -> u64 {
        self.0 & META_MASK
    }

    /// The same meta with another entry.
    #[inline]
    pub(super) fn with_entry(self, entry: Slot) -> Slot {
        Slot(self.meta() | entry.0)
    }

    #[inline]
    pub(super) fn with_frequency(self, frequency: u8) -> Slot {
        Slot(self.0 & !FREQUENCY_MASK | u64::from(frequency) << FREQUENCY_SHIFT)
    }

    /// The slot without its item; the rest stays.
    pub(super) fn to_ghost(self) -> Slot {
        Slot(self.0 & !LOCATION_MASK)
    }

    /// The slot without entry or ghost.
    pub(super) fn to_empty(self) -> Slot {
        Slot(self.meta())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap() {
        let pattern = Pattern::home(0xabc).displaced(13);
        let slot = Slot(LOCK | (5 * REACH_STEP));
        let slot = slot.with_entry(Slot::entry(pattern, 0x5a, Location::new(Location::MAX)));
        assert_eq!((slot.tag(), slot.displacement(), slot.frequency()), (0xabc, 13, 0x5a));
        assert_eq!(slot.location(), Some(Location::new(Location::MAX)));
        assert!(slot.is_locked() && slot.reach_level() == 5 && slot.reach() == 6);
        assert_eq!(slot.with_frequency(0xff).with_frequency(0x5a), slot);
        assert_eq!(slot.to_ghost().frequency(), 0x5a);
        assert!(slot.to_ghost().location().is_none() && !slot.to_ghost().is_empty());
        assert!(slot.to_empty().is_empty() && slot.to_empty().meta() == slot.meta());
    }

    #[test]
    fn a_pattern_matches_tag_and_displacement_and_nothing_else() {
        let pattern = Pattern::home(0x123).displaced(4);
        let entry = Slot::entry(pattern, 0xff, Location::new(Location::MAX));
        assert!(entry.matches(pattern) && entry.to_ghost().matches(pattern));
        assert!(Slot(entry.0 | META_MASK).matches(pattern));
        for bit in DISPLACEMENT_SHIFT..DISPLACEMENT_SHIFT + 16 {
            assert!(!Slot(entry.0 ^ 1 << bit).matches(pattern), "bit {bit}");
        }
    }

    #[test]
    fn each_displacement_is_within_the_reach_of_its_level() {
        for displacement in 0..=DISPLACEMENT_MAX {
            let level = reach_level(displacement);
            assert!(Slot(level * REACH_STEP).reach() >= displacement);
            assert!(level == 0 || Slot((level - 1) * REACH_STEP).reach() < displacement);
        }
    }

    #[test]
    #[should_panic(expected = "no location at 0 units")]
    fn zero_is_no_location() {
        Location::new(0);
    }
}
