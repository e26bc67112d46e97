// SPDX-License-Identifier: Apache-2.0
//! [`SlabPtr`]: a slab, memory that is divided into blocks of one size. It knows which of them are free.
//!
//! ```text
//!  │ head │ block │ block │ block │ ... never taken yet │
//!            ▲───────free───┘
//! ```
//!
//! A slab begins at a multiple of its length, so the address of a block leads to its slab. A free block holds the address
//! of the next free one. Blocks are taken in the order of their addresses at first, so memory that was never needed is
//! not touched.
//!
//! # Invariants
//!
//! * INV-PLACE: a [`SlabPtr`] is the start of `class.slab` bytes, a multiple of its length, whose head is initialised.
//!   Whoever has one holds the lock of the bin that the slab is in, or is the only one who knows the slab.
//! * INV-CHAIN: the blocks of a [`Chain`] are free, of one class, initialised as a [`Block`], and nobody else knows them.
//! * INV-FREE: the blocks of `free` and those behind the first `begun` ones are free; `used` of the others are not.

use std::ptr::{self, NonNull};

use crate::assert_invariant;
use crate::class::SizeClass;

/// Bytes in front of the first block: two slabs' heads are never in one cache line.
pub(crate) const HEADER: usize = 64;

/// A free block.
#[derive(Debug)]
pub(crate) struct Block {
    next: *mut Block,
}

/// Free blocks of one class, each with the address of the next.
#[derive(Debug)]
pub(crate) struct Chain {
    first: *mut Block,
    pub(crate) len: u32,
}

impl Chain {
    pub(crate) const EMPTY: Chain = Chain { first: ptr::null_mut(), len: 0 };

    /// # Safety
    ///
    /// The block is free, of the class of the others, and nobody else will use it.
    #[inline]
    pub(crate) unsafe fn push(&mut self, block: NonNull<u8>) {
        let block = block.cast::<Block>();
        // SAFETY: INV-CHAIN by the caller's promise; blocks have room for an address, and are aligned for it.
        unsafe { block.write(Block { next: self.first }) };
        self.first = block.as_ptr();
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<NonNull<u8>> {
        let block = NonNull::new(self.first)?;
        assert_invariant(self.len > 0, "INV-CHAIN");
        // SAFETY: INV-CHAIN.
        self.first = unsafe { block.read() }.next;
        self.len -= 1;
        Some(block.cast())
    }
}

/// The head of a slab.
#[derive(Debug)]
#[repr(C, align(64))]
struct Head {
    free: Chain,
    /// Blocks that were taken at least once.
    begun: u32,
    used: u32,
    /// The list that the slab is in, and its neighbours there.
    level: u32,
    next: Option<SlabPtr>,
    previous: Option<SlabPtr>,
}

const _: () = assert!(size_of::<Head>() == HEADER, "blocks begin behind the head");
const _: () = assert!(size_of::<Block>() == crate::class::QUANTUM, "every block has room for it");

/// A slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlabPtr(NonNull<Head>);

// SAFETY: INV-PLACE: it is used under a lock alone.
unsafe impl Send for SlabPtr {}

impl SlabPtr {
    /// Makes a slab without used blocks.
    ///
    /// # Safety
    ///
    /// `memory` is as large as a slab of the class, and a multiple of that. Nobody else will use it.
    pub(crate) unsafe fn new(memory: NonNull<u8>) -> Self {
        let head = memory.cast::<Head>();
        let fresh =
            Head { free: Chain::EMPTY, begun: 0, used: 0, level: 0, next: None, previous: None };
        // SAFETY: by the caller's promise; a slab is larger than its head, and as aligned.
        unsafe { head.write(fresh) };
        SlabPtr(head)
    }

    /// The slab that a block is in.
    ///
    /// # Safety
    ///
    /// The block came from a slab of this class, and the caller holds the lock of its bin.
    #[inline]
    pub(crate) unsafe fn of(block: NonNull<u8>, class: &SizeClass) -> Self {
        let start = block.as_ptr().map_addr(|address| address & !(class.slab as usize - 1));
        // SAFETY: INV-PLACE: the block is behind the head, so its start is not null.
        SlabPtr(unsafe { NonNull::new_unchecked(start) }.cast())
    }

    fn head(&self) -> &Head {
        // SAFETY: INV-PLACE.
        unsafe { self.0.as_ref() }
    }

    fn head_mut(&mut self) -> &mut Head {
        // SAFETY: INV-PLACE, and the lock is held.
        unsafe { self.0.as_mut() }
    }

    /// Its memory.
    pub(crate) fn memory(self) -> NonNull<u8> {
        self.0.cast()
    }

    /// Blocks in use.
    pub(crate) fn used(self) -> u32 {
        self.head().used
    }

    pub(crate) fn level(self) -> usize {
        self.head().level as usize
    }

    pub(crate) fn set_level(mut self, level: usize) {
        self.head_mut().level = level as u32;
    }

    #[cfg(test)]
    pub(crate) fn next(self) -> Option<SlabPtr> {
        self.head().next
    }

    /// Puts it in front of a list that begins with `first`.
    pub(crate) fn link(mut self, first: &mut Option<SlabPtr>) {
        let next = first.replace(self);
        if let Some(mut next) = next {
            next.head_mut().previous = Some(self);
        }
        let head = self.head_mut();
        (head.previous, head.next) = (None, next);
    }

    /// Takes it out of the list that begins with `first`.
    pub(crate) fn unlink(mut self, first: &mut Option<SlabPtr>) {
        let head = self.head_mut();
        let (previous, next) = (head.previous.take(), head.next.take());
        if let Some(mut next) = next {
            next.head_mut().previous = previous;
        }
        match previous {
            Some(mut previous) => previous.head_mut().next = next,
            None => *first = next,
        }
    }

    /// Takes a block, unless all are in use.
    pub(crate) fn take(mut self, class: &SizeClass) -> Option<NonNull<u8>> {
        let start = self.0.cast::<u8>();
        let head = self.head_mut();
        let block = match head.free.pop() {
            Some(block) => block,
            None if head.begun == class.blocks => return None,
            None => {
                let offset = HEADER + (head.begun * class.block) as usize;
                head.begun += 1;
                // SAFETY: INV-PLACE. As many blocks as the class has in a slab end within it.
                unsafe { start.add(offset) }
            }
        };
        head.used += 1;
        assert_invariant(head.used <= class.blocks, "INV-FREE");
        Some(block)
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// The block is one of this slab's that is in use, and nobody will use it any more.
    pub(crate) unsafe fn give(mut self, block: NonNull<u8>) {
        let head = self.head_mut();
        assert_invariant(head.used > 0, "INV-FREE");
        // SAFETY: INV-FREE by the caller's promise.
        unsafe { head.free.push(block) };
        head.used -= 1;
    }
}
