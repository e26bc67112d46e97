// SPDX-License-Identifier: Apache-2.0
//! [`Prefixes`]: the prefixes that clients track (CLIENT TRACKING BCAST). [`Broadcast`]: changed keys, of
//! which these clients are told together.

use super::message::{Invalid, Message};
use crate::host::crowd::{Crowd, Identified};
use crate::session::client::Client;
use parking_lot::RwLock;
use protocol::{ConnectionId, Outbox};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Keys of a broadcast at most.
const BROADCAST_KEYS: usize = 1024;

/// Bytes of keys of a broadcast at most, except for one key.
const BROADCAST_BYTES: usize = 64 << 10;

/// All tracked prefixes, and the clients that track them.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    tables: RwLock<Tables>,
    /// How many prefixes there are.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct Tables {
    clients: HashMap<Box<[u8]>, Crowd<Arc<Client>>>,
    /// How many prefixes there are of each length, so that those of a key are found by looking up its
    /// beginnings.
    lengths: BTreeMap<usize, usize>,
}

impl Identified for Arc<Client> {
    type Id = ConnectionId;

    fn id(&self) -> ConnectionId {
        self.id
    }
}

impl Tables {
    /// The prefixes that a key has, each with the clients that track it.
    fn of<'t>(&'t self, key: &'t [u8]) -> impl Iterator<Item = (&'t [u8], &'t [Arc<Client>])> {
        let beginnings = self.lengths.keys().map_while(|len| key.get(..*len));
        beginnings.filter_map(|start| Some((start, &**self.clients.get(start)?)))
    }
}

impl Prefixes {
    /// Tells a client of all keys with a prefix from now on. It has not tracked it before.
    pub(super) fn add(&self, prefix: &[u8], client: &Arc<Client>) {
        let mut tables = self.tables.write();
        let clients = tables.clients.entry(prefix.into()).or_default();
        let is_new = clients.is_empty();
        clients.add(Arc::clone(client));
        if is_new {
            *tables.lengths.entry(prefix.len()).or_default() += 1;
        }
        self.count.store(tables.clients.len(), Relaxed);
    }

    /// The opposite of [`Prefixes::add`].
    pub(super) fn remove(&self, prefix: &[u8], client: &Client) {
        let mut tables = self.tables.write();
        let Tables { clients, lengths } = &mut *tables;
        let Some(left) = clients.get_mut(prefix) else { return };
        left.remove(client.id);
        if left.is_empty() {
            clients.remove(prefix);
            crate::session::memory::trim(clients);
            if let Some(count) = lengths.get_mut(&prefix.len()) {
                *count -= 1;
                if *count == 0 {
                    lengths.remove(&prefix.len());
                }
            }
        }
        self.count.store(clients.len(), Relaxed);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Whether a key has any of them.
    fn cover(&self, key: &[u8]) -> bool {
        self.tables.read().of(key).next().is_some()
    }
}

/// The keys with a tracked prefix that commands of one worker have changed since it last wrote replies: those of
/// a pipeline are sent together.
#[derive(Debug, Default)]
pub(crate) struct Broadcast {
    /// Each key with the client that has changed it last.
    keys: BTreeMap<Box<[u8]>, Option<ConnectionId>>,
    bytes: usize,
}

impl Broadcast {
    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Adds a key if it has a tracked prefix. It is sent when it is full.
    pub(super) fn note(
        &mut self,
        key: &[u8],
        by: Option<ConnectionId>,
        prefixes: &Prefixes,
        outbox: &mut Outbox,
    ) {
        if prefixes.len() == 0 || !prefixes.cover(key) {
            return;
        }
        if let Some(writer) = self.keys.get_mut(key) {
            *writer = by;
            return;
        }
        self.keys.insert(key.into(), by);
        self.bytes += key.len();
        if self.keys.len() >= BROADCAST_KEYS || self.bytes >= BROADCAST_BYTES {
            self.send(prefixes, outbox);
        }
    }

    /// Tells the clients of each prefix of its keys, in one message.
    pub(super) fn send(&mut self, prefixes: &Prefixes, outbox: &mut Outbox) {
        let Broadcast { keys, .. } = std::mem::take(self);
        let tables = prefixes.tables.read();
        let mut groups: BTreeMap<&[u8], Group<'_>> = BTreeMap::new();
        for (key, by) in &keys {
            for (prefix, clients) in tables.of(key) {
                let group = groups.entry(prefix).or_insert_with(|| Group::new(clients));
                group.keys.push(key);
                group.writers.push(*by);
            }
        }
        groups.values().for_each(|group| group.send(outbox));
    }
}

/// The changed keys with one prefix.
#[derive(Debug)]
struct Group<'a> {
    clients: &'a [Arc<Client>],
    keys: Vec<&'a [u8]>,
    /// For each key the client that has changed it.
    writers: Vec<Option<ConnectionId>>,
}

impl<'a> Group<'a> {
    fn new(clients: &'a [Arc<Client>]) -> Self {
        Group { clients, keys: Vec::new(), writers: Vec::new() }
    }

    fn send(&self, outbox: &mut Outbox) {
        let mut all = Message::new(Invalid::Keys(&self.keys));
        for client in self.clients {
            let me = Some(client.id);
            if client.is(Client::NO_LOOP) && self.writers.contains(&me) {
                let written = self.keys.iter().zip(&self.writers);
                let others = written.filter(|(_, by)| **by != me).map(|(key, _)| *key);
                let others: Vec<&[u8]> = others.collect();
                if !others.is_empty() {
                    Message::new(Invalid::Keys(&others)).send(client, outbox);
                }
            } else {
                all.send(client, outbox);
            }
        }
    }
}
