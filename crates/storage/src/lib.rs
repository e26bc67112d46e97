// SPDX-License-Identifier: Apache-2.0
//! The contract that every storage engine keeps, and a kit that tests an engine against it.
//!
//! A protocol's service is written against [`Store`] and runs on any engine; an engine implements
//! [`Store`] and serves any protocol. The contract is what every memcache command and every RESP
//! string command reduces to: bytes under a key, with client flags, an [`Expiry`] and a
//! [`Version`]. For typed values there is another contract, the crate `keyspace`.
//!
//! Where to look:
//!
//! * [`Store`] and [`Item`] (`store.rs`): the traits.
//! * [`Scan`] (`scan.rs`): the walk over all items, for engines that support it.
//! * [`Receive`] (`receive.rs`): large values, taken in pieces as they arrive.
//! * [`Put`], [`Condition`], [`Change`], [`Digits`] (`write.rs`): the arguments of writes.
//! * [`Evicted`], [`Evictions`] (`evicted.rs`): what an engine tells of items that it evicts.
//! * [`Stats`] (`stats.rs`): an engine's statistics, and [`ClassStats`], those of one class of its items.
//! * [`metrics`]: the metrics that every engine counts, over all stores of the process.
//! * [`Stage`]: how far a prefetch of a key goes; engines prefetch with the crate `prefetch`.
//! * [`conformance`]: `conformance::check(|limits| ...)` tests a new engine in one call.
//!
//! A [`Store`] value is one worker's *handle*. An engine that is not shared is its own handle; a
//! shared one gives a clone of its handle to each worker. Both look the same to a service:
//!
//! ```
//! use clock::Now;
//! use storage::{Item, Put, Store};
//!
//! fn greet<S: Store>(store: &mut S, now: Now) {
//!     store.put(Put::new(b"greeting", b"hello").flags(7), now.ticks).expect("it fits");
//!     let item = store.get(b"greeting", now.ticks).expect("it was just stored");
//!     assert_eq!((item.value(), item.flags()), (&b"hello"[..], 7));
//! }
//! ```
#![forbid(unsafe_code)]

pub mod conformance;
mod evicted;
pub mod metrics;
mod receive;
mod scan;
mod state;
mod stats;
mod store;
mod write;

pub use evicted::{EVICTIONS_NOTED_MAX, Evicted, Evictions};
pub use prefetch::Stage;
pub use receive::{Announced, Collected, Collects, Draft, Receive};
pub use scan::{Cursor, Scan};
pub use state::{Idle, Marks};
pub use stats::{ClassStats, Stats};
pub use store::{Expiry, Item, ResizeError, Store, StoreError, Version};
pub use write::{Amend, Change, Condition, Content, Digits, Put, Write};
