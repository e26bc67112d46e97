// SPDX-License-Identifier: Apache-2.0
//! A store on the real index and the real epochs, whose memory is a few [`Place`]s. A place stands
//! for a segment with one item. All operations follow the order of the real store's: `write.rs`,
//! `store.rs`, `empty.rs`, `room.rs` and `pool.rs` have functions of the same names.

use super::history::{History, Known};
use crate::epoch::{Epoch, Epochs, Participant};
use crate::index::{Entry, Index, Keys, Location};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, pause};
use loom::cell::UnsafeCell;
use std::collections::VecDeque;

/// The content of a place. Plain memory: loom checks that nobody reads it while it is written, and
/// that reads and writes are ordered.
#[derive(Clone, Copy, Debug, Default)]
struct Item {
    key: u64,
    value: u64,
    /// The number of its place's opening, which is its version.
    birth: u64,
}

/// Memory for one item.
struct Place {
    item: UnsafeCell<Item>,
    /// The bit in the item's header.
    is_dead: AtomicBool,
}

/// The use of each place. Sealed and claimed ones hold items.
struct Pool {
    free: Vec<Location>,
    sealed: VecDeque<Location>,
    limbo: VecDeque<(Epoch, Location)>,
    births: u64,
}

/// What all handles have in common.
pub(super) struct Store {
    index: Index,
    epochs: Arc<Epochs>,
    places: Vec<Place>,
    pool: Mutex<Pool>,
    history: History,
}

/// One thread's handle on the store.
pub(super) struct Handle {
    store: Arc<Store>,
    turn: Participant,
    known: Known,
    /// How often a write waits for other threads before it fails for lack of memory.
    patience: usize,
}

/// What happens to a live item of a place that is emptied.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Keep,
    Drop,
}

/// An item that was found. It borrows the handle, as that of the store does.
pub(super) struct Found<'a> {
    store: &'a Store,
    entry: Entry<'a>,
    item: Item,
}

/// Keys from 4 on belong to the upper half of the homes; the even ones look alike in a slot.
fn hash(key: u64) -> u64 {
    key >> 2 << 63 | key & 1
}

impl Pool {
    fn new(places: usize) -> Mutex<Self> {
        let free = (0..places as u64).rev().map(|place| Location::new(1 + place)).collect();
        let (sealed, limbo) = (VecDeque::new(), VecDeque::new());
        Mutex::new(Pool { free, sealed, limbo, births: 0 })
    }

    fn collect(&mut self, epochs: &Epochs) {
        while let Some(&(epoch, location)) = self.limbo.front() {
            if !epochs.has_passed(epoch) {
                break;
            }
            self.limbo.pop_front();
            self.free.push(location);
        }
    }
}

impl Store {
    pub(super) fn new(homes: usize, places: usize, participants: usize) -> Arc<Self> {
        let place =
            |_| Place { item: UnsafeCell::new(Item::default()), is_dead: AtomicBool::new(true) };
        Arc::new(Store {
            index: Index::new(homes, false, false).expect("memory"),
            epochs: Arc::new(Epochs::new(participants)),
            places: (0..places).map(place).collect(),
            pool: Pool::new(places),
            history: History::default(),
        })
    }

    /// Lets the index begin to move to another number of homes.
    pub(super) fn grow(&self, homes: usize) {
        assert!(self.index.grow(homes).expect("memory"));
    }

    fn place(&self, location: Location) -> &Place {
        &self.places[location.units() as usize - 1]
    }

    /// The item at a location that was found within this turn.
    fn item(&self, location: Location) -> Item {
        // SAFETY: whether it stays as it is meanwhile is what the models are about: loom tells.
        self.place(location).item.with(|item| unsafe { *item })
    }

    /// Takes a free place, and a number for its opening.
    fn take(&self) -> Option<(Location, u64)> {
        let mut pool = self.pool.lock();
        pool.collect(&self.epochs);
        let location = pool.free.pop()?;
        pool.births += 1;
        Some((location, pool.births))
    }

    /// Writes an item into a place that is the caller's alone.
    fn fill(&self, location: Location, item: Item) {
        let place = self.place(location);
        // SAFETY: as for `item`.
        place.item.with_mut(|memory| unsafe { *memory = item });
        place.is_dead.store(false, Ordering::Relaxed);
    }

    fn seal(&self, location: Location) {
        self.pool.lock().sealed.push_back(location);
    }

    fn claim(&self) -> Option<Location> {
        self.pool.lock().sealed.pop_front()
    }

    fn give_back(&self, location: Location) {
        self.pool.lock().free.push(location);
    }

    fn retire(&self, location: Location) {
        let mut pool = self.pool.lock();
        pool.limbo.push_back((self.epochs.retire(), location));
    }

    /// Whether the place can be emptied without a look at the index. If so, the fence in `retire`
    /// acquires the change of the slot, which happened before the mark that this has seen.
    fn is_dead(&self, location: Location) -> bool {
        self.place(location).is_dead.load(Ordering::Relaxed)
    }

    /// Marks an item dead that was found in this turn: no slot points to it any more.
    fn mark_dead(&self, location: Location) {
        // The bit lies in the item's memory, which must not hold another item by now.
        self.item(location);
        self.place(location).is_dead.store(true, Ordering::Release);
    }

    fn find(&self, key: u64) -> Option<Found<'_>> {
        let mut item = Item::default();
        let entry = self.index.find(hash(key), |location| {
            item = self.item(location);
            item.key == key
        })?;
        Some(Found { store: self, entry, item })
    }

    /// Checks the store when all threads are done: each key has the item that was published last,
    /// and no place is lost.
    pub(super) fn check_end(&self) {
        let entries = self.index.check_integrity(|location| hash(self.item(location).key));
        let mut live = 0;
        for (key, last) in self.history.ends() {
            let found = self.find(key);
            assert_eq!(found.as_ref().map(Found::value), last, "of key {key} in the end");
            let Some(found) = found else { continue };
            let location = found.entry.location();
            assert!(self.pool.lock().sealed.contains(&location), "key {key} is in a sealed place");
            assert!(!self.is_dead(location), "key {key} is live");
            live += 1;
        }
        assert_eq!(entries, live, "entries of no key");
        let mut pool = self.pool.lock();
        pool.collect(&self.epochs);
        assert!(pool.limbo.is_empty(), "nobody is online");
        assert_eq!(pool.free.len() + pool.sealed.len(), self.places.len(), "places");
    }
}

impl Handle {
    pub(super) fn new(store: &Arc<Store>, patience: usize) -> Self {
        let turn = Epochs::register(&store.epochs).expect("there is a place");
        let known = Known::all_of(&store.history);
        Handle { store: Arc::clone(store), turn, known, patience }
    }

    /// Looks a key up, and checks that what it finds is not older than what it knows.
    pub(super) fn peek(&mut self, key: u64) -> Option<Found<'_>> {
        self.turn.enter();
        let found = self.store.find(key);
        self.known.learn(&self.store.history, key, found.as_ref().map(Found::value));
        found
    }

    /// The same, and counts the read.
    pub(super) fn get(&mut self, key: u64) -> Option<Found<'_>> {
        let found = self.peek(key)?;
        found.entry.set_frequency(found.entry.frequency() + 1);
        Some(found)
    }

    /// Writes an item; whether there was room for it.
    pub(super) fn put(&mut self, key: u64, value: u64) -> bool {
        self.turn.enter();
        let Some((location, birth)) = self.room() else { return false };
        self.store.fill(location, Item { key, value, birth });
        self.publish(key, value, location, |_| true);
        self.store.seal(location);
        true
    }

    /// Adds one to the value of a key; whether there was one, and room for its next.
    pub(super) fn increment(&mut self, key: u64) -> bool {
        loop {
            self.turn.enter();
            let Some(found) = self.store.find(key) else { return false };
            let (at, old) = (found.entry.location(), found.item);
            let Some((location, birth)) = self.room() else { return false };
            let value = old.value + 1;
            self.store.fill(location, Item { key, value, birth });
            // Its place may have been used again meanwhile, even for the same key.
            let is_same = |found: Option<&Found<'_>>| {
                found.is_some_and(|found| {
                    let is_same = found.entry.location() == at && found.item.birth == old.birth;
                    assert!(!is_same || found.value() == old.value, "that was another item");
                    is_same
                })
            };
            if self.publish(key, value, location, is_same) {
                self.store.seal(location);
                return true;
            }
            self.store.give_back(location);
        }
    }

    /// Makes the item at a location that of its key, if the present one is as demanded.
    fn publish(
        &mut self,
        key: u64,
        value: u64,
        location: Location,
        demand: impl FnOnce(Option<&Found<'_>>) -> bool,
    ) -> bool {
        let store = &*self.store;
        let home = store.index.lock(hash(key));
        let mut item = Item::default();
        let entry = home.find(|location| {
            item = store.item(location);
            item.key == key
        });
        let present = entry.map(|entry| Found { store, entry, item });
        if !demand(present.as_ref()) {
            return false;
        }
        self.known.add(&store.history, key, Some(value));
        match entry {
            Some(entry) => {
                home.replace(&entry, location, entry.frequency());
                drop(home);
                store.mark_dead(entry.location());
            }
            None => home.insert(location, 0).expect("there is room in the index"),
        }
        true
    }

    pub(super) fn delete(&mut self, key: u64) -> bool {
        self.turn.enter();
        while let Some(found) = self.store.find(key) {
            let location = found.entry.location();
            if self.take_out(key, location) {
                return true;
            }
        }
        self.known.learn(&self.store.history, key, None);
        false
    }

    /// Removes the item at this very location from the index; whether it was there.
    fn take_out(&self, key: u64, location: Location) -> bool {
        let store = &*self.store;
        let home = store.index.lock(hash(key));
        let Some(entry) = home.find_location(location) else { return false };
        self.known.add(&store.history, key, None);
        home.remove(&entry, false);
        drop(home);
        store.mark_dead(location);
        true
    }

    /// Empties the place that was sealed first, if there is one.
    pub(super) fn evict(&mut self, fate: Fate) -> bool {
        self.turn.enter();
        let Some(location) = self.store.claim() else { return false };
        if !self.store.is_dead(location) {
            let key = self.store.item(location).key;
            if self.store.index.find(hash(key), |at| at == location).is_some() {
                let is_kept = matches!(fate, Fate::Keep) && self.relocate(key, location);
                if !is_kept {
                    self.take_out(key, location);
                }
            }
        }
        self.store.retire(location);
        true
    }

    /// Gives the memory of a free place back to the system, if there is one, as when memory goes from a
    /// wide segment to another one.
    pub(super) fn release(&mut self) {
        self.turn.enter();
        let Some((location, _)) = self.store.take() else { return };
        // Its bytes are zeros from here on, as if somebody had written them.
        self.store.fill(location, Item::default());
        self.store.place(location).is_dead.store(true, Ordering::Relaxed);
        self.store.give_back(location);
    }

    /// Copies an item to another place and leads its slot there. False if there is no room for it;
    /// true also if somebody else has replaced or removed it meanwhile.
    fn relocate(&self, key: u64, location: Location) -> bool {
        let store = &*self.store;
        let Some((to, birth)) = store.take() else { return false };
        let home = store.index.lock(hash(key));
        let Some(entry) = home.find_location(location) else {
            drop(home);
            store.give_back(to);
            return true;
        };
        store.fill(to, Item { birth, ..store.item(location) });
        home.replace(&entry, to, entry.frequency());
        drop(home);
        store.mark_dead(location);
        store.seal(to);
        true
    }

    /// A place for an item, emptying one if it must. It passes quiescent states while it waits:
    /// nothing found before is valid after it.
    fn room(&mut self) -> Option<(Location, u64)> {
        if let Some(taken) = self.store.take() {
            return Some(taken);
        }
        let mut waits = 0;
        loop {
            self.quiesce();
            if let Some(taken) = self.store.take() {
                return Some(taken);
            }
            if self.evict(Fate::Drop) {
                continue;
            }
            if waits == self.patience {
                return None;
            }
            pause(0);
            waits += 1;
        }
    }

    /// Moves homes of the index, and gives back memory of its last table.
    pub(super) fn migrate(&mut self, homes: usize) -> bool {
        self.turn.enter();
        self.store.index.migrate(homes, &self.store.epochs, &mut Movers(&self.store))
    }

    /// The end of a turn, and the beginning of the next.
    pub(super) fn quiesce(&mut self) {
        self.turn.quiesce();
        self.turn.enter();
    }

    /// The end of a turn with nothing more to do.
    pub(super) fn rest(&mut self) {
        self.turn.leave();
    }
}

impl Found<'_> {
    pub(super) fn value(&self) -> u64 {
        self.item.value
    }

    /// Reads the item again, which must be as it was for as long as it is borrowed.
    pub(super) fn check(&self) {
        let item = self.store.item(self.entry.location());
        assert_eq!((item.key, item.value), (self.item.key, self.item.value));
    }
}

/// What the index asks about items while it changes its size.
struct Movers<'a>(&'a Store);

impl Keys for Movers<'_> {
    fn hash(&mut self, location: Location) -> u64 {
        hash(self.0.item(location).key)
    }

    fn prefetch(&mut self, _: Location) {}

    fn dropped(&mut self, location: Location) {
        panic!("there is room for {location:?}");
    }
}
