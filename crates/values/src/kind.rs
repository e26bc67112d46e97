// SPDX-License-Identifier: Apache-2.0
//! [`Kind`]: the bits of an entry that tell how its value is stored.

use crate::{Encoding, Type};

/// How the value of an entry is stored.
///
/// The kinds up to [`Kind::ZsetPack`] have their value in the entry; the others have a pointer there, from
/// [`Kind::LargeString`] on to a box of the type that is named.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A string: eight bytes of a little-endian `i64`.
    Int,
    /// A string as it is.
    Embstr,
    /// A string as it is, which is long or has been edited.
    Raw,
    /// A pack of field, value, field, value.
    HashPack,
    /// A pack of field, value, expiry.
    HashPackEx,
    /// Elements of a list, readable backwards.
    ListPack,
    /// Sorted integers of one width.
    SetInts,
    /// A pack of members.
    SetPack,
    /// Scores and members, sorted.
    ZsetPack,
    /// A string as it is, in a block of its own.
    Apart,
    /// [`LargeString`](crate::large_string::LargeString)
    LargeString,
    /// [`LargeHash`](crate::hash::large::LargeHash)
    LargeHash,
    /// [`LargeList`](crate::list::large::LargeList)
    LargeList,
    /// [`LargeSet`](crate::set::large::LargeSet)
    LargeSet,
    /// [`LargeZset`](crate::zset::large::LargeZset)
    LargeZset,
    /// [`LargeStream`](crate::stream::large::LargeStream)
    LargeStream,
}

const _: () = {
    let mut byte = 0;
    while byte < Kind::ALL.len() {
        assert!(Kind::ALL[byte] as usize == byte, "each kind is at the index that is its byte");
        byte += 1;
    }
};

impl Kind {
    /// All kinds, each at the index that is its byte.
    const ALL: [Kind; 16] = [
        Kind::Int,
        Kind::Embstr,
        Kind::Raw,
        Kind::HashPack,
        Kind::HashPackEx,
        Kind::ListPack,
        Kind::SetInts,
        Kind::SetPack,
        Kind::ZsetPack,
        Kind::Apart,
        Kind::LargeString,
        Kind::LargeHash,
        Kind::LargeList,
        Kind::LargeSet,
        Kind::LargeZset,
        Kind::LargeStream,
    ];

    /// The byte of the last kind.
    pub(crate) const LAST: u8 = Kind::ALL.len() as u8 - 1;

    /// The kind of a byte that was made by `kind as u8`.
    #[inline]
    pub(crate) fn from_byte(byte: u8) -> Kind {
        Kind::ALL[usize::from(byte)]
    }

    /// Whether the value is in the entry.
    #[inline]
    pub(crate) fn is_inside(self) -> bool {
        (self as u8) < Kind::Apart as u8
    }

    /// Whether the entry holds a pointer to a large value.
    #[inline]
    pub(crate) fn is_large(self) -> bool {
        self as u8 >= Kind::LargeString as u8
    }

    /// The value's type, as clients see it.
    pub(crate) fn data_type(self) -> Type {
        match self {
            Kind::Int | Kind::Embstr | Kind::Raw | Kind::Apart | Kind::LargeString => Type::String,
            Kind::HashPack | Kind::HashPackEx | Kind::LargeHash => Type::Hash,
            Kind::ListPack | Kind::LargeList => Type::List,
            Kind::SetInts | Kind::SetPack | Kind::LargeSet => Type::Set,
            Kind::ZsetPack | Kind::LargeZset => Type::Zset,
            Kind::LargeStream => Type::Stream,
        }
    }

    /// How it is stored, as `OBJECT ENCODING` names it.
    pub(crate) fn encoding(self) -> Encoding {
        match self {
            Kind::Int => Encoding::Int,
            Kind::Embstr => Encoding::Embstr,
            Kind::Raw | Kind::Apart | Kind::LargeString => Encoding::Raw,
            Kind::HashPack | Kind::ListPack | Kind::SetPack | Kind::ZsetPack => Encoding::Listpack,
            Kind::HashPackEx => Encoding::ListpackEx,
            Kind::SetInts => Encoding::Intset,
            Kind::LargeHash | Kind::LargeSet => Encoding::Hashtable,
            Kind::LargeList => Encoding::Quicklist,
            Kind::LargeZset => Encoding::Skiplist,
            Kind::LargeStream => Encoding::Stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_of_a_kind_leads_back_to_it() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind as u8), index);
            assert_eq!(Kind::from_byte(kind as u8), kind);
        }
    }
}
