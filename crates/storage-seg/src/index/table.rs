// SPDX-License-Identifier: Apache-2.0
//! [`Table`]: the buckets of one generation, and [`Probe`]: where in it a hash belongs.

use super::bucket::{Bucket, Sharing};
use super::entry::Entry;
use super::slot::{DISPLACEMENT_MAX, Location, Pattern, Slot, distance};
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicUsize, fence};
use crate::zeroed::Zeroed;
use std::io;

/// Buckets after the last home, so that no home's reach ends at the edge.
const MARGIN: usize = distance(DISPLACEMENT_MAX);

/// One generation of the table: buckets that are homes, and a margin.
#[derive(Debug)]
pub(super) struct Table {
    memory: Zeroed<Bucket>,
    homes: usize,
    /// The watermark: homes below it have moved to the next generation. INV-WATERMARK: it only
    /// grows, and passes a home under that home's lock.
    moved: AtomicUsize,
    /// Bytes at the start of the memory that were given back.
    released: AtomicUsize,
    /// Entries that were drawn in. INV-INWARD.
    drawn: Apart<AtomicUsize>,
}

/// A value on two cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

impl Table {
    pub(super) fn new(homes: usize) -> io::Result<Table> {
        let homes = homes.max(1);
        let memory = Zeroed::new(homes.saturating_add(MARGIN))?;
        let zero = || AtomicUsize::new(0);
        Ok(Table { memory, homes, moved: zero(), released: zero(), drawn: Apart(zero()) })
    }

    pub(super) fn homes(&self) -> usize {
        self.homes
    }

    /// Size of a table's memory in bytes.
    pub(super) const fn bytes_of(homes: usize) -> usize {
        (homes + MARGIN) * size_of::<Bucket>()
    }

    /// Size of the memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.buckets())
    }

    #[inline]
    pub(super) fn buckets(&self) -> &[Bucket] {
        &self.memory
    }

    /// The home of a hash. Higher hashes have higher homes.
    #[inline]
    pub(super) fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.homes as u128) >> u64::BITS) as usize
    }

    /// The lowest hash of a home, and 2^64 for the one after the last.
    pub(super) fn first_hash(&self, home: usize) -> u128 {
        ((home as u128) << u64::BITS).div_ceil(self.homes as u128)
    }

    /// Homes below this have moved to the next generation.
    #[inline]
    pub(super) fn moved(&self) -> usize {
        self.moved.load(Acquire)
    }

    /// Moves the watermark past a home. The caller has that home's lock, and all its entries are in
    /// the next generation.
    pub(super) fn set_moved(&self, home: usize) {
        debug_assert_eq!(self.moved.load(Relaxed), home, "INV-WATERMARK: homes move in order");
        self.moved.store(home + 1, Release);
    }

    /// How many entries were drawn in. A search that has found nothing begins again if the count
    /// has changed meanwhile. INV-INWARD.
    #[inline]
    pub(super) fn drawn(&self) -> usize {
        self.drawn.0.load(Acquire)
    }

    /// Counts an entry that is in its new slot and not yet removed from the old one. INV-INWARD.
    pub(super) fn count_drawn(&self) {
        self.drawn.0.fetch_add(1, Release);
    }

    /// Bytes from the start to the last bucket that an entry of a hash below the limit may be in.
    pub(super) fn bytes_below(&self, limit: u128) -> usize {
        match limit.checked_sub(1) {
            None => 0,
            Some(hash) => Table::bytes_of(self.home(hash as u64) + 1),
        }
    }

    /// Takes the first whole huge page at or behind this byte from the system. Returns its end; `None` if there is no
    /// such page, or the table is being left.
    #[cfg(not(loom))]
    pub(super) fn take(&self, byte: usize) -> io::Result<Option<usize>> {
        match self.memory.huge_page_from(byte) {
            Some(page) if self.moved() == 0 => {
                self.memory.take(page.clone())?;
                Ok(Some(page.end))
            }
            _ => Ok(None),
        }
    }

    /// Bytes at the start of the memory that were given back.
    pub(super) fn released(&self) -> usize {
        self.released.load(Relaxed)
    }

    /// Gives the memory up to `end` back. Nobody looks for an entry there any more (INV-GRACE), whether its slots
    /// are free ones now or as they were.
    pub(super) fn release(&self, end: usize) {
        self.memory.release(self.released()..end);
        self.released.store(end, Relaxed);
    }
}

/// The home of a hash in one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<'t> {
    pub(super) table: &'t Table,
    pub(super) home: usize,
    /// What an entry of the hash looks like in its home bucket.
    pub(super) pattern: Pattern,
    pub(super) sharing: Sharing,
}

impl<'t> Probe<'t> {
    #[inline]
    pub(super) fn new(table: &'t Table, hash: u64, sharing: Sharing) -> Self {
        Probe { table, home: table.home(hash), pattern: Pattern::home(hash), sharing }
    }

    #[inline]
    pub(super) fn bucket(&self, displacement: usize) -> &'t Bucket {
        &self.table.buckets()[self.home + distance(displacement)]
    }

    /// The entry of this hash whose location passes the test.
    #[inline(always)]
    pub(super) fn find(&self, mut is_key: impl FnMut(Location) -> bool) -> Option<Entry<'t>> {
        let drawn = self.table.drawn();
        let bucket = self.bucket(0);
        if let Some(entry) = bucket.find(self.pattern, self.sharing, &mut is_key) {
            return Some(entry);
        }
        // Orders the look at the reach and the count after those at the slots. INV-OUTWARD.
        fence(Acquire);
        if bucket.reach() == 0 && self.table.drawn() == drawn {
            return None;
        }
        self.find_displaced(drawn, is_key)
    }

    /// Continues a search after the home bucket. `drawn` was read before the home bucket was.
    #[inline(never)]
    fn find_displaced(
        &self,
        mut drawn: usize,
        mut is_key: impl FnMut(Location) -> bool,
    ) -> Option<Entry<'t>> {
        let mut found = self.reached().skip(1).find_map(|place| self.find_at(place, &mut is_key));
        while found.is_none() {
            fence(Acquire);
            let before = std::mem::replace(&mut drawn, self.table.drawn());
            if drawn == before {
                return None;
            }
            // It may have been drawn in behind our back. INV-INWARD.
            found = self.reached().find_map(|place| self.find_at(place, &mut is_key));
        }
        found
    }

    fn find_at(
        &self,
        displacement: usize,
        is_key: impl FnMut(Location) -> bool,
    ) -> Option<Entry<'t>> {
        let pattern = self.pattern.displaced(displacement);
        self.bucket(displacement).find(pattern, self.sharing, is_key)
    }

    /// The displacements of this home's entries, lowest first. The reach is read again before each,
    /// after all that was read for the one before. INV-OUTWARD.
    fn reached(self) -> impl Iterator<Item = usize> {
        (0..=DISPLACEMENT_MAX).take_while(move |&displacement| {
            fence(Acquire);
            displacement <= self.bucket(0).reach()
        })
    }

    /// All entries of this home, whatever their tag. Unless the caller has the lock, one that is
    /// shifted may be met twice and one that is drawn in not at all.
    pub(super) fn entries(self) -> impl Iterator<Item = Entry<'t>> {
        self.reached().flat_map(move |displacement| {
            self.bucket(displacement).slots().iter().filter_map(move |slot| {
                let seen = Slot(slot.load(Acquire));
                let location = seen.location()?;
                let is_ours = seen.displacement() == displacement;
                is_ours.then_some(Entry { slot, seen, location, sharing: self.sharing })
            })
        })
    }
}
