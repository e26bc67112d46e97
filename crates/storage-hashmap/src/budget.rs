// SPDX-License-Identifier: Apache-2.0
//! The memory limit: a [`Pool`] that shards lease from, and each shard's [`Account`].
//!
//! INV-LIMIT: the bytes in the pool, in the leases of all shards, in transit between two shards and reserved
//! by handles add up to the limit and the debt; a shard uses no more than its lease. The debt is what is still to
//! be given back after the limit was lowered; else there is none. So the limit holds at every other moment,
//! and a shard touches the shared counters once per lease instead of once per item.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The memory limit, and what follows from it.
#[derive(Debug)]
pub(crate) struct Limits {
    limit: AtomicU64,
    lease: AtomicU64,
    reserved_max: AtomicU64,
    shards: u64,
    /// Memory of the largest item.
    largest: u64,
    /// The lowest limit that can be set.
    least: u64,
}

/// The smallest memory limit, and the smallest share of it for a shard, in bytes.
pub(crate) const SHARE_MIN: u64 = 64 * 1024;

impl Limits {
    /// The highest limit that can be set: more than any machine has.
    pub(crate) const MOST: u64 = 1 << 50;

    pub(crate) fn new(limit: u64, shards: u64, largest: u64) -> Self {
        let least = (shards * SHARE_MIN + 2 * largest).min(limit);
        let [bytes, lease, reserved_max] = [0; 3].map(AtomicU64::new);
        let limits = Limits { limit: bytes, lease, reserved_max, shards, largest, least };
        limits.set(limit);
        limits
    }

    /// Sets the limit. Returns the one before.
    fn set(&self, limit: u64) -> u64 {
        self.lease.store((limit / self.shards / 32).clamp(1024, 64 * 1024), Relaxed);
        self.reserved_max.store(reserved_max(limit, self.largest), Relaxed);
        self.limit.swap(limit, Relaxed)
    }

    /// The memory limit in bytes.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Acquire)
    }

    /// The lowest limit that can be set.
    pub(crate) fn least(&self) -> u64 {
        self.least
    }

    /// The limit divided by the number of shards.
    pub(crate) fn share(&self) -> u64 {
        self.limit() / self.shards
    }

    /// How much a shard leases at a time, if there is that much.
    #[inline]
    pub(crate) fn lease(&self) -> u64 {
        self.lease.load(Relaxed)
    }

    /// The most bytes that handles can reserve together.
    #[inline]
    pub(crate) fn reserved_max(&self) -> u64 {
        self.reserved_max.load(Relaxed)
    }
}

/// The most that can be reserved of `limit` bytes beside an item of `largest`: half, or what is left
/// with a quarter for the index and the other shards.
pub(crate) fn reserved_max(limit: u64, largest: u64) -> u64 {
    (limit - limit / 4).saturating_sub(largest).min(limit / 2)
}

/// Bytes that no shard has leased: free ones, those in transit between shards, and those that
/// handles have reserved for use outside of the store.
///
/// It changes only under the lock of some shard, so it does not change while one thread holds all
/// of them.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Pool {
    free: AtomicU64,
    moving: AtomicU64,
    reserved: AtomicU64,
    debt: AtomicU64,
}

const _: () = assert!(size_of::<Pool>() == 128, "cache lines of its own");

impl Pool {
    pub(crate) fn new(bytes: u64) -> Self {
        let [moving, reserved, debt] = [0; 3].map(AtomicU64::new);
        Pool { free: AtomicU64::new(bytes), moving, reserved, debt }
    }

    /// Sets another limit. For the holder of the first shard's lock.
    pub(crate) fn resize(&self, limits: &Limits, limit: u64) {
        let before = limits.limit();
        if let Some(less) = before.checked_sub(limit) {
            self.debt.fetch_add(less, Release);
            limits.set(limit);
            self.pay(self.take_up_to(less));
        } else {
            limits.set(limit);
            self.pay(limit - before);
        }
    }

    /// Takes as many bytes as there are, and `wanted` at most.
    pub(crate) fn take_up_to(&self, wanted: u64) -> u64 {
        self.take(wanted.min(1), wanted)
    }

    /// Bytes that are still to be given back under a lower limit.
    #[inline]
    pub(crate) fn debt(&self) -> u64 {
        self.debt.load(Acquire)
    }

    /// Uses bytes to pay the debt. What is more than that is free.
    pub(crate) fn pay(&self, bytes: u64) {
        let pay = |debt: u64| Some(debt.saturating_sub(bytes));
        let before = self.debt.fetch_update(Release, Relaxed, pay);
        self.give(bytes - before.map_or(0, |debt| debt.min(bytes)));
    }

    /// Takes `wanted` bytes, or as many as there are if that is at least `needed`, or none.
    pub(crate) fn take(&self, needed: u64, wanted: u64) -> u64 {
        let grant = |free: u64| if free < needed { 0 } else { free.min(wanted.max(needed)) };
        let mut free = self.free.load(Relaxed);
        loop {
            let taken = grant(free);
            if taken == 0 {
                return 0;
            }
            match self.free.compare_exchange_weak(free, free - taken, Relaxed, Relaxed) {
                Ok(_) => return taken,
                Err(seen) => free = seen,
            }
        }
    }

    pub(crate) fn give(&self, bytes: u64) {
        self.free.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn free(&self) -> u64 {
        self.free.load(Relaxed)
    }

    /// Notes that bytes have left one shard for another.
    pub(crate) fn depart(&self, bytes: u64) {
        self.moving.fetch_add(bytes, Relaxed);
    }

    /// Notes that bytes have come from another shard.
    pub(crate) fn arrive(&self, bytes: u64) {
        let before = self.moving.fetch_sub(bytes, Relaxed);
        debug_assert!(bytes <= before, "INV-LIMIT: {bytes} of {before} in transit");
    }

    pub(crate) fn moving(&self) -> u64 {
        self.moving.load(Relaxed)
    }

    /// Records `wanted` bytes as reserved, or as many as keep the sum within `most`. Returns how
    /// many.
    pub(crate) fn reserve(&self, wanted: u64, most: u64) -> u64 {
        let grant = |reserved: u64| wanted.min(most.saturating_sub(reserved));
        let add = |reserved| Some(reserved + grant(reserved));
        let before = self.reserved.fetch_update(Relaxed, Relaxed, add);
        before.map_or(0, grant)
    }

    /// Notes that bytes are no longer reserved.
    pub(crate) fn unreserve(&self, bytes: u64) {
        let before = self.reserved.fetch_sub(bytes, Relaxed);
        debug_assert!(bytes <= before, "INV-LIMIT: {bytes} of {before} reserved");
    }

    pub(crate) fn reserved(&self) -> u64 {
        self.reserved.load(Relaxed)
    }
}

/// The bytes that one shard has leased, and how many of them it uses.
#[derive(Debug, Default)]
pub(crate) struct Account {
    lease: u64,
    used: u64,
}

impl Account {
    pub(crate) fn lease(&self) -> u64 {
        self.lease
    }

    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Leased and not used.
    pub(crate) fn slack(&self) -> u64 {
        self.lease - self.used
    }

    /// Bytes to lease before `bytes` more can be used.
    pub(crate) fn short_of(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.slack())
    }

    /// Adds bytes that came from the pool or from another shard.
    pub(crate) fn receive(&mut self, bytes: u64) {
        self.lease += bytes;
    }

    /// Gives up to `wanted` bytes of the slack away.
    pub(crate) fn part(&mut self, wanted: u64) -> u64 {
        let parted = wanted.min(self.slack());
        self.lease -= parted;
        parted
    }

    /// Uses bytes that are there.
    pub(crate) fn spend(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.slack(), "INV-LIMIT");
        self.used += bytes;
    }

    /// Ends the use of bytes.
    pub(crate) fn refund(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.used, "INV-LIMIT");
        self.used -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_gives_all_that_is_wanted_or_enough_or_nothing() {
        let pool = Pool::new(100);
        assert_eq!(pool.take(10, 60), 60);
        assert_eq!(pool.take(10, 60), 40);
        assert_eq!(pool.take(10, 60), 0);
        pool.give(5);
        assert_eq!(pool.take(10, 60), 0);
        assert_eq!((pool.take(5, 1), pool.free()), (5, 0));
    }

    #[test]
    fn an_account_knows_what_it_lacks() {
        let mut account = Account::default();
        account.receive(100);
        account.spend(70);
        assert_eq!((account.slack(), account.short_of(30), account.short_of(50)), (30, 0, 20));
        assert_eq!((account.part(50), account.slack(), account.lease()), (30, 0, 70));
        account.refund(70);
        assert_eq!(account.slack(), 70);
    }
}
