// SPDX-License-Identifier: Apache-2.0
//! Read-modify-write: read the item without a lock, decide, write the result, and publish it if the
//! item is still the one that was read; else begin again.

use crate::evict::{Deed, as_read_as};
use crate::heap::{ItemRef, NewItem};
use crate::index::Location;
use crate::item::{Pin, SegItem};
use crate::layout::State as ItemState;
use crate::segment::State;
use crate::store::SegStore;
use crate::tally::Count;
use crate::write::{Demand, Reads, Seen, Unpublished, expiry_ms};
use clock::Ticks;
use storage::{Amend, Change, Content, Marks, StoreError, Version, Write};

/// The item that takes the place of the one that was seen.
#[derive(Clone, Copy, Debug)]
struct Edit<'v> {
    content: Content<'v>,
    /// `None`: as the item seen has them.
    flags: Option<u32>,
    expiry_ms: Option<u64>,
    version: Option<u64>,
    state: Option<ItemState>,
    reads: Reads,
    /// It is the same item in another place, not a new value.
    is_moved: bool,
    /// The marks, if the item can be amended in place as well.
    or_in_place: Option<Marks>,
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
            let seen = live.as_ref().map(|live| self.shared.seen(live));
            let (change, result) = decide(live);
            self.sample_update(hash, seen, &change, now);
            if let Attempt::Done(version) = self.attempt(hash, key, seen, change, now)? {
                return Ok((result, version.and_then(Version::new)));
            }
        }
    }

    /// Records an update that reads the item, or looked for it: `gat`, and `mg` with flags that may change it.
    #[inline]
    fn sample_update(&self, hash: u64, seen: Option<Seen>, change: &Change<'_>, now: Ticks) {
        let is_read = match change {
            Change::Miss | Change::Expire(_) => true,
            Change::Amend(amend) => amend.read,
            // What is made because it was missing is claimed by whoever looked for it.
            Change::Write(write) => {
                seen.is_none() && write.marks.is_some_and(|marks| marks.claimed)
            }
            Change::Keep
            | Change::Delete
            | Change::Number(_)
            | Change::Extend { .. }
            | Change::Put { .. } => false,
        };
        if !is_read {
            return;
        }
        self.sample(hash, Deed::Read, now);
        if let Some(seen) = seen
            && self.sampler.is_long(self.shared.item(&self.turn, seen.location).value().len())
        {
            self.sample_long(hash, seen.location, now);
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
        // The most common changes, of the most common items, past the general form that they have, too: it is large,
        // and would be copied.
        match (&change, seen) {
            (Change::Keep | Change::Miss, _) => {
                return Ok(Attempt::Done(seen.map(|seen| seen.version)));
            }
            (Change::Number(digits), Some(seen)) if seen.marks.is_none() => {
                return self.renumber(hash, key, seen, None, digits.as_bytes(), now);
            }
            (Change::Expire(expiry), Some(seen)) => {
                return self.amend(hash, key, seen, &Amend::touch(*expiry), now);
            }
            _ => {}
        }
        match (change.general(), seen) {
            (Change::Keep, _) => Ok(Attempt::Done(seen.map(|seen| seen.version))),
            (Change::Delete, None) => Ok(Attempt::Done(None)),
            (Change::Delete, Some(seen)) => Ok(self.remove_seen(hash, seen)),
            (Change::Amend(amend), Some(seen)) => self.amend(hash, key, seen, &amend, now),
            (Change::Write(write), seen) => self.write_seen(hash, key, seen, &write, now),
            (Change::Amend(_), None) => Err(StoreError::NotFound),
            (
                Change::Miss
                | Change::Expire(_)
                | Change::Number(_)
                | Change::Extend { .. }
                | Change::Put { .. },
                _,
            ) => unreachable!("these have a general form"),
        }
    }

    /// Writes an item in place of the one that was seen, or where none was seen.
    fn write_seen(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Option<Seen>,
        write: &Write<'_>,
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        let &Write { content, flags, expiry, version, marks } = write;
        let version = version.map(Version::get);
        let state = self.state_after(seen, &content, marks, now);
        let expiry_ms = expiry.map_or(seen.and_then(|seen| seen.expiry_ms), expiry_ms);
        match (content, seen) {
            (Content::Whole(value), _) => {
                let flags = flags.unwrap_or_else(|| seen.map_or(0, |seen| self.flags_of(seen)));
                let value = [value, b"", b""];
                let item = NewItem { key, value, flags, expiry_ms, version, state };
                let demand = seen.map_or(Demand::Absent, Demand::Same);
                self.check_size(&item)?;
                let spot = self.room(self.shared.heap.len_of(&item), expiry_ms, now)?;
                let filled = self.fill(spot, &item);
                settle(self.publish(hash, key, filled, demand, now))
            }
            (_, None) => Err(StoreError::NotFound),
            (Content::Number(digits), Some(seen))
                if flags.is_none() && expiry.is_none() && version.is_none() && marks.is_none() =>
            {
                self.renumber(hash, key, seen, state, digits.as_bytes(), now)
            }
            (_, Some(seen)) => {
                let reads = if content.is_the_same_item() { Reads::Kept } else { Reads::Forgotten };
                let (is_moved, or_in_place) = (false, None);
                let edit = Edit {
                    content,
                    flags,
                    expiry_ms,
                    version,
                    state,
                    reads,
                    is_moved,
                    or_in_place,
                };
                self.rewrite(hash, key, seen, &edit, now)
            }
        }
    }

    fn flags_of(&self, seen: Seen) -> u32 {
        self.shared.item(&self.turn, seen.location).flags()
    }

    /// The state of an item that is written in place of the one seen.
    fn state_after(
        &self,
        seen: Option<Seen>,
        content: &Content<'_>,
        marks: Option<Marks>,
        now: Ticks,
    ) -> Option<ItemState> {
        let before = seen.and_then(|seen| seen.marks).filter(|_| content.is_the_same_item());
        let has_state = before.is_some() || marks.is_some_and(|marks| marks != Marks::NONE);
        let marks = marks.or(before).unwrap_or_default();
        has_state.then(|| ItemState::new(marks, now))
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
            if let Some(marks) = edit.or_in_place
                && let Some(attempt) = self.amend_in_place(hash, seen, expiry_ms, marks)
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
        let mut filled = self.fill(spot, &self.edited(key, seen, edit));
        filled.reads = edit.reads;
        let demand = if edit.is_moved { Demand::Retime(seen) } else { Demand::Same(seen) };
        let attempt = settle(self.publish(hash, key, filled, demand, now));
        drop(pin);
        attempt
    }

    /// Removes the item that was seen, if it has not changed.
    fn remove_seen(&mut self, hash: u64, seen: Seen) -> Attempt {
        let home = self.shared.index.lock(hash);
        let Some(entry) = home.find_location(seen.location) else { return Attempt::Again };
        let base_ms = self.shared.segment_of(seen.location).base_ms();
        let item = self.shared.item(&self.turn, seen.location);
        if item.expiry_ms(base_ms) != seen.expiry_ms
            || item.state().map(ItemState::marks) != seen.marks
        {
            // Another handle touched or marked the item in between, which the caller has not seen.
            return Attempt::Again;
        }
        home.remove(&entry, false);
        drop(home);
        self.count_out(seen.location, Count::Deleted);
        Attempt::Done(None)
    }

    /// Changes what is known of an item: in place if its header has the words and its segment [stays](stays_until)
    /// long enough.
    /// Else the item is copied to a segment of its class; if there is no room for a copy that differs in its expiry
    /// alone, the expiry changes in place and the segment stays longer.
    fn amend(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Seen,
        amend: &Amend,
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        if amend.expiry.is_some_and(|expiry| expiry.is_past(now)) {
            return Ok(match self.remove_seen(hash, seen) {
                Attempt::Done(_) => Attempt::Done(Some(seen.version)),
                Attempt::Again => Attempt::Again,
            });
        }
        let expiry_ms = amend.expiry.map_or(seen.expiry_ms, expiry_ms);
        let marks = amend.marks.unwrap_or(seen.marks.unwrap_or_default());
        let lacks_state = seen.marks.is_none() && (amend.timed || marks != Marks::NONE);
        if !lacks_state {
            if expiry_ms == seen.expiry_ms && marks == seen.marks.unwrap_or_default() {
                self.note_read(hash, seen, amend, now);
                return Ok(Attempt::Done(Some(seen.version)));
            }
            let due_ms = self.shared.segment_of(seen.location).due_ms();
            let is_in_time = expiry_ms.is_some_and(|at| at <= stays_until(due_ms, at, now));
            if (expiry_ms == seen.expiry_ms || is_in_time)
                && let Some(attempt) = self.amend_in_place(hash, seen, expiry_ms, marks)
            {
                if let Attempt::Done(_) = attempt {
                    self.note_read(hash, seen, amend, now);
                }
                return Ok(attempt);
            }
        }
        let has_state = seen.marks.is_some() || lacks_state;
        let edit = Edit {
            content: Content::Same,
            flags: None,
            expiry_ms,
            version: Some(seen.version),
            state: has_state.then(|| ItemState::new(marks, now)),
            reads: if amend.read { Reads::Counted } else { Reads::Kept },
            is_moved: true,
            or_in_place: (!lacks_state).then_some(marks),
        };
        self.rewrite(hash, key, seen, &edit, now)
    }

    /// Counts a read of the item that was seen, if it is one and the item is still there.
    fn note_read(&self, hash: u64, seen: Seen, amend: &Amend, now: Ticks) {
        if !amend.read {
            return;
        }
        let Some(entry) = self.shared.index.find(hash, |at| at == seen.location) else { return };
        if let Some(frequency) = self.lesson.read(entry.frequency()) {
            entry.set_frequency(frequency);
        }
        self.shared.item(&self.turn, seen.location).note_access(now);
    }

    /// Changes expiry and marks in place, and extends the segment's due time to the expiry; `None` if the item's
    /// header has no room for them.
    fn amend_in_place(
        &self,
        hash: u64,
        seen: Seen,
        expiry_ms: Option<u64>,
        marks: Marks,
    ) -> Option<Attempt> {
        let shared = &*self.shared;
        let home = shared.index.lock(hash);
        if home.find_location(seen.location).is_none() {
            return Some(Attempt::Again);
        }
        let (number, _) = shared.heap.place(seen.location);
        let segment = shared.pool.segment(number);
        let item = shared.item(&self.turn, seen.location);
        let is_as_seen = item.expiry_ms(segment.base_ms()) == seen.expiry_ms
            && item.state().map(ItemState::marks) == seen.marks;
        if !is_as_seen {
            return Some(Attempt::Again);
        }
        if expiry_ms != seen.expiry_ms {
            let at = expiry_ms?;
            if !item.set_expiry(segment.base_ms(), at) {
                return None;
            }
            // The segment is not used for anything else before it is emptied, and removing this item
            // from the index would need this lock.
            if segment.due_ms() < at {
                shared.extend_due(number, expiry_ms);
            }
        }
        if seen.marks.is_some_and(|before| before != marks) {
            item.set_marks(marks);
        }
        Some(Attempt::Done(Some(seen.version)))
    }

    /// Replaces a number: in place if nobody else can be reading it.
    fn renumber(
        &mut self,
        hash: u64,
        key: &[u8],
        seen: Seen,
        state: Option<ItemState>,
        digits: &[u8],
        now: Ticks,
    ) -> Result<Attempt, StoreError> {
        let written = self.shared.overwrite(&mut self.turn, seen.location, digits);
        if written.is_some() {
            self.tally.add(Count::Stored, 1);
            self.note_rewritten(hash, seen.location, now);
            return Ok(Attempt::Done(written));
        }
        let edit = Edit {
            content: Content::Whole(digits),
            flags: None,
            expiry_ms: seen.expiry_ms,
            // So the next number can be written in place.
            version: self.shared.settings.exclusive.then(|| self.shared.explicit_version()),
            state,
            reads: Reads::Kept,
            is_moved: false,
            or_in_place: None,
        };
        self.rewrite(hash, key, seen, &edit, now)
    }

    /// Counts a number that was written in place as a value that is written over: as a use of its item. Numbers are so short
    /// that none is sampled for its length.
    fn note_rewritten(&self, hash: u64, location: Location, now: Ticks) {
        let shared = &*self.shared;
        if self.samples(hash) {
            let item = shared.item(&self.turn, location);
            let len = item.len() as u32;
            let due_ms = item.expiry_ms(shared.segment_of(location).base_ms());
            self.sample(hash, Deed::Write { len, due_ms, is_new: false }, now);
        }
        if let Some(entry) = shared.index.find(hash, |at| at == location) {
            let before = entry.frequency();
            entry.set_frequency(as_read_as(before, self.lesson.overwritten(before)));
        }
    }

    /// The item that results from an edit.
    fn edited<'a>(&'a self, key: &'a [u8], seen: Seen, edit: &'a Edit<'a>) -> NewItem<'a> {
        let old: ItemRef<'a> = self.shared.item(&self.turn, seen.location);
        let &Edit { flags, expiry_ms, version, state, .. } = edit;
        let value = match edit.content {
            Content::Same => [old.value(), b"", b""],
            Content::Number(ref digits) => [digits.as_bytes(), b"", b""],
            Content::Around { before, after } => [before, old.value(), after],
            Content::Whole(value) => [value, b"", b""],
        };
        let flags = flags.unwrap_or_else(|| old.flags());
        NewItem { key, value, flags, expiry_ms, version, state }
    }
}

/// Until when a segment that is due at `due_ms` may stay for an item that is touched to expire at `expiry_ms`: its due
/// time, rounded up to a multiple of a 64th to a 32nd of the time that the item has to live.
///
/// An item that is touched again and again, always to live as long from then on, would outlive its segment by a little
/// with each touch, and would be copied each time. Rounded, it is copied once in that time. The other items of the
/// segment wait so much longer for their memory to come back, and no longer, however often one of them is touched.
fn stays_until(due_ms: u64, expiry_ms: u64, now: Ticks) -> u64 {
    let span = expiry_ms.saturating_sub(now.as_millis()) >> 5;
    due_ms | span.checked_ilog2().map_or(0, |bits| (1 << bits) - 1)
}

/// What the result of a write means for an update.
fn settle(written: Result<Version, Unpublished>) -> Result<Attempt, StoreError> {
    match written {
        Ok(version) => Ok(Attempt::Done(Some(version.get()))),
        Err(Unpublished::Changed | Unpublished::Crowded) => Ok(Attempt::Again),
        Err(Unpublished::Refused(error)) => Err(error),
    }
}
