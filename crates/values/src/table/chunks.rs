// SPDX-License-Identifier: Apache-2.0
//! [`Chunks`]: a growing sequence whose elements never move.
//!
//! The chunks hold 1, 1, 1, 1, 2, 2, 2, 2 and so on to 512 elements, and then 1,024 each
//! ([`Quarters`]). So a small sequence is small, at most about a quarter of the memory is allocated
//! ahead, and a large sequence grows without copying more than the list of its chunks. Nothing is
//! initialised before it is used.

use crate::quarters::Quarters;
use allocator::size_class;

/// The sizes of the chunks.
type Sizes = Quarters<0, 10>;

/// Chunks for which the list of them grows, as long as it is short: those of a size.
const LIST_STEP: usize = 4;

/// A sequence that is changed only at its end.
#[derive(Debug)]
pub(super) struct Chunks<B> {
    chunks: Vec<Vec<B>>,
    len: usize,
    /// Of all chunks, the list of them not included.
    heap_bytes: usize,
}

/// The chunk of an element and its place in there.
#[inline]
pub(super) fn locate(index: usize) -> (usize, usize) {
    Sizes::locate(index)
}

impl<B> Chunks<B> {
    pub(super) const fn new() -> Self {
        Chunks { chunks: Vec::new(), len: 0, heap_bytes: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many chunks there are.
    #[inline]
    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The address of the last chunk.
    #[inline]
    pub(super) fn last_chunk(&self) -> Option<usize> {
        self.chunks.last().map(|chunk| chunk.as_ptr().addr())
    }

    /// The addresses of all chunks.
    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> {
        self.chunks.iter().map(|chunk| chunk.as_ptr().addr())
    }

    /// Memory of the chunks and of the list of them.
    pub(super) fn heap_bytes(&self) -> usize {
        self.heap_bytes + size_class(self.chunks.capacity() * size_of::<Vec<B>>())
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&B> {
        let (chunk, place) = locate(index);
        self.chunks.get(chunk)?.get(place)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut B> {
        let (chunk, place) = locate(index);
        self.chunks.get_mut(chunk)?.get_mut(place)
    }

    /// A copy, with copies of the elements.
    pub(super) fn copy_with(&self, copy: impl FnMut(&B) -> B) -> Self {
        let mut copies = Chunks::new();
        self.iter().map(copy).for_each(|element| copies.push(element));
        copies
    }

    pub(super) fn push(&mut self, element: B) {
        let (chunk, _) = locate(self.len);
        if chunk == self.chunks.len() {
            if chunk == self.chunks.capacity() && chunk < Sizes::SMALLER {
                // Most tables are small, and need no more than one.
                self.chunks.reserve_exact(if chunk == 0 { 1 } else { LIST_STEP });
            }
            self.chunks.push(Vec::with_capacity(Sizes::len(chunk)));
            self.heap_bytes += Self::chunk_bytes(chunk);
        }
        self.chunks[chunk].push(element);
        self.len += 1;
    }

    pub(super) fn pop(&mut self) -> Option<B> {
        let last = self.len.checked_sub(1)?;
        let (chunk, place) = locate(last);
        let element = self.chunks[chunk].pop();
        self.len = last;
        if place == 0 {
            self.chunks.pop();
            self.heap_bytes -= Self::chunk_bytes(chunk);
            // The list is halved when three quarters of it are unused.
            if self.chunks.is_empty() || self.chunks.len() < self.chunks.capacity() / 4 {
                self.chunks.shrink_to(self.chunks.len() * 2);
            }
        }
        element
    }

    /// All elements from the first to the last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &B> {
        self.chunks.iter().flatten()
    }

    fn chunk_bytes(chunk: usize) -> usize {
        size_class(Sizes::len(chunk) * size_of::<B>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_grows_and_shrinks_without_moving_its_elements() {
        let mut chunks = Chunks::new();
        for number in 0..5000_usize {
            assert_eq!(chunks.get(number), None);
            chunks.push(number);
            assert_eq!(chunks.len(), number + 1);
        }
        let first: *const usize = chunks.get(1).expect("it was pushed");
        chunks.push(5000);
        assert_eq!(first, chunks.get(1).expect("it was pushed"));
        assert!(chunks.iter().copied().eq(0..=5000));
        *chunks.get_mut(4096).expect("it was pushed") = 7;
        for number in (0..=5000).rev() {
            let expected = if number == 4096 { 7 } else { number };
            assert_eq!(chunks.get(number), Some(&expected));
            assert_eq!(chunks.pop(), Some(expected));
        }
        assert_eq!((chunks.pop(), chunks.heap_bytes()), (None, 0));
    }

    #[test]
    fn about_a_quarter_is_allocated_ahead() {
        let mut chunks = Chunks::new();
        for len in 1..20_000_usize {
            chunks.push(len);
            let allocated: usize = chunks.chunks.iter().map(Vec::capacity).sum();
            assert!(4 * allocated <= 5 * len, "{allocated} for {len}");
            assert!(allocated < len + 1024, "{allocated} for {len}");
            let list = chunks.chunks.capacity();
            assert!(list < chunks.chunks() + LIST_STEP || len > 4096, "a list of {list} for {len}");
        }
    }
}
