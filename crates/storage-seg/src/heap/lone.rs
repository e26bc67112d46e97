// SPDX-License-Identifier: Apache-2.0
//! Which address space each lone segment has.
//!
//! Lone segments have address space of as many different sizes as their items, so that of all of them is one range, cut
//! into blocks. A segment gets its blocks when it is made, and keeps them.

use super::geometry::{BLOCK_BYTES, BLOCK_SHIFT};
use crate::zeroed::Zeroed;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The blocks of lone segments, which are counted from zero here. Whoever knows a location has it from the thread that
/// made the segment, by way of the pool's lock or of the index: so plain loads suffice.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The first block of each segment.
    firsts: Zeroed<AtomicU32>,
    /// The segment of each block.
    owners: Zeroed<AtomicU32>,
    /// How many blocks have an owner.
    owned: AtomicU32,
}

impl Blocks {
    /// # Errors
    ///
    /// When the system gives no address space for the tables.
    pub(super) fn new(segments: u32, blocks: u32) -> io::Result<Self> {
        let table = |len: u32| Zeroed::new(len.max(1) as usize);
        Ok(Blocks { firsts: table(segments)?, owners: table(blocks)?, owned: AtomicU32::new(0) })
    }

    /// Gives a segment its blocks, if there are so many. One thread at a time does it.
    pub(super) fn give(&self, segment: u32, count: u32) -> bool {
        let first = self.owned.load(Ordering::Relaxed) as usize;
        let Some(owners) = self.owners.get(first..first + count as usize) else { return false };
        owners.iter().for_each(|owner| owner.store(segment, Ordering::Relaxed));
        self.firsts[segment as usize].store(first as u32, Ordering::Relaxed);
        self.owned.store(first as u32 + count, Ordering::Relaxed);
        true
    }

    /// Where a segment begins, in bytes.
    pub(super) fn start(&self, segment: u32) -> usize {
        (self.firsts[segment as usize].load(Ordering::Relaxed) as usize) << BLOCK_SHIFT
    }

    /// The segment of a byte, and the byte's offset in it.
    pub(super) fn place(&self, byte: usize) -> (u32, u32) {
        let owner = self.owners[byte >> BLOCK_SHIFT].load(Ordering::Relaxed);
        (owner, (byte - self.start(owner)) as u32)
    }
}

/// How many blocks have room for so many bytes: a power of two, so that segments serve for items of many sizes.
pub(crate) fn blocks_for(bytes: usize) -> u32 {
    bytes.div_ceil(BLOCK_BYTES).next_power_of_two() as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_block_belongs_to_the_segment_that_it_was_given_to() {
        let blocks = Blocks::new(3, 7).expect("there is memory");
        assert!(blocks.give(2, 4) && !blocks.give(0, 4) && blocks.give(0, 2) && blocks.give(1, 1));
        assert!(!blocks.give(1, 1), "all are given");
        assert_eq!(blocks.place(4 * BLOCK_BYTES - 1), (2, 4 * BLOCK_BYTES as u32 - 1));
        assert_eq!(blocks.place(4 * BLOCK_BYTES), (0, 0));
        assert_eq!((blocks.start(1), blocks.place(6 * BLOCK_BYTES + 5)), (6 * BLOCK_BYTES, (1, 5)));
    }

    #[test]
    fn blocks_are_powers_of_two() {
        let counts = [1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES].map(blocks_for);
        assert_eq!(counts, [1, 1, 2, 8]);
    }
}
