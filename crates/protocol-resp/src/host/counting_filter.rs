// SPDX-License-Identifier: Apache-2.0
//! [`CountingFilter`]: a counting Bloom filter, with one hash function, over the keys of a table. A key that
//! is not in the filter is not in the table, so most writers need not lock the table to find out.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use values::hash_of;

/// Number of counters; a key is hashed to one of them. With 1,000 keys in the table, one of 66 others is looked for there
/// in vain.
const CLASSES: usize = 64 << 10;

/// For each counter, how many entries of the table have keys with that hash. The counters, 256 KiB, are allocated with the
/// first key.
///
/// The caller holds the lock of the key's shard, both to add a key and to look it up. So a look-up
/// sees every key that was added before, although the counters themselves use relaxed ordering.
#[derive(Debug, Default)]
pub(crate) struct CountingFilter(OnceLock<Box<[AtomicU32]>>);

impl CountingFilter {
    /// Counts an added entry for `key`.
    pub(crate) fn add(&self, key: &[u8]) {
        let classes = self.0.get_or_init(|| (0..CLASSES).map(|_| AtomicU32::new(0)).collect());
        classes[class(key)].fetch_add(1, Relaxed);
    }

    /// Takes back the count of a removed entry for `key`.
    pub(crate) fn remove(&self, key: &[u8]) {
        if let Some(classes) = self.0.get() {
            classes[class(key)].fetch_sub(1, Relaxed);
        }
    }

    /// Whether there may be an entry for `key`. If false, there is none.
    #[inline]
    pub(crate) fn may_hold(&self, key: &[u8]) -> bool {
        self.0.get().is_some_and(|classes| classes[class(key)].load(Relaxed) != 0)
    }
}

/// The counter of a key.
#[inline]
fn class(key: &[u8]) -> usize {
    hash_of(key) as usize % CLASSES
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
        assert!(others.count() < 10);
    }
}
