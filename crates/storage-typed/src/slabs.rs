// SPDX-License-Identifier: Apache-2.0
//! [`Slabs`]: what an allocator tells of its slabs, the runs of pages that it divides into blocks of one size.

use allocator::{SlabUse, class_number};
use std::fmt::Debug;

/// An allocator that takes small blocks from slabs of blocks of one size.
pub trait Slabs: Debug + Send + Sync {
    /// Calls `see` for each size. Blocks that a thread keeps for itself count as used.
    fn each(&self, see: &mut dyn FnMut(SlabUse));

    /// Does `work`, whose blocks come from the fullest or oldest slabs, and go back to theirs at once when they are
    /// freed: none is kept for the thread.
    fn directly(&self, work: &mut dyn FnMut());

    /// Bytes of pages that are in memory and hold no block.
    fn idle(&self) -> u64;

    /// Asks for such pages to be given back soon. Does not wait for it.
    fn purge(&self);
}

/// The sizes of blocks that are moved: a bit for each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockSizes(u128);

impl BlockSizes {
    /// The number of a size class; `None` for blocks that have no slabs.
    fn number(size: usize) -> Option<u32> {
        u32::try_from(class_number(size)).ok().filter(|&number| number < u128::BITS)
    }

    pub(crate) fn add(&mut self, size: usize) {
        if let Some(number) = Self::number(size) {
            self.0 |= 1 << number;
        }
    }

    pub(crate) fn has(self, size: usize) -> bool {
        Self::number(size).is_some_and(|number| self.0 >> number & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_classes_that_have_slabs_have_a_bit() {
        let largest_of_jemalloc = 14 << 10;
        let mut sizes = BlockSizes::default();
        sizes.add(largest_of_jemalloc);
        assert!(sizes.has(largest_of_jemalloc) && !sizes.has(12 << 10));
        sizes.add(1 << 30);
        assert!(!sizes.has(1 << 30));
        sizes.add(100);
        assert!(sizes.has(97) && !sizes.has(96) && !sizes.has(105));
    }
}
