// SPDX-License-Identifier: Apache-2.0
//! Room for a write: leases, the growth of the index, and eviction.
//!
//! Eviction is CLOCK, the second-chance approximation of LRU. A hand goes round the slots. An item
//! used since the hand last came by loses its mark and stays; one without a mark is evicted. A new
//! item has no mark, so an item that is never read is evicted after one round, or sooner: its slot may be one that
//! the hand is about to reach. That is well for most, as few of those that are not read soon are read at all: with
//! a full round for all there were up to a hundredth more misses in traces. But the largest items are too few for
//! such a lottery, and the room for one moves the hand far; they get a mark where they would lose it.

use crate::hands::LEEWAY;
use crate::metrics::HASH_SPLIT;
use crate::shard::{Call, Denied, Gone, Shard};
use crate::slab::{NEVER_MS, NONE};
use clock::Ticks;
use storage::{Evicted, Expiry, StoreError};

/// How many items the hand examines before it evicts the next one, used or not.
const LOOK_MAX: u32 = 64;

/// An item is one of the largest if it takes all memory divided by this, or more.
const LARGE_PART: u64 = 64;

impl Shard {
    /// Makes sure that `bytes` more can be used, without dropping the item in slot `keep`.
    pub(crate) fn reserve(&mut self, call: Call, bytes: u64, keep: u32) -> Result<(), Denied> {
        if self.obtain(bytes) {
            return Ok(());
        }
        let short = self.account.short_of(bytes);
        // A request that is large for this shard gets what is free, and the rest from all shards in equal parts.
        // The lease of a shard with a value larger than its share says nothing: that value might be all it has to
        // give up.
        let usual = self.account.lease().min(self.common.limits.share());
        if short > usual / 4 && !call.cornered {
            let free = self.common.pool.take_up_to(short);
            self.account.receive(free);
            return Err(Denied::Short(short - free));
        }
        let lead = self.hand.lead(&self.common.hands);
        if lead > LEEWAY && !call.cornered {
            return Err(Denied::Short(short));
        }
        while !self.obtain(bytes) {
            if !self.evict(call.now, keep) {
                return Err(Denied::Short(self.account.short_of(bytes)));
            }
        }
        if lead < -LEEWAY {
            self.catch_up(call.now, keep);
        }
        Ok(())
    }

    /// Makes sure that `bytes` more can be used, if that is possible without evicting an item.
    fn obtain(&mut self, bytes: u64) -> bool {
        let short = self.account.short_of(bytes);
        if short > 0 {
            let taken = self.common.pool.take(short, self.common.limits.lease());
            self.account.receive(taken);
        }
        self.account.short_of(bytes) == 0
    }

    /// A shard whose hand is behind evicts one item more than it has to, and the memory goes to the pool.
    fn catch_up(&mut self, now: Ticks, keep: u32) {
        let used = self.account.used();
        if self.evict(now, keep) {
            let freed = self.account.part(used - self.account.used());
            self.common.pool.give(freed);
        }
    }

    /// Drops one item to make room, but not the one in slot `keep`. Returns whether there was one
    /// to drop. Examines at most [`LOOK_MAX`] items, and drops a dead one if it meets one.
    pub(crate) fn evict(&mut self, now: Ticks, keep: u32) -> bool {
        let has_dropped = self.drop_next(now, keep);
        self.hand.tell(&self.common.hands, self.number, self.slab.live());
        has_dropped
    }

    fn drop_next(&mut self, now: Ticks, keep: u32) -> bool {
        for looked in 0..=LOOK_MAX {
            let slot = self.slab.next_live(self.hand.slot);
            if slot == NONE || (slot == keep && self.slab.live() == 1) {
                return false;
            }
            self.hand.slot = slot + 1;
            self.hand.pass(self.slab.live());
            if slot == keep {
                continue;
            }
            if let Some(gone) = self.fate(slot, now) {
                self.remove(slot, gone);
                return true;
            }
            if !self.common.evicts {
                continue;
            }
            let is_last = looked >= LOOK_MAX - 1;
            let entry = self.slab.entry_mut(slot);
            if entry.is_visited() && !is_last {
                entry.forget_visit();
            } else {
                self.note_evicted(slot, now);
                self.remove(slot, Gone::Evicted);
                return true;
            }
        }
        false
    }

    /// Gives a new item of `bytes` a mark if it is one of the largest, and the hand reaches it before it has gone round.
    pub(crate) fn note_stored(&mut self, slot: u32, bytes: u64) {
        if bytes < self.common.limits.limit() / LARGE_PART {
            return;
        }
        let slots = self.slab.slots();
        let hand = self.hand.slot;
        let way = if slot < hand { slot + slots - hand } else { slot - hand };
        if way < slots - slots / 8 {
            self.slab.entry_mut(slot).visit();
        }
    }

    /// Notes an item that is about to be evicted, if anybody wants to know.
    #[inline]
    fn note_evicted(&mut self, slot: u32, now: Ticks) {
        let entry = self.slab.entry(slot);
        self.evictions.note(|| {
            let (record, state) = (&entry.record, entry.record.state());
            let at = entry.expiry_ms;
            Evicted {
                key: record.key().into(),
                value_len: record.value().len(),
                class: 1,
                was_read: state.was_read(),
                expiry: if at == NEVER_MS {
                    Expiry::NEVER
                } else {
                    Expiry::at(Ticks::from_millis(at))
                },
                used_at: Ticks::from_millis(
                    now.as_millis().saturating_sub(state.idle(now).as_millis() as u64),
                ),
            }
        });
    }

    /// Gives up to `most` bytes of this shard's lease to another. Drops items only for `wanted` of them, but what one that
    /// is larger leaves goes, too: else another shard would drop one for it.
    pub(crate) fn give_up(&mut self, wanted: u64, most: u64, now: Ticks) -> u64 {
        while self.account.slack() < wanted && self.evict(now, NONE) {}
        let spare = self.account.slack().saturating_sub(self.common.limits.lease());
        let parted = self.account.part(wanted.max(spare).min(most));
        self.common.pool.depart(parted);
        self.settle();
        parted
    }

    /// Adds the bytes that other shards have given up for this one.
    pub(crate) fn receive(&mut self, bytes: u64) {
        if bytes > 0 {
            self.common.pool.arrive(bytes);
            self.account.receive(bytes);
        }
    }

    /// Returns leased bytes that are not likely to be used soon: what a holder of the lock does last.
    pub(crate) fn settle(&mut self) {
        let slack = self.account.slack();
        let lease = self.common.limits.lease();
        if slack > 2 * lease {
            let parted = self.account.part(slack - lease);
            self.common.pool.give(parted);
        }
        self.check_exit();
    }

    /// Makes sure that the slab has a free slot.
    pub(crate) fn provide_slot(&mut self, call: Call) -> Result<(), Denied> {
        if !self.slab.is_full() {
            return Ok(());
        }
        let cost = self.slab.chunk_cost();
        let can_grow = self.slab.can_grow();
        if can_grow && self.obtain(cost) {
            self.account.spend(cost);
            self.slab.grow();
            Ok(())
        } else if self.evict(call.now, NONE) {
            Ok(())
        } else if can_grow {
            Err(Denied::Short(self.account.short_of(cost)))
        } else {
            Err(StoreError::OutOfMemory.into())
        }
    }

    /// Adds a bucket before an insert if there are three items for four buckets. Without memory for
    /// it the chains get longer; from two items for each bucket on, items are dropped for it.
    pub(crate) fn grow_heads(&mut self, call: Call) {
        let (items, buckets) = (self.slab.live(), self.heads.buckets());
        if items < buckets / 4 * 3 || !self.heads.can_split() {
            return;
        }
        if self.heads.is_full() {
            let cost = self.heads.chunk_cost();
            let is_urgent = items / 2 > buckets;
            let is_there = self.obtain(cost) || is_urgent && self.reserve(call, cost, NONE).is_ok();
            if !is_there {
                return;
            }
            self.account.spend(cost);
            self.heads.grow();
        }
        self.heads.split(&mut self.slab);
        HASH_SPLIT.increment();
    }

    /// Takes a bucket away after a removal if there are four times as many as items.
    pub(crate) fn shrink_heads(&mut self) {
        if self.slab.live() < self.heads.buckets() / 4 && self.heads.merge(&mut self.slab) {
            self.account.refund(self.heads.chunk_cost());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::HashMapStore;
    use clock::Ticks;
    use storage::{Cursor, Item, Put, Scan, Store};

    const NOW: Ticks = Ticks::ZERO;
    const LARGE: usize = 100_000;

    fn put(store: &mut HashMapStore, number: u32, len: usize) {
        store.put(Put::new(&number.to_le_bytes(), &vec![1; len]), NOW).expect("it fits");
    }

    #[test]
    fn a_large_item_stays_for_two_thirds_of_a_round_wherever_there_was_a_slot() {
        let builder = HashMapStore::builder().memory(4 << 20).item_max(LARGE as u64).shards(1);
        let mut store = builder.seed(3).build();
        let mut numbers = 0..;
        numbers.by_ref().take(8_000).for_each(|number| put(&mut store, number, 1_000));
        for round in 0..60 {
            // Leaves free slots in many places, and sometimes chunks without an item.
            let last = numbers.start;
            let gone = (last - 4_000..last).filter(|number| number / 100 % 3 == round % 3);
            for number in gone {
                store.delete(&number.to_le_bytes(), NOW);
            }
            let (large, before) = (numbers.next().expect("there are many"), store.stats());
            put(&mut store, large, LARGE);
            while store.stats().evicted < before.evicted + before.items * 2 / 3 {
                put(&mut store, numbers.next().expect("there are many"), 1_000);
            }
            // As a scan sees it, not as a reader, who would give it a mark.
            let mut is_there = false;
            let _ = store.scan(Cursor::START, usize::MAX, NOW, |item| {
                is_there |= *item.key() == large.to_le_bytes();
            });
            assert!(is_there, "round {round}");
        }
        store.check_integrity();
    }
}
