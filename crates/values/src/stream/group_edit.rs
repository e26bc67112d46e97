// SPDX-License-Identifier: Apache-2.0
//! [`StreamGroupMut`]: a consumer group to edit, with the items of its stream.

use super::StreamId;
use super::by_age::ByAge;
use super::group::StreamGroup;
use super::items::Items;
use super::node::StreamItem;
use std::ops::Deref;

/// A consumer group to edit. It is also a [`StreamGroup`], to read.
#[derive(Debug)]
pub struct StreamGroupMut<'a> {
    items: &'a Items,
    group: &'a mut StreamGroup,
    /// The memory of the group before.
    before: usize,
    /// The memory of all groups.
    bytes: &'a mut usize,
}

/// The number of a consumer within its group. It is valid while the consumer is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerNumber(u32);

/// How items are claimed for a consumer.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The consumer that gets them.
    pub consumer: ConsumerNumber,
    /// For how long the one that has them must have had them, in milliseconds.
    pub idle_ms_min: u64,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
    /// Since when the new consumer is to have them.
    pub time_ms: u64,
    /// How often they are to have been delivered; `None`: once more.
    pub deliveries: Option<u64>,
    /// Whether that counts as a delivery.
    pub counts: bool,
    /// Items are claimed that are not pending.
    pub force: bool,
}

/// The outcome of a claim.
#[derive(Debug)]
pub enum Claimed<'a> {
    /// The consumer has it now.
    Item(StreamItem<'a>),
    /// It stays where it is, or is not pending.
    Kept,
    /// It is not in the stream any more, and no longer pending if it was.
    Deleted,
}

impl Deref for StreamGroupMut<'_> {
    type Target = StreamGroup;

    fn deref(&self) -> &StreamGroup {
        self.group
    }
}

impl Drop for StreamGroupMut<'_> {
    fn drop(&mut self) {
        *self.bytes = *self.bytes - self.before + self.group.heap_bytes();
    }
}

impl<'a> StreamGroupMut<'a> {
    pub(super) fn new(items: &'a Items, group: &'a mut StreamGroup, bytes: &'a mut usize) -> Self {
        StreamGroupMut { items, before: group.heap_bytes(), group, bytes }
    }

    /// The items of the stream.
    pub(super) fn items(&self) -> &'a Items {
        self.items
    }

    /// The item with this id.
    pub(super) fn item(&self, id: StreamId) -> Option<StreamItem<'a>> {
        self.items.get(id)
    }

    /// The pending items by age.
    pub(super) fn by_age(&mut self) -> &ByAge {
        self.group.by_age()
    }

    /// Gives an item to a consumer, whoever had it before.
    pub(super) fn give(
        &mut self,
        id: StreamId,
        consumer: ConsumerNumber,
        time_ms: u64,
        deliveries: u64,
    ) {
        self.group.give(id, consumer.0, time_ms, deliveries);
    }

    /// Gives a consumer an item, which nobody has yet.
    pub(crate) fn take_over(
        &mut self,
        id: StreamId,
        consumer: ConsumerNumber,
        time_ms: u64,
        deliveries: u64,
    ) {
        self.give(id, consumer, time_ms, deliveries);
    }

    /// Takes an item from its consumer.
    pub(super) fn return_item(&mut self, id: StreamId, deliveries: u64) {
        self.group.give_back(id, deliveries);
    }

    /// Sets up to which item the group has read, and how many that are.
    pub fn set_last_id(&mut self, id: StreamId, read: Option<u64>) {
        (self.group.last_id, self.group.read) = (id, read);
    }

    /// Adds a consumer; whether its name is new.
    pub fn add_consumer(&mut self, name: &[u8], now_ms: u64) -> bool {
        let is_new = self.group.consumers.find(name).is_none();
        if is_new {
            self.group.consumers.add(name, now_ms);
        }
        is_new
    }

    /// Removes a consumer, and all that it has not acknowledged; how much that was.
    pub fn remove_consumer(&mut self, name: &[u8]) -> Option<usize> {
        self.group.remove_consumer(name)
    }

    /// A consumer that reads or claims now, and whether it is new.
    pub fn see(&mut self, name: &[u8], now_ms: u64) -> (ConsumerNumber, bool) {
        let found = self.group.consumers.find(name);
        let number = found.unwrap_or_else(|| self.group.consumers.add(name, now_ms));
        self.group.consumers.edit(number, |consumer| consumer.seen_ms = now_ms);
        (ConsumerNumber(number), found.is_none())
    }

    /// Notes that a consumer got something.
    pub fn set_active(&mut self, consumer: ConsumerNumber, now_ms: u64) {
        self.group.consumers.edit(consumer.0, |consumer| consumer.active_ms = Some(now_ms));
    }

    /// Whether the stream has items that the group has not read.
    pub fn has_news(&self) -> bool {
        self.items.last_live_id() > self.group.last_id
    }

    /// Gives the next items of the stream to a consumer, at most `count`, and as long as `take` returns true, which
    /// is called with each. They are pending then, unless it wants no acknowledgement.
    pub fn deliver(
        &mut self,
        consumer: ConsumerNumber,
        count: usize,
        now_ms: u64,
        acknowledged: bool,
        mut take: impl FnMut(StreamItem<'a>) -> bool,
    ) -> usize {
        let Some(start) = self.group.last_id.next() else { return 0 };
        let mut given = 0;
        for item in self.items.range(start, StreamId::MAX).take(count) {
            if !take(item) {
                break;
            }
            let group = &mut *self.group;
            group.read = self.items.count_read(group.read, group.last_id, item.id);
            group.last_id = item.id;
            if !acknowledged {
                group.give(item.id, consumer.0, now_ms, 1);
            }
            given += 1;
        }
        given
    }

    /// Gives a consumer again what it has not acknowledged, from `start` on, at most `count`, and as long as `take`
    /// returns true. It is called with each id, and the item if it is not deleted.
    pub fn deliver_again(
        &mut self,
        consumer: ConsumerNumber,
        start: StreamId,
        count: usize,
        now_ms: u64,
        mut take: impl FnMut(StreamId, Option<StreamItem<'a>>) -> bool,
    ) -> usize {
        let (mut next, mut given) = (Some(start), 0);
        while given < count
            && let Some(id) = next.and_then(|next| self.next_of(consumer, next))
        {
            let item = self.items.get(id);
            if !take(id, item) {
                break;
            }
            if item.is_some() {
                let deliveries = self.group.find(id).map_or(0, |pending| pending.deliveries());
                self.group.give(id, consumer.0, now_ms, deliveries.saturating_add(1));
            }
            next = id.next();
            given += 1;
        }
        given
    }

    /// The first id from `start` on that a consumer has not acknowledged.
    fn next_of(&self, consumer: ConsumerNumber, start: StreamId) -> Option<StreamId> {
        let ids = &self.group.consumers.get(consumer.0)?.ids;
        ids.get(ids.partition(|id| *id < start)).copied()
    }

    /// Acknowledges an item; whether it was pending.
    pub fn acknowledge(&mut self, id: StreamId) -> bool {
        self.group.acknowledge(id)
    }

    /// Claims an item.
    pub fn claim(&mut self, id: StreamId, claim: &Claim) -> Claimed<'a> {
        let Some(item) = self.items.get(id) else {
            self.group.acknowledge(id);
            return Claimed::Deleted;
        };
        let deliveries = match self.group.pending_item(id) {
            Some(pending) => {
                let idle_ms = claim.now_ms.saturating_sub(pending.time_ms);
                if pending.consumer.is_some() && idle_ms < claim.idle_ms_min {
                    return Claimed::Kept;
                }
                pending.deliveries
            }
            None if claim.force => 1,
            None => return Claimed::Kept,
        };
        let more = deliveries.saturating_add(u64::from(claim.counts));
        let deliveries = claim.deliveries.unwrap_or(more);
        self.group.give(id, claim.consumer.0, claim.time_ms, deliveries);
        self.set_active(claim.consumer, claim.now_ms);
        Claimed::Item(item)
    }

    /// The first id from `start` on that is pending.
    pub fn next_pending(&self, start: StreamId) -> Option<StreamId> {
        self.group.pending_items(start..=StreamId::MAX).next().map(|item| item.id)
    }
}
