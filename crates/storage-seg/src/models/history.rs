// SPDX-License-Identifier: Apache-2.0
//! [`History`]: the values published under each key, in order, and [`Known`]: how much of it a
//! thread must know. Loom does not see these types, so they do not order the threads.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard};

/// Keys are below this.
const KEYS: usize = 8;

/// The values of each key in the order in which they were published; `None` when it was removed.
#[derive(Default)]
pub(super) struct History([Mutex<Vec<Option<u64>>>; KEYS]);

/// The last event of each key that the thread has caused or seen.
pub(super) struct Known([Cell<usize>; KEYS]);

impl History {
    /// The events of a key. The first one is that it has no value.
    fn of(&self, key: u64) -> MutexGuard<'_, Vec<Option<u64>>> {
        let mut events = self.0[key as usize].lock().expect("no thread panics with the lock");
        if events.is_empty() {
            events.push(None);
        }
        events
    }

    /// What each key has in the end.
    pub(super) fn ends(&self) -> impl Iterator<Item = (u64, Option<u64>)> {
        (0..KEYS as u64).map(|key| (key, self.of(key).last().copied().flatten()))
    }
}

impl Known {
    /// The knowledge of a thread that starts after all events so far.
    pub(super) fn all_of(history: &History) -> Self {
        Known(std::array::from_fn(|key| Cell::new(history.of(key as u64).len() - 1)))
    }

    /// The thread is about to publish a value under a key, or to remove it, with its home locked.
    pub(super) fn add(&self, history: &History, key: u64, value: Option<u64>) {
        let mut events = history.of(key);
        events.push(value);
        self.0[key as usize].set(events.len() - 1);
    }

    /// Checks that the thread has found the last event it knew of, or a later one.
    pub(super) fn learn(&self, history: &History, key: u64, found: Option<u64>) {
        let events = history.of(key);
        let known = &self.0[key as usize];
        let since = events[known.get()..].iter().position(|&event| event == found);
        let Some(since) = since else {
            panic!("{found:?} under key {key} after event {} of {events:?}", known.get());
        };
        known.set(known.get() + since);
    }
}
