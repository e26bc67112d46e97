// SPDX-License-Identifier: Apache-2.0
//! Writes in one shard: put, update, and what both come down to.
//!
//! A write checks first, makes room next and changes the item last, so a write that is refused, or
//! has to begin anew, has changed no item (but may have dropped others).

use crate::item::HashMapItem;
use crate::metrics::HASH_INSERT;
use crate::record::{KEY_MAX, Pieces, Record};
use crate::shard::{Call, Denied, Gone, Shard};
use crate::slab::{NEVER_MS, NONE};
use clock::Ticks;
use storage::metrics::{ITEM_ALLOCATE, ITEM_CURRENT, ITEM_CURRENT_BYTES, ITEM_REPLACE};
use storage::{Change, Condition, Expiry, Put, StoreError, Version};

/// What a write leaves under a key, besides the key.
#[derive(Clone, Copy, Debug)]
struct Content<'a> {
    value: &'a [u8],
    flags: u32,
    expiry_ms: u64,
}

fn expiry_ms(expiry: Expiry) -> u64 {
    expiry.ticks().map_or(NEVER_MS, Ticks::as_millis)
}

/// A version as the caller is told it.
fn told(version: u64) -> Version {
    Version::new(version).expect("INV-VERSION: the first version is one")
}

impl Shard {
    pub(crate) fn put(&mut self, call: Call, put: &Put<'_>) -> Result<Version, Denied> {
        self.check_size(put.key.len(), put.value.len())?;
        let found = self.find(call.tag, put.key);
        let live = found.filter(|&slot| self.fate(slot, call.now).is_none());
        match (put.condition, live) {
            (Condition::Always, _)
            | (Condition::IfAbsent, None)
            | (Condition::IfPresent, Some(_)) => {}
            (Condition::IfAbsent, Some(_)) => return Err(StoreError::Exists.into()),
            (Condition::IfPresent | Condition::IfVersion(_), None) => {
                return Err(StoreError::NotFound.into());
            }
            (Condition::IfVersion(version), Some(slot)) => {
                if self.slab.entry(slot).record.version() != version.get() {
                    return Err(StoreError::Exists.into());
                }
            }
        }
        let content =
            Content { value: put.value, flags: put.flags, expiry_ms: expiry_ms(put.expiry) };
        self.write(call, put.key, found, content).map(told)
    }

    /// [`storage::Store::update_versioned`] within this shard.
    pub(crate) fn update<'v, R>(
        &mut self,
        call: Call,
        key: &[u8],
        decide: &mut impl FnMut(Option<HashMapItem<'_>>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), Denied> {
        let found = self.find(call.tag, key);
        let live = found.filter(|&slot| self.fate(slot, call.now).is_none());
        let (change, result) =
            decide(live.map(|slot| HashMapItem::borrowed(self.slab.entry(slot))));
        let needed = live.ok_or(Denied::Refused(StoreError::NotFound));
        let version = match change {
            Change::Keep => live.map(|slot| {
                let entry = self.slab.entry_mut(slot);
                entry.visit();
                entry.record.version()
            }),
            Change::Delete => {
                if let Some(slot) = live {
                    self.remove(slot, Gone::Deleted);
                }
                None
            }
            Change::Expire(expiry) => {
                let slot = needed?;
                let entry = self.slab.entry_mut(slot);
                entry.visit();
                let version = entry.record.version();
                self.set_expiry(slot, expiry_ms(expiry));
                Some(version)
            }
            Change::Number(digits) => {
                let entry = self.slab.entry(needed?);
                let (flags, expiry_ms) = (entry.record.flags(), entry.expiry_ms);
                self.check_size(key.len(), digits.as_bytes().len())?;
                let content = Content { value: digits.as_bytes(), flags, expiry_ms };
                Some(self.write(call, key, found, content)?)
            }
            Change::Extend { before, after } => Some(self.extend(call, needed?, before, after)?),
            Change::Put { value, flags, expiry } => {
                self.check_size(key.len(), value.len())?;
                let content = Content { value, flags, expiry_ms: expiry_ms(expiry) };
                Some(self.write(call, key, found, content)?)
            }
        };
        Ok((result, version.map(told)))
    }

    /// Whether an item of this size can ever be stored.
    fn check_size(&self, key_len: usize, value_len: usize) -> Result<(), StoreError> {
        let fits = key_len <= KEY_MAX
            && value_len <= self.common.item_max
            && Record::cost_of(key_len, value_len) <= self.common.limit / 2;
        if fits { Ok(()) } else { Err(StoreError::TooLarge) }
    }

    fn new_version(&mut self) -> u64 {
        self.next_version += 1;
        self.next_version - 1
    }

    /// Writes an item over the one found under its key, dead or alive, or as a new one.
    fn write(
        &mut self,
        call: Call,
        key: &[u8],
        found: Option<u32>,
        content: Content<'_>,
    ) -> Result<u64, Denied> {
        let version = match found {
            Some(slot) => self.replace(call, slot, content)?,
            None => self.insert(call, key, content)?,
        };
        self.counts.stored += 1;
        Ok(version)
    }

    fn replace(&mut self, call: Call, slot: u32, content: Content<'_>) -> Result<u64, Denied> {
        let Content { value, flags, expiry_ms } = content;
        let fate = self.fate(slot, call.now);
        let in_place = self.slab.entry(slot).record.has_room_for(value.len());
        if !in_place {
            self.resize(call, slot, value.len())?;
        }
        let version = self.new_version();
        let record = &mut self.slab.entry_mut(slot).record;
        if in_place {
            record.overwrite(value, flags, version);
        } else {
            *record = Record::build(record.key(), Pieces::one(value), flags, version);
        }
        match fate {
            None => ITEM_REPLACE.increment(),
            Some(gone) => {
                self.count_gone(gone);
                ITEM_ALLOCATE.increment();
            }
        }
        self.slab.entry_mut(slot).visit();
        self.set_expiry(slot, expiry_ms);
        Ok(version)
    }

    fn insert(&mut self, call: Call, key: &[u8], content: Content<'_>) -> Result<u64, Denied> {
        let Content { value, flags, expiry_ms } = content;
        let cost = Record::cost_of(key.len(), value.len());
        self.grow_heads(call);
        self.provide_slot(call)?;
        self.reserve(call, cost, NONE)?;
        self.account.spend(cost);
        let version = self.new_version();
        let record = Record::build(key, Pieces::one(value), flags, version);
        let bucket = self.heads.bucket(call.tag);
        let first = *self.heads.head(bucket);
        let slot = self.slab.insert(call.tag, first, expiry_ms, record);
        self.heads.set_head(bucket, slot);
        self.note_due(expiry_ms);
        self.item_bytes += cost;
        ITEM_CURRENT_BYTES.add(cost as i64);
        ITEM_CURRENT.increment();
        ITEM_ALLOCATE.increment();
        HASH_INSERT.increment();
        Ok(version)
    }

    fn extend(
        &mut self,
        call: Call,
        slot: u32,
        before: &[u8],
        after: &[u8],
    ) -> Result<u64, Denied> {
        let record = &self.slab.entry(slot).record;
        let value_len = before.len() + record.value().len() + after.len();
        self.check_size(record.key().len(), value_len)?;
        let in_place = record.has_room_for(value_len);
        if !in_place {
            self.resize(call, slot, value_len)?;
        }
        let version = self.new_version();
        let entry = self.slab.entry_mut(slot);
        if in_place {
            entry.record.extend(before, after, version);
        } else {
            let old = &entry.record;
            let pieces = Pieces([before, old.value(), after]);
            entry.record = Record::build(old.key(), pieces, old.flags(), version);
        }
        entry.visit();
        self.counts.stored += 1;
        ITEM_REPLACE.increment();
        Ok(version)
    }

    /// Accounts for a record with a value of this length in place of the present one.
    fn resize(&mut self, call: Call, slot: u32, value_len: usize) -> Result<(), Denied> {
        let record = &self.slab.entry(slot).record;
        let old = record.cost();
        let new = Record::cost_of(record.key().len(), value_len);
        if new > old {
            self.reserve(call, new - old, slot)?;
            self.account.spend(new - old);
        } else {
            self.account.refund(old - new);
        }
        self.item_bytes = self.item_bytes + new - old;
        ITEM_CURRENT_BYTES.add(new as i64 - old as i64);
        Ok(())
    }

    fn set_expiry(&mut self, slot: u32, expiry_ms: u64) {
        self.slab.entry_mut(slot).expiry_ms = expiry_ms;
        if expiry_ms != NEVER_MS {
            let chunk = self.slab.chunk_of(slot);
            let state = self.slab.chunk_mut(chunk);
            state.due_ms = state.due_ms.min(expiry_ms);
            self.note_due(expiry_ms);
        }
    }
}
