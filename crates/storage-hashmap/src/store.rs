// SPDX-License-Identifier: Apache-2.0
//! [`HashMapStore`]: the handle, which finds the shard of a key and room in the others.

use crate::builder::Builder;
use crate::hash::Hasher;
use crate::item::HashMapItem;
use crate::reserve::{Reservation, STEP};
use crate::shard::{Call, Common, Denied, Shard};
use bytes::Bytes;
use clock::Ticks;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use storage::{Change, Evicted, Put, ResizeError, Stage, Stats, Store, StoreError, Version};

/// A store that has leased less than this is assumed to be in the CPU's cache anyway.
const CACHED_BYTES: u64 = 2 << 20;

/// How many shards one call of [`Store::expire`] visits.
const EXPIRE_SHARDS: usize = 8;

/// One worker's handle on a sharded hash table.
///
/// Clones share the table. Any number of threads may use it, each with a handle of its own. A get
/// and an overwrite that fits lock one shard and allocate nothing.
#[derive(Debug)]
pub struct HashMapStore {
    pub(crate) shared: Arc<Shared>,
    pub(crate) hasher: Hasher,
    /// The shard at which the next [`Store::expire`] begins.
    next_expire: usize,
    reservation: Reservation,
    /// The last turn has given memory back under a lower limit.
    is_shrinking: bool,
}

/// What all handles share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) common: Arc<Common>,
    shards: Box<[Padded]>,
}

/// A shard on two cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Padded(Mutex<Shard>);

const _: () = assert!(align_of::<Padded>() == 128, "two cache lines, or a multiple of them");

impl Shared {
    pub(crate) fn new(common: Arc<Common>, shards: Vec<Shard>) -> Self {
        let shards = shards.into_iter().map(|shard| Padded(Mutex::new(shard))).collect();
        Shared { common, shards }
    }

    #[inline]
    pub(crate) fn try_lock(&self, shard: usize) -> Option<MutexGuard<'_, Shard>> {
        self.shards[shard].0.try_lock().inspect(|guard| check_entry(guard, shard))
    }

    #[inline]
    pub(crate) fn lock(&self, shard: usize) -> MutexGuard<'_, Shard> {
        let guard = self.shards[shard].0.lock();
        check_entry(&guard, shard);
        guard
    }

    /// How many shards there are.
    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Runs a write in a shard until it has the room it needs.
    ///
    /// No two locks are held at once: when the shard cannot make room by itself, the write is
    /// abandoned, the other shards give up memory, and the write is tried again with it. A write
    /// that is tried more than twice has lost its room to another worker's write, which made
    /// progress.
    fn write<R>(
        &self,
        shard: usize,
        mut call: Call,
        mut attempt: impl FnMut(&mut Shard, Call) -> Result<R, Denied>,
    ) -> Result<R, StoreError> {
        call.cornered = self.shards.len() == 1;
        let mut grant = 0;
        loop {
            let mut guard = self.lock(shard);
            guard.receive(grant);
            let short = match attempt(&mut guard, call) {
                Err(Denied::Short(short)) if !(call.cornered && grant == 0) => short,
                outcome => {
                    guard.settle();
                    return outcome.map_err(|denied| match denied {
                        Denied::Refused(error) => error,
                        Denied::Short(_) => StoreError::OutOfMemory,
                    });
                }
            };
            guard.check_exit();
            drop(guard);
            grant = self.gather(short, shard, call.now);
            call.cornered |= grant < short;
        }
    }

    /// Collects memory from all shards but one: in steps from where the hand is furthest behind, and when nothing is
    /// left there, whatever each can give.
    fn gather(&self, short: u64, except: usize, now: Ticks) -> u64 {
        let mut gathered = 0;
        while gathered < short && self.shards.len() > 1 {
            let left = short - gathered;
            let oldest = self.common.hands.furthest_behind(Some(except));
            let given = self.lock(oldest).give_up(left.min(STEP), left, now);
            if given == 0 {
                break;
            }
            gathered += given;
        }
        for step in 1..self.shards.len() {
            let left = short - gathered;
            if left == 0 {
                break;
            }
            let shard = (except + step) % self.shards.len();
            gathered += self.lock(shard).give_up(left, left, now);
        }
        gathered
    }
}

/// Checks, with debug assertions, what the last holder of a lock has left behind.
#[inline]
fn check_entry(shard: &Shard, number: usize) {
    debug_assert_eq!(shard.number, number, "INV-TAG");
    shard.check_exit();
}

impl HashMapStore {
    /// Options for a new store.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(shared: Shared, hasher: Hasher) -> Self {
        let reservation = Reservation::default();
        HashMapStore {
            shared: Arc::new(shared),
            hasher,
            next_expire: 0,
            reservation,
            is_shrinking: false,
        }
    }

    /// Writes an item, whose value need not be copied if it is `owned`.
    pub(crate) fn put_owned(
        &mut self,
        put: &Put<'_>,
        owned: Option<&Bytes>,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        let hash = self.hasher.hash(put.key);
        let call = Call { tag: hash.tag, now, cornered: false };
        self.shared.write(hash.shard, call, |shard, call| shard.put(call, put, owned))
    }
}

impl Clone for HashMapStore {
    /// Another handle on the same items, which has reserved nothing.
    fn clone(&self) -> Self {
        let reservation = Reservation::default();
        HashMapStore { shared: Arc::clone(&self.shared), reservation, ..*self }
    }
}

impl Drop for HashMapStore {
    fn drop(&mut self) {
        self.reserve(0);
    }
}

impl Store for HashMapStore {
    type Item<'a> = HashMapItem<'a>;

    /// Does nothing while the whole store fits the CPU's cache, or another worker holds the shard.
    #[inline]
    fn prefetch(&self, key: &[u8], stage: Stage) {
        let common = &self.shared.common;
        if common.limits.limit().wrapping_sub(common.pool.free()) < CACHED_BYTES {
            return;
        }
        let hash = self.hasher.hash(key);
        let Some(shard) = self.shared.try_lock(hash.shard) else { return };
        shard.prefetch(hash.tag, stage);
    }

    #[inline]
    fn get(&mut self, key: &[u8], now: Ticks) -> Option<HashMapItem<'_>> {
        let hash = self.hasher.hash(key);
        let mut shard = self.shared.lock(hash.shard);
        let (slot, known) = shard.get(hash.tag, key, now)?;
        Some(HashMapItem::locked(shard, slot, known))
    }

    fn peek(&mut self, key: &[u8], now: Ticks) -> Option<HashMapItem<'_>> {
        let hash = self.hasher.hash(key);
        let shard = self.shared.lock(hash.shard);
        let (slot, known) = shard.peek(hash.tag, key, now)?;
        Some(HashMapItem::locked(shard, slot, known))
    }

    fn put(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        self.put_owned(&put, None, now)
    }

    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        mut decide: impl FnMut(Option<HashMapItem<'_>>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        let hash = self.hasher.hash(key);
        let call = Call { tag: hash.tag, now, cornered: false };
        self.shared.write(hash.shard, call, |shard, call| shard.update(call, key, &mut decide))
    }

    fn delete(&mut self, key: &[u8], now: Ticks) -> bool {
        let hash = self.hasher.hash(key);
        let mut shard = self.shared.lock(hash.shard);
        let was_live = shard.delete(hash.tag, key, now);
        shard.settle();
        was_live
    }

    /// Costs a load for each shard looked at, eight at most, when there is nothing to free. Leaves
    /// a shard out while another worker holds it. Drops items for up to 256 KiB of what the handle has reserved.
    fn expire(&mut self, now: Ticks, budget: usize) -> usize {
        self.is_shrinking = self.shared.pay(&mut self.reservation, now);
        self.shared.set_aside(&mut self.reservation, now);
        let dues = &self.shared.common.dues;
        let (mut looked, mut freed) = (0, 0);
        let mut number = self.next_expire;
        for _ in 0..dues.len().min(EXPIRE_SHARDS) {
            if dues[number].load(Relaxed) <= now.as_millis()
                && let Some(mut shard) = self.shared.try_lock(number)
            {
                let (more, gone) = shard.expire(now, budget - looked);
                shard.settle();
                looked += more;
                freed += gone;
                if looked >= budget {
                    break;
                }
            }
            // The number of shards is a power of two.
            number = (number + 1) & (dues.len() - 1);
        }
        self.next_expire = number;
        freed
    }

    fn may_nap(&self, now: Ticks, nap: Duration) -> bool {
        let then_ms = (now + nap).as_millis();
        let mut dues = self.shared.common.dues.iter();
        self.shared.is_settled(&self.reservation) && dues.all(|due| due.load(Relaxed) > then_ms)
    }

    /// All handles together reserve half of the memory at most; less where the largest item leaves
    /// less, but never less than a quarter.
    fn reserve(&mut self, bytes: u64) {
        self.shared.reserve(&mut self.reservation, bytes);
    }

    /// The sizes that were chosen by the first limit, of the index's chunks, stay. So a lower limit must have room
    /// for 64 KiB per shard, and for two of the largest values. Memory of items goes back to the allocator.
    fn resize(&mut self, bytes: u64) -> Result<(), ResizeError> {
        self.shared.resize(bytes)
    }

    fn note_evicted(&mut self, is_on: bool) {
        for shard in 0..self.shared.shards() {
            self.shared.lock(shard).evictions.set(is_on);
        }
    }

    fn take_evicted(&mut self, show: &mut dyn FnMut(Evicted)) -> u64 {
        (0..self.shared.shards()).map(|shard| self.shared.lock(shard).evictions.take(show)).sum()
    }

    fn is_shrinking(&self) -> bool {
        self.is_shrinking
    }

    fn clear(&mut self) {
        for shard in &self.shared.shards {
            shard.0.lock().clear();
        }
    }

    fn limit_bytes(&self) -> u64 {
        self.shared.common.limits.limit()
    }

    fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        let common = &self.shared.common;
        stats.limit_bytes = common.limits.limit();
        stats.used_bytes = common.pool.reserved();
        for shard in &self.shared.shards {
            let shard = shard.0.lock();
            let used = shard.account.used();
            stats.items += u64::from(shard.slab.live());
            stats.cleared += u64::from(shard.slab.live() - shard.current);
            stats.item_bytes += shard.item_bytes;
            stats.used_bytes += used;
            stats.index_slots += u64::from(shard.heads.buckets());
            stats.index_bytes += used - shard.item_bytes;
            stats.stored += shard.counts.stored;
            stats.evicted += shard.counts.evicted;
            stats.expired += shard.counts.expired;
            stats.evicted_unread += shard.counts.evicted_unread;
            stats.evicted_active += shard.counts.evicted_active;
            stats.expired_unread += shard.counts.expired_unread;
            stats.read_expired += shard.counts.read_expired;
            stats.read_cleared += shard.counts.read_cleared;
        }
        // Memory that moved from a shard read early to one read late is counted twice.
        stats.used_bytes = stats.used_bytes.min(stats.limit_bytes + common.pool.debt());
        stats
    }

    fn check_integrity(&self) {
        let shards: Vec<_> = self.shared.shards.iter().map(|shard| shard.0.lock()).collect();
        let leased: u64 = shards.iter().map(|shard| shard.account.lease()).sum();
        let common = &self.shared.common;
        let pool = &common.pool;
        let leased = leased + pool.free() + pool.moving() + pool.reserved();
        let limits = &common.limits;
        let there = limits.limit() + pool.debt();
        assert_eq!(leased, there, "INV-LIMIT: bytes leased, reserved or free");
        let most = limits.reserved_max() + pool.debt();
        assert!(pool.reserved() <= most, "INV-LIMIT: bytes reserved");
        for shard in &shards {
            shard.check_integrity(&self.hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::Expiry;

    #[test]
    fn there_is_nothing_to_do_until_an_item_is_due_or_the_store_is_cleared() {
        let nap = Duration::from_secs(1);
        let at = Ticks::from_millis;
        let mut store = HashMapStore::builder().memory(16 << 20).build();
        let expire = |store: &mut HashMapStore, now| {
            for _ in 0..100 {
                store.expire(now, 10);
            }
        };
        expire(&mut store, at(1));
        store.put(Put::new(b"lasting", b"value"), at(1)).expect("it fits");
        assert!(store.may_nap(at(1), nap));
        let put = Put::new(b"key", b"value").expiry(Expiry::at(at(60_000)));
        store.put(put, at(1)).expect("it fits");
        assert!(store.may_nap(at(1), nap));
        assert!(!store.may_nap(at(59_500), nap), "it will be due");
        assert!(!store.may_nap(at(60_000), nap), "it is due");
        expire(&mut store, at(60_000));
        assert_eq!(store.stats().items, 1);
        assert!(store.may_nap(at(60_000), nap));
        store.clear();
        assert!(!store.may_nap(at(60_000), nap));
        expire(&mut store, at(60_000));
        assert!(store.may_nap(at(60_000), nap));
    }
}
