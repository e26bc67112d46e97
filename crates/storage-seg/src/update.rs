// SPDX-License-Identifier: Apache-2.0
//! Read-modify-write: read the item without a lock, decide, write the result, and publish it if the
//! item is still the one that was read; else begin again.

use crate::heap::{ItemRef, NewItem};
use crate::item::{Pin, SegItem};
use crate::segment::State;
use crate::store::SegStore;
use crate::sync::atomic::Ordering;
use crate::tally::Count;
use crate::write::{Demand, Seen, Unpublished, expiry_ms};
use clock::Ticks;
use storage::{Change, Digits, Expiry, StoreError, Version};

/// The change that a new copy of an item has.
enum Edit<'v> {
    Value(&'v [u8]),
    Around { before: &'v [u8], after: &'v [u8] },
    Expiry(Option<u64>),
}

/// The outcome of one attempt at an update.
enum Attempt {
    /// Done; the item has this version now, if there is one.
    Done(Option<u64>),
    /// Another handle changed the item in between.
    Again,
}

impl SegStore {
    pub(crate) fn update_item<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        mut decide: impl FnMut(Option<SegItem<'_>>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        let hash = self.shared.hash(key);
        loop {
            self.turn.enter();
            let live = self.look(hash, key, now).filter(|item| self.is_sound(hash, item));
            let seen = live.as_ref().map(Seen::of);
            let (change, result) = decide(live);
            if let Attempt::Done(version) = self.attempt(hash, key, seen, change, now)? {
                return Ok((result, version.and_then(Version::new)));
            }
        }
    }

    fn attempt(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Option<Seen>,
        change: Change<'_>,
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        let needed = || seen.ok_or(StoreError::NotFound);
        match change {
            Change::Keep => Ok(Attempt::Done(seen.map(|seen| seen.version))),
            Change::Delete => {
                Ok(seen.map_or(Attempt::Done(None), |seen| self.remove_seen(hash, seen)))
            }
            Change::Expire(expiry) => self.retime(hash, key, needed()?, expiry, now),
            Change::Number(digits) => self.renumber(hash, key, needed()?, digits, now),
            Change::Extend { before, after } => {
                self.rewrite(hash, key, needed()?, &Edit::Around { before, after }, now)
            }
            Change::Put { value, flags, expiry } => {
                let expiry_ms = expiry_ms(expiry);
                let item =
                    NewItem { key, value: [value, b"", b""], flags, expiry_ms, version: None };
                let demand = seen.map_or(Demand::Absent, Demand::Same);
                self.check_size(&item)?;
                let spot = self.room(self.shared.heap.len_of(&item), expiry_ms, now)?;
                let filled = self.fill(spot, &item);
                settle(self.publish(hash, key, filled, demand, now))
            }
        }
    }

    /// Writes a changed copy of the item that was seen.
    fn rewrite(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Seen,
        edit: &Edit<'_>,
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        let item = self.edited(key, seen, edit);
        self.check_size(&item)?;
        let (len, expiry_ms) = (self.shared.heap.len_of(&item), item.expiry_ms);
        let class = self.shared.class_of(expiry_ms, now);
        let (spot, pin);
        if let Ok(place) = self.place_new(class, len, now) {
            (spot, pin) = (place, None);
        } else {
            if let Edit::Expiry(expiry_ms) = *edit
                && let Some(attempt) = self.retime_in_place(hash, seen, expiry_ms)
            {
                return Ok(attempt);
            }
            // Making room may pass a quiescent state. The pin keeps the item's memory as it is, and
            // keeps its segment from being chosen for eviction. If this handle has claimed the segment
            // already, it gives it back.
            if self.shared.segment_of(seen.location).state() == State::Claimed {
                self.release_claims();
            }
            pin = Some(Pin::briefly(&self.shared, seen.location));
            spot = self.room(len, expiry_ms, now)?;
        }
        let filled = self.fill(spot, &self.edited(key, seen, edit));
        let demand = match edit {
            Edit::Expiry(_) => Demand::Retime(seen),
            _ => Demand::Same(seen),
        };
        let attempt = settle(self.publish(hash, key, filled, demand, now));
        drop(pin);
        attempt
    }

    /// Removes the item that was seen, if it has not changed.
    fn remove_seen(&mut self, hash: u64, seen: Seen) -> Attempt {
        let home = self.shared.index.lock(hash);
        let Some(entry) = home.find_location(seen.location) else { return Attempt::Again };
        let base_ms = self.shared.segment_of(seen.location).base_ms();
        if self.shared.item(&self.turn, seen.location).expiry_ms(base_ms) != seen.expiry_ms {
            // Another handle touched the item in between, which the caller has not seen.
            return Attempt::Again;
        }
        home.remove(&entry, false);
        drop(home);
        self.count_out(seen.location, Count::Deleted);
        Attempt::Done(None)
    }

    /// Changes the expiry: in place if the segment's due time is late enough. Else the item is copied
    /// to a segment of its new class; if there is no room, the expiry changes in place and the segment
    /// stays longer.
    fn retime(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Seen,
        expiry: Expiry,
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        if expiry.is_past(now) {
            return Ok(match self.remove_seen(hash, seen) {
                Attempt::Done(_) => Attempt::Done(Some(seen.version)),
                Attempt::Again => Attempt::Again,
            });
        }
        let expiry_ms = expiry_ms(expiry);
        if expiry_ms == seen.expiry_ms {
            return Ok(Attempt::Done(Some(seen.version)));
        }
        let due_ms = self.shared.segment_of(seen.location).due_ms();
        if expiry_ms.is_some_and(|at| at <= due_ms)
            && let Some(attempt) = self.retime_in_place(hash, seen, expiry_ms)
        {
            return Ok(attempt);
        }
        self.rewrite(hash, key, seen, &Edit::Expiry(expiry_ms), now)
    }

    /// Changes the expiry in place, and extends the segment's due time to it; `None` if the item's
    /// header has no room for it.
    fn retime_in_place(&self, hash: u64, seen: Seen, expiry_ms: Option<u64>) -> Option<Attempt> {
        let at = expiry_ms?;
        let shared = &*self.shared;
        let home = shared.index.lock(hash);
        if home.find_location(seen.location).is_none() {
            return Some(Attempt::Again);
        }
        let segment = shared.segment_of(seen.location);
        let item = shared.item(&self.turn, seen.location);
        if item.expiry_ms(segment.base_ms()) != seen.expiry_ms {
            return Some(Attempt::Again);
        }
        if !item.set_expiry(segment.base_ms(), at) {
            return None;
        }
        // The segment is not used for anything else before it is emptied, and removing this item
        // from the index would need this lock.
        if segment.due_ms() < at {
            segment.extend_due(expiry_ms);
            // The segment's own handle may not have lowered this for it yet, and will take it as
            // done now.
            shared.next_due_ms.fetch_min(segment.due_ms(), Ordering::AcqRel);
        }
        Some(Attempt::Done(Some(seen.version)))
    }

    /// Replaces a number: in place if nobody else can be reading it.
    fn renumber(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Seen,
        digits: Digits,
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        let written = self.shared.overwrite(&mut self.turn, seen.location, digits.as_bytes());
        if written.is_some() {
            self.tally.add(Count::Stored, 1);
            return Ok(Attempt::Done(written));
        }
        self.rewrite(hash, key, seen, &Edit::Value(digits.as_bytes()), now)
    }

    /// The item that results from an edit.
    fn edited<'a>(&'a self, key: &'a [u8], seen: Seen, edit: &Edit<'a>) -> NewItem<'a> {
        let old: ItemRef<'a> = self.shared.item(&self.turn, seen.location);
        let (flags, expiry_ms) = (old.flags(), seen.expiry_ms);
        let item = NewItem { key, value: [b"", b"", b""], flags, expiry_ms, version: None };
        match *edit {
            Edit::Value(value) => NewItem {
                value: [value, b"", b""],
                // So the next number can be written in place.
                version: self.shared.settings.exclusive.then(|| self.shared.explicit_version()),
                ..item
            },
            Edit::Around { before, after } => {
                NewItem { value: [before, old.value(), after], ..item }
            }
            Edit::Expiry(expiry_ms) => NewItem {
                value: [old.value(), b"", b""],
                expiry_ms,
                version: Some(self.shared.version(&old, seen.location)),
                ..item
            },
        }
    }
}

/// What the result of a write means for an update.
fn settle(written: Result<Version, Unpublished>) -> Result<Attempt, StoreError> {
    match written {
        Ok(version) => Ok(Attempt::Done(Some(version.get()))),
        Err(Unpublished::Changed | Unpublished::Crowded) => Ok(Attempt::Again),
        Err(Unpublished::Refused(error)) => Err(error),
    }
}
