// SPDX-License-Identifier: Apache-2.0
//! Commands that wait: how they begin to, and how they are served by whoever changes a key.
//!
//! Who changes a key serves those who wait for it, under the locks it holds anyway, before anybody
//! else can look at the key. A waiter that wants an element moved needs the lock of its destination,
//! too. While there is such a waiter, commands that write keys which somebody waits for lock
//! everything (`run.rs`); should it come just after one has looked, the key is served again with
//! everything locked.

use super::call::Call;
use super::keys::Keys;
use super::run::Execution;
use crate::engine::function::Commands;
use crate::engine::service::Engine;
use crate::host::events::Event;
use crate::session::connection::Resp;
use crate::session::memory::MemoryKind;
use crate::session::waiting::{Waiter, Waiting, Wants};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use bytes::Bytes;
use clock::Timer;
use keyspace::{Keyspace, Scope, View};
use parking_lot::Mutex;
use protocol::{Context, Control};
use std::time::Duration;
use values::{Entry, Type};

impl<V: View> Call<'_, V> {
    /// Lets the client wait for one of `keys`, for some time or for ever; inside of a transaction
    /// there is no waiting, and the reply is that there is nothing.
    pub(crate) fn block(&mut self, keys: Args<'_>, of: Type, wants: Wants, wait: Option<Duration>) {
        if self.in_transaction {
            match wants {
                Wants::Move { .. } => self.out.null(),
                Wants::Pop { .. }
                | Wants::PopMany { .. }
                | Wants::PopScored { .. }
                | Wants::PopManyScored { .. } => self.out.null_array(),
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
            until: wait.map(|wait| self.now.ticks + wait),
            command: Mutex::default(),
        };
        let waiting = self.host.key_events.wait(waiter);
        self.worker.await_end(&waiting);
        self.conn.waiting = Some(waiting);
        self.control = Control::Block;
    }
}

impl<K: Keyspace> Engine<K> {
    /// Notes that the connection waits no more: it goes on, or has ended.
    #[cold]
    pub(super) fn end_wait(&mut self, conn: &mut Resp) {
        if let Some(waiting) = conn.waiting.take() {
            self.worker.forget_end(&waiting);
            self.host.key_events.stop_waiting(&waiting);
        }
        if let Some(client) = &conn.client {
            *client.waiting.lock() = None;
            client.memory.set(MemoryKind::Wait, 0);
        }
    }

    /// Serves those who could not be served under the locks of the command.
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

/// What became of a waiter.
enum Served {
    /// It has what it waited for.
    Yes,
    /// There is nothing for it under this key, but maybe for the next.
    No,
    /// The key has nothing more for anybody.
    Empty,
    /// More must be locked.
    Later,
}

impl<V: View> Execution<'_, '_, V> {
    /// Serves clients that wait for keys that have changed, first come first served.
    #[cold]
    pub(super) fn serve<C: Commands>(&mut self) {
        let mut later = Vec::new();
        while let Some((db, key)) = self.worker.ready.pop_front() {
            let mut behind = 0;
            while let Some(waiting) = self.host.key_events.waiters().next(db, &key, behind) {
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
        self.worker.ready.extend(later);
    }

    fn serve_one<C: Commands>(&mut self, db: usize, key: &[u8], waiting: &Waiting) -> Served {
        match self.view.peek(db, key) {
            None => return Served::Empty,
            Some(entry) if entry.data_type() != waiting.of => return Served::No,
            Some(_) => {}
        }
        if matches!(waiting.wants, Wants::Move { .. }) && !self.scope.contains(waiting.scope) {
            return Served::Later;
        }
        // From here on nobody else answers it, and the locks keep the elements there.
        if !self.host.key_events.stop_waiting(waiting) {
            return Served::No;
        }
        let timer = Timer::start();
        let mut reply = Vec::new();
        let mut out = Writer::new(&mut reply, waiting.version);
        let mut keys = Keys { view: &mut *self.view, db, limits: self.limits, has_new: false };
        let done = C::serve(&waiting.wants, &mut keys, key, &mut out);
        let has_new = keys.has_new;
        let failed = done.is_err();
        match done {
            Ok(events) => self.tell(db, key, &events, has_new),
            Err(fault) => {
                self.host.stats.error(fault.code());
                Writer::new(&mut reply, waiting.version).error(fault.text());
            }
        }
        let (counts, now) = (&self.worker.counts, self.context.now);
        self.host.end_wait(waiting, counts, timer.nanos(), failed, now);
        self.context.outbox.resume(waiting.id, waiting.ticket, Bytes::from(reply));
        Served::Yes
    }

    /// Says what has changed for a waiter, first of all that it `has_new` key, and removes the key it
    /// was served from if that is empty.
    fn tell(&mut self, db: usize, key: &[u8], events: &[(&[u8], Event)], has_new: bool) {
        if let Some((made, _)) = events.first().filter(|_| has_new) {
            self.host.key_events.notify(db, made, Event::NEW, self.context.outbox);
        }
        for (key, event) in events {
            let (ready, outbox) = (&mut self.worker.ready, &mut *self.context.outbox);
            self.host.key_events.changed(db, key, *event, ready, outbox);
        }
        if self.view.peek(db, key).is_some_and(Entry::is_empty) {
            if let Some(entry) = self.view.take(db, key) {
                self.view.dispose(entry);
            }
            let (ready, outbox) = (&mut self.worker.ready, &mut *self.context.outbox);
            self.host.key_events.changed(db, key, Event::DEL, ready, outbox);
        }
    }
}
