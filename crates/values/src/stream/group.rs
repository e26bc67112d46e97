// SPDX-License-Identifier: Apache-2.0
//! [`StreamGroup`]: a group of consumers, which share the items of a stream.
//!
//! INV-PENDING: each item of a consumer's `ids` is in the group's `pending` with the number of this consumer,
//! and the other way round, but for those that nobody has.

use super::StreamId;
use super::by_age::{Age, ByAge};
use super::chunks::{Place, SortedChunks};
use super::consumers::{Consumers, StreamConsumer};
use super::items::Items;
use super::pending::Pending;
use allocator::size_class;
use std::ops::RangeInclusive;

/// A consumer group.
#[derive(Clone, Debug)]
pub struct StreamGroup {
    name: Box<[u8]>,
    pub(super) last_id: StreamId,
    pub(super) read: Option<u64>,
    pending: SortedChunks<Pending>,
    /// The same by age, if a client has asked for them in this order.
    ages: Option<ByAge>,
    /// How often items were given back.
    turns: u64,
    pub(super) consumers: Consumers,
}

/// An item that was given to a consumer, who has not acknowledged it yet.
#[derive(Clone, Copy, Debug)]
pub struct PendingItem<'a> {
    /// The id of the item, which may have been deleted.
    pub id: StreamId,
    /// Who has it; `None`: it was given back.
    pub consumer: Option<&'a StreamConsumer>,
    /// When it was given to the consumer, in unix milliseconds.
    pub time_ms: u64,
    /// How often it was given to a consumer.
    pub deliveries: u64,
}

impl StreamGroup {
    pub(super) fn new(name: &[u8], last_id: StreamId, read: Option<u64>) -> Self {
        StreamGroup {
            name: name.into(),
            last_id,
            read,
            pending: SortedChunks::new(),
            ages: None,
            turns: 0,
            consumers: Consumers::new(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The greatest id that was given to a consumer, or set.
    pub fn last_id(&self) -> StreamId {
        self.last_id
    }

    /// How many items of the stream the group has read, if that is known.
    pub fn read(&self) -> Option<u64> {
        self.read
    }

    /// How many items are not acknowledged.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How many of these were given back, so that nobody has them. O(N) in the consumers.
    pub fn given_back(&self) -> usize {
        self.pending.len() - self.consumers().map(StreamConsumer::pending).sum::<usize>()
    }

    /// How many consumers there are.
    pub fn consumers_len(&self) -> usize {
        self.consumers.len()
    }

    /// The consumers in the order of their names.
    pub fn consumers(&self) -> impl Iterator<Item = &StreamConsumer> {
        self.consumers.iter()
    }

    /// The consumer with this name.
    pub fn consumer(&self, name: &[u8]) -> Option<&StreamConsumer> {
        self.consumers.get(self.consumers.find(name)?)
    }

    /// The items with ids in a range that are not acknowledged.
    pub fn pending_items(
        &self,
        ids: RangeInclusive<StreamId>,
    ) -> impl DoubleEndedIterator<Item = PendingItem<'_>> {
        let (start, end) = (self.place(*ids.start()), self.place_behind(*ids.end()));
        self.pending.range(start, end).map(|pending| self.shown(pending))
    }

    /// The same of one consumer.
    pub fn pending_items_of<'a>(
        &'a self,
        consumer: &'a StreamConsumer,
        ids: RangeInclusive<StreamId>,
    ) -> impl Iterator<Item = PendingItem<'a>> {
        let start = consumer.ids.partition(|id| id < ids.start());
        let end = consumer.ids.partition(|id| id <= ids.end());
        consumer.ids.range(start, end).filter_map(|id| self.pending_item(*id))
    }

    /// What is known of an item that is not acknowledged.
    pub fn pending_item(&self, id: StreamId) -> Option<PendingItem<'_>> {
        self.find(id).map(|pending| self.shown(pending))
    }

    fn shown(&self, pending: &Pending) -> PendingItem<'_> {
        PendingItem {
            id: pending.id,
            consumer: self.consumers.get(pending.consumer),
            time_ms: pending.time_ms(),
            deliveries: pending.deliveries(),
        }
    }

    fn place(&self, id: StreamId) -> Place {
        self.pending.partition(|pending| pending.id < id)
    }

    fn place_behind(&self, id: StreamId) -> Place {
        self.pending.partition(|pending| pending.id <= id)
    }

    pub(super) fn find(&self, id: StreamId) -> Option<&Pending> {
        self.pending.get(self.place(id)).filter(|pending| pending.id == id)
    }

    /// Gives an item to a consumer, whoever had it before.
    pub(super) fn give(&mut self, id: StreamId, consumer: u32, time_ms: u64, deliveries: u64) {
        let before = self.put(Pending::new(id, consumer, time_ms, deliveries));
        if before == Some(consumer) {
            return;
        }
        if let Some(before) = before {
            self.take_from(before, id);
        }
        self.consumers.edit(consumer, |consumer| {
            let place = consumer.ids.partition(|other| *other < id);
            consumer.ids.insert(place, id);
        });
    }

    /// Takes an item from its consumer, if one has it. It is behind all that were given back before.
    pub(super) fn give_back(&mut self, id: StreamId, deliveries: u64) {
        self.turns += 1;
        if let Some(before) = self.put(Pending::given_back(id, self.turns, deliveries)) {
            self.take_from(before, id);
        }
    }

    /// Notes who has an item; the number of the one who had it, if it was pending.
    fn put(&mut self, given: Pending) -> Option<u32> {
        if let Some(ages) = &mut self.ages {
            ages.insert(&given);
        }
        let place = self.place(given.id);
        match self.pending.get_mut(place).filter(|pending| pending.id == given.id) {
            Some(pending) => {
                let before = std::mem::replace(pending, given);
                if let Some(ages) = &mut self.ages {
                    ages.remove(&before);
                }
                Some(before.consumer)
            }
            None => {
                self.pending.insert(place, given);
                None
            }
        }
    }

    /// Removes what is pending at a place.
    fn remove_pending(&mut self, place: Place) {
        let gone = self.pending.remove(place);
        if let Some(ages) = &mut self.ages {
            ages.remove(&gone);
        }
    }

    /// From when on the first of those that are in `items` can be claimed by one who claims what others have had
    /// for `idle_ms_min` milliseconds, in unix milliseconds.
    pub(super) fn claimable_ms(&self, items: &Items, idle_ms_min: u64) -> Option<u64> {
        let is_there = |age: &Age| items.get(age.id).is_some();
        let first = match &self.ages {
            Some(ages) => ages.iter().copied().find(is_there),
            None => self.pending.iter().map(Age::of).filter(is_there).min(),
        };
        first.map(|age| age.claimable_ms(idle_ms_min))
    }

    /// The pending items by age.
    pub(super) fn by_age(&mut self) -> &ByAge {
        self.ages.get_or_insert_with(|| ByAge::new(self.pending.iter()))
    }

    /// Removes an item from those of a consumer.
    fn take_from(&mut self, consumer: u32, id: StreamId) {
        self.consumers.edit(consumer, |consumer| {
            let place = consumer.ids.partition(|other| *other < id);
            if consumer.ids.get(place) == Some(&id) {
                consumer.ids.remove(place);
            }
        });
    }

    /// Acknowledges an item; whether it was pending.
    pub(super) fn acknowledge(&mut self, id: StreamId) -> bool {
        let place = self.place(id);
        let Some(consumer) = self.pending.get(place).filter(|pending| pending.id == id) else {
            return false;
        };
        let consumer = consumer.consumer;
        self.remove_pending(place);
        self.take_from(consumer, id);
        true
    }

    /// Removes a consumer and all that it has not acknowledged; how much that was.
    pub(super) fn remove_consumer(&mut self, name: &[u8]) -> Option<usize> {
        let mut consumer = self.consumers.remove(name)?;
        let count = consumer.ids.len();
        while let Some(id) = consumer.ids.pop_first() {
            self.remove_pending(self.place(id));
        }
        Some(count)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_class(size_of::<Self>())
            + size_class(self.name.len())
            + self.pending.heap_bytes()
            + self.ages.as_ref().map_or(0, ByAge::heap_bytes)
            + self.consumers.heap_bytes()
    }

    /// Frees a piece of it, which must not be used then; how many elements that were. `None`: there is no
    /// piece left.
    pub(super) fn free_some(&mut self) -> Option<usize> {
        if let Some(ages) = self.ages.as_mut().and_then(ByAge::free_some) {
            return Some(ages);
        }
        match self.pending.take_chunk() {
            Some(chunk) => Some(chunk.len()),
            None => self.consumers.free_some(),
        }
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        self.consumers.check();
        self.pending.check(|one, next| one.id < next.id);
        if let Some(ages) = &self.ages {
            ages.check(self.pending.iter());
        }
        let owned = self.pending.iter().filter(|pending| pending.consumer != Pending::NOBODY);
        assert_eq!(owned.count(), self.consumers().map(StreamConsumer::pending).sum::<usize>());
        for consumer in self.consumers() {
            for item in self.pending_items_of(consumer, StreamId::MIN..=StreamId::MAX) {
                let name = item.consumer.map(StreamConsumer::name);
                assert_eq!(name, Some(consumer.name()), "INV-PENDING");
            }
        }
    }
}
