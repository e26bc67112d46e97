// SPDX-License-Identifier: Apache-2.0
//! [`ReferenceView`]: a view of a reference keyspace, which always has the lock on all of it.

use super::state::{State, access_of, count, idle_ms, place, used};
use super::{DATABASES, Flaw, Notes, Shared};
use crate::{EntryMut, Gone, Reason, Scope, Tally, Use, View};
use std::sync::MutexGuard;
use values::Entry;

/// Entries that a step of a scan shows.
const SCAN: usize = 8;

#[derive(Debug)]
pub(in crate::conformance) struct ReferenceView<'a> {
    shared: &'a Shared,
    state: Option<MutexGuard<'a, State>>,
    notes: &'a mut Notes,
    unix_ms: u64,
    touch: bool,
    tally: Tally,
}

impl<'a> ReferenceView<'a> {
    pub(super) fn new(shared: &'a Shared, notes: &'a mut Notes, unix_ms: u64) -> Self {
        let state = Some(shared.lock());
        let tally = Tally::default();
        ReferenceView { shared, state, notes, unix_ms, touch: true, tally }
    }

    fn flaw(&self) -> Flaw {
        self.shared.flaw
    }

    fn state(&self) -> &State {
        self.state.as_ref().expect("it is locked")
    }

    fn db(&self, db: usize) -> usize {
        let is_last = db == DATABASES - 1 && self.flaw() == Flaw::SharesDatabases;
        if is_last { 0 } else { db }
    }

    /// Ends the operation before, and begins another.
    fn settle(&mut self) -> &mut State {
        let tally = std::mem::take(&mut self.tally);
        if self.flaw() == Flaw::UnlocksBetween {
            self.state = None;
            std::thread::yield_now();
            self.state = Some(self.shared.lock());
        }
        let is_booked = self.flaw() != Flaw::BooksNoEdits;
        let state = self.state.as_mut().expect("it is locked");
        if is_booked {
            state.entry_bytes = state.entry_bytes.wrapping_add_signed(tally.bytes);
        }
        if tally.due_moved {
            state.note_due(Some(0));
        }
        state
    }

    /// Whether there is a live entry; an expired one is removed, unless entries stay.
    fn is_live(&mut self, db: usize, key: &[u8]) -> bool {
        self.looked_up(db, key, self.shared.keeps_entries())
    }

    /// Whether there is a live entry; an expired one is removed, unless it `stays`.
    fn looked_up(&mut self, db: usize, key: &[u8], stays: bool) -> bool {
        let (flaw, unix_ms) = (self.flaw(), self.unix_ms);
        let state = self.settle();
        let Some(entry) = state.databases[db].get(&place(key)) else { return false };
        if !state.is_past(entry, unix_ms) {
            return true;
        }
        if stays {
            return false;
        }
        let Some(entry) = state.remove(db, key) else { return false };
        state.count_expired();
        state.discard(entry);
        let listens = self.shared.settings.has_listeners() || flaw == Flaw::TellsAnyway;
        let times = match flaw {
            Flaw::TellsNothing => 0,
            Flaw::TellsTwice => 2,
            _ => 1,
        };
        for _ in 0..if listens { times } else { 0 } {
            self.notes.push((db, key.to_vec(), Reason::Expired));
        }
        false
    }

    fn find(&mut self, db: usize, key: &[u8], touch: bool) -> Option<&mut Entry> {
        if !self.is_live(db, key) {
            return None;
        }
        let settings = &self.shared.settings;
        let state = self.state.as_mut().expect("it is locked");
        let random = state.chance();
        let entry = state.databases[db].get_mut(&place(key))?;
        if touch {
            entry.set_access(used(settings, Some(entry.access()), self.unix_ms, random));
        }
        Some(entry)
    }

    fn touches(&self) -> bool {
        match self.flaw() {
            Flaw::TouchesAnyway => true,
            Flaw::TouchesNever => false,
            _ => self.touch,
        }
    }

    /// Whether a read is a use.
    fn reads_touch(&self) -> bool {
        let ignored = self.shared.settings.policy().ignores_reads();
        self.touches() && (!ignored || self.flaw() == Flaw::TouchesAnyway)
    }
}

impl ReferenceView<'_> {
    /// Finds an entry, and counts whether it is there.
    fn read(&mut self, db: usize, key: &[u8], touches: bool) -> Option<&Entry> {
        let db = self.db(db);
        let is_live = self.is_live(db, key);
        let state = self.settle();
        if is_live {
            state.stats.hits += 1;
        } else {
            state.stats.misses += 1;
        }
        self.find(db, key, touches).map(|entry| &*entry)
    }
}

impl Drop for ReferenceView<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}

impl View for ReferenceView<'_> {
    fn used_bytes(&self) -> u64 {
        self.state().used()
    }

    fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    fn set_unix_ms(&mut self, unix_ms: u64) {
        self.settle();
        self.unix_ms = unix_ms;
    }

    fn scope_of(&self, _: &[u8]) -> Scope {
        Scope::shard(0)
    }

    /// It has one lock only, so there is nothing more to lock.
    fn relock(&mut self, _: Scope) {
        self.settle();
    }

    fn extend(&mut self, _: Scope) -> bool {
        true
    }

    fn set_touch(&mut self, touch: bool) {
        self.touch = touch;
    }

    fn get(&mut self, db: usize, key: &[u8]) -> Option<&Entry> {
        self.read(db, key, self.reads_touch())
    }

    fn glance(&mut self, db: usize, key: &[u8]) -> Option<&Entry> {
        self.read(db, key, self.flaw() == Flaw::TouchesAnyway)
    }

    fn peek(&self, db: usize, key: &[u8]) -> Option<&Entry> {
        let state = self.state();
        let entry = state.databases[self.db(db)].get(&place(key))?;
        let is_dead = state.is_past(entry, self.unix_ms) && self.flaw() != Flaw::PeekSeesDead;
        (!is_dead).then_some(entry)
    }

    fn get_mut(&mut self, db: usize, key: &[u8]) -> Option<EntryMut<'_>> {
        let db = self.db(db);
        let touches = self.touches();
        self.find(db, key, touches)?;
        let hits = u64::from(self.flaw() == Flaw::EditsHit);
        let state = self.state.as_mut().expect("it is locked");
        state.stats.hits += hits;
        let entry = state.databases[db].get_mut(&place(key))?;
        Some(EntryMut::new(entry, &mut self.tally))
    }

    fn put(&mut self, mut entry: Entry, db: usize) -> Option<Entry> {
        let db = self.db(db);
        let is_live = self.looked_up(db, entry.key(), false);
        let random = self.settle().chance();
        let old = if is_live { self.peek(db, entry.key()) } else { None };
        if let Some(old) = old
            && self.flaw() == Flaw::KeepsExpiry
        {
            entry.set_expiry(old.expiry());
        }
        let before = old.map(Entry::access);
        entry.set_access(used(&self.shared.settings, before, self.unix_ms, random));
        let old = self.settle().insert(db, entry);
        old.filter(|_| self.flaw() != Flaw::PutReturnsNothing)
    }

    fn take(&mut self, db: usize, key: &[u8]) -> Option<Entry> {
        let db = self.db(db);
        if !self.looked_up(db, key, false) {
            return None;
        }
        self.settle().remove(db, key)
    }

    fn set_expiry(&mut self, db: usize, key: &[u8], expiry: Option<u64>) -> bool {
        let db = self.db(db);
        if self.find(db, key, false).is_none() {
            return self.flaw() == Flaw::SetsExpiryOfNothing;
        }
        let state = self.state.as_mut().expect("it is locked");
        if let Some(entry) = state.databases[db].get_mut(&place(key)) {
            EntryMut::new(entry, &mut self.tally).set_expiry(expiry);
        }
        true
    }

    fn dispose(&mut self, entry: Entry) {
        self.settle().discard(entry);
    }

    fn len(&self, db: usize) -> usize {
        self.state().len(self.db(db))
    }

    fn volatile_len(&self, db: usize) -> usize {
        self.state().volatile_len(self.db(db))
    }

    fn scan(&mut self, db: usize, cursor: u64, visit: &mut dyn FnMut(&Entry)) -> u64 {
        let (db, flaw, unix_ms) = (self.db(db), self.flaw(), self.unix_ms);
        let state = self.settle();
        let count = if flaw == Flaw::ScansAtOnce { usize::MAX } else { SCAN };
        let mut places = state.databases[db].range((cursor, Vec::new())..);
        for ((hash, _), entry) in places.by_ref().take(count) {
            let is_missed = flaw == Flaw::ScanMisses && hash % 98 == 1;
            let is_dead = state.is_past(entry, unix_ms) && flaw != Flaw::ScanShowsDead;
            if !is_missed && !is_dead {
                visit(entry);
            }
        }
        places.next().map_or(0, |((hash, _), _)| *hash)
    }

    fn random(&mut self, db: usize, random: u64) -> Option<&Entry> {
        let db = self.db(db);
        let place = loop {
            let flaw = self.flaw();
            let state = self.settle();
            let len = state.len(db) as u64;
            let index = if flaw == Flaw::DrawsFirst { 0 } else { random.checked_rem(len)? };
            let (place, _) = state.databases[db].iter().nth(index as usize)?;
            let place = place.clone();
            let any = flaw == Flaw::DrawsDead || self.shared.keeps_entries();
            if any || self.is_live(db, &place.1) {
                break place;
            }
        };
        self.state().databases[db].get(&place)
    }

    fn clear(&mut self, db: usize) {
        let (db, flaw) = (self.db(db), self.flaw());
        let state = self.settle();
        state.clear(db);
        if flaw == Flaw::ClearsAll {
            (0..DATABASES).for_each(|db| state.clear(db));
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        let flaw = self.flaw();
        if flaw != Flaw::SwapsNothing {
            self.settle().databases.swap(a, b);
        }
    }

    fn idle_ms(&self, entry: &Entry) -> Option<u64> {
        let counts = self.shared.settings.policy().counts_uses();
        (!counts).then(|| idle_ms(entry.access(), self.unix_ms))
    }

    fn frequency(&self, entry: &Entry) -> Option<u8> {
        let settings = &self.shared.settings;
        let count = || count(settings, entry.access(), self.unix_ms) as u8;
        settings.policy().counts_uses().then(count)
    }

    fn set_use(&mut self, db: usize, key: &[u8], used: Use) {
        let db = self.db(db);
        let access = access_of(&self.shared.settings, used, self.unix_ms);
        if let Some(access) = access.filter(|_| self.find(db, key, false).is_some()) {
            let state = self.state.as_mut().expect("it is locked");
            if let Some(entry) = state.databases[db].get_mut(&place(key)) {
                entry.set_access(access);
            }
        }
    }

    fn drain_gone(&mut self, gone: &mut dyn FnMut(Gone<'_>)) {
        for (db, key, reason) in self.notes.drain(..) {
            gone(Gone { db, key: &key, reason, fields: &[] });
        }
    }
}
