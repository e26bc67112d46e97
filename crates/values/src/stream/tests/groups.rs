// SPDX-License-Identifier: Apache-2.0
//! Random operations on consumer groups and on plain maps.

use super::super::*;
use super::readings;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Items of the stream.
const ITEMS: u64 = 300;

#[derive(Clone, Debug)]
enum Operation {
    Deliver { consumer: u8, count: usize, acknowledged: bool },
    Again { consumer: u8, from: u64, count: usize },
    Acknowledge(u64),
    Claim { consumer: u8, id: u64, idle: u64, force: bool, just_id: bool },
    SetLast(u64),
    RemoveConsumer(u8),
    Delete(u64),
    DeleteWith(u64, References),
    Trim { to: usize, by_id: bool, references: References },
    Oldest { consumer: u8, count: usize, idle: u64 },
    GiveBack { id: u64, deliveries: Deliveries, force: bool },
}

/// Stands for the consumer of an item that was given back.
const NOBODY: u8 = u8::MAX;

fn operation() -> impl Strategy<Value = Operation> {
    let (consumer, id) = (|| 0..4_u8, || 0..ITEMS);
    let references = || {
        let all = vec![References::Keep, References::Delete, References::Acknowledged];
        proptest::sample::select(all)
    };
    let deliveries = prop_oneof![
        Just(Deliveries::Undo),
        Just(Deliveries::Keep),
        (0..9_u64).prop_map(Deliveries::Set),
    ];
    prop_oneof![
        3 => (consumer(), 0..40_usize, any::<bool>()).prop_map(|(consumer, count, acknowledged)| {
            Operation::Deliver { consumer, count, acknowledged }
        }),
        1 => (consumer(), id(), 0..40_usize)
            .prop_map(|(consumer, from, count)| Operation::Again { consumer, from, count }),
        4 => id().prop_map(Operation::Acknowledge),
        4 => (consumer(), id(), 0..20_u64, any::<bool>(), any::<bool>()).prop_map(
            |(consumer, id, idle, force, just_id)| {
                Operation::Claim { consumer, id, idle, force, just_id }
            }
        ),
        1 => id().prop_map(Operation::SetLast),
        1 => consumer().prop_map(Operation::RemoveConsumer),
        1 => id().prop_map(Operation::Delete),
        1 => (id(), references()).prop_map(|(id, how)| Operation::DeleteWith(id, how)),
        1 => (0..ITEMS as usize, any::<bool>(), references())
            .prop_map(|(to, by_id, references)| Operation::Trim { to, by_id, references }),
        3 => (consumer(), 0..40_usize, 0..20_u64)
            .prop_map(|(consumer, count, idle)| Operation::Oldest { consumer, count, idle }),
        3 => (id(), deliveries, any::<bool>())
            .prop_map(|(id, deliveries, force)| Operation::GiveBack { id, deliveries, force }),
    ]
}

/// The id of an item by its number.
fn id(number: u64) -> StreamId {
    StreamId::new(1_700_000_000_000 + number, 0)
}

#[derive(Default)]
struct Model {
    items: BTreeSet<StreamId>,
    last: StreamId,
    /// By id: the consumer, when and how often.
    pending: BTreeMap<StreamId, (u8, u64, u64)>,
    consumers: BTreeSet<u8>,
    /// Items that were given back, in this order.
    returned: Vec<StreamId>,
}

impl Model {
    fn apply(&mut self, stream: &mut StreamMut<'_>, operation: &Operation, now: u64) {
        match *operation {
            Operation::Delete(number) => {
                assert_eq!(stream.remove(id(number)), self.items.remove(&id(number)));
                return;
            }
            Operation::DeleteWith(number, references) => {
                let removed = self.remove(id(number), references);
                assert_eq!(stream.remove_with(id(number), references), removed);
                return;
            }
            Operation::Trim { to, by_id, references } => {
                let to = if by_id { TrimTo::Id(id(to as u64)) } else { TrimTo::Length(to) };
                let removed = self.trim(to, references);
                let trim = Trim { to, by_nodes: false, limit: None, references };
                assert_eq!(stream.trim(&trim), removed);
                return;
            }
            _ => {}
        }
        let mut group = stream.group_mut(b"group").unwrap();
        match *operation {
            Operation::Deliver { consumer, count, acknowledged } => {
                self.deliver(&mut group, consumer, count, acknowledged, now);
            }
            Operation::Again { consumer, from, count } => {
                self.deliver_again(&mut group, consumer, id(from), count, now);
            }
            Operation::Acknowledge(number) => {
                let was_pending = self.pending.remove(&id(number)).is_some();
                assert_eq!(group.acknowledge(id(number)), was_pending);
            }
            Operation::Claim { consumer, id: number, idle, force, just_id } => {
                let (of, is_new) = group.see(&[consumer], now);
                assert_eq!(is_new, self.consumers.insert(consumer));
                let claim = Claim {
                    consumer: of,
                    idle_ms_min: idle,
                    now_ms: now,
                    time_ms: now,
                    deliveries: None,
                    counts: !just_id,
                    force,
                };
                let claimed = matches!(group.claim(id(number), &claim), Claimed::Item(_));
                assert_eq!(claimed, self.claim(id(number), consumer, idle, force, just_id, now));
            }
            Operation::SetLast(number) => {
                self.last = id(number);
                group.set_last_id(self.last, None);
            }
            Operation::RemoveConsumer(consumer) => {
                let was_there = self.consumers.remove(&consumer);
                let before = self.pending.len();
                self.pending.retain(|_, (of, ..)| *of != consumer);
                let removed = group.remove_consumer(&[consumer]);
                assert_eq!(removed, was_there.then_some(before - self.pending.len()));
            }
            Operation::Oldest { consumer, count, idle } => {
                let (number, is_new) = group.see(&[consumer], now);
                assert_eq!(is_new, self.consumers.insert(consumer));
                let mut given = Vec::new();
                group.deliver_oldest(number, count, idle, now, |item, pending| {
                    given.push((item.id, pending.time_ms, pending.deliveries));
                    true
                });
                assert_eq!(given, self.oldest(consumer, count, idle, now));
            }
            Operation::GiveBack { id: number, deliveries, force } => {
                let expected = self.give_back(id(number), deliveries, force);
                assert_eq!(group.give_back(id(number), deliveries, force), expected);
            }
            Operation::Delete(_) | Operation::DeleteWith(..) | Operation::Trim { .. } => {}
        }
    }

    /// Bounds what is delivered in advance, or once there is enough.
    fn most(count: usize, now: u64) -> usize {
        if now.is_multiple_of(2) { count } else { usize::MAX }
    }

    fn deliver(
        &mut self,
        group: &mut StreamGroupMut<'_>,
        consumer: u8,
        count: usize,
        acknowledged: bool,
        now: u64,
    ) {
        let (number, is_new) = group.see(&[consumer], now);
        assert_eq!(is_new, self.consumers.insert(consumer));
        let mut given = Vec::new();
        group.deliver(number, Self::most(count, now), now, acknowledged, |item| {
            let is_taken = given.len() < count;
            given.extend(is_taken.then_some(item.id));
            is_taken
        });
        let behind = self.items.iter().filter(|id| **id > self.last).take(count);
        assert!(given.iter().eq(behind));
        self.last = given.last().copied().unwrap_or(self.last);
        if !acknowledged {
            self.pending.extend(given.into_iter().map(|id| (id, (consumer, now, 1))));
        }
    }

    fn deliver_again(
        &mut self,
        group: &mut StreamGroupMut<'_>,
        consumer: u8,
        from: StreamId,
        count: usize,
        now: u64,
    ) {
        let (number, is_new) = group.see(&[consumer], now);
        assert_eq!(is_new, self.consumers.insert(consumer));
        let mut given = Vec::new();
        group.deliver_again(number, from, Self::most(count, now), now, |id, item| {
            let is_taken = given.len() < count;
            given.extend(is_taken.then_some((id, item.is_some())));
            is_taken
        });
        let own = self.pending.range_mut(from..).filter(|(_, (of, ..))| *of == consumer);
        let mut expected = Vec::new();
        for (id, (_, time, deliveries)) in own.take(count) {
            let is_there = self.items.contains(id);
            if is_there {
                (*time, *deliveries) = (now, *deliveries + 1);
            }
            expected.push((*id, is_there));
        }
        assert_eq!(given, expected);
    }

    /// Forgets those that are not given back any more.
    fn tidy(&mut self) {
        let is_back = |id: &StreamId| self.pending.get(id).is_some_and(|(of, ..)| *of == NOBODY);
        self.returned.retain(is_back);
    }

    fn is_needed(&self, id: StreamId) -> bool {
        id > self.last || self.pending.contains_key(&id)
    }

    fn remove(&mut self, id: StreamId, references: References) -> Removed {
        if references == References::Delete {
            self.pending.remove(&id);
        }
        if !self.items.contains(&id) {
            return Removed::Missing;
        }
        if references == References::Acknowledged && self.is_needed(id) {
            return Removed::Needed;
        }
        self.items.remove(&id);
        Removed::Yes
    }

    fn trim(&mut self, to: TrimTo, references: References) -> usize {
        let mut removed = 0;
        for id in self.items.clone() {
            let goes = match to {
                TrimTo::Length(length) => self.items.len() > length,
                TrimTo::Id(min) => id < min,
            };
            removed += usize::from(goes && self.remove(id, references) == Removed::Yes);
        }
        removed
    }

    fn oldest(
        &mut self,
        consumer: u8,
        count: usize,
        idle: u64,
        now: u64,
    ) -> Vec<(StreamId, u64, u64)> {
        let mut owned: Vec<_> = self.pending.iter().filter(|(_, (of, ..))| *of != NOBODY).collect();
        owned.sort_by_key(|(id, (_, time, _))| (*time, **id));
        let owned = owned.into_iter().filter(|(_, (_, time, _))| now - time >= idle);
        let ids: Vec<StreamId> =
            self.returned.iter().copied().chain(owned.map(|(id, _)| *id)).collect();
        let mut given = Vec::new();
        for id in ids {
            if given.len() == count {
                break;
            }
            let (_, time, deliveries) = self.pending.remove(&id).unwrap();
            if self.items.contains(&id) {
                given.push((id, time, deliveries));
                self.pending.insert(id, (consumer, now, deliveries + 1));
            }
        }
        given
    }

    fn give_back(&mut self, id: StreamId, how: Deliveries, force: bool) -> bool {
        let before = match self.pending.get(&id) {
            Some((.., deliveries)) => *deliveries,
            None if force && self.items.contains(&id) => 0,
            None => return false,
        };
        let deliveries = match how {
            Deliveries::Undo => before.saturating_sub(1),
            Deliveries::Keep => before,
            Deliveries::Set(deliveries) => deliveries,
        };
        self.pending.insert(id, (NOBODY, 0, deliveries));
        self.returned.retain(|other| *other != id);
        self.returned.push(id);
        true
    }

    fn claim(
        &mut self,
        id: StreamId,
        consumer: u8,
        idle: u64,
        force: bool,
        just_id: bool,
        now: u64,
    ) -> bool {
        if !self.items.contains(&id) {
            self.pending.remove(&id);
            return false;
        }
        let deliveries = match self.pending.get(&id) {
            Some((of, time, _)) if *of != NOBODY && now - time < idle => return false,
            Some((.., deliveries)) => *deliveries,
            None if force => 1,
            None => return false,
        };
        self.pending.insert(id, (consumer, now, deliveries + u64::from(!just_id)));
        true
    }

    fn agrees(&self, stream: StreamRef<'_>) {
        stream.check_integrity();
        let group = stream.group(b"group").unwrap();
        assert_eq!((group.last_id(), group.pending()), (self.last, self.pending.len()));
        let names = group.consumers().map(|consumer| consumer.name()[0]);
        assert!(names.eq(self.consumers.iter().copied()));
        let shown = group.pending_items(StreamId::MIN..=StreamId::MAX);
        let shown = shown.map(|item| {
            let of = item.consumer.map_or(NOBODY, |consumer| consumer.name()[0]);
            (item.id, (of, item.time_ms, item.deliveries))
        });
        assert!(shown.eq(self.pending.iter().map(|(id, what)| (*id, *what))));
        assert_eq!(group.given_back(), self.returned.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_group_does_what_maps_do(operations in proptest::collection::vec(operation(), 0..200)) {
        let (mut entry, limits) = (readings(ITEMS), Limits::default());
        let mut model = Model { items: (0..ITEMS).map(id).collect(), ..Model::default() };
        entry.stream_mut(&limits).unwrap().add_group(b"group", StreamId::MIN, None);
        for (now, operation) in operations.iter().enumerate() {
            model.apply(&mut entry.stream_mut(&limits).unwrap(), operation, now as u64);
            model.tidy();
            model.agrees(entry.stream().unwrap());
        }
        prop_assert_eq!(entry.copy_to(b"copy").stream().unwrap().len(), model.items.len());
    }
}
