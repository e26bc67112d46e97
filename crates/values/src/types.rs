// SPDX-License-Identifier: Apache-2.0
//! The types of values ([`Type`]), how they are stored ([`Encoding`]), and the sizes up to which
//! collections stay packed ([`Limits`]).

/// The type of a value, by the name that `TYPE` reports.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Bytes, or a number in decimal digits.
    String,
    /// Strings in the order in which they were pushed.
    List,
    /// Distinct strings in no order.
    Set,
    /// Distinct strings ordered by a score.
    Zset,
    /// Strings by the name of their field.
    Hash,
    /// Items that were added one after the other, each with an id.
    Stream,
}

impl Type {
    /// All types.
    pub const ALL: [Type; 6] =
        [Type::String, Type::List, Type::Set, Type::Zset, Type::Hash, Type::Stream];

    /// The type of this name, in upper or lower case.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// The name by which clients know the type.
    pub const fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::List => "list",
            Type::Set => "set",
            Type::Zset => "zset",
            Type::Hash => "hash",
            Type::Stream => "stream",
        }
    }
}

/// How a value is stored, by the name that `OBJECT ENCODING` reports.
///
/// The names are those of Redis, which tools and tests expect. They distinguish packed from large
/// and numbers from text; the layouts behind them are not Redis's.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A string that is an integer, in binary.
    Int,
    /// A short string.
    Embstr,
    /// A string that is long or has been edited.
    Raw,
    /// A small set of integers, sorted.
    Intset,
    /// A small collection in one piece.
    Listpack,
    /// A small hash in one piece, some fields of which expire.
    ListpackEx,
    /// A large set or hash.
    Hashtable,
    /// A large list.
    Quicklist,
    /// A large sorted set.
    Skiplist,
    /// A stream.
    Stream,
}

impl Encoding {
    /// The name by which clients know the encoding.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
            Encoding::Intset => "intset",
            Encoding::Listpack => "listpack",
            Encoding::ListpackEx => "listpackex",
            Encoding::Hashtable => "hashtable",
            Encoding::Quicklist => "quicklist",
            Encoding::Skiplist => "skiplist",
            Encoding::Stream => "stream",
        }
    }
}

/// The sizes up to which a collection stays packed. The defaults are those of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fields of a packed hash (`hash-max-listpack-entries`).
    pub hash_entries: usize,
    /// Bytes of a field or value in a packed hash (`hash-max-listpack-value`).
    pub hash_value: usize,
    /// Size of a packed list and of each piece of a large one (`list-max-listpack-size`): -1 to -5
    /// for 4, 8, 16, 32 and 64 KiB, above zero a number of elements.
    pub list_bytes: i64,
    /// Members of a set of integers (`set-max-intset-entries`).
    pub set_intset: usize,
    /// Members of a packed set (`set-max-listpack-entries`).
    pub set_entries: usize,
    /// Bytes of a member in a packed set (`set-max-listpack-value`).
    pub set_value: usize,
    /// Members of a packed sorted set (`zset-max-listpack-entries`).
    pub zset_entries: usize,
    /// Bytes of a member in a packed sorted set (`zset-max-listpack-value`).
    pub zset_value: usize,
    /// Bytes of a string that is a sparse HyperLogLog (`hll-sparse-max-bytes`).
    pub hll_sparse_bytes: usize,
    /// Bytes of a node of a stream (`stream-node-max-bytes`); 0: as many as are allowed.
    pub stream_node_bytes: usize,
    /// Items of a node of a stream (`stream-node-max-entries`); 0: as many as are allowed.
    pub stream_node_entries: usize,
    /// For how many seconds streams know messages that may come again (`stream-idmp-duration`).
    pub stream_messages_seconds: u32,
    /// How many messages of each producer they know (`stream-idmp-maxsize`).
    pub stream_messages: u32,
}

impl Limits {
    /// Bytes beyond which no value stays packed, whatever the limits say: an edit moves all bytes
    /// behind it, so the largest pack bounds the time of one command.
    pub const PACKED_MAX: usize = 1 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            hash_entries: 512,
            hash_value: 64,
            list_bytes: -2,
            set_intset: 512,
            set_entries: 128,
            set_value: 64,
            zset_entries: 128,
            zset_value: 64,
            hll_sparse_bytes: 3000,
            stream_node_bytes: 4096,
            stream_node_entries: 100,
            stream_messages_seconds: 100,
            stream_messages: 100,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_clients_know() {
        let names = ["string", "list", "set", "zset", "hash", "stream"];
        assert_eq!(Type::ALL.map(Type::name), names);
        assert_eq!(Encoding::ListpackEx.name(), "listpackex");
    }
}
