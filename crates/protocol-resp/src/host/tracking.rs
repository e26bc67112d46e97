// SPDX-License-Identifier: Apache-2.0
//! [`Tracking`]: clients that cache keys and are told when these change (CLIENT TRACKING).
//!
//! * `table.rs`: for each key the clients that have read it, and may have it in their caches.
//! * `broadcast.rs`: the clients that are told of all keys with certain prefixes instead.
//! * `message.rs`: what they are told, and how.
//!
//! # No change goes unnoticed
//!
//! A client is entered as a reader of a key before the lock of the key's shard is released that its command
//! read the key under. A writer looks for readers while it holds the same lock. So a change that comes after
//! the read finds the reader, whichever worker makes it: the lock orders the entry, and the flag in
//! [`Interest`] that was set before it, before the look-up. A change that comes before the read is in the
//! reply.
//!
//! The message cannot overtake the reply either. On the reader's own worker it is an errand, which is carried
//! out behind the replies already written. On another worker it is a letter, which the reader's worker reads
//! in a later turn, after the one in which it has written the reply. If the client reads the key once more
//! before the letter comes, it drops a value that is still valid; that costs a request.
//!
//! The same holds of prefixes: a client's prefixes are in the table before CLIENT TRACKING is answered, and a
//! worker sends its broadcast before the reply to the command that has changed the key: INV-BEFORE of the reactor.
//!
//! A worker tells readers of what it has taken out of the table before its client's reply, or at the end of its turn if
//! it has evicted, swept or dropped the key by itself. Until then a change of the same key by another worker finds nobody
//! in the table, so its reply may be there before readers know: earlier by a turn at most.
//!
//! A key that is dropped from the table because there are too many, without the lock of its shard, is reported
//! to its readers. One that is added just then has its reply written in the same turn, before its worker reads
//! any letter.

mod broadcast;
mod message;
mod table;

use self::broadcast::Prefixes;
use self::message::{Invalid, Message};
use self::table::Table;
use super::interest::Interest;
use super::machine;
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::session::memory::{MemoryKind, name_bytes, trim};
use crate::table::{Flags, Spec, keys};
use crate::wire::parse::Args;
use keyspace::Settings;
use parking_lot::RwLock;
use protocol::{ConnectionId, Outbox};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub(crate) use self::broadcast::Broadcast;

/// `tracking-table-max-keys`, unless said otherwise.
const KEYS_MAX: u64 = 1_000_000;

/// The table may take `maxmemory` divided by this.
const SHARE: u64 = 8;

/// What it may take however low `maxmemory` is, in bytes.
const SHARE_LEAST: u64 = 1 << 20;

/// Without `maxmemory`, it may take the machine's memory divided by this.
const MACHINE_SHARE: u64 = 4;

/// Keys that are dropped at once when there are too many, besides two for each that was added.
const DROPPED_AT_ONCE: usize = 100;

/// The clients that cache keys.
#[derive(Debug)]
pub(crate) struct Tracking {
    clients: RwLock<HashMap<ConnectionId, Arc<Client>>>,
    table: Table,
    prefixes: Prefixes,
    /// `tracking-table-max-keys`; 0: no limit.
    keys_max: AtomicU64,
    /// There are such clients, or something is left of them. Set under the lock of the clients.
    is_active: AtomicBool,
    /// There is something for [`Tracking::tidy`].
    is_untidy: AtomicBool,
    /// A worker reports the memory of the table.
    is_claimed: AtomicBool,
}

impl Default for Tracking {
    fn default() -> Self {
        Tracking {
            clients: RwLock::default(),
            table: Table::default(),
            prefixes: Prefixes::default(),
            keys_max: AtomicU64::new(KEYS_MAX),
            is_active: AtomicBool::new(false),
            is_untidy: AtomicBool::new(false),
            is_claimed: AtomicBool::new(false),
        }
    }
}

/// What is tracked, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tracked {
    pub(crate) clients: usize,
    pub(crate) keys: usize,
    /// Pairs of a key and a client.
    pub(crate) items: usize,
    pub(crate) prefixes: usize,
}

/// Beginning and ending.
impl Tracking {
    /// Begins to track what a connection reads, or all keys with its `prefixes`; or changes how.
    pub(crate) fn begin(&self, interest: &Interest, conn: &mut Resp, prefixes: &[&[u8]]) {
        let Some(client) = &conn.client else { return };
        {
            let mut clients = self.clients.write();
            clients.insert(client.id, Arc::clone(client));
            interest.set_tracked(true);
            self.is_active.store(true, Relaxed);
        }
        for prefix in prefixes {
            if conn.prefixes.insert(Box::from(*prefix)) {
                self.prefixes.add(prefix, client);
            }
        }
        conn.is_tracker = true;
        note_prefixes(conn);
    }

    /// Ends it.
    pub(crate) fn end(&self, interest: &Interest, conn: &mut Resp) {
        conn.is_tracker = false;
        let Some(client) = &conn.client else { return };
        for prefix in std::mem::take(&mut conn.prefixes) {
            self.prefixes.remove(&prefix, client);
        }
        let read = std::mem::take(&mut conn.noted);
        let mut clients = self.clients.write();
        clients.remove(&client.id);
        trim(&mut clients);
        if clients.is_empty() {
            // Under the lock, so that no client that begins now is missed. Without clients no writer would
            // look into the table any more.
            interest.set_tracked(false);
            self.table.clear();
        } else {
            self.table.note_end(usize::try_from(read).unwrap_or(usize::MAX));
        }
        drop(clients);
        self.is_untidy.store(true, Relaxed);
        note_prefixes(conn);
    }

    /// Tells the client that has got the messages of this one, which has ended, to drop what it has: it would
    /// not be told of changes any more.
    pub(crate) fn tell_left_alone(&self, conn: &Resp, outbox: &mut Outbox) {
        let Some(client) = &conn.client else { return };
        let target = client.redirect.lock().clone().filter(|target| target.id != client.id);
        let may_have_some = conn.noted > 0 || !conn.prefixes.is_empty();
        if let Some(target) = target.filter(|target| may_have_some && !target.is(Client::CLOSING)) {
            Message::new(Invalid::All).deliver(&target, outbox);
        }
    }
}

/// Records the memory of a connection's prefixes.
fn note_prefixes(conn: &Resp) {
    if let Some(client) = &conn.client {
        let bytes = conn.prefixes.iter().map(|prefix| name_bytes(prefix.len())).sum();
        client.memory.set(MemoryKind::Prefixes, bytes);
    }
}

/// Reads and changes.
impl Tracking {
    /// Enters a connection that tracks what it reads as a reader of a command's keys. The caller holds the
    /// locks of their shards.
    #[cold]
    pub(crate) fn note_read(
        &self,
        conn: &mut Resp,
        spec: &Spec,
        args: Args<'_>,
        settings: &Settings,
        outbox: &mut Outbox,
    ) {
        let Some(client) = &conn.client else { return };
        if !spec.flags.has(Flags::READONLY) || !wants_reads(client) {
            return;
        }
        let (id, mut added) = (client.id, 0);
        // If the keys cannot be found, the command has failed without accessing any.
        let _ = keys::visit(spec, &args, |at| {
            added += usize::from(self.table.add(args.arg(at), id));
        });
        if added > 0 {
            conn.noted += added as u64;
            self.limit(2 * added + DROPPED_AT_ONCE, settings, outbox);
        }
    }

    /// Tells the clients that may have a key, and those that track a prefix of it, that it has changed. The
    /// caller holds the lock of the key's shard. `by` is the client that has changed it; none if the server
    /// has.
    #[cold]
    pub(crate) fn changed(
        &self,
        key: &[u8],
        by: Option<ConnectionId>,
        broadcast: &mut Broadcast,
        outbox: &mut Outbox,
    ) {
        broadcast.note(key, by, &self.prefixes, outbox);
        if let Some(readers) = self.table.take(key) {
            self.tell(key, readers.ids(), by, outbox);
        }
    }

    /// Tells the clients with these ids, as far as they are there and have not changed the key themselves.
    fn tell(
        &self,
        key: &[u8],
        ids: &[ConnectionId],
        by: Option<ConnectionId>,
        outbox: &mut Outbox,
    ) {
        let keys = [key];
        let mut message = Message::new(Invalid::Keys(&keys));
        let clients = self.clients.read();
        for client in ids.iter().filter_map(|id| clients.get(id)) {
            let is_own = client.is(Client::NO_LOOP) && by == Some(client.id);
            // One that tracks prefixes now has read the key before.
            if !is_own && !client.is(Client::BROADCAST) {
                message.send(client, outbox);
            }
        }
    }

    /// Tells all clients that all keys have changed. The caller holds all locks.
    pub(crate) fn all_changed(&self, outbox: &mut Outbox) {
        let mut message = Message::new(Invalid::All);
        for client in self.clients.read().values() {
            message.send(client, outbox);
        }
        self.table.clear();
        self.is_untidy.store(true, Relaxed);
    }

    /// Sends what a worker has to broadcast.
    #[cold]
    pub(crate) fn send(&self, broadcast: &mut Broadcast, outbox: &mut Outbox) {
        broadcast.send(&self.prefixes, outbox);
    }
}

/// Whether a client caches what its present command reads.
fn wants_reads(client: &Client) -> bool {
    let is_caching = client.is(Client::CACHING);
    !client.is(Client::BROADCAST)
        && (!client.is(Client::OPT_IN) || is_caching)
        && (!client.is(Client::OPT_OUT) || !is_caching)
}

/// Limits.
impl Tracking {
    /// `tracking-table-max-keys`; 0: no limit.
    pub(crate) fn keys_max(&self) -> u64 {
        self.keys_max.load(Relaxed)
    }

    /// Sets it.
    pub(crate) fn set_keys_max(&self, keys: u64) {
        self.keys_max.store(keys, Relaxed);
        self.is_untidy.store(true, Relaxed);
    }

    /// Claims to report the memory of the table; true for the first worker that does.
    pub(crate) fn claim_report(&self) -> bool {
        !self.is_claimed.swap(true, Relaxed)
    }

    /// Memory of the table of keys, in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    /// What is tracked, in numbers. Keys are counted until they change, also those that only clients had that
    /// have ended.
    pub(crate) fn tracked(&self) -> Tracked {
        Tracked {
            clients: self.clients.read().len(),
            keys: self.table.keys(),
            items: self.table.items(),
            prefixes: self.prefixes.len(),
        }
    }

    /// Whether the table has more keys than it may, or takes more memory.
    fn is_over_limit(&self, settings: &Settings) -> bool {
        let keys_max = self.keys_max();
        let bytes_max = match settings.maxmemory() {
            0 => machine::usable_bytes() / MACHINE_SHARE,
            maxmemory => (maxmemory / SHARE).max(SHARE_LEAST),
        };
        keys_max != 0 && self.table.keys() as u64 > keys_max || self.table.bytes() > bytes_max
    }

    /// Drops keys while the table is over its limits, some at most, as if they had changed; returns whether it
    /// still is.
    fn limit(&self, most: usize, settings: &Settings, outbox: &mut Outbox) -> bool {
        let mut left = most;
        while self.is_over_limit(settings) {
            if left == 0 {
                return true;
            }
            left -= 1;
            let Some((key, readers)) = self.table.take_any(fastrand::usize(..1 << 16)) else {
                return false;
            };
            self.tell(&key, readers.ids(), None, outbox);
        }
        false
    }

    /// Whether there are such clients, or something is left of them to do. Every worker asks once per turn.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Relaxed)
    }

    /// Called by the worker that reports the memory of the table, `told` bytes at last: ends the work of all
    /// workers if nothing is left.
    pub(crate) fn rest(&self, told: u64) {
        let clients = self.clients.read();
        let is_left = self.table.keys() > 0 || self.is_untidy.load(Relaxed);
        if clients.is_empty() && told == 0 && !is_left {
            self.is_active.store(false, Relaxed);
        }
    }

    /// Does a step of what is left to do: drops keys over the limit, removes readers that have ended, frees
    /// memory. Called once per turn of a worker; returns whether there is more.
    pub(crate) fn tidy(&self, settings: &Settings, outbox: &mut Outbox) -> bool {
        if !self.is_untidy.swap(false, Relaxed) {
            return false;
        }
        let is_over = self.limit(DROPPED_AT_ONCE, settings, outbox);
        let clients = self.clients.read();
        let has_more = self.table.tidy(|id| clients.contains_key(&id)) || is_over;
        if has_more {
            self.is_untidy.store(true, Relaxed);
        }
        has_more
    }
}
