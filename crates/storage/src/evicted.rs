// SPDX-License-Identifier: Apache-2.0
//! [`Evicted`] and [`Evictions`]: what an engine notes of items that it evicts, while somebody wants to know.

use crate::Expiry;
use clock::Ticks;

/// The most items that are noted until they are [taken](Evictions::take).
pub const EVICTIONS_NOTED_MAX: usize = 1024;

/// An item that was evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Its key.
    pub key: Box<[u8]>,
    /// Bytes of its value.
    pub value_len: usize,
    /// The number of the [class](crate::ClassStats) that it was counted in.
    pub class: u32,
    /// Whether it was read.
    pub was_read: bool,
    /// When it would have expired.
    pub expiry: Expiry,
    /// When it was last read or written, as far as the engine knows.
    pub used_at: Ticks,
}

/// Notes of evicted items: off until they are asked for, then up to [`EVICTIONS_NOTED_MAX`] between two calls of
/// [`Evictions::take`].
///
/// ```
/// use storage::{Evicted, Evictions, Expiry};
///
/// let evicted = || Evicted {
///     key: b"key"[..].into(),
///     value_len: 5,
///     class: 1,
///     was_read: false,
///     expiry: Expiry::NEVER,
///     used_at: clock::Ticks::ZERO,
/// };
/// let mut evictions = Evictions::default();
/// evictions.note(evicted);
/// evictions.set(true);
/// evictions.note(evicted);
/// let mut taken = Vec::new();
/// assert_eq!(evictions.take(&mut |item| taken.push(item)), 0);
/// assert_eq!(taken, [evicted()]);
/// ```
#[derive(Debug, Default)]
pub struct Evictions {
    is_on: bool,
    items: Vec<Evicted>,
    lost: u64,
}

impl Evictions {
    /// Whether items are noted from now on. What was noted is forgotten when they are not.
    pub fn set(&mut self, is_on: bool) {
        self.is_on = is_on;
        if !is_on {
            *self = Evictions::default();
        }
    }

    /// Notes an item, if items are noted.
    #[inline]
    pub fn note(&mut self, evicted: impl FnOnce() -> Evicted) {
        if !self.is_on {
            return;
        }
        if self.items.len() == EVICTIONS_NOTED_MAX {
            self.lost += 1;
        } else {
            self.items.push(evicted());
        }
    }

    /// Takes what was noted, oldest first. Returns how many items more were evicted, for which there was no room.
    pub fn take(&mut self, show: &mut dyn FnMut(Evicted)) -> u64 {
        self.items.drain(..).for_each(show);
        std::mem::take(&mut self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut evictions = Evictions::default();
        evictions.set(true);
        for n in 0..EVICTIONS_NOTED_MAX + 7 {
            evictions.note(|| Evicted {
                key: n.to_string().as_bytes().into(),
                value_len: n,
                class: 1,
                was_read: true,
                expiry: Expiry::NEVER,
                used_at: Ticks::ZERO,
            });
        }
        let mut lens = Vec::new();
        assert_eq!(evictions.take(&mut |item| lens.push(item.value_len)), 7);
        assert_eq!(lens, (0..EVICTIONS_NOTED_MAX).collect::<Vec<_>>());
        assert_eq!(evictions.take(&mut |item| panic!("{item:?} was taken")), 0);
    }
}
