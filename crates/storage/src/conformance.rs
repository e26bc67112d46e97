// SPDX-License-Identifier: Apache-2.0
//! The conformance kit: one call tests an engine against the contract of [`Store`].
//!
//! An engine with a single handle calls [`check`], one whose handles are shared between workers calls
//! [`check_shared`]; one that implements [`Scan`] calls [`check_scan`] too, and one that implements [`Receive`]
//! calls [`check_receive`], or [`check_receive_shared`]. All take a function that makes an empty engine within
//! [`Limits`]:
//!
//! ```
//! use storage::Store;
//! use storage::conformance::{self, Limits};
//!
//! fn keeps_the_contract<S: Store>(build: impl Fn(u64, u64) -> S) {
//!     conformance::check(|limits: Limits| build(limits.memory_bytes, limits.value_bytes));
//! }
//! ```
//!
//! The clock is manual and the random seed is fixed, so failures repeat. A failed assertion names
//! the rule that the engine breaks. The rules:
//!
//! * RULE-READ: a read returns what was written last: key, value, flags and expiry as they were
//!   given, version as it was returned. A key without a live item reads as nothing.
//! * RULE-DELETE: a delete makes the item unreadable and says whether there was a live one.
//! * RULE-CONDITION: a condition holds exactly when [`Condition`](crate::Condition) says so, and is
//!   refused with exactly the [`StoreError`](crate::StoreError) named there.
//! * RULE-REFUSED: a refused write leaves the item as it was, its version included.
//! * RULE-EXPIRY: every operation sees an item at each millisecond before its expiry and at none
//!   from its expiry on. An item written with a past expiry replaces the old one and is gone.
//! * RULE-VERSION-NEW: every write gives the item a version that its key never had before, whatever
//!   happened in between: deletes, expiry, eviction, clears.
//! * RULE-VERSION-NEWER: an item is newer than all versions that its key had before, and not newer than its own.
//! * RULE-VERSION-KEPT: `Change::Expire`, `Change::Keep` and refused writes leave the version.
//! * RULE-VERSION-TOLD: an update tells the version that the item has after it, and none if it has
//!   left or found no item.
//! * RULE-UPDATE: an update shows the live item to its caller, makes exactly the change that the
//!   caller decided on, and passes the caller's result on. A change that needs an item and finds
//!   none is `NotFound`.
//! * RULE-MARKS: an item has the marks that were set on it until its value is replaced; new numbers and changes
//!   of its expiry leave them.
//! * RULE-READS: an item knows whether it was read since its value was written. A peek is no read. Where the
//!   engine notes when, it is right to about a minute.
//! * RULE-VERSION-GIVEN: a write that gives a version makes an item of that version.
//! * RULE-CLEAR: after a clear no older item is readable by any operation, and newer ones are.
//! * RULE-RECLAIM: `expire` frees no more items than its budget, returns how many, and never frees
//!   a live one. Repeated calls give back all memory of expired and cleared items.
//! * RULE-LIMIT: after each write `used_bytes` is at most `limit_bytes`, and `limit_bytes` at most
//!   the memory the engine was given.
//! * RULE-EVICTION: a write that fits is never refused while something can be evicted. Nothing is
//!   evicted while most of the memory is free, and a store that evicts still uses its memory.
//! * RULE-FITS: the store drops an item only if it expired, or if there is no room. For items of
//!   one size: with up to 70 % of the number that the engine held when it first evicted, none is
//!   evicted, whatever was overwritten, deleted or changed in size.
//! * RULE-TOO-LARGE: a value of the largest size is accepted; a larger one is `TooLarge`, whichever
//!   operation would make it.
//! * RULE-PIN: a pinned value equals the item's and keeps its content after the item was
//!   overwritten, deleted, evicted, cleared, or the store dropped.
//! * RULE-STATS: the numbers of [`Stats`](crate::Stats) mean what they say.
//! * RULE-PREFETCH: a prefetch changes nothing.
//! * RULE-HANDLES: every handle sees at once what another does, and dropping a handle loses no
//!   item.
//! * RULE-REST: a rest changes nothing, and a handle that was used and rests delays no other. (A used
//!   handle that neither rests nor expires may: the kit rests each handle that it uses beside others,
//!   and its threads call `expire` until all are done.)
//! * RULE-RESERVE: a reservation evicts no item while memory is free, and refuses no write that
//!   fits without it; when it ends, the memory given up for it is available again.
//! * RULE-RESIZE: a higher limit takes effect at once, and nothing is evicted while it leaves memory free. Below a
//!   lower one the store gets by calls of `expire` alone, each of which takes a bounded step, and no item goes
//!   that fits; then as many items fit as ever did with that limit. A limit that is too low is refused, and the
//!   lowest one has room for the largest value. (Not for engines whose limit is fixed.)
//! * RULE-SCAN: a walk ends, shows each item that is live throughout at least once and as a read
//!   would, and no dead one; a step keeps to its budget; any number is a valid cursor. (Only for
//!   engines that implement [`Scan`].)
//! * RULE-RECEIVE: nothing of a draft can be seen before its commit. A committed one is what a put would have made,
//!   with the conditions that hold then, and a refused one changes nothing. Whatever happens in between (writes,
//!   deletes, clears, evictions, the passing of its expiry) leaves it alone. Its pieces have any sizes. Of the
//!   largest value at least four drafts fit at once, also in a full store; a larger value is `TooLarge` at its begin
//!   or at its commit. Drafts count against the limit (those outside of the store are told to `reserve`), keep nobody
//!   from writing however long they take, and leave nothing when they are dropped or refused. (Only for engines
//!   that implement [`Receive`].)
//! * RULE-ATOMIC: operations of several threads on one key are atomic and happen one after the
//!   other; a borrowed item does not change while it is borrowed.
//! * RULE-LINEAR: operations on a key are linearizable: their results are those of one order, in which
//!   each takes place at one moment between its call and its return. By itself the engine may only drop an
//!   item, or give it a new version.
//!
//! The topics, one file each: `conditions`, `content` (bytes and deletes), `expiry`, `versions`, `updates`, `state`
//! (marks, reads and given versions),
//! `clearing`, `memory`, `fits`, `reserve` (with rests), `resize`, `pins`, `statistics`, `scan`, `receive` (values in
//! pieces), `model` (a long random run beside a plain map), `handles`, `threads`, `churn` (threads in a full store), and
//! `linear` (linearizability). `subject` is the engine under test with its clock.

mod churn;
mod clearing;
mod conditions;
mod content;
mod expiry;
mod fits;
mod handles;
mod linear;
mod memory;
mod model;
mod pins;
mod receive;
mod reserve;
mod resize;
mod scan;
mod state;
mod statistics;
mod subject;
mod threads;
mod updates;
mod versions;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use crate::{Receive, Scan, Store};
pub use linear::History;

/// The limits that an engine under test must keep.
///
/// The memory is always at least 32 times the largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes the store may use for everything: items and index.
    pub memory_bytes: u64,
    /// The most bytes a value may have. A key has at most 250.
    pub value_bytes: u64,
}

impl Limits {
    /// Memory enough for everything a check writes: nothing is ever evicted.
    const ROOMY: Limits = Limits { memory_bytes: 64 << 20, value_bytes: 1 << 20 };
    /// Memory that a check fills several times over.
    const TIGHT: Limits = Limits { memory_bytes: 4 << 20, value_bytes: 64 << 10 };
}

/// Tests an engine through a single handle.
///
/// `make` is called once for each part of the test and returns an empty engine each time.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check<S: Store>(make: impl Fn(Limits) -> S) {
    content::run(&make);
    updates::run(&make);
    conditions::run(&make);
    expiry::run(&make);
    versions::run(&make);
    state::run(&make);
    clearing::run(&make);
    statistics::run(&make);
    pins::run(&make);
    memory::run(&make);
    fits::run(&make);
    reserve::run(&make);
    resize::run(&make);
    model::run(&make);
}

/// Tests an engine whose handles, all clones of one, share the same items: everything that
/// [`check`] does, then several handles in turn, then several threads at once.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check_shared<S: Store + Clone + Send + 'static>(make: impl Fn(Limits) -> S) {
    check(&make);
    handles::run(&make);
    model::run_shared(&make);
    threads::run(&make);
    linear::run(&make);
}

/// Plays a random history on several handles of one empty store, a thread for each, and checks that it is
/// linearizable. With a single handle it checks that each operation does what the contract says.
///
/// [`check_shared`] does this too, for a short time and with rules that suit any engine. An engine's own
/// test can state what the engine may do by itself, and choose a memory so small that it does that all
/// the time.
///
/// # Panics
///
/// When a rule is broken, with the part of the history that shows it.
pub fn check_history<S: Store + Send>(handles: Vec<S>, history: &History) {
    history.run(handles);
}

/// Tests an engine's walk over all items, through a single handle.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check_scan<S: Scan>(make: impl Fn(Limits) -> S) {
    scan::run(&make);
}

/// Tests how an engine takes values in pieces, through a single handle.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check_receive<S: Receive>(make: impl Fn(Limits) -> S) {
    receive::run(&make);
}

/// Tests how an engine with shared handles takes values in pieces: everything that [`check_receive`] does, then
/// several handles in turn, then several threads at once.
///
/// # Panics
///
/// When a rule is broken; the message names it.
pub fn check_receive_shared<S: Receive + Clone + Send>(make: impl Fn(Limits) -> S) {
    check_receive(&make);
    receive::run_shared(&make);
}
