// SPDX-License-Identifier: Apache-2.0
//! [`Hints`]: the memory that requests prefetched together will need, as far as a handle knows it.

use arrayvec::ArrayVec;
use prefetch::Hint;
use std::cell::{Cell, RefCell};
use values::hash_of;

/// Hints that are fetched together.
const TOGETHER: usize = 4;

/// The binary logarithm of the places for keys: ten times as many as are prefetched at the same time, so
/// that few keys share one.
const PLACE_BITS: u32 = 7;

/// Hints that wait to be fetched, and the data recorded about their keys.
///
/// A hint takes as long as the translation of its address, and translations overlap, unless a lock is
/// taken or let go between them. So hints are gathered from under one lock after the other, and then
/// followed all at once.
///
/// A key is identified by its address. Another key may have had the address before, so what is recorded
/// may be wrong, and is used for hints only.
#[derive(Debug)]
pub(crate) struct Hints {
    waiting: RefCell<ArrayVec<Hint, TOGETHER>>,
    notes: [Cell<Note>; 1 << PLACE_BITS],
}

/// The data recorded about the key at an address.
#[derive(Clone, Copy, Debug)]
struct Note {
    address: usize,
    hash: u64,
    /// There is more to find out.
    is_unfinished: bool,
}

impl Hints {
    pub(crate) fn new() -> Self {
        let nothing = Note { address: 0, hash: 0, is_unfinished: false };
        let notes = std::array::from_fn(|_| Cell::new(nothing));
        Hints { waiting: RefCell::default(), notes }
    }

    /// Notes the hash of a key.
    #[inline]
    pub(crate) fn note_hash(&self, key: &[u8], hash: u64) {
        let address = key.as_ptr().addr();
        self.notes[place(address)].set(Note { address, hash, is_unfinished: false });
    }

    /// The hash of a key: the recorded one, unless another key has its place by now.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.note(key).map_or_else(|| hash_of(key), |note| note.hash)
    }

    /// Adds a hint; returns whether those that wait are enough to be followed, which they must be before another is
    /// added.
    #[inline]
    #[must_use]
    pub(crate) fn add(&self, hint: Hint) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        waiting.push(hint);
        waiting.is_full()
    }

    /// Follows the hints that wait.
    #[inline]
    pub(crate) fn follow(&self) {
        let mut waiting = self.waiting.borrow_mut();
        waiting.iter().for_each(|hint| hint.fetch());
        waiting.clear();
    }

    /// Notes that there is more to find out about a key whose hash was noted.
    #[inline]
    pub(crate) fn note_unfinished(&self, key: &[u8]) {
        if let Some(note) = self.note(key) {
            self.notes[place(note.address)].set(Note { is_unfinished: true, ..note });
        }
    }

    /// Whether there is more to find out about a key.
    #[inline]
    pub(crate) fn is_unfinished(&self, key: &[u8]) -> bool {
        self.note(key).is_some_and(|note| note.is_unfinished)
    }

    #[inline]
    fn note(&self, key: &[u8]) -> Option<Note> {
        let address = key.as_ptr().addr();
        let note = self.notes[place(address)].get();
        (note.address == address).then_some(note)
    }
}

/// The place of an address. Requests are often of the same length, so addresses are mixed, or those of
/// some lengths would all share a few places.
#[inline]
fn place(address: usize) -> usize {
    ((address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_wait_for_each_other() {
        let hints = Hints::new();
        for round in 0..2 {
            for expected in 1..=TOGETHER {
                let are_enough = hints.add(Hint::NONE);
                assert_eq!(hints.waiting.borrow().len(), expected, "round {round}");
                assert_eq!(are_enough, expected == TOGETHER, "round {round}");
            }
            hints.follow();
            assert!(hints.waiting.borrow().is_empty());
        }
    }

    #[test]
    fn each_key_of_a_pipeline_is_remembered_by_itself() {
        for length in [32, 40, 64, 115, 128, 512, 1024, 4096] {
            let hints = Hints::new();
            let pipeline = vec![7; 12 * length];
            let keys: Vec<&[u8]> = pipeline.chunks(length).collect();
            for (number, key) in keys.iter().enumerate() {
                hints.note_hash(key, number as u64);
            }
            for key in keys.iter().step_by(3) {
                hints.note_unfinished(key);
            }
            let is_noted = |(number, key): &(usize, &&[u8])| {
                hints.hash(key) == *number as u64 && hints.is_unfinished(key) == (number % 3 == 0)
            };
            let noted = keys.iter().enumerate().filter(is_noted).count();
            assert!(noted >= 8, "{noted} of 12, {length} bytes apart");
            hints.note_hash(keys[0], 99);
            assert!(hints.hash(keys[0]) == 99 && !hints.is_unfinished(keys[0]));
        }
    }

    #[test]
    fn a_key_whose_hash_was_not_noted_has_one_all_the_same() {
        let hints = Hints::new();
        assert_eq!(hints.hash(b"key"), hash_of(b"key"));
        hints.note_unfinished(b"key");
        assert!(!hints.is_unfinished(b"key"), "nothing is known of it");
    }
}
