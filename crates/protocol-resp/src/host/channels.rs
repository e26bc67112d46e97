// SPDX-License-Identifier: Apache-2.0
//! [`Channels`]: the subscribers of each channel and pattern.
//!
//! There is one table for all workers, behind a read-write lock: publishing takes it for reading,
//! subscribing and unsubscribing for writing. A message is encoded once per version of the
//! protocol, and all subscribers share its bytes by reference count.

use super::crowd::{Crowd, Identified};
use crate::session::memory::trim;
use crate::session::subscriptions::{Kind, Listener, Subscriptions};
use crate::wire::reply::{Version, Writer};
use bytes::Bytes;
use parking_lot::RwLock;
use protocol::{ConnectionId, Outbox};
use std::collections::{HashMap, HashSet};

/// The subscriptions of all connections of a process.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    tables: RwLock<Tables>,
}

/// The most bytes around a part of a message: a sign, a length, and two line ends.
const FRAME_BYTES: usize = 16;

/// For each name its subscribers.
type Table = HashMap<Box<[u8]>, Crowd<Listener>>;

impl Identified for Listener {
    type Id = ConnectionId;

    fn id(&self) -> ConnectionId {
        self.id
    }
}

/// A table for each [`Kind`].
#[derive(Debug, Default)]
struct Tables([Table; 3]);

impl Channels {
    /// Subscribes a connection to a name; returns whether it was not subscribed before.
    pub(crate) fn subscribe(&self, to: &mut Subscriptions, kind: Kind, name: &[u8]) -> bool {
        if !to.insert(kind, name) {
            return false;
        }
        let mut tables = self.tables.write();
        let listeners = tables.of_mut(kind).entry(name.into()).or_default();
        listeners.add(to.listener.clone());
        true
    }

    /// Unsubscribes a connection from a name; returns whether it was subscribed.
    pub(crate) fn unsubscribe(&self, to: &mut Subscriptions, kind: Kind, name: &[u8]) -> bool {
        let was_there = to.remove(kind, name);
        if was_there {
            self.tables.write().remove(kind, name, to.listener.id);
        }
        was_there
    }

    /// Removes a connection that has ended.
    pub(crate) fn leave(&self, gone: &Subscriptions) {
        let mut tables = self.tables.write();
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            for name in gone.names(kind) {
                tables.remove(kind, name, gone.listener.id);
            }
        }
    }

    /// Sends a message to all subscribers of `channel` and of patterns that match it; returns how
    /// many messages were sent.
    pub(crate) fn publish(&self, channel: &[u8], message: &[u8], outbox: &mut Outbox) -> usize {
        let tables = self.tables.read();
        let mut sent = 0;
        if let Some(listeners) = tables.of(Kind::Channel).get(channel) {
            sent += send(listeners, &[b"message", channel, message], outbox);
        }
        for (pattern, listeners) in tables.of(Kind::Pattern) {
            if crate::wire::glob::matches(pattern, channel) {
                sent += send(listeners, &[b"pmessage", pattern, channel, message], outbox);
            }
        }
        sent
    }

    /// Sends a message to all subscribers of the shard channel; returns how many there are.
    pub(crate) fn publish_shard(
        &self,
        channel: &[u8],
        message: &[u8],
        outbox: &mut Outbox,
    ) -> usize {
        let tables = self.tables.read();
        let listeners = tables.of(Kind::Shard).get(channel);
        listeners.map_or(0, |all| send(all, &[b"smessage", channel, message], outbox))
    }

    /// Ends all subscriptions to shard channels that `has_left` says are another node's, and tells their
    /// subscribers.
    pub(crate) fn lose_shard_channels(
        &self,
        has_left: impl Fn(&[u8]) -> bool,
        outbox: &mut Outbox,
    ) {
        let mut tables = self.tables.write();
        tables.of_mut(Kind::Shard).retain(|name, listeners| {
            let leaves = has_left(name);
            for listener in listeners.iter().filter(|_| leaves) {
                let mut bytes = Vec::new();
                let mut out = Writer::new(&mut bytes, listener.version());
                out.push(3);
                out.bulk(b"sunsubscribe");
                out.bulk(name);
                out.count(listener.lose(name));
                outbox.push(listener.id, Bytes::from(bytes));
            }
            !leaves
        });
    }

    /// The names of a kind that have subscribers and of which `is_meant` says so.
    pub(crate) fn names(&self, kind: Kind, is_meant: impl Fn(&[u8]) -> bool) -> Vec<Box<[u8]>> {
        let tables = self.tables.read();
        tables.of(kind).keys().filter(|name| is_meant(name)).cloned().collect()
    }

    /// The connections that are subscribed to a name of which `is_meant` says so.
    pub(crate) fn subscribers(
        &self,
        is_meant: impl Fn(Kind, &[u8]) -> bool,
    ) -> HashSet<ConnectionId> {
        let tables = self.tables.read();
        let mut meant = HashSet::new();
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            let names = tables.of(kind).iter().filter(|(name, _)| is_meant(kind, name));
            meant.extend(
                names.flat_map(|(_, listeners)| listeners.iter()).map(|listener| listener.id),
            );
        }
        meant
    }

    /// How many subscribers a name has.
    pub(crate) fn listeners(&self, kind: Kind, name: &[u8]) -> usize {
        self.tables.read().of(kind).get(name).map_or(0, |listeners| listeners.len())
    }

    /// How many names of a kind have subscribers.
    pub(crate) fn len(&self, kind: Kind) -> usize {
        self.tables.read().of(kind).len()
    }
}

impl Tables {
    fn of(&self, kind: Kind) -> &Table {
        &self.0[kind as usize]
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Table {
        &mut self.0[kind as usize]
    }

    fn remove(&mut self, kind: Kind, name: &[u8], id: ConnectionId) {
        let table = self.of_mut(kind);
        if let Some(listeners) = table.get_mut(name) {
            listeners.remove(id);
            if listeners.is_empty() {
                table.remove(name);
                trim(table);
            }
        }
    }
}

/// Sends one message to all of `listeners`: to those with another version than the first after the others, because letters
/// that share their bytes are recognized where they follow each other.
fn send(listeners: &[Listener], parts: &[&[u8]], outbox: &mut Outbox) -> usize {
    let Some(version) = listeners.first().map(Listener::version) else { return 0 };
    let bytes = encode(parts, version);
    // Each is asked once: its version may change meanwhile.
    let mut others = Vec::new();
    for listener in listeners {
        if listener.version() == version {
            outbox.push(listener.id, bytes.clone());
        } else {
            others.push(listener.id);
        }
    }
    if !others.is_empty() {
        let other = match version {
            Version::Resp2 => Version::Resp3,
            Version::Resp3 => Version::Resp2,
        };
        let bytes = encode(parts, other);
        others.into_iter().for_each(|id| outbox.push(id, bytes.clone()));
    }
    listeners.len()
}

fn encode(parts: &[&[u8]], version: Version) -> Bytes {
    // As large as it gets: it may wait for long, and a vector that grows takes up to twice the memory.
    let lengths = parts.iter().map(|part| part.len() + FRAME_BYTES);
    let mut bytes = Vec::with_capacity(FRAME_BYTES + lengths.sum::<usize>());
    let mut out = Writer::new(&mut bytes, version);
    out.push(parts.len());
    for part in parts {
        out.bulk(part);
    }
    Bytes::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Errand;

    #[test]
    fn messages_are_encoded_where_they_stay() {
        for len in [0, 100, 600, 1 << 20] {
            let part = vec![b'x'; len];
            let parts = [&b"pmessage"[..], &part, &part, &part];
            let message = Vec::from(encode(&parts, Version::Resp3));
            let spare = message.capacity() - message.len();
            assert!(spare <= 5 * FRAME_BYTES, "{spare} bytes more than {}", message.len());
        }
    }

    #[test]
    fn letters_of_the_same_bytes_follow_each_other() {
        let (channels, mut outbox) = (Channels::default(), Outbox::new());
        for (serial, version) in (0..6).zip([Version::Resp3, Version::Resp2].into_iter().cycle()) {
            let mut client = Subscriptions::new(ConnectionId::new(1, serial), version);
            channels.subscribe(&mut client, Kind::Channel, b"news");
        }
        assert_eq!(channels.publish(b"news", b"text", &mut outbox), 6);
        let messages = outbox.drain().map(|(_, errand)| match errand {
            Errand::Push(bytes) => bytes.as_ptr(),
            other => panic!("a message, not {other:?}"),
        });
        let messages: Vec<_> = messages.collect();
        assert!(messages.chunk_by(|a, b| a == b).map(<[_]>::len).eq([3, 3]));
    }
}
