// SPDX-License-Identifier: Apache-2.0
//! Memory that a handle's owner uses outside of the store, set aside from the store's own.
//!
//! A [`Reservation`] takes bytes out of the pool for good, as a shard's lease does, so the limit holds
//! at every moment. When the pool has none left, shards give up theirs, one shard at a time, where the items are oldest, in steps
//! of bounded size. A call of `expire` takes as many as are owed, up to [`STEPS_MAX`]: so room for a large value that is
//! arriving is made as fast as it arrives. The sum of all handles' reservations stays below
//! [`Limits::reserved_max`]: the largest item and a working index always fit beside it.
//!
//! A lower memory limit is paid for in a similar way: free memory at once, then a step for each call of `expire`.
//!
//! [`Limits::reserved_max`]: crate::budget::Limits::reserved_max

use crate::budget::Limits;
use crate::shard::Common;
use crate::store::Shared;
use clock::Ticks;
use storage::ResizeError;

/// The most bytes that one step takes from items.
pub(crate) const STEP: u64 = 64 << 10;

/// Steps of one call of `expire` towards a reservation, at most: as much as arrives in a turn of a worker's loop. With
/// items of 100 bytes they drop about 2,500, which takes 0.25 to 0.5 us for each where none is in the CPU's cache.
const STEPS_MAX: u64 = 5;

/// Shards that are asked in one step towards a lower limit, until one has something to give.
const PAYERS: usize = 8;

/// The bytes that a handle has reserved, and how many of them are set aside.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    wanted: u64,
    held: u64,
    /// The last shard that was asked had nothing to give.
    is_refused: bool,
    /// The shard that is asked next in that case.
    next: usize,
}

impl Shared {
    /// Replaces a reservation. Gives back at once what is too much; the rest is for
    /// [`Shared::set_aside`].
    pub(crate) fn reserve(&self, reservation: &mut Reservation, bytes: u64) {
        reservation.wanted = bytes;
        let excess = reservation.held.saturating_sub(bytes);
        if excess > 0 {
            // The pool changes only under the lock of some shard, whichever it is.
            let _shard = self.lock(reservation.next);
            self.common.pool.unreserve(excess);
            self.common.pool.give(excess);
            reservation.held -= excess;
        }
    }

    /// Takes a turn's steps towards the reservation: takes free memory as far as needed, then some of a few
    /// shards'. Costs two loads when there is nothing to do.
    #[inline]
    pub(crate) fn set_aside(&self, reservation: &mut Reservation, now: Ticks) {
        let Common { ref pool, ref limits, .. } = *self.common;
        if reservation.held < reservation.wanted && pool.reserved() < limits.reserved_max() {
            self.set_more_aside(reservation, now);
        }
    }

    #[cold]
    fn set_more_aside(&self, reservation: &mut Reservation, now: Ticks) {
        let owed = reservation.wanted - reservation.held;
        for _ in 0..(owed / STEP).clamp(1, STEPS_MAX) {
            if !self.set_some_aside(reservation, now) {
                return;
            }
        }
    }

    /// Takes a step towards the reservation. Returns whether another may be taken at once.
    fn set_some_aside(&self, reservation: &mut Reservation, now: Ticks) -> bool {
        let Common { ref pool, ref limits, .. } = *self.common;
        // Whoever holds it will be done soon.
        let Some(mut shard) = self.try_lock(self.giver(reservation)) else { return false };
        let granted = pool.reserve(reservation.wanted - reservation.held, limits.reserved_max());
        if granted == 0 {
            return false;
        }
        let mut taken = pool.take(1, granted);
        if taken < granted {
            let short = granted - taken;
            let parted = shard.give_up(short.min(STEP), short, now);
            pool.arrive(parted);
            self.note_given(reservation, parted);
            taken += parted;
        }
        pool.unreserve(granted - taken);
        reservation.held += taken;
        true
    }

    /// The shard that gives up memory next: where the hand is furthest behind, or any other if there was nothing.
    fn giver(&self, reservation: &Reservation) -> usize {
        if reservation.is_refused {
            reservation.next
        } else {
            self.common.hands.furthest_behind(None)
        }
    }

    fn note_given(&self, reservation: &mut Reservation, bytes: u64) {
        reservation.is_refused = bytes == 0;
        if reservation.is_refused {
            // The number of shards is a power of two.
            reservation.next = (reservation.next + 1) & (self.shards() - 1);
        }
    }

    /// Sets the memory limit.
    pub(crate) fn resize(&self, limit: u64) -> Result<(), ResizeError> {
        let Common { ref pool, ref limits, .. } = *self.common;
        if limit < limits.least() {
            return Err(ResizeError::TooSmall { least: limits.least() });
        }
        if limit > Limits::MOST {
            return Err(ResizeError::TooLarge { most: Limits::MOST });
        }
        // The pool changes only under the lock of some shard, and the limit only under that of this one.
        let _shard = self.lock(0);
        pool.resize(limits, limit);
        Ok(())
    }

    /// Whether nothing more can be set aside, and nothing is owed to a lower limit.
    pub(crate) fn is_settled(&self, reservation: &Reservation) -> bool {
        let Common { ref pool, ref limits, .. } = *self.common;
        let may_hold_more =
            reservation.held < reservation.wanted && pool.reserved() < limits.reserved_max();
        !may_hold_more && pool.debt() == 0
    }

    /// Takes a step of a turn towards a lower limit. Returns whether it gave anything back. Costs a load when
    /// there is nothing to do.
    #[inline]
    pub(crate) fn pay(&self, reservation: &mut Reservation, now: Ticks) -> bool {
        self.common.pool.debt() > 0 && (0..PAYERS).any(|_| self.pay_some(reservation, now))
    }

    #[cold]
    fn pay_some(&self, reservation: &mut Reservation, now: Ticks) -> bool {
        let Common { ref pool, ref limits, .. } = *self.common;
        // Whoever holds it will be done soon.
        let Some(mut shard) = self.try_lock(self.giver(reservation)) else { return true };
        // Less may be reserved under a lower limit. Each handle gives up what is too much, so items are not to pay
        // for that.
        let excess = pool.reserved().saturating_sub(limits.reserved_max());
        let own = excess.min(reservation.held);
        pool.unreserve(own);
        pool.give(own);
        reservation.held -= own;
        let owed = pool.debt().saturating_sub(excess - own);
        let mut paid = pool.take_up_to(owed);
        if paid < owed {
            let short = owed - paid;
            let parted = shard.give_up(short.min(STEP), short, now);
            pool.arrive(parted);
            self.note_given(reservation, parted);
            paid += parted;
        }
        pool.pay(paid);
        paid > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashMapStore;
    use crate::budget::reserved_max;
    use storage::{Announced, Collected, Condition, Draft, Put, Receive, Store};

    const MEMORY: u64 = 4 << 20;

    fn store(evict: bool) -> HashMapStore {
        let builder = HashMapStore::builder().memory(MEMORY).item_max(1 << 10).shards(4);
        builder.evict(evict).seed(3).build()
    }

    /// Writes until the memory is used up, and returns how much of it items use.
    fn fill(store: &mut HashMapStore) -> u64 {
        for number in 0..8_000_u32 {
            // One that does not evict refuses in the end.
            let _ = store.put(Put::new(&number.to_le_bytes(), &[1; 1_000]), Ticks::ZERO);
        }
        store.check_integrity();
        store.stats().item_bytes
    }

    fn turns(store: &mut HashMapStore, turns: usize) -> u64 {
        for _ in 0..turns {
            store.expire(Ticks::ZERO, 10);
        }
        store.check_integrity();
        store.stats().used_bytes
    }

    #[test]
    fn free_memory_is_set_aside_at_once_and_items_part_with_theirs_in_steps() {
        let mut store = store(true);
        let empty = store.stats().used_bytes;
        store.reserve(1 << 20);
        assert_eq!(turns(&mut store, 1), empty + (1 << 20));
        store.reserve(0);
        let full = fill(&mut store);
        store.reserve(1 << 20);
        let before = store.stats().item_bytes;
        turns(&mut store, 1);
        let parted = before - store.stats().item_bytes;
        assert!((1..=STEPS_MAX * (STEP + 2_000)).contains(&parted), "{parted} bytes in a turn");
        turns(&mut store, 100);
        let kept = store.stats().item_bytes;
        assert!(kept < full - (1 << 20) + 300_000, "{kept} of {full}");
        assert!(fill(&mut store) < full - 700_000, "it stays set aside");
        store.reserve(0);
        assert!(fill(&mut store) > full - 50_000, "until it is given back");
    }

    #[test]
    fn a_turn_takes_the_more_steps_the_more_is_owed() {
        let parted = [STEP, 3 * STEP, 100 * STEP].map(|wanted| {
            let mut store = store(true);
            fill(&mut store);
            // Rounding leaves some memory free.
            store.reserve(100_000);
            turns(&mut store, 10);
            let before = store.stats().item_bytes;
            store.reserve(wanted + 100_000);
            turns(&mut store, 1);
            (before - store.stats().item_bytes + STEP / 2) / STEP
        });
        assert_eq!(parted, [1, 3, STEPS_MAX]);
    }

    /// What a service does while a large value arrives.
    fn arrive(store: &mut HashMapStore, key: &[u8], value: &[u8]) -> Collected {
        let mut draft =
            store.begin(Announced::new(key, value.len()), Ticks::ZERO).expect("it fits");
        for piece in value.chunks(288 << 10) {
            store.append(&mut draft, piece, Ticks::ZERO).expect("it fits");
            store.reserve(draft.outside_bytes() as u64);
            store.expire(Ticks::ZERO, 64);
        }
        store.reserve(0);
        draft
    }

    #[test]
    fn room_for_a_value_is_there_when_it_has_arrived() {
        let builder = HashMapStore::builder().memory(64 << 20).item_max(16 << 20).shards(16);
        let mut store = builder.seed(3).build();
        for number in 0..500_000_u32 {
            store.put(Put::new(&number.to_le_bytes(), &[1; 100]), Ticks::ZERO).expect("it fits");
        }
        let draft = arrive(&mut store, b"key", &vec![7; 16 << 20]);
        let before = store.stats().evicted;
        store.commit(draft, Condition::Always, Ticks::ZERO).expect("it fits");
        let evicted = store.stats().evicted - before;
        // For the rest of its record, in place of a hundred thousand.
        assert!(evicted < 1_000, "{evicted} items were evicted by the commit");
        store.check_integrity();
    }

    /// One is dropped for each that comes, and not one of each shard.
    #[test]
    fn of_large_values_as_many_stay_as_fit() {
        for (len, arrives) in [(1 << 20, true), (4 << 20, true), (4 << 20, false), (8 << 20, true)]
        {
            let builder = HashMapStore::builder().memory(64 << 20).item_max(16 << 20).shards(16);
            let mut store = builder.seed(3).build();
            let value = vec![7; len];
            for number in 0..(200 << 20) / len as u32 {
                let key = number.to_le_bytes();
                if !arrives {
                    store.put(Put::new(&key, &value), Ticks::ZERO).expect("it fits");
                    continue;
                }
                let draft = arrive(&mut store, &key, &value);
                store.commit(draft, Condition::Always, Ticks::ZERO).expect("it fits");
            }
            store.check_integrity();
            // All but what arrives, and one more that may have gone for it.
            let least = (64 << 20) / len as u64 - 3;
            let kept = store.stats().items;
            assert!(
                kept >= least,
                "{kept} of {len} bytes, at least {least}; they arrive: {arrives}"
            );
        }
    }

    #[test]
    fn a_large_value_is_not_stored_in_the_place_of_a_larger_one_of_its_shard() {
        let builder = HashMapStore::builder().memory(64 << 20).item_max(8 << 20).shards(64);
        let mut store = builder.seed(3).build();
        for number in 0..10_000_u32 {
            store.put(Put::new(&number.to_le_bytes(), &[1; 10_000]), Ticks::ZERO).expect("it fits");
        }
        let shard = store.hasher.hash(b"0").shard;
        let mut keys = (1_u32..).map(|number| number.to_string().into_bytes());
        let other = keys.find(|key| store.hasher.hash(key).shard == shard).expect("there are many");
        store.put(Put::new(b"0", &vec![1; 8_000_000]), Ticks::ZERO).expect("it fits");
        store.put(Put::new(&other, &vec![1; 2_000_000]), Ticks::ZERO).expect("it fits");
        assert!(store.get(b"0", Ticks::ZERO).is_some());
        store.check_integrity();
    }

    /// There are few others in its shard, and it would be dropped soon if each shard gave up as much.
    #[test]
    fn a_large_value_stays_as_long_as_others_where_there_are_few_of_them() {
        for seed in 0..10 {
            let builder = HashMapStore::builder().memory(64 << 20).item_max(8 << 20).shards(16);
            let mut store = builder.seed(seed).build();
            let large = vec![7; 8_000_000];
            let shard = store.hasher.hash(b"0").shard;
            for number in 0..7_000_u32 {
                let key = number.to_le_bytes();
                store.put(Put::new(&key, &[1; 10_000]), Ticks::ZERO).expect("it fits");
            }
            for key in (0..6_000_u32).map(u32::to_le_bytes) {
                if store.hasher.hash(&key).shard == shard {
                    store.delete(&key, Ticks::ZERO);
                }
            }
            store.put(Put::new(b"0", &large), Ticks::ZERO).expect("it fits");
            let before = store.stats();
            let mut arrived = 0;
            while store.stats().evicted < before.evicted + before.items / 2 {
                arrived += 1;
                let key = format!("large {arrived}");
                let draft = arrive(&mut store, key.as_bytes(), &large);
                store.commit(draft, Condition::Always, Ticks::ZERO).expect("it fits");
            }
            assert!(store.peek(b"0", Ticks::ZERO).is_some(), "seed {seed}: {arrived} arrived");
            store.check_integrity();
        }
    }

    #[test]
    fn half_of_the_memory_is_never_reserved_however_many_want_it() {
        let mut store = store(true);
        let full = fill(&mut store);
        let mut others: Vec<HashMapStore> = (0..3).map(|_| store.clone()).collect();
        for other in &mut others {
            other.reserve(u64::MAX);
            turns(other, 100);
        }
        assert_eq!(store.shared.common.pool.reserved(), MEMORY / 2);
        let kept = fill(&mut store);
        assert!(kept > full / 5 * 2, "{kept} of {full}");
        drop(others);
        assert_eq!(store.shared.common.pool.reserved(), 0, "a handle takes nothing with it");
        assert!(fill(&mut store) > full - 50_000);
    }

    #[test]
    fn a_store_that_does_not_evict_sets_aside_what_is_free_and_no_item_goes() {
        let mut store = store(false);
        store.put(Put::new(b"key", b"value"), Ticks::ZERO).expect("it fits");
        store.reserve(1 << 20);
        turns(&mut store, 1);
        let items = {
            fill(&mut store);
            store.stats().items
        };
        store.reserve(2 << 20);
        turns(&mut store, 100);
        assert_eq!(store.stats().items, items);
        assert!(store.get(b"key", Ticks::ZERO).is_some());
    }

    #[test]
    fn the_largest_item_fits_beside_the_largest_reservation() {
        for (limit, largest) in [(1 << 20, 1 << 10), (1 << 20, 1 << 19), (64 << 20, 20 << 20)] {
            let most = reserved_max(limit, largest);
            assert!(most <= limit / 2 && most + largest + limit / 4 <= limit, "{limit} {largest}");
            assert!(most > 0);
        }
    }
}
