// SPDX-License-Identifier: Apache-2.0
//! [`Large`]: a value that is too big to be packed into its entry.

use crate::Encoding;
use crate::hash::large::LargeHash;
use crate::kind::Kind;
use crate::large_string::LargeString;
use crate::list::large::LargeList;
use crate::set::large::LargeSet;
use crate::stream::large::LargeStream;
use crate::zset::large::LargeZset;

/// A value that is too big to be packed into its entry, boxed behind it.
#[derive(Debug)]
pub(crate) enum Large {
    /// A string that can be pinned.
    String(LargeString),
    /// A hash with an index.
    Hash(LargeHash),
    /// A list in chunks.
    List(LargeList),
    /// A set with an index.
    Set(LargeSet),
    /// A sorted set with an index and an order.
    Zset(LargeZset),
    /// A stream, in a box of its own: it knows more of itself than the others do.
    Stream(Box<LargeStream>),
}

impl Large {
    /// The kind of the entry that holds this.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Large::String(_) => Kind::LargeString,
            Large::Hash(_) => Kind::LargeHash,
            Large::List(_) => Kind::LargeList,
            Large::Set(_) => Kind::LargeSet,
            Large::Zset(_) => Kind::LargeZset,
            Large::Stream(_) => Kind::LargeStream,
        }
    }

    /// How it is stored, as `OBJECT ENCODING` names it.
    pub(crate) fn encoding(&self) -> Encoding {
        match self {
            Large::List(list) => list.encoding(),
            other => other.kind().encoding(),
        }
    }

    /// Bytes of a string, elements of a collection.
    pub(crate) fn len(&self) -> usize {
        match self {
            Large::String(string) => string.as_bytes().len(),
            Large::Hash(hash) => hash.len(),
            Large::List(list) => list.len(),
            Large::Set(set) => set.len(),
            Large::Zset(zset) => zset.len(),
            Large::Stream(stream) => stream.len(),
        }
    }

    /// Prefetches the place of an element that is found by its hash.
    pub(crate) fn prefetch(&self, element: &[u8]) {
        match self {
            Large::Hash(hash) => hash.prefetch(element),
            Large::Set(set) => set.prefetch(element),
            Large::Zset(zset) => zset.prefetch(element),
            Large::String(_) | Large::List(_) | Large::Stream(_) => {}
        }
    }

    /// All memory behind this enum, the allocator's rounding included. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Large::String(string) => string.heap_bytes(),
            Large::Hash(hash) => hash.heap_bytes(),
            Large::List(list) => list.heap_bytes(),
            Large::Set(set) => set.heap_bytes(),
            Large::Zset(zset) => zset.heap_bytes(),
            Large::Stream(stream) => stream.heap_bytes(),
        }
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> Large {
        match self {
            Large::String(string) => Large::String(LargeString::new(&[string.as_bytes()])),
            Large::Hash(hash) => Large::Hash(hash.copy()),
            Large::List(list) => Large::List(list.copy()),
            Large::Set(set) => Large::Set(set.copy()),
            Large::Zset(zset) => Large::Zset(zset.copy()),
            Large::Stream(stream) => Large::Stream(Box::new(stream.copy())),
        }
    }

    /// About how many allocations are freed with this.
    pub(crate) fn pieces(&self) -> usize {
        match self {
            Large::String(_) => 1,
            Large::Hash(hash) => hash.len(),
            Large::List(list) => list.pieces(),
            Large::Set(set) => set.len(),
            Large::Zset(zset) => zset.len(),
            Large::Stream(stream) => stream.pieces(),
        }
    }

    /// Frees about `budget` pieces. Returns true once the rest can be dropped at once.
    pub(crate) fn free_some(&mut self, budget: usize) -> bool {
        match self {
            Large::String(_) => true,
            Large::Hash(hash) => hash.free_some(budget),
            Large::List(list) => list.free_some(budget),
            Large::Set(set) => set.free_some(budget),
            Large::Zset(zset) => zset.free_some(budget),
            Large::Stream(stream) => stream.free_some(budget),
        }
    }
}
