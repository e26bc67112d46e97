// SPDX-License-Identifier: Apache-2.0
//! [`SlabHeap`] and [`SlabAllocator`]: small blocks from slabs, and all others from the allocator below.
//!
//! # Invariants
//!
//! * INV-ROUTE: [`route`] alone says where a block comes from. It goes by the layout, which is the same when a block is
//!   taken, resized and given back.

use std::alloc::{GlobalAlloc, Layout};
use std::fmt;
use std::ptr::{self, NonNull};

use crate::bin::Bin;
use crate::cache::{self, Heap};
use crate::class::{self, CLASSES, COUNT, QUANTUM, SizeClass};
use crate::slab::Chain;

/// Where small blocks are: slabs, which are blocks of the allocator `A`.
///
/// ```
/// use allocator::{SlabAllocator, SlabHeap};
/// use std::alloc::System;
///
/// static HEAP: SlabHeap<System> = SlabHeap::new(System);
/// #[global_allocator]
/// static ALLOCATOR: SlabAllocator<System> = SlabAllocator::new(&HEAP);
///
/// let values: Vec<Box<[u8]>> = (0..1000).map(|_| Box::from([7; 1000])).collect();
/// let mut used = 0;
/// HEAP.each(|bin| used += bin.used);
/// assert!(used >= 1000 * 1000);
/// ```
pub struct SlabHeap<A> {
    below: A,
    bins: [Bin; COUNT],
}

/// How full the slabs of one size of blocks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlabUse {
    /// Bytes of a block.
    pub size: usize,
    /// Bytes of blocks in use. What threads keep for themselves is in use.
    pub used: u64,
    /// Bytes of blocks that are not.
    pub free: u64,
}

impl<A> SlabHeap<A> {
    /// A heap without slabs. `below` gives it slabs, and blocks that are not small.
    pub const fn new(below: A) -> Self {
        SlabHeap { below, bins: [const { Bin::new() }; COUNT] }
    }

    /// Calls `see` for each size of blocks, the smallest first.
    pub fn each(&self, mut see: impl FnMut(SlabUse)) {
        for (bin, class) in self.bins.iter().zip(&CLASSES) {
            let (blocks, slabs) = bin.counts();
            let size = u64::from(class.block);
            see(SlabUse {
                size: class.block as usize,
                used: blocks * size,
                free: (slabs * u64::from(class.blocks) - blocks) * size,
            });
        }
    }

    /// Bytes of slabs that are not blocks in use. The allocator below counts them as allocated.
    pub fn unused(&self) -> u64 {
        let unused = |(bin, class): (&Bin, &SizeClass)| {
            let (blocks, slabs) = bin.counts();
            slabs * u64::from(class.slab) - blocks * u64::from(class.block)
        };
        self.bins.iter().zip(&CLASSES).map(unused).sum()
    }
}

impl<A: GlobalAlloc + Sync> SlabHeap<A> {
    /// Does `work`, whose small blocks come from the fullest slabs, and go back to theirs at once when they are freed:
    /// the thread keeps none. So blocks that are copied, and freed, move together, and slabs become empty.
    ///
    /// ```
    /// # use allocator::{SlabAllocator, SlabHeap};
    /// # use std::alloc::System;
    /// # static HEAP: SlabHeap<System> = SlabHeap::new(System);
    /// # #[global_allocator]
    /// # static ALLOCATOR: SlabAllocator<System> = SlabAllocator::new(&HEAP);
    /// let mut values: Vec<Box<[u8]>> = (0..10_000).map(|_| Box::from([7; 1000])).collect();
    /// let mut number = 0;
    /// values.retain(|_| {
    ///     number += 1;
    ///     number % 4 == 0
    /// });
    /// let sparse = HEAP.unused();
    /// HEAP.directly(&mut || values.iter_mut().for_each(|value| *value = value.clone()));
    /// assert!(HEAP.unused() < sparse / 4);
    /// ```
    pub fn directly(&'static self, work: &mut dyn FnMut()) {
        cache::directly(self, work);
    }
}

impl<A> fmt::Debug for SlabHeap<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlabHeap").field("bins", &self.bins).finish_non_exhaustive()
    }
}

impl<A: GlobalAlloc + Sync> Heap for SlabHeap<A> {
    fn take(&self, number: usize, wanted: u32) -> Chain {
        self.bins[number].take(wanted, &CLASSES[number], &self.below)
    }

    unsafe fn give(&self, number: usize, chain: Chain) {
        // SAFETY: by the caller's promise. Every slab of this heap came from `below`.
        unsafe { self.bins[number].give(chain, &CLASSES[number], &self.below) }
    }
}

/// An allocator with small blocks in the slabs of a heap.
///
/// A block of up to [`SMALL_MAX`](crate::SMALL_MAX) bytes whose alignment is not more than eight comes from a slab.
#[derive(Debug)]
pub struct SlabAllocator<A: 'static> {
    heap: &'static SlabHeap<A>,
}

impl<A> SlabAllocator<A> {
    /// An allocator for this heap.
    pub const fn new(heap: &'static SlabHeap<A>) -> Self {
        SlabAllocator { heap }
    }
}

/// The number of the class that a block comes from, or `None` if it comes from below.
#[inline]
fn route(layout: Layout) -> Option<usize> {
    if layout.align() > QUANTUM { None } else { class::number(layout.size()) }
}

// SAFETY: blocks are as large as their class, which is no smaller than the layout, and aligned to a quantum: the head of
// a slab and all classes are multiples of it. Other blocks are those of `A`, for the same layouts.
unsafe impl<A: GlobalAlloc + Sync> GlobalAlloc for SlabAllocator<A> {
    // Not inlined: a program allocates in hundreds of places, and profiles tell calls.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match route(layout) {
            Some(number) => cache::take(self.heap, number).map_or(ptr::null_mut(), NonNull::as_ptr),
            // SAFETY: the caller's layout.
            None => unsafe { self.heap.below.alloc(layout) },
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match route(layout) {
            // SAFETY: INV-ROUTE: the block was taken from this class, and is not null.
            Some(number) => unsafe {
                cache::give(self.heap, number, NonNull::new_unchecked(block));
            },
            // SAFETY: INV-ROUTE, with the caller's layout.
            None => unsafe { self.heap.below.dealloc(block, layout) },
        }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if route(layout).is_none() {
            // SAFETY: the caller's layout.
            return unsafe { self.heap.below.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's layout, and the block is that large if there is one.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size is not too large for a layout of this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (route(layout), route(new)) {
            (Some(before), Some(after)) if before == after => block,
            // SAFETY: INV-ROUTE, with the caller's layout and size.
            (None, None) => unsafe { self.heap.below.realloc(block, layout, size) },
            // SAFETY: both blocks have room for what is copied. They are distinct, as the old one is in use.
            _ => unsafe {
                let moved = self.alloc(new);
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(block, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}
