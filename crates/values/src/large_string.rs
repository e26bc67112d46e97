// SPDX-License-Identifier: Apache-2.0
//! [`LargeString`]: a string that a reply can hold by reference count.
//!
//! It is stored as [`Bytes`], so pinning it only increments a reference count. An edit turns it into
//! [`BytesMut`] for a moment. That copies nothing while nobody holds a pin, and keeps the spare
//! capacity, so appending is amortised. While there is a pin, an edit works on a copy, and the pin's
//! holder goes on reading the pinned string, which is an [orphan](crate::orphans) from then on.

use crate::orphans;
use allocator::size_class;
use bytes::{Bytes, BytesMut};

/// The memory that `Bytes` takes on the heap to count references: a pointer, a capacity and the
/// count.
const SHARED: usize = size_class(3 * size_of::<usize>());

/// A string of at least [`Entry::PIN_MIN`](crate::Entry::PIN_MIN) bytes.
#[derive(Debug)]
pub(crate) struct LargeString {
    bytes: Bytes,
    /// Of the allocation; `Bytes` does not tell.
    capacity: usize,
}

impl From<Vec<u8>> for LargeString {
    /// The string, without a copy of it.
    fn from(text: Vec<u8>) -> Self {
        LargeString { capacity: text.capacity(), bytes: Bytes::from(text) }
    }
}

impl LargeString {
    /// The bytes of `parts`, one after the other.
    pub(crate) fn new(parts: &[&[u8]]) -> Self {
        LargeString::from(parts.concat())
    }

    /// The string, without a copy of it, of which the memory has so many bytes.
    pub(crate) fn shared(bytes: Bytes, capacity: usize) -> Self {
        LargeString { bytes, capacity }
    }

    /// The string.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The string, by reference count.
    #[inline]
    pub(crate) fn pin(&self) -> Bytes {
        self.bytes.clone()
    }

    /// Replaces the string. In place if nobody holds a pin and the memory is about right.
    pub(crate) fn set(&mut self, text: &[u8]) {
        let fits = text.len() <= self.capacity && text.len() >= self.capacity / 2;
        match std::mem::take(&mut self.bytes).try_into_mut() {
            Ok(mut open) if fits => {
                open.clear();
                open.extend_from_slice(text);
                self.close(open);
            }
            Ok(_) => *self = LargeString::new(&[text]),
            Err(pinned) => {
                orphans::adopt(pinned, self.heap_bytes());
                *self = LargeString::new(&[text]);
            }
        }
    }

    /// Appends, in amortised O(`more`) while nobody holds a pin.
    pub(crate) fn append(&mut self, more: &[u8]) {
        let mut open = self.open(more.len());
        open.extend_from_slice(more);
        self.close(open);
    }

    /// Overwrites from `offset` on, with zeros before it if the string ends there.
    pub(crate) fn set_range(&mut self, offset: usize, with: &[u8]) {
        let end = offset + with.len();
        let mut open = if end / 2 > self.capacity {
            self.moved_to_zeros(end)
        } else {
            let mut open = self.open(end.saturating_sub(self.bytes.len()));
            if open.len() < end {
                open.resize(end, 0);
            }
            open
        };
        open[offset..end].copy_from_slice(with);
        self.close(open);
    }

    /// Shows the bytes to `edit`, which may change them.
    pub(crate) fn edit<R>(&mut self, edit: impl FnOnce(&mut [u8]) -> R) -> R {
        let mut open = self.open(0);
        let result = edit(&mut open);
        self.close(open);
        result
    }

    /// All memory it holds. Pinned memory counts once.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_class(self.capacity) + SHARED
    }

    /// The string to be edited, followed by zeros up to `len`. Zero pages from the system take neither time
    /// nor memory before they are written: an offset of half a gigabyte costs almost nothing.
    fn moved_to_zeros(&mut self, len: usize) -> BytesMut {
        let mut moved = BytesMut::zeroed(len);
        let before = std::mem::take(&mut self.bytes);
        moved[..before.len()].copy_from_slice(&before);
        orphans::adopt(before, self.heap_bytes());
        moved
    }

    /// The string to be edited, with room for `additional` bytes; `self` is empty meanwhile.
    fn open(&mut self, additional: usize) -> BytesMut {
        let mut open = match std::mem::take(&mut self.bytes).try_into_mut() {
            Ok(open) => open,
            Err(pinned) => {
                let mut copy = BytesMut::with_capacity(pinned.len() + additional);
                copy.extend_from_slice(&pinned);
                orphans::adopt(pinned, self.heap_bytes());
                copy
            }
        };
        open.reserve(additional);
        open
    }

    fn close(&mut self, open: BytesMut) {
        self.capacity = open.capacity();
        self.bytes = open.freeze();
    }
}

impl Drop for LargeString {
    fn drop(&mut self) {
        orphans::adopt(std::mem::take(&mut self.bytes), self.heap_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pin_is_the_string_itself_and_keeps_what_it_pinned() {
        let mut string = LargeString::new(&[b"before"]);
        let pin = string.pin();
        assert_eq!(pin.as_ptr(), string.as_bytes().as_ptr());
        string.append(b" and after");
        string.set_range(0, b"B");
        assert_eq!(pin, "before");
        assert_eq!(string.as_bytes(), b"Before and after");
    }

    #[test]
    fn appending_moves_the_string_rarely() {
        let mut string = LargeString::new(&[&[b'x'; 16_384]]);
        let mut moves = 0;
        for _ in 0..100_000 {
            let before = string.as_bytes().as_ptr();
            string.append(b"0123456789");
            moves += usize::from(string.as_bytes().as_ptr() != before);
        }
        assert_eq!(string.as_bytes().len(), 16_384 + 1_000_000);
        assert!(moves <= 7, "{moves} times");
        assert!(string.heap_bytes() < 2 * 1_100_000);
    }

    #[test]
    fn a_string_of_about_the_same_size_takes_the_place_of_the_old_one() {
        let mut string = LargeString::new(&[&[b'x'; 20_000]]);
        let before = string.as_bytes().as_ptr();
        drop(string.pin());
        string.set(&[b'y'; 19_000]);
        string.set(&[b'z'; 20_000]);
        assert_eq!(string.as_bytes().as_ptr(), before);
        string.set(&[b'x'; 100]);
        assert_eq!(string.heap_bytes(), 104 + SHARED, "memory that is not needed is given back");
    }

    proptest! {
        #[test]
        fn edits_do_what_they_do_to_a_vector(
            edits in proptest::collection::vec(
                (0..4_u8, 0..200_usize, proptest::collection::vec(any::<u8>(), 0..100)),
                0..30,
            ),
        ) {
            let mut string = LargeString::new(&[]);
            let mut model = Vec::new();
            let mut pins = Vec::new();
            for (edit, offset, bytes) in edits {
                match edit {
                    0 => {
                        string.append(&bytes);
                        model.extend(bytes);
                    }
                    1 => {
                        string.set_range(offset, &bytes);
                        model.resize(model.len().max(offset + bytes.len()), 0);
                        model[offset..offset + bytes.len()].copy_from_slice(&bytes);
                    }
                    2 => {
                        string.set(&bytes);
                        model = bytes;
                    }
                    _ => pins.push((string.pin(), model.clone())),
                }
                prop_assert_eq!(string.as_bytes(), &*model);
                prop_assert!(string.capacity >= model.len());
            }
            for (pin, model) in pins {
                prop_assert_eq!(&*pin, &*model);
            }
        }
    }
}
