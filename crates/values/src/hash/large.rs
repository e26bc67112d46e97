// SPDX-License-Identifier: Apache-2.0
//! [`LargeHash`]: a hash with an index.
//!
//! Expired fields are found in passes over all buckets, a few buckets at a time, with the help of
//! the earliest due time that the index stores in each bucket. Before `next_due` there is nothing
//! to find. Between two passes there is a pause of [`REST_MS`], so that fields that expire one
//! after the other do not cost a pass each.
//!
//! INV-NEXT: no field is due before `next_due`. INV-CONTENT: `content` is the sum of the fields'
//! memory.

use super::field::Field;
use super::packed::NEVER;
use crate::table::Hashes;
use crate::{Keyed, Table, hash_of};

/// The time between the end of a pass and the start of the next one.
pub(crate) const REST_MS: u64 = 100;

/// The fields of a large hash.
#[derive(Debug)]
pub(crate) struct LargeHash {
    fields: Table<Field>,
    content: usize,
    next_due: u64,
    /// Until when the next pass has time.
    rest_until: u64,
}

/// What becomes of a field's expiry when it gets another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Drop,
    Keep,
}

impl LargeHash {
    pub(crate) fn new() -> Self {
        LargeHash { fields: Table::new(), content: 0, next_due: NEVER, rest_until: 0 }
    }

    /// Prefetches the place of a field.
    pub(crate) fn prefetch(&self, name: &[u8]) {
        self.fields.prefetch(hash_of(name));
    }

    /// Prefetches fields that are found by these hashes.
    pub(crate) fn prefetch_group(&self, hashes: &Hashes) {
        self.fields.prefetch_group(hashes, Keyed::hint);
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// All memory behind it. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.fields.heap_bytes() + self.content
    }

    /// The field of this name, whether it has expired or not.
    #[inline]
    pub(crate) fn find(&self, name: &[u8]) -> Option<&Field> {
        self.fields.find(hash_of(name), name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter_ahead()
    }

    /// Visits a few fields; see [`Table::scan`].
    pub(crate) fn scan<'a>(&'a self, cursor: u64, visit: impl FnMut(&'a Field)) -> u64 {
        self.fields.scan(cursor, visit)
    }

    pub(crate) fn sample(&self, random: u64) -> Option<&Field> {
        self.fields.sample(random)
    }

    /// Whether some field may have expired.
    #[inline]
    pub(crate) fn may_have_expired(&self, now_ms: u64) -> bool {
        self.next_due <= now_ms
    }

    /// When [`LargeHash::remove_expired`] may find something, or [`NEVER`].
    pub(crate) fn next_pass(&self) -> u64 {
        if self.next_due == NEVER { NEVER } else { self.next_due.max(self.rest_until) }
    }

    /// Adds a field whose name is not there yet.
    pub(crate) fn insert(&mut self, name: &[u8], value: &[u8], due: u64) {
        self.insert_at(hash_of(name), Field::new(name, value, due));
    }

    /// Adds a field. Returns false, and changes nothing, if it is there, whether it has expired or not.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8], due: u64) -> bool {
        let hash = hash_of(name);
        if self.fields.find(hash, name).is_some() {
            return false;
        }
        self.insert_at(hash, Field::new(name, value, due));
        true
    }

    fn insert_at(&mut self, hash: u64, field: Field) {
        self.content += field.heap_bytes();
        self.next_due = self.next_due.min(field.due_ms());
        self.fields.insert(hash, field);
    }

    /// Sets the value of a field. Returns true if it was not there, or had expired.
    pub(crate) fn set(&mut self, name: &[u8], value: &[u8], expiry: Expiry, now_ms: u64) -> bool {
        let hash = hash_of(name);
        let Some(field) = self.fields.find_mut(hash, name) else {
            self.insert_at(hash, Field::new(name, value, NEVER));
            return true;
        };
        let (due, before) = (field.due_ms(), field.heap_bytes());
        let expired = due <= now_ms;
        field.set_value(value);
        let drop_due = due != NEVER && (expired || expiry == Expiry::Drop);
        if drop_due {
            field.set_due(NEVER);
        }
        self.content = self.content - before + field.heap_bytes();
        if drop_due {
            self.fields.refresh_due(hash, name);
        }
        expired
    }

    /// Sets the expiry of a field, which may be [`NEVER`]. Returns false if it is not there or has
    /// expired.
    pub(crate) fn set_due(&mut self, name: &[u8], due: u64, now_ms: u64) -> bool {
        let hash = hash_of(name);
        let field = self.fields.find_mut(hash, name).filter(|field| field.due_ms() > now_ms);
        let Some(field) = field else { return false };
        let before = field.heap_bytes();
        field.set_due(due);
        self.content = self.content - before + field.heap_bytes();
        self.next_due = self.next_due.min(due);
        self.fields.refresh_due(hash, name);
        true
    }

    /// Removes a field. Returns true if it was there and had not expired.
    pub(crate) fn remove(&mut self, name: &[u8], now_ms: u64) -> bool {
        let Some(field) = self.fields.remove(hash_of(name), name) else { return false };
        self.content -= field.heap_bytes();
        field.due_ms() > now_ms
    }

    /// Continues the pass through `budget` buckets and removes expired fields. Returns how many.
    pub(crate) fn remove_expired(
        &mut self,
        now_ms: u64,
        budget: usize,
        mut gone: impl FnMut(&[u8]),
    ) -> usize {
        if now_ms < self.next_pass() {
            return 0;
        }
        let (mut removed, mut freed) = (0, 0);
        let ended = self.fields.sweep(now_ms, budget, |field| {
            removed += 1;
            freed += field.heap_bytes();
            gone(field.key());
        });
        self.content -= freed;
        if ended {
            self.next_due = self.fields.earliest_due().unwrap_or(NEVER);
            self.rest_until = now_ms.saturating_add(REST_MS);
        }
        removed
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> LargeHash {
        let fields = self.fields.copy_with(|field| {
            let (name, value) = field.pair();
            Field::new(name, value, field.due_ms())
        });
        LargeHash { fields, ..*self }
    }

    /// Frees fields and then the rest of the index, in up to `budget` steps. Returns true once
    /// nothing is left.
    pub(crate) fn free_some(&mut self, budget: usize) -> bool {
        let content = &mut self.content;
        self.fields.pop_some(budget, |field| *content -= field.heap_bytes()) < budget
    }

    /// # Panics
    ///
    /// When an invariant of the hash or its index does not hold.
    pub(crate) fn check(&self) {
        let content: usize = self.iter().map(Field::heap_bytes).sum();
        assert_eq!(self.content, content, "INV-CONTENT");
        assert_eq!(self.iter().count(), self.len(), "INV-CONTENT: the number of fields");
        for field in self.iter() {
            assert!(self.next_due <= field.due_ms(), "INV-NEXT: a field expires earlier");
        }
        self.fields.check_integrity();
    }
}
