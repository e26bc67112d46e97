// SPDX-License-Identifier: Apache-2.0
//! [`Large`]: a value that is a structure of its own.

use crate::kind::Kind;

/// A value that is too big to be packed into its entry, boxed behind it.
#[derive(Debug)]
pub(crate) enum Large {
    /// A string that can be pinned.
    String(Vec<u8>),
}

impl Large {
    /// The kind of the entry that holds this.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Large::String(_) => Kind::LargeString,
        }
    }

    /// Bytes of a string, elements of a collection.
    pub(crate) fn len(&self) -> usize {
        match self {
            Large::String(text) => text.len(),
        }
    }

    /// All memory behind this enum, the allocator's rounding included. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Large::String(text) => text.capacity(),
        }
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> Large {
        match self {
            Large::String(text) => Large::String(text.clone()),
        }
    }

    /// Frees up to `budget` elements; true once there is nothing left but what is freed at once.
    pub(crate) fn free_some(&mut self, _budget: usize) -> bool {
        match self {
            Large::String(_) => true,
        }
    }
}
