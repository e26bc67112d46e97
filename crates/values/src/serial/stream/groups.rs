// SPDX-License-Identifier: Apache-2.0
//! Consumer groups of streams.
//!
//! An item that was given back has no consumer, which this form cannot say. It is written as that of a consumer whose
//! name is empty, who has it for ever: others can claim it as before.

use super::super::Malformed;
use super::super::reader::Reader;
use super::super::write::Writer;
use super::read::{id, raw_id};
use super::{Form, UNKNOWN};
use crate::{PendingItem, StreamConsumer, StreamGroup, StreamId, StreamMut};

/// The consumer of items that nobody has.
const NOBODY: &[u8] = b"";

impl Writer<'_> {
    pub(super) fn group(&mut self, group: &StreamGroup, form: Form) {
        self.string(group.name());
        self.id(group.last_id());
        self.count(group.read().unwrap_or(UNKNOWN));
        self.count(group.pending() as u64);
        let pending = || group.pending_items(StreamId::MIN..=StreamId::MAX);
        for item in pending() {
            self.raw_id(item.id);
            self.out.extend(item.time_ms.to_le_bytes());
            self.count(item.deliveries);
        }
        let given_back = group.given_back();
        let nobody = group.consumer(NOBODY);
        let is_added = given_back > 0 && nobody.is_none();
        let consumers = group.consumers_len().saturating_add(is_added.into());
        self.count(consumers as u64);
        if is_added {
            self.consumer(NOBODY, 0, Some(0), form);
            self.count(given_back as u64);
            pending().filter(|item| item.consumer.is_none()).for_each(|item| self.raw_id(item.id));
        }
        for consumer in group.consumers() {
            self.consumer(consumer.name(), consumer.seen_ms(), consumer.active_ms(), form);
            let takes_more = consumer.name() == NOBODY && given_back > 0;
            if takes_more {
                let is_nobodys =
                    |item: &PendingItem<'_>| item.consumer.is_none_or(|of| of.name() == NOBODY);
                self.count(consumer.pending().saturating_add(given_back) as u64);
                pending().filter(is_nobodys).for_each(|item| self.raw_id(item.id));
            } else {
                self.ids_of(group, consumer);
            }
        }
    }

    fn consumer(&mut self, name: &[u8], seen_ms: u64, active_ms: Option<u64>, form: Form) {
        self.string(name);
        self.out.extend(seen_ms.to_le_bytes());
        if form >= Form::Active {
            self.out.extend(active_ms.map_or(-1, |ms| ms as i64).to_le_bytes());
        }
    }

    fn ids_of(&mut self, group: &StreamGroup, consumer: &StreamConsumer) {
        self.count(consumer.pending() as u64);
        let ids = group.pending_items_of(consumer, StreamId::MIN..=StreamId::MAX);
        ids.for_each(|item| self.raw_id(item.id));
    }
}

/// An item that is not acknowledged, until its consumer is read.
struct Pending {
    id: StreamId,
    time_ms: u64,
    deliveries: u64,
    is_owned: bool,
}

/// Reads a group and adds it to its stream.
pub(super) fn read(
    stream: &mut StreamMut<'_>,
    form: Form,
    reader: &mut Reader<'_>,
) -> Result<(), Malformed> {
    let name = reader.string()?;
    let last = id(reader)?;
    let read = if form >= Form::Counters {
        Some(reader.count()?).filter(|read| i64::try_from(*read).is_ok())
    } else {
        stream.read().read_up_to(last)
    };
    if !stream.add_group(name.bytes(), last, read) {
        return Err(Malformed);
    }
    let mut group = stream.group_mut(name.bytes()).ok_or(Malformed)?;
    let mut pending: Vec<Pending> = Vec::new();
    for _ in 0..reader.count()? {
        let id = raw_id(reader.bytes(16)?)?;
        let time_ms = reader.moment()?.unwrap_or(0);
        let deliveries = reader.count()?;
        if pending.last().is_some_and(|last| last.id >= id) {
            return Err(Malformed);
        }
        pending.push(Pending { id, time_ms, deliveries, is_owned: false });
    }
    for _ in 0..reader.count()? {
        let name = reader.string()?;
        let seen_ms = reader.moment()?.unwrap_or(0);
        let active_ms = if form >= Form::Active { reader.moment()? } else { Some(seen_ms) };
        if !group.add_consumer(name.bytes(), seen_ms) {
            return Err(Malformed);
        }
        let (consumer, _) = group.see(name.bytes(), seen_ms);
        if let Some(active_ms) = active_ms {
            group.set_active(consumer, active_ms);
        }
        for _ in 0..reader.count()? {
            let id = raw_id(reader.bytes(16)?)?;
            let at = pending.binary_search_by_key(&id, |pending| pending.id);
            let pending = at.ok().and_then(|at| pending.get_mut(at)).ok_or(Malformed)?;
            if std::mem::replace(&mut pending.is_owned, true) {
                return Err(Malformed);
            }
            group.take_over(id, consumer, pending.time_ms, pending.deliveries);
        }
    }
    if pending.iter().all(|pending| pending.is_owned) { Ok(()) } else { Err(Malformed) }
}
