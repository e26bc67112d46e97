// SPDX-License-Identifier: Apache-2.0
//! [`Shard`]: one table of items, used by one worker at a time.
//!
//! Finding and removing items is here; `write.rs` writes them. Below them, `room.rs` makes room for
//! a write, `sweep.rs` reclaims the memory of dead items, and `heads.rs` and `slab.rs` are the
//! index.

use crate::budget::{Account, Limits, Pool};
use crate::hands::{Hand, Hands};
use crate::heads::Heads;
use crate::item::Known;
use crate::metrics::HASH_REMOVE;
use crate::record::{KEY_MAX, Record};
use crate::slab::{Entry, Era, NEVER_MS, NONE, Slab};
use crate::sweep::Sweep;
use clock::Ticks;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use storage::metrics::{
    EVICT_NEEDED, ITEM_CLEAR, ITEM_CURRENT, ITEM_CURRENT_BYTES, ITEM_DELETE, ITEM_EXPIRE,
};
use storage::{Evictions, Stage, StoreError};

/// What all shards of a store share.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) pool: Pool,
    pub(crate) limits: Limits,
    pub(crate) hands: Hands,
    /// The longest value in bytes.
    pub(crate) item_max: usize,
    /// Whether items may be dropped to make room.
    pub(crate) evicts: bool,
    /// For each shard, the moment in milliseconds from which [`Shard::expire`] has work to do.
    pub(crate) dues: Box<[AtomicU64]>,
}

impl Common {
    /// Whether an item of this size can ever be stored.
    pub(crate) fn check_size(&self, key_len: usize, value_len: usize) -> Result<(), StoreError> {
        let fits = key_len <= KEY_MAX
            && value_len <= self.item_max
            && Record::cost_of(key_len, value_len) <= self.limits.limit() / 2;
        if fits { Ok(()) } else { Err(StoreError::TooLarge) }
    }
}

/// The circumstances of one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// The tag of the operation's key.
    pub(crate) tag: u32,
    pub(crate) now: Ticks,
    /// The other shards have no memory left to give, so this one may evict all it has.
    pub(crate) cornered: bool,
}

/// Why a shard did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// To be returned to the caller. Nothing was changed.
    Refused(StoreError),
    /// This many bytes are missing; ask again with them. Nothing was changed.
    Short(u64),
}

impl From<StoreError> for Denied {
    fn from(error: StoreError) -> Self {
        Denied::Refused(error)
    }
}

/// How an item was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    Deleted,
    Evicted,
    Expired,
    Cleared,
}

impl Entry {
    /// How the item has died, if it has. Items of another era than the shard's were cleared.
    #[inline]
    fn fate(&self, now: Ticks, era: Era) -> Option<Gone> {
        if self.expiry_ms <= now.as_millis() && self.expiry_ms != NEVER_MS {
            Some(Gone::Expired)
        } else if self.era() != era {
            Some(Gone::Cleared)
        } else {
            None
        }
    }
}

/// A shard's counts since it was made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) stored: u64,
    pub(crate) evicted: u64,
    pub(crate) expired: u64,
    pub(crate) evicted_unread: u64,
    pub(crate) evicted_active: u64,
    pub(crate) expired_unread: u64,
    pub(crate) read_expired: u64,
    pub(crate) read_cleared: u64,
}

impl Counts {
    /// Counts a read that found a dead item.
    #[cold]
    fn read_dead(&mut self, gone: Gone) {
        match gone {
            Gone::Expired => self.read_expired += 1,
            Gone::Cleared => self.read_cleared += 1,
            Gone::Deleted | Gone::Evicted => {}
        }
    }

    /// Counts how an item was used that goes.
    fn note_use(&mut self, gone: Gone, was_read: bool, is_visited: bool) {
        match gone {
            Gone::Evicted if !was_read => self.evicted_unread += 1,
            Gone::Evicted if is_visited => self.evicted_active += 1,
            Gone::Expired if !was_read => self.expired_unread += 1,
            Gone::Evicted | Gone::Expired | Gone::Deleted | Gone::Cleared => {}
        }
    }
}

/// One table of items.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) common: Arc<Common>,
    /// Its number among the shards.
    pub(crate) number: usize,
    pub(crate) heads: Heads,
    pub(crate) slab: Slab,
    pub(crate) account: Account,
    /// Bytes of items, part of what the account uses.
    pub(crate) item_bytes: u64,
    /// The hand of eviction.
    pub(crate) hand: Hand,
    pub(crate) sweep: Sweep,
    /// The version of the next write.
    pub(crate) next_version: u64,
    /// Items of other eras were cleared.
    pub(crate) era: Era,
    /// Items of this era.
    pub(crate) current: u32,
    pub(crate) counts: Counts,
    pub(crate) evictions: Evictions,
}

impl Shard {
    /// Finds the key's entry, dead or alive.
    #[inline]
    pub(crate) fn find(&self, tag: u32, key: &[u8]) -> Option<u32> {
        let mut slot = *self.heads.head(self.heads.bucket(tag));
        while slot != NONE {
            let entry = self.slab.entry(slot);
            if entry.tag == tag && entry.record.key() == key {
                return Some(slot);
            }
            slot = entry.next();
        }
        None
    }

    /// Prefetches the next memory on the way to a key. A stage reads the memory that the stage
    /// before it has prefetched, so it finds that in the cache.
    #[inline]
    pub(crate) fn prefetch(&self, tag: u32, stage: Stage) {
        let head = self.heads.head(self.heads.bucket(tag));
        match stage {
            Stage::Index => prefetch::read(head),
            Stage::Item if *head != NONE => prefetch::read(self.slab.entry(*head)),
            Stage::Value => {
                let mut slot = *head;
                while slot != NONE {
                    let entry = self.slab.entry(slot);
                    if entry.tag == tag {
                        return entry.record.prefetch();
                    }
                    slot = entry.next();
                }
            }
            Stage::Item => {}
        }
    }

    /// How the item in a slot has died, if it has.
    #[inline]
    pub(crate) fn fate(&self, slot: u32, now: Ticks) -> Option<Gone> {
        self.slab.entry(slot).fate(now, self.era)
    }

    /// The slot of the live item under a key, and its [`Known`] facts before this read. Marks the item as used and read.
    #[inline]
    pub(crate) fn get(&mut self, tag: u32, key: &[u8], now: Ticks) -> Option<(u32, Known)> {
        let slot = self.find(tag, key)?;
        let entry = self.slab.entry_mut(slot);
        if let Some(gone) = entry.fate(now, self.era) {
            self.counts.read_dead(gone);
            return None;
        }
        entry.visit();
        let state = entry.record.note_read(now);
        Some((slot, Known { expiry_ms: entry.expiry_ms, state }))
    }

    /// As [`Shard::get`], without the marks.
    pub(crate) fn peek(&self, tag: u32, key: &[u8], now: Ticks) -> Option<(u32, Known)> {
        let slot = self.find(tag, key)?;
        let entry = self.slab.entry(slot);
        let is_live = entry.fate(now, self.era).is_none();
        is_live.then(|| (slot, Known::of(entry)))
    }

    pub(crate) fn delete(&mut self, tag: u32, key: &[u8], now: Ticks) -> bool {
        let Some(slot) = self.find(tag, key) else { return false };
        let fate = self.fate(slot, now);
        self.remove(slot, fate.unwrap_or(Gone::Deleted));
        fate.is_none()
    }

    /// Removes an item from the table and frees its memory.
    pub(crate) fn remove(&mut self, slot: u32, gone: Gone) {
        let entry = self.slab.entry(slot);
        self.counts.note_use(gone, entry.record.state().was_read(), entry.is_visited());
        let (bucket, next) = (self.heads.bucket(entry.tag), entry.next());
        let mut at = *self.heads.head(bucket);
        if at == slot {
            self.heads.set_head(bucket, next);
        } else {
            while self.slab.entry(at).next() != slot {
                at = self.slab.entry(at).next();
            }
            self.slab.entry_mut(at).set_next(next);
        }
        self.current -= u32::from(self.slab.entry(slot).era() == self.era);
        let (record, chunk_went) = self.slab.remove(slot);
        let cost = record.cost();
        self.account.refund(cost);
        if chunk_went {
            self.account.refund(self.slab.chunk_cost());
        }
        self.shrink_heads();
        self.item_bytes -= cost;
        if self.slab.live() == 0 {
            self.hand.tell(&self.common.hands, self.number, 0);
        }
        ITEM_CURRENT_BYTES.sub(cost as i64);
        ITEM_CURRENT.decrement();
        HASH_REMOVE.increment();
        self.count_gone(gone);
    }

    /// Checks, with debug assertions, what must hold whenever nobody has the lock of the shard.
    #[inline]
    pub(crate) fn check_exit(&self) {
        if cfg!(debug_assertions) {
            self.check_sums();
        }
    }

    pub(crate) fn count_gone(&mut self, gone: Gone) {
        match gone {
            Gone::Deleted => ITEM_DELETE.increment(),
            Gone::Evicted => {
                self.counts.evicted += 1;
                EVICT_NEEDED.increment();
            }
            Gone::Expired => {
                self.counts.expired += 1;
                ITEM_EXPIRE.increment();
            }
            Gone::Cleared => ITEM_CLEAR.increment(),
        }
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        ITEM_CURRENT.sub(i64::from(self.slab.live()));
        ITEM_CURRENT_BYTES.sub(self.item_bytes as i64);
    }
}
