// SPDX-License-Identifier: Apache-2.0
//! Runs an admitted command, or those of a transaction: takes the locks, has them executed, and does the work after
//! them that needs the keyspace without locks.

use super::execution::{Execution, Origin};
use crate::engine::function::Commands;
use crate::engine::rights;
use crate::engine::service::Engine;
use crate::host::Host;
use crate::session::connection::Resp;
use crate::session::transaction::Transaction;
use crate::table::{CommandId, Flags, Places, Spec, keys};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use buffer::SendBuf;
use clock::Timer;
use keyspace::{Keyspace, Scope, View};
use protocol::{Context, Control};

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
        let scope = match id {
            CommandId::Scan => self.scan_scope(args),
            _ => self.scope(id, args),
        };
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
            && let Err(fault) = execution.route_again(conn, asked, std::iter::once((id, args)))
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
            let mut spans = vec![Vec::new(); transaction.queue.len()];
            let queue = transaction.queue.iter().zip(&mut spans);
            let queue = queue.map(|(queued, spans)| (queued.id, queued.request.args(spans)));
            let (limits, stats) = (&*limits, stats.as_ref());
            let mut execution =
                Execution { view: &mut view, host, worker, scope, limits, stats, out, context };
            if let Err(fault) = execution.route_again(conn, asked, queue) {
                execution.refuse(conn, CommandId::Exec, &fault);
                return Control::Continue;
            }
        }
        worker.unit_micros = None;
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

    /// The shards to lock for SCAN by itself: those of its first step. It locks more where it needs them.
    #[cold]
    fn scan_scope(&self, args: Args<'_>) -> Scope {
        let cursor = std::str::from_utf8(args.arg(1)).ok().and_then(|digits| digits.parse().ok());
        // What is no cursor fails.
        self.keyspace.scan_scope(cursor.unwrap_or_default())
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
            _ => scope_of_rules(id, args, of),
        },
        Places::Nowhere if spec.flags.has(Flags::ARBITRARY_KEYS) => Scope::ALL,
        Places::Nowhere => Scope::NONE,
        Places::Elsewhere => scope_of_rules(id, args, of),
    }
}

/// Whether a command that writes may serve a client that waits to move an element. Serving others changes no other key,
/// so it is one that waits for a key of the command.
#[cold]
fn may_move(host: &Host, spec: &Spec, args: Args<'_>) -> bool {
    let waiters = host.key_events().waiters();
    let mut may_serve = false;
    if waiters.has_movers() {
        // A client that begins to wait just now is served later, see `blocking.rs`.
        let _ = keys::visit(spec, &args, |at| may_serve |= waiters.may_move(args.arg(at)));
    }
    may_serve
}

/// The shards of the keys that a command's rules find, or all of them.
fn scope_of_rules(id: CommandId, args: Args<'_>, of: impl Fn(&[u8]) -> Scope) -> Scope {
    let spec = id.spec();
    if matches!(id, CommandId::Sort | CommandId::SortRo) {
        return scope_of_sort(args, of);
    }
    if spec.flags.has(Flags::ARBITRARY_KEYS) {
        return Scope::ALL;
    }
    let mut scope = Scope::NONE;
    // If the keys cannot be found, the command will fail without accessing any.
    let _ = keys::visit(spec, &args, |at| scope |= of(args.arg(at)));
    scope
}

/// The shards for SORT: those of its key and of any that may be meant by STORE; all, if patterns may lead to other keys.
fn scope_of_sort(args: Args<'_>, of: impl Fn(&[u8]) -> Scope) -> Scope {
    let (mut scope, mut is_stored) = (of(args.arg(1)), false);
    for word in args.tail(2).iter() {
        if word.eq_ignore_ascii_case(b"by") || word.eq_ignore_ascii_case(b"get") {
            return Scope::ALL;
        }
        if is_stored {
            scope |= of(word);
        }
        is_stored = word.eq_ignore_ascii_case(b"store");
    }
    scope
}
