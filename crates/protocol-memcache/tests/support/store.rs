// SPDX-License-Identifier: Apache-2.0
//! [`MapStore`]: the contract of a store in its plainest form.

use bytes::Bytes;
use clock::Ticks;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;
use storage::{Change, Condition, Expiry, Item, Put, Stats, Store, StoreError, Version};

/// No number that a test would make up.
const FIRST_VERSION: u64 = 1 << 40;

/// A map whose clones share their items. Gives items out by clone.
#[derive(Clone, Debug, Default)]
pub struct MapStore {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    items: BTreeMap<Vec<u8>, Entry>,
    version: u64,
    stored: u64,
    /// Refuse writes for want of memory.
    full: bool,
    /// How often each update asks again, as if others had changed the item in between.
    races: usize,
    /// How often a handle rested.
    rests: usize,
    /// What was reserved last.
    reserved: u64,
}

/// An item.
#[derive(Clone, Debug)]
pub struct Entry {
    key: Vec<u8>,
    value: Bytes,
    flags: u32,
    version: Version,
    expiry: Expiry,
}

impl Item for Entry {
    fn key(&self) -> &[u8] {
        &self.key
    }
    fn value(&self) -> &[u8] {
        &self.value
    }
    fn flags(&self) -> u32 {
        self.flags
    }
    fn version(&self) -> Version {
        self.version
    }
    fn expiry(&self) -> Expiry {
        self.expiry
    }
    fn pin(&self) -> Option<Bytes> {
        Some(self.value.clone())
    }
}

impl MapStore {
    /// Whether writes are refused for want of memory.
    pub fn set_full(&self, full: bool) {
        self.inner.borrow_mut().full = full;
    }

    /// How often each update asks again.
    pub fn set_races(&self, races: usize) {
        self.inner.borrow_mut().races = races;
    }

    /// How often a handle rested, and what was reserved last.
    pub fn heard(&self) -> (usize, u64) {
        let inner = self.inner.borrow();
        (inner.rests, inner.reserved)
    }

    fn live(&self, key: &[u8], now: Ticks) -> Option<Entry> {
        let inner = self.inner.borrow();
        let entry = inner.items.get(key)?;
        (!entry.expiry.is_past(now)).then(|| entry.clone())
    }

    fn write(
        &self,
        key: &[u8],
        value: Bytes,
        flags: u32,
        expiry: Expiry,
    ) -> Result<Version, StoreError> {
        let mut inner = self.inner.borrow_mut();
        if inner.full {
            return Err(StoreError::OutOfMemory);
        }
        inner.version += 1;
        inner.stored += 1;
        let version = Version::new(FIRST_VERSION + inner.version).expect("it is not 0");
        let entry = Entry { key: key.to_vec(), value, flags, version, expiry };
        inner.items.insert(key.to_vec(), entry);
        Ok(version)
    }
}

impl Store for MapStore {
    type Item<'a> = Entry;

    fn get(&mut self, key: &[u8], now: Ticks) -> Option<Entry> {
        self.live(key, now)
    }

    fn put(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        let present = self.live(put.key, now);
        match (put.condition, present) {
            (Condition::IfAbsent, Some(_)) => return Err(StoreError::Exists),
            (Condition::IfPresent | Condition::IfVersion(_), None) => {
                return Err(StoreError::NotFound);
            }
            (Condition::IfVersion(version), Some(entry)) if entry.version != version => {
                return Err(StoreError::Exists);
            }
            _ => {}
        }
        let value = Bytes::copy_from_slice(put.value);
        self.write(put.key, value, put.flags, put.expiry)
    }

    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        mut decide: impl FnMut(Option<Entry>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        let races = self.inner.borrow().races;
        for _ in 0..races {
            decide(self.live(key, now));
        }
        let present = self.live(key, now);
        let (change, result) = decide(present.clone());
        let entry = || present.clone().ok_or(StoreError::NotFound);
        let version = match change {
            Change::Keep => present.map(|entry| entry.version),
            Change::Delete => {
                self.delete(key, now);
                None
            }
            Change::Expire(expiry) => {
                let entry = Entry { expiry, ..entry()? };
                let version = entry.version;
                self.inner.borrow_mut().items.insert(key.to_vec(), entry);
                Some(version)
            }
            Change::Number(digits) => {
                let entry = entry()?;
                let value = Bytes::copy_from_slice(digits.as_bytes());
                Some(self.write(key, value, entry.flags, entry.expiry)?)
            }
            Change::Extend { before, after } => {
                let entry = entry()?;
                let value = [before, &entry.value, after].concat();
                Some(self.write(key, value.into(), entry.flags, entry.expiry)?)
            }
            Change::Put { value, flags, expiry } => {
                Some(self.write(key, Bytes::copy_from_slice(value), flags, expiry)?)
            }
        };
        Ok((result, version))
    }

    fn delete(&mut self, key: &[u8], now: Ticks) -> bool {
        let live = self.live(key, now).is_some();
        self.inner.borrow_mut().items.remove(key);
        live
    }

    fn expire(&mut self, now: Ticks, budget: usize) -> usize {
        let mut inner = self.inner.borrow_mut();
        let before = inner.items.len();
        let mut left = budget;
        inner.items.retain(|_, entry| {
            let dead = left > 0 && entry.expiry.is_past(now);
            left -= usize::from(dead);
            !dead
        });
        before - inner.items.len()
    }

    fn rest(&mut self) {
        self.inner.borrow_mut().rests += 1;
    }

    fn reserve(&mut self, bytes: u64) {
        self.inner.borrow_mut().reserved = bytes;
    }

    fn clear(&mut self) {
        self.inner.borrow_mut().items.clear();
    }

    fn stats(&self) -> Stats {
        let inner = self.inner.borrow();
        let mut stats = Stats::default();
        stats.items = inner.items.len() as u64;
        stats.stored = inner.stored;
        stats.limit_bytes = 64 << 20;
        stats
    }

    fn details(&self, now: Ticks, show: &mut dyn FnMut(&str, &dyn Display)) {
        show("map_items", &self.inner.borrow().items.len());
        show("map:seen_ms", &now.as_millis());
        show("map_kind", &"tree");
    }

    fn check_integrity(&self) {}
}
