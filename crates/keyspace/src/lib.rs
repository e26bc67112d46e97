// SPDX-License-Identifier: Apache-2.0
//! The contract of a keyspace: numbered databases of typed values under keys, as RESP commands need
//! them.
//!
//! A store (the contract of the crate `storage`) holds bytes under keys. A [`Keyspace`] holds
//! [`values::Entry`]s: strings, hashes, lists, sets and sorted sets, each with its key and its expiry. The
//! keyspace finds, adds and removes entries, lets them expire, evicts them and counts their memory.
//! Commands read and edit the value of an entry through the `values` crate.
//!
//! A [`Keyspace`] value is one worker's *handle*; a clone is another worker's. A command says which
//! keys it will use, as a [`Scope`], and gets a [`View`]: for as long as that lives, nobody else
//! changes anything within the scope, so a command with many keys is atomic.
//!
//! ```
//! use keyspace::{Keyspace, View};
//! use values::Entry;
//!
//! /// Adds a key unless it is there: `SETNX`.
//! fn set_if_absent<K: Keyspace>(keyspace: &mut K, unix_ms: u64, key: &[u8], value: &[u8]) -> bool {
//!     let scope = keyspace.scope(key);
//!     let mut view = keyspace.view(scope, unix_ms);
//!     let is_absent = view.peek(0, key).is_none();
//!     if is_absent {
//!         view.put(Entry::string(key, value), 0);
//!     }
//!     is_absent
//! }
//! ```
//!
//! Where to look:
//!
//! * [`Keyspace`] and [`View`] (`traits.rs`): the traits. [`Chore`]: what the background work consists of.
//! * [`Scope`] (`scope.rs`): what a view may touch.
//! * [`EntryMut`] and [`Tally`] (`entry_mut.rs`): changing an entry where it is.
//! * [`Gone`] and [`Reason`] (`gone.rs`): reports of entries that expired or were evicted.
//! * [`Settings`] and [`Policy`] (`settings.rs`): the settings that `CONFIG SET` changes while the
//!   server runs.
//! * [`KeyspaceStats`] (`stats.rs`): a keyspace's statistics.
//!
//! # Time
//!
//! All times are wall-clock unix milliseconds, as clients write them. An entry is live at every
//! moment before its expiry and at none from its expiry on, exactly.
#![forbid(unsafe_code)]

pub mod conformance;
mod entry_mut;
mod gone;
mod scope;
mod settings;
mod stats;
mod traits;

pub use entry_mut::{EntryMut, Tally};
pub use gone::{Gone, Reason};
pub use prefetch::Stage;
pub use scope::Scope;
pub use settings::{Policy, Settings};
pub use stats::{DatabaseStats, KeyspaceStats};
pub use traits::{Chore, Keyspace, Observer, Use, View};
