// SPDX-License-Identifier: Apache-2.0
//! [`HashMapItem`]: a live item, borrowed under its shard's lock.

use crate::item_state::ItemState;
use crate::record::Record;
use crate::shard::Shard;
use crate::slab::{Entry, NEVER_MS};
use bytes::Bytes;
use clock::Ticks;
use parking_lot::{MappedMutexGuard, MutexGuard};
use storage::{Expiry, Idle, Item, Marks, Version};

/// A live item. While it is held its shard is locked: copy or pin the value and drop the item.
#[derive(Debug)]
pub struct HashMapItem<'a> {
    source: Source<'a>,
    /// What was known of it before this read.
    known: Known,
}

/// What is known of an item besides its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) expiry_ms: u64,
    pub(crate) state: ItemState,
}

impl Known {
    pub(crate) fn of(entry: &Entry) -> Self {
        Known { expiry_ms: entry.expiry_ms, state: entry.record.state() }
    }
}

#[derive(Debug)]
enum Source<'a> {
    /// Lent by a get, together with the lock.
    Locked(MappedMutexGuard<'a, Record>),
    /// Lent by an update, which holds the lock.
    Borrowed(&'a Record),
}

impl<'a> HashMapItem<'a> {
    #[inline]
    pub(crate) fn locked(shard: MutexGuard<'a, Shard>, slot: u32, known: Known) -> Self {
        let record = MutexGuard::map(shard, |shard| &mut shard.slab.entry_mut(slot).record);
        HashMapItem { source: Source::Locked(record), known }
    }

    pub(crate) fn borrowed(entry: &'a Entry) -> Self {
        HashMapItem { source: Source::Borrowed(&entry.record), known: Known::of(entry) }
    }

    #[inline]
    fn record(&self) -> &Record {
        match &self.source {
            Source::Locked(guard) => guard,
            Source::Borrowed(record) => record,
        }
    }
}

impl Item for HashMapItem<'_> {
    #[inline]
    fn key(&self) -> &[u8] {
        self.record().key()
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.record().value()
    }

    #[inline]
    fn flags(&self) -> u32 {
        self.record().flags()
    }

    #[inline]
    fn version(&self) -> Version {
        Version::new(self.record().version()).expect("INV-VERSION: the first version is one")
    }

    fn expiry(&self) -> Expiry {
        match self.known.expiry_ms {
            NEVER_MS => Expiry::NEVER,
            millis => Expiry::at(Ticks::from_millis(millis)),
        }
    }

    fn marks(&self) -> Marks {
        self.known.state.marks()
    }

    fn was_read(&self) -> bool {
        self.known.state.was_read()
    }

    /// Noted to about a minute.
    fn idle(&self, now: Ticks) -> Idle {
        Idle::Noted(self.known.state.idle(now))
    }

    fn footprint(&self) -> usize {
        self.record().cost() as usize
    }

    fn pin(&self) -> Option<Bytes> {
        self.record().pin()
    }
}
