// SPDX-License-Identifier: Apache-2.0
//! Runs an admitted command: takes its locks, calls its function, and does the work after it.

use super::call::Call;
use super::journal;
use super::keys::Keys;
use crate::engine::function::Commands;
use crate::engine::rights;
use crate::engine::service::Engine;
use crate::engine::worker::WorkerState;
use crate::host::Host;
use crate::host::commandlog;
use crate::host::stats::Lookups;
use crate::session::blocked_command::BlockedCommand;
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::session::memory::MemoryKind;
use crate::session::transaction::Transaction;
use crate::table::{CommandId, Flags, Places, Spec, keys};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use buffer::SendBuf;
use clock::Timer;
use keyspace::{Keyspace, KeyspaceStats, Scope, View};
use protocol::{Context, Control};
use ringlog::klog;
use std::sync::Arc;
use values::Limits;

impl<K: Keyspace> Engine<K> {
    /// Runs a command by itself.
    #[inline]
    pub(super) fn run<C: Commands>(
        &mut self,
        conn: &mut Resp,
        id: CommandId,
        args: Args<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        if id == CommandId::Exec
            && let Some(control) = self.exec::<C>(conn, args, out, context)
        {
            self.worker.moving = None;
            return control;
        }
        let spec = id.spec();
        let scope = self.scope(id, args);
        let stats = spec.flags.has(Flags::NEEDS_STATS).then(|| self.keyspace.stats());
        let Engine { keyspace, host, worker, limits, limits_version, .. } = self;
        host.refresh_limits(limits_version, limits);
        let mut view = keyspace.view(scope, context.now.unix_ms);
        let mut execution = Execution {
            view: &mut view,
            host,
            worker,
            scope,
            limits,
            stats: stats.as_ref(),
            out,
            context,
        };
        if let Some(asked) = execution.worker.moving.take()
            && let Err(fault) = execution.route_again(conn, asked, std::iter::once((id, &args)))
        {
            execution.refuse(conn, id, &fault);
            return Control::Continue;
        }
        let control = execution.run_here::<C>(conn, id, args, Origin::Client);
        execution.serve_ready::<C>();
        execution.note_effects(conn, spec, args);
        drop(view);
        self.after_view::<C>(context);
        control
    }

    /// Runs the commands of a transaction, all or none. The timer was started with it.
    pub(super) fn run_transaction<C: Commands>(
        &mut self,
        conn: &mut Resp,
        transaction: &Transaction,
        timer: Timer,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        let mut scope = Scope::NONE;
        let mut spans = Vec::new();
        for queued in &transaction.queue {
            scope |= self.scope(queued.id, queued.request.args(&mut spans));
        }
        for watched in conn.watching.keys() {
            scope |= self.keyspace.scope(watched.key);
        }
        if transaction.flags.has(Flags::RUNS_SCRIPT) {
            // A script may use keys that it has not declared, and cannot lock more later.
            scope = Scope::ALL;
        }
        let needs_stats = transaction.flags.has(Flags::NEEDS_STATS);
        let stats = needs_stats.then(|| self.keyspace.stats());
        let Engine { keyspace, host, worker, limits, limits_version, .. } = self;
        host.refresh_limits(limits_version, limits);
        let mut view = keyspace.view(scope, context.now.unix_ms);
        let has_changed = conn.watching.is_marked()
            || conn
                .watching
                .keys()
                .any(|watched| watched.was_there && view.peek(watched.db, watched.key).is_none());
        host.key_events().unwatch(conn);
        if has_changed {
            Writer::new(out, conn.version).null_array();
            return Control::Continue;
        }
        if let Some(asked) = worker.moving.take() {
            let queue = transaction.queue.iter().map(|queued| (queued.id, &queued.request));
            let (limits, stats) = (&*limits, stats.as_ref());
            let mut execution =
                Execution { view: &mut view, host, worker, scope, limits, stats, out, context };
            if let Err(fault) = execution.route_again(conn, asked, queue) {
                execution.refuse(conn, CommandId::Exec, &fault);
                return Control::Continue;
            }
        }
        Writer::new(out, conn.version).array(transaction.queue.len());
        let mut control = Control::Continue;
        for queued in &transaction.queue {
            // The previous command may have changed the limits.
            host.refresh_limits(limits_version, limits);
            let mut execution = Execution {
                view: &mut view,
                host,
                worker: &mut *worker,
                scope,
                limits,
                stats: stats.as_ref(),
                out: &mut *out,
                context: &mut *context,
            };
            let args = queued.request.args(&mut spans);
            if host.acl().is_used()
                && let Err(fault) =
                    rights::check_queued(host, conn, queued.id, args, execution.context.now)
            {
                execution.refuse(conn, queued.id, &fault);
                continue;
            }
            if execution.run::<C>(conn, queued.id, args, Origin::Transaction) == Control::Close {
                control = Control::Close;
            }
            execution.note_effects(conn, queued.id.spec(), args);
        }
        let stats = stats.as_ref();
        let mut execution =
            Execution { view: &mut view, host, worker, scope, limits, stats, out, context };
        if execution.is_awaited() {
            execution.catch_up(timer.nanos());
            execution.serve::<C>();
        }
        drop(view);
        self.after_view::<C>(context);
        control
    }

    /// The shards to lock for a command.
    #[inline]
    pub(super) fn scope(&self, id: CommandId, args: Args<'_>) -> Scope {
        scope_of(&self.host, id, args, |key| self.keyspace.scope(key))
    }

    /// Work that a command left to do, which needs the keyspace without a view.
    #[inline]
    fn after_view<C: Commands>(&mut self, context: &mut Context<'_>) {
        if !self.worker.pending.ready.is_empty() {
            self.serve_everywhere::<C>(context);
        }
        if std::mem::take(&mut self.worker.resets_stats) {
            self.keyspace.reset_stats();
        }
    }
}

/// The shards to lock for a command: those of its keys, or all if it could serve a client that waits to
/// move an element to another key. `of` tells that of a key.
#[inline(always)]
pub(super) fn scope_of(
    host: &Host,
    id: CommandId,
    args: Args<'_>,
    of: impl Fn(&[u8]) -> Scope,
) -> Scope {
    let spec = id.spec();
    if host.key_events().is_awaited() && spec.flags.has(Flags::WRITE) && may_move(host, spec, args)
    {
        return Scope::ALL;
    }
    match id.places() {
        Places::First => of(args.arg(1)),
        Places::Counted => match (args.get(2), args.get(3)) {
            // Most scripts have one key.
            (Some(b"1"), Some(key)) => of(key),
            _ => scope_of_rules(spec, args, of),
        },
        Places::Nowhere if spec.flags.has(Flags::ARBITRARY_KEYS) => Scope::ALL,
        Places::Nowhere => Scope::NONE,
        Places::Elsewhere => scope_of_rules(spec, args, of),
    }
}

/// The client that the logs of slow and of large commands name: none for the commands of scripts.
fn logged_client(conn: &Resp, origin: Origin) -> Option<&Client> {
    conn.client.as_deref().filter(|_| origin != Origin::Script)
}

/// Whether a command that writes may serve a client that waits to move an element, directly or after
/// serving others.
#[cold]
fn may_move(host: &Host, spec: &Spec, args: Args<'_>) -> bool {
    let waiters = host.key_events().waiters();
    let mut may_serve = false;
    if waiters.has_movers() {
        // A client that begins to wait just now is served later, see `blocking.rs`.
        let _ = keys::visit(spec, &args, |at| may_serve |= waiters.may_await(args.arg(at)));
    }
    may_serve
}

/// The shards of the keys that a command's rules find, or all of them.
fn scope_of_rules(spec: &Spec, args: Args<'_>, of: impl Fn(&[u8]) -> Scope) -> Scope {
    if spec.flags.has(Flags::ARBITRARY_KEYS) {
        return Scope::ALL;
    }
    let mut scope = Scope::NONE;
    // If the keys cannot be found, the command will fail without accessing any.
    let _ = keys::visit(spec, &args, |at| scope |= of(args.arg(at)));
    scope
}

/// Who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A client, by itself.
    Client,
    /// EXEC.
    Transaction,
    /// A script, whose own command is in the slow log.
    Script,
}

/// The context in which commands run: a locked part of the keyspace, and everything else that they
/// use.
pub(super) struct Execution<'s, 'x, V> {
    pub(super) view: &'s mut V,
    pub(super) host: &'s Host,
    pub(super) worker: &'s mut WorkerState,
    /// The locked shards.
    pub(super) scope: Scope,
    pub(super) limits: &'s Limits,
    pub(super) stats: Option<&'s KeyspaceStats>,
    pub(super) out: &'s mut SendBuf,
    pub(super) context: &'s mut Context<'x>,
}

impl<V: View> Execution<'_, '_, V> {
    /// Whether this run of a command is timed.
    #[inline]
    fn is_timed(&self, id: CommandId, args: Args<'_>) -> bool {
        let counts = self.worker.counts.of(id.index());
        counts.is_next_timed(id.spec(), args.request_bytes()) || self.host.times_all()
    }

    /// Runs one command of several; writes its reply or error to `out`.
    #[inline(never)]
    pub(super) fn run<C: Commands>(
        &mut self,
        conn: &mut Resp,
        id: CommandId,
        args: Args<'_>,
        origin: Origin,
    ) -> Control {
        self.run_here::<C>(conn, id, args, origin)
    }

    /// As [`Execution::run`], compiled into its caller: a call costs a command that comes by itself a fiftieth of its
    /// instructions.
    #[inline(always)]
    fn run_here<C: Commands>(
        &mut self,
        conn: &mut Resp,
        id: CommandId,
        args: Args<'_>,
        origin: Origin,
    ) -> Control {
        let spec = id.spec();
        let timer = self.is_timed(id, args).then(Timer::start);
        let before = klog::sampled().then(|| self.out.pending());
        let mark = self.out.mark();
        let version = conn.version;
        let db = conn.db;
        let lookups = Lookups::default();
        if conn.no_touch {
            self.view.set_touch(spec.flags.has(Flags::ALWAYS_TOUCHES));
        }
        let mut call = Call {
            spec,
            args,
            keys: Keys { view: &mut *self.view, db, limits: self.limits, has_new: false, lookups },
            out: Writer::new(self.out, version),
            conn,
            id: self.context.connection,
            ticket: self.context.ticket,
            now: self.context.now,
            host: self.host,
            worker: &mut *self.worker,
            scope: self.scope,
            stats: self.stats,
            outbox: &mut *self.context.outbox,
            directory: self.context.directory,
            in_transaction: origin != Origin::Client,
            in_script: origin == Origin::Script,
            lent: self.context.lent.as_ref(),
            control: Control::Continue,
        };
        let done = C::run(id, &mut call);
        let (control, lookups) = (call.control, call.keys.lookups);
        let counts = self.worker.counts.of(id.index());
        counts.look(lookups);
        if control == Control::Block && conn.waiting.is_some() {
            self.begin_wait(conn, id, args, timer);
        } else {
            counts.calls.add(1);
            if done.is_err() {
                counts.failed.add(1);
            }
            if let Some(timer) = timer {
                self.note_time(conn, id, args, timer, mark, origin);
            }
        }
        if let Err(fault) = &done {
            self.fail(conn, fault, mark);
        }
        if let Some(before) = before {
            journal::command(spec, args, self.out.pending() - before, &done, control);
        }
        let large = self.host.large_logs().least();
        if args.request_bytes() >= large || self.out.may_have_grown_by(large) {
            self.note_size(conn, spec, args, mark, origin);
        }
        if !self.host.monitors().is_empty() && origin != Origin::Script {
            self.host.monitors().feed(spec, args, conn, self.context);
        }
        control
    }

    /// Records a command whose request or reply may be large.
    #[cold]
    fn note_size(
        &self,
        conn: &Resp,
        spec: &Spec,
        args: Args<'_>,
        mark: buffer::Mark,
        origin: Origin,
    ) {
        if !spec.flags.has(Flags::SKIP_SLOWLOG) {
            let client = logged_client(conn, origin);
            let (logs, now) = (self.host.large_logs(), self.context.now);
            let kept = || commandlog::kept(spec, args);
            logs.requests.note_size(args.request_bytes(), client, now, kept);
            logs.replies.note_size(self.out.since(mark), client, now, kept);
        }
    }

    /// Records how long a command has taken. A separate function, so that runs that are not timed
    /// do not pay for it.
    #[inline(never)]
    fn note_time(
        &mut self,
        conn: &Resp,
        id: CommandId,
        args: Args<'_>,
        timer: Timer,
        mark: buffer::Mark,
        origin: Origin,
    ) {
        let (spec, now) = (id.spec(), self.context.now);
        let nanos = timer.nanos() + std::mem::take(&mut self.worker.slept_nanos);
        if origin == Origin::Client && self.is_awaited() {
            self.catch_up(nanos);
        }
        self.worker.counts.of(id.index()).time(nanos, self.host.latency().is_tracking());
        self.host.latency().note_command(spec, nanos, now.unix_seconds());
        if !spec.flags.has(Flags::SKIP_SLOWLOG) {
            let client = logged_client(conn, origin);
            self.host.slowlog().note_time(nanos, client, now, || commandlog::kept(spec, args));
        }
        if self.host.hot_keys().is_active() {
            self.note_keys(spec, args, nanos, mark);
        }
    }

    /// Records what the keys of a command have taken.
    #[cold]
    fn note_keys(&mut self, spec: &Spec, args: Args<'_>, nanos: u64, mark: buffer::Mark) {
        let (hot_keys, now) = (self.host.hot_keys(), self.context.now);
        if !hot_keys.takes(self.worker.random()) {
            return;
        }
        let bytes = args.request_bytes().saturating_add(self.out.since(mark)) as u64;
        let found = keys::keys(spec, &args).ok();
        let places = found.iter().flat_map(|found| found.positions());
        let keys = places.filter_map(|at| args.get(at));
        if hot_keys.note(keys, nanos, bytes, now) {
            self.host.end_hot_keys(now.unix_ms);
        }
    }

    /// Stores the data that is counted when a command's wait is over, and makes the wait visible so
    /// that others can end it.
    #[cold]
    fn begin_wait(&mut self, conn: &Resp, id: CommandId, args: Args<'_>, timer: Option<Timer>) {
        let Some(waiting) = &conn.waiting else { return };
        let nanos = timer.map(|timer| timer.nanos());
        let args = args.iter().map(Box::from).collect();
        let (client, user) = (conn.client.clone(), conn.user.clone());
        let command = BlockedCommand { id, args, client, user, nanos };
        if let Some(client) = &conn.client {
            client.memory.set(MemoryKind::Wait, waiting.bytes().saturating_add(command.bytes()));
        }
        // Nobody can have ended it yet: the locks of its keys are held, and it becomes visible only
        // now.
        *waiting.command.lock() = Some(command);
        if let Some(client) = &conn.client {
            client.set(Client::BLOCKED, true);
            *client.waiting.lock() = Some(Arc::clone(waiting));
        }
    }

    /// Replies to a command that may not run any more, now that its shards are locked.
    #[cold]
    fn refuse(&mut self, conn: &Resp, id: CommandId, fault: &Fault) {
        self.worker.counts.of(id.index()).rejected.add(1);
        let mark = self.out.mark();
        self.fail(conn, fault, mark);
    }

    #[cold]
    fn fail(&mut self, conn: &Resp, fault: &Fault, mark: buffer::Mark) {
        debug_assert_eq!(mark, self.out.mark(), "a command that fails has written nothing");
        self.host.stats().error(fault.code());
        Writer::new(self.out, conn.version).error(fault.text());
    }

    /// Serves clients that wait for changed keys.
    #[inline]
    fn serve_ready<C: Commands>(&mut self) {
        if self.is_awaited() {
            self.serve::<C>();
        }
    }

    /// Whether keys have changed for which clients wait.
    #[inline]
    fn is_awaited(&self) -> bool {
        !self.worker.pending.ready.is_empty()
    }

    /// Looks at the keys as of now, after commands that took so long: clients that wait get nothing of what has
    /// expired meanwhile.
    #[cold]
    fn catch_up(&mut self, nanos: u64) {
        let unix_ms = self.context.now.unix_ms.saturating_add(nanos / 1_000_000);
        self.view.set_unix_ms(unix_ms);
    }

    /// Publishes the expiry of entries that a command has found expired, and notes what it has read for a
    /// client that caches it.
    #[inline]
    pub(super) fn note_effects(&mut self, conn: &mut Resp, spec: &Spec, args: Args<'_>) {
        if !self.host.key_events().has_audience() {
            return;
        }
        let key_events = self.host.key_events();
        let (pending, outbox) = (&mut self.worker.pending, &mut *self.context.outbox);
        self.view.drain_gone(&mut |gone| key_events.tell_gone(gone, pending, outbox));
        // A script's keys are those that its commands read, whichever it was given.
        if conn.is_tracker && !spec.flags.has(Flags::RUNS_SCRIPT) {
            let settings = self.host.settings();
            key_events.tracking().note_read(conn, spec, args, settings, self.context.outbox);
        }
    }
}
