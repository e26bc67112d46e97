// SPDX-License-Identifier: Apache-2.0
//! The simplest possible engine, to test the kit: a locked map, with a flaw on request.

mod flaw;
mod limit;
mod receive;

pub(super) use flaw::Flaw;

use super::Limits;
use crate::{
    Amend, Change, Condition, Content, Cursor, Expiry, Idle, Item, Marks, Put, ResizeError, Scan,
    Stats, Store, StoreError, Version, Write,
};
use bytes::Bytes;
use clock::Ticks;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};

/// A handle; clones share the items.
#[derive(Debug)]
pub(super) struct Reference {
    shared: Arc<Mutex<Shared>>,
    flaw: Flaw,
    id: u64,
}

impl Drop for Reference {
    fn drop(&mut self) {
        // After a failed check the lock is poisoned, and the handle is not used any more.
        if let Ok(mut shared) = self.shared.lock() {
            shared.busy.remove(&self.id);
        }
    }
}

impl Clone for Reference {
    fn clone(&self) -> Self {
        let shared = match self.flaw {
            Flaw::PrivateHandles => Arc::new(Mutex::new(self.lock().clone())),
            _ => Arc::clone(&self.shared),
        };
        let mut inner = shared.lock().expect("no other thread has panicked");
        inner.handles += 1;
        let id = inner.handles;
        drop(inner);
        Reference { shared, flaw: self.flaw, id }
    }
}

#[derive(Clone, Debug)]
struct Shared {
    limits: Limits,
    /// The memory limit before reservations.
    given_bytes: u64,
    flaw: Flaw,
    items: BTreeMap<Vec<u8>, Entry>,
    /// Keys by age, oldest first: the order of eviction.
    ages: BTreeMap<u64, Vec<u8>>,
    /// Keys in the order of a scan.
    places: BTreeMap<u64, Vec<u8>>,
    /// Where `expire` goes on.
    cursor: Vec<u8>,
    generation: u64,
    /// How many items are of generations before this one.
    cleared: u64,
    last_age: u64,
    item_bytes: u64,
    /// Bytes of items that are gone.
    dead_bytes: u64,
    /// Bytes of values that are arriving.
    draft_bytes: u64,
    /// The last item that was deleted, with a flaw that needs it.
    lost: Option<(Vec<u8>, Entry)>,
    stored: u64,
    /// Who stored last.
    writer: ThreadId,
    /// How often an update still waits for another thread, with a flaw that needs this. The number is
    /// bounded because a wait may take long on a busy machine.
    waits: u32,
    evicted: u64,
    expired: u64,
    /// Handles made, the first not counted.
    handles: u64,
    /// Handles that were used since they last rested or expired.
    busy: BTreeSet<u64>,
}

#[derive(Clone, Debug)]
struct Entry {
    value: Bytes,
    flags: u32,
    expiry: Expiry,
    version: Version,
    generation: u64,
    age: u64,
    marks: Marks,
    was_read: bool,
    accessed: Ticks,
}

/// An item by reference count: it borrows nothing.
#[derive(Debug)]
pub(super) struct Held {
    key: Vec<u8>,
    entry: Entry,
    flaw: Flaw,
}

impl Item for Held {
    fn key(&self) -> &[u8] {
        &self.key
    }
    fn value(&self) -> &[u8] {
        &self.entry.value
    }
    fn flags(&self) -> u32 {
        self.entry.flags
    }
    fn version(&self) -> Version {
        self.entry.version
    }
    fn is_newer_than(&self, version: u64) -> bool {
        version < self.entry.version.get() && self.flaw != Flaw::KnowsNoAge
    }
    fn expiry(&self) -> Expiry {
        self.entry.expiry
    }
    fn marks(&self) -> Marks {
        self.entry.marks
    }
    fn was_read(&self) -> bool {
        self.entry.was_read
    }
    fn idle(&self, now: Ticks) -> Idle {
        Idle::Noted(now.since(self.entry.accessed))
    }
    fn pin(&self) -> Option<Bytes> {
        match self.flaw {
            Flaw::PinsAnother => Some(Bytes::copy_from_slice(&self.key)),
            _ => (self.entry.value.len() > 1_000).then(|| self.entry.value.clone()),
        }
    }
}

/// What an item costs besides its key and value, and what its place in the index costs.
const ITEM_BYTES: u64 = 64;
const SLOT_BYTES: u64 = 32;

impl Shared {
    fn is_dead(&self, entry: &Entry) -> bool {
        match self.flaw {
            Flaw::ShortGenerations => entry.generation as u8 != self.generation as u8,
            _ => entry.generation != self.generation,
        }
    }

    fn is_expired(&self, entry: &Entry, now: Ticks) -> bool {
        match (self.flaw, entry.expiry.ticks()) {
            (Flaw::ExpiresBySecond, Some(at)) => at.as_millis() / 1000 <= now.as_millis() / 1000,
            (Flaw::ExpiresLate, Some(at)) => at < now,
            _ => entry.expiry.is_past(now),
        }
    }

    fn live(&self, key: &[u8], now: Ticks) -> Option<Held> {
        let entry = self.items.get(self.key(key))?;
        if self.is_dead(entry) || self.is_expired(entry, now) {
            return None;
        }
        Some(Held { key: key.to_vec(), entry: entry.clone(), flaw: self.flaw })
    }

    fn key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        if self.flaw == Flaw::CutsKeys { &key[..key.len().min(200)] } else { key }
    }

    fn used_bytes(&self) -> u64 {
        self.item_bytes + self.dead_bytes + self.draft_bytes + self.items.len() as u64 * SLOT_BYTES
    }

    fn cost(key: &[u8], value: &[u8]) -> u64 {
        (key.len() + value.len()) as u64 + ITEM_BYTES
    }

    fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        let entry = self.items.remove(key)?;
        self.ages.remove(&entry.age);
        self.places.remove(&place(key));
        self.item_bytes -= Self::cost(key, &entry.value);
        self.cleared -= u64::from(entry.generation != self.generation);
        Some(entry)
    }

    /// From now on all items are of an earlier generation.
    fn clear(&mut self) {
        self.generation += 1;
        self.cleared = self.items.len() as u64;
    }

    /// Removes an item to make room, or because it is dead.
    fn drop_item(&mut self, key: &[u8], now: Ticks) {
        let entry = self.remove(key).expect("the key was just found");
        if self.is_dead(&entry) {
            return;
        }
        if self.is_expired(&entry, now) {
            self.expired += 1;
        } else if self.flaw != Flaw::CountsNoEvictions {
            self.evicted += 1;
        }
    }

    /// Puts the last item back that was deleted, if there is one and its key is free.
    fn revive(&mut self) {
        let lost = self.lost.take().filter(|(key, _)| !self.items.contains_key(key));
        let Some((key, entry)) = lost else { return };
        self.item_bytes += Self::cost(&key, &entry.value);
        self.cleared += u64::from(entry.generation != self.generation);
        // The youngest, or it would be the next to go.
        self.last_age += 1;
        self.ages.insert(self.last_age, key.clone());
        self.places.insert(place(&key), key.clone());
        self.items.insert(key, Entry { age: self.last_age, ..entry });
    }

    /// Writes an item whatever was there before.
    fn write(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        let any_size = self.flaw == Flaw::TakesAnySize;
        if put.value.len() as u64 > self.limits.value_bytes && !any_size {
            return Err(StoreError::TooLarge);
        }
        let key = self.key(put.key).to_vec();
        let before = self.remove(&key);
        if let Some(before) = &before
            && self.flaw == Flaw::KeepsDead
        {
            self.dead_bytes += Self::cost(&key, &before.value);
        }
        self.make_room(Self::cost(&key, put.value) + SLOT_BYTES, now)?;
        self.last_age += 1;
        self.stored += 1;
        self.writer = thread::current().id();
        let number = match (self.flaw, before) {
            (Flaw::CountsVersionsPerItem, None) => 1,
            (Flaw::CountsVersionsPerItem, Some(entry)) => {
                entry.version.get().checked_add(1).unwrap_or(1)
            }
            _ => self.last_age,
        };
        let version = Version::new(number).expect("counted from one");
        self.item_bytes += Self::cost(&key, put.value);
        self.ages.insert(self.last_age, key.clone());
        let entry = Entry {
            value: Bytes::copy_from_slice(self.value(put.value)),
            flags: put.flags,
            expiry: put.expiry,
            version,
            generation: self.generation,
            age: self.last_age,
            marks: Marks::NONE,
            was_read: false,
            accessed: now,
        };
        self.item_bytes -= (put.value.len() - entry.value.len()) as u64;
        self.places.insert(place(&key), key.clone());
        self.items.insert(key, entry);
        if self.stored.is_multiple_of(16) {
            self.revive();
        }
        Ok(version)
    }

    fn make_room(&mut self, needed: u64, now: Ticks) -> Result<(), StoreError> {
        while self.used_bytes() + needed > self.limits.memory_bytes {
            match self.flaw {
                Flaw::GrowsForever => break,
                Flaw::RefusesWhenFull => return Err(StoreError::OutOfMemory),
                Flaw::DraftKeepsOut if self.draft_bytes > 0 => return Err(StoreError::OutOfMemory),
                _ => {}
            }
            self.dead_bytes = 0;
            let drop_all = self.flaw == Flaw::DropsAllWhenFull;
            for _ in 0..if drop_all { self.items.len() } else { 1 } {
                let Some(oldest) = self.ages.values().next().cloned() else {
                    return Err(StoreError::TooLarge);
                };
                self.drop_item(&oldest, now);
            }
        }
        Ok(())
    }

    fn value<'v>(&self, value: &'v [u8]) -> &'v [u8] {
        let digits = value.len() > 1 && value.iter().all(u8::is_ascii_digit);
        if self.flaw != Flaw::ParsesNumbers || !digits {
            return value;
        }
        let zeros = value.iter().take_while(|&&byte| byte == b'0').count();
        &value[zeros.min(value.len() - 1)..]
    }

    fn put(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        let live = self.live(put.key, now).map(|item| item.entry.version);
        let there =
            live.is_some() || self.flaw == Flaw::AddSeesExpired && self.items.contains_key(put.key);
        let refusal = match (put.condition, live) {
            (Condition::IfAbsent, _) if there => Some(StoreError::Exists),
            (Condition::IfPresent, None) => Some(StoreError::NotFound),
            (Condition::IfVersion(_), None) if self.flaw == Flaw::VersionOfNothingExists => {
                Some(StoreError::Exists)
            }
            (Condition::IfVersion(_), None) => Some(StoreError::NotFound),
            (Condition::IfVersion(wanted), Some(version)) if wanted != version => {
                Some(StoreError::Exists)
            }
            _ => None,
        };
        if let Some(error) = refusal {
            if self.flaw == Flaw::RefusalDeletes {
                self.remove(put.key);
            }
            return Err(error);
        }
        self.write(put, now)
    }

    /// Makes `change` of the item in `seen`.
    fn apply(
        &mut self,
        key: &[u8],
        now: Ticks,
        seen: Option<Entry>,
        change: Change<'_>,
    ) -> Result<Option<Version>, StoreError> {
        let flaw = self.flaw;
        let seen = match (change, seen) {
            (Change::Keep | Change::Miss, seen) => return Ok(seen.map(|entry| entry.version)),
            (Change::Delete, seen) => {
                if seen.is_some() {
                    self.remove(key);
                }
                return Ok(None);
            }
            (Change::Amend(amend), seen) => {
                let seen = seen.ok_or(StoreError::NotFound)?;
                self.amend(key, now, &amend);
                return Ok(Some(seen.version));
            }
            (Change::Write(write), seen) => {
                return self.write_seen(key, now, seen, &write).map(Some);
            }
            (Change::Put { value, flags, expiry }, _) => {
                return self.write(Put::new(key, value).flags(flags).expiry(expiry), now).map(Some);
            }
            (Change::Number(digits), None) if flaw == Flaw::NumberMakesItem => {
                return self.write(Put::new(key, digits.as_bytes()), now).map(Some);
            }
            (_, seen) => seen.ok_or(StoreError::NotFound)?,
        };
        let put = Put::new(key, &[]).flags(seen.flags).expiry(seen.expiry);
        let version = match change {
            Change::Expire(expiry) if flaw == Flaw::TouchMakesVersion => {
                self.write(Put { value: &seen.value, expiry, ..put }, now)?
            }
            Change::Expire(expiry) => {
                let entry = self.items.get_mut(key);
                assert!(entry.is_some() || flaw == Flaw::UnlockedUpdate, "it was just seen");
                entry.into_iter().for_each(|entry| entry.expiry = expiry);
                self.amend(key, now, &Amend { read: true, ..Amend::default() });
                seen.version
            }
            Change::Number(digits) => {
                let version = self.write(Put { value: digits.as_bytes(), ..put }, now)?;
                let keeps = flaw == Flaw::NumberKeepsVersion;
                let entry = self.items.get_mut(key).expect("it was just written");
                entry.version = if keeps { seen.version } else { version };
                (entry.marks, entry.was_read) = (seen.marks, seen.was_read);
                entry.version
            }
            Change::Extend { before, after } => {
                let value = [before, &seen.value, after].concat();
                let flags = if flaw == Flaw::ExtendForgetsFlags { 0 } else { seen.flags };
                let limit = self.limits.value_bytes;
                if flaw == Flaw::ExtendTakesAnySize {
                    self.limits.value_bytes = self.limits.memory_bytes;
                }
                let result = self.write(Put { value: &value, flags, ..put }, now);
                self.limits.value_bytes = limit;
                result?
            }
            Change::Keep
            | Change::Miss
            | Change::Delete
            | Change::Put { .. }
            | Change::Amend(_)
            | Change::Write(_) => unreachable!("done above"),
        };
        Ok(Some(version))
    }

    fn amend(&mut self, key: &[u8], now: Ticks, amend: &Amend) {
        let flaw = self.flaw;
        let key = self.key(key).to_vec();
        let Some(entry) = self.items.get_mut(&key) else { return };
        entry.expiry = amend.expiry.unwrap_or(entry.expiry);
        if flaw != Flaw::LosesMarks {
            entry.marks = amend.marks.unwrap_or(entry.marks);
        }
        if amend.read {
            (entry.was_read, entry.accessed) = (true, now);
        }
    }

    fn write_seen(
        &mut self,
        key: &[u8],
        now: Ticks,
        seen: Option<Entry>,
        write: &Write<'_>,
    ) -> Result<Version, StoreError> {
        let value = match (&write.content, &seen) {
            (Content::Whole(value), _) => value.to_vec(),
            (_, None) => return Err(StoreError::NotFound),
            (Content::Same, Some(seen)) => seen.value.to_vec(),
            (Content::Number(digits), _) => digits.as_bytes().to_vec(),
            (Content::Around { before, after }, Some(seen)) => {
                [before, &seen.value[..], after].concat()
            }
        };
        let flags = write.flags.or(seen.as_ref().map(|seen| seen.flags)).unwrap_or(0);
        let expiry = write.expiry.or(seen.as_ref().map(|seen| seen.expiry));
        let put = Put::new(key, &value).flags(flags).expiry(expiry.unwrap_or(Expiry::NEVER));
        let version = self.write(put, now)?;
        let flaw = self.flaw;
        let key = self.key(key).to_vec();
        let entry = self.items.get_mut(&key).expect("it was just written");
        if flaw != Flaw::MakesAllVersions {
            entry.version = write.version.unwrap_or(version);
        }
        let keeps = write.content.is_the_same_item() || flaw == Flaw::KeepsMarks;
        if let Some(seen) = seen.filter(|_| keeps) {
            (entry.marks, entry.was_read) = (seen.marks, seen.was_read);
        }
        entry.marks = write.marks.unwrap_or(entry.marks);
        Ok(entry.version)
    }

    fn expire(&mut self, now: Ticks, budget: usize) -> usize {
        let budget = if self.flaw == Flaw::IgnoresBudget { usize::MAX } else { budget };
        let from_cursor = self.items.range(self.cursor.clone()..).map(|(key, _)| key);
        let around = from_cursor.chain(self.items.range(..self.cursor.clone()).map(|(key, _)| key));
        let looked_at: Vec<Vec<u8>> = around.take(budget).cloned().collect();
        let mut freed = 0;
        for key in looked_at {
            let entry = &self.items[&key];
            let dead = self.is_dead(entry) && self.flaw != Flaw::LeaksCleared;
            if dead || self.is_expired(entry, now) || self.flaw == Flaw::FreesLive {
                self.drop_item(&key, now);
                freed += 1;
            }
            // The smallest key that is larger.
            self.cursor = [&key[..], &[0]].concat();
        }
        freed
    }
}

impl Reference {
    pub(super) fn new(limits: Limits, flaw: Flaw) -> Self {
        let shared = Shared {
            limits,
            given_bytes: limits.memory_bytes,
            flaw,
            items: BTreeMap::new(),
            ages: BTreeMap::new(),
            places: BTreeMap::new(),
            cursor: Vec::new(),
            generation: 0,
            cleared: 0,
            last_age: 0,
            item_bytes: 0,
            dead_bytes: 0,
            draft_bytes: 0,
            lost: None,
            stored: 0,
            writer: thread::current().id(),
            waits: 100,
            evicted: 0,
            expired: 0,
            handles: 0,
            busy: BTreeSet::new(),
        };
        Reference { shared: Arc::new(Mutex::new(shared)), flaw, id: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("no other thread has panicked")
    }

    /// Begins an operation.
    fn enter(&self) -> MutexGuard<'_, Shared> {
        let mut shared = self.lock();
        shared.busy.insert(self.id);
        shared
    }

    /// Begins a write, for which memory may have to come back.
    fn enter_write(&self) -> MutexGuard<'_, Shared> {
        let shared = self.enter();
        let waits = self.flaw == Flaw::Waits && shared.busy.len() > 1;
        assert!(!waits, "handle {} waits for ever: {:?}", self.id, shared.busy);
        shared
    }
}

/// The order in which a scan walks: that of a hash of the key (FNV-1a), which overwriting keeps.
fn place(key: &[u8]) -> u64 {
    key.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

impl Scan for Reference {
    fn scan(
        &mut self,
        cursor: Cursor,
        budget: usize,
        now: Ticks,
        mut see: impl FnMut(Held),
    ) -> Option<Cursor> {
        let shared = self.enter();
        let counts = self.flaw == Flaw::ScanCounts;
        let (from, skip) = if counts { (0, cursor.get() as usize) } else { (cursor.get(), 0) };
        let budget = if self.flaw == Flaw::ScanIgnoresBudget { usize::MAX } else { budget.max(1) };
        let mut places = shared.places.range(from..).skip(skip);
        for (_, key) in places.by_ref().take(budget) {
            let entry = shared.items[key].clone();
            let dead = shared.is_dead(&entry) || shared.is_expired(&entry, now);
            if !dead || self.flaw == Flaw::ScanShowsDead {
                see(Held { key: key.clone(), entry, flaw: self.flaw });
            }
        }
        let (&next, _) = places.next()?;
        Some(Cursor::new(if counts { (skip + budget) as u64 } else { next }))
    }
}

impl Store for Reference {
    type Item<'a> = Held;

    fn prefetch(&self, _: &[u8], _: crate::Stage) {
        if self.flaw == Flaw::PrefetchCounts {
            self.lock().stored += 1;
        }
    }

    fn get(&mut self, key: &[u8], now: Ticks) -> Option<Held> {
        let mut shared = self.enter();
        let held = shared.live(key, now)?;
        if self.flaw != Flaw::CountsNoReads {
            shared.amend(key, now, &Amend { read: true, ..Amend::default() });
        }
        Some(held)
    }

    fn peek(&mut self, key: &[u8], now: Ticks) -> Option<Held> {
        if self.flaw == Flaw::PeekReads {
            return self.get(key, now);
        }
        self.enter().live(key, now)
    }

    fn put(&mut self, put: Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        self.enter_write().put(put, now)
    }

    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        mut decide: impl FnMut(Option<Held>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        let mut shared = self.enter_write();
        let seen = shared.live(key, now).map(|item| item.entry);
        if self.flaw == Flaw::UnlockedUpdate
            && shared.writer != thread::current().id()
            && shared.waits > 0
        {
            // There is another thread: it waits a while for that to write.
            shared.waits -= 1;
            let stored = shared.stored;
            for _ in 0..10 {
                drop(shared);
                thread::yield_now();
                shared = self.lock();
                if shared.stored != stored {
                    break;
                }
            }
        }
        let item = seen.clone().map(|entry| Held { key: key.to_vec(), entry, flaw: self.flaw });
        let (change, result) = decide(item);
        let before = seen.as_ref().map(|entry| entry.version);
        let version = shared.apply(key, now, seen, change)?;
        let version = if self.flaw == Flaw::TellsOldVersion { before } else { version };
        Ok((result, version))
    }

    fn delete(&mut self, key: &[u8], now: Ticks) -> bool {
        let mut shared = self.enter();
        let live = shared.live(key, now).is_some();
        if live {
            let key = shared.key(key);
            let entry = shared.remove(key);
            let comes_back = self.flaw == Flaw::DeletedComeBack;
            shared.lost = entry.filter(|_| comes_back).map(|entry| (key.to_vec(), entry));
        }
        live || self.flaw == Flaw::DeletesAlways
    }

    fn expire(&mut self, now: Ticks, budget: usize) -> usize {
        let mut shared = self.lock();
        shared.busy.remove(&self.id);
        shared.shrink(now);
        shared.expire(now, budget)
    }

    fn rest(&mut self) {
        let mut shared = self.lock();
        shared.busy.remove(&self.id);
        if self.flaw == Flaw::RestClears {
            shared.clear();
        }
    }

    fn reserve(&mut self, bytes: u64) {
        if self.flaw == Flaw::ReservesAll {
            let mut shared = self.lock();
            shared.limits.memory_bytes = shared.given_bytes.saturating_sub(bytes);
        }
    }

    fn resize(&mut self, bytes: u64) -> Result<(), ResizeError> {
        self.lock().resize(bytes)
    }

    fn is_shrinking(&self) -> bool {
        self.lock().is_over()
    }

    fn clear(&mut self) {
        self.enter().clear();
    }

    fn stats(&self) -> Stats {
        let shared = self.lock();
        Stats {
            items: shared.items.len() as u64,
            cleared: shared.cleared,
            item_bytes: shared.item_bytes,
            used_bytes: shared.used_bytes(),
            limit_bytes: shared.limits.memory_bytes,
            index_slots: shared.items.len() as u64,
            index_bytes: shared.items.len() as u64 * SLOT_BYTES,
            stored: shared.stored,
            evicted: shared.evicted,
            expired: shared.expired,
            ..Stats::default()
        }
    }

    fn check_integrity(&self) {
        let shared = self.lock();
        let costs = shared.items.iter().map(|(key, entry)| Shared::cost(key, &entry.value));
        assert_eq!(costs.sum::<u64>(), shared.item_bytes, "the sum of all items");
        assert_eq!(shared.ages.len(), shared.items.len(), "each item has an age");
    }
}
