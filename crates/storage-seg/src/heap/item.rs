// SPDX-License-Identifier: Apache-2.0
//! [`ItemRef`]: an item in the heap, as readers see it.

use super::Heap;
use crate::layout::{DEAD, ExpiryForm, Header, NewItem, State, WORD, checksum};
use clock::Ticks;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use storage::Marks;

/// A published item, borrowed without a copy.
///
/// Its bytes stay for as long as it lives (INV-STAYS of [`crate::heap`]): its maker promised that,
/// and all its functions rely on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemRef<'a> {
    heap: &'a Heap,
    start: *mut u8,
    header: Header,
}

impl<'a> ItemRef<'a> {
    /// # Safety
    ///
    /// `start` comes from the heap's mapping and is where an item begins: INV-INSIDE, INV-PUBLISHED,
    /// and INV-STAYS for `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(heap: &'a Heap, start: *mut u8) -> Self {
        // SAFETY: INV-FROZEN: word 0 is an atomic. It is aligned, as are all units of the heap.
        let word = unsafe { AtomicU32::from_ptr(start.cast()) }.load(Ordering::Relaxed);
        let header = Header::parse(u32::from_le(word), heap.layout, || {
            // SAFETY: the item has this word. It is aligned, as word 0 is, and an atomic because it may be a state,
            // which changes (INV-FROZEN).
            let word_1 = unsafe { AtomicU32::from_ptr(start.add(WORD).cast()) };
            u32::from_le(word_1.load(Ordering::Relaxed))
        });
        ItemRef { heap, start, header }
    }

    #[inline]
    pub(crate) fn key(&self) -> &'a [u8] {
        // SAFETY: INV-INSIDE, and the key is one of the item's frozen ranges.
        unsafe { self.slice(self.header.key()) }
    }

    #[inline]
    pub(crate) fn value(&self) -> &'a [u8] {
        // SAFETY: INV-INSIDE, and the value is one of the item's frozen ranges.
        unsafe { self.slice(self.header.value()) }
    }

    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        if !self.header.has_flags() {
            return 0;
        }
        // SAFETY: the item has this word, and it does not change.
        unsafe { read_word(self.start.add(self.header.flags_at())) }
    }

    /// Whether it has an expiry, without reading it.
    #[inline]
    pub(crate) fn expires(&self) -> bool {
        self.header.expiry_words() != 0
    }

    /// When it expires, in milliseconds since the clock's start; `base_ms` is its segment's base.
    /// Another thread may set it meanwhile, so two calls may return different times.
    #[inline]
    pub(crate) fn expiry_ms(&self, base_ms: u64) -> Option<u64> {
        match self.header.expiry_words() {
            0 => None,
            1 => {
                let offset_ms = u32::from_le(self.expiry_offset().load(Ordering::Relaxed));
                Some(base_ms + u64::from(offset_ms))
            }
            _ => {
                // SAFETY: the item has these two words, and they do not change.
                Some(unsafe { read_double(self.start.add(self.header.expiry_at())) })
            }
        }
    }

    /// Changes the expiry in place, if the item has an expiry of one word and the new one fits it
    /// too. Returns whether it did. The caller holds the lock of the item's key; else it could
    /// change an item that was just copied elsewhere.
    pub(crate) fn set_expiry(&self, base_ms: u64, expiry_ms: u64) -> bool {
        match ExpiryForm::of(Some(expiry_ms), base_ms) {
            ExpiryForm::Offset(offset_ms) if self.header.expiry_words() == 1 => {
                self.expiry_offset().store(offset_ms.to_le(), Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }

    /// Its state, if it has one. Another thread may change it meanwhile.
    #[inline]
    pub(crate) fn state(&self) -> Option<State> {
        let word = || u32::from_le(self.state_word().load(Ordering::Relaxed));
        self.header.has_state().then(|| State::from_word(word()))
    }

    /// Changes the marks of an item that has a state. The caller holds the lock of the item's key, so that no other
    /// thread changes them meanwhile.
    pub(crate) fn set_marks(&self, marks: Marks) {
        self.update_state(|state| state.with_marks(marks));
    }

    /// Notes an access to an item that has a state.
    #[inline]
    pub(crate) fn note_access(&self, now: Ticks) {
        if self.state().is_some_and(|state| state != state.accessed(now)) {
            self.update_state(|state| state.accessed(now));
        }
    }

    fn update_state(&self, change: impl Fn(State) -> State) {
        let change = |word| Some(change(State::from_word(u32::from_le(word))).word().to_le());
        // The function never refuses.
        let _ = self.state_word().fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Its own version, if it has one.
    #[inline]
    pub(crate) fn version(&self) -> Option<u64> {
        self.header.has_version().then(|| {
            // SAFETY: the item has these two words, and they do not change.
            unsafe { read_double(self.start.add(self.header.version_at())) }
        })
    }

    /// Bytes from its start to where the next item begins.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.header.total(self.heap.layout)
    }

    /// Whether the item was replaced or removed.
    #[inline]
    pub(crate) fn is_dead(&self) -> bool {
        u32::from_le(self.word().load(Ordering::Relaxed)) & DEAD != 0
    }

    /// Marks the item dead: no slot points to it any more.
    #[inline]
    pub(crate) fn mark_dead(&self) {
        // A store suffices, without a read-modify-write: nobody changes the other bits of this
        // word.
        self.word().store((self.header.word() | DEAD).to_le(), Ordering::Relaxed);
    }

    /// Whether the bytes are those that were written. Always true in a store without checksums.
    pub(crate) fn checksum_ok(&self) -> bool {
        let Some(expected) = self.checksum() else { return true };
        // A flipped bit of a length must not make this read past the heap.
        self.is_inside() && expected == checksum(self.key(), [self.value(), b"", b""], self.flags())
    }

    /// A new item with the same key, value, flags and state.
    pub(crate) fn renewed(&self, expiry_ms: Option<u64>, version: Option<u64>) -> NewItem<'a> {
        let value = [self.value(), b"", b""];
        let (key, flags, state) = (self.key(), self.flags(), self.state());
        NewItem { key, value, flags, expiry_ms, version, state }
    }

    /// The checksum it was written with, if items have them.
    pub(super) fn checksum(&self) -> Option<u32> {
        self.heap.layout.checksum.then(|| {
            // SAFETY: the item has this word, and it does not change.
            unsafe { read_word(self.start.add(self.header.checksum_at())) }
        })
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    fn is_inside(&self) -> bool {
        let byte = self.start.addr() - self.heap.map.as_ptr().addr();
        self.header.value().end <= self.heap.geometry.bytes() - byte
    }

    #[inline]
    fn word(&self) -> &'a AtomicU32 {
        // SAFETY: INV-FROZEN: word 0 is an atomic, aligned as all units are; it lives for `'a`.
        unsafe { AtomicU32::from_ptr(self.start.cast()) }
    }

    /// The state of an item that has one.
    #[inline]
    fn state_word(&self) -> &'a AtomicU32 {
        assert!(self.header.has_state(), "INV-FROZEN: the other words are something else");
        // SAFETY: INV-FROZEN: this word is an atomic, aligned as word 0 is; it lives for `'a`.
        unsafe { AtomicU32::from_ptr(self.start.add(self.header.state_at()).cast()) }
    }

    /// The expiry of an item that has it as one word.
    #[inline]
    fn expiry_offset(&self) -> &'a AtomicU32 {
        assert!(self.header.expiry_words() == 1, "INV-FROZEN: other expiries do not change");
        // SAFETY: INV-FROZEN: this word is an atomic, aligned as word 0 is; it lives for `'a`.
        unsafe { AtomicU32::from_ptr(self.start.add(self.header.expiry_at()).cast()) }
    }

    /// # Safety
    ///
    /// The range is part of the item and does not change (INV-FROZEN).
    #[inline]
    unsafe fn slice(&self, range: Range<usize>) -> &'a [u8] {
        debug_assert!(self.is_inside(), "INV-INSIDE");
        // SAFETY: the caller's promise, and INV-STAYS for `'a`.
        unsafe { std::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }
}

/// # Safety
///
/// There is a word of an item at `at`, which does not change meanwhile.
#[inline]
unsafe fn read_word(at: *const u8) -> u32 {
    // SAFETY: the caller's promise; words of items are aligned.
    u32::from_le(unsafe { at.cast::<u32>().read() })
}

/// # Safety
///
/// As for [`read_word`], for two words.
#[inline]
unsafe fn read_double(at: *const u8) -> u64 {
    // SAFETY: the caller's promise; words of items are aligned.
    let (low, high) = unsafe { (read_word(at), read_word(at.add(WORD))) };
    u64::from(low) | u64::from(high) << 32
}
