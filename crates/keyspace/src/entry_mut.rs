// SPDX-License-Identifier: Apache-2.0
//! [`EntryMut`]: an entry that is changed in place, with its memory accounted for.

use std::ops::{Deref, DerefMut};
use values::{Entry, Keyed};

/// A live entry of a keyspace, to change in place.
///
/// When it is dropped it adds the change of the entry's memory and expiry to a [`Tally`]; the
/// keyspace applies that before it does anything else. So a command may change the entry in any
/// way, its expiry included, but must not change its key.
///
/// An empty collection is not removed by itself: the command takes it out with
/// [`View::take`](super::View::take).
#[derive(Debug)]
pub struct EntryMut<'a> {
    entry: &'a mut Entry,
    before: Footprint,
    tally: &'a mut Tally,
}

/// The effect of changes to entries that a keyspace has yet to apply to its sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The change in the bytes that the entries hold.
    pub bytes: i64,
    /// The change in the number of entries with an expiry of their own.
    pub volatile: i64,
    /// Whether the moment changed from which an entry or a field of it is due to expire.
    pub due_moved: bool,
}

/// The properties of an entry that a keyspace keeps sums of.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    bytes: usize,
    is_volatile: bool,
    due: Option<u64>,
}

impl Footprint {
    #[inline]
    fn of(entry: &Entry) -> Self {
        Footprint {
            bytes: entry.heap_bytes(),
            is_volatile: entry.expiry().is_some(),
            due: entry.due(),
        }
    }
}

impl<'a> EntryMut<'a> {
    /// Lends an entry; the change is added to `tally`. For keyspaces.
    #[inline]
    #[must_use]
    pub fn new(entry: &'a mut Entry, tally: &'a mut Tally) -> Self {
        EntryMut { before: Footprint::of(entry), entry, tally }
    }
}

impl Deref for EntryMut<'_> {
    type Target = Entry;

    #[inline]
    fn deref(&self) -> &Entry {
        self.entry
    }
}

impl DerefMut for EntryMut<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Entry {
        self.entry
    }
}

impl Drop for EntryMut<'_> {
    #[inline]
    fn drop(&mut self) {
        let after = Footprint::of(self.entry);
        self.tally.bytes += after.bytes as i64 - self.before.bytes as i64;
        self.tally.volatile += i64::from(after.is_volatile) - i64::from(self.before.is_volatile);
        self.tally.due_moved |= after.due != self.before.due;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_noted_when_it_is_over() {
        let mut entry = Entry::string(b"key", b"value");
        let mut tally = Tally::default();
        let before = entry.heap_bytes();
        let mut lent = EntryMut::new(&mut entry, &mut tally);
        lent.set_string(&[7; 1000]);
        lent.set_expiry(Some(5));
        assert_eq!(lent.key(), b"key");
        drop(lent);
        let grown = entry.heap_bytes() as i64 - before as i64;
        assert!(grown > 900);
        assert_eq!(tally, Tally { bytes: grown, volatile: 1, due_moved: true });
    }

    #[test]
    fn changes_add_up() {
        let mut entry = Entry::string(b"key", &[7; 1000]);
        let mut tally = Tally::default();
        EntryMut::new(&mut entry, &mut tally).set_expiry(Some(5));
        EntryMut::new(&mut entry, &mut tally).set_expiry(None);
        assert_eq!(tally, Tally { bytes: 0, volatile: 0, due_moved: true });
    }

    #[test]
    fn a_look_changes_nothing() {
        let mut entry = Entry::string(b"key", b"value");
        let mut tally = Tally::default();
        assert_eq!(EntryMut::new(&mut entry, &mut tally).len(), 5);
        assert_eq!(tally, Tally::default());
    }
}
