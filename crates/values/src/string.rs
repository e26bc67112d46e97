// SPDX-License-Identifier: Apache-2.0
//! Strings: the operations of an [`Entry`] of [`Type::String`](crate::Type::String).
//!
//! A string is stored as an integer in binary, as bytes in the entry, as bytes in a block of their own where
//! [that saves memory](Entry::is_better_apart), or from [`Entry::PIN_MIN`] bytes on as a [`LargeString`]. An edit that
//! makes a string longer leaves it in the entry, with room for more.

use bytes::Bytes;

use crate::kind::Kind;
use crate::large::{Large, LargeMut, LargeRef};
use crate::large_string::LargeString;
use crate::{Digits, Entry, Text, parse_i64};

/// The longest string that Redis stores in one piece with its header, and calls `embstr`.
const EMBSTR_MAX: usize = 44;

/// What fills a gap.
static ZEROS: [u8; Entry::PIN_MIN] = [0; Entry::PIN_MIN];

impl Entry {
    /// Strings of at least this many bytes can be [pinned](Entry::pin).
    pub const PIN_MIN: usize = 16 * 1024;

    /// A string. An integer in its printed form is stored in binary.
    pub fn string(key: &[u8], value: &[u8]) -> Entry {
        match parse_i64(value) {
            Some(integer) => Entry::integer(key, integer),
            None if value.len() <= EMBSTR_MAX => Entry::with_bytes(key, Kind::Embstr, value),
            None => Entry::raw_string(key, value),
        }
    }

    /// A string that is the result of an edit: never stored as an integer.
    pub fn raw_string(key: &[u8], value: &[u8]) -> Entry {
        if value.len() >= Entry::PIN_MIN {
            return Entry::with_large(key, Large::String(Box::new(LargeString::new(&[value]))));
        }
        if Entry::is_better_apart(Entry::value_at_least(key), value.len()) {
            return Entry::with_string_apart(key, value);
        }
        Entry::with_bytes(key, Kind::Raw, value)
    }

    /// [`Entry::raw_string`] of bytes that are not copied if they are many.
    pub fn raw_string_of(key: &[u8], value: Vec<u8>) -> Entry {
        if value.len() < Entry::PIN_MIN {
            Entry::raw_string(key, &value)
        } else {
            Entry::with_large(key, Large::String(Box::new(LargeString::from(value))))
        }
    }

    /// [`Entry::string`] of bytes that are not copied if they are many. They are all that is used of `capacity` bytes
    /// of memory.
    pub fn shared_string(key: &[u8], value: Bytes, capacity: usize) -> Entry {
        if value.len() < Entry::PIN_MIN {
            Entry::string(key, &value)
        } else {
            Entry::with_large(key, Large::String(Box::new(LargeString::shared(value, capacity))))
        }
    }

    /// A string that is an integer.
    pub fn integer(key: &[u8], value: i64) -> Entry {
        Entry::with_bytes(key, Kind::Int, &value.to_le_bytes())
    }

    /// The text of a string; an integer is formatted into `digits`. Empty for other types.
    #[inline]
    pub fn text<'a>(&'a self, digits: &'a mut Digits) -> &'a [u8] {
        match self.kind() {
            Kind::Embstr | Kind::Raw | Kind::Apart => self.bytes(),
            Kind::Int => digits.format(self.stored_integer()),
            Kind::LargeString
            | Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => self.large_string().map_or(&[], LargeString::as_bytes),
        }
    }

    /// The text of a string, with room for the digits of an integer. Empty for other types.
    #[inline]
    pub fn to_text(&self) -> Text<'_> {
        match self.kind() {
            Kind::Embstr | Kind::Raw | Kind::Apart => Text::from(self.bytes()),
            Kind::Int => Text::from(self.stored_integer()),
            Kind::LargeString
            | Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => {
                Text::from(self.large_string().map_or(&[][..], LargeString::as_bytes))
            }
        }
    }

    /// The integer that a string is or spells in its printed form.
    #[inline]
    pub fn as_integer(&self) -> Option<i64> {
        match self.kind() {
            Kind::Int => Some(self.stored_integer()),
            Kind::Embstr | Kind::Raw => parse_i64(self.bytes()),
            // Longer than any integer.
            Kind::Apart | Kind::LargeString => None,
            Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => None,
        }
    }

    /// The text of a string of [`Entry::PIN_MIN`] bytes or more, by reference count: it stays as it
    /// is while the entry is changed or dropped.
    #[inline]
    pub fn pin(&self) -> Option<Bytes> {
        self.large_string().map(LargeString::pin)
    }

    /// Replaces the value, of any type, by a string, as [`Entry::string`] would store it.
    ///
    /// Allocates nothing if the string takes about as much memory as the value before it.
    pub fn set_string(&mut self, value: &[u8]) {
        match parse_i64(value) {
            Some(integer) => self.set_integer(integer),
            None if value.len() <= EMBSTR_MAX => self.set_bytes(Kind::Embstr, value),
            None => self.set_raw_string(value),
        }
    }

    /// Replaces the value, of any type, by a string that is the result of an edit.
    ///
    /// Allocates nothing if the string takes about as much memory as the value before it.
    pub fn set_raw_string(&mut self, value: &[u8]) {
        if self.overwrite_apart(value) {
            return;
        }
        if value.len() < Entry::PIN_MIN {
            if Entry::is_better_apart(self.value_at(), value.len()) {
                self.set_apart(value);
            } else {
                self.set_bytes(Kind::Raw, value);
            }
        } else if let Some(string) = self.large_string_mut() {
            string.set(value);
        } else {
            self.set_large(Large::String(Box::new(LargeString::new(&[value]))));
        }
    }

    /// Replaces the value, of any type, by a text that is never stored as an integer, though it may
    /// spell one: the sum of floating-point numbers.
    pub fn set_text(&mut self, value: &[u8]) {
        if value.len() <= EMBSTR_MAX {
            self.set_bytes(Kind::Embstr, value);
        } else {
            self.set_raw_string(value);
        }
    }

    /// Replaces the value, of any type, by an integer. Allocates nothing if it was one.
    #[inline]
    pub fn set_integer(&mut self, value: i64) {
        if self.kind() == Kind::Int {
            self.bytes_mut().copy_from_slice(&value.to_le_bytes());
        } else {
            self.set_bytes(Kind::Int, &value.to_le_bytes());
        }
    }

    /// Appends to a string, in amortised O(`more`). Another type is left as it is.
    pub fn append(&mut self, more: &[u8]) {
        if let Some(string) = self.large_string_mut() {
            return string.append(more);
        }
        if self.unfold() {
            let end = self.bytes().len();
            if end + more.len() < Entry::PIN_MIN {
                self.gather();
                self.splice(end..end, more);
            } else {
                let string = LargeString::new(&[self.bytes(), more]);
                self.set_large(Large::String(Box::new(string)));
            }
        }
    }

    /// Overwrites a string from `offset` on, with zeros before it if the string ends there. Another
    /// type is left as it is.
    ///
    /// The string grows to the offset, however large: the caller must check a limit.
    pub fn set_range(&mut self, offset: usize, with: &[u8]) {
        if let Some(string) = self.large_string_mut() {
            return string.set_range(offset, with);
        }
        if self.unfold() {
            let end = offset + with.len();
            if end >= Entry::PIN_MIN {
                let mut string = LargeString::new(&[self.bytes()]);
                string.set_range(offset, with);
                return self.set_large(Large::String(Box::new(string)));
            }
            let old_end = self.bytes().len();
            if old_end < end {
                self.gather();
                self.splice(old_end..old_end, &ZEROS[..end - old_end]);
            }
            self.bytes_mut()[offset..end].copy_from_slice(with);
        }
    }

    /// Shows the bytes of a string to `edit`, which may change them, but not their number. Another type shows none.
    ///
    /// Copies nothing, unless somebody has [pinned](Entry::pin) the string.
    pub fn edit_text<R>(&mut self, edit: impl FnOnce(&mut [u8]) -> R) -> R {
        if let Some(string) = self.large_string_mut() {
            return string.edit(edit);
        }
        if self.unfold() { edit(self.bytes_mut()) } else { edit(&mut []) }
    }

    /// Moves a string that is stored apart into the entry, so that it can grow there.
    fn gather(&mut self) {
        if let Some((block, length)) = self.take_apart() {
            self.set_bytes(Kind::Raw, &block[..length]);
        }
    }

    /// Changes a string that is no [`LargeString`] to the form of edited plain bytes. Returns false if it is not one.
    fn unfold(&mut self) -> bool {
        match self.kind() {
            Kind::Raw | Kind::Apart => {}
            Kind::Int => {
                let mut digits = Digits::new();
                self.set_bytes(Kind::Raw, digits.format(self.stored_integer()));
            }
            Kind::Embstr => self.relabel(Kind::Raw),
            Kind::LargeString => {
                debug_assert!(false, "large strings have been served");
                return false;
            }
            Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => return false,
        }
        true
    }

    /// The integer of an entry of [`Kind::Int`].
    #[inline]
    fn stored_integer(&self) -> i64 {
        i64::from_le_bytes(self.bytes().try_into().expect("eight bytes of an integer"))
    }

    fn large_string(&self) -> Option<&LargeString> {
        match self.large()? {
            LargeRef::String(string) => Some(string),
            _ => None,
        }
    }

    fn large_string_mut(&mut self) -> Option<&mut LargeString> {
        match self.large_mut()? {
            LargeMut::String(string) => Some(string),
            _ => None,
        }
    }
}
