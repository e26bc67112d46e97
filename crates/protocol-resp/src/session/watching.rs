// SPDX-License-Identifier: Apache-2.0
//! [`Watching`]: the keys a connection watches.

use crate::session::memory::name_bytes;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether a key that a connection watches has been changed.
pub(crate) type Mark = Arc<AtomicBool>;

/// The keys a connection watches.
#[derive(Debug, Default)]
pub(crate) struct Watching {
    /// Set when one of the keys is changed.
    mark: Mark,
    /// Each key with its database, and whether there was a live entry when the watch began. If that
    /// entry expires before EXEC, the key has changed although no command touched it.
    keys: HashMap<(usize, Box<[u8]>), bool>,
    /// Memory of the keys in bytes.
    bytes: u64,
}

/// One watched key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched<'a> {
    pub(crate) db: usize,
    pub(crate) key: &'a [u8],
    /// There was a live entry when the watch began.
    pub(crate) was_there: bool,
}

impl Watching {
    /// The mark that is set when one of the keys is changed.
    pub(crate) fn mark(&self) -> Mark {
        Mark::clone(&self.mark)
    }

    /// Whether a watched key was changed.
    pub(crate) fn is_marked(&self) -> bool {
        self.mark.load(Relaxed)
    }

    /// The watched keys.
    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = Watched<'_>> {
        self.keys.iter().map(|(place, was_there)| Watched {
            db: place.0,
            key: &place.1,
            was_there: *was_there,
        })
    }

    /// Watches a key; returns whether it is new.
    pub(crate) fn add(&mut self, db: usize, key: &[u8], was_there: bool) -> bool {
        let Entry::Vacant(place) = self.keys.entry((db, key.into())) else { return false };
        place.insert(was_there);
        self.bytes += name_bytes(key.len());
        true
    }

    /// Ends all watches and returns the keys.
    pub(crate) fn take(&mut self) -> HashMap<(usize, Box<[u8]>), bool> {
        self.bytes = 0;
        std::mem::take(&mut self.keys)
    }

    /// Memory of the keys in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Clears the mark. It is in no table any more, so nobody sets it again.
    pub(crate) fn unmark(&self) {
        self.mark.store(false, Relaxed);
    }
}
