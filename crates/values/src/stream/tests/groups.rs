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
}

fn operation() -> impl Strategy<Value = Operation> {
    let (consumer, id) = (|| 0..4_u8, || 0..ITEMS);
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
}

impl Model {
    fn apply(&mut self, stream: &mut StreamMut<'_>, operation: &Operation, now: u64) {
        if let Operation::Delete(number) = operation {
            assert_eq!(stream.remove(id(*number)), self.items.remove(&id(*number)));
            return;
        }
        let mut group = stream.group_mut(b"group").unwrap();
        match *operation {
            Operation::Deliver { consumer, count, acknowledged } => {
                let (number, is_new) = group.see(&[consumer], now);
                assert_eq!(is_new, self.consumers.insert(consumer));
                let mut given = Vec::new();
                group.deliver(number, count, now, acknowledged, |item| given.push(item.id));
                let behind = self.items.iter().filter(|id| **id > self.last).take(count);
                assert!(given.iter().eq(behind));
                self.last = given.last().copied().unwrap_or(self.last);
                if !acknowledged {
                    self.pending.extend(given.into_iter().map(|id| (id, (consumer, now, 1))));
                }
            }
            Operation::Again { consumer, from, count } => {
                let (number, is_new) = group.see(&[consumer], now);
                assert_eq!(is_new, self.consumers.insert(consumer));
                let mut given = Vec::new();
                group.deliver_again(number, id(from), count, now, |id, item| {
                    given.push((id, item.is_some()));
                });
                let own =
                    self.pending.range_mut(id(from)..).filter(|(_, (of, ..))| *of == consumer);
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
            Operation::Delete(_) => {}
        }
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
            Some((_, time, _)) if now - time < idle => return false,
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
            let of = item.consumer.unwrap().name()[0];
            (item.id, (of, item.time_ms, item.deliveries))
        });
        assert!(shown.eq(self.pending.iter().map(|(id, what)| (*id, *what))));
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
            model.agrees(entry.stream().unwrap());
        }
        prop_assert_eq!(entry.copy_to(b"copy").stream().unwrap().len(), model.items.len());
    }
}
