// SPDX-License-Identifier: Apache-2.0
//! Writing items into the heap.

use super::{Heap, ItemRef};
use crate::index::Location;
use crate::layout::{
    ExpiryForm, Header, NewItem, State, WORD, checksum, checksum_after, checksum_before,
};
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
        // SAFETY: the caller's promise. Behind the key is the value, as the header announces, so it ends within
        // the item's length. These bytes are the caller's alone, so none of the item's parts overlaps them.
        let (to, len) = unsafe {
            let (mut to, len) =
                self.write_before((segment, offset), base_ms, item, &header, checksum);
            for part in item.value {
                to.value(part);
            }
            (to, len)
        };
        let start = || self.at(self.byte(segment, offset)).addr();
        debug_assert_eq!(to.0.addr() - start(), header.value().end, "INV-INSIDE: announced");
        len
    }

    /// Writes header and key of an item. Returns the pen in front of the value, and the length of the item.
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write). The header is the item's for this base, whatever the length of the value,
    /// and there is a checksum exactly if the layout has it.
    #[inline(always)]
    unsafe fn write_before(
        &self,
        (segment, offset): (u32, u32),
        base_ms: u64,
        item: &NewItem<'_>,
        header: &Header,
        checksum: Option<u32>,
    ) -> (Pen, usize) {
        let byte = self.byte(segment, offset);
        assert!(byte.is_multiple_of(self.layout.unit), "offset {offset} is between units");
        let len = header.total(self.layout);
        assert!(len <= self.geometry.bytes() - byte, "INV-INSIDE");
        let mut to = Pen(self.at(byte));
        // SAFETY: what is written is what the header announces, in its order, so it ends within
        // `len`. These bytes are the caller's alone, so the key does not overlap them.
        unsafe {
            to.word(header.word());
            if header.has_optional() {
                to.optional_words(header, base_ms, item);
            }
            if let Some(checksum) = checksum {
                to.word(checksum);
            }
            to.bytes(item.key);
        }
        debug_assert_eq!(*header, self.as_read(header, item), "INV-FROZEN: what a reader finds");
        (to, len)
    }

    /// Begins an item whose value of `value_len` bytes follows in pieces: writes header and key. The value in
    /// `item` is not looked at.
    ///
    /// # Safety
    ///
    /// INV-WRITER for the bytes of header and key from there on.
    ///
    /// # Panics
    ///
    /// When the item is not inside the heap, or the key or the value is too long for any.
    pub(crate) unsafe fn begin(
        &self,
        (segment, offset): (u32, u32),
        base_ms: u64,
        item: &NewItem<'_>,
        value_len: usize,
    ) -> Begun {
        let header = item.header_before(value_len, self.layout, base_ms);
        let (start, at) = (self.byte(segment, offset), header.value().start);
        let checksum =
            self.layout.checksum.then(|| checksum_before(item.key, value_len, item.flags));
        // SAFETY: the caller's promise; nothing is written behind the key. The checksum is not the item's yet.
        unsafe { self.write_before((segment, offset), base_ms, item, &header, checksum) };
        Begun { start, at, header, checksum }
    }

    /// Writes the next bytes of a value.
    ///
    /// # Safety
    ///
    /// INV-WRITER for the bytes of the item as far as it is written then. It was begun in this heap.
    ///
    /// # Panics
    ///
    /// When these are more than the bytes that are missing.
    pub(crate) unsafe fn append(&self, begun: &mut Begun, piece: &[u8]) {
        let missing = begun.missing();
        assert!(piece.len() <= missing, "{} bytes of {missing} that are missing", piece.len());
        // SAFETY: the caller's promise. With what is missing the item is inside the heap, as `begin` has checked.
        unsafe { Pen(self.at(begun.start + begun.at)).value(piece) };
        begun.at += piece.len();
        begun.checksum = begun.checksum.map(|checksum| checksum_after(checksum, piece));
    }

    /// The memory of the next `len` bytes of a value, to write them there.
    ///
    /// # Safety
    ///
    /// As for [`append`](Self::append), for as long as the result lives.
    ///
    /// # Panics
    ///
    /// When these are more than the bytes that are missing.
    pub(crate) unsafe fn gap<'a>(&self, begun: &'a mut Begun, len: usize) -> &'a mut [u8] {
        let missing = begun.missing();
        assert!(len <= missing, "{len} bytes of {missing} that are missing");
        // SAFETY: the caller's promise. The heap was zeros at first, so all of it is initialised. With what is missing
        // the item is inside the heap, as `begin` has checked.
        unsafe { std::slice::from_raw_parts_mut(self.at(begun.start + begun.at), len) }
    }

    /// Adds the first `n` bytes of the gap to the value: they have been written.
    ///
    /// # Safety
    ///
    /// As for [`append`](Self::append).
    ///
    /// # Panics
    ///
    /// When these are more than the bytes that are missing.
    pub(crate) unsafe fn fill_gap(&self, begun: &mut Begun, n: usize) {
        if let Some(checksum) = begun.checksum {
            // SAFETY: the caller's promise.
            let written = unsafe { self.gap(begun, n) };
            begun.checksum = Some(checksum_after(checksum, written));
        }
        assert!(n <= begun.missing(), "bytes of the value that are missing");
        begun.at += n;
    }

    /// Copies what is written of an item to another segment, where it goes on.
    ///
    /// # Safety
    ///
    /// As for [`append`](Self::append), here and there.
    ///
    /// # Panics
    ///
    /// When the item is not inside the heap there.
    pub(crate) unsafe fn carry(&self, begun: &mut Begun, (segment, offset): (u32, u32)) {
        let byte = self.byte(segment, offset);
        assert!(begun.header.total(self.layout) <= self.geometry.bytes() - byte, "INV-INSIDE");
        // SAFETY: the caller's promise. Memory of two segments does not overlap.
        unsafe {
            let written = std::slice::from_raw_parts(self.at(begun.start), begun.at);
            Pen(self.at(byte)).value(written);
        }
        begun.start = byte;
    }

    /// Ends an item whose value is there. Returns its length, as [`write`](Self::write) does.
    ///
    /// # Safety
    ///
    /// INV-WRITER for the bytes of the item, which was begun in this heap.
    ///
    /// # Panics
    ///
    /// When bytes of the value are missing.
    pub(crate) unsafe fn end(&self, begun: &Begun) -> usize {
        assert_eq!(begun.missing(), 0, "bytes of the value that are missing");
        if let Some(checksum) = begun.checksum {
            // SAFETY: the caller's promise; an item with a checksum has this word.
            unsafe { Pen(self.at(begun.start + begun.header.checksum_at())).word(checksum) };
        }
        begun.header.total(self.layout)
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

/// An item whose value is written in pieces.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Where it begins in the heap.
    start: usize,
    /// How many of its bytes are written.
    at: usize,
    header: Header,
    /// That of the bytes so far, if items have checksums.
    checksum: Option<u32>,
}

impl Begun {
    /// Bytes of the value that are missing.
    pub(crate) fn missing(&self) -> usize {
        self.header.value().end - self.at
    }

    /// How many bytes header, key and value have.
    pub(crate) fn whole(&self) -> usize {
        self.header.value().end
    }

    /// How many of its bytes are written, with header and key.
    pub(crate) fn written(&self) -> usize {
        self.at
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

    /// As [`bytes`](Self::bytes), for as many as a value may have.
    ///
    /// # Safety
    ///
    /// As for [`bytes`](Self::bytes).
    #[inline(always)]
    unsafe fn value(&mut self, bytes: &[u8]) {
        if bytes.len() < prefetch::MANY_BYTES {
            // SAFETY: the caller's promise.
            return unsafe { self.bytes(bytes) };
        }
        // SAFETY: the caller's promise. The heap was zeros at first, so all of it is initialised.
        let room = unsafe { std::slice::from_raw_parts_mut(self.0, bytes.len()) };
        prefetch::copy_past_caches(room, bytes);
        self.0 = room.as_mut_ptr_range().end;
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
