// SPDX-License-Identifier: Apache-2.0
//! [`SegItem`]: a live item, borrowed from its segment.

use crate::class::number_of;
use crate::epoch::Participant;
use crate::evict::is_read;
use crate::heap::ItemRef;
use crate::index::{Entry, Location};
use crate::layout::State;
use crate::segment::Segment;
use crate::shared::Shared;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;
use bytes::Bytes;
use clock::Ticks;
use std::time::Duration;
use storage::{Expiry, Idle, Item, Marks, Version};

/// Values of at least this many bytes can be pinned; shorter ones are cheaper to copy.
pub const PIN_MIN: usize = 16 << 10;

/// A live item. It borrows the store's memory: nothing is copied, and no lock is held.
#[derive(Clone, Copy)]
pub struct SegItem<'a> {
    shared: &'a Arc<Shared>,
    item: ItemRef<'a>,
    location: Location,
    expiry_ms: Option<u64>,
    state: Option<State>,
    was_read: bool,
}

impl std::fmt::Debug for SegItem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SegItem")
            .field("key", &self.key().escape_ascii().to_string())
            .field("value_len", &self.value().len())
            .field("flags", &self.flags())
            .field("expiry", &self.expiry())
            .finish()
    }
}

impl<'a> SegItem<'a> {
    /// The item at a location, if it can be read at `now`.
    ///
    /// Compiled into its callers, as [`SegStore::find`](crate::store::SegStore::find) is: to return an item from a
    /// function copies a cache line and a half.
    #[inline(always)]
    pub(crate) fn live(
        shared: &'a Arc<Shared>,
        _turn: &'a Participant,
        item: ItemRef<'a>,
        location: Location,
        now: Ticks,
    ) -> Option<Self> {
        let mut expiry_ms = None;
        if item.expires() {
            // Read once: a touch by another handle must not change the expiry of a borrowed item.
            expiry_ms = item.expiry_ms(shared.segment_of(location).base_ms());
            if expiry_ms.is_some_and(|at| at <= now.as_millis()) {
                return None;
            }
        }
        let cleared_before = shared.cleared_before();
        if cleared_before != 0 && shared.segment_of(location).birth() < cleared_before {
            return None;
        }
        let state = item.state();
        Some(SegItem { shared, item, location, expiry_ms, state, was_read: false })
    }

    /// The same item, which was read before if its entry says so.
    #[inline(always)]
    pub(crate) fn found_by(self, entry: &Entry<'_>) -> Self {
        SegItem { was_read: is_read(entry.frequency()), ..self }
    }

    pub(crate) fn state(&self) -> Option<State> {
        self.state
    }

    pub(crate) fn item(&self) -> ItemRef<'a> {
        self.item
    }

    pub(crate) fn location(&self) -> Location {
        self.location
    }

    pub(crate) fn expiry_ms(&self) -> Option<u64> {
        self.expiry_ms
    }

    pub(crate) fn version_number(&self) -> u64 {
        self.shared.version(&self.item, self.location)
    }
}

impl Item for SegItem<'_> {
    #[inline]
    fn key(&self) -> &[u8] {
        self.item.key()
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.item.value()
    }

    #[inline]
    fn flags(&self) -> u32 {
        self.item.flags()
    }

    fn version(&self) -> Version {
        Version::new(self.version_number()).expect("INV-VERSION: births begin with one")
    }

    /// A version that is made of a place is unlike those before it, and neither greater nor less: of two that are not the
    /// same, the one that the item does not have any more is the older.
    fn is_newer_than(&self, version: u64) -> bool {
        let own = self.version_number();
        let are_ours = || self.shared.has_issued(own) && self.shared.has_issued(version);
        version < own || version != own && are_ours()
    }

    fn expiry(&self) -> Expiry {
        self.expiry_ms.map_or(Expiry::NEVER, |at| Expiry::at(Ticks::from_millis(at)))
    }

    fn marks(&self) -> Marks {
        self.state.map_or(Marks::NONE, State::marks)
    }

    fn was_read(&self) -> bool {
        self.was_read
    }

    /// Noted to the second for an item that has a state. For others it is estimated by the age of the segment, to
    /// which the item was written or moved later than that.
    fn idle(&self, now: Ticks) -> Idle {
        match self.state {
            Some(state) => Idle::Noted(state.idle(now)),
            None => {
                let base_ms = self.shared.segment_of(self.location).base_ms();
                let age_ms = now.as_millis().saturating_sub(base_ms);
                Idle::Estimated(Duration::from_millis(age_ms))
            }
        }
    }

    /// That of its segment.
    fn class(&self) -> u32 {
        number_of(self.shared.segment_of(self.location).class())
    }

    fn footprint(&self) -> usize {
        self.item.len()
    }

    /// `None` for values shorter than [`PIN_MIN`], and when an eighth of all memory is pinned and this one's segment is not:
    /// clients that do not read their replies must not take the memory from writers.
    fn pin(&self) -> Option<Bytes> {
        if self.value().len() < PIN_MIN {
            return None;
        }
        let pin = Pin::new(self.shared, self.location)?;
        Some(self.shared.bytes(self.location, pin))
    }
}

/// Keeps a segment from being used again for as long as the pin lives.
pub(crate) struct Pin {
    shared: Arc<Shared>,
    segment: u32,
}

impl Pin {
    /// Pins the segment of a location that was found in this turn, unless too much is pinned.
    fn new(shared: &Arc<Shared>, location: Location) -> Option<Self> {
        let (pin, more) = Pin::counted(shared, location);
        // Of the limit and not of what buffers leave of it: the more values are copied, the more buffers have. They leave a
        // quarter at the least, half of which can be written then.
        let most = (shared.pool.total() / 8).max(1) * shared.pool.grains();
        // One more pin of a segment holds no more memory, where a copy would. Over the limit the pin is dropped, which
        // releases it.
        (more == 0 || shared.pinned.load(Ordering::Relaxed) <= most).then_some(pin)
    }

    /// Pins the segment of a location for a short time, however much is pinned.
    pub(crate) fn briefly(shared: &Arc<Shared>, location: Location) -> Self {
        Pin::counted(shared, location).0
    }

    /// Pins the segment of a location. Returns how much memory of it was not pinned before, in grains.
    fn counted(shared: &Arc<Shared>, location: Location) -> (Self, u32) {
        let (segment, _) = shared.heap.place(location);
        let pin = Pin { shared: Arc::clone(shared), segment };
        // A pin holds all the memory of the segment, also what it has got since it was pinned.
        let more = pin.segment().pin();
        if more > 0 {
            shared.pinned.fetch_add(more as usize, Ordering::Relaxed);
        }
        (pin, more)
    }

    fn segment(&self) -> &Segment {
        self.shared.pool.segment(self.segment)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Some(span) = self.segment().unpin() {
            self.shared.pinned.fetch_sub(span as usize, Ordering::Relaxed);
        }
    }
}
