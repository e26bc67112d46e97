// SPDX-License-Identifier: Apache-2.0
//! [`Watches`]: the keys that clients watch for their transactions (WATCH).
//!
//! A writer marks the watchers of a key while it holds the lock of the key's shard. A transaction
//! checks its mark while it holds the locks of all keys it watches. So it sees every earlier
//! change, and no change can come between the check and its commands.

use super::counting_filter::CountingFilter;
use super::crowd::{Crowd, Identified};
use super::interest::Interest;
use crate::session::memory::trim;
use crate::session::watching::Mark;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A watcher of a key.
#[derive(Debug)]
struct Watcher {
    mark: Mark,
    /// Whether the key existed when the watch began.
    was_there: bool,
}

impl Identified for Watcher {
    /// The address of its mark.
    type Id = usize;

    fn id(&self) -> usize {
        address(&self.mark)
    }
}

fn address(mark: &Mark) -> usize {
    Arc::as_ptr(mark).addr()
}

/// The watchers of each key of a database.
type Keys = HashMap<Box<[u8]>, Crowd<Watcher>>;

/// All watched keys of a process.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    /// Those of each database.
    by_key: Mutex<HashMap<usize, Keys>>,
    /// The watched keys, to test for quickly.
    filter: CountingFilter,
}

impl Watches {
    /// Registers `mark`, which this key does not have yet, to be set when `key` changes; `was_there` tells whether the
    /// key exists now. The caller holds the lock of the key's shard.
    pub(crate) fn watch(
        &self,
        interest: &Interest,
        db: usize,
        key: &[u8],
        mark: &Mark,
        was_there: bool,
    ) {
        let mut by_key = self.by_key.lock();
        let watcher = Watcher { mark: Arc::clone(mark), was_there };
        by_key.entry(db).or_default().entry(key.into()).or_default().add(watcher);
        self.filter.add(key);
        interest.set_watched(true);
    }

    /// How many keys are watched.
    pub(crate) fn len(&self) -> usize {
        self.by_key.lock().values().map(HashMap::len).sum()
    }

    /// Removes `mark` from a key.
    pub(crate) fn unwatch(&self, interest: &Interest, db: usize, key: &[u8], mark: &Mark) {
        let mut by_key = self.by_key.lock();
        if let Some(keys) = by_key.get_mut(&db)
            && let Some(watchers) = keys.get_mut(key)
        {
            if watchers.remove(address(mark)).is_some() {
                self.filter.remove(key);
            }
            if watchers.is_empty() {
                keys.remove(key);
                trim(keys);
            }
            if keys.is_empty() {
                by_key.remove(&db);
            }
        }
        // Under the lock, so that no watch that begins now is missed.
        interest.set_watched(!by_key.is_empty());
    }

    /// Marks the watchers of `key`. The caller holds the lock of the key's shard.
    pub(crate) fn touch(&self, db: usize, key: &[u8]) {
        self.touch_if(db, key, |_| true);
    }

    /// [`Watches::touch`] for an entry that has expired: for clients that began to watch after it
    /// expired, nothing has changed.
    pub(crate) fn touch_expired(&self, db: usize, key: &[u8]) {
        self.touch_if(db, key, |watcher| watcher.was_there);
    }

    fn touch_if(&self, db: usize, key: &[u8], is_meant: impl Fn(&Watcher) -> bool) {
        if !self.filter.may_hold(key) {
            return;
        }
        let by_key = self.by_key.lock();
        if let Some(watchers) = by_key.get(&db).and_then(|keys| keys.get(key)) {
            for watcher in watchers.iter().filter(|watcher| is_meant(watcher)) {
                watcher.mark.store(true, Relaxed);
            }
        }
    }

    /// Marks the watchers of all keys of database `db` for which `changed` returns true. The caller
    /// holds all locks.
    pub(crate) fn touch_all(&self, db: usize, mut changed: impl FnMut(&[u8]) -> bool) {
        for (key, watchers) in self.by_key.lock().get(&db).into_iter().flatten() {
            if changed(key) {
                for watcher in watchers.iter() {
                    watcher.mark.store(true, Relaxed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_marks_those_who_watch_that_key_in_that_database() {
        let (watches, interest) = (Watches::default(), Interest::default());
        let (mine, other) = (Mark::default(), Mark::default());
        watches.watch(&interest, 0, b"key", &mine, true);
        watches.watch(&interest, 1, b"key", &other, true);
        watches.touch(0, b"key");
        assert!(mine.load(Relaxed) && !other.load(Relaxed));
        watches.touch_all(1, |key| key == b"key");
        assert!(other.load(Relaxed));
        watches.unwatch(&interest, 0, b"key", &mine);
        assert!(interest.any());
        watches.unwatch(&interest, 1, b"key", &other);
        assert!(!interest.any());
    }

    #[test]
    fn the_end_of_what_had_expired_before_marks_nobody() {
        let (watches, interest) = (Watches::default(), Interest::default());
        let (saw, missed) = (Mark::default(), Mark::default());
        watches.watch(&interest, 0, b"key", &saw, true);
        watches.watch(&interest, 0, b"key", &missed, false);
        watches.touch_expired(0, b"key");
        assert!(saw.load(Relaxed) && !missed.load(Relaxed));
        watches.touch(0, b"key");
        assert!(missed.load(Relaxed));
    }
}
