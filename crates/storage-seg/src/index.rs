// SPDX-License-Identifier: Apache-2.0
//! [`Index`]: from the hash of a key to where its item is.
//!
//! A hash table of 64-byte buckets with eight slots each (`slot.rs` draws one). The high bits of the
//! hash choose a *home* bucket, in order: higher hashes have higher homes, for any number of homes.
//! An entry whose home bucket is full goes to one of 15 others at growing distances after it. Its
//! slot records which one: its *displacement*. A home knows its *reach*, the largest displacement of
//! its entries. The index does not store keys; its caller compares them, given a location.
//!
//! ```text
//!  bucket   home 0          home 1          home 2                     margin
//!         ┌───────────────┬───────────────┬───────────────┬───  ───┬─────────────┐
//!         │ A a a a a a a │ B b b a a     │ C             │        │             │
//!         └───────────────┴───────────────┴───────────────┴───  ───┴─────────────┘
//!          A: lock, reach 1   a: of home 0, displaced by 1
//! ```
//!
//! A read takes no lock and writes nothing, except a frequency if the caller wants. A write locks
//! the home of its key ([`Index::lock`]) by a bit in the cache line it needs anyway, and changes
//! slots by compare-exchange, as writers of other homes may want the same free slot. In an
//! *exclusive* index, used by one thread, locks and read-modify-writes are left out.
//!
//! # Growth
//!
//! The index moves to a table with more homes, or fewer, while in use ([`Index::grow`] begins the
//! move, [`Index::migrate`] continues it). Homes move in order, and a *watermark* counts those that
//! have moved:
//!
//! ```text
//!  generation g      │ given back │ moved, kept for a while │ w │ in use              │
//!                                            watermark ──────┘
//!  generation g + 1  │ in use                                    │ untouched, no memory         │
//! ```
//!
//! As the order of homes is the order of hashes, the next table fills from its start while the old
//! one gives its memory back from its start: together they never take much more than the larger.
//! Ghosts do not move: without their keys the index cannot tell which homes of the next table they
//! belong to.
//!
//! # Why it is right
//!
//! * INV-LOCK: the entries of a home (wherever displaced) and its reach change only under its lock;
//!   frequencies may change without it. So two writers of one key never make two entries, and an
//!   entry that a writer has found stays until the writer is done.
//! * INV-OUTWARD: an entry stays in its slot, or is shifted by another home's writer, who has the
//!   lock, to a larger displacement. Then the copy is written before the slot is cleared. A reader
//!   looks at displacements in ascending order, each after the one before (acquire fences see to
//!   it). So it meets each entry that was in the index throughout.
//! * INV-INWARD: an entry that is replaced may be drawn in, to a smaller displacement, by its own
//!   home's writer. First its successor is written, then the table counts it, then the old slot is
//!   cleared. A reader reads the count first, and if it has found nothing and the count has
//!   changed, it looks again. If the count is the same, each entry was either drawn in before the
//!   look, and was found in its new slot, or after it, and was found in its old one.
//! * INV-REACH: no entry is displaced further than its home's reach, at any moment: the reach is
//!   raised before the entry is written and lowered after it has gone. Without writers, it is the
//!   lowest possible. (A count of displaced entries could not tell a reader when to stop: during
//!   its search an entry that it has met may be removed and another added that it also meets.)
//! * INV-META: lock and reach are bits of a bucket's first slot, and are changed one by one;
//!   whoever changes the entry in that slot preserves them. In other slots these bits are zero.
//! * INV-WATERMARK: a home's entries are in the next table before the watermark passes it, and it
//!   passes under the home's lock. Whoever then locks that home sees that it has moved, and looks in
//!   the next table. So nothing is written to a home after its entries were copied, and no removed
//!   or replaced entry is copied.
//! * INV-LEFT: the entries of a home that has moved stay in the old table too. A reader that looked
//!   at the watermark before it passed still finds the entries of that moment.
//! * INV-GRACE: memory is given back when all threads that may have looked at the watermark before
//!   it passed have been through a quiescent state. All calls are made by threads that are *online*
//!   in the [`Epochs`](crate::epoch::Epochs), and nothing from before a quiescent state is used
//!   after it.
//!
//! Memory order: a slot is written with `Release` and an entry read with `Acquire`, so whoever
//! finds an item sees its bytes; read-modify-writes in between (frequencies, locks) continue the
//! release sequence. Taking a lock acquires what its last holder released. The watermark is written
//! with `Release`, after the entries in the next table, and read with `Acquire`. `epoch.rs` argues
//! why a reader of an old watermark delays the return of memory.
//!
//! # Which file next
//!
//! * `slot.rs`, `bucket.rs`, `table.rs`: the memory, bottom up.
//! * `entry.rs`: an entry that was found. `home.rs`: the lock, and all writes under it. `shift.rs`:
//!   making room when all buckets of a home are full.
//! * `growth.rs`: the move to another table. `scan.rs`: walks and statistics.
//! * `integrity.rs`: the check of the invariants.

mod bucket;
mod entry;
mod growth;
mod home;
mod integrity;
mod scan;
mod shift;
mod slot;
mod table;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use entry::Entry;
pub(crate) use growth::Keys;
pub(crate) use home::Home;
pub(crate) use slot::Location;

use crate::sync::Mutex;
use crate::sync::atomic::Ordering::Acquire;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use bucket::{BUCKET_SLOTS, Sharing};
use growth::Growth;
use once_cell::race::OnceBox;
use slot::{DISPLACEMENT_MAX, Pattern, Slot, distance};
use std::io;
use table::{Probe, Table};

/// Tables there can be in the life of an index. Those of the past take no memory.
const GENERATIONS: usize = 1024;

/// Where items are, by the hash of their keys.
#[derive(Debug)]
pub(crate) struct Index {
    /// The generation at which a search for the right table begins: the one in use, or one before
    /// it. The watermarks tell whether to go on to the next.
    current: AtomicUsize,
    sharing: Sharing,
    /// The first table is to have huge pages. Others take their memory as the one before gives its own back, a little
    /// at a time.
    huge_pages: bool,
    tables: Box<[OnceBox<Table>]>,
    is_growing: AtomicBool,
    /// Taken only with `try_lock`, so nobody waits for the system calls made under it.
    growth: Mutex<Option<Growth>>,
}

impl Index {
    /// An empty index with that many home buckets.
    pub(crate) fn new(buckets: usize, exclusive: bool, huge_pages: bool) -> io::Result<Index> {
        let tables: Box<[_]> = (0..GENERATIONS).map(|_| OnceBox::new()).collect();
        tables[0].get_or_try_init(|| Table::new(buckets).map(Box::new))?;
        Ok(Index {
            current: AtomicUsize::new(0),
            sharing: if exclusive { Sharing::Exclusive } else { Sharing::Shared },
            huge_pages,
            tables,
            is_growing: AtomicBool::new(false),
            growth: Mutex::new(None),
        })
    }

    /// Takes the first whole huge page of the first table at or behind this byte from the system, if it is to have huge
    /// pages. Returns where that page ends.
    ///
    /// # Errors
    ///
    /// Those of the system.
    #[cfg(not(loom))]
    pub(crate) fn take_ahead(&self, byte: usize) -> io::Result<Option<usize>> {
        if self.huge_pages { self.table(0).take(byte) } else { Ok(None) }
    }

    #[inline]
    fn table(&self, generation: usize) -> &Table {
        self.tables[generation].get().expect("a home moves to a table that is there")
    }

    /// The home of a hash, as of the last look at a watermark.
    #[inline]
    fn probe(&self, hash: u64) -> Probe<'_> {
        let mut generation = self.current.load(Acquire);
        loop {
            let table = self.table(generation);
            let home = table.home(hash);
            if home >= table.moved() {
                return Probe { table, home, pattern: Pattern::home(hash), sharing: self.sharing };
            }
            generation += 1;
        }
    }

    /// Prefetches the line that a search for this hash begins with.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch::read(self.probe(hash).bucket(0));
    }

    /// The probable location of the item of this hash, to prefetch it: the first match in the home
    /// bucket, without a look at the item. Reads the line that [`Index::prefetch`] asked for.
    #[inline]
    pub(crate) fn candidate(&self, hash: u64) -> Option<Location> {
        let probe = self.probe(hash);
        let entry = probe.bucket(0).find(probe.pattern, self.sharing, |_| true)?;
        Some(entry.location())
    }

    /// The entry of this hash whose location passes the test. Takes no lock and never waits.
    ///
    /// `is_key` compares keys; it is called for all entries of the home with the same 12 bits of
    /// the hash, until it returns true. Reads only the home bucket's line, unless the home has
    /// displaced entries.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        hash: u64,
        is_key: impl FnMut(Location) -> bool,
    ) -> Option<Entry<'_>> {
        self.probe(hash).find(is_key)
    }

    /// Locks the home of a hash, to change its entries.
    #[inline]
    pub(crate) fn lock(&self, hash: u64) -> Home<'_> {
        loop {
            let home = Home::lock(self.probe(hash));
            if !home.has_moved() {
                return home;
            }
        }
    }

    /// The item with the lowest frequency close to the home of this hash, of whatever home, to be
    /// dropped when [`Home::insert`] finds the index full and [`Home::weakest`] has nothing.
    ///
    /// Call it without holding a lock, then lock the home of that item's hash to remove it.
    pub(crate) fn crowding(&self, hash: u64) -> Option<Location> {
        let probe = self.probe(hash);
        let moved = probe.table.moved();
        (0..=DISPLACEMENT_MAX).find_map(|displacement| {
            let slots = probe.bucket(displacement).slots().iter();
            let seen = slots.map(|slot| Slot(slot.load(Acquire)));
            // INV-LEFT: entries of homes that have moved are not in use.
            let used = seen.filter(|seen| {
                let bucket = probe.home + distance(displacement);
                bucket >= moved + distance(seen.displacement()) && seen.location().is_some()
            });
            used.min_by_key(|seen| seen.frequency()).and_then(Slot::location)
        })
    }

    /// The newest table: the one that entries move to while growing.
    fn newest(&self) -> &Table {
        let current = self.current.load(Acquire);
        let next = self.tables.get(current + 1).and_then(OnceBox::get);
        next.unwrap_or_else(|| self.table(current))
    }

    /// Home buckets, of the next table while growing.
    pub(crate) fn buckets(&self) -> usize {
        self.newest().homes()
    }

    /// Bytes of an index with that many home buckets.
    pub(crate) fn bytes_of(buckets: usize) -> u64 {
        Table::bytes_of(buckets) as u64
    }

    /// Slots in the home buckets: about the most entries that the index can have.
    pub(crate) fn slots(&self) -> usize {
        self.buckets() * BUCKET_SLOTS
    }
}
