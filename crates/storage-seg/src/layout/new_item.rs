// SPDX-License-Identifier: Apache-2.0
//! [`NewItem`]: an item to be written, its length and its checksum.

use super::{ExpiryForm, Header, Layout, State};

/// An item to write. Its value is given in three parts that follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewItem<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: [&'a [u8]; 3],
    pub(crate) flags: u32,
    /// Milliseconds since the clock's start.
    pub(crate) expiry_ms: Option<u64>,
    /// The version to store, for an item whose version is not implied by its place.
    pub(crate) version: Option<u64>,
    /// The state, of an item that was marked or whose reads are noted.
    pub(crate) state: Option<State>,
}

impl NewItem<'_> {
    pub(crate) fn value_len(&self) -> usize {
        self.value.iter().map(|part| part.len()).sum()
    }

    /// Its header in a segment with this base.
    ///
    /// # Panics
    ///
    /// When the key is longer than [`KEY_MAX`](super::KEY_MAX) or the value than
    /// [`VALUE_MAX`](super::VALUE_MAX).
    #[inline]
    pub(crate) fn header(&self, layout: Layout, base_ms: u64) -> Header {
        self.header_before(self.value_len(), layout, base_ms)
    }

    /// The same for a value of `value_len` bytes, which will be written behind key and header.
    ///
    /// # Panics
    ///
    /// As [`header`](Self::header) does.
    pub(crate) fn header_before(&self, value_len: usize, layout: Layout, base_ms: u64) -> Header {
        Header::new(layout, self, value_len, ExpiryForm::of(self.expiry_ms, base_ms).words())
    }

    /// Bytes it takes at most, in whichever segment.
    ///
    /// # Panics
    ///
    /// As [`header`](Self::header) does.
    #[inline]
    pub(crate) fn len_max(&self, layout: Layout) -> usize {
        self.len_max_with(self.value_len(), layout)
    }

    /// The same with a value of `value_len` bytes.
    ///
    /// # Panics
    ///
    /// As [`header`](Self::header) does.
    pub(crate) fn len_max_with(&self, value_len: usize, layout: Layout) -> usize {
        let expiry_words = if self.expiry_ms.is_some() { 2 } else { 0 };
        Header::new(layout, self, value_len, expiry_words).total(layout)
    }

    /// The checksum of key, value and flags as the client gave them.
    pub(crate) fn checksum(&self) -> u32 {
        checksum(self.key, self.value, self.flags)
    }
}

/// CRC-32C over the lengths, the flags, the key and the value.
///
/// The lengths are included because a flipped bit in them would move the border between key and
/// value without changing the bytes.
pub(crate) fn checksum(key: &[u8], value: [&[u8]; 3], flags: u32) -> u32 {
    let value_len: usize = value.iter().map(|part| part.len()).sum();
    value.into_iter().fold(checksum_before(key, value_len, flags), checksum_after)
}

/// The checksum before the value, which has so many bytes.
pub(crate) fn checksum_before(key: &[u8], value_len: usize, flags: u32) -> u32 {
    let numbers = [key.len() as u32, value_len as u32, flags].map(u32::to_le_bytes);
    checksum_after(crc32c::crc32c(numbers.as_flattened()), key)
}

/// The checksum after the next bytes.
pub(crate) fn checksum_after(checksum: u32, bytes: &[u8]) -> u32 {
    if bytes.is_empty() { checksum } else { crc32c::crc32c_append(checksum, bytes) }
}
