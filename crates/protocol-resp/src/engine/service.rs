// SPDX-License-Identifier: Apache-2.0
//! [`Engine`]: the service of one worker, and the way of a command through it.

use crate::acl::Selection;
use crate::engine::admit::Admission;
use crate::engine::function::Commands;
use crate::engine::worker::WorkerState;
use crate::host::Host;
use crate::session::client::Client;
use crate::session::command::Command;
use crate::session::connection::Resp;
use crate::session::memory::WorkerMemory;
use crate::session::replies::Replies;
use crate::session::waiting::Held;
use crate::table::{self, CommandId, Flags};
use crate::wire::fault;
use crate::wire::parse::Span;
use crate::wire::reply::Writer;
use buffer::{Mark, SendBuf};
use clock::{Now, Ticks, Timer};
use keyspace::{Gone, Keyspace};
use protocol::{Buffers, Context, Control, Malformed, Outbox, Stage};
use std::sync::Arc;
use std::time::Duration;
use values::{Limits, orphans};

/// The reply to clients of other machines in protected mode.
const PROTECTED: &[u8] =
    b"DENIED This server is in protected mode, because it asks for no password: \
    clients of other machines are not served. Choose one of these: set a password (requirepass); \
    listen on addresses of this machine only (bind); or, where the network keeps others away, \
    switch it off (protected-mode no).";

/// Executes commands over a keyspace. Each worker has its own.
#[derive(Debug)]
pub(crate) struct Engine<K> {
    pub(crate) keyspace: K,
    pub(super) host: Arc<Host>,
    pub(super) worker: WorkerState,
    /// Size limits of the compact forms of values.
    pub(super) limits: Limits,
    /// The version of those limits.
    pub(super) limits_version: u64,
    /// The memory that the clients of this worker hold.
    account: Arc<WorkerMemory>,
    /// The value that was last reported of it.
    told: u64,
    /// This worker reports the memory of the table of cached keys, which all workers share, too.
    counts_table: bool,
    /// The value that was last reported of that.
    told_table: u64,
    /// Their buffers.
    buffers: Buffers,
    /// The value that was last reported of the memory of strings that are in replies only.
    told_orphans: u64,
}

/// CLIENT CACHING applies to one command, or one transaction, that follows; other commands about connections
/// may come between.
#[cold]
fn end_caching(conn: &Resp, id: Option<CommandId>) {
    let holds_on = id.is_some_and(|id| id.spec().flags.has(Flags::HOLDS_CACHING));
    if let Some(client) = conn.client.as_ref().filter(|_| conn.transaction.is_none() && !holds_on) {
        client.set(Client::CACHING, false);
    }
}

/// A command of a client that does not want all replies (CLIENT REPLY): what was so before it.
struct Unwanted {
    replies: Replies,
    mark: Mark,
}

impl Unwanted {
    #[cold]
    fn begin(conn: &mut Resp, out: &SendBuf) -> Self {
        let before = Unwanted { replies: conn.replies, mark: out.mark() };
        conn.replies.begin();
        conn.has_pushed = false;
        before
    }

    /// Takes back the reply to the command unless it is wanted.
    #[cold]
    fn end(self, conn: &mut Resp, out: &mut SendBuf, control: Control) {
        if control == Control::Defer {
            conn.replies = self.replies;
            return;
        }
        let is_heard = conn.replies.end();
        if !is_heard && !conn.has_pushed {
            out.truncate(self.mark);
        }
        conn.waits_unheard = !is_heard && control == Control::Block;
    }
}

/// The smallest change of that memory that is reported.
const STEP_BYTES: u64 = 4 << 10;

/// Whether memory has changed so much since it was reported that it is reported again.
#[inline]
fn is_much(now: u64, told: u64) -> bool {
    now != told && (now == 0 || now.abs_diff(told) >= STEP_BYTES)
}

impl<K: Keyspace> Engine<K> {
    /// A service over `keyspace`.
    pub(crate) fn new(keyspace: K, host: Arc<Host>) -> Self {
        host.adopt(keyspace.settings());
        host.report(|| keyspace.observer());
        let worker = WorkerState::new(host.stats().enter(), host.cluster().enter());
        let counts_table = host.key_events().tracking().claim_report();
        Engine {
            keyspace,
            host,
            worker,
            limits: Limits::default(),
            limits_version: 0,
            account: Arc::default(),
            told: 0,
            counts_table,
            told_table: 0,
            buffers: Buffers::default(),
            told_orphans: 0,
        }
    }

    /// Enters a connection into the list of clients.
    #[cold]
    fn enter(&self, conn: &mut Resp, context: &Context<'_>) {
        let client =
            Arc::new(Client::new(context, conn.version, conn.watching.mark(), &self.account));
        self.host.clients().enter(&client);
        conn.client = Some(client);
    }

    /// Reports the memory that the clients of this worker hold now as used, and that of orphans.
    #[inline]
    pub(super) fn count_memory(&mut self) {
        let held = self.account.get();
        if is_much(held, self.told) || orphans::bytes() != self.told_orphans {
            self.count(self.buffers, held);
        }
    }

    /// Does what clients that cache keys leave to do; returns whether there is more.
    #[cold]
    fn attend_caches(&mut self, outbox: &mut Outbox) -> bool {
        let has_more = self.host.key_events().tracking().tidy(self.host.settings(), outbox);
        self.post(outbox);
        if self.counts_table {
            if is_much(self.table(), self.told_table) {
                self.count(self.buffers, self.account.get());
            }
            self.host.key_events().tracking().rest(self.told_table);
        }
        has_more
    }

    /// Memory of the table of cached keys, in bytes.
    fn table(&self) -> u64 {
        self.host.key_events().tracking().bytes()
    }

    /// Reports the buffers and the held memory of this worker's clients as used.
    fn count(&mut self, buffers: Buffers, held: u64) {
        self.host.client_memory().note((self.buffers, buffers), (self.told, held));
        (self.buffers, self.told) = (buffers, held);
        let orphans = orphans::bytes();
        self.host.client_memory().note_orphans(self.told_orphans, orphans);
        self.told_orphans = orphans;
        self.told_table = if self.counts_table { self.table() } else { 0 };
        self.keyspace.reserve(buffers.bytes + held + orphans + self.told_table);
    }

    /// Records that the connection, which waited, was resumed or has ended; its place among those that a pause held
    /// is returned, to be forgotten when what was held has run.
    #[cold]
    fn end_hold(&mut self, conn: &mut Resp) -> Option<Held> {
        self.end_wait(conn);
        conn.note_blocked(false);
        conn.held.take()
    }

    /// Executes a command of a connection that has waited; maybe the one that a pause has held.
    #[cold]
    fn execute_again<C: Commands>(
        &mut self,
        conn: &mut Resp,
        command: Command<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        let held = self.end_hold(conn);
        let control = self.execute::<C>(conn, command, out, context);
        if let Some(held) = held {
            self.host.pause().forget(held, context.outbox);
        }
        control
    }

    /// Executes a command, or refuses it; writes the reply to `out`.
    #[inline]
    fn answer<C: Commands>(
        &mut self,
        conn: &mut Resp,
        command: Command<'_>,
        spans: &mut Vec<Span>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        let args = command.request.args(spans);
        match self.admit(conn, command.id, args, context) {
            Ok(Admission::Run(id)) => self.run::<C>(conn, id, args, out, context),
            Ok(Admission::Queue(id)) => {
                Writer::new(out, conn.version).simple("QUEUED");
                let mut selected = None;
                if id == CommandId::Select {
                    let selection = Selection { db: conn.db, databases: self.host.databases() };
                    selected = selection.named(args.get(1));
                }
                conn.queue(id, command.request, selected);
                Control::Continue
            }
            Ok(Admission::Defer) => Control::Defer,
            Err(fault) => {
                let meant = command.id.and_then(|id| table::meant(id, args.get(1)));
                self.refuse(conn, meant, &fault, out);
                // Monitors see the end of a transaction, however it ended.
                if command.id == Some(CommandId::Exec) && !self.host.monitors().is_empty() {
                    self.host.monitors().feed(CommandId::Exec.spec(), args, conn, context);
                }
                Control::Continue
            }
        }
    }
}

impl<K: Keyspace> Engine<K> {
    /// See [`protocol::Execute::prefetch`].
    #[inline]
    pub(crate) fn prefetch(&self, conn: &Resp, command: &Command<'_>, stage: Stage) {
        // This is a guess: a SELECT that has not run yet may change it.
        let db = conn.db;
        let Some(key) = command.first_key() else { return };
        if stage == Stage::Value
            && let Some(element) = command.element()
        {
            self.keyspace.prefetch_element(db, key, element);
        } else {
            self.keyspace.prefetch(db, key, stage);
        }
    }

    /// See [`protocol::Execute::prefetch_all`].
    #[inline]
    pub(crate) fn prefetch_all<'r, 'a: 'r>(
        &self,
        conn: &Resp,
        commands: impl Iterator<Item = &'r Command<'a>>,
        stage: Stage,
    ) -> bool {
        let (db, mut has_elements) = (conn.db, false);
        let keys = commands.filter_map(|command| {
            let key = command.first_key()?;
            if stage != Stage::Index
                && let Some(element) = command.element()
            {
                has_elements = true;
                if stage == Stage::Value {
                    self.keyspace.prefetch_element(db, key, element);
                    return None;
                }
            }
            Some(key)
        });
        self.keyspace.prefetch_all(db, keys, stage) | has_elements
    }

    /// See [`protocol::Execute::execute`].
    #[inline]
    pub(crate) fn execute<C: Commands>(
        &mut self,
        conn: &mut Resp,
        command: Command<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        if conn.client.is_none() {
            self.enter(conn, context);
            if self.host.is_closed_to(conn) {
                Writer::new(out, conn.version).error(PROTECTED);
                return Control::Close;
            }
        }
        if conn.waiting.is_some() || conn.held.is_some() {
            return self.execute_again::<C>(conn, command, out, context);
        }
        let (id, errands) = (command.id, context.outbox.len());
        let mut spans = std::mem::take(&mut self.worker.spans);
        let unwanted = (conn.replies != Replies::On).then(|| Unwanted::begin(conn, out));
        let control = self.answer::<C>(conn, command, &mut spans, out, context);
        match unwanted {
            Some(unwanted) => unwanted.end(conn, out, control),
            None if control == Control::Block => conn.waits_unheard = false,
            None => {}
        }
        self.worker.spans = spans;
        if context.outbox.len() != errands && control != Control::Close {
            // Messages that it has sent to itself follow directly after its reply.
            context.outbox.recall(errands, context.connection, |message| out.put(&message));
        }
        if conn.is_tracker && control != Control::Defer {
            end_caching(conn, id);
        }
        control
    }

    /// See [`protocol::Execute::rejected`].
    pub(crate) fn rejected(&mut self, malformed: &Malformed) {
        // An empty request is skipped without a reply.
        if let Some(text) = malformed.reply.as_bytes().strip_prefix(b"-") {
            self.host.stats().error(fault::code_of(text));
        }
    }

    /// See [`protocol::Execute::closed`].
    pub(crate) fn closed(&mut self, conn: &mut Resp, context: &mut Context<'_>) {
        if let Some(held) = self.end_hold(conn) {
            self.host.pause().forget(held, context.outbox);
        }
        let host = &self.host;
        host.key_events().unwatch(conn);
        host.key_events().tracking().tell_left_alone(conn, context.outbox);
        host.key_events().untrack(conn, host.settings());
        if let Some(subscriptions) = conn.subscriptions.take() {
            host.key_events().channels().leave(&subscriptions);
        }
        if conn.is_monitor() {
            host.monitors().leave(context.connection);
        }
        if let Some(client) = conn.client.take() {
            self.worker.forget(client.id);
            host.clients().leave(&client);
            client.set(Client::CLOSING, true);
            *client.redirect.lock() = None;
            client.memory.clear();
        }
        host.client_memory().gone(context.connection, host.settings());
    }

    /// See [`protocol::Execute::post`].
    #[inline]
    pub(crate) fn post(&mut self, outbox: &mut Outbox) {
        if !self.worker.pending.broadcast.is_empty() {
            let broadcast = &mut self.worker.pending.broadcast;
            self.host.key_events().tracking().send(broadcast, outbox);
        }
    }

    /// See [`protocol::Execute::maintain`].
    pub(crate) fn maintain<C: Commands>(
        &mut self,
        now: Now,
        budget: usize,
        outbox: &mut Outbox,
    ) -> bool {
        let mut has_more = orphans::free_some(budget);
        self.count_memory();
        self.worker.trim();
        #[cfg(feature = "scripts")]
        crate::engine::script::drop_removed(&self.host, &mut self.worker.removals);
        self.look_again::<C>(now, outbox);
        self.end_migrations::<C>(now, outbox);
        let Engine { keyspace, host, .. } = self;
        self.worker.end_waits(host, now, outbox);
        if !host.client_memory().is_small() {
            // Clients are closed before any key is evicted.
            host.relieve(now.ticks, keyspace.used_bytes(), None, outbox);
        }
        if host.rate_sampler().is_due(now.ticks) {
            host.forget_gone(now.ticks);
            let used = host.settings().with_overhead(keyspace.used_bytes());
            host.rate_sampler().beat(now.ticks, host.counts(), used);
        }
        host.pause().end_if_over(now, host.settings(), outbox);
        let (key_events, pending) = (host.key_events(), &mut self.worker.pending);
        let mut tell = |gone: Gone<'_>| key_events.tell_gone(gone, pending, outbox);
        // Chores that nobody times cost less.
        has_more |= if host.latency().is_on() {
            let mut timer = Timer::start();
            keyspace.maintain_in_chores(now.unix_ms, budget, &mut tell, &mut |chore| {
                host.latency().note_chore(chore, timer.nanos(), now.unix_seconds());
                timer = Timer::start();
            })
        } else {
            keyspace.maintain(now.unix_ms, budget, &mut tell)
        };
        if self.host.cluster().is_on() {
            has_more |= self.attend_cluster(now, outbox);
        }
        self.serve_gone::<C>(now, outbox);
        if self.host.key_events().tracking().is_active() {
            has_more |= self.attend_caches(outbox);
        }
        has_more | self.count_sizes(now, outbox)
    }

    /// See [`protocol::Execute::wake_at`].
    pub(crate) fn wake_at(&self) -> Option<Ticks> {
        self.worker.wake_at().into_iter().chain(self.host.pause().until()).min()
    }

    /// See [`protocol::Execute::may_nap`]. Rates are sampled by the tick until they are 0. In a cluster all workers
    /// wait for each to have seen a new topology.
    pub(crate) fn may_nap(&self, now: Now, nap: Duration) -> bool {
        let host = &self.host;
        let is_busy = host.cluster().is_on()
            || host.key_events().tracking().is_active()
            || !self.worker.key_sizes.is_idle();
        let has_orphans = orphans::bytes() > 0;
        !is_busy
            && !has_orphans
            && host.rate_sampler().is_still()
            && self.keyspace.may_nap(now.unix_ms, nap)
    }

    /// See [`protocol::Execute::buffers`].
    pub(crate) fn buffers(&mut self, buffers: Buffers) {
        self.count(buffers, self.account.get());
    }
}
