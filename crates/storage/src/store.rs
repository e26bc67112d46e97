// SPDX-License-Identifier: Apache-2.0
//! [`Store`] and [`Item`]: the traits, and the small types in their signatures.

use crate::{Change, ClassStats, Evicted, Idle, Marks, Put, Stage, Stats};
use bytes::Bytes;
use clock::Ticks;
use std::cmp::Ordering;
use std::fmt::Display;
use std::num::NonZeroU64;
use std::time::Duration;

/// An item's version, unique among all versions its key ever had: the CAS token of memcache.
///
/// Never zero, because a memcache client may send zero to mean "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version(NonZeroU64);

impl Version {
    /// The version with this number, unless it is zero.
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) => Some(Version(number)),
            None => None,
        }
    }

    /// The number to show to a client.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// When an item stops being readable.
///
/// Exact: an item is served at every moment before its expiry (while memory lasts) and at no moment
/// from its expiry on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry(Ticks);

impl Expiry {
    /// The item stays until it is deleted or evicted.
    pub const NEVER: Expiry = Expiry(Ticks::MAX);

    /// The item is gone from `at` on.
    pub const fn at(at: Ticks) -> Self {
        Expiry(at)
    }

    /// The item is gone `ttl` after `now`.
    pub fn after(ttl: Duration, now: Ticks) -> Self {
        Expiry(now + ttl)
    }

    /// The moment of expiry; `None` for [`Expiry::NEVER`].
    pub fn ticks(self) -> Option<Ticks> {
        (self != Self::NEVER).then_some(self.0)
    }

    /// Whether the item is gone at `now`.
    #[inline]
    pub fn is_past(self, now: Ticks) -> bool {
        self.0 <= now && self != Self::NEVER
    }
}

/// Why a write was refused. Nothing was changed, unless the variant says otherwise.
///
/// Exhaustive on purpose: a service has to decide the reply for each variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The condition requires that there is no item, or another version, but the key has an item.
    #[error("the key exists, or has another version")]
    Exists,
    /// The condition requires an item, and there is none.
    #[error("the key does not exist")]
    NotFound,
    /// The item can never fit this store. Tell the client; a retry cannot help.
    #[error("the item is larger than the store accepts")]
    TooLarge,
    /// There is no room, and no item may be evicted. A retry may help later.
    #[error("out of memory storing the item")]
    OutOfMemory,
}

/// Why a store does not take a memory limit. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResizeError {
    /// The store cannot work with so little.
    #[error("the store needs at least {least} bytes")]
    TooSmall {
        /// The lowest limit in bytes.
        least: u64,
    },
    /// The store was not made for so much.
    #[error("the store takes at most {most} bytes")]
    TooLarge {
        /// The highest limit in bytes.
        most: u64,
    },
}

/// A live item, borrowed from the store's memory: reading it copies nothing.
pub trait Item {
    /// The key it is stored under.
    fn key(&self) -> &[u8];
    /// The value, byte for byte as it was written.
    fn value(&self) -> &[u8];
    /// The client's opaque flags.
    fn flags(&self) -> u32;
    /// Changes with every write of the value.
    fn version(&self) -> Version;
    /// Whether its version is newer than the one with this number, which is one that the key had before. Versions that an
    /// engine makes need not grow, so it may know better than a comparison of the numbers. Among versions that
    /// clients give, the greater one is the newer.
    fn is_newer_than(&self, version: u64) -> bool {
        version < self.version().get()
    }
    /// When it stops being readable.
    fn expiry(&self) -> Expiry;
    /// The marks that clients have set on it.
    fn marks(&self) -> Marks {
        Marks::NONE
    }
    /// Whether it was read since its value was written, the call that lent it not counted.
    fn was_read(&self) -> bool {
        false
    }
    /// How long ago it was last read or written, the call that lent it not counted.
    fn idle(&self, now: Ticks) -> Idle {
        let _ = now;
        Idle::Estimated(Duration::ZERO)
    }
    /// The number of the [class](crate::ClassStats) that it is counted in.
    fn class(&self) -> u32 {
        1
    }
    /// The bytes that it takes in the store.
    fn footprint(&self) -> usize {
        self.key().len() + self.value().len()
    }
    /// The value by reference count, for a reply that outlives this borrow without a copy.
    ///
    /// `None` when the engine would have to copy it (small values); the caller then copies
    /// [`Item::value`] into its reply. The bytes keep their content after the item is gone. The engine counts
    /// what is pinned as its own memory and bounds it: where that is much, this is `None` for large values, too.
    fn pin(&self) -> Option<Bytes> {
        None
    }
}

/// One worker's handle on a storage engine.
///
/// All operations are atomic with respect to those of other handles, and the work of none grows
/// with the number of items. `now` is the time of the caller's loop turn; the clocks of handles may
/// differ a little.
///
/// # When memory is used again
///
/// An engine need not lock the memory that its handles read (quiescent-state-based reclamation). It
/// may instead take memory out of use, and reuse it only after every handle has passed a quiescent
/// state: a moment at which it holds nothing that it has read. These moments are [`Store::expire`],
/// which a busy worker calls once per turn of its loop anyway, and [`Store::rest`], before its
/// worker sleeps. So one of the two must be called soon on each handle that was used: a handle on
/// which neither is called can keep memory from all others. Of two handles used in turn on one
/// thread, each must rest before the other is used, since the other may wait for it. The compiler
/// proves that nothing is held: an item borrows its handle, and both calls need the handle
/// exclusively.
pub trait Store {
    /// The borrowed item that [`Store::get`] returns.
    type Item<'a>: Item
    where
        Self: 'a;

    /// Prefetches the memory that an operation on `key` will need, in steps: first all keys of a
    /// batch at [`Stage::Index`], then all at [`Stage::Item`], then all at [`Stage::Value`], then
    /// the operations themselves. An engine with fewer dependent memory accesses does nothing in
    /// the last stage.
    fn prefetch(&self, key: &[u8], stage: Stage) {
        let _ = (key, stage);
    }

    /// Whether [`Store::prefetch`] or [`Store::prefetch_rest`] has anything to do at the stage after this one, at present.
    #[inline]
    fn goes_on_after(&self, stage: Stage) -> bool {
        let _ = stage;
        true
    }

    /// Prefetches what a long value has behind the memory of [`Store::prefetch`], for a key whose value is about to be
    /// read. To be called at [`Stage::Value`], after that one.
    fn prefetch_rest(&self, key: &[u8]) {
        let _ = key;
    }

    /// The item under `key`, unless there is none or it has expired.
    fn get(&mut self, key: &[u8], now: Ticks) -> Option<Self::Item<'_>>;

    /// As [`Store::get`], but does not count as a read. An engine to which reads do not count does the same as for
    /// [`Store::get`].
    fn peek(&mut self, key: &[u8], now: Ticks) -> Option<Self::Item<'_>> {
        self.get(key, now)
    }

    /// Writes an item, if its [`Condition`](crate::Condition) holds.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the item under the key is then unchanged.
    fn put(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError>;

    /// Reads the item under `key` and changes it in one atomic step.
    ///
    /// # Errors
    ///
    /// As [`Store::update_versioned`].
    #[inline]
    fn update<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        decide: impl FnMut(Option<Self::Item<'_>>) -> (Change<'v>, R),
    ) -> Result<R, StoreError> {
        self.update_versioned(key, now, decide).map(|(result, _)| result)
    }

    /// As [`Store::update`], and tells the version that the item has afterwards: a new one if the
    /// change has written the value, else the one that `decide` has seen; `None` if there was no item
    /// and the change made none, or the change was [`Change::Delete`].
    ///
    /// `decide` sees the live item, if there is one, and returns the change to make; its second
    /// result is passed on. An engine may call it again when another worker changed the item in
    /// between, so it must have no effect besides its result.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the change does not fit; the item is then unchanged.
    /// [`StoreError::NotFound`] when the change needs an item and there is none.
    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        decide: impl FnMut(Option<Self::Item<'_>>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError>;

    /// Removes the item under `key`. Returns whether there was a live one.
    fn delete(&mut self, key: &[u8], now: Ticks) -> bool;

    /// Reclaims memory of expired and dead items, examining at most `budget` of them. Returns how
    /// many it freed.
    ///
    /// Called once per loop turn, which makes it the quiescent state of a busy worker: before it
    /// reuses memory, an engine may wait for every handle that was used since its last `expire` or
    /// [`Store::rest`].
    fn expire(&mut self, now: Ticks, budget: usize) -> usize;

    /// Whether there is nothing to do for [`Store::expire`] within `nap` from now, unless there is another
    /// operation: then it need not be called meanwhile. May take a microsecond.
    fn may_nap(&self, now: Ticks, nap: Duration) -> bool {
        let _ = (now, nap);
        false
    }

    /// Tells the engine that the caller is done for now: until its next operation no other handle
    /// waits for this one.
    ///
    /// Called by a worker before it sleeps. While it sleeps it calls no [`Store::expire`], and an
    /// engine that waits for every handle used since its last `expire` or `rest` would wait for the
    /// sleeper. Changes nothing that can be read; may be called at any time and any number of times.
    /// An engine that waits for nobody does nothing.
    fn rest(&mut self) {}

    /// Counts `bytes` that the caller uses outside of the store against the store's limit, in place
    /// of this handle's previous reservation. So one number bounds a server's memory, including the
    /// buffers of connections.
    ///
    /// The call cannot fail, since the bytes are in use already. The engine makes room in the steps
    /// of [`Store::expire`], as far as it can: it keeps enough for itself that no write is refused
    /// that would otherwise fit. A dropped handle reserves nothing, nor does a new clone. An engine
    /// whose limit covers only its own memory ignores reservations.
    fn reserve(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether the engine notes the items that this handle evicts, to be shown by [`Store::take_evicted`]. An engine
    /// that cannot tell notes none.
    fn note_evicted(&mut self, is_on: bool) {
        let _ = is_on;
    }

    /// Shows the items that were evicted and noted since the last call, and returns how many more there were for
    /// which there was no room. A handle may show what another has evicted, but none is shown twice.
    fn take_evicted(&mut self, show: &mut dyn FnMut(Evicted)) -> u64 {
        let _ = show;
        0
    }

    /// Sets the memory limit of the whole store, in bytes.
    ///
    /// A higher limit takes effect at once: more items fit. With a lower one the engine gives memory back to the
    /// system in the steps of [`Store::expire`] and of writes, until it is within the limit: free memory first,
    /// then that of dead items, then that of live ones, which it evicts by its policy. An engine that evicts
    /// nothing refuses writes meanwhile. What fits the new limit stays as it would have with that limit from the
    /// start; the sizes that were chosen by the first limit stay, too.
    ///
    /// # Errors
    ///
    /// [`ResizeError`] for a limit that the engine does not take. An engine whose limit is fixed takes no other.
    fn resize(&mut self, bytes: u64) -> Result<(), ResizeError> {
        let limit = self.limit_bytes();
        match bytes.cmp(&limit) {
            Ordering::Less => Err(ResizeError::TooSmall { least: limit }),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(ResizeError::TooLarge { most: limit }),
        }
    }

    /// Whether the last [`Store::expire`] of this handle has done some of the work that a lower limit needs. Then
    /// there may be more, and its worker calls it again soon in place of sleeping.
    fn is_shrinking(&self) -> bool {
        false
    }

    /// Makes every item unreadable, at a cost independent of their number; memory comes back
    /// through [`Store::expire`].
    fn clear(&mut self);

    /// The memory limit of the whole store, in bytes: that of its [`Stats`], at the cost of reading one
    /// number in the engines that override this.
    fn limit_bytes(&self) -> u64 {
        self.stats().limit_bytes
    }

    /// A summary of the whole store.
    fn stats(&self) -> Stats;

    /// Shows statistics that only this engine has, for operators: how its memory is divided, what its
    /// evictions yield. Calls `show` with name and value, line by line.
    ///
    /// The lines are the engine's own and may change with it: they are for people and graphs, not
    /// for programs to depend on. A name is made of letters, digits, `_` and `:`, and occurs once
    /// per call. Values are numbers or words. The cost is that of a statistics command: independent
    /// of the number of items.
    fn details(&self, now: Ticks, show: &mut dyn FnMut(&str, &dyn Display)) {
        let _ = (now, show);
    }

    /// Shows the classes in use, those of which there are items or memory, in the order of their numbers. An
    /// engine without classes has one, or none while it is empty. The cost is that of a statistics command.
    fn classes(&self, now: Ticks, show: &mut dyn FnMut(&ClassStats)) {
        let _ = now;
        let all = self.stats();
        if all.items > 0 {
            show(&ClassStats::from(&all));
        }
    }

    /// Checks every invariant of the engine, at whatever cost. For tests and fuzzers.
    ///
    /// # Panics
    ///
    /// When one does not hold, with its name.
    fn check_integrity(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_past_from_its_moment_on() {
        let expiry = Expiry::after(Duration::from_secs(1), Ticks::from_millis(500));
        assert!(!expiry.is_past(Ticks::from_millis(1_499)));
        assert!(expiry.is_past(Ticks::from_millis(1_500)));
        assert!(!Expiry::NEVER.is_past(Ticks::MAX));
        assert_eq!(Expiry::NEVER.ticks(), None);
        assert_eq!(expiry.ticks(), Some(Ticks::from_millis(1_500)));
    }

    #[test]
    fn zero_is_no_version() {
        assert_eq!(Version::new(0), None);
        assert_eq!(Version::new(9).map(Version::get), Some(9));
    }
}
