// SPDX-License-Identifier: Apache-2.0
//! Blocking commands: how a client begins to wait, and how a command that changes a key serves it.
//!
//! A command that changes a key serves the clients that wait for it, under the locks that it holds anyway,
//! before any other client can access the key. If its user has lost the right to its command meanwhile, it is told so
//! instead, and what it waited for is left to the next.
//!
//! A waiter that wants an element moved also needs the lock of the destination's shard. While there is such a
//! waiter, commands that write keys for which clients wait lock all shards (`run.rs`). If such a waiter comes
//! just after a command has checked for one, the key is served again later, with all shards locked.

use super::call::Call;
use super::execution::Execution;
use super::keys::Keys;
use crate::engine::function::Commands;
use crate::engine::rights::{self, Subject};
use crate::engine::service::Engine;
use crate::host::acl_log::Where;
use crate::host::events::Event;
use crate::host::stats::Lookups;
use crate::session::blocked_command::BlockedCommand;
use crate::session::connection::Resp;
use crate::session::memory::MemoryKind;
use crate::session::waiting::{Waiter, Waiting, Wants};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use bytes::Bytes;
use clock::{Now, Timer};
use keyspace::{Keyspace, Scope, View};
use parking_lot::Mutex;
use protocol::{ConnectionId, Context, Control, Directory, Outbox};
use std::time::Duration;
use values::{Entry, Type};

impl<V: View> Call<'_, V> {
    /// Makes the client wait for one of `keys`, for some time or for ever. In a transaction it does
    /// not wait, and the reply is the one for no element.
    pub(crate) fn block(&mut self, keys: Args<'_>, of: Type, wants: Wants, wait: Option<Duration>) {
        if self.in_transaction {
            match wants {
                Wants::Move { many: None, .. } => self.out.null(),
                Wants::Move { many: Some(_), .. }
                | Wants::Pop { .. }
                | Wants::PopMany { .. }
                | Wants::PopScored { .. }
                | Wants::PopManyScored { .. }
                | Wants::Read { .. }
                | Wants::ReadGroup(_) => self.out.null_array(),
            }
            return;
        }
        let waiter = Waiter {
            turn: 0,
            id: self.id,
            ticket: self.ticket,
            version: self.conn.version,
            db: self.keys.db,
            keys: keys.iter().map(Box::from).collect(),
            of,
            wants,
            scope: self.scope,
            until: wait.map(|wait| self.now.after(wait)),
            command: Mutex::default(),
        };
        let waiting = self.host.key_events().wait(waiter);
        self.worker.await_end(&waiting);
        if waiting.claims() {
            // At the end of this turn, when the keys are at hand.
            self.worker.await_look(&waiting, self.now.ticks);
        }
        self.conn.waiting = Some(waiting);
        self.control = Control::Block;
    }
}

impl<K: Keyspace> Engine<K> {
    /// Records that the connection no longer waits: it was resumed, or has ended.
    #[cold]
    pub(super) fn end_wait(&mut self, conn: &mut Resp) {
        if let Some(waiting) = conn.waiting.take() {
            self.worker.forget_end(&waiting);
            self.host.key_events().stop_waiting(&waiting);
        }
        if let Some(client) = &conn.client {
            *client.waiting.lock() = None;
            client.memory.set(MemoryKind::Wait, 0);
        }
    }

    /// Serves clients that could not be served under the locks of the command.
    #[cold]
    pub(super) fn serve_everywhere<C: Commands>(&mut self, context: &mut Context<'_>) {
        let Engine { keyspace, host, worker, limits, .. } = self;
        let mut view = keyspace.view(Scope::ALL, context.now.unix_ms);
        let mut out = buffer::SendBuf::new();
        let mut execution = Execution {
            view: &mut view,
            host,
            worker,
            scope: Scope::ALL,
            limits,
            stats: None,
            out: &mut out,
            context,
        };
        execution.serve::<C>();
    }
}

impl<K: Keyspace> Engine<K> {
    /// Serves those who wait for keys that the keyspace has removed by itself.
    #[inline]
    pub(super) fn serve_gone<C: Commands>(&mut self, now: Now, outbox: &mut Outbox) {
        if !self.worker.pending.ready.is_empty() {
            let directory = Directory::new();
            let nobody = ConnectionId::new(0, 0);
            self.serve_everywhere::<C>(&mut Context::new(now, nobody, outbox, &directory));
        }
    }

    /// Serves the clients of this worker whose time to be looked at again has come.
    pub(super) fn look_again<C: Commands>(&mut self, now: Now, outbox: &mut Outbox) {
        if !self.worker.must_look(now.ticks) {
            return;
        }
        let due = self.worker.take_due(now.ticks);
        for waiting in &due {
            let keys = waiting.keys.iter().map(|key| (waiting.db, key.clone()));
            self.worker.pending.ready.extend(keys);
        }
        let directory = Directory::new();
        let Some(first) = due.first() else { return };
        self.serve_everywhere::<C>(&mut Context::new(now, first.id, outbox, &directory));
        // Those that were served are forgotten when they are resumed.
        let view = self.keyspace.view(Scope::ALL, now.unix_ms);
        for waiting in due {
            let entries = waiting.keys.iter().map(|key| view.peek(waiting.db, key));
            let next = entries.filter_map(|entry| C::ready_in(&waiting, entry, now.unix_ms)).min();
            if let Some(ms) = next {
                self.worker.await_look(&waiting, now.ticks + Duration::from_millis(ms));
            }
        }
    }
}

/// The outcome of serving a waiter.
enum Served {
    /// It was served.
    Yes,
    /// The key has nothing for it, but may have something for the next waiter.
    No,
    /// The key has nothing left for any waiter.
    Empty,
    /// More shards must be locked.
    Later,
}

impl<V: View> Execution<'_, '_, V> {
    /// Serves clients that wait for changed keys, first come, first served.
    #[cold]
    pub(super) fn serve<C: Commands>(&mut self) {
        let mut later = Vec::new();
        while let Some((db, key)) = self.worker.pending.ready.pop_front() {
            // What was found expired or evicted before the command may lie in any shard.
            if !self.scope.contains(self.view.scope_of(&key)) {
                later.push((db, key));
                continue;
            }
            let mut behind = 0;
            while let Some(waiting) = self.host.key_events().waiters().next(db, &key, behind) {
                behind = waiting.turn;
                match self.serve_one::<C>(db, &key, &waiting) {
                    Served::Yes | Served::No => {}
                    Served::Empty => break,
                    Served::Later => {
                        later.push((db, key));
                        break;
                    }
                }
            }
        }
        self.worker.pending.ready.extend(later);
    }

    fn serve_one<C: Commands>(&mut self, db: usize, key: &[u8], waiting: &Waiting) -> Served {
        let entry = self.view.peek(db, key);
        if !C::is_ready(waiting, key, entry, self.context.now.unix_ms) {
            // Without a value, only those who wait for a consumer group have something to be told.
            let others_wait =
                entry.is_some() || self.host.key_events().waiters().has_group_readers_of(db, key);
            return if others_wait { Served::No } else { Served::Empty };
        }
        if matches!(waiting.wants, Wants::Move { .. }) && !self.scope.contains(waiting.scope) {
            return Served::Later;
        }
        // From here on no other side replies to it, and the locks keep the elements in place.
        if !self.host.key_events().stop_waiting(waiting) {
            return Served::No;
        }
        if let Some(fault) = self.denied(waiting) {
            let mut reply = Vec::new();
            Writer::new(&mut reply, waiting.version).error(fault.text());
            self.context.outbox.resume(waiting.id, waiting.ticket, Bytes::from(reply));
            return Served::No;
        }
        let timer = Timer::start();
        let mut reply = Vec::new();
        let mut out = Writer::new(&mut reply, waiting.version);
        let (limits, lookups) = (self.limits, Lookups::default());
        let mut keys = Keys { view: &mut *self.view, db, limits, has_new: false, lookups };
        let done = C::serve(waiting, self.context.now.unix_ms, &mut keys, key, &mut out);
        let has_new = keys.has_new;
        let failed = done.is_err();
        let since = self.context.outbox.len();
        match done {
            Ok(events) => self.tell(waiting, key, &events, has_new),
            Err(fault) => {
                self.host.stats().error(fault.code());
                Writer::new(&mut reply, waiting.version).error(fault.text());
            }
        }
        let (counts, now) = (&self.worker.counts, self.context.now);
        self.host.end_wait(waiting, counts, timer.nanos(), failed, now);
        // What its own command tells it comes behind the reply, as if it had not waited.
        let mut messages = Vec::new();
        self.context.outbox.recall(since, waiting.id, |message| messages.push(message));
        self.context.outbox.resume(waiting.id, waiting.ticket, Bytes::from(reply));
        for message in messages {
            self.context.outbox.push(waiting.id, message);
        }
        Served::Yes
    }

    /// The error for a waiter whose user may not run its command any more, which is recorded.
    fn denied(&mut self, waiting: &Waiter) -> Option<Fault> {
        if !self.host.acl().is_used() {
            return None;
        }
        let mut command = waiting.command.lock();
        let BlockedCommand { id, args, client, user, nanos: _ } = command.as_ref()?;
        let subject = Subject { user, db: waiting.db, client: client.as_ref() };
        let now = self.context.now;
        let fault =
            rights::judge(self.host, &subject, *id, &args[..], Where::TopLevel, now).err()?;
        self.worker.counts.of(id.index()).rejected.add(1);
        self.host.stats().error(fault.code());
        *command = None;
        Some(fault)
    }

    /// Publishes the changes that serving a waiter has made, first that of a new key (`has_new`), and removes
    /// the key from which it was served if that is empty.
    fn tell(&mut self, waiter: &Waiter, key: &[u8], events: &[(&[u8], Event)], has_new: bool) {
        let (db, by) = (waiter.db, waiter.id);
        if let Some((made, _)) = events.first().filter(|_| has_new) {
            self.host.key_events().notify(db, made, Event::NEW, self.context.outbox);
        }
        for (key, event) in events {
            let (pending, outbox) = (&mut self.worker.pending, &mut *self.context.outbox);
            self.host.key_events().changed((db, key), (*event, &[]), by, pending, outbox);
        }
        if self.view.peek(db, key).is_some_and(Entry::is_empty) {
            if let Some(entry) = self.view.take(db, key) {
                self.view.dispose(entry);
            }
            let (pending, outbox) = (&mut self.worker.pending, &mut *self.context.outbox);
            self.host.key_events().changed((db, key), (Event::DEL, &[]), by, pending, outbox);
        }
    }
}
