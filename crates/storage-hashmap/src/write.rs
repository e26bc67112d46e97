// SPDX-License-Identifier: Apache-2.0
//! Writes in one shard: put, update, and what both come down to.
//!
//! A write checks first, makes room next and changes the item last, so a write that is refused, or
//! has to begin anew, has changed no item (but may have dropped others).

use crate::item::HashMapItem;
use crate::item_state::ItemState;
use crate::metrics::HASH_INSERT;
use crate::record::{Facts, Pieces, Record};
use crate::shard::{Call, Denied, Gone, Shard};
use crate::slab::{NEVER_MS, NONE};
use bytes::Bytes;
use clock::Ticks;
use storage::metrics::{ITEM_ALLOCATE, ITEM_CURRENT, ITEM_CURRENT_BYTES, ITEM_REPLACE};
use storage::{Amend, Change, Condition, Expiry, Marks, Put, StoreError, Version, Write};

/// What a write leaves under a key, besides the key.
#[derive(Clone, Copy, Debug)]
struct Content<'a> {
    value: &'a [u8],
    /// The value once more, if it need not be copied.
    owned: Option<&'a Bytes>,
    flags: u32,
    expiry_ms: u64,
    /// The version, if the caller gives it.
    version: Option<Version>,
    state: ItemState,
}

fn expiry_ms(expiry: Expiry) -> u64 {
    expiry.ticks().map_or(NEVER_MS, Ticks::as_millis)
}

/// A version as the caller is told it.
fn told(version: u64) -> Version {
    Version::new(version).expect("INV-VERSION: the first version is one")
}

impl Shard {
    /// [`storage::Store::put`] within this shard. The value may be `owned`: then it need not be copied.
    pub(crate) fn put(
        &mut self,
        call: Call,
        put: &Put<'_>,
        owned: Option<&Bytes>,
    ) -> Result<Version, Denied> {
        self.common.check_size(put.key.len(), put.value.len())?;
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
        let content = Content {
            value: put.value,
            owned,
            flags: put.flags,
            expiry_ms: expiry_ms(put.expiry),
            version: None,
            state: ItemState::new(Marks::NONE, false, call.now),
        };
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
        let version = match change.general() {
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
            Change::Amend(amend) => Some(self.amend(call, needed?, &amend)),
            Change::Write(write) => Some(self.write_seen(call, key, (found, live), &write)?),
            Change::Miss
            | Change::Expire(_)
            | Change::Number(_)
            | Change::Extend { .. }
            | Change::Put { .. } => unreachable!("these have a general form"),
        };
        Ok((result, version.map(told)))
    }

    /// Changes what is known of an item besides its content. Returns its version.
    fn amend(&mut self, call: Call, slot: u32, amend: &Amend) -> u64 {
        let entry = self.slab.entry_mut(slot);
        entry.visit();
        if let Some(marks) = amend.marks {
            entry.record.set_state(entry.record.state().with_marks(marks));
        }
        let version = entry.record.version();
        if amend.read {
            entry.record.note_read(call.now);
        }
        if let Some(expiry) = amend.expiry {
            self.set_expiry(slot, expiry_ms(expiry));
        }
        version
    }

    /// Writes an item over the one that an update saw, or where it saw none. Returns its version.
    fn write_seen(
        &mut self,
        call: Call,
        key: &[u8],
        (found, live): (Option<u32>, Option<u32>),
        write: &Write<'_>,
    ) -> Result<u64, Denied> {
        let before = live.map(|slot| self.slab.entry(slot));
        let flags = before.map_or(0, |entry| entry.record.flags());
        let old_ms = before.map_or(NEVER_MS, |entry| entry.expiry_ms);
        let same = before.filter(|_| write.content.is_the_same_item());
        let state = same.map_or_else(ItemState::default, |entry| entry.record.state());
        let content = Content {
            value: b"",
            owned: None,
            flags: write.flags.unwrap_or(flags),
            expiry_ms: write.expiry.map_or(old_ms, expiry_ms),
            version: write.version,
            state: ItemState::new(write.marks.unwrap_or(state.marks()), state.was_read(), call.now),
        };
        let needed = live.ok_or(StoreError::NotFound);
        match write.content {
            storage::Content::Whole(value) => {
                self.common.check_size(key.len(), value.len())?;
                self.write(call, key, found, Content { value, ..content })
            }
            storage::Content::Number(digits) => {
                needed?;
                self.common.check_size(key.len(), digits.as_bytes().len())?;
                self.write(call, key, found, Content { value: digits.as_bytes(), ..content })
            }
            storage::Content::Around { before, after } => {
                self.extend(call, needed?, before, after, content)
            }
            storage::Content::Same => {
                let slot = needed?;
                let facts = self.facts(&content, Some(slot));
                let entry = self.slab.entry_mut(slot);
                entry.record.set_facts(facts);
                entry.visit();
                self.counts.stored += 1;
                ITEM_REPLACE.increment();
                self.set_expiry(slot, content.expiry_ms);
                Ok(facts.version)
            }
        }
    }

    /// What a record of this content holds besides key and value: a new version, unless it gives one. It is not that
    /// of the item in `replaced`, which a client may have given.
    #[inline(always)]
    fn facts(&mut self, content: &Content<'_>, replaced: Option<u32>) -> Facts {
        let present = replaced.map(|slot| self.slab.entry(slot).record.version());
        let mut version = content.version.map_or_else(|| self.new_version(), Version::get);
        if content.version.is_none() && present == Some(version) {
            version = self.new_version();
        }
        Facts { flags: content.flags, version, state: content.state }
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
        debug_assert!(found.is_none_or(|slot| self.is_under(slot, call.tag, key)), "INV-KEY");
        let version = match found {
            Some(slot) => self.replace(call, slot, content)?,
            None => self.insert(call, key, content)?,
        };
        self.counts.stored += 1;
        Ok(version)
    }

    /// Whether the item in a slot is the one under a key.
    fn is_under(&self, slot: u32, tag: u32, key: &[u8]) -> bool {
        let entry = self.slab.entry(slot);
        entry.tag == tag && entry.record.key() == key
    }

    fn replace(&mut self, call: Call, slot: u32, content: Content<'_>) -> Result<u64, Denied> {
        let Content { value, owned, expiry_ms, .. } = content;
        let fate = self.fate(slot, call.now);
        let in_place = self.slab.entry(slot).record.has_room_for(value.len());
        if !in_place {
            self.resize(call, slot, value.len())?;
        }
        let facts = self.facts(&content, Some(slot));
        let record = &mut self.slab.entry_mut(slot).record;
        if in_place {
            record.overwrite(value, facts);
        } else {
            *record = Record::build(record.key(), Pieces::one(value, owned), facts);
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
        Ok(facts.version)
    }

    fn insert(&mut self, call: Call, key: &[u8], content: Content<'_>) -> Result<u64, Denied> {
        let Content { value, owned, expiry_ms, .. } = content;
        let cost = Record::cost_of(key.len(), value.len());
        self.grow_heads(call);
        self.provide_slot(call)?;
        self.reserve(call, cost, NONE)?;
        debug_assert!(self.find(call.tag, key).is_none(), "INV-KEY: a key is there already");
        if self.slab.live() == 0 {
            self.hand.begin(&self.common.hands, self.number);
        }
        self.account.spend(cost);
        let facts = self.facts(&content, None);
        let record = Record::build(key, Pieces::one(value, owned), facts);
        let bucket = self.heads.bucket(call.tag);
        let first = *self.heads.head(bucket);
        let slot = self.slab.insert(call.tag, first, self.era, expiry_ms, record);
        self.heads.set_head(bucket, slot);
        self.current += 1;
        self.note_stored(slot, cost);
        self.note_due(expiry_ms);
        self.item_bytes += cost;
        ITEM_CURRENT_BYTES.add(cost as i64);
        ITEM_CURRENT.increment();
        ITEM_ALLOCATE.increment();
        HASH_INSERT.increment();
        Ok(facts.version)
    }

    fn extend(
        &mut self,
        call: Call,
        slot: u32,
        before: &[u8],
        after: &[u8],
        content: Content<'_>,
    ) -> Result<u64, Denied> {
        let record = &self.slab.entry(slot).record;
        let value_len = before.len() + record.value().len() + after.len();
        self.common.check_size(record.key().len(), value_len)?;
        let in_place = record.has_room_for(value_len);
        if !in_place {
            self.resize(call, slot, value_len)?;
        }
        let facts = self.facts(&content, Some(slot));
        let entry = self.slab.entry_mut(slot);
        if in_place {
            entry.record.extend(before, after, facts);
        } else {
            let old = &entry.record;
            let pieces = Pieces::three([before, old.value(), after]);
            entry.record = Record::build(old.key(), pieces, facts);
        }
        entry.visit();
        self.set_expiry(slot, content.expiry_ms);
        self.counts.stored += 1;
        ITEM_REPLACE.increment();
        Ok(facts.version)
    }

    /// Accounts for a record with a value of this length in place of the present one.
    fn resize(&mut self, call: Call, slot: u32, value_len: usize) -> Result<(), Denied> {
        let record = &self.slab.entry(slot).record;
        let old = record.cost();
        let version = record.version();
        let new = Record::cost_of(record.key().len(), value_len);
        if new > old {
            self.reserve(call, new - old, slot)?;
            self.account.spend(new - old);
        } else {
            self.account.refund(old - new);
        }
        let kept = self.slab.entry(slot);
        debug_assert_eq!(
            (kept.tag, kept.record.version()),
            (call.tag, version),
            "INV-KEY: it stays"
        );
        self.item_bytes = self.item_bytes + new - old;
        ITEM_CURRENT_BYTES.add(new as i64 - old as i64);
        Ok(())
    }

    fn set_expiry(&mut self, slot: u32, expiry_ms: u64) {
        let entry = self.slab.entry_mut(slot);
        entry.expiry_ms = expiry_ms;
        // A dead item may have been there.
        self.current += u32::from(entry.era() != self.era);
        entry.set_era(self.era);
        if expiry_ms != NEVER_MS {
            let chunk = self.slab.chunk_of(slot);
            let state = self.slab.chunk_mut(chunk);
            state.due_ms = state.due_ms.min(expiry_ms);
            self.note_due(expiry_ms);
        }
    }
}
