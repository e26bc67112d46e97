// SPDX-License-Identifier: Apache-2.0
//! [`Subscriptions`]: what one connection listens to.

use crate::session::memory::name_bytes;
use crate::wire::reply::Version;
use protocol::ConnectionId;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What can be listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A channel by its name.
    Channel,
    /// All channels whose name matches a pattern.
    Pattern,
    /// A shard channel by its name.
    Shard,
}

/// A connection that listens. Its version of the protocol may change while it does.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) id: ConnectionId,
    version: Arc<AtomicU8>,
}

/// What one connection listens to.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    pub(crate) listener: Listener,
    names: [HashSet<Box<[u8]>>; 3],
    /// Memory of the names in bytes.
    bytes: u64,
}

impl Listener {
    /// The version of the protocol that it speaks now.
    pub(crate) fn version(&self) -> Version {
        let is_resp3 = self.version.load(Relaxed) == Version::Resp3.number();
        if is_resp3 { Version::Resp3 } else { Version::Resp2 }
    }
}

impl Subscriptions {
    /// A connection that listens to nothing yet.
    pub(crate) fn new(id: ConnectionId, version: Version) -> Self {
        let version = Arc::new(AtomicU8::new(version.number()));
        Subscriptions { listener: Listener { id, version }, names: Default::default(), bytes: 0 }
    }

    /// Notes that the connection speaks another version of the protocol now.
    pub(crate) fn set_version(&self, version: Version) {
        self.listener.version.store(version.number(), Relaxed);
    }

    /// Listens to a name; whether it did not before.
    pub(crate) fn insert(&mut self, kind: Kind, name: &[u8]) -> bool {
        let is_new = self.names[kind as usize].insert(name.into());
        if is_new {
            self.bytes += name_bytes(name.len());
        }
        is_new
    }

    /// Listens to a name no longer; whether it did.
    pub(crate) fn remove(&mut self, kind: Kind, name: &[u8]) -> bool {
        let was_there = self.names[kind as usize].remove(name);
        if was_there {
            self.bytes -= name_bytes(name.len());
        }
        was_there
    }

    /// Memory of the names that it listens to, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it listens to nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.iter().all(HashSet::is_empty)
    }

    /// The names it listens to.
    pub(crate) fn names(&self, kind: Kind) -> &HashSet<Box<[u8]>> {
        &self.names[kind as usize]
    }

    /// The number in the reply to (un)subscribing to names of a kind: how many it listens to.
    /// Channels and patterns count together.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Shard => self.names(Kind::Shard).len(),
            Kind::Channel | Kind::Pattern => {
                self.names(Kind::Channel).len() + self.names(Kind::Pattern).len()
            }
        }
    }
}
