// SPDX-License-Identifier: Apache-2.0
//! [`Thin`]: owned bytes behind one pointer.
//!
//! ```text
//!  Thin ──▶ │ length u32 │ bytes ... │ up to the end of the size class │
//! ```
//!
//! A `Box<[u8]>` takes two words and a `Vec<u8>` three. An index of millions of elements has room
//! for one word, so the length is stored with the bytes, and the capacity is not stored: it follows
//! from the length.
//!
//! # Invariants
//!
//! * INV-BLOCK: `block` is an allocation that this value alone owns, of `layout(length)`, where
//!   `length` is the `u32` at its start.
//! * INV-FILLED: the first `length` bytes after it are initialised.

use std::alloc::{self, Layout};
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::{self, NonNull};

use allocator::size_class;
use prefetch::Hint;

/// Bytes of the length in front of the content.
const HEADER: usize = size_of::<u32>();

/// Bytes that can be edited, owned through one pointer.
#[repr(transparent)]
pub(crate) struct Thin {
    block: NonNull<u8>,
}

const _: () =
    assert!(size_of::<Option<Thin>>() == size_of::<usize>(), "a pointer, and none is no larger");
const _: () = assert!(HEADER == 4, "the length is a `u32`");

// SAFETY: INV-BLOCK. The bytes have one owner, and only `&mut` changes them.
unsafe impl Send for Thin {}
// SAFETY: as above.
unsafe impl Sync for Thin {}

/// The layout of a block of `length` bytes: all that the allocator would use for it anyway.
///
/// # Panics
///
/// If `length` is not far below 4 GiB.
#[inline]
fn layout(length: usize) -> Layout {
    assert!(length <= Thin::LENGTH_MAX, "{length} bytes in one piece");
    Layout::from_size_align(size_class(HEADER + length), align_of::<u64>())
        .expect("far below the limit of a layout")
}

impl Thin {
    /// The longest block.
    pub(crate) const LENGTH_MAX: usize = u32::MAX as usize - HEADER;

    /// The memory of a block of so many bytes.
    #[inline]
    pub(crate) const fn memory(length: usize) -> usize {
        size_class(HEADER + length)
    }

    /// The bytes of `parts`, one after the other.
    pub(crate) fn new(parts: &[&[u8]]) -> Self {
        let length = parts.iter().map(|part| part.len()).sum();
        let layout = layout(length);
        // SAFETY: a size class is never zero.
        let block = unsafe { alloc::alloc(layout) };
        let block = NonNull::new(block).unwrap_or_else(|| alloc::handle_alloc_error(layout));
        let mut filled = HEADER;
        for part in parts {
            // SAFETY: the block has room for the header and all parts, and nobody else knows it.
            unsafe {
                block.add(filled).copy_from_nonoverlapping(NonNull::from(*part).cast(), part.len());
            }
            filled += part.len();
        }
        let thin = Thin { block };
        thin.set_length(length);
        thin
    }

    #[inline]
    fn length(&self) -> usize {
        // SAFETY: INV-BLOCK. The layout is aligned for the length.
        unsafe { self.block.cast::<u32>().read() as usize }
    }

    /// Writes the header. The caller restores INV-BLOCK and INV-FILLED for the new length; bytes that
    /// are not initialised must not be claimed.
    #[inline]
    fn set_length(&self, length: usize) {
        debug_assert!(length <= Self::LENGTH_MAX);
        // SAFETY: INV-BLOCK. The layout is aligned for the length.
        unsafe { self.block.cast::<u32>().write(length as u32) };
    }

    /// The memory it holds.
    #[inline]
    pub(crate) fn heap_bytes(&self) -> usize {
        Thin::memory(self.length())
    }

    /// A hint for the first cache lines.
    #[inline]
    pub(crate) fn hint(&self) -> Hint {
        Hint::at(self.block.as_ptr())
    }

    /// A hint for the cache lines after these. Reads the first one.
    #[inline]
    pub(crate) fn rest(&self) -> Hint {
        Hint::behind(self.block.as_ptr(), HEADER + self.length())
    }

    /// Moves the bytes to another block of the same size, which the allocator chooses anew.
    pub(crate) fn relocate(&mut self) {
        let moved = Thin::new(&[self]);
        *self = moved;
    }

    /// Replaces the bytes of `range`, as [`Vec::splice`] does. Copies the bytes behind them if the
    /// length changes, and allocates only if the size class changes.
    ///
    /// # Panics
    ///
    /// If the range is not within the bytes.
    pub(crate) fn splice(&mut self, range: Range<usize>, with: &[u8]) {
        let old = self.length();
        assert!(range.start <= range.end && range.end <= old, "{range:?} of {old} bytes");
        let new = old - range.len() + with.len();
        let (from, to) = (HEADER + range.end, HEADER + range.start + with.len());
        let behind = old - range.end;
        // The bytes behind the range move while the block has room for both their old and their new
        // place.
        if new > old {
            self.resize(old, new);
        }
        if from != to {
            // SAFETY: the block has room for `old` and for `new` bytes at this point, and the
            // `behind` bytes end at `old` before and at `new` after the move.
            unsafe { self.block.add(to).copy_from(self.block.add(from), behind) };
        }
        // SAFETY: `with` ends where the bytes behind it begin, and cannot be part of this block,
        // which is borrowed exclusively.
        unsafe {
            let place = self.block.add(HEADER + range.start);
            place.copy_from_nonoverlapping(NonNull::from(with).cast(), with.len());
        }
        if new < old {
            self.resize(old, new);
        }
        self.set_length(new);
    }

    /// Gives the block the layout for `new` bytes; the caller writes the length.
    fn resize(&mut self, old: usize, new: usize) {
        let (old, new) = (layout(old), layout(new));
        if old.size() == new.size() {
            return;
        }
        // SAFETY: INV-BLOCK says that the block has this layout. A size class is never zero and
        // fits in an `isize`.
        let block = unsafe { alloc::realloc(self.block.as_ptr(), old, new.size()) };
        self.block = NonNull::new(block).unwrap_or_else(|| alloc::handle_alloc_error(new));
    }
}

impl Drop for Thin {
    fn drop(&mut self) {
        let layout = layout(self.length());
        // SAFETY: INV-BLOCK.
        unsafe { alloc::dealloc(self.block.as_ptr(), layout) };
    }
}

impl Deref for Thin {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: INV-BLOCK, INV-FILLED. The bytes live as long as the borrow of their owner.
        unsafe { &*ptr::slice_from_raw_parts(self.block.add(HEADER).as_ptr(), self.length()) }
    }
}

impl DerefMut for Thin {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: INV-BLOCK, INV-FILLED, and the owner is borrowed exclusively.
        unsafe {
            &mut *ptr::slice_from_raw_parts_mut(self.block.add(HEADER).as_ptr(), self.length())
        }
    }
}

impl fmt::Debug for Thin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thin({} bytes)", self.length())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_lie_one_after_the_other() {
        assert_eq!(&*Thin::new(&[b"one", b"", b"two"]), b"onetwo");
        assert_eq!(&*Thin::new(&[]), b"");
    }

    #[test]
    fn what_is_counted_is_the_size_class() {
        assert_eq!(Thin::new(&[]).heap_bytes(), 8);
        assert_eq!(Thin::new(&[&[0; 92]]).heap_bytes(), 96);
        assert_eq!(Thin::new(&[&[0; 93]]).heap_bytes(), 104);
    }

    #[test]
    fn a_splice_within_the_class_stays_where_it_is() {
        let mut thin = Thin::new(&[&[1; 77]]);
        let before = thin.as_ptr();
        thin.splice(10..20, &[2; 14]);
        thin.splice(0..3, &[]);
        assert_eq!(thin.as_ptr(), before);
        assert_eq!(thin.len(), 78);
    }

    #[test]
    fn what_is_relocated_has_another_block_and_the_same_bytes() {
        let mut thin = Thin::new(&[b"some bytes"]);
        let before = thin.as_ptr();
        thin.relocate();
        assert_ne!(thin.as_ptr(), before);
        assert_eq!(&*thin, b"some bytes");
    }

    #[test]
    #[should_panic(expected = "of 3 bytes")]
    fn a_range_outside_is_refused() {
        Thin::new(&[b"abc"]).splice(2..4, b"");
    }

    proptest! {
        #[test]
        fn splices_do_what_they_do_to_a_vector(
            start in proptest::collection::vec(any::<u8>(), 0..300),
            edits in proptest::collection::vec(
                (any::<usize>(), any::<usize>(), proptest::collection::vec(any::<u8>(), 0..200)),
                0..20,
            ),
        ) {
            let mut thin = Thin::new(&[&start]);
            let mut model = start;
            for (from, to, with) in edits {
                let (from, to) = (from % (model.len() + 1), to % (model.len() + 1));
                let range = from.min(to)..from.max(to);
                thin.splice(range.clone(), &with);
                model.splice(range, with);
                prop_assert_eq!(&*thin, &*model);
                prop_assert_eq!(thin.heap_bytes(), size_class(4 + model.len()));
            }
            thin.reverse();
            model.reverse();
            prop_assert_eq!(&*thin, &*model);
        }
    }
}
