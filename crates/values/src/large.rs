// SPDX-License-Identifier: Apache-2.0
//! [`Large`]: a value that is a structure of its own.

use crate::hash::large::LargeHash;
use crate::kind::Kind;
use crate::large_string::LargeString;
use crate::set::large::LargeSet;

/// A value that is too big to be packed into its entry, boxed behind it.
#[derive(Debug)]
pub(crate) enum Large {
    /// A string that can be pinned.
    String(LargeString),
    /// A hash with an index.
    Hash(LargeHash),
    /// A set with an index.
    Set(LargeSet),
}

impl Large {
    /// The kind of the entry that holds this.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Large::String(_) => Kind::LargeString,
            Large::Hash(_) => Kind::LargeHash,
            Large::Set(_) => Kind::LargeSet,
        }
    }

    /// Bytes of a string, elements of a collection.
    pub(crate) fn len(&self) -> usize {
        match self {
            Large::String(string) => string.as_bytes().len(),
            Large::Hash(hash) => hash.len(),
            Large::Set(set) => set.len(),
        }
    }

    /// All memory behind this enum, the allocator's rounding included. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Large::String(string) => string.heap_bytes(),
            Large::Hash(hash) => hash.heap_bytes(),
            Large::Set(set) => set.heap_bytes(),
        }
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> Large {
        match self {
            Large::String(string) => Large::String(LargeString::new(&[string.as_bytes()])),
            Large::Hash(hash) => Large::Hash(hash.copy()),
            Large::Set(set) => Large::Set(set.copy()),
        }
    }

    /// About how many allocations are freed with this.
    pub(crate) fn pieces(&self) -> usize {
        match self {
            Large::String(_) => 1,
            Large::Hash(hash) => hash.len(),
            Large::Set(set) => set.len(),
        }
    }

    /// Frees about `budget` pieces; true once what is left can be dropped at once.
    pub(crate) fn free_some(&mut self, budget: usize) -> bool {
        match self {
            Large::String(_) => true,
            Large::Hash(hash) => hash.free_some(budget),
            Large::Set(set) => set.free_some(budget),
        }
    }
}
