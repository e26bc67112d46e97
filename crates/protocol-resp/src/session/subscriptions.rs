// SPDX-License-Identifier: Apache-2.0
//! [`Subscriptions`]: the subscriptions of one connection.

use crate::session::memory::name_bytes;
use crate::wire::reply::Version;
use parking_lot::Mutex;
use protocol::ConnectionId;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

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
    state: Arc<ListenerState>,
}

/// What others know of a subscribed connection, and what they leave to it.
#[derive(Debug)]
struct ListenerState {
    version: AtomicU8,
    /// How many shard channels it is subscribed to.
    shard_channels: AtomicUsize,
    /// Shard channels that another has removed because their slots have left; its own list still has them.
    lost: Mutex<Vec<Box<[u8]>>>,
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
        let is_resp3 = self.state.version.load(Relaxed) == Version::Resp3.number();
        if is_resp3 { Version::Resp3 } else { Version::Resp2 }
    }

    /// Takes a shard channel away, whose slot has left; returns how many it still has.
    pub(crate) fn lose(&self, name: &[u8]) -> usize {
        self.state.lost.lock().push(name.into());
        self.state.shard_channels.fetch_sub(1, Relaxed).saturating_sub(1)
    }
}

impl Subscriptions {
    /// No subscriptions yet.
    pub(crate) fn new(id: ConnectionId, version: Version) -> Self {
        let state = Arc::new(ListenerState {
            version: AtomicU8::new(version.number()),
            shard_channels: AtomicUsize::new(0),
            lost: Mutex::default(),
        });
        Subscriptions { listener: Listener { id, state }, names: Default::default(), bytes: 0 }
    }

    /// Sets the connection's protocol version.
    pub(crate) fn set_version(&self, version: Version) {
        self.listener.state.version.store(version.number(), Relaxed);
    }

    /// Adds a name; returns whether it is new.
    pub(crate) fn insert(&mut self, kind: Kind, name: &[u8]) -> bool {
        let is_new = self.names[kind as usize].insert(name.into());
        if is_new {
            self.bytes += name_bytes(name.len());
            if kind == Kind::Shard {
                self.listener.state.shard_channels.fetch_add(1, Relaxed);
            }
        }
        is_new
    }

    /// Removes a name; returns whether it was there.
    pub(crate) fn remove(&mut self, kind: Kind, name: &[u8]) -> bool {
        let was_there = self.forget(kind, name);
        if was_there && kind == Kind::Shard {
            self.listener.state.shard_channels.fetch_sub(1, Relaxed);
        }
        was_there
    }

    /// Removes the shard channels that others have taken away; returns whether there were any.
    pub(crate) fn forget_lost(&mut self) -> bool {
        let lost = std::mem::take(&mut *self.listener.state.lost.lock());
        for name in &lost {
            self.forget(Kind::Shard, name);
        }
        !lost.is_empty()
    }

    fn forget(&mut self, kind: Kind, name: &[u8]) -> bool {
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
