// SPDX-License-Identifier: Apache-2.0
//! [`Hints`]: what a handle has found out about the memory of requests that are prefetched together.

use arrayvec::ArrayVec;
use std::cell::{Cell, RefCell};
use values::Hint;

/// Hints that are followed together.
const TOGETHER: usize = 4;

/// Places for keys that are prefetched at the same time.
const PLACES: usize = 64;

/// Hints that wait to be followed, and what is known of the keys that they are for.
///
/// A hint takes as long as the translation of its address, and translations overlap, unless a lock is
/// taken or let go between them. So hints are gathered from under one lock after the other, and then
/// followed all at once.
///
/// Keys are known by where in memory they are, modulo 512 bytes: those of the few requests that are
/// prefetched at the same time have a place each, or nearly so. What is found in a place may be of
/// another key, which is good enough for a hint and for nothing else.
#[derive(Debug)]
pub(crate) struct Hints {
    waiting: RefCell<ArrayVec<Hint, TOGETHER>>,
    hashes: [Cell<u64>; PLACES],
    /// A bit for each place.
    unfinished: Cell<u64>,
}

impl Hints {
    pub(crate) fn new() -> Self {
        Hints {
            waiting: RefCell::default(),
            hashes: [const { Cell::new(0) }; PLACES],
            unfinished: Cell::new(0),
        }
    }

    /// Notes the hash of a key.
    #[inline]
    pub(crate) fn note_hash(&self, key: &[u8], hash: u64) {
        self.hashes[place(key)].set(hash);
    }

    /// The hash that was noted of a key.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.hashes[place(key)].get()
    }

    /// Adds a hint, and follows all that wait once they are enough.
    #[inline]
    pub(crate) fn add(&self, hint: Hint) {
        let is_full = {
            let mut waiting = self.waiting.borrow_mut();
            waiting.push(hint);
            waiting.is_full()
        };
        if is_full {
            self.follow();
        }
    }

    /// Follows the hints that wait.
    #[inline]
    pub(crate) fn follow(&self) {
        self.waiting.borrow_mut().drain(..).for_each(Hint::fetch);
    }

    /// Notes whether there is more to find out about a key.
    #[inline]
    pub(crate) fn note(&self, key: &[u8], is_unfinished: bool) {
        let at = place(key);
        let others = self.unfinished.get() & !(1 << at);
        self.unfinished.set(others | u64::from(is_unfinished) << at);
    }

    /// Whether there is more to find out about a key.
    #[inline]
    pub(crate) fn is_unfinished(&self, key: &[u8]) -> bool {
        self.unfinished.get() >> place(key) & 1 != 0
    }
}

#[inline]
fn place(key: &[u8]) -> usize {
    key.as_ptr().addr() / 8 % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_wait_for_each_other() {
        let hints = Hints::new();
        for expected in [1, 2, 3, 0, 1] {
            hints.add(Hint::NONE);
            assert_eq!(hints.waiting.borrow().len(), expected);
        }
        hints.follow();
        assert!(hints.waiting.borrow().is_empty());
    }

    #[test]
    fn each_key_of_a_pipeline_is_remembered_by_itself() {
        let hints = Hints::new();
        let pipeline = [7; 12 * 32];
        let keys: Vec<&[u8]> = pipeline.chunks(32).collect();
        for (number, key) in keys.iter().enumerate() {
            hints.note(key, number % 3 == 0);
            hints.note_hash(key, number as u64);
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(hints.is_unfinished(key), number % 3 == 0);
            assert_eq!(hints.hash(key), number as u64);
        }
        hints.note(keys[0], false);
        assert!(!hints.is_unfinished(keys[0]));
    }
}
