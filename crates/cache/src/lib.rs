// SPDX-License-Identifier: Apache-2.0
//! An in-process cache, bounded in bytes of memory, with times to live, used from any thread.
//!
//! ```
//! use cache::Cache;
//! use std::time::Duration;
//!
//! let cache: Cache<str, [u8]> = Cache::builder().memory(64 << 20).build()?;
//! cache.insert("page", b"<html>")?;
//! cache.insert_with_ttl("session", b"of a user", Duration::from_secs(3600))?;
//! assert_eq!(cache.get("page").as_deref(), Some(&b"<html>"[..]));
//!
//! // One thread computes, others that ask for the same key meanwhile wait for it.
//! let value = cache.get_or_insert_with("report", || b"computed".to_vec());
//! assert_eq!(value, b"computed");
//! # Ok::<(), cache::Error>(())
//! ```
//!
//! # What it promises
//!
//! * **The limit is of memory**, not of entries or of weights that the caller makes up: keys, values, the index and
//!   all that an item costs beside them. Resident memory stays at the limit, because values lie in memory of the
//!   cache's own, packed, and not each in an allocation.
//! * **An item leaves unasked only if it expires or makes room.** Times to live are per item and exact to the
//!   millisecond of the [clock](Builder::clock). Which item makes room is a [policy](Builder::eviction); the default
//!   keeps what is used most for its size.
//! * **Any number of threads**, which may come and go. Reads take no lock that another thread holds, unless more
//!   threads are at work in the cache than [expected](Builder::threads).
//! * **One computation per key at a time**: [`Cache::get_or_insert_with`] and its variants. A panic or an error frees
//!   those that wait, and a write or a removal of the key meanwhile is not undone by the result.
//! * **No code of the caller runs under a lock** or keeps memory from others: closures, codecs and the
//!   [listener](Builder::on_drop) may take their time and use the cache.
//!
//! # What it is not
//!
//! It keeps bytes. A value is [encoded](Encode) when it is written and [decoded](Decode) when it is read, which is a copy
//! for bytes and text and next to nothing for numbers. For large structures that are costly to decode, and for what has
//! no bytes (files, connections), a cache of `Arc`s is the better choice. Computations are for threads, not for
//! futures. Nothing is kept over a restart.
//!
//! # Which file next
//!
//! * `cache.rs`: [`Cache`], the operations. `builder.rs`: [`Builder`]. `codec.rs`: [`Encode`] and [`Decode`].
//! * `inner.rs`: the same without the types: what an operation does with the store.
//! * `handles.rs`: how threads share the handles of the [store](storage_seg).
//! * `flight.rs`: one computation per key. It has models for loom.
//! * `dropped.rs`: the listener. `keeper.rs`: the thread in the background. `time.rs`: the clock.
#![forbid(unsafe_code)]

mod builder;
mod cache;
mod codec;
mod dropped;
mod error;
mod flight;
mod handles;
mod inner;
mod keeper;
mod stats;
mod sync;
mod time;

pub use builder::Builder;
pub use cache::Cache;
pub use clock::Clock;
pub use codec::{Decode, Encode};
pub use dropped::Dropped;
pub use error::Error;
pub use stats::Statistics;
pub use storage_seg::{Eviction, Reason};
