// SPDX-License-Identifier: Apache-2.0
//! [`Subscriptions`]: the subscriptions of one connection.

use crate::session::memory::name_bytes;
use crate::wire::reply::Version;
use protocol::ConnectionId;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The kinds of subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A channel by its name.
    Channel,
    /// All channels whose name matches a pattern.
    Pattern,
    /// A shard channel by its name.
    Shard,
}

/// A subscribed connection. Its protocol version may change meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) id: ConnectionId,
    version: Arc<AtomicU8>,
}

/// The subscriptions of one connection.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    pub(crate) listener: Listener,
    names: [HashSet<Box<[u8]>>; 3],
    /// Memory of the names in bytes.
    bytes: u64,
}

impl Listener {
    /// Its present protocol version.
    pub(crate) fn version(&self) -> Version {
        let is_resp3 = self.version.load(Relaxed) == Version::Resp3.number();
        if is_resp3 { Version::Resp3 } else { Version::Resp2 }
    }
}

impl Subscriptions {
    /// No subscriptions yet.
    pub(crate) fn new(id: ConnectionId, version: Version) -> Self {
        let version = Arc::new(AtomicU8::new(version.number()));
        Subscriptions { listener: Listener { id, version }, names: Default::default(), bytes: 0 }
    }

    /// Sets the connection's protocol version.
    pub(crate) fn set_version(&self, version: Version) {
        self.listener.version.store(version.number(), Relaxed);
    }

    /// Adds a name; returns whether it is new.
    pub(crate) fn insert(&mut self, kind: Kind, name: &[u8]) -> bool {
        let is_new = self.names[kind as usize].insert(name.into());
        if is_new {
            self.bytes += name_bytes(name.len());
        }
        is_new
    }

    /// Removes a name; returns whether it was there.
    pub(crate) fn remove(&mut self, kind: Kind, name: &[u8]) -> bool {
        let was_there = self.names[kind as usize].remove(name);
        if was_there {
            self.bytes -= name_bytes(name.len());
        }
        was_there
    }

    /// Memory of the names, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there are no subscriptions.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.iter().all(HashSet::is_empty)
    }

    /// The names of a kind.
    pub(crate) fn names(&self, kind: Kind) -> &HashSet<Box<[u8]>> {
        &self.names[kind as usize]
    }

    /// The number of subscriptions in the reply to (un)subscribing to names of a kind. Channels and
    /// patterns count together.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Shard => self.names(Kind::Shard).len(),
            Kind::Channel | Kind::Pattern => {
                self.names(Kind::Channel).len() + self.names(Kind::Pattern).len()
            }
        }
    }
}
