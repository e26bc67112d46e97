// SPDX-License-Identifier: Apache-2.0
//! [`Stats`]: an engine's statistics.

/// A summary of a store, cheap enough to compute for every `stats` command. (The limit alone, which is
/// cheap enough for every request, is [`Store::limit_bytes`](crate::Store::limit_bytes).)
///
/// Counts are over all handles since the store was made. With several workers each number is exact,
/// but they are not all of the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Items that can be read, and dead ones whose memory has not come back yet.
    pub items: u64,
    /// Of the items, those of before a clear.
    pub cleared: u64,
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
    /// Of the evicted items, those that nobody had read.
    pub evicted_unread: u64,
    /// Of the evicted items, those that were read and had been used lately, as far as the engine knows.
    pub evicted_active: u64,
    /// Of the expired items, those that nobody had read.
    pub expired_unread: u64,
    /// Reads that found an item that had expired.
    pub read_expired: u64,
    /// Reads that found an item of before a clear.
    pub read_cleared: u64,
    /// Whether the index is moving to another size.
    pub index_is_moving: bool,
    /// Pages that belong to no class and may be used by any; 0 in an engine that has no pages.
    pub free_pages: u64,
    /// Writes that had to wait until memory came back.
    pub waited: u64,
}

/// A summary of one class of items: items that an engine keeps together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// Its number, from 1 on.
    pub number: u32,
    /// Items that can be read, and dead ones whose memory has not come back yet.
    pub items: u64,
    /// Their bytes.
    pub item_bytes: u64,
    /// Pages of memory that the class has.
    pub pages: u64,
    /// The size of a page in bytes.
    pub page_bytes: u64,
    /// Seconds since the oldest of the pages was begun.
    pub age_s: u64,
    /// Items dropped before their expiry to make room.
    pub evicted: u64,
    /// Of these, those that had a time to live.
    pub evicted_early: u64,
    /// Of these, those that nobody had read.
    pub evicted_unread: u64,
    /// The mean time in seconds from the writing of an evicted item, or its last move, to its eviction.
    pub evicted_age_s: u64,
    /// Items whose memory came back because they had expired.
    pub expired: u64,
    /// Of these, those that nobody had read.
    pub expired_unread: u64,
}

impl From<&Stats> for ClassStats {
    /// All items as one class, with one page that all of them share.
    fn from(all: &Stats) -> Self {
        ClassStats {
            number: 1,
            items: all.items,
            item_bytes: all.item_bytes,
            pages: u64::from(all.items > 0),
            page_bytes: all.used_bytes.max(all.item_bytes),
            evicted: all.evicted,
            evicted_unread: all.evicted_unread,
            expired: all.expired,
            expired_unread: all.expired_unread,
            ..ClassStats::default()
        }
    }
}
