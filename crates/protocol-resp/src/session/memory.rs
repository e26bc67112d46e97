// SPDX-License-Identifier: Apache-2.0
//! [`MemoryUse`]: bytes that a client makes the server keep besides its buffers.
//!
//! It counts keys, names and queued requests, with the allocator's rounding, and their entries in the tables
//! of the client and of the server. Tables grow by doubling, so an entry is counted as 1.75 entries.

use crate::wire::parse::Args;
use allocator::size_class;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A kind of memory that is kept for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// Commands between MULTI and EXEC.
    Queue,
    /// Watched keys.
    Watch,
    /// Channels and patterns that it is subscribed to.
    Channels,
    /// Keys that it waits for.
    Wait,
    /// Its name, and that of its library.
    Names,
    /// Prefixes of keys that it tracks.
    Prefixes,
    /// Lists of field names that it has prepared.
    Fieldsets,
}

impl MemoryKind {
    const ALL: [MemoryKind; 7] = [
        MemoryKind::Queue,
        MemoryKind::Watch,
        MemoryKind::Channels,
        MemoryKind::Wait,
        MemoryKind::Names,
        MemoryKind::Prefixes,
        MemoryKind::Fieldsets,
    ];
}

/// The total of the clients of one worker. Only that worker writes it.
#[derive(Debug, Default)]
pub(crate) struct WorkerMemory(AtomicU64);

impl WorkerMemory {
    /// The bytes.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The memory of one client. Only its own worker writes; any worker may read.
#[derive(Debug)]
pub(crate) struct MemoryUse {
    account: Arc<WorkerMemory>,
    bytes: [AtomicU64; MemoryKind::ALL.len()],
}

impl MemoryUse {
    /// The empty account of a client whose worker has this `account`.
    pub(crate) fn new(account: Arc<WorkerMemory>) -> Self {
        MemoryUse { account, bytes: Default::default() }
    }

    /// Bytes of a kind.
    pub(crate) fn get(&self, what: MemoryKind) -> u64 {
        self.bytes[what as usize].load(Relaxed)
    }

    /// Bytes of all kinds.
    pub(crate) fn total(&self) -> u64 {
        MemoryKind::ALL.iter().map(|what| self.get(*what)).sum()
    }

    /// Sets the bytes of a kind.
    pub(crate) fn set(&self, what: MemoryKind, bytes: u64) {
        let before = self.get(what);
        if bytes != before {
            self.bytes[what as usize].store(bytes, Relaxed);
            let all = &self.account.0;
            all.store(all.load(Relaxed).wrapping_add(bytes).wrapping_sub(before), Relaxed);
        }
    }

    /// Sets all kinds to zero.
    pub(crate) fn clear(&self) {
        MemoryKind::ALL.iter().for_each(|what| self.set(*what, 0));
    }
}

/// Bytes of an entry of a hash table.
pub(crate) const fn place<T>() -> u64 {
    (size_of::<T>() + 1) as u64 * 7 / 4
}

/// Bytes of a list that was made for one entry.
const fn short_list<T>() -> u64 {
    4 * size_of::<T>() as u64
}

/// Bytes of a text on the heap.
pub(crate) fn text_bytes(len: usize) -> u64 {
    size_class(len) as u64
}

/// Bytes of a key that a client watches or waits for, or of a name that it is subscribed to: stored once with
/// the client and once in the shared table.
pub(crate) fn name_bytes(len: usize) -> u64 {
    type Name = Box<[u8]>;
    const PLACES: u64 = place::<((usize, Name), bool)>()
        + place::<((usize, Name), Vec<u8>)>()
        + short_list::<(usize, usize)>();
    PLACES + 2 * text_bytes(len)
}

/// An upper bound on the bytes that a command makes its client hold: each argument counted as a
/// name.
pub(crate) fn estimate(args: Args<'_>) -> u64 {
    args.iter().map(|arg| name_bytes(arg.len())).sum()
}

/// Capacity up to which a table is not shrunk, however few entries it has.
const SMALL: usize = 1024;

/// Shrinks a table that has become mostly empty.
pub(crate) fn trim<K: Eq + Hash, V, S: BuildHasher>(table: &mut HashMap<K, V, S>) {
    if table.capacity() > SMALL && table.len() < table.capacity() / 8 {
        table.shrink_to(table.len() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_the_sum_of_what_its_clients_hold() {
        let account = Arc::new(WorkerMemory::default());
        let [one, two] = [(); 2].map(|()| MemoryUse::new(Arc::clone(&account)));
        one.set(MemoryKind::Queue, 100);
        one.set(MemoryKind::Names, 20);
        two.set(MemoryKind::Queue, 5);
        one.set(MemoryKind::Queue, 70);
        assert_eq!((one.total(), one.get(MemoryKind::Queue), account.get()), (90, 70, 95));
        one.clear();
        assert_eq!((one.total(), account.get()), (0, 5));
    }

    #[test]
    fn a_table_that_was_large_gives_its_places_back() {
        let mut table: HashMap<u32, u32> = (0..10_000).map(|n| (n, n)).collect();
        table.retain(|n, _| *n < 9_000);
        trim(&mut table);
        assert!(table.capacity() > 9_000);
        table.retain(|n, _| *n < 10);
        trim(&mut table);
        assert!(table.capacity() < 100, "{}", table.capacity());
    }
}
