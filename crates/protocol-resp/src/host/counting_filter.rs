// SPDX-License-Identifier: Apache-2.0
//! [`CountingFilter`]: a counting Bloom filter, with one hash function, over the keys of a table. A key that
//! is not in the filter is not in the table, so most writers need not lock the table to find out.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use values::hash_of;

/// Number of counters; a key is hashed to one of them.
const CLASSES: usize = 1024;

/// For each counter, how many entries of the table have keys with that hash.
///
/// The caller holds the lock of the key's shard, both to add a key and to look it up. So a look-up
/// sees every key that was added before, although the counters themselves use relaxed ordering.
#[derive(Debug)]
pub(crate) struct CountingFilter(Box<[AtomicU32]>);

impl Default for CountingFilter {
    fn default() -> Self {
        CountingFilter((0..CLASSES).map(|_| AtomicU32::new(0)).collect())
    }
}

impl CountingFilter {
    /// Counts an added entry for `key`.
    pub(crate) fn add(&self, key: &[u8]) {
        self.class(key).fetch_add(1, Relaxed);
    }

    /// Takes back the count of a removed entry for `key`.
    pub(crate) fn remove(&self, key: &[u8]) {
        self.class(key).fetch_sub(1, Relaxed);
    }

    /// Whether there may be an entry for `key`. If false, there is none.
    #[inline]
    pub(crate) fn may_hold(&self, key: &[u8]) -> bool {
        self.class(key).load(Relaxed) != 0
    }

    #[inline]
    fn class(&self, key: &[u8]) -> &AtomicU32 {
        &self.0[hash_of(key) as usize % CLASSES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_held_until_it_is_removed_as_often() {
        let filter = CountingFilter::default();
        assert!(!filter.may_hold(b"key"));
        filter.add(b"key");
        filter.add(b"key");
        filter.remove(b"key");
        assert!(filter.may_hold(b"key"));
        filter.remove(b"key");
        assert!(!filter.may_hold(b"key"));
    }

    #[test]
    fn few_other_keys_fall_through_with_it() {
        let filter = CountingFilter::default();
        filter.add(b"key");
        let others = (0..10_000_u32).filter(|other| filter.may_hold(&other.to_le_bytes()));
        assert!(others.count() < 100);
    }
}
