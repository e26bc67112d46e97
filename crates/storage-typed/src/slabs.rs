// SPDX-License-Identifier: Apache-2.0
//! [`Slabs`]: what an allocator tells of its slabs, the runs of pages that it divides into blocks of one size.

use std::fmt::Debug;
use values::allocated;

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

/// How full the slabs for blocks of one size are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlabUse {
    /// The size of a block.
    pub size: usize,
    /// Bytes of blocks that are in use.
    pub used: u64,
    /// Bytes of blocks that are not.
    pub free: u64,
}

/// The sizes of blocks that are moved: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockSizes(u64);

impl BlockSizes {
    /// The number of a size class; `None` for blocks that have no slabs.
    fn number(size: usize) -> Option<u32> {
        let size = allocated(size);
        let number = match size {
            0..=64 => size.saturating_sub(1) / 8,
            // Four to each doubling.
            _ => {
                let group = (size - 1).ilog2();
                8 + 4 * (group as usize - 6) + ((size - 1) >> (group - 2) & 3)
            }
        };
        u32::try_from(number).ok().filter(|&number| number < u64::BITS)
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
    fn each_size_class_has_a_number_of_its_own() {
        let mut classes: Vec<usize> = (1..=16 << 10).map(allocated).collect();
        classes.dedup();
        let numbers: Vec<_> = classes.iter().map(|&size| BlockSizes::number(size)).collect();
        assert!(numbers.iter().copied().eq((0..numbers.len() as u32).map(Some)), "{numbers:?}");
        assert_eq!(BlockSizes::number(1 << 30), None);
    }
}
