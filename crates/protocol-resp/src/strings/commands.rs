// SPDX-License-Identifier: Apache-2.0
//! [`Commands`]: the service without its store.

use super::connection::Connection;
use super::dispatch::{self, resolve};
use super::metrics::{RESP_COMMAND, RESP_MALFORMED};
use super::store_call::{Outcome, StoreCall};
use super::{StringsOptions, log};
use crate::host::clients::Clients;
use crate::host::command_metrics::{self, ERROR_REPLIES};
use crate::host::stats::{Lookups, Stats, WorkerCounts};
use crate::session::client::Client;
use crate::session::command::Command;
use crate::session::replies::Replies;
use crate::session::watching::Mark;
use crate::table::{self, CommandId};
use crate::wire::parse::Span;
use crate::wire::reply::Writer;
use buffer::SendBuf;
use clock::Timer;
use metrics::Source;
use protocol::{Context, Control, Ending, ErrorReply, ExecuteOn, Malformed, Stage};
use ringlog::klog;
use std::sync::{Arc, OnceLock};
use storage::Scan;

/// Executes commands on a store that its caller lends: for a service that serves other protocols
/// from the same handle. [`RespStrings`](super::RespStrings) has a store of its own.
///
/// Each worker has its own. Clones share the state of the server as a whole: the options and the
/// list of clients.
#[derive(Debug)]
pub struct Commands {
    shared: Arc<Shared>,
    /// This worker's counts.
    counts: Arc<WorkerCounts>,
    /// The spans of the present command's arguments, see [`crate::wire::parse::Request::args`].
    spans: Vec<Span>,
    /// Memory to build a value in.
    scratch: Vec<u8>,
}

/// State shared by the services of all workers.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: StringsOptions,
    pub(super) clients: Clients,
    pub(super) stats: Stats,
    /// Updates the metrics when they are read.
    metric_source: OnceLock<Source>,
}

impl Clone for Commands {
    /// Those of another worker.
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.shared))
    }
}

impl Commands {
    /// The commands of a server.
    #[must_use]
    pub fn new(options: StringsOptions) -> Self {
        let shared = Arc::new(Shared {
            options,
            clients: Clients::default(),
            stats: Stats::default(),
            metric_source: OnceLock::new(),
        });
        let weak = Arc::downgrade(&shared);
        shared.metric_source.get_or_init(|| {
            Source::new(move || {
                if let Some(shared) = weak.upgrade() {
                    command_metrics::refresh(&shared.stats);
                }
            })
        });
        Self::of(shared)
    }

    fn of(shared: Arc<Shared>) -> Self {
        let counts = shared.stats.enter();
        Commands { shared, counts, spans: Vec::new(), scratch: Vec::new() }
    }

    /// Enters a connection into the list of clients.
    #[cold]
    fn enter(&self, conn: &mut Connection, context: &Context<'_>) {
        let account = Arc::default();
        let client = Arc::new(Client::new(context, conn.version, Mark::default(), &account));
        self.shared.clients.enter(&client);
        conn.client = Some(client);
    }

    /// Executes a command, or refuses it; writes the reply to `out`.
    #[inline]
    fn answer<S: Scan + 'static>(
        &mut self,
        store: &mut S,
        conn: &mut Connection,
        command: &Command<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        let Commands { shared, counts, spans, scratch } = self;
        let args = command.request.args(spans);
        let mark = out.mark();
        let before = out.pending();
        let version = conn.version;
        let resolved = resolve(command.id, args);
        if let (Err(_), Some(id)) = (&resolved, command.id)
            && let Some(id) = table::meant(id, args.get(1))
        {
            counts.of(id.index()).rejected.add(1);
        }
        let done = resolved.and_then(|(op, id)| {
            let (spec, counts) = (id.spec(), counts.of(id.index()));
            let timer = counts.is_next_timed(spec, args.request_bytes()).then(Timer::start);
            if let Some(client) = &conn.client {
                client.sends(id.index() as u32, context.now.ticks);
            }
            let mut call = StoreCall {
                spec,
                args,
                store,
                out: Writer::new(out, version),
                conn,
                shared,
                id: context.connection,
                outbox: context.outbox,
                scratch,
                now: context.now,
                control: Control::Continue,
                outcome: Outcome::Done,
                lookups: Lookups::default(),
            };
            let done = dispatch::run(op, &mut call);
            counts.calls.add(1);
            counts.look(call.lookups);
            if done.is_err() {
                counts.failed.add(1);
            }
            if let Some(timer) = timer {
                counts.time(timer.nanos(), true);
            }
            done.map(|()| (call.control, call.outcome))
        });
        let (control, outcome) = match &done {
            Ok(done) => *done,
            Err(fault) => {
                ERROR_REPLIES.increment();
                out.truncate(mark);
                Writer::new(out, version).error(fault.text());
                (Control::Continue, Outcome::Error)
            }
        };
        if klog::sampled() {
            log::command(command, args, out.pending().saturating_sub(before), outcome);
        }
        control
    }
}

impl<S: Scan + 'static> ExecuteOn<Connection, S> for Commands {
    #[inline]
    fn prefetch(&self, store: &S, _: &Connection, command: &Command<'_>, stage: Stage) {
        if let Some(key) = command.only_key() {
            store.prefetch(key, stage);
            if stage == Stage::Value && command.id == Some(CommandId::Get) {
                store.prefetch_rest(key);
            }
        }
    }

    #[inline]
    fn execute(
        &mut self,
        store: &mut S,
        conn: &mut Connection,
        command: Command<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        RESP_COMMAND.increment();
        if conn.client.is_none() {
            self.enter(conn, context);
        }
        if conn.replies == Replies::On {
            return self.answer(store, conn, &command, out, context);
        }
        conn.replies.begin();
        let mark = out.mark();
        let control = self.answer(store, conn, &command, out, context);
        if !conn.replies.end() {
            out.truncate(mark);
        }
        control
    }

    fn rejected(&mut self, _: &Connection, malformed: &Malformed) {
        // Bytes that are dropped without a reply belong to a request that was counted, or to an
        // empty one.
        if malformed.reply != ErrorReply::NONE {
            RESP_MALFORMED.increment();
        }
    }

    fn closed(&mut self, conn: &mut Connection, _: Ending, _: &mut Context<'_>) {
        if let Some(client) = conn.client.take() {
            self.shared.clients.leave(&client);
        }
    }
}
