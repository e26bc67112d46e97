// SPDX-License-Identifier: Apache-2.0
//! The storage commands and delete.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::item_size::item_bytes;
use crate::metrics::{self, SetMetrics};
use crate::op::{Mode, Set};
use clock::Now;
use storage::{Change, Condition, Item, Put, Receive, StoreError, Version};

/// The version of the stored item.
type Stored = Result<Version, StoreError>;

impl<S: Receive> MemcacheService<S> {
    /// Executes a storage command.
    #[inline(always)]
    pub(super) fn set(&mut self, set: &Set<'_>, now: Now) -> Outcome {
        let result = match set.mode {
            Mode::Set => self.put(set, Condition::Always, now),
            Mode::Add => self.put(set, Condition::IfAbsent, now),
            Mode::Replace => self.put(set, Condition::IfPresent, now),
            Mode::Cas => self.compare_and_put(set, now),
            Mode::Append => self.extend(set, b"", set.value, now),
            Mode::Prepend => self.extend(set, set.value, b"", now),
        };
        self.outcome_of_set(set.key, set.mode, result, now)
    }

    /// Counts a write, and says what has come of it.
    #[inline(always)]
    pub(super) fn outcome_of_set(
        &mut self,
        key: &[u8],
        mode: Mode,
        result: Stored,
        now: Now,
    ) -> Outcome {
        let metrics = metrics::of_set(mode);
        match result {
            Ok(version) => {
                metrics.stored.increment();
                Outcome::Stored(version)
            }
            Err(error) => self.not_stored(key, mode, error, metrics, now),
        }
    }

    #[inline]
    fn put(&mut self, set: &Set<'_>, condition: Condition, now: Now) -> Stored {
        let put = Put::new(set.key, set.value)
            .flags(set.flags)
            .expiry(set.exptime.expiry(now))
            .condition(condition);
        self.store.put(put, now.ticks)
    }

    fn compare_and_put(&mut self, set: &Set<'_>, now: Now) -> Stored {
        match Version::new(set.cas) {
            Some(version) => self.put(set, Condition::IfVersion(version), now),
            // No item has version 0, and nobody reads the item.
            None if self.store.peek(set.key, now.ticks).is_some() => Err(StoreError::Exists),
            None => Err(StoreError::NotFound),
        }
    }

    /// Adds bytes before and after a value. memcached answers `NOT_STORED` when there is no value,
    /// and when the result would be too large.
    fn extend(&mut self, set: &Set<'_>, before: &[u8], after: &[u8], now: Now) -> Stored {
        let more = before.len() + after.len();
        let item_max = self.shared.options.item_max;
        let extended = self.store.update_versioned(set.key, now.ticks, |item| match item {
            Some(item) if !has_version(&item, set.cas) => (Change::Keep, Err(StoreError::Exists)),
            Some(item) if extended_bytes(set.key, &item, more) <= item_max => {
                (Change::Extend { before, after }, Ok(()))
            }
            Some(_) | None => (Change::Keep, Err(StoreError::NotFound)),
        });
        match extended {
            Ok((Ok(()), Some(version))) => Ok(version),
            Ok((Err(error), _)) => Err(error),
            Ok((Ok(()), None)) | Err(StoreError::TooLarge) => Err(StoreError::NotFound),
            Err(error @ (StoreError::Exists | StoreError::NotFound | StoreError::OutOfMemory)) => {
                Err(error)
            }
        }
    }

    /// A storage command whose body was too large to be read.
    #[inline(never)]
    pub(super) fn oversized(&mut self, key: &[u8], mode: Mode, now: Now) -> Outcome {
        self.not_stored(key, mode, StoreError::TooLarge, metrics::of_set(mode), now)
    }

    /// Counts a failed write. A failed `set` also removes the old value, because its client
    /// believes it replaced.
    #[cold]
    pub(super) fn not_stored(
        &mut self,
        key: &[u8],
        mode: Mode,
        error: StoreError,
        metrics: &SetMetrics,
        now: Now,
    ) -> Outcome {
        match (error, mode) {
            (StoreError::Exists, Mode::Cas | Mode::Append | Mode::Prepend) => {
                metrics.not_stored.increment();
                Outcome::Exists
            }
            (StoreError::NotFound, Mode::Cas) => {
                metrics.not_found.increment();
                Outcome::NotFound
            }
            (StoreError::Exists, Mode::Set | Mode::Add | Mode::Replace)
            | (
                StoreError::NotFound,
                Mode::Set | Mode::Add | Mode::Replace | Mode::Append | Mode::Prepend,
            ) => {
                metrics.not_stored.increment();
                Outcome::NotStored
            }
            (StoreError::TooLarge | StoreError::OutOfMemory, mode) => {
                metrics.failed.increment();
                if mode == Mode::Set {
                    self.store.delete(key, now.ticks);
                }
                refused(error)
            }
        }
    }

    /// Removes a key whose item has this CAS number.
    #[inline(never)]
    pub(super) fn compare_and_delete(&mut self, key: &[u8], cas: u64, now: Now) -> Outcome {
        let removed = self.store.update(key, now.ticks, |item| match item {
            Some(item) if has_version(&item, cas) => (Change::Delete, Outcome::Deleted),
            Some(_) => (Change::Keep, Outcome::Exists),
            None => (Change::Keep, Outcome::NotFound),
        });
        let outcome = removed.unwrap_or_else(refused);
        match outcome {
            Outcome::Deleted => metrics::DELETE_DELETED.increment(),
            Outcome::NotFound => metrics::DELETE_NOT_FOUND.increment(),
            _ => {}
        }
        outcome
    }

    /// Removes a key.
    pub(super) fn delete(&mut self, key: &[u8], now: Now) -> Outcome {
        if self.store.delete(key, now.ticks) {
            metrics::DELETE_DELETED.increment();
            Outcome::Deleted
        } else {
            metrics::DELETE_NOT_FOUND.increment();
            Outcome::NotFound
        }
    }
}

/// Bytes of an item when its value has so many more.
pub(super) fn extended_bytes(key: &[u8], item: &impl Item, more: usize) -> usize {
    item_bytes(key.len(), item.flags(), item.value().len().saturating_add(more))
}

/// Whether an item has this CAS number; 0 is any.
pub(super) fn has_version(item: &impl Item, cas: u64) -> bool {
    cas == 0 || item.version().get() == cas
}

/// The outcome of a change that the store refused. Only [`StoreError::NotFound`] is a miss.
#[cold]
pub(super) fn refused(error: StoreError) -> Outcome {
    match error {
        StoreError::Exists => Outcome::Exists,
        StoreError::NotFound => Outcome::NotFound,
        StoreError::TooLarge => {
            metrics::STORE_TOO_LARGE.increment();
            Outcome::TooLarge
        }
        StoreError::OutOfMemory => {
            metrics::STORE_NO_MEMORY.increment();
            Outcome::OutOfMemory
        }
    }
}
