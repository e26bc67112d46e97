// SPDX-License-Identifier: Apache-2.0
//! [`Entry`]: a key and its value behind one pointer.

use std::ops::Range;

use bytes::Bytes;

use crate::kind::Kind;
use crate::large::Large;
use crate::{Digits, Encoding, Keyed, Type};

/// A key with its value, its expiry and a note of its last access.
#[derive(Debug)]
pub struct Entry(Box<u8>);

#[expect(unused_variables, reason = "bodies follow")]
impl Entry {
    /// From how many bytes on a string is kept so that it can be [pinned](Entry::pin).
    pub const PIN_MIN: usize = 16 * 1024;

    /// A string; an integer in its printed form is stored in binary.
    pub fn string(key: &[u8], value: &[u8]) -> Entry {
        todo!()
    }
    /// A string that is the result of an edit: never stored as an integer.
    pub fn raw_string(key: &[u8], value: &[u8]) -> Entry {
        todo!()
    }
    /// A string that is an integer.
    pub fn integer(key: &[u8], value: i64) -> Entry {
        todo!()
    }
    /// The key.
    pub fn key(&self) -> &[u8] {
        todo!()
    }
    /// The value's type.
    pub fn data_type(&self) -> Type {
        todo!()
    }
    /// How the value is stored.
    pub fn encoding(&self) -> Encoding {
        todo!()
    }
    /// When the entry expires, in unix milliseconds.
    pub fn expiry(&self) -> Option<u64> {
        todo!()
    }
    /// Changes the expiry. May move the allocation.
    pub fn set_expiry(&mut self, expiry: Option<u64>) {
        todo!()
    }
    /// 24 bits whose meaning is the keyspace's.
    pub fn access(&self) -> u32 {
        todo!()
    }
    /// Sets the low 24 bits of `access`.
    pub fn set_access(&mut self, access: u32) {
        todo!()
    }
    /// All memory that the entry holds, the allocator's rounding included. O(1).
    pub fn heap_bytes(&self) -> usize {
        todo!()
    }
    /// Bytes of a string, elements of a collection.
    #[expect(clippy::len_without_is_empty, reason = "an empty collection is removed")]
    pub fn len(&self) -> usize {
        todo!()
    }
    /// Whether freeing it takes many steps; then it is for [`Remains`](crate::Remains).
    pub fn is_large(&self) -> bool {
        todo!()
    }
    /// The text of a string; an integer is formatted into `digits`. Empty for other types.
    pub fn text<'a>(&'a self, digits: &'a mut Digits) -> &'a [u8] {
        todo!()
    }
    /// The integer that a string is or spells.
    pub fn as_integer(&self) -> Option<i64> {
        todo!()
    }
    /// The text of a string of [`Entry::PIN_MIN`] bytes or more, by reference count.
    pub fn pin(&self) -> Option<Bytes> {
        todo!()
    }
    /// Replaces the value by a string, as [`Entry::string`] would store it.
    pub fn set_string(&mut self, value: &[u8]) {
        todo!()
    }
    /// Replaces the value by a string that is the result of an edit.
    pub fn set_raw_string(&mut self, value: &[u8]) {
        todo!()
    }
    /// Replaces the value by an integer.
    pub fn set_integer(&mut self, value: i64) {
        todo!()
    }
    /// Appends to a string.
    pub fn append(&mut self, more: &[u8]) {
        todo!()
    }
    /// Overwrites a part of a string, filling a gap before it with zeros.
    pub fn set_range(&mut self, offset: usize, with: &[u8]) {
        todo!()
    }
    /// A deep copy under another key. The expiry and the access go with it.
    pub fn copy_to(&self, key: &[u8]) -> Entry {
        todo!()
    }
    /// The same value under another key. The expiry and the access go with it.
    pub fn rename(self, key: &[u8]) -> Entry {
        todo!()
    }

    /// An entry whose value is packed: for the collections of this crate.
    pub(crate) fn with_bytes(key: &[u8], kind: Kind, bytes: &[u8]) -> Entry {
        todo!()
    }
    /// How to read the value.
    pub(crate) fn kind(&self) -> Kind {
        todo!()
    }
    /// The packed value. Empty if the value is large.
    pub(crate) fn bytes(&self) -> &[u8] {
        todo!()
    }
    /// The packed value, to be edited without a change of its length.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        todo!()
    }
    /// Replaces a part of the packed value, as [`Vec::splice`] does. Copies what is behind it; may
    /// move the allocation.
    pub(crate) fn splice(&mut self, range: Range<usize>, with: &[u8]) {
        todo!()
    }
    /// Replaces the value by a packed one of another kind.
    pub(crate) fn set_bytes(&mut self, kind: Kind, bytes: &[u8]) {
        todo!()
    }
    /// The value if it is large.
    pub(crate) fn large(&self) -> Option<&Large> {
        todo!()
    }
    /// The value if it is large.
    pub(crate) fn large_mut(&mut self) -> Option<&mut Large> {
        todo!()
    }
    /// Replaces the value by a large one.
    pub(crate) fn set_large(&mut self, large: Large) {
        todo!()
    }
}

impl Keyed for Entry {
    fn key(&self) -> &[u8] {
        Entry::key(self)
    }
    fn due(&self) -> Option<u64> {
        self.expiry()
    }
    fn heap_bytes(&self) -> usize {
        Entry::heap_bytes(self)
    }
}
