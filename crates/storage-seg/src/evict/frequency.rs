// SPDX-License-Identifier: Apache-2.0
//! How often items are used, in the 8 bits that a slot has for it.
//!
//! A frequency counts eighths of a use, up to 31 uses. Each time that an eviction keeps the item it
//! decays by an eighth, so it is a mean over the item's last rounds in which the latest weigh most. Much
//! used items stand at the highest frequency and are not written to when read.

use std::cell::Cell;

/// What one use adds.
const USE: u8 = 8;

/// A new item counts as half a use, so that a small one is worth more than a large one from the start.
pub(crate) const UNUSED: u8 = USE / 2;

/// What a frequency means in uses.
#[inline]
pub(crate) fn uses(frequency: u8) -> f64 {
    f64::from(frequency) / f64::from(USE)
}

/// The frequency of an item that is kept: seven eighths of what it was, and never nothing.
#[inline]
pub(crate) fn decayed(frequency: u8) -> u8 {
    (frequency - frequency.div_ceil(8)).max(USE / 4)
}

/// Whether the frequency of an item that is dropped is worth remembering. That of most is not.
#[inline]
pub(crate) fn is_memorable(frequency: u8) -> bool {
    frequency >= USE
}

/// One handle's generator of lots, and the rules by which frequencies rise.
#[derive(Debug)]
pub(crate) struct Lesson {
    noise: Cell<u64>,
}

impl Lesson {
    pub(crate) fn new(seed: u64) -> Self {
        Lesson { noise: Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1) }
    }

    /// A random number (xorshift64).
    #[inline]
    pub(crate) fn lot(&self) -> u64 {
        let mut noise = self.noise.get();
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        self.noise.set(noise);
        noise >> 16
    }

    /// The frequency of an item that is read; `None` when it stays what it was.
    #[inline]
    pub(crate) fn read(&self, frequency: u8) -> Option<u8> {
        frequency.checked_add(USE)
    }

    /// The frequency of an item that is written over: that is a use, too.
    #[inline]
    pub(crate) fn overwritten(&self, frequency: u8) -> u8 {
        frequency.saturating_add(USE)
    }

    /// The frequency of a new item, given what the index remembers of the last one of its key.
    #[inline]
    pub(crate) fn inserted(&self, remembered: Option<u8>) -> u8 {
        remembered.map_or(UNUSED, |frequency| frequency.saturating_add(USE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_add_whole_uses_up_to_the_highest() {
        let lesson = Lesson::new(1);
        let mut frequency = lesson.inserted(None);
        assert_eq!(uses(frequency), 0.5);
        for times in 1..=31 {
            frequency = lesson.read(frequency).expect("it is not at the highest");
            assert_eq!(uses(frequency), 0.5 + f64::from(times));
        }
        assert_eq!(lesson.read(frequency), None);
    }

    #[test]
    fn decay_ends_at_a_quarter() {
        let mut frequency = u8::MAX;
        for _ in 0..100 {
            let next = decayed(frequency);
            assert!(next < frequency || next == USE / 4, "{frequency} decays to {next}");
            frequency = next;
        }
        assert_eq!(uses(frequency), 0.25);
        assert_eq!(uses(decayed(8 * USE)), 7.0);
        assert_eq!(uses(decayed(0)), 0.25);
    }

    #[test]
    fn what_comes_back_is_worth_more_than_it_was() {
        let lesson = Lesson::new(1);
        assert!(!is_memorable(UNUSED) && is_memorable(USE));
        assert_eq!(uses(lesson.inserted(Some(3 * USE))), 4.0);
        assert_eq!(lesson.inserted(Some(u8::MAX)), u8::MAX);
    }
}
