// SPDX-License-Identifier: Apache-2.0
//! Pending items that change hands: oldest first to whoever reads next, or back to the group.

use super::group_edit::{ConsumerNumber, StreamGroupMut};
use super::node::StreamItem;
use super::{PendingItem, StreamId};

/// How often an item was delivered, once it was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deliveries {
    /// Once less: the last delivery does not count.
    Undo,
    /// As often as before.
    Keep,
    /// So often.
    Set(u64),
}

impl<'a> StreamGroupMut<'a> {
    /// Gives a consumer pending items, at most `count`, that others have had for `idle_ms_min` milliseconds or
    /// have given back, as long as `take` returns true, which is called with each and what was known of it. Those that
    /// are deleted are no longer pending then.
    pub fn deliver_oldest(
        &mut self,
        consumer: ConsumerNumber,
        count: usize,
        idle_ms_min: u64,
        now_ms: u64,
        mut take: impl FnMut(StreamItem<'a>, PendingItem<'_>) -> bool,
    ) -> usize {
        let mut given = 0;
        for id in self.oldest(count, idle_ms_min, now_ms) {
            let Some(item) = self.item(id) else {
                self.acknowledge(id);
                continue;
            };
            let Some(pending) = self.pending_item(id) else { continue };
            let deliveries = pending.deliveries.saturating_add(1);
            if !take(item, pending) {
                break;
            }
            self.give(id, consumer, now_ms, deliveries);
            given += 1;
        }
        if given > 0 {
            self.set_active(consumer, now_ms);
        }
        given
    }

    /// See [`StreamRef::claimable_ms`](super::StreamRef::claimable_ms). From here on the group has its pending items by age,
    /// which finds this fast.
    pub fn claimable_ms(&mut self, idle_ms_min: u64) -> Option<u64> {
        self.by_age();
        (**self).claimable_ms(self.items(), idle_ms_min)
    }

    /// The ids of the first `count` items that can be claimed, and of deleted ones between them.
    fn oldest(&mut self, count: usize, idle_ms_min: u64, now_ms: u64) -> Vec<StreamId> {
        let items = self.items();
        let mut left = count;
        let ages = self.by_age().iter();
        ages.take_while(|age| age.claimable_ms(idle_ms_min) <= now_ms)
            .take_while(|age| {
                let has_room = left > 0;
                left = left.saturating_sub(items.get(age.id).is_some().into());
                has_room
            })
            .map(|age| age.id)
            .collect()
    }

    /// Takes a pending item from its consumer, so that anybody may claim it; whether it is pending. An item that
    /// is not becomes so if `force`, and it is there.
    pub fn give_back(&mut self, id: StreamId, deliveries: Deliveries, force: bool) -> bool {
        let before = match self.pending_item(id) {
            Some(pending) => pending.deliveries,
            None if force && self.item(id).is_some() => 0,
            None => return false,
        };
        let deliveries = match deliveries {
            Deliveries::Undo => before.saturating_sub(1),
            Deliveries::Keep => before,
            Deliveries::Set(deliveries) => deliveries,
        };
        self.return_item(id, deliveries);
        true
    }
}
