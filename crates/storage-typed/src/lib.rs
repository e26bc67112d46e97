// SPDX-License-Identifier: Apache-2.0
//! A sharded keyspace of typed values, bounded in memory: [`TypedStore`] keeps the contract of
//! [`keyspace`].
//!
//! ```
//! use keyspace::{Keyspace, View};
//! use storage_typed::TypedStore;
//! use values::Entry;
//!
//! let mut store = TypedStore::builder().shards(16).databases(4).build();
//! let mut other = store.clone(); // a second worker's handle on the same entries
//!
//! let (db, unix_ms) = (0, 1_700_000_000_000);
//! let scope = store.scope(b"key");
//! store.view(scope, unix_ms).put(Entry::string(b"key", b"value"), db);
//! assert!(other.view(scope, unix_ms).peek(db, b"key").is_some());
//! ```
//!
//! ```text
//!  key ──hash──▶ the top bits pick the shard, the others the bucket, in whatever database
//!
//!  shard 0      shard 1      ...   shard 63         each a Mutex on cache lines of its own
//!  ├ database 0   ├ database 0
//!  │   └ Table<Entry>: 64-byte buckets of tags and entries, growing by one bucket at a time
//!  ├ ...
//!  └ database 15
//!
//!  ledger: bytes in use, over all shards        bin: what is being freed, step by step
//! ```
//!
//! # Concurrency
//!
//! A [`View`](keyspace::View) locks the shards of its scope and keeps them locked until it
//! is dropped. So a command that takes one view of all its keys is atomic: another command that
//! shares a key with it shares a shard, and runs wholly before or wholly after it.
//!
//! INV-ORDER: a thread that waits for a shard holds none with the same or a higher number. The bin's
//! lock is waited for last of all, and its holder waits for nothing. So there is no deadlock: of all
//! threads that wait, take the one that waits for the highest lock in this order. The holder of that
//! lock can only wait for a higher one, and no thread waits for a higher one. So the holder does not
//! wait, and will release the lock.
//!
//! * `Guards` (`guards.rs`) lock a scope in ascending order, all at once; a view never locks
//!   more. A handle is borrowed by its view, so a thread with one handle has one view.
//! * Sweeps, evictions and statistics lock one shard at a time.
//! * The check of integrity locks all, in ascending order.
//!
//! Nothing else is shared except atomics on which no decision about data depends: the
//! [`Settings`](keyspace::Settings), the ledger (`ledger.rs`), and the moments at which shards have
//! something to sweep.
//!
//! # Operations without pauses
//!
//! * **Growth.** An insert adds at most one bucket.
//! * **Expiry.** A lookup compares the entry's own expiry, so it is exact. Memory comes back by a
//!   sweep of bounded steps that knows when there is nothing to do.
//! * **Clearing and freeing.** A cleared database or a large value is moved to the bin at the cost
//!   of a few pointers, and freed from there step by step. Its memory counts as used until it is
//!   free.
//! * **Defragmentation.** Where an allocator's slabs are sparse, entries are moved in bounded steps.
//! * **Eviction.** It is done before a write takes its locks, in proportion to the bytes written.
//!
//! # Which file next
//!
//! * `store.rs`: the handle, and `hints.rs`: its prefetches. `view.rs`: a command's view of its
//!   keys, and `guards.rs`: its locks.
//! * `shared.rs`, `shard.rs`, `database.rs`: the data, from the outside in.
//! * `ledger.rs`: the bytes in use. `bin.rs`: memory that is freed step by step.
//! * `defrag.rs`: moving entries out of sparse slabs, and `slabs.rs`: what the allocator tells of them.
//! * `sweep.rs`: active expiry. `evict.rs` and `candidates.rs`: eviction. `access.rs`: when an entry
//!   was used, or how often.
//! * `notes.rs`: expired entries, to be reported to listeners. `random.rs`: random numbers.
//!   `builder.rs`: the options.
//! * `integrity.rs`: the invariants by name, and their check.
#![deny(unsafe_op_in_unsafe_fn)]

mod access;
mod bin;
mod builder;
mod candidates;
mod database;
mod defrag;
mod evict;
mod guards;
mod hints;
mod integrity;
mod ledger;
mod notes;
mod prefetches;
mod random;
mod shard;
mod shared;
mod slabs;
mod store;
mod sweep;
mod view;

pub use allocator::SlabUse;
pub use builder::TypedBuilder;
pub use slabs::Slabs;
pub use store::TypedStore;
pub use view::TypedView;
