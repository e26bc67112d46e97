// SPDX-License-Identifier: Apache-2.0
//! [`KeyspaceStats`]: a keyspace's statistics.

/// A summary of a keyspace, over all its handles.
///
/// With several workers each number is exact, but they are not all of the same instant. Counts are
/// since the keyspace was made, or since the last [`reset_stats`](super::Keyspace::reset_stats).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyspaceStats {
    /// Bytes of everything that counts against the limit: the five numbers below.
    pub used_bytes: u64,
    /// Bytes of entries: keys, values and headers, as the allocator rounds them.
    pub entry_bytes: u64,
    /// Bytes of the hash tables that index entries.
    pub index_bytes: u64,
    /// Bytes that were removed and are being freed step by step.
    pub leaving_bytes: u64,
    /// Bytes that handles have reserved for buffers.
    pub reserved_bytes: u64,
    /// Bytes between the allocator's blocks, of those that are too many to be left out.
    pub gap_bytes: u64,
    /// Each database, by its number.
    pub databases: Vec<DatabaseStats>,
    /// Reads that found a live entry.
    pub hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Entries removed because their expiry had passed.
    pub expired: u64,
    /// Fields of hashes removed because their expiry had passed.
    pub expired_fields: u64,
    /// Entries dropped before their expiry to make room.
    pub evicted: u64,
    /// Removed entries that are being freed step by step: large ones, and those of cleared databases.
    pub leaving: u64,
    /// Those that were freed so.
    pub left: u64,
    /// Whether entries are being moved, so that the memory between them goes back.
    pub defragments: bool,
    /// Entries that were moved for that.
    pub moved: u64,
    /// Entries that were looked at for that and stayed where they were.
    pub kept: u64,
}

/// One database of a keyspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseStats {
    /// Entries, including those that have expired and not been removed yet.
    pub keys: u64,
    /// Those of them with an expiry.
    pub volatile: u64,
    /// Bytes of the hash tables that index them.
    pub index_bytes: u64,
}
