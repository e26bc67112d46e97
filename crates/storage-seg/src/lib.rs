// SPDX-License-Identifier: Apache-2.0
//! A Segcache store: items lie in segments, are read without locks, and segments are reclaimed
//! whole.
//!
//! [`SegStore`] keeps the contract of [`storage::Store`] in the design of Segcache (Yang, Yue and
//! Rashmi, NSDI '21): fixed-size segments filled by appending, and a hash table of 8-byte slots.
//! Beyond its key and value an item costs 14 to 15 bytes: 4 of header, 1.5 of padding on average, and 9 to 10 of
//! index. One number limits all memory.
//!
//! ```
//! use clock::Ticks;
//! use storage::{Item, Put, Store};
//! use storage_seg::SegStore;
//!
//! let now = Ticks::ZERO;
//! let mut store = SegStore::builder().memory(64 << 20).workers(2).build()?;
//! let mut other = store.clone(); // a second worker's handle on the same items
//!
//! store.put(Put::new(b"key", b"value"), now)?;
//! assert_eq!(other.get(b"key", now).expect("it is there").value(), b"value");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From a key to its value
//!
//! ```text
//!  key ──hash──▶ home bucket: one cache line of eight slots (index/)
//!
//!    │ tag │ displaced │ frequency │ location │ ... seven more
//!                                       │
//!  heap  ┌───────────┬───────────┬──────│────┬───────────┐  equal segments, one mapping (heap.rs)
//!        │ segment 0 │ segment 1 │ seg ▼ 2   │ segment 3 │
//!        └───────────┴───────────┴───────────┴───────────┘
//!         head │ item │ item │ item │ item │ free ...        items lie one after the other
//!                 │
//!                 └─ header │ key │ value │ padding          4 bytes of header and more if needed (layout.rs)
//! ```
//!
//! Large items lie in *wide* segments behind the others (`wide.rs`): each has address space for the
//! memory of many segments and takes as much memory as it needs. The limit bounds the memory in use,
//! not the address space.
//!
//! A get hashes the key, reads one cache line of the index and one or two of the item. It takes no
//! lock, and writes only the frequency. [`Store::prefetch`](storage::Store::prefetch) requests these
//! lines ahead, so a batch of gets waits for memory about once.
//!
//! # From a write to free memory again
//!
//! ```text
//!   put ──▶ open segment ──full──▶ sealed ──chosen──▶ claimed ──emptied──▶ limbo ──▶ free
//!           one per handle and     in order,          items are dropped    until every
//!           TTL class in use       by tier and class  or moved elsewhere   handle has let go
//! ```
//!
//! * A write goes into an open segment that only its handle writes to. The item's bytes are written
//!   first, then one store into a slot makes the item readable. The lock bit of the key's home
//!   bucket serialises writers of one key.
//! * Segments are emptied for three reasons: all items of a segment have expired (`sweep.rs`); a segment is
//!   mostly dead while dead items take most of the memory in use, and its live items move (`compact.rs`); or
//!   room is needed (`evict/`), and a [policy](Eviction) chooses the segment and which of its items stay.
//! * Each write and each turn empties a few items, before room runs out. No write pays for emptying
//!   a whole segment, except one whose item is that large.
//! * An emptied segment, to which no slot points any more, waits in limbo until every handle has
//!   passed a quiescent state. [`Store::expire`](storage::Store::expire) is one; after
//!   [`Store::rest`](storage::Store::rest) nobody waits for the handle.
//!
//! # Why a reader never sees freed memory
//!
//! A borrowed item borrows the handle. To pass a quiescent state the handle must be borrowed
//! exclusively. So a handle cannot pass one while an item is held, and a segment is reused only after
//! every handle has passed one since the segment became unreachable. The borrow checker proves the
//! first half, `epoch.rs` argues the second, and `access.rs` joins them. A value pinned to be sent
//! without a copy holds its segment by a pin count.
//!
//! # Exact where it counts
//!
//! * **Expiry.** Every item has its own expiry, in milliseconds, and each read checks it. The TTL
//!   class only groups items that will expire together, so that whole segments become free.
//! * **Versions.** An item's version is made of its offset and its segment's birth number, which counts
//!   openings: unique, never used again, and without a byte in the item. An item that an eviction moves
//!   gets another version.
//! * **Memory.** Segments get the memory that index, tables and reservations leave. The index grows
//!   while in use; before it does, segments are emptied and their pages given back to make room
//!   (`capacity.rs`).
//!
//! # Which file next
//!
//! * `store.rs`: the handle, get and delete. `write.rs`: put. `update.rs`: read-modify-write. `receive.rs`: values
//!   that arrive in pieces, and `draft.rs`: such a value.
//! * `builder.rs`: what a store is made of; `settings.rs`: the same as a section of a file. `item.rs`: an item as its reader
//!   sees it.
//! * `shared.rs`: the state that all handles share. `access.rs`: how the heap's memory is lent as
//!   borrows, and why that is sound.
//! * `place.rs`: open segments. `wide.rs`: those for large items; `lone.rs`: those that have one item. `room.rs`:
//!   making room. `capacity.rs`: how the memory limit is divided. `limit.rs`: another limit. `ahead.rs`: memory
//!   before it is needed.
//! * `empty.rs`: emptying a segment. `sweep.rs`: expiry and clears. `compact.rs`: compaction. `evict/`: the
//!   policies, and the share of new items.
//! * `pool.rs`, `segment.rs`, `order.rs`, `class.rs`: the bookkeeping of segments.
//! * `heap.rs`, `layout.rs`: the memory and the bytes of an item. `index/`: the hash table. `zeroed.rs`: tables
//!   in memory that is taken when it is touched. `sync.rs`: atomics, or their models.
//! * `epoch.rs`: quiescent states. These three are the concurrent and unsafe parts; they have loom models.
//! * `report.rs`, `export.rs`, `tally.rs`, `victims.rs`, `metrics.rs`: statistics. `scan.rs`: walks
//!   over all items.
//! * `integrity.rs`: the invariants that bind the parts together, and their check.
#![deny(unsafe_op_in_unsafe_fn)]

mod access;
#[cfg(not(loom))]
mod ahead;
mod builder;
mod capacity;
mod class;
mod compact;
mod draft;
mod empty;
mod epoch;
mod evict;
mod export;
mod heap;
mod index;
mod integrity;
mod item;
mod layout;
mod limit;
mod lone;
mod metrics;
#[cfg(all(test, loom))]
mod models;
mod order;
mod place;
mod pool;
mod receive;
mod report;
mod room;
mod scan;
mod segment;
#[cfg(feature = "settings")]
pub mod settings;
mod shared;
mod store;
mod sweep;
mod sync;
mod tally;
mod update;
mod victims;
mod wide;
mod write;
mod zeroed;

pub use builder::{Builder, Error, MEMORY_MIN, SEGMENT_BYTES};
pub use draft::SegDraft;
pub use evict::{Eviction, UnknownEviction};
pub use item::{PIN_MIN, SegItem};
pub use metrics::METRICS;
pub use report::{
    ByteReport, ClassReport, EvictionReport, IndexReport, MemoryReport, Report, SegmentReport,
    WriteReport,
};
pub use shared::Reason;
pub use store::SegStore;
