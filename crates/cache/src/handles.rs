// SPDX-License-Identifier: Apache-2.0
//! [`Handles`]: the store's handles, lent to one thread after the other.
//!
//! A handle of the store belongs to one thread at a time, and there is a fixed number of them. Each has a lock here, and
//! an operation takes the first free one, beginning with the one that its thread had the last time. So any number of
//! threads may come and go, nothing is left behind by one that ends, and two threads meet only if more of them
//! are at work at the same time than there are handles.
//!
//! Only this crate's own code runs while a handle is lent, and the handle rests before it comes back: the store waits
//! neither for threads that do something else nor for what callers do with a value.

use clock::Ticks;
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use storage::Store;
use storage_seg::SegStore;

/// The handles of a cache.
#[derive(Debug)]
pub(crate) struct Handles {
    /// A power of two of them.
    places: Box<[Place]>,
}

/// A pair of cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Place(Mutex<Handle>);

/// A handle, and what was counted with it.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) store: SegStore,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// A lent handle.
pub(crate) struct Lent<'a>(MutexGuard<'a, Handle>);

thread_local! {
    /// The place of the handle that this thread has used last, modulo the number of handles.
    static LAST: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Where the next new thread looks first.
static NEXT: AtomicUsize = AtomicUsize::new(0);

fn last() -> usize {
    LAST.get().unwrap_or_else(|| {
        let place = NEXT.fetch_add(1, Ordering::Relaxed);
        LAST.set(Some(place));
        place
    })
}

impl Handles {
    /// As many handles as the store was built for, a power of two.
    pub(crate) fn new(store: SegStore, count: usize) -> Self {
        debug_assert!(count.is_power_of_two());
        let mut stores: Vec<_> = (1..count).map(|_| store.clone()).collect();
        stores.push(store);
        let place = |store| Place(Mutex::new(Handle { store, hits: 0, misses: 0 }));
        Handles { places: stores.into_iter().map(place).collect() }
    }

    /// Takes a handle; waits if all are in use.
    #[inline]
    pub(crate) fn lend(&self) -> Lent<'_> {
        let first = last() & (self.places.len() - 1);
        let handle = self.places[first].0.try_lock();
        Lent(handle.unwrap_or_else(|| self.lend_another(first)))
    }

    #[cold]
    fn lend_another(&self, first: usize) -> MutexGuard<'_, Handle> {
        for step in 1..self.places.len() {
            let place = (first + step) & (self.places.len() - 1);
            if let Some(handle) = self.places[place].0.try_lock() {
                LAST.set(Some(place));
                return handle;
            }
        }
        self.places[first].0.lock()
    }

    /// Takes the handle at a place; waits while it is in use.
    pub(crate) fn at(&self, place: usize) -> Lent<'_> {
        Lent(self.places[place].0.lock())
    }

    /// The number of handles.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }
}

impl std::ops::Deref for Lent<'_> {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.0
    }
}

impl std::ops::DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Handle {
        &mut self.0
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.0.store.rest();
    }
}

impl Handle {
    /// Does up to `budget` items' worth of the work that is due. Returns whether there may be more.
    pub(crate) fn tend(&mut self, now: Ticks, budget: usize) -> bool {
        let freed = self.store.expire(now, budget);
        freed >= budget || self.store.is_shrinking()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn handles(count: usize) -> Handles {
        let builder = SegStore::builder().memory(1 << 20).workers(count);
        Handles::new(builder.build().expect("the options are possible"), count)
    }

    #[test]
    fn a_thread_has_the_handle_that_it_had_before() {
        let handles = handles(4);
        handles.lend().hits += 1;
        handles.lend().hits += 1;
        let mut hits: Vec<_> = (0..4).map(|place| handles.at(place).hits).collect();
        hits.sort_unstable();
        assert_eq!(hits, [0, 0, 0, 2]);
    }

    #[test]
    fn a_handle_in_use_is_passed_over_and_the_other_one_kept() {
        let handles = handles(2);
        let mut one = handles.lend();
        one.hits += 1;
        handles.lend().misses += 1;
        drop(one);
        handles.lend().misses += 1;
        let counts = |place| {
            let handle = handles.at(place);
            (handle.hits, handle.misses)
        };
        let mut counts = [counts(0), counts(1)];
        counts.sort_unstable();
        assert_eq!(counts, [(0, 2), (1, 0)]);
    }
}
