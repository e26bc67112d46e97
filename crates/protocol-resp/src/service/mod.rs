// SPDX-License-Identifier: Apache-2.0
//! The service: [`RespService`] carries out commands over any keyspace.
//!
//! ```text
//!  Command ──▶ admission ──▶ scope ──▶ view ──▶ Call ──▶ table::run ──▶ strings::get(call) ...
//!              may it run?   its keys  locks             by index        one function, one command
//!                  │
//!                  └──▶ queued (MULTI) · deferred (CLIENT PAUSE) · refused with a fault
//! ```
//!
//! Where to look:
//!
//! * `mod.rs`: the service, and how one command runs. `admission.rs`: whether it may.
//!   `transaction.rs`: MULTI to EXEC.
//! * [`Resp`] (`resp.rs`): what a connection has set up. [`Host`] (`host.rs`): what all
//!   workers share. `desk.rs`: what one worker keeps.
//! * `call.rs`, `keys.rs`, `fault.rs`: what a command function works with.
//! * One file, or folder, for each group of commands, as in [`table`](crate::table).
//! * `watch.rs`, `waiters.rs`, `hub.rs`, `notify.rs`: who wants to know of changes; `hot.rs` keeps
//!   that free of cost while nobody does, and `sieve.rs` cheap for other keys while somebody does.
//!   `clients.rs`, `stats.rs`: what operators look at.
//! * `holdings.rs`: what a client makes the server keep; `crowd.rs`: who is closed when all of them
//!   take too much.
//!
//! # Atomicity
//!
//! A command locks the shards of all its keys before it looks at one of them, and keeps them until
//! its reply is written and those who waited for its keys are served. EXEC locks those of all its
//! commands. The keyspace takes locks in one order, so nobody waits in a circle; the tables of
//! watches, waiters and channels have locks of their own, which are only ever taken after those and
//! given back before anything else is locked.

pub(crate) mod admission;
mod begun;
pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod clients;
pub(crate) mod cluster;
pub mod config;
pub(crate) mod connection;
mod crowd;
pub(crate) mod deadline;
mod desk;
pub(crate) mod dispatch;
mod double;
mod fault;
mod figures;
pub(crate) mod generic;
pub(crate) mod hashes;
mod histogram;
pub(crate) mod holdings;
mod host;
mod hot;
mod hub;
mod journal;
mod keys;
mod latency;
pub(crate) mod lists;
mod long_double;
mod machine;
pub(crate) mod monitor;
mod notify;
mod options;
pub(crate) mod other;
mod password;
mod pause;
mod picks;
mod platform;
pub(crate) mod pubsub;
mod pulse;
mod ranges;
pub(crate) mod resp;
mod run;
mod secrets;
mod serve;
pub(crate) mod server;
pub(crate) mod sets;
mod sieve;
mod slowlog;
pub(crate) mod sorted_sets;
pub(crate) mod stats;
pub(crate) mod strings;
mod transaction;
pub(crate) mod transactions;
pub(crate) mod version;
mod waiters;
pub(crate) mod watch;

pub(crate) use call::Call;
pub use config::BufferLimit;
pub use fault::{Done, Fault};
pub use host::Host;
pub use platform::{Allocator, Platform};
pub use resp::{Command, Resp};

use crate::parse::Span;
use crate::reply::Writer;
use crate::table::CommandId;
use admission::Admission;
use buffer::SendBuf;
use clients::Client;
use clock::{Now, Ticks};
use desk::Desk;
use holdings::Account;
use keyspace::{Gone, Keyspace, Reason};
use notify::Event;
use protocol::{Buffers, Context, Control, Execute, Malformed, Outbox, Stage};
use resp::Replies;
use std::sync::Arc;
use values::Limits;

/// What clients of other machines are told while nobody has decided that they may come.
const PROTECTED: &[u8] =
    b"DENIED This server is in protected mode, because it asks for no password: \
    clients of other machines are not served. Choose one of these: set a password (requirepass); \
    listen on addresses of this machine only (bind); or, where the network keeps others away, \
    switch it off (protected-mode no).";

/// Executes commands over a keyspace. Each worker has its own.
///
/// Clones are for other workers: they share the [`Host`], and their keyspace handles the keys.
#[derive(Debug)]
pub struct RespService<K> {
    keyspace: K,
    host: Arc<Host>,
    desk: Desk,
    /// Up to where values stay in their compact form.
    limits: Limits,
    /// The version of those limits.
    limits_version: u64,
    /// What the clients of this worker hold.
    account: Arc<Account>,
    /// What others were told of it.
    told: u64,
    /// Their buffers.
    buffers: Buffers,
}

/// A change of what clients hold that is worth telling.
const STEP_BYTES: u64 = 4 << 10;

impl<K: Keyspace> RespService<K> {
    /// A service over `keyspace`.
    #[must_use]
    pub fn new(keyspace: K, host: Arc<Host>) -> Self {
        host.adopt(keyspace.settings());
        host.report(|| keyspace.observer());
        let desk = Desk::new(host.stats.enter());
        RespService {
            keyspace,
            host,
            desk,
            limits: Limits::default(),
            limits_version: 0,
            account: Arc::default(),
            told: 0,
            buffers: Buffers::default(),
        }
    }

    /// Makes a connection known to the others.
    #[cold]
    fn enter(&self, conn: &mut Resp, context: &Context<'_>) {
        let client =
            Arc::new(Client::new(context, conn.version, conn.watching.mark(), &self.account));
        self.host.clients.enter(&client);
        conn.client = Some(client);
    }

    /// Counts what the clients of this worker hold now as used.
    #[inline]
    fn count_holdings(&mut self) {
        let held = self.account.get();
        if held != self.told && (held == 0 || held.abs_diff(self.told) >= STEP_BYTES) {
            self.count(self.buffers, held);
        }
    }

    /// Counts what the clients of this worker take as used.
    fn count(&mut self, buffers: Buffers, held: u64) {
        self.host.crowd.note((self.buffers, buffers), (self.told, held));
        (self.buffers, self.told) = (buffers, held);
        self.keyspace.reserve(buffers.bytes + held);
    }

    /// Notes that the connection, which waited, goes on or has ended.
    #[cold]
    fn end_hold(&mut self, conn: &mut Resp) {
        self.end_wait(conn);
        if let Some(held) = conn.held.take() {
            self.host.pause.forget(held);
        }
        conn.note_blocked(false);
    }

    /// Carries out a command of a client that does not want to see all replies (CLIENT REPLY).
    #[cold]
    fn answer_in_part(
        &mut self,
        conn: &mut Resp,
        command: Command<'_>,
        spans: &mut Vec<Span>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        let before = conn.replies;
        conn.replies.begin();
        conn.has_pushed = false;
        let mark = out.mark();
        let control = self.answer(conn, command, spans, out, context);
        if control == Control::Defer {
            conn.replies = before;
            return control;
        }
        if !conn.replies.end() && !conn.has_pushed {
            out.truncate(mark);
        }
        control
    }

    /// Carries out a command, or refuses it; the reply is in `out`.
    #[inline]
    fn answer(
        &mut self,
        conn: &mut Resp,
        command: Command<'_>,
        spans: &mut Vec<Span>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        let args = command.request.args(spans);
        match self.admit(conn, command.id, args, context) {
            Ok(Admission::Run(id)) => self.run(conn, id, args, out, context),
            Ok(Admission::Queue(id)) => {
                Writer::new(out, conn.version).simple("QUEUED");
                conn.queue(id, command.request);
                Control::Continue
            }
            Ok(Admission::Defer) => Control::Defer,
            Err(fault) => {
                self.refuse(conn, command.id, &fault, out);
                // That a transaction is over is shown, how ever it ended.
                if command.id == Some(CommandId::EXEC) && !self.host.monitors.is_empty() {
                    self.host.monitors.feed(CommandId::EXEC.spec(), args, conn, context);
                }
                Control::Continue
            }
        }
    }
}

impl<K: Keyspace> Execute<Resp> for RespService<K> {
    #[inline]
    fn prefetch(&self, conn: &Resp, command: &Command<'_>, stage: Stage) {
        if let Some(key) = command.only_key() {
            // Behind a SELECT that has not run yet it may be another.
            let db = conn.db;
            if stage == Stage::Value
                && let Some(element) = command.element()
            {
                self.keyspace.prefetch_element(db, key, element);
            } else {
                self.keyspace.prefetch(db, key, stage);
            }
        }
    }

    #[inline]
    fn execute(
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
            self.end_hold(conn);
        }
        let errands = context.outbox.len();
        let mut spans = std::mem::take(&mut self.desk.spans);
        let control = if conn.replies == Replies::On {
            self.answer(conn, command, &mut spans, out, context)
        } else {
            self.answer_in_part(conn, command, &mut spans, out, context)
        };
        self.desk.spans = spans;
        if conn.is_listener() && control != Control::Close {
            // What it has sent to itself comes right behind its reply.
            context.outbox.recall(errands, context.connection, |message| out.put(&message));
        }
        control
    }

    fn rejected(&mut self, _: &Resp, malformed: &Malformed) {
        // An empty request is passed over without a word.
        if let Some(text) = malformed.reply.as_bytes().strip_prefix(b"-") {
            self.host.stats.error(fault::code_of(text));
        }
    }

    fn closed(&mut self, conn: &mut Resp, context: &mut Context<'_>) {
        self.end_hold(conn);
        let host = &self.host;
        conn.unwatch(host);
        if let Some(subscriptions) = conn.subscriptions.take() {
            host.pubsub.leave(&subscriptions);
        }
        if conn.is_monitor {
            host.monitors.leave(context.connection);
        }
        if let Some(client) = conn.client.take() {
            self.desk.forget(client.id);
            host.clients.leave(&client);
            client.holdings.clear();
        }
        host.crowd.gone(context.connection, host.settings());
    }

    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.count_holdings();
        self.desk.trim();
        let RespService { keyspace, host, .. } = self;
        self.desk.end_waits(host, now, outbox);
        if !host.crowd.is_small() {
            // Before any key goes.
            host.relieve(now.ticks, keyspace.used_bytes(), None, outbox);
        }
        if host.pulse.is_due(now.ticks) {
            host.forget_gone();
            let used = host.settings().with_overhead(keyspace.used_bytes());
            host.pulse.beat(now.ticks, host.counts(), used);
        }
        host.pause.end_if_over(now, outbox);
        let mut tell = |gone: Gone<'_>| host.tell_gone(gone, outbox);
        keyspace.maintain(now.unix_ms, budget, &mut tell)
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.desk.wake_at().into_iter().chain(self.host.pause.until()).min()
    }

    fn buffers(&mut self, buffers: Buffers) {
        self.count(buffers, self.account.get());
    }
}

impl Host {
    /// Passes on that the keyspace removed an entry by itself.
    fn tell_gone(&self, gone: Gone<'_>, outbox: &mut Outbox) {
        if self.hot.is_watched() {
            if gone.reason == Reason::Expired {
                self.watches.touch_expired(gone.db, gone.key);
            } else {
                self.watches.touch(gone.db, gone.key);
            }
        }
        let event = match gone.reason {
            Reason::Expired => Event::EXPIRED,
            Reason::Evicted => Event::EVICTED,
            Reason::FieldExpired => Event::FIELD_EXPIRED,
            Reason::Emptied => Event::DEL,
        };
        self.notify(gone.db, gone.key, event, outbox);
    }
}
