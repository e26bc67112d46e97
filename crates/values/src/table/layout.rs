// SPDX-License-Identifier: Apache-2.0
//! [`Layout`]: where the buckets of a table are, for a prefetch that must not look at the table.

use super::bucket::Bucket;
use super::chunks::locate;
use super::{CacheLine, Table, home};
use std::fmt;
use std::marker::PhantomData;

/// Where the buckets of a table were when it was last [looked at](Layout::refresh).
///
/// A table may be behind a lock that takes longer to get than a bucket takes to prefetch. A layout
/// is outside of the lock, and gives the address of a hash's bucket without it. It may be out of
/// date, since it is used for prefetches only: prefetching an old address is useless but harmless.
///
/// It takes eight bytes per chunk: one per thousand buckets of a large table.
///
/// ```
/// use values::{Entry, Layout, Table, hash_of};
///
/// let mut table: Table<Entry> = Table::new();
/// table.insert(hash_of(b"key"), Entry::string(b"key", b"value"));
/// let mut layout = Layout::new();
/// layout.refresh(&table);
/// layout.prefetch(hash_of(b"key"));
/// ```
pub struct Layout<T, A = CacheLine> {
    /// The address of each chunk of buckets.
    chunks: Vec<usize>,
    buckets: usize,
    of: PhantomData<fn() -> Bucket<T, A>>,
}

impl<T, A> Layout<T, A> {
    /// The layout of a table without buckets. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Layout { chunks: Vec::new(), buckets: 0, of: PhantomData }
    }

    /// Reads the addresses of the table's chunks. Costs almost nothing while these are the same: a
    /// large table gets a chunk only per thousand buckets.
    #[inline]
    pub fn refresh(&mut self, table: &Table<T, A>) {
        let now = (table.heads.chunks(), table.heads.last_chunk());
        if (self.chunks.len(), self.chunks.last().copied()) != now {
            self.redraw(table);
        }
        self.buckets = table.heads.len();
    }

    #[cold]
    fn redraw(&mut self, table: &Table<T, A>) {
        self.chunks.clear();
        self.chunks.extend(table.heads.addresses());
    }

    /// Prefetches the bucket of this hash, as [`Table::prefetch`] does.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let (chunk, place) = locate(home(hash, self.buckets));
        if let Some(&address) = self.chunks.get(chunk) {
            let address = address.wrapping_add(place * size_of::<Bucket<T, A>>());
            prefetch::address(std::ptr::without_provenance(address));
        }
    }
}

impl<T, A> Default for Layout<T, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, A> fmt::Debug for Layout<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { chunks, buckets, of: _ } = self;
        f.debug_struct("Layout").field("chunks", &chunks.len()).field("buckets", buckets).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, hash_of};

    /// What a layout would ask the CPU for.
    fn address(layout: &Layout<Entry>, hash: u64) -> Option<usize> {
        let (chunk, place) = locate(home(hash, layout.buckets));
        Some(layout.chunks.get(chunk)? + place * size_of::<Bucket<Entry, CacheLine>>())
    }

    fn bucket(table: &Table<Entry>, hash: u64) -> Option<usize> {
        table.heads.get(table.home(hash)).map(|bucket| std::ptr::from_ref(bucket).addr())
    }

    fn hash(number: usize) -> u64 {
        hash_of(format!("key{number}").as_bytes())
    }

    fn insert(table: &mut Table<Entry>, number: usize) {
        table.insert(hash(number), Entry::string(format!("key{number}").as_bytes(), b"v"));
    }

    #[test]
    fn it_leads_to_the_buckets_of_the_table_it_has_seen() {
        let (mut table, mut layout) = (Table::new(), Layout::new());
        assert_eq!(address(&layout, hash(1)), None);
        for number in 0..20_000 {
            insert(&mut table, number);
            if number % 97 == 0 {
                layout.refresh(&table);
                assert_eq!(address(&layout, hash(number)), bucket(&table, hash(number)));
            }
        }
        layout.refresh(&table);
        for number in 0..20_000 {
            assert_eq!(address(&layout, hash(number)), bucket(&table, hash(number)));
        }
        for number in 0..20_000 {
            table.remove(hash(number), format!("key{number}").as_bytes());
        }
        layout.refresh(&table);
        assert_eq!(address(&layout, hash(1)), bucket(&table, hash(1)));
    }

    #[test]
    fn it_follows_to_another_table_of_the_same_size() {
        let mut layout = Layout::new();
        let tables = [3, 4].map(|first| {
            let mut table = Table::new();
            (0..6000).for_each(|number| insert(&mut table, first + number));
            table
        });
        for table in &tables {
            layout.refresh(table);
            assert_eq!(address(&layout, hash(7)), bucket(table, hash(7)));
        }
    }

    #[test]
    fn one_that_is_out_of_date_changes_nothing() {
        let mut layout: Layout<Entry> = Layout::new();
        layout.prefetch(1);
        let mut table = Table::new();
        (0..100).for_each(|number| insert(&mut table, number));
        layout.refresh(&table);
        drop(table);
        (0..100).for_each(|number| layout.prefetch(hash(number)));
    }
}
