// SPDX-License-Identifier: Apache-2.0
//! [`Measure`]: how large a list is, and whether it is called a listpack or a quicklist.
//!
//! The name follows Redis's rule and not the form of the list here: a list that is a listpack in
//! Redis may have chunks here, because an entry packs fewer bytes and elements, and has no room in
//! front. The rule uses the size that the list would have in Redis: the name changes when the
//! elements to be added would exceed the limit, and changes back at half of it.
//!
//! * INV-SUM: elements and bytes are those that are there.
//! * INV-NAME: a list that is called a listpack knows its size as one.

use super::code::Code;
use super::pack::ListPack;
use super::size::{Caps, listpack_len};
use crate::{Encoding, listpack};

/// How large a list is.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    /// Elements.
    len: usize,
    /// Bytes of all elements, as they are stored here.
    size: usize,
    /// Bytes of all elements in a listpack of Redis. `None` once they are far too many for one.
    listpack: Option<usize>,
    is_listpack: bool,
}

impl Measure {
    /// That of an empty list, which is called a listpack.
    pub(super) fn new() -> Self {
        Measure { len: 0, size: 0, listpack: Some(listpack::HEAD), is_listpack: true }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn encoding(&self) -> Encoding {
        if self.is_listpack { Encoding::Listpack } else { Encoding::Quicklist }
    }

    /// Counts an element that was added.
    pub(super) fn count_in(&mut self, code: Code<'_>, caps: Caps) {
        self.len += 1;
        self.size += code.len();
        if let Some(size) = &mut self.listpack {
            *size += listpack_len(code);
            if *size > 4 * caps.bytes && !self.is_listpack {
                self.listpack = None;
            }
        }
    }

    /// Counts an element that is removed.
    pub(super) fn count_out(&mut self, code: Code<'_>) {
        self.len -= 1;
        self.size -= code.len();
        if let Some(size) = &mut self.listpack {
            *size -= listpack_len(code);
        }
    }

    /// Counts the elements of a pack that are removed. Reads them only if the size as a listpack is
    /// known, and so small.
    pub(super) fn count_out_all(&mut self, gone: &[u8], count: usize) {
        self.len -= count;
        self.size -= gone.len();
        if let Some(size) = &mut self.listpack {
            *size -= ListPack::new(gone).codes().map(listpack_len).sum::<usize>();
        }
    }

    /// Announces elements to be added, and the bytes of their texts.
    pub(super) fn announce(&mut self, elements: usize, bytes: usize, caps: Caps) {
        if self.is_listpack {
            let size = self.listpack.expect("INV-NAME");
            self.is_listpack = !caps.are_exceeded_by(size + bytes, self.len + elements);
        }
    }

    /// Called when no more elements will be removed; `codes` are the remaining ones.
    pub(super) fn shrunk<'a>(&mut self, caps: Caps, codes: impl Iterator<Item = Code<'a>>) {
        let half = caps.half();
        // No element takes twice the bytes here that it takes in a listpack.
        if self.is_listpack || half.are_exceeded_by(self.size / 2, self.len) {
            return;
        }
        let size = self.listpack.unwrap_or_else(|| listpack::HEAD + listpack_sum(codes));
        self.listpack = Some(size);
        self.is_listpack = !half.are_exceeded_by(size, self.len);
    }

    /// # Panics
    ///
    /// When an invariant does not hold for these elements, with its name.
    pub(super) fn check<'a>(&self, codes: impl Iterator<Item = Code<'a>> + Clone) {
        assert_eq!(self.len, codes.clone().count(), "INV-SUM: elements");
        let size: usize = codes.clone().map(Code::len).sum();
        assert_eq!(self.size, size, "INV-SUM: bytes");
        assert!(self.listpack.is_some() || !self.is_listpack, "INV-NAME");
        let size = listpack::HEAD + listpack_sum(codes);
        assert_eq!(self.listpack.unwrap_or(size), size, "INV-SUM: bytes in a listpack");
    }
}

fn listpack_sum<'a>(codes: impl Iterator<Item = Code<'a>>) -> usize {
    codes.map(listpack_len).sum()
}
