// SPDX-License-Identifier: Apache-2.0
//! Prefetching a group of elements, so that their cache misses overlap.
//!
//! A look-up reads a bucket and then an element, and waits for each. Many look-ups, one after the other, wait for each
//! of them in turn, because the CPU does not get far enough ahead. So each stage is prefetched for the whole group before
//! the next stage reads what it has brought.

use super::bucket::{Bucket, tag_of};
use super::{Table, hash_of};
use arrayvec::ArrayVec;
use prefetch::Hint;

/// The most elements that are prefetched together: about as many cache lines as a core waits for at once.
pub const TOGETHER: usize = 16;

/// The hashes of a group of elements.
pub(crate) type Hashes = ArrayVec<u64, TOGETHER>;

/// The hashes of the first of these names, as many as make a group.
#[inline]
pub(crate) fn hashes_of<'n>(names: impl Iterator<Item = &'n [u8]>) -> Hashes {
    names.take(TOGETHER).map(hash_of).collect()
}

impl<T, A> Table<T, A> {
    /// Prefetches the buckets of a group of hashes, and then what `hint` tells of the elements that they probably mean.
    pub(crate) fn prefetch_group(&self, hashes: &Hashes, hint: impl Fn(&T) -> Hint) {
        hashes.iter().for_each(|hash| self.prefetch(*hash));
        let mut behind = Hashes::new();
        for hash in hashes {
            let first = self.hint_by(*hash, &hint);
            first.fetch();
            if first.leads_on() {
                behind.push(*hash);
            }
        }
        behind.iter().for_each(|hash| self.hint_behind(*hash, &hint).fetch());
    }

    /// What `hint` tells of the element that a hash probably means, if it is in the second bucket of its chain.
    #[inline]
    pub(super) fn hint_behind(&self, hash: u64, hint: impl Fn(&T) -> Hint) -> Hint {
        let second = self.heads.get(self.home(hash)).and_then(Bucket::next);
        let hinted = second.and_then(|number| {
            let bucket = self.overflow.get(number);
            bucket.get(bucket.candidates(tag_of(hash)).next()?).map(hint)
        });
        hinted.unwrap_or(Hint::NONE)
    }
}
