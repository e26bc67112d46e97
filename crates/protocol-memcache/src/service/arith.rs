// SPDX-License-Identifier: Apache-2.0
//! incr and decr.
//!
//! As in memcached, the result is never shorter than the old value: it is padded with trailing
//! spaces. Trailing white space, and anything after it, is ignored when a value is read as a
//! number.

use super::MemcacheService;
use super::outcome::Outcome;
use super::set::{has_version, refused};
use crate::metrics;
use crate::op::{Arith, Direction};
use crate::parse::number;
use clock::Now;
use storage::{Change, Condition, Digits, Expiry, Item, Put, Receive, StoreError, Version};

/// A longer value is not parsed and counts as not a number. (memcached has this limit where a value
/// no longer fits one chunk, which is about this size.)
const NUMBER_MAX: usize = 512 * 1024;

/// The result of the addition.
enum Sum {
    Absent,
    /// There was no item, and one was made.
    Created,
    NotANumber,
    /// The item has another CAS number.
    Exists,
    Stored(u64),
    /// With padding it is longer than a [`Digits`] and must be written as a whole item.
    Long(Long),
}

struct Long {
    number: u64,
    len: usize,
    flags: u32,
    expiry: Expiry,
    version: Version,
}

impl<S: Receive> MemcacheService<S> {
    /// Adds to a number, or subtracts from it.
    #[inline]
    pub(super) fn arith(&mut self, arith: &Arith<'_>, now: Now) -> Outcome {
        let key = arith.key;
        let metrics = metrics::of_arith(arith.direction);
        let mut digits = itoa::Buffer::new();
        let created = arith.creates().map(|exptime| {
            let value = digits.format(arith.initial).as_bytes();
            Change::Put { value, flags: 0, expiry: exptime.expiry(now) }
        });
        let changed = loop {
            let sum = self.store.update_versioned(key, now.ticks, |item| match item {
                Some(item) => add(&item, arith),
                None => created.map_or((Change::Keep, Sum::Absent), |put| (put, Sum::Created)),
            });
            match sum {
                Ok((Sum::Stored(number), Some(version))) => break Ok((number, version)),
                Ok((Sum::Created, Some(version))) => {
                    return Outcome::Number(arith.initial, version);
                }
                Ok((Sum::Exists, _)) => {
                    metrics.failed.increment();
                    return Outcome::Exists;
                }
                Ok((Sum::Absent | Sum::Created | Sum::Stored(_), _)) => {
                    metrics.not_found.increment();
                    return Outcome::NotFound;
                }
                Ok((Sum::NotANumber, _)) => {
                    metrics.failed.increment();
                    return Outcome::NotANumber;
                }
                Ok((Sum::Long(long), _)) => match self.put_long(key, &long, now) {
                    Ok(version) => break Ok((long.number, version)),
                    // Another worker changed it in between.
                    Err(StoreError::Exists | StoreError::NotFound) => {}
                    Err(error @ (StoreError::TooLarge | StoreError::OutOfMemory)) => {
                        break Err(error);
                    }
                },
                Err(error) => break Err(error),
            }
        };
        match changed {
            Ok((number, version)) => {
                metrics.stored.increment();
                Outcome::Number(number, version)
            }
            Err(error) => {
                metrics.failed.increment();
                refused(error)
            }
        }
    }

    fn put_long(&mut self, key: &[u8], long: &Long, now: Now) -> Result<Version, StoreError> {
        let mut value = long.number.to_string().into_bytes();
        value.resize(long.len, b' ');
        let put = Put::new(key, &value)
            .flags(long.flags)
            .expiry(long.expiry)
            .condition(Condition::IfVersion(long.version));
        self.store.put(put, now.ticks)
    }
}

/// The number that `value` is, changed by `delta`; `None` if it is no number.
pub(super) fn sum(value: &[u8], delta: u64, direction: Direction) -> Option<u64> {
    let old = (value.len() <= NUMBER_MAX).then(|| number::unsigned(value)).flatten()?;
    Some(match direction {
        Direction::Up => old.wrapping_add(delta),
        Direction::Down => old.saturating_sub(delta),
    })
}

/// A number, with spaces up to `len` bytes; `None` for more bytes than a [`Digits`] holds.
pub(super) fn padded(number: u64, len: usize) -> Option<Digits> {
    let mut text = [b' '; Digits::MAX];
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    text[..digits.len()].copy_from_slice(digits);
    text.get(..digits.len().max(len)).map(Digits::new)
}

/// The number in `item`, changed. As in memcached, an empty value is no number whatever its CAS number.
fn add<'v>(item: &impl Item, arith: &Arith<'_>) -> (Change<'v>, Sum) {
    let value = item.value();
    if !value.is_empty() && !has_version(item, arith.cas) {
        return (Change::Keep, Sum::Exists);
    }
    let Some(number) = sum(value, arith.delta, arith.direction) else {
        return (Change::Keep, Sum::NotANumber);
    };
    match padded(number, value.len()) {
        Some(digits) => (Change::Number(digits), Sum::Stored(number)),
        None => {
            let long = Long {
                number,
                len: value.len(),
                flags: item.flags(),
                expiry: item.expiry(),
                version: item.version(),
            };
            (Change::Keep, Sum::Long(long))
        }
    }
}
