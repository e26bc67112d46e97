// SPDX-License-Identifier: Apache-2.0
//! The conformance kit of keyspaces: one call tests an engine against the contract of
//! [`Keyspace`] and [`View`](super::View).
//!
//! Both functions take a function that makes an empty keyspace of at least four databases, with
//! default [`Settings`](super::Settings):
//!
//! ```
//! use keyspace::{Keyspace, conformance};
//!
//! fn keeps_the_contract<K: Keyspace + Send + 'static>(build: impl Fn() -> K) {
//!     conformance::check_shared(build);
//! }
//! ```
//!
//! The kit sets the time, and its random seed is fixed: failures repeat, unless they depend on the
//! engine's own random numbers. A failed assertion names the rule that the engine breaks. The
//! rules:
//!
//! * RULE-READ: `get`, `peek` and `get_mut` see the entry that was put last under a key of a
//!   database, and no other key or database has it. `put` and `take` return the live entry that they
//!   replace or remove, unchanged.
//! * RULE-EDIT: changes made to an entry through `get_mut` persist, its expiry included, and
//!   `set_expiry` changes the expiry of a live entry and nothing else.
//! * RULE-EXPIRY: every operation sees an entry at each millisecond before its expiry and at none
//!   from its expiry on.
//! * RULE-GONE: an expired entry that an operation of a view meets is reported once, to the handle
//!   that met it, if there is a listener; a `peek` leaves it. Every reported entry is gone.
//! * RULE-ACTIVE: repeated calls of `maintain` remove every expired entry and no other, and report
//!   each once; while active expiry is off they remove none. One call does not go far beyond its
//!   budget.
//! * RULE-KEEP: while entries stay, expired ones are not seen but not removed either, but for those that a `put` or a
//!   `take` meets, and may be drawn; there is always room, and nothing is evicted.
//! * RULE-FIELD: the same for expired fields of hashes, which are named to a listener, and for hashes whose
//!   last field expired.
//! * RULE-LEN: lengths are the number of entries, and of those with an expiry.
//! * RULE-CLEAR, RULE-SWAP: a cleared database is empty, two swapped ones have exchanged everything,
//!   and no other is touched.
//! * RULE-SCAN: a walk ends, shows each entry that is present throughout exactly once and as a
//!   read would, and no dead one; any number is a valid cursor; a step is small.
//! * RULE-RANDOM: every live entry is drawn sometimes, and no other ever.
//! * RULE-USE: idle times and use counts tell when and how often an entry was used; `peek` and a
//!   view with touching off leave them unchanged.
//! * RULE-MEMORY: `entry_bytes` is the memory that the entries hold, `used_bytes` the sum of its
//!   parts. When everything is removed, all memory comes back: that of large values and cleared
//!   databases in the steps of `maintain`. The approximate number is exact to some KiB. Reservations
//!   count as used, one per handle.
//! * RULE-ROOM: within the limit there is room, and nothing is evicted. Above it `make_room`
//!   evicts, so that memory stays at the limit however much is written; it returns `false` only if
//!   nothing may be evicted.
//! * RULE-POLICY: only entries that the policy allows are evicted, and those that it prefers more
//!   often than others.
//! * RULE-STATS: the numbers of [`KeyspaceStats`](super::KeyspaceStats) mean what they say.
//! * RULE-PREFETCH: a prefetch changes nothing.
//! * RULE-HANDLES: every handle sees at once what another does, and dropping a handle ends its
//!   reservation but loses no entry.
//! * RULE-ATOMIC: others see all changes made through one view or none, and there are no deadlocks.

mod databases;
mod entries;
mod expiry;
mod handles;
mod memory;
mod model;
mod room;
mod statistics;
mod subject;
mod threads;
mod uses;
mod walks;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use super::Keyspace;

/// Tests an engine through a single handle.
///
/// `make` is called once for each part of the test and returns an empty keyspace each time.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check<K: Keyspace>(make: impl Fn() -> K) {
    entries::run(&make);
    expiry::run(&make);
    databases::run(&make);
    walks::run(&make);
    uses::run(&make);
    statistics::run(&make);
    memory::run(&make);
    room::run(&make);
    model::run(&make);
}

/// Tests an engine whose handles share a keyspace: everything that [`check`] does, then several
/// handles in turn, then several threads at once.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check_shared<K: Keyspace + Send + 'static>(make: impl Fn() -> K) {
    check(&make);
    handles::run(&make);
    threads::run(&make);
}
