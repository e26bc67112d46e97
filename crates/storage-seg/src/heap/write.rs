// SPDX-License-Identifier: Apache-2.0
//! Writing items into the heap.

use super::{Heap, ItemRef};
use crate::index::Location;
use crate::layout::{ExpiryForm, Header, NewItem, State, WORD, checksum};
use std::sync::atomic::{AtomicU32, Ordering};

impl Heap {
    /// Writes an item into a segment with this base. Returns its length: the next item begins that
    /// many bytes later.
    ///
    /// # Safety
    ///
    /// INV-WRITER for the bytes from there on that the item takes: at most
    /// [`len_of`](Self::len_of), and the result says how many.
    ///
    /// # Panics
    ///
    /// When that is not inside the heap, or the key or the value is too long for any.
    pub(crate) unsafe fn write(
        &self,
        segment: u32,
        offset: u32,
        base_ms: u64,
        item: &NewItem<'_>,
    ) -> usize {
        let checksum = self.layout.checksum.then(|| item.checksum());
        // SAFETY: the caller's promise.
        unsafe { self.write_with(segment, offset, base_ms, item, checksum) }
    }

    /// Writes a copy of an item elsewhere, with the caller's expiry and version. The copy keeps the
    /// checksum that the item was written with, so that a bit flipped before the copy is still
    /// detected. It is not dead.
    ///
    /// The expiry is an argument because it may change during the copy: the caller reads it once,
    /// and checks it again when it holds the lock of the key.
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write).
    ///
    /// # Panics
    ///
    /// As [`write`](Self::write) does.
    pub(crate) unsafe fn copy(
        &self,
        from: &ItemRef<'_>,
        expiry_ms: Option<u64>,
        version: Option<u64>,
        segment: u32,
        offset: u32,
        base_ms: u64,
    ) -> usize {
        let item = from.renewed(expiry_ms, version);
        // SAFETY: the caller's promise.
        unsafe { self.write_with(segment, offset, base_ms, &item, from.checksum()) }
    }

    /// # Safety
    ///
    /// As for [`write`](Self::write). There is a checksum exactly if the layout has it.
    unsafe fn write_with(
        &self,
        segment: u32,
        offset: u32,
        base_ms: u64,
        item: &NewItem<'_>,
        checksum: Option<u32>,
    ) -> usize {
        let header = item.header(self.layout, base_ms);
        let len = header.total(self.layout);
        let byte = self.geometry.byte(segment, offset);
        assert!(byte.is_multiple_of(self.layout.unit), "offset {offset} is between units");
        assert!(len <= self.geometry.bytes() - byte, "INV-INSIDE");
        let start = self.at(byte);
        let mut to = Pen(start);
        // SAFETY: what is written is what the header announces, in its order, so it ends within
        // `len`. These bytes are the caller's alone, so none of the item's parts overlaps them.
        unsafe {
            to.word(header.word());
            if header.has_optional() {
                to.optional_words(&header, base_ms, item);
            }
            if let Some(checksum) = checksum {
                to.word(checksum);
            }
            to.bytes(item.key);
            for part in item.value {
                to.bytes(part);
            }
        }
        debug_assert_eq!(to.0.addr() - start.addr(), header.value().end, "INV-INSIDE: announced");
        debug_assert_eq!(header, self.as_read(&header, item), "INV-FROZEN: what a reader finds");
        len
    }

    /// The header of an item as [`ItemRef::new`] will parse it.
    fn as_read(&self, header: &Header, item: &NewItem<'_>) -> Header {
        let state = || item.state.map_or(0, State::word);
        let word_1 = || header.long_word().unwrap_or_else(state);
        Header::parse(header.word(), self.layout, word_1)
    }

    /// Overwrites an item's value and version in place. Only if the item stores a version, and
    /// keeps its length, padding included, with the new value: else it changes nothing. Returns
    /// whether it did.
    ///
    /// # Safety
    ///
    /// INV-PUBLISHED for the location. No other thread looks at the item meanwhile, no [`ItemRef`]
    /// of it lives, and it is not pinned.
    pub(crate) unsafe fn overwrite_value(
        &self,
        location: Location,
        value: &[u8],
        version: u64,
    ) -> bool {
        // SAFETY: the caller's promise: nothing else happens to the item meanwhile.
        let item = unsafe { self.item(location) };
        let header = item.header().with_value_len(self.layout, value.len());
        let Some(header) = header.filter(|header| header.has_version()) else { return false };
        let checksum =
            self.layout.checksum.then(|| checksum(item.key(), [value, b"", b""], item.flags()));
        let start = item.start();
        // SAFETY: the caller is alone with the item, whose borrowed parts are not used any more. All
        // of it stays within the item's length.
        unsafe {
            let word = AtomicU32::from_ptr(start.cast());
            word.store(header.word().to_le(), Ordering::Relaxed);
            Pen(start.add(header.version_at())).double(version);
            if let Some(checksum) = checksum {
                Pen(start.add(header.checksum_at())).word(checksum);
            }
            Pen(start.add(header.value().start)).bytes(value);
        }
        true
    }
}

/// Writes words and bytes one after the other.
struct Pen(*mut u8);

impl Pen {
    /// # Safety
    ///
    /// There is room for a word, aligned to it, that is the caller's alone.
    #[inline(always)]
    unsafe fn word(&mut self, word: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            self.0.cast::<u32>().write(word.to_le());
            self.0 = self.0.add(WORD);
        }
    }

    /// # Safety
    ///
    /// As for [`word`](Self::word), for two words.
    #[inline(always)]
    unsafe fn double(&mut self, double: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            self.word(double as u32);
            self.word((double >> 32) as u32);
        }
    }

    /// # Safety
    ///
    /// As for [`word`](Self::word), for the optional words of an item with this header.
    #[inline(always)]
    unsafe fn optional_words(&mut self, header: &Header, base_ms: u64, item: &NewItem<'_>) {
        // SAFETY: the caller's promise; these are the words that the header announces.
        unsafe {
            if let Some(long) = header.long_word() {
                self.word(long);
            }
            if let Some(state) = item.state {
                self.word(state.word());
            }
            match ExpiryForm::of(item.expiry_ms, base_ms) {
                ExpiryForm::Never => {}
                ExpiryForm::Offset(offset_ms) => self.word(offset_ms),
                ExpiryForm::Absolute(at_ms) => self.double(at_ms),
            }
            if header.has_flags() {
                self.word(item.flags);
            }
            if let Some(version) = item.version {
                self.double(version);
            }
        }
    }

    /// # Safety
    ///
    /// There is room for the bytes that is the caller's alone, so it does not overlap them.
    #[inline(always)]
    unsafe fn bytes(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe {
            self.0.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.0 = self.0.add(bytes.len());
        }
    }
}
