// SPDX-License-Identifier: Apache-2.0
//! [`Call`]: everything that one run of a command reads and writes. `call/server.rs`: of the
//! server around it. `call/users.rs`: of its users.

mod server;
mod users;

use super::any_call::{AnyCall, CallParts};
use super::keys::Keys;
use crate::engine::worker::WorkerState;
use crate::host::Host;
use crate::host::events::Event;
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::session::waiting::Waiting;
use crate::table::{Catalogue, Spec};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::{Version, Writer};
use buffer::Lent;
use clock::Now;
use keyspace::{KeyspaceStats, Scope, View};
use protocol::{ConnectionId, Control, Directory, Outbox, Ticket};
use std::sync::atomic::Ordering::Relaxed;
use values::Entry;

/// One run of one command.
///
/// A command function reads `args` (the command's name is argument 0), accesses its keys through `keys`, and
/// reports changes by [`Call::modified`]. It writes exactly one reply to `out`, or writes nothing and returns
/// the error that is its reply.
#[derive(Debug)]
pub(crate) struct Call<'c, V> {
    pub(crate) spec: &'static Spec,
    pub(crate) args: Args<'c>,
    pub(crate) keys: Keys<'c, V>,
    pub(crate) out: Writer<'c>,
    /// The connection that sent the command.
    pub(crate) conn: &'c mut Resp,
    /// The connection's id.
    pub(crate) id: ConnectionId,
    /// The ticket of its next block, see [`protocol::Outbox::resume`].
    pub(crate) ticket: Ticket,
    pub(crate) now: Now,
    /// The locked shards.
    pub(crate) scope: Scope,
    /// The state that all workers share.
    pub(super) host: &'c Host,
    /// The state of this worker.
    pub(crate) worker: &'c mut WorkerState,
    /// A summary of the keyspace, for commands whose row in the table asks for it.
    pub(crate) stats: Option<&'c KeyspaceStats>,
    pub(crate) outbox: &'c mut Outbox,
    pub(crate) directory: &'c Directory,
    /// The command runs inside of EXEC or a script: it must not block.
    pub(crate) in_transaction: bool,
    /// The command runs inside of a script.
    pub(crate) in_script: bool,
    /// The block that the request has for itself, if it is large.
    pub(crate) lent: Option<&'c Lent>,
    /// What becomes of the connection.
    pub(crate) control: Control,
}

impl<'c, V: View> Call<'c, V> {
    /// Argument `i`; the command's name is argument 0. The arity check has ensured that all
    /// required arguments are there.
    #[inline]
    pub(crate) fn arg(&self, i: usize) -> &'c [u8] {
        self.args.arg(i)
    }

    /// Argument `i` as an integer, in the canonical form, the only one that Redis accepts.
    #[inline]
    pub(crate) fn integer(&self, i: usize) -> Result<i64, Fault> {
        self.args.integer(i)
    }

    /// Wall time in milliseconds.
    #[inline]
    pub(crate) fn unix_ms(&self) -> u64 {
        self.now.unix_ms
    }

    /// Reports that the command has changed the value under `key`, to clients that watch the key,
    /// wait for it, or subscribe to its events.
    #[inline]
    pub(crate) fn modified(&mut self, key: &[u8], event: Event) {
        let db = self.keys.db;
        self.modified_in(db, key, event);
    }

    /// [`Call::modified`] for a key of another database than the selected one.
    #[inline]
    pub(crate) fn modified_in(&mut self, db: usize, key: &[u8], event: Event) {
        self.worker.changes += 1;
        if self.host.key_events().has_audience() {
            self.tell(db, key, event, &[]);
        }
    }

    /// [`Call::modified`] for some fields of a hash, which are listed only if somebody is told of them.
    #[inline]
    pub(crate) fn modified_fields<'f>(
        &mut self,
        key: &[u8],
        event: Event,
        fields: impl FnOnce() -> Vec<&'f [u8]>,
    ) {
        self.worker.changes += 1;
        if self.host.key_events().has_audience() {
            let names = if self.names_fields() { fields() } else { Vec::new() };
            self.tell(self.keys.db, key, event, &names);
        }
    }

    /// Whether anybody is told which fields of hashes change.
    #[inline]
    pub(crate) fn names_fields(&self) -> bool {
        self.host.key_events().has_audience() && self.host.key_events().wanted().names_fields()
    }

    /// Reports a change that watchers of the key and clients that cache it do not see, as of a stream's
    /// consumer groups.
    pub(crate) fn noted(&mut self, key: &[u8], event: Event) {
        self.worker.changes += 1;
        self.notify(key, event);
    }

    /// Leaves a key to be served to clients that wait for it, though its value has not changed.
    pub(crate) fn wake(&mut self, key: &[u8]) {
        if self.host.key_events().is_awaited() && self.host.key_events().waiters().may_await(key) {
            self.worker.pending.ready.push_back((self.keys.db, key.into()));
        }
    }

    #[cold]
    fn tell(&mut self, db: usize, key: &[u8], event: Event, fields: &[&[u8]]) {
        if std::mem::take(&mut self.keys.has_new) {
            self.tell_new(db, key);
        }
        self.tell_gone();
        let (pending, outbox) = (&mut self.worker.pending, &mut *self.outbox);
        self.host.key_events().changed((db, key), (event, fields), self.id, pending, outbox);
    }

    /// Reports that the command has created `key`, for commands whose first event is about another
    /// key.
    pub(crate) fn made(&mut self, db: usize, key: &[u8]) {
        if self.host.key_events().has_audience() {
            self.keys.has_new = false;
            self.tell_new(db, key);
        }
    }

    fn tell_new(&mut self, db: usize, key: &[u8]) {
        self.tell_gone();
        self.host.key_events().notify(db, key, Event::NEW, self.outbox);
    }

    /// Publishes the expiry of entries that were found expired, before later events.
    fn tell_gone(&mut self) {
        let (host, pending, outbox) = (self.host, &mut self.worker.pending, &mut *self.outbox);
        self.keys.view.drain_gone(&mut |gone| host.key_events().tell_gone(gone, pending, outbox));
    }

    /// Reports that the command has read a key that does not exist.
    #[inline]
    pub(crate) fn missed(&mut self, key: &[u8]) {
        self.notify(key, Event::KEY_MISS);
    }

    /// Publishes an event that changed no value (`expired`, `keymiss`).
    #[inline]
    pub(crate) fn notify(&mut self, key: &[u8], event: Event) {
        if self.host.key_events().has_audience() {
            self.tell_gone();
            self.host.key_events().notify(self.keys.db, key, event, self.outbox);
        }
    }

    /// Publishes another event of fields that a command has reported as changed.
    pub(crate) fn notify_fields(&mut self, key: &[u8], event: Event, fields: &[&[u8]]) {
        if self.host.key_events().has_audience() {
            self.host.key_events().notify_fields(self.keys.db, key, event, fields, self.outbox);
        }
    }

    /// Removes the collection under `key` if it is empty, and reports that; returns whether it did.
    pub(crate) fn remove_if_empty(&mut self, key: &[u8]) -> bool {
        let is_empty = self.keys.peek(key).is_some_and(Entry::is_empty);
        if is_empty {
            self.keys.remove(key);
            self.modified(key, Event::DEL);
        }
        is_empty
    }
}

impl<'c, V: View> AnyCall<'c> for Call<'c, V> {
    const CATALOGUE: Catalogue = Catalogue::ALL;
    const CONNECTION_BYTES: usize = size_of::<Resp>() + size_of::<Client>();
    // No limit for a single name: names count as memory of clients, which is bounded in total.
    const NAME_MAX: usize = usize::MAX;

    fn parts(&mut self) -> CallParts<'_, 'c> {
        CallParts {
            spec: self.spec,
            args: self.args,
            out: &mut self.out,
            id: self.id,
            client: self.conn.client.as_ref(),
            user: &mut self.conn.user,
            version: &mut self.conn.version,
            replies: &mut self.conn.replies,
            control: &mut self.control,
            now: self.now.ticks,
            clients: self.host.clients(),
            directory: Some(self.directory),
            outbox: self.outbox,
        }
    }

    #[inline]
    fn spec(&self) -> &'static Spec {
        self.spec
    }

    #[inline]
    fn args(&self) -> Args<'c> {
        self.args
    }

    #[inline]
    fn out(&mut self) -> &mut Writer<'c> {
        &mut self.out
    }

    #[inline]
    fn unix_ms(&self) -> u64 {
        self.now.unix_ms
    }

    /// Within a script or a transaction no time passes, as for Redis since 7.2.
    fn unix_micros(&mut self) -> u64 {
        if self.in_transaction {
            *self.worker.unit_micros.get_or_insert_with(clock::unix_micros)
        } else {
            clock::unix_micros()
        }
    }

    fn prefetch<'k>(&self, keys: impl Iterator<Item = &'k [u8]> + Clone) {
        self.keys.view.prefetch(self.keys.db, keys);
    }

    fn databases(&self) -> usize {
        self.host.databases()
    }

    fn is_in_cluster(&self) -> bool {
        self.host.cluster().is_on()
    }

    fn select(&mut self, db: usize) {
        self.conn.db = db;
        if let Some(client) = &self.conn.client {
            client.db.store(db as u32, Relaxed);
        }
    }

    fn tell_subscriptions(&self, version: Version) {
        if let Some(subscriptions) = &self.conn.subscriptions {
            subscriptions.set_version(version);
        }
    }

    fn expects_messages(&self) -> bool {
        self.conn.is_subscriber() && self.conn.version == Version::Resp2
    }

    fn asks_for_password(&self) -> bool {
        self.host.asks_for_password()
    }

    fn log_in(&mut self, name: &[u8], password: &[u8]) -> bool {
        let Some(account) = self.host.acl().log_in(name, password) else {
            self.note_failed_login(name);
            return false;
        };
        self.become_user(account);
        true
    }

    fn has_user(&self, name: &[u8]) -> bool {
        self.host.acl().find(name).is_some()
    }

    fn set_no_touch(&mut self, on: bool) {
        self.conn.no_touch = on;
        // The next command may be of the same transaction.
        self.keys.view.set_touch(!on);
    }

    fn stop_waiting(&self, waiting: &Waiting) {
        self.host.key_events().stop_waiting(waiting);
    }
}
