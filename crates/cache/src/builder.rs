// SPDX-License-Identifier: Apache-2.0
//! [`Builder`]: how large a cache is and how it behaves.

use crate::dropped::{DropListener, listener, note};
use crate::flight::Flights;
use crate::handles::Handles;
use crate::inner::Inner;
use crate::keeper::Keeper;
use crate::time::Time;
use crate::{Cache, Dropped, Error, Eviction};
use clock::Clock;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use storage_seg::{SEGMENT_BYTES, SegStore};

/// Segments of the store for each handle: each keeps some of its own open or free.
const SEGMENTS_PER_HANDLE: u64 = 128;

/// Segments that the store would make by itself.
const SEGMENTS: u64 = 512;

/// More handles than any machine has use for.
const HANDLES_MAX: usize = 512;

/// Makes a [`Cache`].
///
/// ```
/// use cache::Cache;
/// use std::time::Duration;
///
/// let cache: Cache<str, [u8]> =
///     Cache::builder().memory(64 << 20).ttl(Duration::from_secs(300)).build()?;
/// assert_eq!(cache.statistics().limit_bytes, 64 << 20);
/// # Ok::<(), cache::Error>(())
/// ```
#[must_use]
pub struct Builder<K: ?Sized, V: ?Sized> {
    store: storage_seg::Builder,
    memory: u64,
    threads: Option<usize>,
    ttl: Option<Duration>,
    clock: Option<Clock>,
    background: bool,
    listener: Option<DropListener>,
    types: PhantomData<fn(&K, &V)>,
}

impl<K: ?Sized, V: ?Sized> std::fmt::Debug for Builder<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("store", &self.store)
            .field("threads", &self.threads)
            .field("ttl", &self.ttl)
            .field("background", &self.background)
            .finish_non_exhaustive()
    }
}

impl<K: ?Sized, V: ?Sized> Builder<K, V> {
    pub(crate) fn new() -> Self {
        Builder {
            store: SegStore::builder(),
            memory: 64 << 20,
            threads: None,
            ttl: None,
            clock: None,
            background: true,
            listener: None,
            types: PhantomData,
        }
    }

    /// The most memory in bytes that the cache takes, for items, index and all that an item costs beside its key and
    /// value; 64 MiB unless set, and 1 MiB at least. [`Cache::resize`] changes it later.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self.store = self.store.memory(bytes);
        self
    }

    /// The longest value in bytes: a quarter of the memory at most. Unless set, 1 MiB or that quarter, whichever is
    /// less.
    pub fn value_max(mut self, bytes: u64) -> Self {
        self.store = self.store.value_max(bytes);
        self
    }

    /// How long values live that are written without a time to live of their own. Unless set, until they are
    /// removed or evicted.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Which items make room when memory is used up. Unless set, those that were used least for their size.
    pub fn eviction(mut self, eviction: Eviction) -> Self {
        self.store = self.store.eviction(eviction);
        self
    }

    /// How many threads the cache expects to be at work in it at the same moment. Unless set, twice as many as there
    /// are CPUs. It is rounded up to a power of two, and reduced where memory is small: each takes up to 1 % of it
    /// for free space, and needs 2 MiB.
    ///
    /// No bound: any number of threads may use the cache. Of more than this some wait for others, for the time of an
    /// operation.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The clock to go by, such as [`Clock::manual`] in tests. Unless set, the kernel's coarse monotonic clock, which
    /// advances every few milliseconds.
    ///
    /// ```
    /// use cache::{Cache, Clock};
    /// use std::time::Duration;
    ///
    /// let clock = Clock::manual(0);
    /// let builder = Cache::builder().memory(1 << 20).clock(clock.clone());
    /// let cache: Cache<str, u32> = builder.ttl(Duration::from_secs(10)).build()?;
    /// cache.insert("key", &1)?;
    /// clock.advance(Duration::from_millis(9_999));
    /// assert_eq!(cache.get("key"), Some(1));
    /// clock.advance(Duration::from_millis(1));
    /// assert_eq!(cache.get("key"), None);
    /// # Ok::<(), cache::Error>(())
    /// ```
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Whether a thread gives the memory of expired items back while the cache is not used. It wakes up once a
    /// second, and ends with the last clone of the cache. Unless set, there is one.
    ///
    /// Without it, writes reclaim memory when they need some, and [`Cache::tend`] does at any time.
    pub fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Calls `on_drop` for each item that is evicted or expires, with its key, its value and the reason.
    ///
    /// It is called by the thread whose operation has dropped the item, when the operation is over, or by the one in
    /// the background. It holds no lock: it may take its time and use this and other caches. What is
    /// written there may drop other items, which are reported within. An expired item is reported when its memory
    /// comes back: with a thread in the background, within some seconds as a rule. Items that are overwritten,
    /// removed or cleared are not reported.
    ///
    /// A cache with a listener copies what it drops. A listener that holds a clone of its own cache keeps it alive
    /// for ever; hold a [`Weak`](std::sync::Weak) of something that has the cache.
    ///
    /// # Panics
    ///
    /// A panic of `on_drop` goes to the caller whose operation it was. The operation is done, and other items that it
    /// has dropped are not reported. In the background it ends nothing but that call.
    ///
    /// ```
    /// use cache::Cache;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let bytes = Arc::new(AtomicU64::new(0));
    /// let counted = Arc::clone(&bytes);
    /// let builder = Cache::<u64, [u8]>::builder().memory(1 << 20).on_drop(move |dropped| {
    ///     counted.fetch_add(dropped.value_bytes().len() as u64, Ordering::Relaxed);
    /// });
    /// let cache = builder.build()?;
    /// for key in 0..20_000 {
    ///     cache.insert(&key, &[0; 100])?;
    /// }
    /// assert_eq!(bytes.load(Ordering::Relaxed), 100 * cache.statistics().evicted);
    /// # Ok::<(), cache::Error>(())
    /// ```
    pub fn on_drop(mut self, on_drop: impl Fn(Dropped<'_, K, V>) + Send + Sync + 'static) -> Self
    where
        K: 'static,
        V: 'static,
    {
        self.listener = Some(listener(on_drop));
        self
    }

    /// Makes the hash function the same in every run, for tests. Who knows the seed can choose keys that all collide.
    pub fn seed(mut self, seed: u64) -> Self {
        self.store = self.store.seed(seed);
        self
    }

    /// Makes the cache. It takes little memory at first and more as items are written.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] for an option that is not possible, or if the system does not give the address space;
    /// [`Error::Thread`] if it does not start the thread in the background.
    pub fn build(self) -> Result<Cache<K, V>, Error> {
        let handles = handles_for(self.memory, self.threads);
        let mut store = self.store.workers(handles);
        if let Some(bytes) = segment_bytes(self.memory, handles) {
            store = store.segment_bytes(bytes);
        }
        if self.listener.is_some() {
            store = store.on_drop(note);
        }
        let inner = Arc::new(Inner {
            handles: Handles::new(store.build()?, handles),
            flights: Flights::new(),
            listener: self.listener,
            time: self.clock.map_or_else(Time::coarse, Time::Given),
            ttl: self.ttl,
            unstored: AtomicU64::new(0),
            waited: AtomicU64::new(0),
        });
        let keeper = if self.background {
            Some(Keeper::start(Arc::clone(&inner)).map_err(Error::Thread)?)
        } else {
            None
        };
        Ok(Cache::new(inner, keeper))
    }
}

/// How many handles the store has.
fn handles_for(memory: u64, threads: Option<usize>) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(4, usize::from);
    let wanted = threads.unwrap_or_else(|| 2 * cpus()).clamp(1, HANDLES_MAX).next_power_of_two();
    let room = memory / (SEGMENTS_PER_HANDLE * SEGMENT_BYTES.start());
    // The greatest power of two.
    let most = 1 << room.clamp(1, HANDLES_MAX as u64).ilog2();
    wanted.min(most)
}

/// The size of segments of which there are enough for so many handles, where it is not the store's own choice.
fn segment_bytes(memory: u64, handles: usize) -> Option<u64> {
    let own = (memory / SEGMENTS).next_power_of_two();
    let fitting = memory / (SEGMENTS_PER_HANDLE * handles as u64);
    let is_smaller = fitting >= *SEGMENT_BYTES.start() && fitting < own;
    is_smaller.then(|| (1 << fitting.ilog2()).min(*SEGMENT_BYTES.end()))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn there_are_handles_for_the_threads_as_far_as_memory_goes() {
        assert_eq!(handles_for(1 << 20, Some(64)), 1);
        assert_eq!(handles_for(4 << 20, Some(64)), 2);
        assert_eq!(handles_for(24 << 20, Some(3)), 4);
        assert_eq!(handles_for(1 << 30, Some(0)), 1);
        assert_eq!(handles_for(u64::MAX, Some(usize::MAX)), HANDLES_MAX);
        assert!(handles_for(1 << 30, None) >= 2);
    }

    #[test]
    fn segments_are_small_enough_for_all_handles() {
        assert_eq!(segment_bytes(64 << 20, 4), None);
        assert_eq!(segment_bytes(24 << 20, 4), Some(32 << 10));
        assert_eq!(segment_bytes(24 << 20, 1), None);
        assert_eq!(segment_bytes(1 << 30, 64), Some(128 << 10));
        assert_eq!(segment_bytes(1 << 20, 1), None);
    }
}
