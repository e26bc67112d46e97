// SPDX-License-Identifier: Apache-2.0
//! [`Index`]: from the hash of a key to where its item is.
//!
//! A hash table of 64-byte buckets with eight slots each (`slot.rs` draws one). The high bits of the
//! hash choose a *home* bucket, in order: higher hashes have higher homes, for any number of homes.
//! An entry whose home bucket is full goes to one of 15 others at growing distances after it, and
//! says in its slot which: its *displacement*. A home knows its *reach*, the largest displacement of
//! its entries. The index knows no keys; its caller compares them, given a location.
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
//! the home of its key ([`Index::lock`]), which is a bit in the line it needs anyway, and changes
//! slots by compare-exchange, as writers of other homes may be after the same free slot. In an
//! *exclusive* index, used by one thread, locks and read-modify-writes are left out.
//!
//! # Growth
//!
//! The index moves to a table with more homes, or fewer, while in use ([`Index::grow`] begins it,
//! [`Index::migrate`] goes on with it). Homes move in order and a *watermark* says how many have:
//!
//! ```text
//!  generation g      │ given back │ moved, kept for a while │ w │ in use              │
//!                                            watermark ──────┘
//!  generation g + 1  │ in use                                    │ untouched, no memory         │
//! ```
//!
//! As the order of homes is the order of hashes, the next table fills from its start while the one
//! before gives its memory back from its start: together they never take much more than the larger.
//! Ghosts do not move: a table without keys cannot tell to which of the next homes they belong.
//!
//! # Why it is right
//!
//! * INV-LOCK: the entries of a home (wherever displaced) and its reach change only under its lock.
//!   Frequencies may change without. So two writers of one key never make two entries, and what a
//!   writer has found stays until it is done.
//! * INV-OUTWARD: an entry stays in its slot, or is shifted by another home's writer, who has the
//!   lock, to a larger displacement. Then the copy is written before the slot is cleared. A reader
//!   looks at displacements in ascending order, each after the one before (acquire fences see to
//!   it). So it meets each entry that was there throughout.
//! * INV-INWARD: an entry that is replaced may be drawn in, to a smaller displacement, by its own
//!   home's writer. First its successor is written, then the table counts it, then the old slot is
//!   cleared. Who looks for an entry reads the count first, and if it has found nothing and the
//!   count has changed, looks again. If the count is the same, each entry was drawn in before, and
//!   was there in its next slot, or after, and was there in the last.
//! * INV-REACH: no entry is displaced further than its home's reach, at any moment: the reach is
//!   raised before the entry is written and lowered after it has gone. Without writers, it is the
//!   lowest that will do. (A count of displaced entries could not tell a reader when to stop: while
//!   it looks, one may go that it has met and another come that it also meets.)
//! * INV-META: lock and reach are in a bucket's first slot, and changed there bit by bit; whoever
//!   changes the entry in that slot keeps them as they are. Other slots have zeroes there.
//! * INV-WATERMARK: a home's entries are in the next table before the watermark passes it, and it
//!   passes under the home's lock. Whoever then locks that home sees that it has moved, and looks in
//!   the next table. So nothing is written to a home after its entries were copied, and nothing that
//!   was removed or replaced is copied.
//! * INV-LEFT: the entries of a home that has moved stay where they were. A reader that looked at
//!   the watermark before it passed still finds what was there at that moment.
//! * INV-GRACE: memory is given back when all who may have looked at the watermark before it passed
//!   have been through a quiescent state. All calls are made by threads that are *online* in the
//!   [`Epochs`](crate::epoch::Epochs), and nothing from before a quiescent state is used after it.
//!
//! Memory order: a slot is written with `Release` and an entry read with `Acquire`, so an item's
//! bytes are seen by who finds it; read-modify-writes in between (frequencies, locks) continue the
//! release sequence. Taking a lock acquires what its last holder released. The watermark is written
//! with `Release`, after the entries in the next table, and read with `Acquire`. That the reader of
//! an old watermark delays the giving back of memory is the argument of `epoch.rs`.
//!
//! # Which file next
//!
//! * `slot.rs`, `bucket.rs`, `memory.rs` (the only unsafe code), `table.rs`: the memory, bottom up.
//! * `entry.rs`: what is found. `home.rs`: the lock, and all writes under it. `shift.rs`: how it makes
//!   room when there is none.
//! * `growth.rs`: the move to another table. `scan.rs`: walks and statistics.
//! * `integrity.rs`: the check of the invariants.

mod bucket;
mod entry;
mod growth;
mod home;
mod integrity;
mod memory;
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
    /// A generation that has not wholly moved, or one before it: where a search for the right table
    /// begins. Which it is, the watermarks say.
    current: AtomicUsize,
    sharing: Sharing,
    huge_pages: bool,
    tables: Box<[OnceBox<Table>]>,
    is_growing: AtomicBool,
    /// Only ever tried, so nobody waits for the system calls under it.
    growth: Mutex<Option<Growth>>,
}

impl Index {
    /// An empty index with that many home buckets.
    pub(crate) fn new(buckets: usize, exclusive: bool, huge_pages: bool) -> io::Result<Index> {
        let tables: Box<[_]> = (0..GENERATIONS).map(|_| OnceBox::new()).collect();
        tables[0].get_or_try_init(|| Table::new(buckets, huge_pages).map(Box::new))?;
        Ok(Index {
            current: AtomicUsize::new(0),
            sharing: if exclusive { Sharing::Exclusive } else { Sharing::Shared },
            huge_pages,
            tables,
            is_growing: AtomicBool::new(false),
            growth: Mutex::new(None),
        })
    }

    #[inline]
    fn table(&self, generation: usize) -> &Table {
        self.tables[generation].get().expect("a home moves to a table that is there")
    }

    /// Where the hash belongs, at the moment of the last look at a watermark.
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

    /// Asks the CPU for the line that a search for this hash begins with.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch::read(self.probe(hash).bucket(0));
    }

    /// Where the item of this hash may well be, to prefetch it: what the home bucket tells, without
    /// a look at the item. Reads the line that [`Index::prefetch`] asked for.
    #[inline]
    pub(crate) fn candidate(&self, hash: u64) -> Option<Location> {
        let probe = self.probe(hash);
        let entry = probe.bucket(0).find(probe.pattern, self.sharing, |_| true)?;
        Some(entry.location())
    }

    /// The entry of this hash whose location passes the test. Takes no lock and never waits.
    ///
    /// `is_key` compares keys; it is asked about all entries of the home with the same 12 bits of
    /// the hash, until it says yes. The home bucket's line is all that is read, unless the home has
    /// displaced entries.
    #[inline]
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
    /// Ask without holding a lock, then lock the home of that item's hash to remove it.
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

    /// Slots in the home buckets: as many entries can be there at most, give or take a few.
    pub(crate) fn slots(&self) -> usize {
        self.buckets() * BUCKET_SLOTS
    }
}
