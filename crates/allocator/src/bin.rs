// SPDX-License-Identifier: Apache-2.0
//! [`Bin`]: the slabs of one size class.
//!
//! Slabs with free blocks are in lists by how full they are. Blocks come from the fullest ones, so that others become
//! empty and are given back. Full slabs are in no list: a block that comes back leads to its slab.
//!
//! # Invariants
//!
//! * INV-BIN: every slab with a free block is in the list of its level, and no other slab is in one. The counts are those
//!   of all slabs.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::assert_invariant;
use crate::class::SizeClass;
use crate::slab::{Chain, SlabPtr};

/// Lists of slabs by how full they are.
const LEVELS: usize = 8;

/// The slabs of one size class, for all threads.
#[derive(Debug)]
pub(crate) struct Bin {
    slabs: Mutex<SlabLists>,
}

#[derive(Debug)]
pub(crate) struct SlabLists {
    levels: [Option<SlabPtr>; LEVELS],
    /// All slabs, full ones included.
    slabs: usize,
    /// Those without a block in use. One is kept, or the last block of a class that comes and goes would each time take
    /// a slab, and give it back.
    empty: usize,
    /// Blocks in use, those that threads keep included.
    used: usize,
}

/// How full a slab is. All blocks in use: no level.
fn level(used: u32, class: &SizeClass) -> Option<usize> {
    (used < class.blocks).then(|| used as usize * LEVELS / class.blocks as usize)
}

impl Bin {
    pub(crate) const fn new() -> Self {
        let slabs = SlabLists { levels: [None; LEVELS], slabs: 0, empty: 0, used: 0 };
        Bin { slabs: Mutex::new(slabs) }
    }

    /// Nothing panics while it is held, and an allocator does not unwind: poison tells nothing.
    fn lock(&self) -> MutexGuard<'_, SlabLists> {
        // ThreadSanitizer sees that a lock was free, but not how it was waited for: that is in the standard library,
        // which is not instrumented.
        while cfg!(thread_sanitizer) {
            match self.slabs.try_lock() {
                Ok(slabs) => return slabs,
                Err(_) => std::thread::yield_now(),
            }
        }
        self.slabs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up to `wanted` blocks, and one at least. Fewer where there is no other slab with free ones, and none if
    /// `below` has no memory.
    pub(crate) fn take<A: GlobalAlloc>(&self, wanted: u32, class: &SizeClass, below: &A) -> Chain {
        let mut slabs = self.lock();
        let mut taken = Chain::EMPTY;
        while taken.len < wanted {
            let known = slabs.fullest();
            let add = || if taken.len == 0 { slabs.add(class, below) } else { None };
            let Some(slab) = known.or_else(add) else { break };
            slabs.take_from(slab, wanted, &mut taken, class);
        }
        taken
    }

    /// Takes blocks back.
    ///
    /// # Safety
    ///
    /// They are of this class and came from this bin, whose slabs came from `below`.
    pub(crate) unsafe fn give<A: GlobalAlloc>(
        &self,
        mut chain: Chain,
        class: &SizeClass,
        below: &A,
    ) {
        let mut slabs = self.lock();
        slabs.used -= chain.len as usize;
        while let Some(block) = chain.pop() {
            // SAFETY: by the caller's promise, and the lock is held. The chain knows it no more.
            let slab = unsafe {
                let slab = SlabPtr::of(block, class);
                slab.give(block);
                slab
            };
            let was_full = slab.used() + 1 == class.blocks;
            let from = (!was_full).then(|| slab.level());
            if slab.used() == 0 {
                slabs.empty += 1;
                if slabs.empty > 1 {
                    slabs.remove(slab, from, class, below);
                    continue;
                }
            }
            slabs.sort_in(slab, from, class);
        }
    }

    /// Blocks in use, and slabs.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let slabs = self.lock();
        (slabs.used as u64, slabs.slabs as u64)
    }
}

/// The memory of a slab.
fn layout(class: &SizeClass) -> Layout {
    let slab = class.slab as usize;
    Layout::from_size_align(slab, slab).expect("a power of two")
}

impl SlabLists {
    fn fullest(&self) -> Option<SlabPtr> {
        self.levels.iter().rev().find_map(|&first| first)
    }

    /// A new slab, in the list of empty ones.
    fn add<A: GlobalAlloc>(&mut self, class: &SizeClass, below: &A) -> Option<SlabPtr> {
        // SAFETY: the size of a slab is not zero.
        let memory = NonNull::new(unsafe { below.alloc(layout(class)) })?;
        // SAFETY: its layout is a slab's, and it was allocated just now.
        let slab = unsafe { SlabPtr::new(memory) };
        slab.link(&mut self.levels[0]);
        self.slabs += 1;
        self.empty += 1;
        Some(slab)
    }

    /// Takes blocks from a slab that has some, until there are as many as wanted.
    fn take_from(&mut self, slab: SlabPtr, wanted: u32, taken: &mut Chain, class: &SizeClass) {
        self.empty -= usize::from(slab.used() == 0);
        while taken.len < wanted
            && let Some(block) = slab.take(class)
        {
            // SAFETY: the slab gives it to nobody else.
            unsafe { taken.push(block) };
            self.used += 1;
        }
        self.sort_in(slab, Some(slab.level()), class);
    }

    /// Gives the memory of an empty slab back.
    fn remove<A: GlobalAlloc>(
        &mut self,
        slab: SlabPtr,
        from: Option<usize>,
        class: &SizeClass,
        below: &A,
    ) {
        assert_invariant(slab.used() == 0, "INV-BIN");
        if let Some(level) = from {
            slab.unlink(&mut self.levels[level]);
        }
        self.slabs -= 1;
        self.empty -= 1;
        // SAFETY: the slab came from there with this layout, none of its blocks is in use, and no list has it.
        unsafe { below.dealloc(slab.memory().as_ptr(), layout(class)) };
    }

    /// Moves a slab from the list of one level to that of the one it has now.
    fn sort_in(&mut self, slab: SlabPtr, from: Option<usize>, class: &SizeClass) {
        let to = level(slab.used(), class);
        if from == to {
            return;
        }
        if let Some(level) = from {
            slab.unlink(&mut self.levels[level]);
        }
        if let Some(level) = to {
            slab.set_level(level);
            slab.link(&mut self.levels[level]);
        }
    }

    /// Gives back the slab that is kept when no block is in use.
    #[cfg(test)]
    fn end<A: GlobalAlloc>(&mut self, class: &SizeClass, below: &A) {
        assert_eq!((self.used, self.slabs), (0, 1));
        let kept = self.levels[0].expect("INV-BIN");
        self.remove(kept, Some(0), class, below);
    }

    /// Checks INV-BIN.
    #[cfg(test)]
    fn check(&self, class: &SizeClass) {
        let (mut listed, mut used, mut empty) = (0, 0, 0);
        for (number, &first) in self.levels.iter().enumerate() {
            for slab in std::iter::successors(first, |slab| slab.next()) {
                assert_eq!((level(slab.used(), class), slab.level()), (Some(number), number));
                listed += 1;
                used += slab.used() as usize;
                empty += usize::from(slab.used() == 0);
            }
        }
        used += (self.slabs - listed) * class.blocks as usize;
        assert_eq!((used, empty), (self.used, self.empty), "INV-BIN");
        assert!(self.empty <= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::CLASSES;
    use std::alloc::System;

    fn class() -> &'static SizeClass {
        CLASSES.iter().find(|class| class.blocks == 16).expect("a slab has as many")
    }

    fn take(bin: &Bin, number: usize) -> Vec<NonNull<u8>> {
        let mut blocks = Vec::new();
        while blocks.len() < number {
            let mut chain = bin.take((number - blocks.len()) as u32, class(), &System);
            blocks.extend(std::iter::from_fn(|| chain.pop()));
            bin.lock().check(class());
        }
        blocks
    }

    fn give(bin: &Bin, blocks: impl IntoIterator<Item = NonNull<u8>>) {
        for block in blocks {
            let mut chain = Chain::EMPTY;
            // SAFETY: it was taken from this bin, and is not used.
            unsafe {
                chain.push(block);
                bin.give(chain, class(), &System);
            }
            bin.lock().check(class());
        }
    }

    #[test]
    fn blocks_do_not_overlap() {
        let bin = Bin::new();
        let mut blocks = take(&bin, 100);
        blocks.sort_unstable();
        let size = class().block as usize;
        assert!(blocks.windows(2).all(|pair| pair[1].addr().get() - pair[0].addr().get() >= size));
        assert_eq!(bin.counts(), (100, 7));
        give(&bin, blocks);
        bin.lock().end(class(), &System);
    }

    #[test]
    fn the_fullest_slabs_are_filled_first() {
        let bin = Bin::new();
        let blocks = take(&bin, 48);
        // Of three slabs 2 blocks stay in use, 10, and 15.
        give(&bin, blocks[0..14].iter().chain(&blocks[16..22]).chain(&blocks[32..33]).copied());
        let slab = |block: &NonNull<u8>| block.addr().get() & !(class().slab as usize - 1);
        let taken = [take(&bin, 1), take(&bin, 5)].concat();
        assert_eq!(slab(&taken[0]), slab(&blocks[32]));
        assert!(taken[1..].iter().all(|block| slab(block) == slab(&blocks[16])));
        give(&bin, blocks[14..16].iter().copied());
        assert_eq!(bin.counts().1, 3, "the first one without a block is kept");
        give(&bin, taken[1..].iter().chain(&blocks[22..32]).copied());
        assert_eq!(bin.counts().1, 2, "the next one is not");
        give(&bin, taken[..1].iter().chain(&blocks[33..]).copied());
        assert_eq!(bin.lock().empty, 1);
        bin.lock().end(class(), &System);
    }
}
