// SPDX-License-Identifier: Apache-2.0
//! [`Table`]: for each key the clients that may have it in their caches.
//!
//! The table is split into segments with a lock each, so that workers seldom wait for one another. Totals are
//! counted beside them. What is dropped as a whole is taken apart later, step by step.
//!
//! Clients are remembered by their ids. Those of clients that have ended stay until their key changes, or until
//! there may be so many of them that a sweep pays: it goes through the segments, one per turn of a worker.

use crate::session::memory::{place, text_bytes, trim};
use parking_lot::Mutex;
use protocol::ConnectionId;
use std::collections::hash_map::{HashMap, IntoIter};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use values::hash_of;

/// Number of segments.
const SEGMENTS: usize = 256;

/// Readers that have ended are swept when they may be more than a part of all, and more than this.
const SWEEP_LEAST: usize = 1024;

/// Entries of dropped segments that are freed in one step.
const FREED_AT_ONCE: usize = 500;

/// A part of the table.
#[derive(Debug, Default)]
struct Segment {
    by_key: HashMap<Box<[u8]>, Readers>,
    items: usize,
    bytes: u64,
}

/// The clients that may have a key, in the order of their ids.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// The usual case: no list is allocated.
    One(ConnectionId),
    Many(Vec<ConnectionId>),
}

/// Who may have which keys.
#[derive(Debug)]
pub(super) struct Table {
    segments: Box<[Mutex<Segment>]>,
    keys: AtomicUsize,
    /// Pairs of a key and a client.
    items: AtomicUsize,
    /// Memory of the entries.
    bytes: AtomicU64,
    /// Keys of dropped segments, to be freed.
    dropped: Mutex<Vec<IntoIter<Box<[u8]>, Readers>>>,
    /// An upper bound of the items of clients that have ended since the last sweep began.
    dead: AtomicUsize,
    /// Segments that the present sweep has still to go through.
    unswept: AtomicUsize,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            segments: (0..SEGMENTS).map(|_| Mutex::default()).collect(),
            keys: AtomicUsize::new(0),
            items: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            dropped: Mutex::default(),
            dead: AtomicUsize::new(0),
            unswept: AtomicUsize::new(0),
        }
    }
}

impl Readers {
    pub(super) fn ids(&self) -> &[ConnectionId] {
        match self {
            Readers::One(id) => std::slice::from_ref(id),
            Readers::Many(ids) => ids,
        }
    }

    /// Adds a client; returns whether it is new.
    fn add(&mut self, id: ConnectionId) -> bool {
        let Err(at) = self.ids().binary_search(&id) else { return false };
        match self {
            Readers::One(other) => {
                let mut ids = vec![*other];
                ids.insert(at, id);
                *self = Readers::Many(ids);
            }
            Readers::Many(ids) => ids.insert(at, id),
        }
        true
    }

    /// Bytes of its list.
    fn bytes(&self) -> u64 {
        match self {
            Readers::One(_) => 0,
            Readers::Many(ids) => text_bytes(ids.capacity() * size_of::<ConnectionId>()),
        }
    }
}

/// Bytes of an entry.
fn entry_bytes(key: &[u8], readers: &Readers) -> u64 {
    place::<(Box<[u8]>, Readers)>() + text_bytes(key.len()) + readers.bytes()
}

impl Segment {
    /// Adds a client to a key; returns whether it is new.
    fn add(&mut self, key: &[u8], id: ConnectionId) -> bool {
        // A key that is there already is not copied.
        let Some(readers) = self.by_key.get_mut(key) else {
            let readers = Readers::One(id);
            self.items += 1;
            self.bytes += entry_bytes(key, &readers);
            self.by_key.insert(key.into(), readers);
            return true;
        };
        let before = readers.bytes();
        let is_new = readers.add(id);
        self.items += usize::from(is_new);
        self.bytes += readers.bytes() - before;
        is_new
    }

    /// Removes a key.
    fn take(&mut self, key: &[u8]) -> Option<Readers> {
        let (key, readers) = self.by_key.remove_entry(key)?;
        self.items -= readers.ids().len();
        self.bytes -= entry_bytes(&key, &readers);
        trim(&mut self.by_key);
        Some(readers)
    }

    /// Removes the clients for which `is_there` returns false.
    fn sweep(&mut self, is_there: impl Fn(ConnectionId) -> bool) {
        let Segment { by_key, items, bytes } = self;
        by_key.retain(|key, readers| {
            let (ids_before, bytes_before) = (readers.ids().len(), entry_bytes(key, readers));
            let ids = match readers {
                Readers::One(id) => usize::from(is_there(*id)),
                Readers::Many(ids) => {
                    ids.retain(|id| is_there(*id));
                    ids.shrink_to_fit();
                    ids.len()
                }
            };
            *items -= ids_before - ids;
            *bytes -= bytes_before - if ids > 0 { entry_bytes(key, readers) } else { 0 };
            ids > 0
        });
        trim(by_key);
    }
}

impl Table {
    /// Remembers that a client may have a key; returns whether that is new. The caller holds the lock of the
    /// key's shard.
    pub(super) fn add(&self, key: &[u8], id: ConnectionId) -> bool {
        self.change(segment_of(key), |segment| segment.add(key, id))
    }

    /// Forgets a key, and returns the clients that may have it.
    pub(super) fn take(&self, key: &[u8]) -> Option<Readers> {
        if self.keys() == 0 {
            return None;
        }
        self.change(segment_of(key), |segment| segment.take(key))
    }

    /// Forgets some key, of the first segment from this one on that has any.
    pub(super) fn take_any(&self, from: usize) -> Option<(Box<[u8]>, Readers)> {
        (from..from + SEGMENTS).find_map(|at| {
            self.change(at % SEGMENTS, |segment| {
                let key = segment.by_key.keys().next()?.clone();
                let readers = segment.take(&key)?;
                Some((key, readers))
            })
        })
    }

    /// Forgets all keys.
    pub(super) fn clear(&self) {
        if self.keys() == 0 {
            return;
        }
        for at in 0..SEGMENTS {
            let dropped = self.change(at, std::mem::take).by_key;
            if !dropped.is_empty() {
                self.dropped.lock().push(dropped.into_iter());
            }
        }
    }

    /// Takes note of the end of a client for which so many items were added, and begins a sweep if that pays.
    pub(super) fn note_end(&self, items: usize) {
        let dead = self.dead.fetch_add(items, Relaxed).saturating_add(items);
        if dead > SWEEP_LEAST.max(self.items() / 4) {
            self.dead.store(0, Relaxed);
            self.unswept.store(SEGMENTS, Relaxed);
        }
    }

    /// Does a step of what is left to do: sweeps a segment, removing the clients for which `is_there` returns
    /// false, and frees some memory. Returns whether there is more.
    pub(super) fn tidy(&self, is_there: impl Fn(ConnectionId) -> bool) -> bool {
        let next = self.unswept.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if let Ok(left) = next {
            self.change(left - 1, |segment| segment.sweep(is_there));
        }
        let mut all = self.dropped.lock();
        if let Some(mut dropped) = all.pop() {
            dropped.by_ref().take(FREED_AT_ONCE).for_each(drop);
            if dropped.len() > 0 {
                all.push(dropped);
            }
        }
        self.unswept.load(Relaxed) > 0 || !all.is_empty()
    }

    /// Changes a segment, and the totals with it.
    fn change<R>(&self, at: usize, change: impl FnOnce(&mut Segment) -> R) -> R {
        let mut segment = self.segments[at].lock();
        let before = (segment.by_key.len(), segment.items, segment.bytes);
        let result = change(&mut segment);
        if segment.items != before.1 {
            self.keys.fetch_add(segment.by_key.len().wrapping_sub(before.0), Relaxed);
            self.items.fetch_add(segment.items.wrapping_sub(before.1), Relaxed);
            self.bytes.fetch_add(segment.bytes.wrapping_sub(before.2), Relaxed);
        }
        result
    }

    /// How many keys there are.
    #[inline]
    pub(super) fn keys(&self) -> usize {
        self.keys.load(Relaxed)
    }

    /// How many pairs of a key and a client there are.
    pub(super) fn items(&self) -> usize {
        self.items.load(Relaxed)
    }

    /// Memory of the entries, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

/// The segment of a key.
fn segment_of(key: &[u8]) -> usize {
    hash_of(key) as usize % SEGMENTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(serial: u64) -> ConnectionId {
        ConnectionId::new(0, serial)
    }

    fn totals(table: &Table) -> (usize, usize, u64) {
        let sums = table.segments.iter().map(|segment| {
            let segment = segment.lock();
            let bytes: u64 = segment.by_key.iter().map(|(key, ids)| entry_bytes(key, ids)).sum();
            let items: usize = segment.by_key.values().map(|ids| ids.ids().len()).sum();
            (segment.by_key.len(), items, bytes)
        });
        let sums = sums.fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
        assert_eq!(sums, (table.keys(), table.items(), table.bytes()), "the totals are right");
        sums
    }

    #[test]
    fn a_key_is_taken_with_all_who_may_have_it() {
        let table = Table::default();
        assert!(table.add(b"a", id(3)) && table.add(b"a", id(1)) && table.add(b"a", id(2)));
        assert!(table.add(b"b", id(1)) && !table.add(b"a", id(1)) && !table.add(b"b", id(1)));
        let (keys, items, bytes) = totals(&table);
        assert!((keys, items) == (2, 4) && bytes > 0);
        assert_eq!(table.take(b"a").expect("it is there").ids(), [id(1), id(2), id(3)]);
        assert_eq!(table.take(b"a"), None);
        assert_eq!(table.take_any(77), Some((Box::from(*b"b"), Readers::One(id(1)))));
        assert_eq!((table.take_any(0), totals(&table)), (None, (0, 0, 0)));
    }

    #[test]
    fn what_is_dropped_is_freed_in_steps() {
        let table = Table::default();
        for number in 0..10_000_u32 {
            table.add(&number.to_le_bytes(), id(1));
        }
        table.clear();
        assert_eq!(totals(&table), (0, 0, 0));
        let steps = std::iter::repeat_with(|| table.tidy(|_| true)).take_while(|more| *more);
        assert_eq!(steps.count(), SEGMENTS - 1);
        assert!(!table.tidy(|_| true));
    }

    #[test]
    fn a_sweep_removes_clients_that_have_ended() {
        let table = Table::default();
        for number in 0..1000_u32 {
            table.add(&number.to_le_bytes(), id(1));
            table.add(&number.to_le_bytes(), id(u64::from(number % 3)));
        }
        assert_eq!(totals(&table).0, 1000);
        table.note_end(SWEEP_LEAST);
        assert!(!table.tidy(|_| panic!("there are too few")));
        table.note_end(1);
        while table.tidy(|other| other == id(2)) {}
        let (keys, items, _) = totals(&table);
        assert_eq!((keys, items), (333, 333));
        assert!(table.take(&5_u32.to_le_bytes()).expect("a reader").ids() == [id(2)]);
    }
}
