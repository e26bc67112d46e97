// SPDX-License-Identifier: Apache-2.0
//! The storage commands and delete.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::metrics::{self, SetMetrics};
use crate::op::{Mode, Set};
use clock::Now;
use storage::{Change, Condition, Item, Put, Store, StoreError, Version};

/// The version of the stored item.
type Stored = Result<Version, StoreError>;

impl<S: Store> MemcacheService<S> {
    /// Executes a storage command.
    #[inline]
    pub(super) fn set(&mut self, set: &Set<'_>, now: Now) -> Outcome {
        let metrics = metrics::of_set(set.mode);
        let result = match set.mode {
            Mode::Set => self.put(set, Condition::Always, now),
            Mode::Add => self.put(set, Condition::IfAbsent, now),
            Mode::Replace => self.put(set, Condition::IfPresent, now),
            Mode::Cas => self.compare_and_put(set, now),
            Mode::Append => self.extend(set.key, b"", set.value, now),
            Mode::Prepend => self.extend(set.key, set.value, b"", now),
        };
        match result {
            Ok(version) => {
                metrics.stored.increment();
                Outcome::Stored(version)
            }
            Err(error) => self.not_stored(set.key, set.mode, error, metrics, now),
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
            // No item has version 0.
            None if self.store.get(set.key, now.ticks).is_some() => Err(StoreError::Exists),
            None => Err(StoreError::NotFound),
        }
    }

    /// Adds bytes before and after a value. memcached answers `NOT_STORED` when there is no value,
    /// and when the result would be too large.
    fn extend(&mut self, key: &[u8], before: &[u8], after: &[u8], now: Now) -> Stored {
        let more = before.len() + after.len();
        let value_max = self.shared.options.value_max;
        let extended = self.store.update_versioned(key, now.ticks, |item| match item {
            Some(item) if item.value().len().saturating_add(more) <= value_max => {
                (Change::Extend { before, after }, true)
            }
            Some(_) | None => (Change::Keep, false),
        });
        match extended {
            Ok((true, Some(version))) => Ok(version),
            Ok((_, _)) | Err(StoreError::TooLarge) => Err(StoreError::NotFound),
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
    fn not_stored(
        &mut self,
        key: &[u8],
        mode: Mode,
        error: StoreError,
        metrics: &SetMetrics,
        now: Now,
    ) -> Outcome {
        match (error, mode) {
            (StoreError::Exists, Mode::Cas) => {
                metrics.not_stored.increment();
                Outcome::Exists
            }
            (StoreError::NotFound, Mode::Cas) => {
                metrics.not_found.increment();
                Outcome::NotFound
            }
            (
                StoreError::Exists | StoreError::NotFound,
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
