// SPDX-License-Identifier: Apache-2.0
//! Strings of an [`Entry`] in a block of their own.
//!
//! Size classes of 8 to 16 KiB are a quarter of a power of two apart. So a string of 10 KiB fills a block, and with a key
//! of 20 bytes in the same block it takes one of 12 KiB. Where a block of its own saves memory, a string is stored apart:
//! the entry has a pointer to the block, and the length of the string.
//!
//! # Invariants
//!
//! * INV-APART: if and only if the kind is [`Kind::Apart`], the value is the address that [`Box::into_raw`] returned for
//!   a box of [`size_class`]`(length)` bytes, followed by `length` in four bytes, and the entry owns that box.

use std::ptr;

use super::Entry;
use crate::kind::Kind;
use crate::thin::Thin;
use allocator::size_class;
use prefetch::Hint;

/// Shorter strings are never stored apart: their size classes are dense.
const LENGTH_MIN: usize = 4096;

/// The part of an entry's memory, as a divisor, that must be saved: to read the string takes one more cache line.
const SAVED: usize = 16;

/// Bytes of an address and a length.
const PLACE: usize = size_of::<*mut u8>() + size_of::<u32>();

/// Strings stored apart have fewer bytes than those that can be pinned.
const _: () = assert!(Entry::PIN_MIN <= u32::MAX as usize, "a length has four bytes");

/// A block with a string, as large as its size class.
fn block_of(text: &[u8]) -> Box<[u8]> {
    let size = size_class(text.len());
    let mut block = Vec::with_capacity(size);
    block.extend_from_slice(text);
    block.resize(size, 0);
    block.into_boxed_slice()
}

impl Entry {
    /// Whether a string of so many bytes takes less memory apart, beside so many bytes of head and key.
    #[inline]
    pub(crate) fn is_better_apart(head_and_key: usize, length: usize) -> bool {
        if !(LENGTH_MIN..Entry::PIN_MIN).contains(&length) {
            return false;
        }
        let together = Thin::memory(head_and_key + length);
        let apart = Thin::memory(head_and_key + PLACE) + size_class(length);
        together >= apart + together / SAVED
    }

    /// An entry whose value is a string that is stored apart.
    pub(crate) fn with_string_apart(key: &[u8], text: &[u8]) -> Entry {
        let mut entry = Entry::with_bytes(key, Kind::Raw, &[0; PLACE]);
        entry.attach_apart(block_of(text), text.len());
        entry
    }

    /// Overwrites a string that is stored apart with one of the same size class that may be stored so as well. Returns
    /// false if the two are not that.
    #[inline]
    pub(crate) fn overwrite_apart(&mut self, text: &[u8]) -> bool {
        if !(LENGTH_MIN..Entry::PIN_MIN).contains(&text.len()) {
            return false;
        }
        match self.apart_mut() {
            Some((block, length)) if block.len() == size_class(text.len()) => {
                block[..text.len()].copy_from_slice(text);
                *length = (text.len() as u32).to_le_bytes();
                true
            }
            _ => false,
        }
    }

    /// Replaces the value by a string that is stored apart.
    pub(crate) fn set_apart(&mut self, text: &[u8]) {
        self.set_bytes(Kind::Raw, &[0; PLACE]);
        self.attach_apart(block_of(text), text.len());
    }

    /// The string that is stored apart. Empty if the value is none.
    #[inline]
    pub(super) fn apart(&self) -> &[u8] {
        let Some((address, length)) = self.place() else { return &[] };
        // SAFETY: INV-APART. The box is borrowed as its owner is, and is at least that long.
        unsafe { &*ptr::slice_from_raw_parts(address, length) }
    }

    /// The string that is stored apart, to be edited without a change of its length. Empty if the value is none.
    pub(super) fn apart_bytes_mut(&mut self) -> &mut [u8] {
        match self.apart_mut() {
            Some((block, length)) => &mut block[..u32::from_le_bytes(*length) as usize],
            None => &mut [],
        }
    }

    /// The size of the block of a string that is stored apart.
    #[inline]
    pub(super) fn apart_memory(&self) -> Option<usize> {
        self.place().map(|(_, length)| size_class(length))
    }

    /// A hint for the first bytes of the string, if the value is one that is stored apart. Reads the head and the key.
    #[inline]
    pub(super) fn apart_hint(&self) -> Hint {
        self.place().map_or(Hint::NONE, |(address, length)| Hint::over(address, length))
    }

    /// Moves the string to another block of the same size, which the allocator chooses anew.
    pub(super) fn relocate_apart(&mut self) {
        if let Some((block, length)) = self.take_apart() {
            self.attach_apart(block.clone(), length);
        }
    }

    /// Removes the string that is stored apart, and returns its block and its length. Leaves a string of [`PLACE`]
    /// meaningless bytes.
    pub(crate) fn take_apart(&mut self) -> Option<(Box<[u8]>, usize)> {
        let (address, length) = self.place()?;
        self.set_kind(Kind::Raw);
        // SAFETY: INV-APART. The entry has just given the box up.
        let block =
            unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(address, size_class(length))) };
        Some((block, length))
    }

    /// An entry like this one without value, under another key, with a string that is stored apart.
    pub(super) fn with_apart(&self, key: &[u8], block: Box<[u8]>, length: usize) -> Entry {
        let mut entry = self.with_head(key, &[0; PLACE]);
        entry.attach_apart(block, length);
        entry
    }

    /// Makes a string in a block of its own the value, in place of [`PLACE`] bytes.
    fn attach_apart(&mut self, block: Box<[u8]>, length: usize) {
        assert_eq!(block.len(), size_class(length), "INV-APART");
        assert_eq!(self.bytes().len(), PLACE, "INV-APART");
        let address = Box::into_raw(block).cast::<u8>();
        let place: *mut [u8] = self.bytes_mut();
        // SAFETY: the slice is as long as an address and a length.
        unsafe { place.cast::<*mut u8>().write_unaligned(address) };
        self.bytes_mut()[PLACE - size_of::<u32>()..]
            .copy_from_slice(&(length as u32).to_le_bytes());
        self.set_kind(Kind::Apart);
    }

    /// The block of a string that is stored apart, and its length in the entry.
    #[inline]
    fn apart_mut(&mut self) -> Option<(&mut [u8], &mut [u8; size_of::<u32>()])> {
        let (address, length) = self.place()?;
        let at = self.value_at() + PLACE - size_of::<u32>();
        // SAFETY: INV-APART. The box is borrowed as its owner is, exclusively. It is another block than the entry's own.
        let block = unsafe { &mut *ptr::slice_from_raw_parts_mut(address, size_class(length)) };
        let length = (&mut self.block[at..][..size_of::<u32>()]).try_into().ok()?;
        Some((block, length))
    }

    /// The address and the length of a string that is stored apart.
    #[inline(always)]
    fn place(&self) -> Option<(*mut u8, usize)> {
        if !self.is_apart() {
            return None;
        }
        let place = &self.block[self.value_at()..][..PLACE];
        let (address, length) = place.split_first_chunk::<{ size_of::<*mut u8>() }>()?;
        // SAFETY: INV-APART. The chunk is as long as an address, and an address was written there.
        let address = unsafe { ptr::from_ref(address).cast::<*mut u8>().read_unaligned() };
        Some((address, u32::from_le_bytes(length.try_into().ok()?) as usize))
    }
}
