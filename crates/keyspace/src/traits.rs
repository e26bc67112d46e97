// SPDX-License-Identifier: Apache-2.0
//! [`Keyspace`] and [`View`]: the traits.

use super::{EntryMut, Gone, KeyspaceStats, Scope, Settings};
use crate::Stage;
use std::sync::Arc;
use std::time::Duration;
use values::Entry;

/// A function that returns a keyspace's statistics, see [`Keyspace::observer`].
pub type Observer = Box<dyn Fn() -> Option<KeyspaceStats> + Send + Sync>;

/// How much an entry was used, see [`View::set_use`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It was not used for so many milliseconds.
    IdleMs(u64),
    /// It was used so often, as [`View::frequency`] counts.
    Frequency(u8),
}

/// A part of a keyspace's background work, see [`Keyspace::maintain_in_chores`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// The memory of removed values is freed.
    Free,
    /// Expired entries and fields are removed.
    Expire,
    /// Entries are evicted while memory is above the limit.
    Evict,
    /// Entries are moved out of pages that are mostly empty.
    Defragment,
}

/// One worker's handle on a keyspace. A clone is another worker's.
///
/// A thread uses one handle at a time: a view locks its scope, and a second handle of the same
/// keyspace would wait for the first for ever.
///
/// A command that writes calls [`make_room`](Keyspace::make_room) before it takes any lock, then
/// takes one [`view`](Keyspace::view) with the union of the scopes of its keys, and in the end
/// calls [`drain_gone`](View::drain_gone) if there are listeners.
pub trait Keyspace: Clone {
    /// The view that [`Keyspace::view`] returns.
    type View<'a>: View
    where
        Self: 'a;

    /// How many databases there are; they are numbered from 0.
    fn databases(&self) -> usize;

    /// The scope that a view must lock to use this key, in whatever database.
    fn scope(&self, key: &[u8]) -> Scope;

    /// The scope that a view must lock to continue a scan from this cursor; less than
    /// [`Scope::ALL`] if the engine can tell.
    fn scan_scope(&self, cursor: u64) -> Scope {
        let _ = cursor;
        Scope::ALL
    }

    /// Locks a scope for as long as the view lives. Waits for others who use a part of it.
    ///
    /// All changes through one view are atomic: others see all of them or none. Views of any scopes
    /// may be taken by any number of threads at once, without a deadlock, as long as each thread
    /// has one at a time.
    fn view(&mut self, scope: Scope, unix_ms: u64) -> Self::View<'_>;

    /// Prefetches the memory that a command on `key` will need: first all keys of a batch at
    /// [`Stage::Index`], then all at [`Stage::Item`], then all at [`Stage::Value`], then the
    /// commands themselves. Changes nothing and waits for nobody.
    fn prefetch(&self, db: usize, key: &[u8], stage: Stage) {
        let _ = (db, key, stage);
    }

    /// [Prefetches](Keyspace::prefetch) for several keys. An engine may do for all at once, such as taking a lock, what
    /// it would do for each of them.
    ///
    /// Returns whether the next stage has anything to do for them. If not, it may be left out.
    #[must_use]
    fn prefetch_all<'k>(
        &self,
        db: usize,
        keys: impl Iterator<Item = &'k [u8]>,
        stage: Stage,
    ) -> bool {
        keys.for_each(|key| self.prefetch(db, key, stage));
        true
    }

    /// Prefetches the place of an element in the value of `key`: after all keys of a batch at
    /// [`Stage::Item`], in place of [`Stage::Value`]. Changes nothing and waits for nobody.
    fn prefetch_element(&self, db: usize, key: &[u8], element: &[u8]) {
        let _ = (db, key, element);
    }

    /// Evicts while more is used than [`Settings::maxmemory`]; called before each write.
    ///
    /// Returns `false` if more is used than that and nothing may be evicted: a command that needs
    /// memory is to be refused. After `true` more than the limit may still be in use: the work of one
    /// call is bounded, so it takes many calls to get down to a lowered limit. But each call frees at
    /// least as much as this handle has added since its last call, if there is that much to evict and
    /// it is not millions of entries. So memory does not grow above the limit, however fast clients
    /// write.
    fn make_room(&mut self, unix_ms: u64, gone: &mut dyn FnMut(Gone<'_>)) -> bool;

    /// Does some of the background work: removes expired entries and fields, frees the memory of
    /// removed values, and evicts while memory is above the limit. `budget` bounds the work, in
    /// small steps of less than a microsecond each.
    ///
    /// Called once per turn of a worker's loop, and at least every second or so. Returns `true` if
    /// there is more to do right away: call again soon.
    fn maintain(&mut self, unix_ms: u64, budget: usize, gone: &mut dyn FnMut(Gone<'_>)) -> bool;

    /// [`Keyspace::maintain`], which calls `ended` at the end of each part of the work, so that the caller can time
    /// them. An engine without parts never calls it.
    fn maintain_in_chores(
        &mut self,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
        ended: &mut dyn FnMut(Chore),
    ) -> bool {
        let _ = ended;
        self.maintain(unix_ms, budget, gone)
    }

    /// Whether there is nothing to do for [`Keyspace::maintain`] within `nap` from now, unless there is
    /// another operation, by this handle or by one that goes on calling it: then it need not be called
    /// meanwhile. May take a microsecond. Not to be called by a thread that holds a view.
    fn may_nap(&self, unix_ms: u64, nap: Duration) -> bool {
        let _ = (unix_ms, nap);
        false
    }

    /// The settings that can change at run time, shared by all handles.
    fn settings(&self) -> &Arc<Settings>;

    /// A summary, cheap enough for every `INFO`. Not to be called by a thread that holds a view.
    fn stats(&self) -> KeyspaceStats;

    /// [`Keyspace::stats`] for threads without a handle, such as the admin thread; `None` when there
    /// is no handle any more.
    fn observer(&self) -> Observer;

    /// Resets the counts of [`KeyspaceStats`] to 0: `CONFIG RESETSTAT`.
    fn reset_stats(&mut self);

    /// Bytes in use, as [`KeyspaceStats::used_bytes`], but at the cost of a load, and exact to a
    /// few KiB.
    fn used_bytes(&self) -> u64;

    /// Counts `bytes` that the caller uses outside of the keyspace as used, in place of what this
    /// handle reserved before. A dropped handle reserves nothing, nor does a new clone.
    fn reserve(&mut self, bytes: u64);

    /// Checks every invariant of the engine, at whatever cost. For tests and fuzzers.
    ///
    /// # Panics
    ///
    /// When one does not hold, with its name.
    fn check_integrity(&self);
}

/// A locked part of a keyspace, as one command sees it, at one moment.
///
/// Database numbers must be below [`Keyspace::databases`], and keys within the view's scope; else
/// the methods panic.
///
/// An expired entry is never seen. An operation other than [`View::peek`] that finds one removes
/// it, and [`View::drain_gone`] reports it.
pub trait View {
    /// The time that the view was taken for: entries whose expiry is at or before it are gone.
    fn unix_ms(&self) -> u64;

    /// Sets that time, after commands that have taken long: what has expired meanwhile is gone.
    fn set_unix_ms(&mut self, unix_ms: u64);

    /// Bytes in use, as [`Keyspace::used_bytes`]; locks nothing more.
    fn used_bytes(&self) -> u64;

    /// The scope that a view must lock to use this key, as [`Keyspace::scope`].
    fn scope_of(&self, key: &[u8]) -> Scope;

    /// The scope that [`View::scan`] needs to continue from this cursor, as [`Keyspace::scan_scope`].
    fn scan_scope(&self, cursor: u64) -> Scope {
        let _ = cursor;
        Scope::ALL
    }

    /// Prefetches the entries under keys that are used next. An engine may do nothing.
    fn prefetch<'k>(&self, db: usize, keys: impl Iterator<Item = &'k [u8]>) {
        let _ = (db, keys);
    }

    /// Releases all locks, and locks this scope instead. Others may change anything in between.
    fn relock(&mut self, scope: Scope);

    /// Locks all of this scope, too, if that waits for nobody: whether it has.
    fn extend(&mut self, scope: Scope) -> bool;

    /// Sets whether [`View::get`] and [`View::get_mut`] count as a use of the entry (`CLIENT
    /// NO-TOUCH` turns it off); they do by default. Hits and misses count in any case.
    fn set_touch(&mut self, touch: bool);

    /// The live entry under `key`, for a command that reads it: counts as a use, and as a hit or a
    /// miss.
    fn get(&mut self, db: usize, key: &[u8]) -> Option<&Entry>;

    /// The live entry under `key`, for a command that looks at it without using it (`TYPE`, `TTL`):
    /// counts as a hit or a miss, but not as a use.
    fn glance(&mut self, db: usize, key: &[u8]) -> Option<&Entry>;

    /// The live entry under `key`, without any side effect. Any number may be borrowed at once.
    fn peek(&self, db: usize, key: &[u8]) -> Option<&Entry>;

    /// The live entry under `key`, for a command that changes it: counts as a use, but not as a hit
    /// or a miss.
    fn get_mut(&mut self, db: usize, key: &[u8]) -> Option<EntryMut<'_>>;

    /// Puts an entry under its key, with the expiry it has, and returns the live one that it
    /// replaces. That one is no longer accounted for: pass it to [`View::dispose`].
    fn put(&mut self, entry: Entry, db: usize) -> Option<Entry>;

    /// Removes and returns the live entry under `key`. It is no longer accounted for: put it
    /// elsewhere, or pass it to [`View::dispose`].
    fn take(&mut self, db: usize, key: &[u8]) -> Option<Entry>;

    /// Changes when the live entry under `key` expires; `None` for never. Returns whether there is
    /// one. With an expiry in the past the entry is gone at once.
    fn set_expiry(&mut self, db: usize, key: &[u8], expiry: Option<u64>) -> bool;

    /// Frees an entry: a small one at once, a large one step by step in [`Keyspace::maintain`]. Its
    /// memory counts as used until it is free.
    fn dispose(&mut self, entry: Entry);

    /// Entries of a database, including those that have expired and not been removed yet. Needs
    /// [`Scope::ALL`].
    fn len(&self, db: usize) -> usize;

    /// Whether a database has no entry. Needs [`Scope::ALL`].
    fn is_empty(&self, db: usize) -> bool {
        self.len(db) == 0
    }

    /// Entries of a database with an expiry of their own. Needs [`Scope::ALL`].
    fn volatile_len(&self, db: usize) -> usize;

    /// Takes a step of a walk over a database: visits some live entries, maybe none, and returns
    /// the next cursor; 0 at the beginning and at the end. Needs [`Keyspace::scan_scope`] of the
    /// cursor.
    ///
    /// An entry that is there from the first step of a walk to its last is shown exactly once, however many come and go: more
    /// than Redis's `SCAN` promises. One that comes or goes meanwhile may be shown or not. Any
    /// number is a valid cursor. A step is small: it visits about as much as fits some cache lines. Expired entries
    /// that it meets may be removed.
    fn scan(&mut self, db: usize, cursor: u64, visit: &mut dyn FnMut(&Entry)) -> u64;

    /// Some live entry of a database, about evenly chosen by `random`; `None` if there is none.
    /// Needs [`Scope::ALL`].
    fn random(&mut self, db: usize, random: u64) -> Option<&Entry>;

    /// Removes all entries of a database, at a cost independent of their number. Needs
    /// [`Scope::ALL`]. Memory comes back in [`Keyspace::maintain`].
    fn clear(&mut self, db: usize);

    /// Exchanges two databases, at a cost independent of their size. Needs [`Scope::ALL`].
    fn swap(&mut self, a: usize, b: usize);

    /// For how many milliseconds an entry of this view has not been used, as far as its
    /// [`Entry::access`] tells: to the engine's resolution, and modulo the period of its clock.
    /// `None` under a policy that counts uses instead.
    fn idle_ms(&self, entry: &Entry) -> Option<u64>;

    /// How often an entry of this view was used, as a logarithmic count that decays: 0 to 255.
    /// `None` unless the policy counts uses.
    fn frequency(&self, entry: &Entry) -> Option<u8>;

    /// Sets how much the live entry under `key` was used, if the policy goes by that: for how long it was not, or how
    /// often it was.
    fn set_use(&mut self, db: usize, key: &[u8], used: Use);

    /// Reports the entries that this handle's views found expired and removed, and forgets them.
    /// They are collected only while there are [listeners](Settings::has_listeners).
    fn drain_gone(&mut self, gone: &mut dyn FnMut(Gone<'_>));
}
