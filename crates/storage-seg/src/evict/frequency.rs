// SPDX-License-Identifier: Apache-2.0
//! How often items are used: the frequency counter in the 8 bits that a slot has for it.
//!
//! A frequency counts eighths of a use, up to 31 uses. It decays by a quarter each time that an eviction
//! keeps the item, so it is an exponentially weighted mean over the item's rounds. With a decay of an
//! eighth, items that were popular once stay too long; with one of a half, a small store forgets more
//! than it can learn anew. The slots of heavily used items have the highest frequency, so reads do not
//! write to them.
//!
//! The lowest bit tells something else: whether the item was read since its value was written ([`is_read`]).

use std::cell::Cell;

/// What one use adds.
const USE: u8 = 8;

/// A new item counts as used once: somebody wanted it. With less, items read long ago would outweigh new
/// ones. An item that is dropped unused is remembered at this frequency, so it counts for more when it
/// comes back.
pub(crate) const UNUSED: u8 = USE;

/// Set in the frequency of an item that was read since its value was written. The rest counts uses, by eighths
/// rounded down to quarters.
const READ: u8 = 1;

/// Whether the item was read since its value was written.
#[inline]
pub(crate) fn is_read(frequency: u8) -> bool {
    frequency & READ != 0
}

/// The frequency of another value of the same key, which nobody has read.
#[inline]
pub(crate) fn unread(frequency: u8) -> u8 {
    frequency & !READ
}

/// The frequency `to`, and whether the item was read as in `from`.
#[inline]
pub(crate) fn as_read_as(from: u8, to: u8) -> u8 {
    unread(to) | from & READ
}

/// A frequency converted to uses.
#[inline]
pub(crate) fn uses(frequency: u8) -> f64 {
    f64::from(unread(frequency)) / f64::from(USE)
}

/// The frequency of an item that is used once more.
#[inline]
pub(crate) fn used(frequency: u8) -> u8 {
    frequency.saturating_add(USE)
}

/// The frequency of an item that an eviction keeps: three quarters of what it was, and never 0.
#[inline]
pub(crate) fn decayed(frequency: u8) -> u8 {
    let uses = unread(frequency);
    as_read_as(frequency, (uses - uses.div_ceil(4)).max(USE / 4))
}

/// The uses since an item came, or since [`spent`] counted them last: up to three, as S3-FIFO has it.
#[inline]
fn recent_uses(frequency: u8) -> u8 {
    (frequency.saturating_sub(UNUSED) / USE).min(3)
}

/// Whether an item was used since it came.
#[inline]
pub(crate) fn is_used(frequency: u8) -> bool {
    recent_uses(frequency) > 0
}

/// The frequency of a used item that stays for another round at the price of one use.
#[inline]
pub(crate) fn spent(frequency: u8) -> u8 {
    as_read_as(frequency, UNUSED + recent_uses(frequency).saturating_sub(1) * USE)
}

/// Whether the frequency of an item that is dropped is worth remembering: not when it decayed to less
/// than that of a new one.
#[inline]
pub(crate) fn is_memorable(frequency: u8) -> bool {
    frequency >= UNUSED
}

/// One handle's random generator, and the rules by which frequencies rise.
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
        let read = frequency.checked_add(USE).unwrap_or(frequency) | READ;
        (read != frequency).then_some(read)
    }

    /// The frequency of an item that is overwritten, which counts as a use.
    #[inline]
    pub(crate) fn overwritten(&self, frequency: u8) -> u8 {
        unread(used(frequency))
    }

    /// The frequency of a new item, given what the index remembers of the last one of its key.
    #[inline]
    pub(crate) fn inserted(&self, remembered: Option<u8>) -> u8 {
        remembered.map_or(UNUSED, |frequency| unread(used(frequency)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_add_whole_uses_up_to_the_highest() {
        let lesson = Lesson::new(1);
        let mut frequency = lesson.inserted(None);
        assert_eq!(uses(frequency), 1.0);
        for times in 1..=30 {
            frequency = lesson.read(frequency).expect("it is not at the highest");
            assert_eq!(uses(frequency), 1.0 + f64::from(times));
        }
        assert_eq!(lesson.read(frequency), None);
    }

    #[test]
    fn whether_it_was_read_is_known_until_it_is_overwritten() {
        let lesson = Lesson::new(1);
        for frequency in (0..=u8::MAX).map(unread) {
            assert!(!is_read(frequency));
            let read = lesson.read(frequency).unwrap_or_else(|| panic!("{frequency} is unread"));
            assert!(is_read(read) && is_read(decayed(read)) && is_read(spent(read)));
            assert!(!is_read(decayed(frequency)) && !is_read(spent(frequency)));
            assert!(!is_read(lesson.overwritten(read)) && !is_read(lesson.inserted(Some(read))));
            assert_eq!(uses(read) - uses(frequency), if frequency < 248 { 1.0 } else { 0.0 });
        }
    }

    #[test]
    fn decay_ends_at_a_quarter() {
        let mut frequency = unread(u8::MAX);
        for _ in 0..100 {
            let next = decayed(frequency);
            assert!(next < frequency || next == USE / 4, "{frequency} decays to {next}");
            frequency = next;
        }
        assert_eq!(uses(frequency), 0.25);
        assert_eq!(uses(decayed(8 * USE)), 6.0);
        assert_eq!(uses(decayed(0)), 0.25);
    }

    #[test]
    fn a_use_pays_for_a_round_and_three_are_counted() {
        let lesson = Lesson::new(1);
        let mut frequency = lesson.inserted(None);
        assert!(!is_used(frequency));
        (0..9).for_each(|_| frequency = lesson.read(frequency).expect("it is not at the highest"));
        for _ in 0..3 {
            assert!(is_used(frequency));
            frequency = spent(frequency);
        }
        assert_eq!(unread(frequency), UNUSED);
    }

    #[test]
    fn what_comes_back_is_worth_more_than_it_was() {
        let lesson = Lesson::new(1);
        assert!(is_memorable(UNUSED) && !is_memorable(decayed(UNUSED)));
        assert_eq!(uses(lesson.inserted(Some(3 * USE))), 4.0);
        assert_eq!(lesson.inserted(Some(u8::MAX)), unread(u8::MAX));
    }
}
