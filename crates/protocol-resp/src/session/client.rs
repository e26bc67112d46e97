// SPDX-License-Identifier: Apache-2.0
//! [`Client`]: the part of a connection's state that other connections may read or change.

use crate::acl::Account;
use crate::session::memory::{MemoryKind, MemoryUse, WorkerMemory, text_bytes};
use crate::session::waiting::Waiting;
use crate::session::watching::Mark;
use crate::wire::reply::Version;
use clock::Ticks;
use parking_lot::Mutex;
use protocol::{ConnectionId, Context, Peer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One connection, as CLIENT LIST shows it. Only its own worker writes; any worker may read.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: ConnectionId,
    pub(crate) since: Ticks,
    /// Its entry in the directory; `None` when a service is tested without a reactor.
    pub(crate) peer: Option<Arc<Peer>>,
    pub(crate) names: Mutex<Names>,
    /// The memory it makes the server use.
    pub(crate) memory: MemoryUse,
    /// See the constants of [`Client`].
    flags: AtomicU32,
    /// Small numbers, beginning with this one: database, protocol version, queued commands, watched
    /// keys.
    pub(crate) db: AtomicU32,
    pub(crate) version: AtomicU32,
    pub(crate) queued: AtomicU32,
    pub(crate) watched: AtomicU32,
    /// Whether a key it watches has changed.
    pub(crate) spoilt: Mark,
    /// Number of subscribed channels, patterns and shard channels.
    pub(crate) subscriptions: [AtomicU32; 3],
    /// The last command, as an index into the table.
    pub(crate) last_command: AtomicU32,
    /// When it last sent a command, in milliseconds of the monotonic clock.
    pub(crate) last_ms: AtomicU64,
    pub(crate) commands: AtomicU64,
    /// Its waiter, while it is blocked.
    pub(crate) waiting: Mutex<Option<Waiting>>,
    /// The client that gets its invalidations, if that is another (CLIENT TRACKING REDIRECT). It may be the
    /// client itself, so the field is emptied when the connection ends.
    pub(crate) redirect: Mutex<Option<Arc<Client>>>,
}

/// The name of a client, of its library, and of its user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) name: Box<[u8]>,
    pub(crate) lib_name: Box<[u8]>,
    pub(crate) lib_version: Box<[u8]>,
    /// The user, if it is another than the default user.
    pub(crate) user: Option<Arc<Account>>,
}

impl Names {
    /// The memory they take.
    fn bytes(&self) -> u64 {
        [&self.name, &self.lib_name, &self.lib_version]
            .map(|text| text_bytes(text.len()))
            .iter()
            .sum()
    }
}

impl Client {
    /// It is between MULTI and EXEC.
    pub(crate) const IN_TRANSACTION: u32 = 1;
    /// It is blocked: in a blocking command, or by a pause.
    pub(crate) const BLOCKED: u32 = 1 << 1;
    /// It is subscribed to channels.
    pub(crate) const SUBSCRIBER: u32 = 1 << 2;
    /// It sees all commands.
    pub(crate) const MONITOR: u32 = 1 << 3;
    /// It is never closed to free memory.
    pub(crate) const NO_EVICT: u32 = 1 << 4;
    /// Its reads do not count as accesses.
    pub(crate) const NO_TOUCH: u32 = 1 << 5;
    /// It is closed once its replies are sent, or has ended; other connections treat it as gone.
    pub(crate) const CLOSING: u32 = 1 << 6;
    /// It caches keys, and is told when they change (CLIENT TRACKING).
    pub(crate) const TRACKING: u32 = 1 << 7;
    /// It is told of all changed keys with certain prefixes, not of those that it has read.
    pub(crate) const BROADCAST: u32 = 1 << 8;
    /// It caches only what CLIENT CACHING YES precedes.
    pub(crate) const OPT_IN: u32 = 1 << 9;
    /// It caches all but what CLIENT CACHING NO precedes.
    pub(crate) const OPT_OUT: u32 = 1 << 10;
    /// It is not told of its own changes.
    pub(crate) const NO_LOOP: u32 = 1 << 11;
    /// CLIENT CACHING preceded the present command.
    pub(crate) const CACHING: u32 = 1 << 12;
    /// The client to which its invalidations are redirected was gone when there was one.
    pub(crate) const REDIRECT_BROKEN: u32 = 1 << 13;
    /// It reads from a replica (READONLY).
    pub(crate) const READS_ONLY: u32 = 1 << 14;
    /// It follows redirections to another server, as it says itself (CLIENT CAPA).
    pub(crate) const FOLLOWS: u32 = 1 << 15;
    /// How it tracks keys.
    pub(crate) const TRACKING_MODE: u32 =
        Self::BROADCAST | Self::OPT_IN | Self::OPT_OUT | Self::NO_LOOP;

    /// The entry of a connection that sends its first command, with the mark for its watched keys and the
    /// memory account of its worker.
    pub(crate) fn new(
        context: &Context<'_>,
        version: Version,
        spoilt: Mark,
        account: &Arc<WorkerMemory>,
    ) -> Self {
        let peer = context.directory.get(context.connection);
        let since = peer.as_ref().map_or(context.now.ticks, |peer| peer.since);
        Client {
            id: context.connection,
            since,
            peer,
            names: Mutex::default(),
            memory: MemoryUse::new(Arc::clone(account)),
            flags: AtomicU32::new(0),
            db: AtomicU32::new(0),
            version: AtomicU32::new(u32::from(version.number())),
            queued: AtomicU32::new(0),
            watched: AtomicU32::new(0),
            spoilt,
            subscriptions: Default::default(),
            last_command: AtomicU32::new(u32::MAX),
            last_ms: AtomicU64::new(since.as_millis()),
            commands: AtomicU64::new(0),
            waiting: Mutex::new(None),
            redirect: Mutex::new(None),
        }
    }

    /// Whether all of `flags` are set.
    #[inline]
    pub(crate) fn is(&self, flags: u32) -> bool {
        self.flags.load(Relaxed) & flags == flags
    }

    /// Sets or clears `flags`.
    pub(crate) fn set(&self, flags: u32, on: bool) {
        if on {
            self.flags.fetch_or(flags, Relaxed);
        } else {
            self.flags.fetch_and(!flags, Relaxed);
        }
    }

    /// The protocol version that it speaks now.
    pub(crate) fn version(&self) -> Version {
        let is_resp3 = self.version.load(Relaxed) == u32::from(Version::Resp3.number());
        if is_resp3 { Version::Resp3 } else { Version::Resp2 }
    }

    /// Resets it to the state of a new connection, except for the name and version of its library.
    pub(crate) fn reset(&self) {
        self.set(Self::MONITOR | Self::NO_EVICT | Self::NO_TOUCH | Self::READS_ONLY, false);
        self.rename(|names| {
            names.name = Box::default();
            names.user = None;
        });
    }

    /// The number of the client that gets the invalidations of this one: 0 if it gets them itself, -1 if it tracks
    /// nothing.
    pub(crate) fn redirection(&self) -> i64 {
        if !self.is(Self::TRACKING) {
            return -1;
        }
        self.redirect.lock().as_ref().map_or(0, |target| target.id.serial() as i64)
    }

    /// Changes its names.
    pub(crate) fn rename(&self, change: impl FnOnce(&mut Names)) {
        let mut names = self.names.lock();
        change(&mut names);
        self.memory.set(MemoryKind::Names, names.bytes());
    }

    /// Records that it sends a command now. Only its own worker writes, so plain stores suffice.
    #[inline]
    pub(crate) fn sends(&self, command: u32, now: Ticks) {
        self.last_command.store(command, Relaxed);
        self.last_ms.store(now.as_millis(), Relaxed);
        self.commands.store(self.commands.load(Relaxed) + 1, Relaxed);
    }

    /// Its address in the form of Redis clients; empty without a socket.
    pub(crate) fn address(&self) -> String {
        self.peer.as_deref().map_or_else(String::new, address_of)
    }
}

/// The address of a client in the form of Redis clients.
pub(crate) fn address_of(peer: &Peer) -> String {
    address(origin(peer))
}

/// The name of the socket that a client came from. For a socket of the file system it is that of the server, since the
/// client's own has none.
pub(crate) fn origin(peer: &Peer) -> &str {
    if peer.remote.starts_with("unix:") { &peer.local } else { &peer.remote }
}

/// Converts the name of a socket, such as `tcp:127.0.0.1:6379`, to the form of Redis clients: an
/// address and a port, or a path and 0.
pub(crate) fn address(name: &str) -> String {
    match name.split_once(':') {
        Some(("unix", path)) => format!("{path}:0"),
        Some(("tcp" | "tcp6", address)) => address.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_redis_does() {
        for (name, expected) in [
            ("tcp:127.0.0.1:6379", "127.0.0.1:6379"),
            ("tcp6:[::1]:6379", "[::1]:6379"),
            ("unix:/run/rds.sock", "/run/rds.sock:0"),
            ("127.0.0.1:6379", "127.0.0.1:6379"),
        ] {
            assert_eq!(address(name), expected);
        }
    }

    #[test]
    fn a_client_by_a_socket_of_the_file_system_has_the_address_of_that_socket() {
        let of = |remote: &str, local| {
            address_of(&Peer::new(ConnectionId::new(0, 1), remote.into(), local, Ticks::default()))
        };
        assert_eq!(of("unix:", "unix:/run/rds.sock"), "/run/rds.sock:0");
        assert_eq!(of("tcp:10.0.0.1:50000", "tcp:10.0.0.2:6379"), "10.0.0.1:50000");
    }
}
