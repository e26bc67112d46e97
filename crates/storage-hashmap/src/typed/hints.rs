// SPDX-License-Identifier: Apache-2.0
//! [`Hints`]: what a handle has found out about the memory of requests that are prefetched together.

use arrayvec::ArrayVec;
use std::cell::{Cell, RefCell};
use values::Hint;

/// Hints that are followed together.
const TOGETHER: usize = 4;

/// Hints that wait to be followed, and keys that more is to be found out about.
///
/// A hint takes as long as the translation of its address, and translations overlap, unless a lock is
/// taken or let go between them. So hints are gathered from under one lock after the other, and then
/// followed all at once.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    waiting: RefCell<ArrayVec<Hint, TOGETHER>>,
    /// A bit for keys in the same eight bytes of memory, modulo 512 bytes: those of the few requests
    /// that are prefetched at the same time have a bit each, or nearly so.
    unfinished: Cell<u64>,
}

impl Hints {
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
    key.as_ptr().addr() / 8 % 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_wait_for_each_other() {
        let hints = Hints::default();
        for expected in [1, 2, 3, 0, 1] {
            hints.add(Hint::NONE);
            assert_eq!(hints.waiting.borrow().len(), expected);
        }
        hints.follow();
        assert!(hints.waiting.borrow().is_empty());
    }

    #[test]
    fn each_key_of_a_pipeline_is_remembered_by_itself() {
        let hints = Hints::default();
        let pipeline = [7; 12 * 32];
        let keys: Vec<&[u8]> = pipeline.chunks(32).collect();
        for (number, key) in keys.iter().enumerate() {
            hints.note(key, number % 3 == 0);
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(hints.is_unfinished(key), number % 3 == 0);
        }
        hints.note(keys[0], false);
        assert!(!hints.is_unfinished(keys[0]));
    }
}
