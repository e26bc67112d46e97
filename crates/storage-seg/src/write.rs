// SPDX-License-Identifier: Apache-2.0
//! Writing: finding room for an item, writing its bytes, then the slot that makes it readable.
//!
//! The bytes are written before any lock is taken, into room that is the handle's own. The key's home
//! bucket is locked only to look up the present item, check the condition, and store into one slot. A
//! refused write leaves its room to the next write.

use crate::Reason;
use crate::evict::{Deed, as_read_as};
use crate::heap::NewItem;
use crate::index::Location;
use crate::item::SegItem;
use crate::layout::{KEY_MAX, State};
use crate::place::{Lack, Spot};
use crate::shared::Shared;
use crate::store::SegStore;
use crate::tally::Count;
use clock::Ticks;
use storage::{Condition, Marks, Put, StoreError, Version};

/// How many other items may be dropped to free a slot for one.
const CROWDED_MAX: usize = 8;

/// How often a write may give back the memory that it has got for its item. Others may take it meanwhile, so that a
/// write in a small store has to begin anew several times.
const GIVEN_BACK_MAX: u64 = 64;

/// The item that an update has seen, as it was then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) location: Location,
    pub(crate) version: u64,
    pub(crate) expiry_ms: Option<u64>,
    pub(crate) marks: Option<Marks>,
    /// When the item's segment was opened: a client may give two items of a key the same version.
    birth: u64,
}

impl Seen {
    pub(crate) fn of(live: &SegItem<'_>, birth: u64) -> Self {
        let (location, version) = (live.location(), live.version_number());
        let marks = live.state().map(State::marks);
        Seen { location, version, expiry_ms: live.expiry_ms(), marks, birth }
    }
}

/// Whether a written item counts as read, if it takes the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// No: it is another value.
    Forgotten,
    /// If the other was: it has the same value, or a number in its place.
    Kept,
    /// It is read now.
    Counted,
}

/// The condition on the present item under which a write is published.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Demand {
    /// What the client asked for.
    Condition(Condition),
    /// Exactly the item that an update has seen. Its location alone does not tell, since it may hold a
    /// new item by now; and its expiry may have been changed in place.
    Same(Seen),
    /// The same, for a copy that differs only in its expiry.
    Retime(Seen),
    /// No live item, as the update has seen.
    Absent,
}

/// Why a write was not published.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unpublished {
    Refused(StoreError),
    /// Another handle changed the item that the update has seen.
    Changed,
    /// The index has neither a slot for the key nor an item of its home that may be dropped for it.
    Crowded,
}

/// An item that is written and not yet published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    spot: Spot,
    location: Location,
    len: usize,
    expiry_ms: Option<u64>,
    version: u64,
    pub(crate) reads: Reads,
}

/// The expiry in milliseconds as items keep it.
pub(crate) fn expiry_ms(expiry: storage::Expiry) -> Option<u64> {
    expiry.ticks().map(Ticks::as_millis)
}

impl SegStore {
    pub(crate) fn put_item(&mut self, put: &Put<'_>, now: Ticks) -> Result<Version, StoreError> {
        let item = NewItem {
            key: put.key,
            value: [put.value, b"", b""],
            flags: put.flags,
            expiry_ms: expiry_ms(put.expiry),
            version: None,
            state: None,
        };
        self.check_size(&item)?;
        self.turn.enter();
        let hash = self.shared.hash(put.key);
        self.check_condition(hash, put.key, put.condition, now)?;
        let spot = self.room(self.shared.heap.len_of(&item), item.expiry_ms, now)?;
        let filled = self.fill(spot, &item);
        self.publish_if(hash, put.key, filled, put.condition, now)
    }

    /// Checks a write that is often refused, before its bytes are written.
    #[inline]
    pub(crate) fn check_condition(
        &self,
        hash: u64,
        key: &[u8],
        condition: Condition,
        now: Ticks,
    ) -> Result<(), StoreError> {
        if condition == Condition::Always {
            return Ok(());
        }
        refuses(condition, self.look(hash, key, now).as_ref()).map_or(Ok(()), Err)
    }

    /// Publishes a written item if the condition holds.
    #[inline]
    pub(crate) fn publish_if(
        &mut self,
        hash: u64,
        key: &[u8],
        filled: Filled,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        match self.publish(hash, key, filled, Demand::Condition(condition), now) {
            Ok(version) => Ok(version),
            Err(Unpublished::Refused(error)) => Err(error),
            Err(Unpublished::Changed | Unpublished::Crowded) => {
                unreachable!("a condition is met or refused")
            }
        }
    }

    /// Finds room for an item of `len` bytes, emptying segments if it must. The caller holds no
    /// borrow from the store, and locations found before are not valid after it unless they are
    /// pinned.
    pub(crate) fn room(
        &mut self,
        len: usize,
        expiry_ms: Option<u64>,
        now: Ticks,
    ) -> Result<Spot, StoreError> {
        let class = self.shared.class_of(expiry_ms, now);
        self.upkeep(now);
        let mut given_back = None;
        loop {
            match self.place_new(class, len, now) {
                Ok(spot) => return Ok(spot),
                Err(Lack::Wide) => return self.row(len, class, now),
                Err(Lack::Free(count)) => {
                    let since = *given_back.get_or_insert(self.given_back());
                    self.make_room_since(since, count, now)?;
                }
            }
        }
    }

    /// Makes room for a write that began when memory had been given back so often.
    #[cold]
    fn make_room_since(&mut self, since: u64, count: usize, now: Ticks) -> Result<(), StoreError> {
        // What a large item has got so far is given back where nothing else is left. To take it again would not help.
        let is_futile = self.given_back() - since >= GIVEN_BACK_MAX;
        let made =
            if is_futile { Err(StoreError::OutOfMemory) } else { self.make_room(count, now) };
        made.inspect_err(|_| self.give_back_empty())
    }

    /// Refuses an item larger than the store takes.
    pub(crate) fn check_size(&self, item: &NewItem<'_>) -> Result<(), StoreError> {
        self.check_lengths(item.key.len(), item.value_len())
    }

    pub(crate) fn check_lengths(&self, key_len: usize, value_len: usize) -> Result<(), StoreError> {
        let fits = value_len <= self.shared.settings.value_max && key_len <= KEY_MAX;
        if fits { Ok(()) } else { Err(StoreError::TooLarge) }
    }

    /// Writes an item's bytes into its room. Nobody can see them yet.
    pub(crate) fn fill(&self, spot: Spot, item: &NewItem<'_>) -> Filled {
        let len = self.shared.fill(spot, item);
        self.filled(spot, len, item.expiry_ms, item.version)
    }

    /// An item whose bytes are written in its room, and which may have a version of its own.
    #[inline]
    pub(crate) fn filled(
        &self,
        spot: Spot,
        len: usize,
        expiry_ms: Option<u64>,
        version: Option<u64>,
    ) -> Filled {
        let location = self.shared.heap.location(spot.segment, spot.offset);
        let version = version.unwrap_or(self.shared.version_at(spot.birth, spot.offset));
        Filled { spot, location, len, expiry_ms, version, reads: Reads::Forgotten }
    }

    /// Publishes a written item if the demand is met.
    pub(crate) fn publish(
        &mut self,
        hash: u64,
        key: &[u8],
        filled: Filled,
        demand: Demand,
        now: Ticks,
    ) -> Result<Version, Unpublished> {
        let place = (filled.location, filled.reads);
        let mut entered = self.enter_index(hash, key, place, demand, now);
        for _ in 0..CROWDED_MAX {
            if !matches!(entered, Err(Unpublished::Crowded)) || !self.uncrowd(hash) {
                break;
            }
            entered = self.enter_index(hash, key, place, demand, now);
        }
        let is_new = match entered {
            Ok(is_new) => is_new,
            Err(unpublished) => {
                self.abandon(filled.spot);
                return Err(match unpublished {
                    Unpublished::Crowded => Unpublished::Refused(StoreError::OutOfMemory),
                    other => other,
                });
            }
        };
        let retimed = matches!(demand, Demand::Retime(..));
        if retimed {
            self.tally.add(Count::Retimed, 1);
        } else {
            self.tally.add(Count::Stored, 1);
            self.tally.add(Count::StoredBytes, filled.len as u64);
            let (len, due_ms) = (filled.len as u32, filled.expiry_ms);
            self.sample_changed(hash, len, Deed::Write { len, due_ms, is_new }, now);
        }
        self.tally.add(Count::ItemBytes, filled.len as u64);
        self.commit(filled.spot, filled.len, filled.expiry_ms);
        Ok(Version::new(filled.version).expect("INV-VERSION: births begin with one"))
    }

    /// Points the key's slot to the item at `location`. Returns whether the key is new.
    fn enter_index(
        &mut self,
        hash: u64,
        key: &[u8],
        (location, reads): (Location, Reads),
        demand: Demand,
        now: Ticks,
    ) -> Result<bool, Unpublished> {
        let (shared, turn, tally) = (&self.shared, &self.turn, &*self.tally);
        let home = shared.index.lock(hash);
        let mut present = None;
        let entry = home.find(|at| {
            let item = shared.item(turn, at);
            let is_key = item.key() == key;
            if is_key {
                present = Some(item);
            }
            is_key
        });
        check(shared, demand, || {
            let (entry, item) = entry.as_ref().zip(present)?;
            SegItem::live(shared, turn, item, entry.location(), now)
        })?;
        match entry.zip(present) {
            Some((entry, old)) => {
                let before = entry.frequency();
                let frequency = match reads {
                    Reads::Forgotten => self.lesson.overwritten(before),
                    Reads::Kept => as_read_as(before, self.lesson.overwritten(before)),
                    Reads::Counted => self.lesson.read(before).unwrap_or(before),
                };
                home.replace(&entry, location, frequency);
                drop(home);
                old.mark_dead();
                let old_len = old.len() as u32;
                self.remove_live(entry.location(), old_len);
                tally.sub(Count::ItemBytes, u64::from(old_len));
                tally.add(Count::Replaced, 1);
                Ok(false)
            }
            None => {
                let frequency = self.lesson.inserted(home.ghost());
                if home.insert(location, frequency).is_err() {
                    let weakest = home.weakest().filter(|_| shared.evicts());
                    let weakest = weakest.ok_or(Unpublished::Crowded)?;
                    home.replace(&weakest, location, frequency);
                    drop(home);
                    let (location, before) = (weakest.location(), weakest.frequency());
                    self.dropped(location, Reason::Evicted, Count::Crowded, Some(before));
                }
                self.tally.add(Count::Items, 1);
                self.tally.add(Count::Inserted, 1);
                Ok(true)
            }
        }
    }
}

impl Shared {
    /// A live item as an update remembers it.
    pub(crate) fn seen(&self, live: &SegItem<'_>) -> Seen {
        Seen::of(live, self.segment_of(live.location()).birth())
    }
}

/// Whether the live item, if any, is what the write demands. Most writes demand nothing and do not look at it.
#[inline]
fn check<'a>(
    shared: &Shared,
    demand: Demand,
    live: impl FnOnce() -> Option<SegItem<'a>>,
) -> Result<(), Unpublished> {
    if let Demand::Condition(Condition::Always) = demand {
        return Ok(());
    }
    let live = live();
    let is_met = match demand {
        Demand::Condition(condition) => {
            let refused = refuses(condition, live.as_ref());
            return refused.map_or(Ok(()), |error| Err(Unpublished::Refused(error)));
        }
        Demand::Same(seen) | Demand::Retime(seen) => {
            live.is_some_and(|live| shared.seen(&live) == seen)
        }
        Demand::Absent => live.is_none(),
    };
    if is_met { Ok(()) } else { Err(Unpublished::Changed) }
}

/// Why a condition does not hold.
pub(crate) fn refuses(condition: Condition, live: Option<&SegItem<'_>>) -> Option<StoreError> {
    match (condition, live) {
        (Condition::IfAbsent, Some(_)) => Some(StoreError::Exists),
        (Condition::IfPresent | Condition::IfVersion(_), None) => Some(StoreError::NotFound),
        (Condition::IfVersion(version), Some(live)) if live.version_number() != version.get() => {
            Some(StoreError::Exists)
        }
        _ => None,
    }
}
