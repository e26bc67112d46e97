// SPDX-License-Identifier: Apache-2.0
//! [`Stats`]: an engine's statistics.

/// A summary of a store, cheap enough to compute for every `stats` command.
///
/// Counts are over all handles since the store was made. With several workers each number is exact,
/// but they are not all of the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Items that can be read, and dead ones whose memory has not come back yet.
    pub items: u64,
    /// Bytes of keys, values and per-item overhead.
    pub item_bytes: u64,
    /// Bytes of everything that counts against the limit: items, index, and what handles have
    /// reserved as far as the engine has set it aside.
    pub used_bytes: u64,
    /// The limit in bytes.
    pub limit_bytes: u64,
    /// Buckets or slots of the index; 0 in an engine whose index has none, such as a tree.
    pub index_slots: u64,
    /// Bytes of the index that lie apart from the items.
    pub index_bytes: u64,
    /// Writes that took place, each of which made a new version: replacements, numbers and
    /// extensions of an item count, a change of its expiry does not.
    pub stored: u64,
    /// Items dropped before their expiry to make room.
    pub evicted: u64,
    /// Items whose memory came back because they had expired.
    pub expired: u64,
}
