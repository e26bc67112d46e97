// SPDX-License-Identifier: Apache-2.0
//! The conformance kit of keyspaces: one call tests an engine against the contract of
//! [`Keyspace`] and [`View`](super::View).
//!
//! Both functions take one that makes an empty keyspace of at least four databases, with
//! [`Settings`](super::Settings) as they begin:
//!
//! ```
//! use keyspace::{Keyspace, conformance};
//!
//! fn keeps_the_contract<K: Keyspace + Send + 'static>(build: impl Fn() -> K) {
//!     conformance::check_shared(build);
//! }
//! ```
//!
//! Time is what the kit says it is, randomness is a fixed seed's: but for an engine's own chance, a
//! failure repeats. A failed assertion names the rule that the engine breaks. These are the rules:
//!
//! * RULE-READ: what was put last under a key of a database is what `get`, `peek` and `get_mut` see,
//!   and nothing is seen elsewhere. `put` and `take` return the live entry that goes, as it was.
//! * RULE-EDIT: what is done to an entry by `get_mut` is there afterwards, its expiry included, and
//!   `set_expiry` changes that of a live entry and nothing else.
//! * RULE-EXPIRY: every operation sees an entry at each millisecond before its expiry and at none
//!   from its expiry on.
//! * RULE-GONE: an expired entry that an operation of a view meets is told once, to the handle that
//!   met it, if somebody listens; a `peek` leaves it. Whatever is told of is gone.
//! * RULE-ACTIVE: called again and again, `maintain` removes every expired entry and no other, and
//!   tells of each once. Not while active expiry is off. One call does not go far beyond its budget.
//! * RULE-FIELD: the same for expired fields of hashes, and for hashes whose last field expired.
//! * RULE-LEN: lengths count entries, and those of them with an expiry.
//! * RULE-CLEAR, RULE-SWAP: a cleared database is empty, two swapped ones have exchanged everything,
//!   and no other is touched.
//! * RULE-SCAN: a walk ends, shows each entry that is there throughout at least once and as it is
//!   read, and no dead one; any number is a cursor; a step is small.
//! * RULE-RANDOM: every live entry is drawn at times, and no other ever.
//! * RULE-USE: idle times and counts of uses tell what was used, when and how often; `peek` and an
//!   untouching view leave them.
//! * RULE-MEMORY: `entry_bytes` is what the entries hold, `used_bytes` the sum of its parts, and what
//!   all is removed from comes back to nothing, large values and cleared databases in the steps of
//!   `maintain`. The quick number is true to some KiB. A reservation counts, one for each handle.
//! * RULE-ROOM: within the limit there is room and nothing goes. Above it `make_room` evicts, so
//!   that memory stays at the limit however much is written; it is `false` only if nothing may go.
//! * RULE-POLICY: only what the policy allows is evicted, and what it prefers more than other.
//! * RULE-STATS: the numbers of [`KeyspaceStats`](super::KeyspaceStats) mean what they say.
//! * RULE-PREFETCH: a prefetch changes nothing.
//! * RULE-HANDLES: what one handle does every other sees at once, and a dropped handle takes
//!   nothing with it but its reservation.
//! * RULE-ATOMIC: what is done through one view others see wholly or not at all, and no threads wait
//!   for each other for ever.

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
