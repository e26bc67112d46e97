// SPDX-License-Identifier: Apache-2.0
//! [`Large`]: a value that is too big to be packed into its entry, and borrows of one.

use crate::Encoding;
use crate::hash::large::LargeHash;
use crate::kind::Kind;
use crate::large_string::LargeString;
use crate::list::large::LargeList;
use crate::set::large::LargeSet;
use crate::stream::large::LargeStream;
use crate::table::Hashes;
use crate::zset::large::LargeZset;
use allocator::size_class;

/// A value that is too big to be packed into its entry, in a box of its own type.
#[derive(Debug)]
pub(crate) enum Large {
    /// A string that can be pinned.
    String(Box<LargeString>),
    /// A hash with an index.
    Hash(Box<LargeHash>),
    /// A list in chunks.
    List(Box<LargeList>),
    /// A set with an index.
    Set(Box<LargeSet>),
    /// A sorted set with an index and an order.
    Zset(Box<LargeZset>),
    /// A stream.
    Stream(Box<LargeStream>),
}

/// A borrow of a large value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LargeRef<'a> {
    String(&'a LargeString),
    Hash(&'a LargeHash),
    List(&'a LargeList),
    Set(&'a LargeSet),
    Zset(&'a LargeZset),
    Stream(&'a LargeStream),
}

/// A borrow of a large value, to be edited.
#[derive(Debug)]
pub(crate) enum LargeMut<'a> {
    String(&'a mut LargeString),
    Hash(&'a mut LargeHash),
    List(&'a mut LargeList),
    Set(&'a mut LargeSet),
    Zset(&'a mut LargeZset),
    Stream(&'a mut LargeStream),
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
}

impl LargeRef<'_> {
    /// How it is stored, as `OBJECT ENCODING` names it.
    pub(crate) fn encoding(self) -> Encoding {
        match self {
            LargeRef::String(_) => Kind::LargeString.encoding(),
            LargeRef::Hash(_) => Kind::LargeHash.encoding(),
            LargeRef::List(list) => list.encoding(),
            LargeRef::Set(_) => Kind::LargeSet.encoding(),
            LargeRef::Zset(_) => Kind::LargeZset.encoding(),
            LargeRef::Stream(_) => Kind::LargeStream.encoding(),
        }
    }

    /// Bytes of a string, elements of a collection.
    pub(crate) fn len(self) -> usize {
        match self {
            LargeRef::String(string) => string.as_bytes().len(),
            LargeRef::Hash(hash) => hash.len(),
            LargeRef::List(list) => list.len(),
            LargeRef::Set(set) => set.len(),
            LargeRef::Zset(zset) => zset.len(),
            LargeRef::Stream(stream) => stream.len(),
        }
    }

    /// Prefetches the place of an element that is found by its hash.
    pub(crate) fn prefetch(self, element: &[u8]) {
        match self {
            LargeRef::Hash(hash) => hash.prefetch(element),
            LargeRef::Set(set) => set.prefetch(element),
            LargeRef::Zset(zset) => zset.prefetch(element),
            LargeRef::String(_) | LargeRef::List(_) | LargeRef::Stream(_) => {}
        }
    }

    /// Prefetches elements that are found by these hashes.
    pub(crate) fn prefetch_group(self, hashes: &Hashes) {
        match self {
            LargeRef::Hash(hash) => hash.prefetch_group(hashes),
            LargeRef::Set(set) => set.prefetch_group(hashes),
            LargeRef::Zset(zset) => zset.prefetch_group(hashes),
            LargeRef::String(_) | LargeRef::List(_) | LargeRef::Stream(_) => {}
        }
    }

    /// All memory of it, its box and the allocator's rounding included. O(1).
    pub(crate) fn heap_bytes(self) -> usize {
        match self {
            LargeRef::String(string) => box_of(string) + string.heap_bytes(),
            LargeRef::Hash(hash) => box_of(hash) + hash.heap_bytes(),
            LargeRef::List(list) => box_of(list) + list.heap_bytes(),
            LargeRef::Set(set) => box_of(set) + set.heap_bytes(),
            LargeRef::Zset(zset) => box_of(zset) + zset.heap_bytes(),
            LargeRef::Stream(stream) => box_of(stream) + stream.heap_bytes(),
        }
    }

    /// A deep copy.
    pub(crate) fn copy(self) -> Large {
        match self {
            LargeRef::String(string) => {
                Large::String(Box::new(LargeString::new(&[string.as_bytes()])))
            }
            LargeRef::Hash(hash) => Large::Hash(Box::new(hash.copy())),
            LargeRef::List(list) => Large::List(Box::new(list.copy())),
            LargeRef::Set(set) => Large::Set(Box::new(set.copy())),
            LargeRef::Zset(zset) => Large::Zset(Box::new(zset.copy())),
            LargeRef::Stream(stream) => Large::Stream(Box::new(stream.copy())),
        }
    }

    /// About how many allocations are freed with this.
    pub(crate) fn pieces(self) -> usize {
        match self {
            LargeRef::String(_) => 1,
            LargeRef::Hash(hash) => hash.len(),
            LargeRef::List(list) => list.pieces(),
            LargeRef::Set(set) => set.len(),
            LargeRef::Zset(zset) => zset.len(),
            LargeRef::Stream(stream) => stream.pieces(),
        }
    }
}

impl LargeMut<'_> {
    /// Frees about `budget` pieces. Returns true once the rest can be dropped at once.
    pub(crate) fn free_some(self, budget: usize) -> bool {
        match self {
            LargeMut::String(_) => true,
            LargeMut::Hash(hash) => hash.free_some(budget),
            LargeMut::List(list) => list.free_some(budget),
            LargeMut::Set(set) => set.free_some(budget),
            LargeMut::Zset(zset) => zset.free_some(budget),
            LargeMut::Stream(stream) => stream.free_some(budget),
        }
    }
}

/// The memory of the box that a value is in.
const fn box_of<T>(_: &T) -> usize {
    size_class(size_of::<T>())
}
