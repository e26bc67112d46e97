// SPDX-License-Identifier: Apache-2.0
//! [`MapStore`]: the contract of a store in its plainest form.

use bytes::Bytes;
use clock::Ticks;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;
use storage::{
    Amend, Announced, Change, Collected, Condition, Content, Cursor, Expiry, Idle, Item, Marks,
    Put, Receive, ResizeError, Scan, Stats, Store, StoreError, Version, Write,
};

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
    /// The memory limit, if another than the first was set.
    limit: Option<u64>,
    /// The highest that can be set, if it is bounded.
    limit_max: Option<u64>,
    /// To how many bytes values may come that arrive at once, if there is a bound.
    arriving_max: Option<u64>,
}

/// An item.
#[derive(Clone, Debug)]
pub struct Entry {
    key: Vec<u8>,
    value: Bytes,
    flags: u32,
    version: Version,
    expiry: Expiry,
    marks: Marks,
    was_read: bool,
    accessed: Ticks,
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
    fn marks(&self) -> Marks {
        self.marks
    }
    fn was_read(&self) -> bool {
        self.was_read
    }
    fn idle(&self, now: Ticks) -> Idle {
        Idle::Noted(now.since(self.accessed))
    }
    fn pin(&self) -> Option<Bytes> {
        Some(self.value.clone())
    }
}

impl MapStore {
    /// The highest memory limit that can be set.
    pub fn set_limit_max(&self, bytes: u64) {
        self.inner.borrow_mut().limit_max = Some(bytes);
    }

    /// Whether writes are refused for want of memory.
    pub fn set_full(&self, full: bool) {
        self.inner.borrow_mut().full = full;
    }

    /// How often each update asks again.
    pub fn set_races(&self, races: usize) {
        self.inner.borrow_mut().races = races;
    }

    /// How many values may arrive at once.
    pub fn set_arriving_max(&self, most: u64) {
        self.inner.borrow_mut().arriving_max = Some(most);
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

    /// Changes what is known of an item, and lends it as it was before.
    fn amend(&self, entry: Entry, amend: &Amend, now: Ticks) {
        let entry = Entry {
            expiry: amend.expiry.unwrap_or(entry.expiry),
            marks: amend.marks.unwrap_or(entry.marks),
            was_read: entry.was_read || amend.read,
            accessed: if amend.read { now } else { entry.accessed },
            ..entry
        };
        self.inner.borrow_mut().items.insert(entry.key.clone(), entry);
    }

    fn write_over(
        &self,
        key: &[u8],
        present: Option<&Entry>,
        write: &Write<'_>,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        let value = match (write.content, present) {
            (Content::Whole(value), _) => Bytes::copy_from_slice(value),
            (_, None) => return Err(StoreError::NotFound),
            (Content::Same, Some(entry)) => entry.value.clone(),
            (Content::Number(digits), Some(_)) => Bytes::copy_from_slice(digits.as_bytes()),
            (Content::Around { before, after }, Some(entry)) => {
                [before, &entry.value, after].concat().into()
            }
        };
        let same = present.filter(|_| write.content.is_the_same_item());
        let before = present;
        self.write(Entry {
            key: key.to_vec(),
            value,
            flags: write.flags.or(before.map(|entry| entry.flags)).unwrap_or(0),
            version: write.version.unwrap_or(self.new_version()),
            expiry: write.expiry.or(before.map(|entry| entry.expiry)).unwrap_or(Expiry::NEVER),
            marks: write.marks.or(same.map(|entry| entry.marks)).unwrap_or_default(),
            was_read: same.is_some_and(|entry| entry.was_read),
            accessed: now,
        })
    }

    fn new_version(&self) -> Version {
        let mut inner = self.inner.borrow_mut();
        inner.version += 1;
        Version::new(FIRST_VERSION + inner.version).expect("it is not 0")
    }

    fn write(&self, entry: Entry) -> Result<Version, StoreError> {
        let mut inner = self.inner.borrow_mut();
        if inner.full {
            return Err(StoreError::OutOfMemory);
        }
        inner.stored += 1;
        let version = entry.version;
        inner.items.insert(entry.key.clone(), entry);
        Ok(version)
    }
}

impl Store for MapStore {
    type Item<'a> = Entry;

    fn get(&mut self, key: &[u8], now: Ticks) -> Option<Entry> {
        let entry = self.live(key, now)?;
        self.amend(entry.clone(), &Amend { read: true, ..Amend::default() }, now);
        Some(entry)
    }

    fn peek(&mut self, key: &[u8], now: Ticks) -> Option<Entry> {
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
        self.write(Entry {
            key: put.key.to_vec(),
            value: Bytes::copy_from_slice(put.value),
            flags: put.flags,
            version: self.new_version(),
            expiry: put.expiry,
            marks: Marks::NONE,
            was_read: false,
            accessed: now,
        })
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
        let version = match change.general() {
            Change::Keep => present.map(|entry| entry.version),
            Change::Delete => {
                self.delete(key, now);
                None
            }
            Change::Amend(amend) => {
                let entry = present.ok_or(StoreError::NotFound)?;
                let version = entry.version;
                self.amend(entry, &amend, now);
                Some(version)
            }
            Change::Write(write) => Some(self.write_over(key, present.as_ref(), &write, now)?),
            Change::Miss
            | Change::Expire(_)
            | Change::Number(_)
            | Change::Extend { .. }
            | Change::Put { .. } => unreachable!("these have a general form"),
        };
        Ok((result, version))
    }

    fn delete(&mut self, key: &[u8], now: Ticks) -> bool {
        let live = self.live(key, now).is_some();
        self.inner.borrow_mut().items.remove(key);
        live
    }

    fn may_nap(&self, _: Ticks, _: Duration) -> bool {
        true
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
        stats.limit_bytes = inner.limit.unwrap_or(64 << 20);
        stats
    }

    /// Takes what `memcached` takes.
    fn resize(&mut self, bytes: u64) -> Result<(), ResizeError> {
        let (least, most) = (8 << 20, self.inner.borrow().limit_max.unwrap_or(1 << 50));
        match bytes {
            bytes if bytes < least => Err(ResizeError::TooSmall { least }),
            bytes if bytes > most => Err(ResizeError::TooLarge { most }),
            bytes => {
                self.inner.borrow_mut().limit = Some(bytes);
                Ok(())
            }
        }
    }

    fn details(&self, now: Ticks, show: &mut dyn FnMut(&str, &dyn Display)) {
        show("map_items", &self.inner.borrow().items.len());
        show("map:seen_ms", &now.as_millis());
        show("map_kind", &"tree");
    }

    fn check_integrity(&self) {}
}

/// Takes as many values at once as it is told to.
impl Receive for MapStore {
    type Draft = Collected;

    fn admits(&self, bytes: u64) -> bool {
        self.inner.borrow().arriving_max.is_none_or(|most| bytes <= most)
    }

    fn begin(&mut self, announced: Announced<'_>, _: Ticks) -> Result<Collected, StoreError> {
        Ok(Collected::new(announced))
    }

    fn append(&mut self, draft: &mut Collected, piece: &[u8], _: Ticks) -> Result<(), StoreError> {
        draft.append(piece);
        Ok(())
    }

    fn commit(
        &mut self,
        draft: Collected,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        self.put(draft.put(condition), now)
    }
}

/// In the order of the keys; a cursor is a number of items.
impl Scan for MapStore {
    fn scan(
        &mut self,
        cursor: Cursor,
        budget: usize,
        now: Ticks,
        mut see: impl FnMut(Entry),
    ) -> Option<Cursor> {
        let entries: Vec<Entry> = self.inner.borrow().items.values().cloned().collect();
        let begin = usize::try_from(cursor.get()).expect("a number of items");
        let end = begin.saturating_add(budget);
        let step = entries.iter().take(end).skip(begin).filter(|entry| !entry.expiry.is_past(now));
        step.cloned().for_each(&mut see);
        (end < entries.len()).then(|| Cursor::new(end as u64))
    }
}
