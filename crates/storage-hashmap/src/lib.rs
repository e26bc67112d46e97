// SPDX-License-Identifier: Apache-2.0
//! A sharded hash table of items, bounded in memory.
//!
//! [`HashMapStore`] keeps the contract of [`storage::Store`]: bytes under keys, with flags, exact
//! expiry and versions. It is safe Rust throughout. One number limits its memory, index included.
//! When that is used up, it evicts approximately the least recently used items.
//!
//! ```
//! use clock::Ticks;
//! use storage::{Item, Put, Store};
//! use storage_hashmap::HashMapStore;
//!
//! let now = Ticks::ZERO;
//! let mut store = HashMapStore::builder().memory(64 << 20).shards(16).build();
//! let mut other = store.clone(); // a second worker's handle on the same items
//!
//! store.put(Put::new(b"key", b"value"), now)?;
//! assert_eq!(other.get(b"key", now).expect("it is there").value(), b"value");
//! # Ok::<(), storage::StoreError>(())
//! ```
//!
//! # From a key to its value
//!
//! ```text
//!  key ──hash──▶ high bits pick the shard, low 32 bits are the tag
//!
//!  shard = Mutex of
//!    heads   [ 7 | - | 3 | 9 | ... ]            4 bytes for each bucket; the tag picks one
//!                      │
//!    slab    ┌─────────▼─────────────────────┐  32 bytes for each item: half a cache line
//!     slot 3 │ tag │ next ─▶ 12 │ expiry │ ● │  other tags are passed over
//!            └─────────────────────────────│─┘
//!    record  ┌─────────────────────────────▼─────────────────────────┐
//!            │ version │ flags │ lengths │ key │ value │ spare       │   one allocation
//!            └───────────────────────────────────────────────────────┘
//! ```
//!
//! A get hashes the key, locks one shard, reads a head, one or two entries (1.4 on average) and the
//! record, and lends the record together with the lock. A value of [`PIN_MIN`] bytes or more can be
//! pinned: it then outlives the lock, and the item, by reference count.
//!
//! # Operations without pauses
//!
//! * **Growth.** Each insert adds at most one bucket and one chunk, of a fixed size, and no table is
//!   copied (linear hashing, chunked slab).
//! * **Expiry.** A read checks the item's own expiry, so it is exact. A sweep in bounded steps
//!   reclaims memory; it knows without taking a lock when there is nothing to do.
//! * **Clear.** Each shard records the version below which all items are dead.
//! * **Eviction.** The hand of a CLOCK (second-chance) algorithm examines at most 64 items for each
//!   that it evicts. An item of a 64th of the memory or more is not evicted before the hand has gone
//!   most of the way round since it was stored.
//! * **Other shards.** A thread never holds two locks of shards, except in `check_integrity`.
//!
//! # What it promises
//!
//! * A get, hit or miss, and an overwrite with about the same length allocate nothing
//!   (`tests/allocations.rs` counts). A new small item is one allocation.
//! * A value of [`PIN_MIN`] bytes or more that arrived in pieces ([`storage::Receive`]) is not copied.
//! * [`storage::Stats::used_bytes`] is never above the limit. It counts allocations as `malloc`
//!   rounds them, entries, buckets, and what handles have reserved. It leaves out pinned values
//!   whose item is gone, the old value while a larger one is being written, and a few kilobytes for
//!   each shard.
//!
//! # Which file next
//!
//! * `store.rs`: the handle. It finds the shard, and room in other shards when one has none.
//! * `shard.rs`: one shard, its get and delete. `write.rs`: its put and update.
//! * `heads.rs`, `slab.rs`, `record.rs`: the three memories of the drawing. `hash.rs`: the hash.
//! * `budget.rs`: the memory limit as leases. `room.rs`: growth and eviction within it. `hands.rs`: which shard evicts.
//!   `reserve.rs`: memory set aside for use outside of the store.
//! * `sweep.rs`: expiry and clear. `scan.rs`: the walk over all items. `receive.rs`: values that arrive in pieces.
//! * `item.rs`: the item that a get lends. `builder.rs`: the options. `metrics.rs`: the metrics.
//! * `integrity.rs`: the invariants by name, and their check.
#![forbid(unsafe_code)]

mod budget;
mod builder;
mod hands;
mod hash;
mod heads;
mod integrity;
mod item;
mod item_state;
mod metrics;
mod receive;
mod record;
mod reserve;
mod room;
mod scan;
mod shard;
mod slab;
mod store;
mod sweep;
mod write;

pub use builder::Builder;
pub use item::HashMapItem;
pub use metrics::METRICS;
pub use record::{KEY_MAX, PIN_MIN};
pub use store::HashMapStore;
