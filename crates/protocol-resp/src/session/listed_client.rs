// SPDX-License-Identifier: Apache-2.0
//! [`ListedClient`]: a connection, as seen by commands that look at all connections. Of one that has never sent a
//! command only the socket is known.

use crate::acl::DEFAULT;
use crate::session::client::{Client, Names, address, address_of};
use crate::session::memory::MemoryKind;
use crate::table::CommandId;
use crate::wire::fault::Fault;
use clock::Ticks;
use protocol::{ConnectionId, Peer};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct ListedClient {
    pub(crate) id: ConnectionId,
    pub(crate) client: Option<Arc<Client>>,
    peer: Option<Arc<Peer>>,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Requests and replies.
    Normal,
    /// Messages.
    Pubsub,
    /// Between servers, in one direction or the other: there are none.
    Link,
}

impl Kind {
    /// The kind with this name.
    pub(crate) fn named(word: &[u8]) -> Result<Self, Fault> {
        match word.to_ascii_lowercase().as_slice() {
            b"normal" => Ok(Kind::Normal),
            b"pubsub" => Ok(Kind::Pubsub),
            b"master" | b"replica" | b"slave" => Ok(Kind::Link),
            _ => Err(Fault::made([b"ERR Unknown client type '", word, b"'"].concat())),
        }
    }
}

impl ListedClient {
    /// A connection that has sent a command.
    pub(crate) fn of(client: &Arc<Client>) -> Self {
        let peer = client.peer.clone();
        ListedClient { id: client.id, client: Some(Arc::clone(client)), peer }
    }

    /// A connection of which only the socket is known.
    pub(crate) fn of_peer(peer: Arc<Peer>) -> Self {
        ListedClient { id: peer.id, client: None, peer: Some(peer) }
    }

    /// The address of the client.
    pub(crate) fn address(&self) -> String {
        self.peer.as_ref().map_or_else(String::new, |peer| address_of(peer))
    }

    /// The address it has connected to.
    pub(crate) fn local_address(&self) -> String {
        self.peer.as_ref().map_or_else(String::new, |peer| address(&peer.local))
    }

    /// Whether it came by a socket of the file system.
    pub(crate) fn is_unix(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.remote.starts_with("unix:"))
    }

    /// For how long it has been there.
    pub(crate) fn age(&self, now: Ticks) -> Duration {
        let since = match (&self.client, &self.peer) {
            (Some(client), _) => client.since,
            (None, Some(peer)) => peer.since,
            (None, None) => now,
        };
        now.since(since)
    }

    /// For how long it has sent nothing.
    pub(crate) fn idle(&self, now: Ticks) -> Duration {
        let last = match (&self.client, &self.peer) {
            (Some(client), _) => Ticks::from_millis(client.last_ms.load(Relaxed)),
            (None, Some(peer)) => peer.last_request(),
            (None, None) => now,
        };
        now.since(last)
    }

    /// Bytes of memory for what it sends.
    pub(crate) fn input_bytes(&self) -> u64 {
        self.peer.as_ref().map_or(0, |peer| peer.input_bytes() as u64)
    }

    /// Bytes that it has not read.
    pub(crate) fn output_bytes(&self) -> u64 {
        self.peer.as_ref().map_or(0, |peer| peer.output_bytes() as u64)
    }

    /// What it is used for.
    pub(crate) fn kind(&self) -> Kind {
        match &self.client {
            Some(client) if client.is(Client::SUBSCRIBER) => Kind::Pubsub,
            _ => Kind::Normal,
        }
    }

    /// The name of its user.
    pub(crate) fn user_name(&self) -> Box<[u8]> {
        let user = self.client.as_ref().and_then(|client| client.names.lock().user.clone());
        user.as_ref().map_or(DEFAULT, |user| user.name()).into()
    }

    /// Whether it is being closed already.
    pub(crate) fn is_going(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.is(Client::CLOSING))
            || self.peer.as_ref().is_some_and(|peer| peer.is_ending())
    }

    /// Notes that it is being closed.
    pub(crate) fn note_going(&self) {
        if let Some(peer) = &self.peer {
            peer.end();
        }
        if let Some(client) = &self.client {
            client.set(Client::CLOSING, true);
        }
    }
}

/// Appends a description in the form of Redis 7.4, with Valkey's count of commands and without the end of the line. What
/// cannot be known here of a connection, such as its descriptor, is 0 or -1. `running`: the bytes of its request that is
/// being served, if it is the client that asks.
pub(crate) fn describe(
    listed: &ListedClient,
    state_bytes: usize,
    running: usize,
    now: Ticks,
    text: &mut Vec<u8>,
) {
    let client = listed.client.as_deref();
    let number = |of: fn(&Client) -> u64| client.map_or(0, of);
    let subscriptions =
        |kind: usize| client.map_or(0, |client| client.subscriptions[kind].load(Relaxed));
    let queued = client.filter(|client| client.is(Client::IN_TRANSACTION));
    let queued = queued.map_or(-1, |client| i64::from(client.queued.load(Relaxed)));
    let queued_bytes = number(|client| client.memory.get(MemoryKind::Queue));
    let (input, output) = (listed.input_bytes().max(running as u64), listed.output_bytes());
    let held = number(|client| client.memory.total());
    let start = format!(
        "id={} addr={} laddr={} fd=-1 name=",
        listed.id.serial(),
        listed.address(),
        listed.local_address(),
    );
    text.extend_from_slice(start.as_bytes());
    append_name(client, |names| &names.name, text);
    let middle = format!(
        " age={} idle={} flags={} db={} sub={} psub={} ssub={} multi={queued} watch={} \
         qbuf={input} qbuf-free=0 argv-mem=0 multi-mem={queued_bytes} rbs=0 rbp=0 obl=0 oll=0 \
         omem={output} tot-mem={} events=r cmd={} user=",
        listed.age(now).as_secs(),
        listed.idle(now).as_secs(),
        flags(listed),
        number(|client| client.db.load(Relaxed).into()),
        subscriptions(0),
        subscriptions(1),
        subscriptions(2),
        number(|client| client.watched.load(Relaxed).into()),
        state_bytes as u64 + held + input + output,
        client.and_then(last_command).map_or("NULL", |command| command.spec().name),
    );
    text.extend_from_slice(middle.as_bytes());
    let user = client.and_then(|client| client.names.lock().user.clone());
    text.extend_from_slice(user.as_ref().map_or(DEFAULT, |user| user.name()));
    let end = format!(
        " redir={} resp={} lib-name=",
        client.map_or(-1, Client::redirection),
        client.map_or(2, |client| client.version.load(Relaxed)),
    );
    text.extend_from_slice(end.as_bytes());
    append_name(client, |names| &names.lib_name, text);
    text.extend_from_slice(b" lib-ver=");
    append_name(client, |names| &names.lib_version, text);
    // The one that is being served is not over.
    let commands = number(|client| client.commands.load(Relaxed));
    let commands = commands.saturating_sub(u64::from(running > 0));
    text.extend_from_slice(format!(" tot-cmds={commands}").as_bytes());
}

/// Appends one of the names of a client.
fn append_name(client: Option<&Client>, which: fn(&Names) -> &[u8], text: &mut Vec<u8>) {
    if let Some(client) = client {
        text.extend_from_slice(which(&client.names.lock()));
    }
}

fn last_command(client: &Client) -> Option<CommandId> {
    CommandId::at(client.last_command.load(Relaxed) as usize)
}

/// The letters of all states that clients of Redis or Valkey may be in, of which some do not exist here.
pub(crate) const FLAGS: &[u8] = b"OSMPxbtRBdcuAUreTIiEN";

/// A letter for each state that is not the usual one; `N` for none.
pub(crate) fn flags(listed: &ListedClient) -> String {
    let mut letters = String::new();
    if let Some(client) = &listed.client {
        let known = [
            (Client::MONITOR, 'O'),
            (Client::SUBSCRIBER, 'P'),
            (Client::IN_TRANSACTION, 'x'),
            (Client::BLOCKED, 'b'),
            (Client::TRACKING, 't'),
            (Client::REDIRECT_BROKEN, 'R'),
            (Client::BROADCAST, 'B'),
        ];
        letters.extend(known.iter().filter(|(flag, _)| client.is(*flag)).map(|(_, letter)| letter));
        if client.spoilt.load(Relaxed) {
            letters.push('d');
        }
    }
    if listed.is_unix() {
        letters.push('U');
    }
    if let Some(client) = &listed.client {
        let known = [(Client::READS_ONLY, 'r'), (Client::NO_EVICT, 'e'), (Client::NO_TOUCH, 'T')];
        letters.extend(known.iter().filter(|(flag, _)| client.is(*flag)).map(|(_, letter)| letter));
    }
    if letters.is_empty() {
        letters.push('N');
    }
    letters
}
