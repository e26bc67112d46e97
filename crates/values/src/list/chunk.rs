// SPDX-License-Identifier: Apache-2.0
//! [`Chunk`]: a piece of a large list.

use std::ops::Range;

use super::End;
use super::code::Code;
use super::large::nth;
use super::pack::{self, Element, ListPack};
use allocator::size_class;

/// Some elements that follow each other, packed, with room at both ends.
///
/// ```text
///  | room │ elements … │ room |
///   0      start        len    capacity
/// ```
///
/// Adding or removing an element at an end moves no other one. When there is no room at an end, all
/// elements move to another allocation that has room.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    /// Where the first element begins.
    start: u32,
    count: u32,
}

impl Chunk {
    /// A chunk without elements, which has no memory yet.
    pub(super) fn new() -> Self {
        Chunk { bytes: Vec::new(), start: 0, count: 0 }
    }

    /// The elements.
    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start as usize..]
    }

    /// The elements.
    #[inline]
    pub(super) fn pack(&self) -> ListPack<'_> {
        ListPack::new(self.as_bytes())
    }

    /// Bytes of the elements.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() - self.start as usize
    }

    /// Elements.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// All memory.
    pub(super) fn heap_bytes(&self) -> usize {
        size_class(self.bytes.capacity())
    }

    /// Bytes that can be added at an end without moving what is there.
    pub(super) fn room(&self, end: End) -> usize {
        match end {
            End::Front => self.start as usize,
            End::Back => self.bytes.capacity() - self.bytes.len(),
        }
    }

    /// Moves to an allocation of `capacity`, with room for `len` bytes at an end. The other end
    /// keeps the room that it has, but takes no more than half of what is left.
    fn make_room(&mut self, end: End, len: usize, capacity: usize) {
        let spare = capacity.saturating_sub(self.size() + len);
        let start = match end {
            End::Front => len + spare - (spare / 2).min(self.room(End::Back)),
            End::Back => (spare / 2).min(self.room(End::Front)),
        };
        let mut bytes = Vec::with_capacity(capacity.max(self.size() + len));
        bytes.resize(start, 0);
        bytes.extend_from_slice(self.as_bytes());
        self.bytes = bytes;
        self.start = u32::try_from(start).expect("a huge element is added behind no other");
    }

    /// Adds an element at an end. If there is no room for it, the elements move to an allocation of
    /// the size that `capacity` returns, given the bytes of all elements, or a larger one if they
    /// do not fit.
    pub(super) fn push(&mut self, end: End, code: Code<'_>, capacity: impl FnOnce(usize) -> usize) {
        let len = code.len();
        if self.room(end) < len {
            self.make_room(end, len, capacity(self.size() + len));
        }
        let at = match end {
            End::Front => {
                self.start -= len as u32;
                self.start as usize
            }
            End::Back => {
                let at = self.bytes.len();
                self.bytes.resize(at + len, 0);
                at
            }
        };
        code.write(&mut self.bytes[at..]);
        self.count += 1;
    }

    /// The element at an end.
    pub(super) fn last(&self, end: End) -> Element<'_> {
        let element = match end {
            End::Front => self.pack().at(0),
            End::Back => self.pack().before(self.size()),
        };
        element.expect("INV-CHUNK: no chunk is empty")
    }

    /// The bytes that `count` elements at an end take.
    pub(super) fn end_len(&self, end: End, count: usize) -> usize {
        let stays = self.count() - count;
        match end {
            _ if stays == 0 => self.size(),
            End::Front => nth(self.pack(), self.count(), count).start,
            End::Back => self.size() - nth(self.pack(), self.count(), stays - 1).end(),
        }
    }

    /// The `len` bytes at an end.
    pub(super) fn end_bytes(&self, end: End, len: usize) -> &[u8] {
        match end {
            End::Front => &self.as_bytes()[..len],
            End::Back => &self.as_bytes()[self.size() - len..],
        }
    }

    /// Removes the first or last `len` bytes, which are `count` elements.
    pub(super) fn drop_end(&mut self, end: End, len: usize, count: usize) {
        match end {
            End::Front => self.start += len as u32,
            End::Back => self.bytes.truncate(self.bytes.len() - len),
        }
        self.count -= count as u32;
    }

    /// Replaces the `count` elements in `range` by one element.
    pub(super) fn replace(&mut self, range: Range<usize>, count: usize, code: Code<'_>) {
        let start = self.start as usize;
        let len = code.len();
        self.bytes.reserve_exact(len.saturating_sub(range.len()));
        pack::replace(&mut self.bytes, start + range.start..start + range.end, code);
        self.count = self.count + 1 - count as u32;
    }

    /// Replaces all elements.
    pub(super) fn set(&mut self, bytes: Vec<u8>, count: usize) {
        *self = Chunk { bytes, start: 0, count: count as u32 };
    }

    /// Appends the elements of the chunk behind this one.
    pub(super) fn append(&mut self, other: &Chunk) {
        self.make_room(End::Back, other.size(), self.size() + other.size());
        self.bytes.extend_from_slice(other.as_bytes());
        self.count += other.count;
    }

    /// Splits off the second half of the elements, by bytes, into a chunk of its own. There are two
    /// or more elements.
    pub(super) fn split(&mut self) -> Chunk {
        let (mut at, mut count) = (0, 0);
        for element in self.pack().elements() {
            // The first one stays and the last one goes, however large they are.
            if at > 0 && element.end() > self.size() / 2 {
                break;
            }
            (at, count) = (element.end(), count + 1);
        }
        let mut right = Chunk::new();
        right.set(self.as_bytes()[at..].to_vec(), self.count() - count);
        self.bytes.truncate(self.start as usize + at);
        self.count = count as u32;
        right
    }

    /// Gives back the room at the ends, if that is worth the copy.
    pub(super) fn tighten(&mut self) {
        if self.heap_bytes() > size_class(self.size() + self.size() / 8) {
            self.set(self.as_bytes().to_vec(), self.count());
        }
    }

    /// A copy without room.
    pub(super) fn copy(&self) -> Chunk {
        Chunk { bytes: self.as_bytes().to_vec(), start: 0, count: self.count }
    }
}
