// SPDX-License-Identifier: Apache-2.0
//! [`Subject`]: the engine under test with its clock, and [`Seen`]: what was read from it.

use super::Limits;
use crate::{Change, Expiry, Item, Marks, Put, Stage, Stats, Store, StoreError, Version};
use clock::{Clock, Ticks};
use std::fmt;
use std::time::Duration;

/// An owned copy of an item.
#[derive(Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) value: Vec<u8>,
    pub(super) flags: u32,
    pub(super) expiry: Expiry,
    pub(super) version: Version,
    pub(super) marks: Marks,
}

impl Seen {
    pub(super) fn of(item: &impl Item) -> Self {
        Seen {
            value: item.value().to_vec(),
            flags: item.flags(),
            expiry: item.expiry(),
            version: item.version(),
            marks: item.marks(),
        }
    }
}

impl fmt::Debug for Seen {
    /// The start of the value is enough: values may have a megabyte.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen")
            .field("value", &show(&self.value))
            .field("flags", &self.flags)
            .field("expiry", &self.expiry)
            .field("version", &self.version.get())
            .field("marks", &self.marks)
            .finish()
    }
}

/// The start of `bytes` and their number, for messages.
pub(super) fn show(bytes: &[u8]) -> String {
    let start = bytes[..bytes.len().min(40)].escape_ascii();
    format!("\"{start}\" ({} bytes)", bytes.len())
}

/// An engine under test with a clock of its own. Every write through it checks RULE-LIMIT.
///
/// Where several handles are used in turn on one thread, each rests after every operation, because
/// an engine may wait for a handle that was used and has not rested, and here it would wait for
/// ever. A single handle does not rest, since an engine must do without: a busy worker never rests.
pub(super) struct Subject<S> {
    pub(super) store: S,
    pub(super) limits: Limits,
    clock: Clock,
    /// Other handles are used on this thread.
    shares: bool,
}

impl<S: Store> Subject<S> {
    /// An empty engine at an uneven moment, so that no rounding goes unseen.
    pub(super) fn new(make: &impl Fn(Limits) -> S, limits: Limits) -> Self {
        let clock = Clock::manual(1_700_000_000_000);
        clock.advance(Duration::from_millis(12_345_678));
        let subject = Subject { store: make(limits), limits, clock, shares: false };
        subject.check_limit();
        subject
    }

    /// Another handle on the same store, with the same clock.
    pub(super) fn another(&mut self) -> Self
    where
        S: Clone,
    {
        self.shares = true;
        self.settle();
        let (store, clock) = (self.store.clone(), self.clock.clone());
        Subject { store, limits: self.limits, clock, shares: true }
    }

    /// Ends an operation.
    pub(super) fn settle(&mut self) {
        if self.shares {
            self.store.rest();
        }
    }

    pub(super) fn now(&self) -> Ticks {
        self.clock.now().ticks
    }

    pub(super) fn advance(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }

    /// The expiry `millis` from here.
    pub(super) fn within(&self, millis: u64) -> Expiry {
        Expiry::after(Duration::from_millis(millis), self.now())
    }

    #[track_caller]
    pub(super) fn read(&mut self, key: &[u8]) -> Option<Seen> {
        let now = self.now();
        let seen = self.store.get(key, now).map(|item| {
            assert!(item.key() == key, "RULE-READ: {} has the key {}", show(key), show(item.key()));
            Seen::of(&item)
        });
        self.settle();
        seen
    }

    /// What is read under a key that must have a live item.
    #[track_caller]
    pub(super) fn live(&mut self, key: &[u8]) -> Seen {
        let seen = self.read(key);
        assert!(seen.is_some(), "RULE-READ: {} has a live item and reads as nothing", show(key));
        seen.expect("checked above")
    }

    #[track_caller]
    pub(super) fn put(&mut self, put: Put<'_>) -> Result<Version, StoreError> {
        let now = self.now();
        let result = self.store.put(put, now);
        self.settle();
        self.check_limit();
        result
    }

    /// A put that nothing stands against; reads it back.
    #[track_caller]
    pub(super) fn write(&mut self, put: Put<'_>) -> Version {
        let result = self.put(put);
        let Put { key, value, flags, expiry, .. } = put;
        let fits = result.is_ok();
        assert!(fits, "RULE-EVICTION: {} = {} fits, but: {result:?}", show(key), show(value));
        let version = result.expect("checked above");
        let expected = (!expiry.is_past(self.now())).then(|| Seen {
            value: value.to_vec(),
            flags,
            expiry,
            version,
            marks: Marks::NONE,
        });
        let seen = self.read(key);
        let ended = seen.is_some() != expected.is_some() && expiry != Expiry::NEVER;
        let rule = if ended { "RULE-EXPIRY" } else { "RULE-READ" };
        assert_eq!(seen, expected, "{rule}: {} just after its put", show(key));
        version
    }

    /// Writes `value` with no flags and no expiry.
    #[track_caller]
    pub(super) fn set(&mut self, key: &[u8], value: &[u8]) -> Version {
        self.write(Put::new(key, value))
    }

    /// A put that must be refused with `error` and change nothing.
    #[track_caller]
    pub(super) fn refused(&mut self, put: Put<'_>, error: StoreError, rule: &str) {
        let before = self.read(put.key);
        let result = self.put(put);
        let Put { key, condition, .. } = put;
        let shown = show(key);
        assert_eq!(result, Err(error), "{rule}: {condition:?} for {shown} which is {before:?}");
        assert_eq!(self.read(key), before, "RULE-REFUSED: {shown} after {error:?}");
    }

    /// An update that makes `change` whatever it sees; returns what it saw.
    #[track_caller]
    pub(super) fn change(
        &mut self,
        key: &[u8],
        change: Change<'_>,
    ) -> Result<Option<Seen>, StoreError> {
        self.change_versioned(key, change).map(|(seen, _)| seen)
    }

    /// The same; also returns the version that the item has afterwards.
    #[track_caller]
    pub(super) fn change_versioned(
        &mut self,
        key: &[u8],
        change: Change<'_>,
    ) -> Result<(Option<Seen>, Option<Version>), StoreError> {
        let now = self.now();
        let see = |item: Option<S::Item<'_>>| (change, item.map(|item| Seen::of(&item)));
        let result = self.store.update_versioned(key, now, see);
        self.settle();
        self.check_limit();
        result
    }

    #[track_caller]
    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        let now = self.now();
        let deleted = self.store.delete(key, now);
        self.settle();
        deleted
    }

    pub(super) fn clear(&mut self) {
        self.store.clear();
        self.settle();
    }

    pub(super) fn prefetch(&self, key: &[u8]) {
        for stage in Stage::ALL {
            self.store.prefetch(key, stage);
        }
        self.store.prefetch_rest(key);
    }

    #[track_caller]
    pub(super) fn expire(&mut self, budget: usize) -> usize {
        let now = self.now();
        let freed = self.store.expire(now, budget);
        self.settle();
        assert!(freed <= budget, "RULE-RECLAIM: freed {freed} items with a budget of {budget}");
        freed
    }

    /// Calls `expire` until `items` are left; returns how many it freed.
    #[track_caller]
    pub(super) fn drain(&mut self, items: u64) -> u64 {
        let mut freed = 0;
        for _ in 0..20_000 {
            if self.stats().items <= items {
                break;
            }
            freed += self.expire(64) as u64;
        }
        let left = self.stats().items;
        assert_eq!(left, items, "RULE-RECLAIM: items left after many calls of expire");
        freed
    }

    /// Checks how many items the store counts that no clear has removed.
    #[track_caller]
    pub(super) fn check_live(&self, live: u64) {
        let stats = self.stats();
        assert_eq!(stats.items - stats.cleared, live, "RULE-STATS: {stats:?}");
    }

    pub(super) fn stats(&self) -> Stats {
        self.store.stats()
    }

    #[track_caller]
    pub(super) fn check_limit(&self) {
        let Stats { used_bytes, limit_bytes, .. } = self.stats();
        let given = self.limits.memory_bytes;
        assert!(limit_bytes <= given, "RULE-LIMIT: a limit of {limit_bytes}, given {given} bytes");
        assert!(used_bytes <= limit_bytes, "RULE-LIMIT: {used_bytes} bytes used of {limit_bytes}");
    }

    /// Checks the engine's own invariants before it goes.
    pub(super) fn finish(self) {
        self.store.check_integrity();
    }
}

/// A small deterministic generator (xorshift64).
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 16) % end as u64) as usize
    }

    /// `len` bytes that repeat after a prime number of them: no block of memory equals another.
    pub(super) fn bytes(&mut self, len: usize) -> Vec<u8> {
        const PERIOD: usize = 1_021;
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len.min(PERIOD) {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(len.min(PERIOD));
        while bytes.len() < len {
            let more = (len - bytes.len()).min(PERIOD);
            bytes.extend_from_within(..more);
        }
        bytes
    }
}
