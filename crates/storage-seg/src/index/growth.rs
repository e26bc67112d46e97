// SPDX-License-Identifier: Apache-2.0
//! The move to a table with another number of homes, a few homes at a time.
//!
//! One thread at a time moves homes, whichever calls [`Index::migrate`]. It holds each home's lock
//! while it copies the entries, and takes the lock of the next table's home for each entry, since
//! writers of hashes that have moved work there already. Nobody else waits for one lock while
//! holding another, so there is no deadlock.

use super::bucket::Bucket;
use super::home::Home;
use super::slot::Location;
use super::table::{Probe, Table};
use super::{GENERATIONS, Index};
use crate::epoch::{Epoch, Epochs};
use crate::sync::atomic::Ordering::{Acquire, Release};
use std::io;

/// Memory is given back in pieces of this many bytes, a multiple of the page size.
#[cfg(not(loom))]
const PIECE_BYTES: usize = 64 << 10;
#[cfg(loom)]
const PIECE_BYTES: usize = size_of::<Bucket>();

/// No homes move while more bytes than this wait to be given back.
const WAITING_BYTES_MAX: usize = 16 * PIECE_BYTES;

/// How many buckets ahead items are prefetched, whose keys will be hashed.
const AHEAD: usize = 4;

/// How the move to another table asks about items.
///
/// It is called with locks held, so it must not call the index.
pub(crate) trait Keys {
    /// The hash of the key of the item at a location. The item is there.
    fn hash(&mut self, location: Location) -> u64;

    /// The item's key will be asked for soon. The item may be gone by now.
    fn prefetch(&mut self, location: Location);

    /// There was no room for the entry of this item in the next table; the index has no entry for
    /// it any more.
    fn dropped(&mut self, location: Location);
}

/// A growth under way.
#[derive(Debug)]
pub(super) struct Growth {
    /// The generation whose homes move.
    from: usize,
    /// How many bytes at its start can be given back, and when.
    waiting: Option<(usize, Epoch)>,
}

impl Index {
    /// Begins to move to a table with that many home buckets, more than there are or fewer.
    ///
    /// Returns whether it did: not while it is already growing, nor when it has that many homes,
    /// nor after a thousand moves. No home moves until [`Index::migrate`] is called.
    ///
    /// # Errors
    ///
    /// When the operating system has no memory for the table. Nothing has changed then.
    pub(crate) fn grow(&self, buckets: usize) -> io::Result<bool> {
        let Some(mut growth) = self.growth.try_lock() else { return Ok(false) };
        let from = self.current.load(Acquire);
        if growth.is_some() || self.is_final() || buckets.max(1) == self.buckets() {
            return Ok(false);
        }
        let table = Table::new(buckets)?;
        let set = self.tables[from + 1].set(Box::new(table));
        assert!(set.is_ok(), "the generation is not in use");
        *growth = Some(Growth { from, waiting: None });
        self.is_growing.store(true, Release);
        if from + 2 == GENERATIONS {
            log::warn!("the index changes its size for the last time, to {buckets} buckets");
        }
        Ok(true)
    }

    /// Whether it has its last size.
    pub(crate) fn is_final(&self) -> bool {
        self.current.load(Acquire) + 1 == GENERATIONS
    }

    /// Whether there is something to do for [`Index::migrate`]: homes to move or memory to be given
    /// back.
    #[inline]
    pub(crate) fn is_growing(&self) -> bool {
        self.is_growing.load(Acquire)
    }

    /// Moves at most `budget` homes and gives back memory whose grace period has passed. Returns
    /// whether it did something.
    ///
    /// It does nothing when the index is not growing, another thread is moving it, or all remaining
    /// work waits for a quiescent state, the caller's included.
    pub(crate) fn migrate(&self, budget: usize, epochs: &Epochs, keys: &mut impl Keys) -> bool {
        if !self.is_growing() {
            return false;
        }
        let Some(mut guard) = self.growth.try_lock() else { return false };
        let Some(growth) = guard.as_mut() else { return false };
        let (old, next) = (self.table(growth.from), self.table(growth.from + 1));
        let has_released = growth.release(old, epochs);
        let mut moved = 0;
        if releasable(old) - old.released() <= WAITING_BYTES_MAX {
            moved = self.move_homes(budget, old, next, keys);
        }
        if moved > 0 && old.moved() == old.homes() {
            self.current.store(growth.from + 1, Release);
        }
        growth.retire(old, epochs);
        if old.released() == old.bytes() {
            *guard = None;
            self.is_growing.store(false, Release);
        }
        has_released || moved > 0
    }

    /// Moves the next homes. Returns how many.
    fn move_homes(&self, budget: usize, old: &Table, next: &Table, keys: &mut impl Keys) -> usize {
        let start = old.moved();
        let end = old.homes().min(start.saturating_add(budget));
        for bucket in start..end.min(start + AHEAD) {
            prefetch_items(old, bucket, keys);
        }
        for home in start..end {
            prefetch_items(old, home + AHEAD, keys);
            self.move_home(home, old, next, keys);
        }
        end - start
    }

    /// Copies the entries of one home and moves the watermark past it. INV-WATERMARK.
    fn move_home(&self, home: usize, old: &Table, next: &Table, keys: &mut impl Keys) {
        let lock = Home::lock(Probe::new(old, old.first_hash(home) as u64, self.sharing));
        for entry in lock.entries() {
            let location = entry.location();
            let hash = keys.hash(location);
            debug_assert_eq!(old.home(hash), home, "INV-HOME: {location:?} has another key");
            let target = Home::lock(Probe::new(next, hash, self.sharing));
            if target.insert(location, entry.frequency()).is_err() {
                match target.weakest() {
                    Some(weakest) if weakest.frequency() < entry.frequency() => {
                        target.replace(&weakest, location, entry.frequency());
                        keys.dropped(weakest.location());
                    }
                    _ => keys.dropped(location),
                }
            }
        }
        old.set_moved(home);
    }
}

impl Growth {
    /// Gives back the waiting memory, if its grace period has passed. Returns whether it has.
    fn release(&mut self, old: &Table, epochs: &Epochs) -> bool {
        match self.waiting {
            Some((end, epoch)) if epochs.has_passed(epoch) => {
                old.release(end);
                self.waiting = None;
                true
            }
            _ => false,
        }
    }

    /// Begins the grace period of the memory of moved homes, when there is enough of it. INV-GRACE.
    fn retire(&mut self, old: &Table, epochs: &Epochs) {
        let end = releasable(old);
        if self.waiting.is_none() && end > old.released() {
            self.waiting = Some((end, epochs.retire()));
        }
    }
}

/// Where the part of a table ends that no hash belongs to any more, in whole pieces.
///
/// A bucket below the watermark has entries of its own home and of homes before it, which have all
/// moved. The margin after the last home is given back with it.
fn releasable(old: &Table) -> usize {
    let moved = old.moved();
    if moved == old.homes() {
        old.bytes()
    } else {
        moved * size_of::<Bucket>() / PIECE_BYTES * PIECE_BYTES
    }
}

/// Prefetches the items of a bucket's entries, if there is such a bucket.
fn prefetch_items(old: &Table, bucket: usize, keys: &mut impl Keys) {
    let Some(bucket) = old.buckets().get(bucket) else { return };
    bucket.locations().for_each(|location| keys.prefetch(location));
}
