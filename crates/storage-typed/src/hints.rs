// SPDX-License-Identifier: Apache-2.0
//! [`Hints`]: the memory that requests prefetched together will need, as far as a handle knows it.

use arrayvec::ArrayVec;
use prefetch::{Hint, Memos};
use std::cell::RefCell;
use values::hash_of;

/// Hints that are fetched together.
const TOGETHER: usize = 4;

/// Hints that wait to be fetched, and memos about their keys.
///
/// A hint takes as long as the translation of its address, and translations overlap, unless a lock is
/// taken or let go between them. So hints are gathered from under one lock after the other, and then
/// followed all at once.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    waiting: RefCell<ArrayVec<Hint, TOGETHER>>,
    memos: Memos<Memo>,
}

/// The data recorded about a key.
#[derive(Clone, Copy, Debug, Default)]
struct Memo {
    hash: u64,
    /// There is more to find out.
    is_unfinished: bool,
}

impl Hints {
    /// Notes the hash of a key.
    #[inline]
    pub(crate) fn note_hash(&self, key: &[u8], hash: u64) {
        self.memos.set(key, Memo { hash, is_unfinished: false });
    }

    /// The hash of a key: the recorded one, unless another key has its place by now.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.memos.of(key).map_or_else(|| hash_of(key), |memo| memo.hash)
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

    /// Notes that there is more to find out about a key with this hash.
    #[inline]
    pub(crate) fn note_unfinished(&self, key: &[u8], hash: u64) {
        self.memos.set(key, Memo { hash, is_unfinished: true });
    }

    /// The hash of a key, if there is more to find out about it.
    #[inline]
    pub(crate) fn unfinished(&self, key: &[u8]) -> Option<u64> {
        let memo = self.memos.of(key)?;
        memo.is_unfinished.then_some(memo.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_wait_for_each_other() {
        let hints = Hints::default();
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
    fn a_key_is_unfinished_until_it_is_noted_again() {
        let (hints, key) = (Hints::default(), b"key");
        assert_eq!((hints.hash(key), hints.unfinished(key)), (hash_of(key), None), "not noted");
        hints.note_hash(key, 7);
        assert_eq!((hints.hash(key), hints.unfinished(key)), (7, None));
        hints.note_unfinished(key, 7);
        assert_eq!((hints.hash(key), hints.unfinished(key)), (7, Some(7)));
        hints.note_hash(key, 8);
        assert_eq!((hints.hash(key), hints.unfinished(key)), (8, None));
    }
}
