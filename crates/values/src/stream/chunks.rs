// SPDX-License-Identifier: Apache-2.0
//! [`SortedChunks`]: a sorted sequence in pieces of bounded length.
//!
//! Elements are found by binary search, first among the chunks and then within one. An edit moves
//! the elements of one chunk. Elements that come in order fill their chunks, so that a sequence that
//! grows at its end takes little more than its elements.
//!
//! INV-CHUNKS: no chunk is empty, and none has more than [`CHUNK_MAX`] elements; `len` is the sum of
//! their lengths, and `bytes` the memory of their allocations.

use allocator::size_class;
use std::collections::VecDeque;

/// The most elements of a chunk.
const CHUNK_MAX: usize = 64;

/// A sorted sequence. Its owner knows the order.
#[derive(Debug)]
pub(crate) struct SortedChunks<T> {
    chunks: VecDeque<Vec<T>>,
    len: usize,
    bytes: usize,
}

/// Where an element is, or is to be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    chunk: usize,
    at: usize,
}

impl<T> SortedChunks<T> {
    pub(crate) const fn new() -> Self {
        SortedChunks { chunks: VecDeque::new(), len: 0, bytes: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory of the sequence, without what its elements own.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes + size_class(self.chunks.capacity() * size_of::<Vec<T>>())
    }

    /// The first place whose element is not `before`, which is true of the elements up to some place
    /// and of none behind.
    pub(crate) fn partition(&self, before: impl Fn(&T) -> bool) -> Place {
        let is_before = |chunk: &Vec<T>| chunk.last().is_some_and(&before);
        // Most searches are for what was added last.
        let chunk = match self.chunks.back() {
            Some(last) if last.first().is_some_and(&before) => {
                self.chunks.len() - usize::from(!is_before(last))
            }
            _ => self.chunks.partition_point(is_before),
        };
        let at = self.chunks.get(chunk).map_or(0, |chunk| chunk.partition_point(before));
        Place { chunk, at }
    }

    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        self.chunks.get(place.chunk)?.get(place.at)
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        self.chunks.get_mut(place.chunk)?.get_mut(place.at)
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.chunks.front()?.first()
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.chunks.back()?.last()
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.chunks.back_mut()?.last_mut()
    }

    /// All elements, to edit. What they own is not accounted for here.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten()
    }

    /// The place of the first element.
    pub(crate) fn start(&self) -> Place {
        Place { chunk: 0, at: 0 }
    }

    /// The place behind the last element.
    pub(crate) fn end(&self) -> Place {
        Place { chunk: self.chunks.len(), at: 0 }
    }

    /// Inserts an element before the one at `place`.
    pub(crate) fn insert(&mut self, place: Place, element: T) {
        let Place { mut chunk, mut at } = place;
        if chunk == self.chunks.len() {
            match self.chunks.back() {
                Some(last) if last.len() < CHUNK_MAX => {
                    chunk -= 1;
                    at = last.len();
                }
                Some(_) => self.chunks.push_back(Vec::new()),
                None => {
                    // Many stay alone: the default is room for four.
                    let alone = Vec::with_capacity(1);
                    self.bytes += bytes_of(&alone);
                    self.chunks.reserve_exact(1);
                    self.chunks.push_back(alone);
                }
            }
        } else if self.chunks[chunk].len() == CHUNK_MAX {
            let rest = self.edit(chunk, |elements| elements.split_off(CHUNK_MAX / 2));
            self.bytes += bytes_of(&rest);
            self.chunks.insert(chunk + 1, rest);
            if at > CHUNK_MAX / 2 {
                chunk += 1;
                at -= CHUNK_MAX / 2;
            }
        }
        self.edit(chunk, |elements| elements.insert(at, element));
        self.len += 1;
    }

    /// Adds an element that is behind all others.
    pub(crate) fn push(&mut self, element: T) {
        self.insert(self.end(), element);
    }

    /// Removes the element at `place`, which is there.
    pub(crate) fn remove(&mut self, place: Place) -> T {
        let Place { chunk, at } = place;
        let element = self.edit(chunk, |elements| {
            let element = elements.remove(at);
            if elements.len() * 4 <= elements.capacity() && elements.capacity() > 4 {
                elements.shrink_to(elements.capacity() / 2);
            }
            element
        });
        self.len -= 1;
        self.join(chunk);
        element
    }

    /// Removes the first element.
    pub(crate) fn pop_first(&mut self) -> Option<T> {
        (!self.is_empty()).then(|| self.remove(self.start()))
    }

    /// Removes a chunk that is empty, or appends to it the next one if both are small.
    fn join(&mut self, chunk: usize) {
        let len = self.chunks[chunk].len();
        if len == 0 {
            let gone = self.chunks.remove(chunk).unwrap_or_default();
            self.bytes -= bytes_of(&gone);
            if self.chunks.len() * 4 <= self.chunks.capacity() && self.chunks.capacity() > 16 {
                self.chunks.shrink_to(self.chunks.capacity() / 2);
            }
        } else if len < CHUNK_MAX / 4
            && let Some(next) = self.chunks.get(chunk + 1)
            && len + next.len() <= CHUNK_MAX / 2
            && let Some(mut next) = self.chunks.remove(chunk + 1)
        {
            self.bytes -= bytes_of(&next);
            self.edit(chunk, |elements| elements.append(&mut next));
        }
    }

    /// Edits a chunk and accounts for its memory.
    fn edit<R>(&mut self, chunk: usize, edit: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let elements = &mut self.chunks[chunk];
        self.bytes -= bytes_of(elements);
        let result = edit(elements);
        self.bytes += bytes_of(elements);
        result
    }

    /// Removes some of the elements: a chunk of them.
    pub(crate) fn take_chunk(&mut self) -> Option<Vec<T>> {
        let chunk = self.chunks.pop_back()?;
        self.len -= chunk.len();
        self.bytes -= bytes_of(&chunk);
        Some(chunk)
    }

    /// The elements from one place to another.
    pub(crate) fn range(&self, from: Place, to: Place) -> Elements<'_, T> {
        Elements { chunks: &self.chunks, from, to }
    }

    /// All elements.
    pub(crate) fn iter(&self) -> Elements<'_, T> {
        self.range(self.start(), self.end())
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(crate) fn check(&self, is_before: impl Fn(&T, &T) -> bool) {
        let (mut len, mut bytes) = (0, 0);
        for chunk in &self.chunks {
            assert!((1..=CHUNK_MAX).contains(&chunk.len()), "INV-CHUNKS: {}", chunk.len());
            len += chunk.len();
            bytes += bytes_of(chunk);
        }
        assert_eq!((len, bytes), (self.len, self.bytes), "INV-CHUNKS");
        let pairs = self.iter().zip(self.iter().skip(1));
        assert!(pairs.into_iter().all(|(one, next)| is_before(one, next)), "INV-CHUNKS: the order");
    }
}

impl<T: Clone> Clone for SortedChunks<T> {
    fn clone(&self) -> Self {
        let chunks: VecDeque<Vec<T>> = self.chunks.clone();
        let bytes = chunks.iter().map(bytes_of).sum();
        SortedChunks { chunks, len: self.len, bytes }
    }
}

/// The memory of a chunk.
fn bytes_of<T>(chunk: &Vec<T>) -> usize {
    size_class(chunk.capacity() * size_of::<T>())
}

/// Elements in their order, or backwards.
#[derive(Debug)]
pub(crate) struct Elements<'a, T> {
    chunks: &'a VecDeque<Vec<T>>,
    from: Place,
    to: Place,
}

impl<T> Clone for Elements<'_, T> {
    fn clone(&self) -> Self {
        Elements { chunks: self.chunks, from: self.from, to: self.to }
    }
}

impl<T> Elements<'_, T> {
    fn is_over(&self) -> bool {
        (self.from.chunk, self.from.at) >= (self.to.chunk, self.to.at)
    }
}

impl<'a, T> Iterator for Elements<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        if self.is_over() {
            return None;
        }
        let chunk = &self.chunks[self.from.chunk];
        let element = &chunk[self.from.at];
        self.from.at += 1;
        if self.from.at == chunk.len() {
            self.from = Place { chunk: self.from.chunk + 1, at: 0 };
        }
        Some(element)
    }
}

impl<T> DoubleEndedIterator for Elements<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.is_over() {
            return None;
        }
        if self.to.at == 0 {
            self.to.chunk -= 1;
            self.to.at = self.chunks[self.to.chunk].len();
        }
        self.to.at -= 1;
        Some(&self.chunks[self.to.chunk][self.to.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_element_alone_has_no_room_for_others() {
        let mut numbers = SortedChunks::new();
        numbers.push([0_u64; 6]);
        assert_eq!(numbers.heap_bytes(), size_class(48) + size_class(size_of::<Vec<u64>>()));
        numbers.push([1; 6]);
        numbers.check(|one, next| one < next);
    }

    #[test]
    fn what_comes_in_order_fills_its_chunks() {
        let mut numbers = SortedChunks::new();
        (0..64_000_u64).for_each(|number| numbers.push(number));
        assert_eq!(numbers.len(), 64_000);
        assert!(numbers.heap_bytes() < 64_000 * 8 * 11 / 10, "{}", numbers.heap_bytes());
        (0..64_000).for_each(|number| assert_eq!(numbers.pop_first(), Some(number)));
        assert!(numbers.heap_bytes() < 1000);
    }

    proptest! {
        #[test]
        fn edits_do_what_they_do_to_a_set(edits in proptest::collection::vec(
            (any::<bool>(), 0..400_u16), 0..2000,
        )) {
            let (mut numbers, mut model) = (SortedChunks::new(), std::collections::BTreeSet::new());
            for (adds, number) in edits {
                let place = numbers.partition(|other| *other < number);
                let is_there = numbers.get(place) == Some(&number);
                prop_assert_eq!(is_there, model.contains(&number));
                if adds && !is_there {
                    numbers.insert(place, number);
                    model.insert(number);
                } else if !adds && is_there {
                    prop_assert_eq!(numbers.remove(place), number);
                    model.remove(&number);
                }
                numbers.check(|one, next| one < next);
                let end = numbers.partition(|other| *other < number + 50);
                let place = numbers.partition(|other| *other < number);
                prop_assert!(numbers.range(place, end).eq(model.range(number..number + 50)));
                let reversed = model.range(number..number + 50).rev();
                prop_assert!(numbers.range(place, end).rev().eq(reversed));
            }
            prop_assert!(numbers.clone().iter().eq(&model));
            while numbers.take_chunk().is_some() {}
            prop_assert_eq!((numbers.len(), numbers.bytes), (0, 0));
        }
    }
}
