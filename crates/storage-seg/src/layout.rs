// SPDX-License-Identifier: Apache-2.0
//! The bytes of an item: which words its header has, and how long it is. Plain arithmetic;
//! [`crate::heap`] reads and writes the memory.
//!
//! ```text
//!  word 0 │ long? │ state? │ expiry? 1 or 2 │ flags? │ version? 2 │ checksum? ║ key ║ value ║ padding
//!
//!  word 0, from bit 31 down:
//!    value length 18 │ key length 8 │ LONG 1 │ EXPIRY 2 │ FLAGS 1 │ VERSION 1 │ DEAD 1
//!  long, from bit 31 down:
//!    0 │ STATE 1 │ ... │ value length, upper 14 │ key length, upper 8
//!  state, from bit 31 down: see `state.rs`
//!    1 │ STALE 1 │ CLAIMED 1 │ last access 29
//! ```
//!
//! A word is 4 bytes, little-endian. An item has an optional word only if it needs it: `long` for a
//! key or a value whose length does not fit word 0, `state` for an item that was marked or whose reads are noted, one
//! word of expiry for milliseconds since the
//! segment's base or two for milliseconds since the clock's start, flags other than zero, a version
//! that its place does not imply. LONG says that word 1 is `long` or `state`, which its highest bit tells apart; if
//! there are both, `long` says so. All items of a store have a checksum, or none has. An item without
//! expiry and flags costs 4 bytes and the padding to the next unit.

use std::ops::Range;

mod new_item;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use new_item::{NewItem, checksum, checksum_after, checksum_before};
pub(crate) use state::State;

/// The longest key in bytes: its length has 16 bits.
pub(crate) const KEY_MAX: usize = (1 << 16) - 1;

/// The longest value in bytes: its length has 32 bits.
pub(crate) const VALUE_MAX: usize = u32::MAX as usize;

/// Bytes of a word of the header.
pub(crate) const WORD: usize = 4;

/// The bit of word 0 of an item that was replaced or removed.
pub(crate) const DEAD: u32 = 1;
const VERSION: u32 = 1 << 1;
const FLAGS: u32 = 1 << 2;
/// The position in word 0 of the number of expiry words.
const EXPIRY_SHIFT: u32 = 3;
const EXPIRY: u32 = 3 << EXPIRY_SHIFT;
const LONG: u32 = 1 << 5;
const KEY_SHIFT: u32 = 6;
const KEY_BITS: u32 = 8;
const VALUE_SHIFT: u32 = KEY_SHIFT + KEY_BITS;
const VALUE_BITS: u32 = 32 - VALUE_SHIFT;
/// The bit of `long` of an item that has a state as well.
const LONG_AND_STATE: u32 = 1 << 30;
const OPTIONAL: u32 = LONG | EXPIRY | FLAGS | VERSION;

/// The properties that all items of a store share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The alignment of items in bytes: a power of two, 4 or more.
    pub(crate) unit: usize,
    /// Whether items have a checksum.
    pub(crate) checksum: bool,
}

impl Layout {
    const fn padded(self, len: usize) -> usize {
        (len + self.unit - 1) & !(self.unit - 1)
    }
}

/// When an item expires, in the form that its header stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryForm {
    /// Never: no word.
    Never,
    /// Milliseconds since the segment's base: one word, which may change in place.
    Offset(u32),
    /// Milliseconds since the clock's start, for times that the other form cannot express: two
    /// words.
    Absolute(u64),
}

impl ExpiryForm {
    /// The shortest form for an item in a segment with this base.
    pub(crate) fn of(expiry_ms: Option<u64>, base_ms: u64) -> Self {
        let Some(at_ms) = expiry_ms else { return ExpiryForm::Never };
        match at_ms.checked_sub(base_ms).map(u32::try_from) {
            Some(Ok(offset_ms)) => ExpiryForm::Offset(offset_ms),
            _ => ExpiryForm::Absolute(at_ms),
        }
    }

    const fn words(self) -> u32 {
        match self {
            ExpiryForm::Never => 0,
            ExpiryForm::Offset(_) => 1,
            ExpiryForm::Absolute(_) => 2,
        }
    }
}

/// Word 0 decoded: the place of each part, in bytes from the item's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    word: u32,
    /// Bytes before the key.
    len: u32,
    value_len: u32,
    key_len: u16,
    /// The number of the state's word; 0 without a state.
    state_at: u8,
}

impl Header {
    #[inline(always)]
    fn new(layout: Layout, item: &NewItem<'_>, value_len: usize, expiry_words: u32) -> Self {
        let key_len = item.key.len();
        assert!(key_len <= KEY_MAX && value_len <= VALUE_MAX, "INV-LENGTHS: checked before");
        let (key_len, value_len) = (key_len as u16, value_len as u32);
        let is_long = u32::from(key_len) > low(KEY_BITS) || value_len > low(VALUE_BITS);
        let has_state = item.state.is_some();
        let word = value_len << VALUE_SHIFT
            | (u32::from(key_len) & low(KEY_BITS)) << KEY_SHIFT
            | flag(is_long || has_state, LONG)
            | expiry_words << EXPIRY_SHIFT
            | flag(item.flags != 0, FLAGS)
            | flag(item.version.is_some(), VERSION);
        let state_at = if has_state { 1 + u8::from(is_long) } else { 0 };
        Header { word, len: 0, value_len, key_len, state_at }.measured(layout)
    }

    /// Reads word 0, and word 1 of an item that is long or has a state.
    #[inline(always)]
    pub(crate) fn parse(word: u32, layout: Layout, word_1: impl FnOnce() -> u32) -> Self {
        let key_len = (word >> KEY_SHIFT & low(KEY_BITS)) as u16;
        let value_len = word >> VALUE_SHIFT;
        let mut header = Header { word, len: 0, value_len, key_len, state_at: 0 };
        if word & LONG != 0 {
            let word_1 = word_1();
            if State::is_state(word_1) {
                header.state_at = 1;
            } else {
                header.state_at = if word_1 & LONG_AND_STATE != 0 { 2 } else { 0 };
                header.key_len |= ((word_1 & low(8)) << KEY_BITS) as u16;
                header.value_len |= word_1 >> 8 << VALUE_BITS;
            }
        }
        header.measured(layout)
    }

    /// The same with its length. Most items have no optional word.
    #[inline(always)]
    fn measured(self, layout: Layout) -> Self {
        let before_checksum = if self.has_optional() {
            self.words_before_expiry()
                + self.expiry_words()
                + u32::from(self.has_flags())
                + 2 * u32::from(self.has_version())
        } else {
            1
        };
        Header { len: (before_checksum + u32::from(layout.checksum)) * WORD as u32, ..self }
    }

    pub(crate) fn word(&self) -> u32 {
        self.word
    }

    /// Whether it has a word besides the first and the checksum.
    #[inline]
    pub(crate) fn has_optional(&self) -> bool {
        self.word & OPTIONAL != 0
    }

    /// The word with the upper parts of the lengths, of an item whose lengths need it: its word 1.
    pub(crate) fn long_word(&self) -> Option<u32> {
        let lengths = self.value_len >> VALUE_BITS << 8 | u32::from(self.key_len) >> KEY_BITS;
        (lengths != 0).then_some(lengths | flag(self.has_state(), LONG_AND_STATE))
    }

    /// Words before those of the expiry.
    #[inline]
    fn words_before_expiry(&self) -> u32 {
        1 + u32::from(self.word & LONG != 0) + u32::from(self.state_at == 2)
    }

    #[inline]
    pub(crate) fn has_state(&self) -> bool {
        self.state_at != 0
    }

    /// Where the state is, of an item that has one.
    #[inline]
    pub(crate) fn state_at(&self) -> usize {
        WORD * usize::from(self.state_at)
    }

    #[inline]
    pub(crate) fn expiry_words(&self) -> u32 {
        (self.word & EXPIRY) >> EXPIRY_SHIFT
    }

    #[inline]
    pub(crate) fn has_flags(&self) -> bool {
        self.word & FLAGS != 0
    }

    #[inline]
    pub(crate) fn has_version(&self) -> bool {
        self.word & VERSION != 0
    }

    #[inline]
    pub(crate) fn expiry_at(&self) -> usize {
        WORD * self.words_before_expiry() as usize
    }

    #[inline]
    pub(crate) fn flags_at(&self) -> usize {
        self.expiry_at() + WORD * self.expiry_words() as usize
    }

    #[inline]
    pub(crate) fn version_at(&self) -> usize {
        self.flags_at() + WORD * usize::from(self.has_flags())
    }

    /// Where the checksum is in a store that has them: it is the last word of the header.
    pub(crate) fn checksum_at(&self) -> usize {
        self.len as usize - WORD
    }

    #[inline]
    pub(crate) fn key(&self) -> Range<usize> {
        self.len as usize..self.len as usize + usize::from(self.key_len)
    }

    #[inline]
    pub(crate) fn value(&self) -> Range<usize> {
        let start = self.key().end;
        start..start + self.value_len as usize
    }

    /// Bytes of the whole item with its padding: the next one begins there.
    #[inline]
    pub(crate) fn total(&self, layout: Layout) -> usize {
        layout.padded(self.value().end)
    }

    /// The header for a value of another length, if nothing else in the item changes.
    pub(crate) fn with_value_len(&self, layout: Layout, value_len: usize) -> Option<Self> {
        if self.word & LONG != 0 || value_len > low(VALUE_BITS) as usize {
            return None;
        }
        let value_len = value_len as u32;
        let word = self.word & low(VALUE_SHIFT) | value_len << VALUE_SHIFT;
        let header = Header { word, value_len, ..*self };
        (header.total(layout) == self.total(layout)).then_some(header)
    }
}

/// `bits` ones.
const fn low(bits: u32) -> u32 {
    (1 << bits) - 1
}

const fn flag(is_set: bool, bit: u32) -> u32 {
    if is_set { bit } else { 0 }
}
