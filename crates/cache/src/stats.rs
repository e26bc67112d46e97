// SPDX-License-Identifier: Apache-2.0
//! [`Statistics`]: what a cache holds and has done.

/// What a cache holds and has done since it was built, by [`Cache::statistics`](crate::Cache::statistics).
///
/// Each number is exact; while other threads use the cache they are not all of the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Reads that found a value.
    pub hits: u64,
    /// Reads that found none. Of a [`get_or_insert_with`](crate::Cache::get_or_insert_with) only the first look counts.
    pub misses: u64,
    /// Values written.
    pub stored: u64,
    /// Values that were computed and not stored: too large, or the key was written or removed meanwhile.
    pub unstored: u64,
    /// Times that a thread waited for a value that another computed.
    pub waited: u64,
    /// Items that made room for others.
    pub evicted: u64,
    /// Items whose memory came back because their time was over.
    pub expired: u64,
    /// Items now, with expired and removed ones whose memory has not come back yet.
    pub items: u64,
    /// Bytes of these items, with what each costs beside key and value.
    pub item_bytes: u64,
    /// Bytes of memory in use that count against the limit: items and index.
    pub used_bytes: u64,
    /// The limit in bytes.
    pub limit_bytes: u64,
}

impl Statistics {
    /// Hits by reads; 0 before the first.
    #[must_use]
    pub fn hit_ratio(&self) -> f64 {
        self.hits as f64 / (self.hits + self.misses).max(1) as f64
    }
}
