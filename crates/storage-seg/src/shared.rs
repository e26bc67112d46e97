// SPDX-License-Identifier: Apache-2.0
//! [`Shared`]: the state that all handles of a store share.

#[cfg(not(loom))]
use crate::ahead::Ahead;
use crate::class::Classes;
use crate::epoch::Epochs;
use crate::evict::{Eviction, LESSON_BYTES, Lessons, Trials};
use crate::export::Export;
use crate::heap::{Heap, ItemRef, OFFSET_MAX};
use crate::index::{Index, Location};
use crate::limit::IN_FULL;
use crate::lone::Dues;
use crate::pool::Pool;
use crate::segment::Segment;
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex};
use crate::tally::Tallies;
use clock::Ticks;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};
use std::io;
use std::sync::OnceLock;

/// Explicit versions have this bit set, those made of a location do not. The bit above it is clear in both: many clients
/// read CAS numbers as signed ones.
const EXPLICIT: u64 = 1 << 62;

/// Bits of a version for the item's offset in its segment, in units of 4 bytes.
const OFFSET_BITS: u32 = 23;
const _: () = assert!(OFFSET_MAX <= 4 << OFFSET_BITS);

/// Called for items that expire or are evicted; see [`Builder::on_drop`](crate::Builder::on_drop).
pub(crate) type OnDrop = std::sync::Arc<dyn Fn(&[u8], &[u8], Reason) + Send + Sync>;

/// Why the store dropped an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It made room for others.
    Evicted,
    /// Its time to live was over; reported when its memory came back.
    Expired,
}

/// The options that were set when the store was built.
pub(crate) struct Settings {
    /// The highest memory limit that can be set.
    pub(crate) limit_max: u64,
    pub(crate) value_max: usize,
    /// There is only one handle, so no synchronisation is needed.
    pub(crate) exclusive: bool,
    pub(crate) eviction: Eviction,
    /// How many handles there may be.
    pub(crate) workers: usize,
    pub(crate) integrity: bool,
    pub(crate) on_drop: Option<OnDrop>,
}

/// The state that all handles share.
pub(crate) struct Shared {
    pub(crate) heap: Arc<Heap>,
    pub(crate) index: Index,
    pub(crate) epochs: Arc<Epochs>,
    pub(crate) pool: Pool,
    pub(crate) classes: Classes,
    pub(crate) settings: Settings,
    pub(crate) tallies: Tallies,
    pub(crate) export: Export,
    #[cfg(not(loom))]
    pub(crate) ahead: Ahead,
    /// Lets whoever reads all metrics bring those of this store up to date.
    pub(crate) source: OnceLock<::metrics::Source>,
    /// The cutoff that evictions adjust, for all handles.
    pub(crate) lessons: Lessons,
    pub(crate) trials: Trials,
    secrets: RapidSecrets,
    /// The number of the latest opening of a segment.
    births: AtomicU64,
    /// Items in segments opened before this number were cleared; 0 when there are none such.
    cleared_before: AtomicU64,
    /// A time before which no segment is due, and such times of lone ones.
    pub(crate) next_due_ms: AtomicU64,
    pub(crate) dues: Dues,
    versions: AtomicU64,
    /// Memory of segments with pinned values, in grains.
    pub(crate) pinned: AtomicUsize,
    /// Whether the index was far too large when so many segments had been opened: twice their number, and one if it was.
    pub(crate) index_judged: AtomicU64,
    /// Bytes of the items in lone segments.
    pub(crate) lone_bytes: AtomicU64,
    /// Memory that drafts have, in grains.
    pub(crate) drafted: AtomicUsize,
    /// What their values may come to.
    pub(crate) announced: AtomicUsize,
    /// Held by the one thread that decides on the size of the index and the memory for it.
    pub(crate) sizing: Mutex<()>,
    /// The memory limit in bytes.
    pub(crate) limit: AtomicU64,
    /// The limit was lowered and the store may not be within it yet.
    pub(crate) lowering: AtomicBool,
    /// The most bytes that the index counts with, after the limit was lowered.
    pub(crate) index_share: AtomicU64,
    /// Bytes that the index may take, now or when it has grown.
    pub(crate) index_budget: AtomicU64,
    /// Bytes outside of the store that count against its limit.
    pub(crate) reserved: AtomicU64,
    /// Memory to keep free ahead of need, in grains, and how much of it is kept for items that move.
    pub(crate) reserve: AtomicUsize,
    pub(crate) for_moves: AtomicUsize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("limit", &self.limit()).finish_non_exhaustive()
    }
}

impl Shared {
    /// # Errors
    ///
    /// When the operating system has no address space for bookkeeping.
    pub(crate) fn new(
        limit: u64,
        settings: Settings,
        heap: Heap,
        index: Index,
        pool: Pool,
        epochs: Epochs,
        seed: u64,
    ) -> io::Result<Self> {
        let shared = Shared {
            classes: Classes::for_segments(pool.total()),
            lessons: Lessons::new(limit, LESSON_BYTES),
            limit: AtomicU64::new(limit),
            lowering: AtomicBool::new(false),
            index_share: AtomicU64::new(IN_FULL),
            trials: Trials::new(),
            dues: Dues::new(heap.lone())?,
            heap: Arc::new(heap),
            sizing: Mutex::new(()),
            index_budget: AtomicU64::new(index.bytes()),
            index,
            epochs: Arc::new(epochs),
            pool,
            settings,
            tallies: Tallies::new(),
            export: Export::new(),
            #[cfg(not(loom))]
            ahead: Ahead::default(),
            source: OnceLock::new(),
            secrets: RapidSecrets::seed(seed),
            births: AtomicU64::new(0),
            cleared_before: AtomicU64::new(0),
            next_due_ms: AtomicU64::new(u64::MAX),
            versions: AtomicU64::new(0),
            pinned: AtomicUsize::new(0),
            index_judged: AtomicU64::new(0),
            lone_bytes: AtomicU64::new(0),
            drafted: AtomicUsize::new(0),
            announced: AtomicUsize::new(0),
            reserved: AtomicU64::new(0),
            reserve: AtomicUsize::new(0),
            for_moves: AtomicUsize::new(0),
        };
        shared.reckon_reserve();
        Ok(shared)
    }

    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        // Avalanche and protection cost a nanosecond together, and make the hash resist chosen
        // keys.
        rapidhash_v3_micro_inline::<true, true>(key, &self.secrets)
    }

    /// The segment in which an item lies.
    #[inline]
    pub(crate) fn segment_of(&self, location: Location) -> &Segment {
        self.pool.segment(self.heap.place(location).0)
    }

    /// Counts an item out of its segment, which is free then if it was the last. Returns the number of a segment that may
    /// have several items and was freed.
    #[inline]
    pub(crate) fn remove_live(&self, location: Location, len: u32) -> Option<u32> {
        let (number, _) = self.heap.place(location);
        let left = self.pool.segment(number).remove_live(len, self.settings.exclusive);
        if self.pool.is_lone(number) {
            self.count_lone(u64::from(len).wrapping_neg());
        }
        if left > 0 {
            return None;
        }
        self.free_dead(number)
    }

    /// Frees a segment if it is sealed and has no live item. Returns its number if it did, and the segment may have had
    /// several items.
    pub(crate) fn free_dead(&self, number: u32) -> Option<u32> {
        let is_lone = self.pool.is_lone(number);
        (self.pool.free_dead(number, &self.epochs) && !is_lone).then_some(number)
    }

    /// Bytes for items in all segments that the limit allows, less what is lost in them.
    pub(crate) fn memory_of_items(&self) -> u64 {
        (self.pool.target() * self.heap.grain_bytes()) as u64 / 16 * 15
    }

    /// How many segments have been opened so far.
    pub(crate) fn births(&self) -> u64 {
        self.births.load(Ordering::Relaxed)
    }

    /// The number for the next opening of a segment.
    pub(crate) fn next_birth(&self) -> u64 {
        self.births.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Makes all items written so far unreadable.
    pub(crate) fn clear(&self) {
        loop {
            let latest = self.births.load(Ordering::SeqCst);
            // The mark is set first, so that a handle that opens a segment after the clear sees it,
            // and copies no item of before the clear to that segment.
            self.cleared_before.fetch_max(latest + 1, Ordering::SeqCst);
            let next = self.births.compare_exchange(
                latest,
                latest + 1,
                Ordering::SeqCst,
                Ordering::Relaxed,
            );
            if next.is_ok() {
                self.look_at_lone();
                return;
            }
        }
    }

    /// Segments opened before this number hold cleared items only; 0 when none does.
    #[inline]
    pub(crate) fn cleared_before(&self) -> u64 {
        self.cleared_before.load(Ordering::Acquire)
    }

    /// Removes the mark of a clear, after the last segment with items of before it, unless there was
    /// another clear.
    pub(crate) fn forget_clear(&self, before: u64) {
        let _ =
            self.cleared_before.compare_exchange(before, 0, Ordering::SeqCst, Ordering::Relaxed);
    }

    /// A version for an item that keeps it in its header.
    pub(crate) fn explicit_version(&self) -> u64 {
        EXPLICIT | (self.versions.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The version of an item: stored in its header, or made of its offset and its segment's birth.
    /// Never used again, since no two openings have the same birth.
    #[inline]
    pub(crate) fn version(&self, item: &ItemRef<'_>, location: Location) -> u64 {
        item.version().unwrap_or_else(|| {
            let (segment, offset) = self.heap.place(location);
            self.version_at(self.pool.segment(segment).birth(), offset)
        })
    }

    pub(crate) fn version_at(&self, birth: u64, offset: u32) -> u64 {
        (birth << OFFSET_BITS) | u64::from(offset >> 2)
    }

    /// Whether an item may have been given this version, so far, without its client's asking for one.
    pub(crate) fn has_issued(&self, version: u64) -> bool {
        if version & EXPLICIT == 0 {
            (1..=self.births()).contains(&(version >> OFFSET_BITS))
        } else {
            version ^ EXPLICIT <= self.versions.load(Ordering::Relaxed)
        }
    }

    /// Whether the item can be read at `now`: neither expired nor cleared.
    #[inline]
    pub(crate) fn is_live(&self, item: &ItemRef<'_>, location: Location, now: Ticks) -> bool {
        if item.expires() {
            let base_ms = self.segment_of(location).base_ms();
            if item.expiry_ms(base_ms).is_some_and(|at| at <= now.as_millis()) {
                return false;
            }
        }
        let cleared_before = self.cleared_before();
        cleared_before == 0 || self.segment_of(location).birth() >= cleared_before
    }
}
