// SPDX-License-Identifier: Apache-2.0
//! [`ListedClient`]: a connection, as seen by commands that look at all connections. Of one that has never sent a
//! command only the socket is known.

use crate::engine::any_call::CallParts;
use crate::session::client::{Client, address};
use crate::wire::fault::Fault;
use clock::Ticks;
use protocol::{ConnectionId, Peer};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct ListedClient {
    pub(super) id: ConnectionId,
    pub(super) client: Option<Arc<Client>>,
    peer: Option<Arc<Peer>>,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Requests and replies.
    Normal,
    /// Messages.
    Pubsub,
    /// Between servers, in one direction or the other: there are none.
    Link,
}

impl Kind {
    /// The kind with this name.
    pub(super) fn named(word: &[u8]) -> Result<Self, Fault> {
        match word.to_ascii_lowercase().as_slice() {
            b"normal" => Ok(Kind::Normal),
            b"pubsub" => Ok(Kind::Pubsub),
            b"master" | b"replica" | b"slave" => Ok(Kind::Link),
            _ => Err(Fault::made([b"ERR Unknown client type '", word, b"'"].concat())),
        }
    }
}

impl ListedClient {
    /// The client that sent the command.
    pub(super) fn me(parts: &CallParts<'_, '_>) -> Self {
        let client = parts.client.cloned();
        let peer = client.as_ref().and_then(|client| client.peer.clone());
        ListedClient { id: parts.id, client, peer }
    }

    /// The address of the client.
    pub(super) fn address(&self) -> String {
        self.peer.as_ref().map_or_else(String::new, |peer| address(&peer.remote))
    }

    /// The address it has connected to.
    pub(super) fn local_address(&self) -> String {
        self.peer.as_ref().map_or_else(String::new, |peer| address(&peer.local))
    }

    /// Whether it came by a socket of the file system.
    pub(super) fn is_unix(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.remote.starts_with("unix:"))
    }

    /// For how long it has been there.
    pub(super) fn age(&self, now: Ticks) -> Duration {
        let since = match (&self.client, &self.peer) {
            (Some(client), _) => client.since,
            (None, Some(peer)) => peer.since,
            (None, None) => now,
        };
        now.since(since)
    }

    /// For how long it has sent nothing.
    pub(super) fn idle(&self, now: Ticks) -> Duration {
        let last = match (&self.client, &self.peer) {
            (Some(client), _) => {
                Ticks::from_millis(client.last_ms.load(std::sync::atomic::Ordering::Relaxed))
            }
            (None, Some(peer)) => peer.last_request(),
            (None, None) => now,
        };
        now.since(last)
    }

    /// Bytes of memory for what it sends.
    pub(super) fn input_bytes(&self) -> u64 {
        self.peer.as_ref().map_or(0, |peer| peer.input_bytes() as u64)
    }

    /// Bytes that it has not read.
    pub(super) fn output_bytes(&self) -> u64 {
        self.peer.as_ref().map_or(0, |peer| peer.output_bytes() as u64)
    }

    /// What it is used for.
    pub(super) fn kind(&self) -> Kind {
        match &self.client {
            Some(client) if client.is(Client::SUBSCRIBER) => Kind::Pubsub,
            _ => Kind::Normal,
        }
    }

    /// Whether it is being closed already.
    fn is_going(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.is(Client::CLOSING))
    }
}

/// All connections, oldest first.
pub(super) fn all_clients(parts: &CallParts<'_, '_>) -> Vec<ListedClient> {
    let mut all = BTreeMap::new();
    for peer in parts.directory.iter().flat_map(|directory| directory.list()) {
        all.insert(peer.id, ListedClient { id: peer.id, client: None, peer: Some(peer) });
    }
    for client in parts.clients.list() {
        let peer = client.peer.clone();
        all.insert(client.id, ListedClient { id: client.id, client: Some(client), peer });
    }
    all.into_values().filter(|listed| !listed.is_going()).collect()
}
