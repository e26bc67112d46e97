// SPDX-License-Identifier: Apache-2.0
//! The storage commands and delete.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::metrics::{self, WriteMetrics};
use crate::request::{Verb, Write};
use clock::Now;
use storage::{Change, Condition, Item, Put, Store, StoreError, Version};

impl<S: Store> MemcacheService<S> {
    /// Carries out a storage command.
    #[inline]
    pub(super) fn write(&mut self, write: &Write<'_>, now: Now) -> Outcome {
        let metrics = metrics::of_write(write.verb);
        metrics.all.increment();
        let result = match write.verb {
            Verb::Set => self.put(write, Condition::Always, now),
            Verb::Add => self.put(write, Condition::IfAbsent, now),
            Verb::Replace => self.put(write, Condition::IfPresent, now),
            Verb::Cas => self.compare_and_put(write, now),
            Verb::Append => self.extend(write.key, b"", write.value, now),
            Verb::Prepend => self.extend(write.key, write.value, b"", now),
        };
        match result {
            Ok(()) => {
                metrics.stored.increment();
                Outcome::Stored
            }
            Err(error) => self.not_stored(write.key, write.verb, error, metrics, now),
        }
    }

    #[inline]
    fn put(&mut self, write: &Write<'_>, condition: Condition, now: Now) -> Result<(), StoreError> {
        let put = Put::new(write.key, write.value)
            .flags(write.flags)
            .expiry(write.exptime.expiry(now))
            .condition(condition);
        self.store.put(put, now.ticks).map(drop)
    }

    fn compare_and_put(&mut self, write: &Write<'_>, now: Now) -> Result<(), StoreError> {
        match Version::new(write.cas) {
            Some(version) => self.put(write, Condition::IfVersion(version), now),
            // No item has version 0.
            None if self.store.get(write.key, now.ticks).is_some() => Err(StoreError::Exists),
            None => Err(StoreError::NotFound),
        }
    }

    /// Puts bytes around a value. memcached answers `NOT_STORED` when there is none, and when it
    /// would get too large.
    fn extend(
        &mut self,
        key: &[u8],
        before: &[u8],
        after: &[u8],
        now: Now,
    ) -> Result<(), StoreError> {
        let more = before.len() + after.len();
        let value_max = self.shared.options.value_max;
        let extended = self.store.update(key, now.ticks, |item| match item {
            Some(item) if item.value().len().saturating_add(more) <= value_max => {
                (Change::Extend { before, after }, true)
            }
            _ => (Change::Keep, false),
        });
        match extended {
            Ok(true) => Ok(()),
            Ok(false) | Err(StoreError::TooLarge) => Err(StoreError::NotFound),
            Err(error) => Err(error),
        }
    }

    /// Answers a write whose body was too large to be read.
    pub(super) fn oversized(&mut self, key: &[u8], verb: Verb, now: Now) -> Outcome {
        let metrics = metrics::of_write(verb);
        metrics.all.increment();
        self.not_stored(key, verb, StoreError::TooLarge, metrics, now)
    }

    /// Counts a write that stored nothing, and sees to it that a failed `set` leaves no old value
    /// behind: its client believes it replaced.
    #[cold]
    fn not_stored(
        &mut self,
        key: &[u8],
        verb: Verb,
        error: StoreError,
        metrics: &WriteMetrics,
        now: Now,
    ) -> Outcome {
        match (error, verb) {
            (StoreError::Exists, Verb::Cas) => {
                metrics.not_stored.increment();
                Outcome::Exists
            }
            (StoreError::NotFound, Verb::Cas) => {
                metrics.not_found.increment();
                Outcome::NotFound
            }
            (
                StoreError::Exists | StoreError::NotFound,
                Verb::Set | Verb::Add | Verb::Replace | Verb::Append | Verb::Prepend,
            ) => {
                metrics.not_stored.increment();
                Outcome::NotStored
            }
            (StoreError::TooLarge | StoreError::OutOfMemory, verb) => {
                metrics.failed.increment();
                if verb == Verb::Set {
                    self.store.delete(key, now.ticks);
                }
                refused(error)
            }
        }
    }

    /// Removes a key.
    pub(super) fn delete(&mut self, key: &[u8], now: Now) -> Outcome {
        metrics::DELETE.increment();
        if self.store.delete(key, now.ticks) {
            metrics::DELETE_DELETED.increment();
            Outcome::Deleted
        } else {
            metrics::DELETE_NOT_FOUND.increment();
            Outcome::NotFound
        }
    }
}

/// The outcome of a change that the store refused. None but [`StoreError::NotFound`] is a miss.
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
