// SPDX-License-Identifier: Apache-2.0
//! The contract of a keyspace: numbered databases of typed values under keys, as RESP commands need
//! them.
//!
//! A store, the contract of the crate `storage`, knows bytes; a [`Keyspace`] holds [`values::Entry`]s, which are strings,
//! hashes, lists, sets and sorted sets, each with its key and its expiry. The keyspace finds, adds
//! and removes entries, lets them expire, evicts them and counts their memory. What is inside an
//! entry is between the command and the `values` crate.
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
//! * [`Keyspace`] and [`View`] (`traits.rs`): the traits.
//! * [`Scope`] (`scope.rs`): what a view may touch.
//! * [`EntryMut`] and [`Tally`] (`entry_mut.rs`): changing an entry where it is.
//! * [`Gone`] and [`Reason`] (`gone.rs`): what is told of entries that went by themselves.
//! * [`Settings`] and [`Policy`] (`settings.rs`): what `CONFIG SET` changes while the server runs.
//! * [`KeyspaceStats`] (`stats.rs`): what a keyspace tells about itself.
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
pub use traits::{Keyspace, Observer, View};
