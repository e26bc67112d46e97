// SPDX-License-Identifier: Apache-2.0
//! [`LargeList`]: the form of a list that is too big to be packed in its entry.
//!
//! Elements are packed in [chunks](Chunk) of about the size that `list-max-listpack-size` sets; a
//! larger element is alone in its chunk. Chunks have counts, so an index is found by skipping
//! chunks from the nearer end and walking through one.
//!
//! * INV-CHUNK: no chunk is empty, and each knows how many elements it has.
//! * INV-HEAP: `heap` is the memory of all chunks.

use std::collections::VecDeque;

use super::End;
use super::chunk::Chunk;
use super::code::Code;
use super::measure::Measure;
use super::pack::{Element, ListPack};
use super::size::Caps;
use crate::Encoding;
use allocator::size_class;

/// A list in chunks.
#[derive(Debug)]
pub(crate) struct LargeList {
    chunks: VecDeque<Chunk>,
    measure: Measure,
    /// Memory of all chunks.
    heap: usize,
}

/// Where an element is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) chunk: usize,
    /// Where it begins in the chunk.
    pub(super) start: usize,
    /// Where the next one begins.
    pub(super) end: usize,
}

impl LargeList {
    /// A list with the elements of one that was packed in its entry, where it was called a
    /// listpack.
    pub(super) fn new(pack: ListPack<'_>, caps: Caps) -> Self {
        // Many lists have one chunk.
        let chunks = VecDeque::with_capacity(1);
        let mut list = LargeList { chunks, measure: Measure::new(), heap: 0 };
        pack.codes().for_each(|code| list.push(End::Back, code, caps));
        list
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.measure.len()
    }

    /// Bytes of all elements.
    pub(super) fn size(&self) -> usize {
        self.measure.size()
    }

    /// What a client is told.
    pub(crate) fn encoding(&self) -> Encoding {
        self.measure.encoding()
    }

    /// All memory behind this struct. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        size_class(self.chunks.capacity() * size_of::<Chunk>()) + self.heap
    }

    /// About how many allocations there are.
    pub(crate) fn pieces(&self) -> usize {
        self.chunks.len()
    }

    /// A deep copy, as small as it can be.
    pub(crate) fn copy(&self) -> LargeList {
        let chunks: VecDeque<Chunk> = self.chunks.iter().map(Chunk::copy).collect();
        let heap = chunks.iter().map(Chunk::heap_bytes).sum();
        LargeList { chunks, measure: self.measure.clone(), heap }
    }

    /// Frees up to `budget` chunks. Returns true when nothing is left. The list can be used for
    /// nothing else from then on.
    pub(crate) fn free_some(&mut self, budget: usize) -> bool {
        for _ in 0..budget {
            let Some(chunk) = self.chunks.pop_back() else { break };
            self.heap -= chunk.heap_bytes();
        }
        self.chunks.is_empty()
    }

    pub(super) fn chunks(&self) -> &VecDeque<Chunk> {
        &self.chunks
    }

    /// Where the element of this index is, which is there.
    pub(super) fn locate(&self, index: usize) -> Place {
        let (at, rest) = self.find(index);
        let chunk = &self.chunks[at];
        let element = nth(chunk.pack(), chunk.count(), rest);
        Place { chunk: at, start: element.start, end: element.end() }
    }

    /// The chunk with the element of this index, and the element's index in there.
    fn find(&self, index: usize) -> (usize, usize) {
        if index < self.len() / 2 {
            let mut rest = index;
            for (at, chunk) in self.chunks.iter().enumerate() {
                if rest < chunk.count() {
                    return (at, rest);
                }
                rest -= chunk.count();
            }
        } else {
            let mut rest = self.len() - index;
            for (at, chunk) in self.chunks.iter().enumerate().rev() {
                if rest <= chunk.count() {
                    return (at, chunk.count() - rest);
                }
                rest -= chunk.count();
            }
        }
        unreachable!("INV-CHUNK: no chunk has the element {index}")
    }

    /// Where the first element is that is `code`.
    pub(super) fn position(&self, code: Code<'_>) -> Option<Place> {
        self.chunks.iter().enumerate().find_map(|(chunk, content)| {
            let element = content.pack().find(code)?;
            Some(Place { chunk, start: element.start, end: element.end() })
        })
    }

    /// Announces elements to be pushed, and the bytes of their texts: the list may not be called a
    /// listpack any more.
    pub(super) fn announce(&mut self, elements: usize, bytes: usize, caps: Caps) {
        self.measure.announce(elements, bytes, caps);
    }

    /// Called when no more elements will be removed: the list may be called a listpack again.
    pub(super) fn shrunk(&mut self, caps: Caps) {
        let codes = self.chunks.iter().flat_map(|chunk| chunk.pack().codes());
        self.measure.shrunk(caps, codes);
    }

    fn end_mut(&mut self, end: End) -> Option<&mut Chunk> {
        match end {
            End::Front => self.chunks.front_mut(),
            End::Back => self.chunks.back_mut(),
        }
    }

    fn push_chunk(&mut self, end: End, chunk: Chunk) {
        self.heap += chunk.heap_bytes();
        match end {
            End::Front => self.chunks.push_front(chunk),
            End::Back => self.chunks.push_back(chunk),
        }
    }

    fn pop_chunk(&mut self, end: End) -> Option<Chunk> {
        let chunk = match end {
            End::Front => self.chunks.pop_front(),
            End::Back => self.chunks.pop_back(),
        }?;
        self.heap -= chunk.heap_bytes();
        // A list that was long gives the memory of its table back.
        if self.chunks.len() < self.chunks.capacity() / 8 {
            self.chunks.shrink_to(2 * self.chunks.len());
        }
        Some(chunk)
    }

    /// Changes a chunk, and notes what that does to its memory.
    fn change<R>(&mut self, at: usize, change: impl FnOnce(&mut Chunk) -> R) -> R {
        let chunk = &mut self.chunks[at];
        self.heap -= chunk.heap_bytes();
        let result = change(chunk);
        self.heap += chunk.heap_bytes();
        result
    }

    /// Adds an element at an end.
    pub(super) fn push(&mut self, end: End, code: Code<'_>, caps: Caps) {
        self.measure.count_in(code, caps);
        let (len, whole) = (code.len(), self.measure.size());
        if !self.end_mut(end).is_some_and(|chunk| fits(chunk, end, len, caps)) {
            if let Some(last) = self.last(end) {
                self.change(last, Chunk::tighten);
            }
            self.push_chunk(end, Chunk::new());
        }
        let last = self.last(end).expect("a chunk has just been added");
        self.change(last, |chunk| {
            chunk.push(end, code, |needed| {
                // There may be many lists that are not long.
                let spare = (whole / 8).min(caps.bytes / 4);
                size_class(needed + spare).min(caps.bytes)
            });
        });
    }

    /// The place of the chunk at an end.
    fn last(&self, end: End) -> Option<usize> {
        let last = self.chunks.len().checked_sub(1)?;
        Some(if end == End::Front { 0 } else { last })
    }

    /// Takes out the element at an end, and shows it.
    pub(super) fn pop<R>(&mut self, end: End, gone: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let chunk = match end {
            End::Front => self.chunks.front_mut(),
            End::Back => self.chunks.back_mut(),
        }?;
        let element = chunk.last(end);
        self.measure.count_out(element.code());
        let result = gone(&element.text());
        let len = element.range().len();
        chunk.drop_end(end, len, 1);
        if chunk.count() == 0 {
            self.pop_chunk(end);
        }
        Some(result)
    }

    /// Removes `count` elements, which must exist, from an end.
    pub(super) fn drop_end(&mut self, end: End, mut count: usize) {
        while count > 0 {
            let Some(mut chunk) = self.pop_chunk(end) else { return };
            let goes = count.min(chunk.count());
            count -= goes;
            let gone = chunk.end_len(end, goes);
            self.measure.count_out_all(chunk.end_bytes(end, gone), goes);
            chunk.drop_end(end, gone, goes);
            if chunk.count() > 0 {
                self.push_chunk(end, chunk);
            }
        }
    }

    /// Puts an element in the place of one.
    pub(super) fn replace(&mut self, place: Place, code: Code<'_>, caps: Caps) {
        let Place { chunk, start, end } = place;
        let old = self.chunks[chunk].pack().at(start);
        self.measure.count_out(old.expect("the place is that of an element").code());
        self.measure.count_in(code, caps);
        self.change(chunk, |chunk| chunk.replace(start..end, 1, code));
        self.divide(chunk, caps);
        self.join(chunk, caps);
    }

    /// Puts an element into a chunk, at a border between two others.
    pub(super) fn insert(&mut self, chunk: usize, border: usize, code: Code<'_>, caps: Caps) {
        self.measure.count_in(code, caps);
        self.change(chunk, |chunk| chunk.replace(border..border, 0, code));
        self.divide(chunk, caps);
    }

    /// Makes chunks of a chunk that has become too large.
    fn divide(&mut self, at: usize, caps: Caps) {
        let chunk = &self.chunks[at];
        if chunk.count() == 1 || !caps.are_exceeded_by(chunk.size(), chunk.count()) {
            return;
        }
        let right = self.change(at, |chunk| {
            let right = chunk.split();
            chunk.tighten();
            right
        });
        self.heap += right.heap_bytes();
        self.chunks.insert(at + 1, right);
        self.divide(at + 1, caps);
        self.divide(at, caps);
    }

    /// Makes one chunk of a chunk and a neighbour when both are small.
    fn join(&mut self, at: usize, caps: Caps) {
        let left = at.saturating_sub(1);
        for left in [at, left] {
            let Some(right) = self.chunks.get(left + 1) else { continue };
            if are_small(&self.chunks[left], right, caps)
                && let Some(right) = self.chunks.remove(left + 1)
            {
                self.heap -= right.heap_bytes();
                self.change(left, |chunk| chunk.append(&right));
            }
        }
    }

    /// Removes up to `count` elements that are `code`, from an end on. Returns how many.
    pub(super) fn remove(&mut self, from: End, count: usize, code: Code<'_>, caps: Caps) -> usize {
        let mut removed = 0;
        for step in 0..self.chunks.len() {
            let at = if from == End::Front { step } else { self.chunks.len() - 1 - step };
            let chunk = &self.chunks[at];
            let rest = without(chunk.as_bytes(), from, count - removed, code);
            if let Some((kept, gone)) = rest {
                let left = chunk.count() - gone;
                self.change(at, |chunk| chunk.set(kept, left));
                removed += gone;
            }
            if removed == count {
                break;
            }
        }
        for _ in 0..removed {
            self.measure.count_out(code);
        }
        if removed > 0 {
            self.compact(caps);
        }
        removed
    }

    /// Removes empty chunks, and joins small neighbours.
    fn compact(&mut self, caps: Caps) {
        let mut kept: VecDeque<Chunk> = VecDeque::new();
        for chunk in self.chunks.drain(..).filter(|chunk| chunk.count() > 0) {
            match kept.back_mut() {
                Some(last) if are_small(last, &chunk, caps) => last.append(&chunk),
                _ => kept.push_back(chunk),
            }
        }
        self.heap = kept.iter().map(Chunk::heap_bytes).sum();
        self.chunks = kept;
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        for chunk in &self.chunks {
            assert!(chunk.count() > 0, "INV-CHUNK: an empty chunk");
            assert_eq!(chunk.pack().check(), chunk.count(), "INV-CHUNK: elements");
        }
        let heap: usize = self.chunks.iter().map(Chunk::heap_bytes).sum();
        assert_eq!(self.heap, heap, "INV-HEAP");
        self.measure.check(self.chunks.iter().flat_map(|chunk| chunk.pack().codes()));
    }
}

/// Whether an element of `len` bytes is added to this chunk: there is room for it, or making room
/// is worth it because many others will fit too.
fn fits(chunk: &Chunk, end: End, len: usize, caps: Caps) -> bool {
    let most = if chunk.room(end) < len { caps.bytes - caps.bytes / 8 } else { caps.bytes };
    chunk.size() + len <= most && chunk.count() < caps.elements
}

/// Whether two neighbours are to become one chunk.
fn are_small(left: &Chunk, right: &Chunk, caps: Caps) -> bool {
    left.size() + right.size() <= caps.bytes / 2
        && left.count() + right.count() <= caps.elements / 2
}

/// The element of this index in a pack of `count` elements, found from the nearer end.
pub(super) fn nth(pack: ListPack<'_>, count: usize, index: usize) -> Element<'_> {
    let element = if index < count / 2 {
        pack.elements().nth(index)
    } else {
        pack.elements().nth_back(count - 1 - index)
    };
    element.expect("INV-CHUNK: a chunk knows how many elements it has")
}

/// A pack without up to `count` of the elements that are `code`, from an end on, and how many were
/// left out. `None` if there are none.
pub(super) fn without(
    bytes: &[u8],
    from: End,
    count: usize,
    code: Code<'_>,
) -> Option<(Vec<u8>, usize)> {
    let pack = ListPack::new(bytes);
    let found = pack.codes().filter(|other| *other == code).count();
    if found == 0 {
        return None;
    }
    let goes = count.min(found);
    let going = match from {
        End::Front => 0..goes,
        End::Back => found - goes..found,
    };
    let gone = goes * code.len();
    let mut kept = Vec::with_capacity(bytes.len() - gone);
    let mut seen = 0;
    for element in pack.elements() {
        let is_found = element.code() == code;
        if !(is_found && going.contains(&seen)) {
            kept.extend_from_slice(&bytes[element.range()]);
        }
        seen += usize::from(is_found);
    }
    Some((kept, goes))
}
