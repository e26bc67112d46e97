// SPDX-License-Identifier: Apache-2.0
//! [`Entry`]: a key and its value behind one pointer.
//!
//! ```text
//!  length u32 │ word u32 │ expiry u64 │ key length │ key │ value
//!             │          │ if volatile│ varint     │     │ packed, or where it is
//!
//!  word:  kind 4 bits │ volatile 1 bit │ access 27 bits
//! ```
//!
//! The length is that of the [`Thin`] block. This file knows only where the value is: in the block, in a
//! box of its type (see `link`), or apart (see `apart`); the files of strings and collections know what is in it.
//!
//! # Invariants
//!
//! * INV-HEAD: the block begins with a head, and the key, by its length, ends within the block.
//!   Every function that writes these bytes keeps that true, even when it panics.

mod apart;
mod link;

use std::fmt;
use std::ops::Range;

use crate::kind::Kind;
use crate::large::LargeRef;
use crate::table::hashes_of;
use crate::thin::Thin;
use crate::varint::{self, Varint};
use crate::{Digits, Encoding, HashRef, Keyed, ListRef, SetRef, Type, ZsetRef};
use prefetch::Hint;

/// Where in the block the word of kind and access is.
const WORD: Range<usize> = 0..4;
/// Where the expiry is, if there is one.
const EXPIRY: Range<usize> = 4..12;
/// The bits of the first byte that are the kind.
const KIND: u8 = 0x0f;
/// The bit of the first byte that is set if there is an expiry.
const VOLATILE: u8 = 0x10;
/// The bits of the word below the access.
const BELOW_ACCESS: u32 = u32::BITS - Entry::ACCESS_BITS;

/// The most pieces of memory that are freed in one step.
const PIECES_MAX: usize = 64;

// INV-HEAD: kind, bit and access share a word without overlap, and each part of the head begins where the one before ends.
const _: () = assert!(WORD.end == size_of::<u32>() && EXPIRY.start == WORD.end);
const _: () = assert!(EXPIRY.end - EXPIRY.start == 8 && Kind::LAST <= KIND);
const _: () = assert!(((KIND | VOLATILE) as u32) < 1 << BELOW_ACCESS && KIND & VOLATILE == 0);
const _: () = assert!(size_of::<Option<Entry>>() == size_of::<usize>(), "a slot of a bucket");

/// A key with its value, its expiry and its access bits.
///
/// It is one pointer, and so is `Option<Entry>`. A key of 20 bytes with a value of 64 is one
/// allocation of 96 bytes.
///
/// ```
/// use values::{Digits, Encoding, Entry};
///
/// let mut entry = Entry::string(b"visits", b"41");
/// assert_eq!(entry.encoding(), Encoding::Int);
/// entry.set_integer(entry.as_integer().expect("it is one") + 1);
/// assert_eq!(entry.text(&mut Digits::new()), b"42");
/// ```
pub struct Entry {
    block: Thin,
}

impl Entry {
    /// Where the entry is in memory: no other has the same address while this one exists.
    #[inline]
    pub fn address(&self) -> usize {
        self.block.as_ptr().addr()
    }

    /// Moves blocks of the entry to other ones of the same size, which the allocator chooses anew: those of the sizes
    /// that `is_chosen`. What is inside a large value stays where it is. Returns whether there was one to move.
    pub fn relocate(&mut self, is_chosen: impl Fn(usize) -> bool) -> bool {
        let own = is_chosen(self.block.heap_bytes());
        if own {
            self.block.relocate();
        }
        let apart = self.apart_memory().is_some_and(is_chosen);
        if apart {
            self.relocate_apart();
        }
        own || apart
    }

    /// The key.
    #[inline]
    pub fn key(&self) -> &[u8] {
        let at = self.head_len();
        let (length, width) = varint::read(&self.block[at..]);
        &self.block[at + width..][..length]
    }

    /// The value's type.
    #[inline]
    pub fn data_type(&self) -> Type {
        self.kind().data_type()
    }

    /// How the value is stored.
    pub fn encoding(&self) -> Encoding {
        self.large().map_or_else(|| self.kind().encoding(), LargeRef::encoding)
    }

    /// When the entry expires, in unix milliseconds.
    #[inline]
    pub fn expiry(&self) -> Option<u64> {
        if self.block[0] & VOLATILE == 0 {
            return None;
        }
        let bytes = self.block[EXPIRY].try_into().expect("a range of eight bytes");
        Some(u64::from_le_bytes(bytes))
    }

    /// Changes the expiry. May move the allocation.
    pub fn set_expiry(&mut self, expiry: Option<u64>) {
        let volatile = self.block[0] & VOLATILE != 0;
        match expiry {
            Some(expiry) if volatile => {
                self.block[EXPIRY].copy_from_slice(&expiry.to_le_bytes());
            }
            Some(expiry) => {
                self.block.splice(EXPIRY.start..EXPIRY.start, &expiry.to_le_bytes());
                self.block[0] |= VOLATILE;
            }
            None if volatile => {
                self.block.splice(EXPIRY, &[]);
                self.block[0] &= !VOLATILE;
            }
            None => {}
        }
    }

    /// How many bits the access has.
    pub const ACCESS_BITS: u32 = 27;

    /// [`ACCESS_BITS`](Entry::ACCESS_BITS) whose meaning the keyspace defines: a clock or a counter.
    #[inline]
    pub fn access(&self) -> u32 {
        self.word() >> BELOW_ACCESS
    }

    /// Sets the access to the low [bits](Entry::ACCESS_BITS) of `access`.
    #[inline]
    pub fn set_access(&mut self, access: u32) {
        let below = self.word() & ((1 << BELOW_ACCESS) - 1);
        self.block[WORD].copy_from_slice(&(below | access << BELOW_ACCESS).to_le_bytes());
    }

    /// Kind, volatile or not, and access.
    #[inline]
    fn word(&self) -> u32 {
        u32::from_le_bytes(self.block[WORD].try_into().expect("a range of four bytes"))
    }

    /// All memory that the entry holds, the allocator's rounding included. O(1).
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        let own = self.block.heap_bytes();
        if self.is_inside() { own } else { own + self.outer_bytes() }
    }

    /// Bytes of a string, elements of a collection.
    pub fn len(&self) -> usize {
        match self.kind() {
            Kind::Int | Kind::Embstr | Kind::Raw | Kind::Apart => {
                self.text(&mut Digits::new()).len()
            }
            Kind::HashPack | Kind::HashPackEx => self.hash().map_or(0, HashRef::len),
            Kind::ListPack => self.list().map_or(0, ListRef::len),
            Kind::SetInts | Kind::SetPack => self.set().map_or(0, SetRef::len),
            Kind::ZsetPack => self.zset().map_or(0, ZsetRef::len),
            Kind::LargeString
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => self.large().map_or(0, LargeRef::len),
        }
    }

    /// Whether a string has no bytes, or a collection no elements: then it is to be removed. A stream is
    /// kept even if it has no items. Mostly O(1), unlike the length of a packed collection.
    pub fn is_empty(&self) -> bool {
        match self.kind() {
            Kind::HashPack | Kind::ListPack | Kind::SetPack | Kind::ZsetPack => {
                self.bytes().is_empty()
            }
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::HashPackEx
            | Kind::SetInts
            | Kind::Apart
            | Kind::LargeString
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset => self.len() == 0,
            Kind::LargeStream => false,
        }
    }

    /// Whether freeing it takes so many steps that it should be done by
    /// [`Remains`](crate::Remains).
    pub fn is_large(&self) -> bool {
        self.large().is_some_and(|large| large.pieces() > PIECES_MAX)
    }

    /// A deep copy under another key. The expiry and the access go with it.
    pub fn copy_to(&self, key: &[u8]) -> Entry {
        if let Some(large) = self.large() {
            return self.with_large_of(key, large.copy());
        }
        if self.is_apart() {
            let mut copy = self.with_head(key, &[]);
            copy.set_raw_string(self.bytes());
            return copy;
        }
        Entry::assemble(self.head(), key, self.bytes())
    }

    /// The same value under another key. The expiry and the access go with it; what is outside
    /// of the entry's own block stays where it is.
    pub fn rename(mut self, key: &[u8]) -> Entry {
        if let Some(large) = self.detach() {
            return self.with_large_of(key, large);
        }
        if let Some((block, length)) = self.take_apart() {
            return self.with_apart(key, block, length);
        }
        Entry::assemble(self.head(), key, self.bytes())
    }

    /// Prefetches the place of an element of a large collection: the field of a hash, the member of a
    /// set or sorted set.
    #[inline]
    pub fn prefetch_element(&self, element: &[u8]) {
        if let Some(large) = self.large() {
            large.prefetch(element);
        }
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these elements of a large collection.
    #[inline]
    pub(crate) fn prefetch_elements<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
        if let Some(large) = self.large() {
            large.prefetch_group(&hashes_of(names));
        }
    }

    /// An entry whose value is packed.
    pub(crate) fn with_bytes(key: &[u8], kind: Kind, bytes: &[u8]) -> Entry {
        assert!(kind.is_inside(), "INV-LINK, INV-APART");
        Entry::assemble(&[kind as u8, 0, 0, 0], key, bytes)
    }

    /// How to read the value.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        Kind::from_byte(self.block[0] & KIND)
    }

    /// Whether the value is packed: [`Kind::is_inside`] of the kind.
    #[inline]
    fn is_inside(&self) -> bool {
        self.block[0] & KIND < Kind::Apart as u8
    }

    /// Whether the value is a string that is stored apart.
    #[inline]
    fn is_apart(&self) -> bool {
        self.block[0] & KIND == Kind::Apart as u8
    }

    /// The packed value, or the string that is stored apart. Empty if the value is large.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.is_inside() { &self.block[self.value_at()..] } else { self.apart() }
    }

    /// [`Entry::bytes`], to be edited without a change of their number.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.is_inside() {
            let at = self.value_at();
            &mut self.block[at..]
        } else {
            self.apart_bytes_mut()
        }
    }

    /// Replaces a part of the packed value, as [`Vec::splice`] does. Copies the bytes behind it;
    /// may move the allocation.
    ///
    /// # Panics
    ///
    /// If the value is not packed.
    #[inline]
    pub(crate) fn splice(&mut self, range: Range<usize>, with: &[u8]) {
        assert!(self.kind().is_inside(), "INV-LINK, INV-APART");
        let at = self.value_at();
        self.block.splice(at + range.start..at + range.end, with);
    }

    /// Changes the kind as which the packed value is read.
    ///
    /// # Panics
    ///
    /// If one of the kinds is not packed.
    pub(crate) fn relabel(&mut self, kind: Kind) {
        assert!(kind.is_inside() && self.kind().is_inside(), "INV-LINK, INV-APART");
        self.set_kind(kind);
    }

    /// Replaces the value by a packed one. In place if the size class stays the same.
    pub(crate) fn set_bytes(&mut self, kind: Kind, bytes: &[u8]) {
        assert!(kind.is_inside(), "INV-LINK, INV-APART");
        self.drop_outer();
        let at = self.value_at();
        self.block.splice(at..self.block.len(), bytes);
        self.set_kind(kind);
    }

    /// A block of a head, a key and a value. The head's kind is not that of a large value.
    fn assemble(head: &[u8], key: &[u8], value: &[u8]) -> Entry {
        let key_len = Varint::new(key.len());
        Entry { block: Thin::new(&[head, key_len.as_bytes(), key, value]) }
    }

    /// An entry with this one's expiry and access, and another key and value.
    fn with_head(&self, key: &[u8], value: &[u8]) -> Entry {
        let mut entry = Entry::with_bytes(key, Kind::Raw, value);
        entry.set_access(self.access());
        entry.set_expiry(self.expiry());
        entry
    }

    /// Memory outside of the entry's own block.
    fn outer_bytes(&self) -> usize {
        self.apart_memory().unwrap_or_else(|| self.large().map_or(0, LargeRef::heap_bytes))
    }

    /// Frees what is outside of the entry's own block. Leaves a string of meaningless bytes if there was something.
    fn drop_outer(&mut self) {
        if !self.is_inside() {
            drop(self.detach());
            drop(self.take_apart());
        }
    }

    /// Kind, access and expiry.
    fn head(&self) -> &[u8] {
        &self.block[..self.head_len()]
    }

    #[inline]
    fn head_len(&self) -> usize {
        if self.block[0] & VOLATILE == 0 { EXPIRY.start } else { EXPIRY.end }
    }

    /// Where the value begins in an entry that does not expire.
    pub(crate) fn value_at_least(key: &[u8]) -> usize {
        EXPIRY.start + Varint::new(key.len()).as_bytes().len() + key.len()
    }

    /// Where the value begins.
    #[inline]
    pub(crate) fn value_at(&self) -> usize {
        let at = self.head_len();
        let (length, width) = varint::read(&self.block[at..]);
        at + width + length
    }

    /// Sets the kind; the caller keeps INV-LINK and INV-APART.
    fn set_kind(&mut self, kind: Kind) {
        self.block[0] = self.block[0] & !KIND | kind as u8;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.drop_outer();
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("key", &format_args!("{}", self.key().escape_ascii()))
            .field("kind", &self.kind())
            .field("len", &self.len())
            .field("expiry", &self.expiry())
            .finish()
    }
}

impl Keyed for Entry {
    #[inline]
    fn key(&self) -> &[u8] {
        Entry::key(self)
    }

    /// When the entry expires, or a field of its hash does, whichever is first.
    #[inline]
    fn due(&self) -> Option<u64> {
        let of_fields = match self.kind() {
            Kind::HashPackEx | Kind::LargeHash => self.hash().and_then(HashRef::next_expiry),
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::HashPack
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::Apart
            | Kind::LargeString
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => None,
        };
        self.expiry().into_iter().chain(of_fields).min()
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        Entry::heap_bytes(self)
    }

    #[inline]
    fn hint(&self) -> Hint {
        self.block.hint()
    }

    #[inline]
    fn rest(&self) -> Hint {
        if self.is_apart() { self.apart_hint() } else { self.block.rest() }
    }
}

#[cfg(test)]
mod tests;
