// SPDX-License-Identifier: Apache-2.0
//! [`Builder`]: how large a store is and how it behaves.

use crate::capacity::{buckets_for, segments_within};
use crate::epoch::Epochs;
use crate::evict::Eviction;
use crate::heap::{Extent, FIRST_OFFSET, Heap, HeapOptions, OFFSET_MAX, WIDE_BYTES_MAX, Wide};
use crate::index::Index;
use crate::layout::KEY_MAX;
use crate::limit::{GROWTH, SEGMENTS_MIN, VALUES_MIN};
use crate::lone::lone_min;
use crate::pool::{Piece, Pool, Sizes, wide_for};
use crate::shared::{OnDrop, Reason, Settings, Shared};
use crate::store::SegStore;
use crate::sync::Arc;
use std::hash::{BuildHasher, RandomState};

/// The smallest memory limit in bytes: a few of the smallest segments.
pub const MEMORY_MIN: u64 = 1 << 20;

/// The sizes a segment can have, in bytes: powers of two.
pub const SEGMENT_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=8 << 20;

/// The approximate number of segments, unless they would be too small or too large.
const SEGMENTS: u64 = 512;

/// The item size in bytes that the first index is made for; it grows if items are smaller.
const ITEM_BYTES: f64 = 1024.0;

/// Why a store cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option has a value that is not possible.
    #[error("{option} = {value} is not possible: {reason}")]
    Option {
        /// The builder's method.
        option: &'static str,
        /// What it was given.
        value: u64,
        /// What would be possible.
        reason: &'static str,
    },
    /// The operating system does not give the memory.
    #[error("cannot map memory: {0}")]
    Memory(#[from] std::io::Error),
}

/// Makes a [`SegStore`].
///
/// ```
/// use storage::Store;
/// use storage_seg::{Eviction, SegStore};
///
/// let store = SegStore::builder().memory(64 << 20).eviction(Eviction::Fifo).build()?;
/// assert_eq!(store.stats().limit_bytes, 64 << 20);
/// # Ok::<(), storage_seg::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Builder {
    memory: u64,
    value_max: Option<u64>,
    workers: usize,
    segment_bytes: Option<u64>,
    eviction: Eviction,
    heap: HeapOptions,
    seed: Option<u64>,
    on_drop: Option<OnDrop>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("memory", &self.memory)
            .field("value_max", &self.value_max)
            .field("workers", &self.workers)
            .field("segment_bytes", &self.segment_bytes)
            .field("eviction", &self.eviction)
            .finish_non_exhaustive()
    }
}

impl Default for Builder {
    /// 64 MiB, values of up to 1 MiB, one worker, the default eviction, a random seed.
    fn default() -> Self {
        Builder {
            memory: 64 << 20,
            value_max: None,
            workers: 1,
            segment_bytes: None,
            eviction: Eviction::default(),
            heap: HeapOptions { huge_pages: false, prefault: false, integrity: false },
            seed: None,
            on_drop: None,
        }
    }
}

impl Builder {
    /// The memory limit in bytes, for segments and index together; [`MEMORY_MIN`] at least. [`Store::resize`]
    /// changes it later, up to 16 times this as far as the system gives the address space.
    ///
    /// [`Store::resize`]: storage::Store::resize
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The longest value in bytes: no more than a quarter of the memory. Unless set, it is 1 MiB, or
    /// that quarter if it is less.
    pub fn value_max(mut self, bytes: u64) -> Self {
        self.value_max = Some(bytes);
        self
    }

    /// How many handles there may be at a time. A store for one handle leaves out synchronisation,
    /// and increments numbers in place.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// The size of a segment in bytes: a power of two in [`SEGMENT_BYTES`]. Unless set, memory is
    /// divided into about 512 segments.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = Some(bytes);
        self
    }

    /// How room is made when memory is full.
    pub fn eviction(mut self, eviction: Eviction) -> Self {
        self.eviction = eviction;
        self
    }

    /// Whether each item has a checksum, at the cost of 4 bytes per item and some nanoseconds per
    /// access; an item that does not match its checksum is dropped when read.
    pub fn integrity(mut self, integrity: bool) -> Self {
        self.heap.integrity = integrity;
        self
    }

    /// Whether to ask for huge pages: fewer TLB misses. A thread of the store's takes memory from the system 2 MiB at
    /// a time, ahead of the writes that need it: that of the index when the store is built, and a sixty-fourth more
    /// than is in use, at least one such page, but no more than 16 MiB. Needs Linux 5.14; without it, and
    /// where the system has no huge pages, memory is in small ones.
    pub fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.heap.huge_pages = huge_pages;
        self
    }

    /// Whether to take the memory of all segments when the store is built.
    pub fn prefault(mut self, prefault: bool) -> Self {
        self.heap.prefault = prefault;
        self
    }

    /// Makes the hash function the same in every run, for tests. Clients that know the seed can choose
    /// keys that all collide in one bucket.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Calls `on_drop` with the key and value of each item that expires or is evicted, and the reason.
    /// The worker that drops the item calls it in the middle of its work, possibly with a bucket
    /// locked: it should be quick, and must not use the store.
    ///
    /// Items that are overwritten, deleted or cleared are not reported. An expired item is reported
    /// when its memory comes back, within seconds.
    pub fn on_drop(
        mut self,
        on_drop: impl Fn(&[u8], &[u8], Reason) + Send + Sync + 'static,
    ) -> Self {
        self.on_drop = Some(std::sync::Arc::new(on_drop));
        self
    }

    fn longest_value(&self) -> u64 {
        self.value_max.unwrap_or((1 << 20).min(self.memory / 4))
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |option, value, reason| Err(Error::Option { option, value, reason });
        if self.memory < MEMORY_MIN {
            return refuse("memory", self.memory, "at least 1 MiB is needed");
        }
        if self.longest_value() > self.memory / VALUES_MIN {
            return refuse(
                "value_max",
                self.longest_value(),
                "a value may take a quarter of the memory",
            );
        }
        if self.workers == 0 || self.workers > WORKERS_MAX {
            return refuse("workers", self.workers as u64, "from 1 to 1024");
        }
        if let Some(bytes) = self.segment_bytes {
            if !bytes.is_power_of_two() || !SEGMENT_BYTES.contains(&bytes) {
                return refuse("segment_bytes", bytes, "a power of two from 16 KiB to 8 MiB");
            }
            if self.memory / bytes < SEGMENTS_MIN {
                return refuse("segment_bytes", bytes, "memory must have room for 8 segments");
            }
        }
        Ok(())
    }

    /// Makes the store and returns its first handle. Takes little memory at first and more as items
    /// are written.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a value that is not possible, [`Error::Memory`] when the operating
    /// system does not give the address space.
    pub fn build(&self) -> Result<SegStore, Error> {
        self.check()?;
        let fitting = (self.memory / SEGMENTS).next_power_of_two();
        let fitting = fitting.clamp(*SEGMENT_BYTES.start(), *SEGMENT_BYTES.end());
        let segment_bytes = self.segment_bytes.unwrap_or(fitting);
        let buckets = buckets_for(self.memory as f64 / ITEM_BYTES);
        let exclusive = self.workers == 1;
        let index = Index::new(buckets, exclusive, self.heap.huge_pages)?;
        let segments = (self.memory / segment_bytes) as usize;
        let in_service =
            segments_within(self.memory, index.bytes(), 0, segment_bytes, self.longest_value());
        let heap = self.heap(segments as u32, segment_bytes as usize)?;
        let settings = Settings {
            limit_max: self.memory.max(u64::from(heap.segments()) * segment_bytes),
            value_max: self.longest_value() as usize,
            workers: self.workers,
            exclusive,
            eviction: self.eviction,
            integrity: self.heap.integrity,
            on_drop: self.on_drop.clone(),
        };
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one(0_u64));
        let (most, most_wide) = (heap.segments() as usize, heap.wide() as usize);
        let most_lone = heap.lone() as usize;
        let grain_bytes = heap.grain_bytes() as u64;
        let total = segments;
        let pool = Pool::new(Sizes {
            total,
            in_service,
            most,
            most_wide,
            most_lone,
            segment_bytes,
            grain_bytes,
        })?;
        let epochs = Epochs::new(self.workers);
        let shared = Shared::new(self.memory, settings, heap, index, pool, epochs, seed)?;
        if self.heap.prefault {
            #[cfg(not(loom))]
            shared.ahead.note_taken();
            // The memory of these segments is the index's.
            let withdrawn = in_service as u32..segments as u32;
            let grains = 0..shared.pool.grains() as u32;
            withdrawn.for_each(|segment| {
                shared.release(&Piece { segment, grains: grains.clone() });
            });
        }
        let turn = Epochs::register(&shared.epochs).expect("nobody else has registered");
        let shared = Arc::new(shared);
        #[cfg(not(loom))]
        {
            shared.follow_readings();
            if self.heap.huge_pages
                && let Err(error) = crate::ahead::start(&shared)
            {
                log::warn!("no thread that takes memory ahead of writes: {error}");
            }
        }
        Ok(SegStore::new(shared, turn))
    }
}

impl Builder {
    /// Maps the memory, with address space for a higher limit.
    fn heap(&self, segments: u32, segment_bytes: usize) -> std::io::Result<Heap> {
        let wide = |segments| wide(segments, segment_bytes, self.longest_value());
        // Where the system does not give all that, the largest values take rows.
        let narrow = |segments| {
            let wide = wide(segments);
            Wide { bytes: wide.bytes.min(OFFSET_MAX), ..wide }
        };
        let lone = if cfg!(loom) { 0 } else { lone_min(segment_bytes) };
        let extents = [
            Extent::up_to(GROWTH, segments, segment_bytes, wide, lone),
            Extent::up_to(1, segments, segment_bytes, wide, lone),
            Extent::up_to(1, segments, segment_bytes, narrow, 0),
        ];
        Heap::new(segments, segment_bytes, &extents, self.heap)
    }
}

/// The address space of a wide segment, in segments, unless values can be longer.
const WIDE_PARTS: usize = 16;

/// The wide segments for a number of others: large enough for every value, where address space suffices.
fn wide(segments: u32, segment_bytes: usize, value_max: u64) -> Wide {
    // Includes the key and every optional field of an item.
    let longest = (value_max as usize).saturating_add(KEY_MAX + 64 + FIRST_OFFSET as usize);
    let several = (WIDE_PARTS * segment_bytes).min(OFFSET_MAX);
    let bytes = longest.max(several).min(WIDE_BYTES_MAX).next_power_of_two();
    Wide { count: wide_for(segments as usize) as u32, bytes }
}

/// More workers than any machine has use for.
const WORKERS_MAX: usize = 1024;

impl SegStore {
    /// Options for a new store.
    pub fn builder() -> Builder {
        Builder::default()
    }
}
