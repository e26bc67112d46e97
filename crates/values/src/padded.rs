// SPDX-License-Identifier: Apache-2.0
//! [`Padded`]: aligned blocks from an allocator whose size classes are eight bytes apart.
//!
//! # Invariants
//!
//! * INV-PADDED: every size that reaches the allocator is a multiple of its alignment, when a block is taken, resized
//!   and given back alike.

use std::alloc::{GlobalAlloc, Layout};

/// An allocator that is asked for whole multiples of an alignment only.
///
/// jemalloc's size classes can be [eight bytes apart](crate::allocated). Then a block of 24 bytes is aligned to eight
/// only, but `tikv-jemallocator` relies on 16 for every block of 16 bytes or more, as in C. Blocks whose size is a
/// multiple of 16 are aligned to that in every slab, so this rounds sizes up. Most are such multiples already, and
/// blocks that need no more than eight stay in the same class.
///
/// `tikv-jemalloc-sys` builds jemalloc with such classes where `JEMALLOC_SYS_WITH_LG_QUANTUM=3` is in the environment
/// of the build.
///
/// ```
/// use std::alloc::{GlobalAlloc, Layout, System};
/// use values::Padded;
///
/// // With `tikv_jemallocator::Jemalloc` in place of `System`.
/// #[global_allocator]
/// static ALLOCATOR: Padded<System> = Padded(System);
///
/// let layout = Layout::from_size_align(20, 16)?;
/// // SAFETY: the layout is not empty, and the block is given back with the same.
/// unsafe {
///     let block = ALLOCATOR.alloc(layout);
///     assert_eq!(block.addr() % 16, 0);
///     ALLOCATOR.dealloc(block, layout);
/// }
/// # Ok::<(), std::alloc::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Padded<A>(
    /// The allocator.
    pub A,
);

// SAFETY: INV-PADDED. The blocks are those of `A`, for layouts that are as aligned and no smaller.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Padded<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's size is not zero, so the padded one is not.
        unsafe { self.0.alloc(layout.pad_to_align()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout.pad_to_align()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was allocated here with this layout, so by `A` with the padded one.
        unsafe { self.0.dealloc(block, layout.pad_to_align()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the caller's size is not zero, and does not exceed `isize::MAX` when it is rounded up.
        unsafe {
            let size =
                Layout::from_size_align_unchecked(size, layout.align()).pad_to_align().size();
            self.0.realloc(block, layout.pad_to_align(), size)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;
    use std::cell::RefCell;

    /// Asks the system, and keeps what it was asked for.
    #[derive(Default)]
    struct Asked(RefCell<Vec<(usize, usize)>>);

    impl Asked {
        fn note(&self, layout: Layout) {
            self.0.borrow_mut().push((layout.size(), layout.align()));
        }
    }

    // SAFETY: the system's blocks.
    unsafe impl GlobalAlloc for Asked {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            self.note(layout);
            // SAFETY: the caller's promises are the same.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            self.note(layout);
            // SAFETY: as above.
            unsafe { System.dealloc(block, layout) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            self.note(layout);
            self.0.borrow_mut().push((size, layout.align()));
            // SAFETY: as above.
            unsafe { System.realloc(block, layout, size) }
        }
    }

    #[test]
    fn sizes_are_multiples_of_their_alignment_whatever_is_done() {
        let padded = Padded(Asked::default());
        let layout = Layout::from_size_align(20, 16).unwrap();
        let grown = Layout::from_size_align(41, 16).unwrap();
        // SAFETY: no layout is empty, and each block is given back with the layout that it has then.
        unsafe {
            let block = padded.realloc(padded.alloc(layout), layout, grown.size());
            padded.dealloc(block, grown);
            padded.dealloc(padded.alloc_zeroed(layout), layout);
        }
        let asked = padded.0.0.into_inner();
        assert_eq!(asked, [32, 32, 48, 48, 32, 32].map(|size| (size, 16)));
    }

    #[test]
    fn what_needs_no_alignment_is_asked_for_as_it_is() {
        let padded = Padded(Asked::default());
        for (size, align) in [(20, 1), (20, 4), (24, 8), (32, 16)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: as above.
            unsafe { padded.dealloc(padded.alloc(layout), layout) };
            assert_eq!(padded.0.0.take(), [(size, align); 2]);
        }
    }
}
