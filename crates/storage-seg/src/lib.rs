// SPDX-License-Identifier: Apache-2.0
//! Segcache: items in segments, read without locks, reclaimed whole.
//!
//! [`SegStore`] keeps the contract of [`storage::Store`] in the design of Segcache (Yang, Yue and
//! Rashmi, NSDI '21): fixed-size segments filled by appending, and a hash table of 8-byte slots. An
//! item costs 4 bytes of header and 9 of index beyond its key and value. One number limits the memory.
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
//! Large items lie in *wide* segments behind the others (`wide.rs`): each has address space for many
//! segments' memory and takes as much of it as it needs. The sum is bounded, not the addresses.
//!
//! A get hashes, reads one line of the index and the item's line or two. It takes no lock, and writes
//! nothing but the frequency. [`Store::prefetch`](storage::Store::prefetch) asks for these lines ahead,
//! so a batch of gets waits for memory about once.
//!
//! # From a write to free memory again
//!
//! ```text
//!   put ──▶ open segment ──full──▶ sealed ──chosen──▶ claimed ──emptied──▶ limbo ──▶ free
//!           one per handle and     in order,          items are dropped    until every
//!           TTL class in use       by tier and class  or moved elsewhere   handle has let go
//! ```
//!
//! * A write goes into a segment that is its handle's alone: its bytes first, then one store into a
//!   slot makes it readable. The lock bit of the key's home bucket serialises writers of one key.
//! * Segments are emptied for three reasons. All items of one have expired (`sweep.rs`); most of them are dead
//!   while dead items take most of the memory in use, and the rest moves (`compact.rs`); or room is
//!   needed (`evict/`); then a [policy](Eviction) chooses the segment and which of its items stay.
//! * Emptying goes in steps of a few items, with each write and each turn, ahead of need. No write
//!   pays for a whole segment, except one whose item is that large.
//! * A segment that nothing leads to any more waits in limbo until every handle has passed a quiescent
//!   state: [`Store::expire`](storage::Store::expire) is one, and after
//!   [`Store::rest`](storage::Store::rest) nobody waits for the handle.
//!
//! # Why a reader never sees freed memory
//!
//! A borrowed item borrows the handle. To pass a quiescent state the handle must be borrowed
//! exclusively. So while an item is held its handle cannot pass one, and until every handle has, no
//! segment is used again that anybody could have found a way to before. The borrow checker sees to the
//! first half, `epoch.rs` argues the second, and `access.rs` is where both meet. A value that is
//! pinned, to be sent without a copy, keeps its segment by a count.
//!
//! # Exact where it counts
//!
//! * **Expiry.** Every item has its own, in milliseconds; a read looks at it. The TTL class only puts
//!   items together that will expire together, so that segments come back whole.
//! * **Versions.** An item's version is its place and the number of its segment's opening: unique, never
//!   used again, and 0 bytes. An item that moves for an eviction changes it.
//! * **Memory.** Segments get what index, tables and reservations leave. The index grows online; the
//!   segments in its way are emptied and their pages given back first (`capacity.rs`).
//!
//! # Which file next
//!
//! * `store.rs`: the handle, get and delete. `write.rs`: put. `update.rs`: read-modify-write.
//! * `shared.rs`: what handles have in common. `access.rs`: how memory becomes borrows, and why it may.
//! * `place.rs`: open segments. `wide.rs`: those for large items. `room.rs`: making room. `capacity.rs`: the limit, shared out.
//! * `empty.rs`: emptying a segment. `sweep.rs`: expiry and clears. `compact.rs`: compaction. `evict/`: the policies, and what new items get.
//! * `pool.rs`, `segment.rs`, `order.rs`, `class.rs`: the bookkeeping of segments.
//! * `heap.rs`, `layout.rs`: the memory and the bytes of an item. `index/`: the hash table.
//!   `epoch.rs`: quiescent states. These three are the concurrent and unsafe parts; they have loom models.
//! * `report.rs`, `export.rs`, `tally.rs`, `victims.rs`, `metrics.rs`: what a store tells about itself.
//!   `scan.rs`: walks.
//! * `integrity.rs`: the invariants that bind the parts together, and their check.
#![deny(unsafe_op_in_unsafe_fn)]

mod access;
mod builder;
mod capacity;
mod class;
mod compact;
mod empty;
mod epoch;
mod evict;
mod export;
mod heap;
mod index;
mod integrity;
mod item;
mod layout;
mod metrics;
#[cfg(all(test, loom))]
mod models;
mod order;
mod place;
mod pool;
mod report;
mod room;
mod scan;
mod segment;
mod shared;
mod store;
mod sweep;
mod sync;
mod tally;
mod update;
mod victims;
mod wide;
mod write;

pub use builder::{Builder, Error, MEMORY_MIN, SEGMENT_BYTES};
pub use evict::{Eviction, UnknownEviction};
pub use item::{PIN_MIN, SegItem};
pub use report::{
    ByteReport, ClassReport, EvictionReport, IndexReport, MemoryReport, Report, SegmentReport,
    WriteReport,
};
pub use shared::Reason;
pub use store::SegStore;
