// SPDX-License-Identifier: Apache-2.0
//! [`Execution`]: one command under its locks, and what is noted of it.

use super::call::Call;
use super::journal;
use super::keys::Keys;
use super::worker::WorkerState;
use crate::engine::function::Commands;
use crate::host::Host;
use crate::host::commandlog;
use crate::host::stats::Lookups;
use crate::session::blocked_command::BlockedCommand;
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::session::memory::MemoryKind;
use crate::table::{CommandId, Flags, Spec, keys};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use buffer::SendBuf;
use clock::Timer;
use keyspace::{KeyspaceStats, Scope, View};
use protocol::{Context, Control};
use ringlog::klog;
use std::sync::Arc;
use values::Limits;

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
    pub(super) fn run_here<C: Commands>(
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
            self.note_size(conn, spec, args, mark);
        }
        if !self.host.monitors().is_empty() && origin != Origin::Script {
            self.host.monitors().feed(spec, args, conn, self.context);
        }
        control
    }

    /// Records a command whose request or reply may be large.
    #[cold]
    fn note_size(&self, conn: &Resp, spec: &Spec, args: Args<'_>, mark: buffer::Mark) {
        if !spec.flags.has(Flags::SKIP_SLOWLOG) {
            let client = conn.client.as_deref();
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
            let client = conn.client.as_deref();
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
    pub(super) fn refuse(&mut self, conn: &Resp, id: CommandId, fault: &Fault) {
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
    pub(super) fn serve_ready<C: Commands>(&mut self) {
        if self.is_awaited() {
            self.serve::<C>();
        }
    }

    /// Whether keys have changed for which clients wait.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        !self.worker.pending.ready.is_empty()
    }

    /// Looks at the keys as of now, after commands that took so long: clients that wait get nothing of what has
    /// expired meanwhile.
    #[cold]
    pub(super) fn catch_up(&mut self, nanos: u64) {
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
