// SPDX-License-Identifier: Apache-2.0
//! [`Inner`]: a cache without the types of its keys and values.

use crate::Statistics;
use crate::dropped::{DropListener, tell};
use crate::flight::Flights;
use crate::handles::{Handle, Handles};
use crate::time::Time;
use clock::Ticks;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::{Expiry, Item, Put, ResizeError, Store, StoreError};

/// Items freed at a time in the background, so that nobody waits long for the handle.
const STEP: usize = 256;

/// The most bytes that a thread keeps for the next value it reads. Longer values are not copied as a rule.
const SCRATCH_MAX: usize = 64 << 10;

/// What all handles of a cache share.
pub(crate) struct Inner {
    pub(crate) handles: Handles,
    pub(crate) flights: Flights,
    pub(crate) listener: Option<DropListener>,
    pub(crate) time: Time,
    /// The time to live of values that are given none.
    pub(crate) ttl: Option<Duration>,
    pub(crate) unstored: AtomicU64,
    pub(crate) waited: AtomicU64,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("handles", &self.handles.count()).finish_non_exhaustive()
    }
}

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends the thread's buffer for the copy of a value. Within, the thread has another.
fn with_scratch<R>(run: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    // In the end of a thread its buffer may be gone.
    let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
    scratch.clear();
    let result = run(&mut scratch);
    if scratch.capacity() <= SCRATCH_MAX {
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
    }
    result
}

impl Inner {
    /// Runs the cache's own code with a handle of the store, and tells the listener what that has dropped.
    #[inline]
    fn with<R>(&self, run: impl FnOnce(&mut Handle, Ticks) -> R) -> R {
        let result = self.with_quietly(run);
        self.tell_dropped();
        result
    }

    /// The same for a caller with a lock, which calls [`Inner::tell_dropped`] when it has none.
    #[inline]
    fn with_quietly<R>(&self, run: impl FnOnce(&mut Handle, Ticks) -> R) -> R {
        let mut handle = self.handles.lend();
        run(&mut handle, self.time.now())
    }

    #[inline]
    pub(crate) fn tell_dropped(&self) {
        if let Some(listener) = &self.listener {
            tell(listener);
        }
    }

    /// Shows the value of a key to `show`, when the handle is back: it may take any time.
    #[inline]
    pub(crate) fn read<R>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> R) -> Option<R> {
        with_scratch(|scratch| {
            let pinned = self.with(|handle, now| {
                let Some(item) = handle.store.get(key, now) else {
                    handle.misses += 1;
                    return None;
                };
                let pinned = item.pin();
                if pinned.is_none() {
                    scratch.extend_from_slice(item.value());
                }
                handle.hits += 1;
                Some(pinned)
            })?;
            Some(match pinned {
                Some(bytes) => show(&bytes),
                None => show(scratch),
            })
        })
    }

    /// A copy of a value that may have come meanwhile. Counts nothing.
    pub(crate) fn look_again(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.with(|handle, now| handle.store.peek(key, now).map(|item| item.value().to_vec()))
    }

    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.with(|handle, now| handle.store.peek(key, now).is_some())
    }

    /// Writes a value in place of whatever is there or is being computed.
    pub(crate) fn write(
        &self,
        key: &[u8],
        value: &[u8],
        ttl: Option<Duration>,
    ) -> Result<(), StoreError> {
        self.flights.detach(key);
        let written = self.put(key, value, ttl);
        self.tell_dropped();
        written
    }

    /// Writes a value. The caller tells the listener.
    pub(crate) fn put(
        &self,
        key: &[u8],
        value: &[u8],
        ttl: Option<Duration>,
    ) -> Result<(), StoreError> {
        self.with_quietly(|handle, now| {
            let expiry = ttl.map_or(Expiry::NEVER, |ttl| Expiry::after(ttl, now));
            handle.store.put(Put::new(key, value).expiry(expiry), now).map(|_| ())
        })
    }

    pub(crate) fn remove(&self, key: &[u8]) -> bool {
        self.flights.detach(key);
        self.with(|handle, now| handle.store.delete(key, now))
    }

    pub(crate) fn clear(&self) {
        self.flights.detach_all();
        self.with(|handle, _| handle.store.clear());
    }

    pub(crate) fn resize(&self, bytes: u64) -> Result<(), ResizeError> {
        self.with(|handle, _| handle.store.resize(bytes))
    }

    /// Does the work that is due: each handle gives back what has expired, step by step.
    pub(crate) fn tend(&self) {
        for at in 0..self.handles.count() {
            while self.tend_at(at) {}
        }
    }

    /// One step of it. Each lends the handle anew, so that others get it in between.
    fn tend_at(&self, place: usize) -> bool {
        let has_more = self.handles.at(place).tend(self.time.now(), STEP);
        self.tell_dropped();
        has_more
    }

    pub(crate) fn count_wait(&self) {
        self.waited.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let store = self.with(|handle, _| handle.store.stats());
        let mut statistics = Statistics {
            stored: store.stored,
            unstored: self.unstored.load(Ordering::Relaxed),
            waited: self.waited.load(Ordering::Relaxed),
            evicted: store.evicted,
            expired: store.expired,
            items: store.items,
            item_bytes: store.item_bytes,
            used_bytes: store.used_bytes,
            limit_bytes: store.limit_bytes,
            ..Statistics::default()
        };
        for at in 0..self.handles.count() {
            let handle = self.handles.at(at);
            statistics.hits += handle.hits;
            statistics.misses += handle.misses;
        }
        statistics
    }
}
