// SPDX-License-Identifier: Apache-2.0
//! [`Flights`]: the computations in progress, at most one per key.
//!
//! The first thread that asks for a missing key leads: it computes, and the others that ask meanwhile wait for it.
//!
//! ```text
//!  leader   join ── look again ── compute ── finish: store, land ── tell the waiters
//!  others          join ── wait ............................................. read
//!  writer                              detach ── write
//! ```
//!
//! * INV-ONE: a key has at most one flight in the map, and only its leader computes for that.
//! * INV-FRESH: what a leader has computed is stored only if no write or removal of the key has begun since the
//!   leader took off. Each write and removal detaches the key's flight from the map before it changes anything, and
//!   a leader stores under the lock of the map, only while its flight is there. If a writer saw that there are no
//!   flights at all, the leader took off later and reads what the writer's caller has done before: of the two fences,
//!   in [`Flights::detach`] and in `take_off`, one comes first. If those that there were are over, the writer's change
//!   comes after what they have stored: the count falls (release) after that, and the writer reads it (acquire).
//! * INV-TOLD: a waiter has its share of the flight since before the flight left the map, and the leader tells all
//!   that have one, also when it panics.

use crate::sync::{
    Arc, AtomicUsize, Condvar, Mutex, Ordering, ThreadId, fence, lock, this_thread, wait,
};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Locks among which the keys are divided: two computations seldom meet.
const SHARDS: usize = if cfg!(loom) { 1 } else { 16 };

/// The bytes of a value, shared by those that waited for it.
type Bytes = std::sync::Arc<[u8]>;

type Shard = HashMap<Box<[u8]>, Arc<Flight>>;

/// The computations in progress.
#[derive(Debug)]
pub(crate) struct Flights {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    /// Flights in the maps, so that writes need no lock while there are none.
    count: AtomicUsize,
}

/// One computation.
#[derive(Debug)]
struct Flight {
    leader: ThreadId,
    landing: Mutex<Landing>,
    landed: Condvar,
}

/// How far a flight is.
#[derive(Debug)]
enum Landing {
    /// The leader computes.
    Awaited,
    /// The value that was computed.
    Value(Bytes),
    /// There is none: the leader has failed or panicked.
    Nothing,
}

/// What [`Flights::join`] makes of a caller.
#[derive(Debug)]
pub(crate) enum Joined<'a> {
    /// The one that computes.
    Leads(Leader<'a>),
    /// One that waited and has the bytes of the value.
    Shares(Bytes),
    /// One that waited for nothing.
    Freed,
}

/// The duty to compute the value of a key. Dropped without [`Leader::finish`], it frees those that wait.
#[derive(Debug)]
pub(crate) struct Leader<'a> {
    flights: &'a Flights,
    flight: Arc<Flight>,
    key: &'a [u8],
}

impl Flights {
    pub(crate) fn new() -> Self {
        Flights {
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::new())).collect(),
            hasher: RandomState::new(),
            count: AtomicUsize::new(0),
        }
    }

    fn shard(&self, key: &[u8]) -> &Mutex<Shard> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }

    /// Takes off for a key, or waits for whoever has. `waits` is called before a wait.
    ///
    /// # Panics
    ///
    /// When the caller would wait for itself.
    pub(crate) fn join<'a>(&'a self, key: &'a [u8], waits: impl FnOnce()) -> Joined<'a> {
        let mut shard = lock(self.shard(key));
        let Some(flight) = shard.get(key).map(Arc::clone) else {
            return Joined::Leads(self.take_off(&mut shard, key));
        };
        drop(shard);
        assert!(
            flight.leader != this_thread(),
            "the computation of a value waits for itself: it asks the cache to compute the same key"
        );
        waits();
        flight.wait()
    }

    fn take_off<'a>(&'a self, shard: &mut Shard, key: &'a [u8]) -> Leader<'a> {
        let flight = Arc::new(Flight {
            leader: this_thread(),
            landing: Mutex::new(Landing::Awaited),
            landed: Condvar::new(),
        });
        shard.insert(key.into(), Arc::clone(&flight));
        self.count.fetch_add(1, Ordering::Relaxed);
        // INV-FRESH.
        fence(Ordering::SeqCst);
        Leader { flights: self, flight, key }
    }

    /// Keeps what is being computed for a key from being stored: it is about to be written or removed. Those that
    /// wait already have the value still; who asks from now on does not.
    #[inline]
    pub(crate) fn detach(&self, key: &[u8]) {
        // INV-FRESH.
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Acquire) > 0 {
            self.detach_from_map(key);
        }
    }

    #[cold]
    fn detach_from_map(&self, key: &[u8]) {
        if lock(self.shard(key)).remove(key).is_some() {
            self.count.fetch_sub(1, Ordering::Release);
        }
    }

    /// As [`Flights::detach`], for all keys.
    pub(crate) fn detach_all(&self) {
        for shard in &self.shards {
            let mut shard = lock(shard);
            self.count.fetch_sub(shard.len(), Ordering::Release);
            shard.clear();
        }
    }
}

impl Flight {
    fn wait(&self) -> Joined<'static> {
        let mut landing = lock(&self.landing);
        loop {
            match &*landing {
                Landing::Awaited => landing = wait(&self.landed, landing),
                Landing::Value(bytes) => return Joined::Shares(Bytes::clone(bytes)),
                Landing::Nothing => return Joined::Freed,
            }
        }
    }

    fn land(&self, landing: Landing) {
        *lock(&self.landing) = landing;
        self.landed.notify_all();
    }
}

impl Leader<'_> {
    /// Ends the flight with a value. `store` is called under a lock, unless the flight was detached.
    pub(crate) fn finish(self, value: &[u8], store: impl FnOnce()) {
        self.leave_map(store);
        // Nobody can join any more.
        if Arc::strong_count(&self.flight) > 1 {
            self.flight.land(Landing::Value(value.into()));
        }
    }

    /// Takes the flight out of the map, after a call of `last` if it is there.
    fn leave_map(&self, last: impl FnOnce()) {
        let mut shard = lock(self.flights.shard(self.key));
        if shard.get(self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
            last();
            shard.remove(self.key);
            self.flights.count.fetch_sub(1, Ordering::Release);
        }
    }
}

impl Drop for Leader<'_> {
    /// After `finish` there is nothing left to do: the flight has left the map, and waiters were told.
    fn drop(&mut self) {
        self.leave_map(|| {});
        let mut landing = lock(&self.flight.landing);
        if matches!(*landing, Landing::Awaited) {
            *landing = Landing::Nothing;
            self.flight.landed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
