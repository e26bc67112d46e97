// SPDX-License-Identifier: Apache-2.0
//! The service: [`MemcacheService`] executes requests over any store.
//!
//! Each group of operations is a file with methods of the service: `get.rs` (all reads of values), `set.rs`
//! (storage commands and delete), `arith.rs` (incr, decr), `flush.rs`, `stats.rs`, `prefixes.rs` (counts by prefix), `discovery.rs` (the servers of a cluster), `dump.rs` (lists of all items),
//! `admin.rs` (what changes the server), `reread.rs` (files that are read again), `login.rs`, `upload.rs` (values that arrive in
//! pieces); `chores.rs` goes on
//! with what took more than a request. A method executes an operation and returns the [`Outcome`]; the
//! [dialect](Dialect) of the request writes the reply. Values and
//! statistics are written by the dialect as they are found.

mod admin;
mod arith;
mod chores;
mod discovery;
mod dump;
mod flush;
mod get;
mod log;
mod login;
mod meta;
mod observe;
mod outcome;
mod prefixes;
mod reread;
mod set;
mod stats;
#[cfg(test)]
mod tests;
mod upload;
mod watch;

use crate::crowd::Crowd;
use crate::metrics;
use crate::op::Op;
use crate::options::ServiceOptions;
use crate::parse::Memcache;
use crate::platform::{Nowhere, Platform};
use crate::reply::{Dialect, Text};
use crate::request::{Form, Request};
use crate::topics::Topics;
use buffer::SendBuf;
use clock::{Now, Ticks};
pub use dump::DUMPS_MAX;
use dump::Dumps;
use flush::Deadline;
use login::Failures;
use observe::{Observers, Timing};
use outcome::Outcome;
pub use prefixes::PREFIXES_MAX;
use prefixes::{OwnTable, Prefixes};
use protocol::{Buffers, Context, Control, Ending, Execute, Lend, Malformed, Outbox, Stage};
use reread::Rereads;
use stats::Baseline;
use std::sync::Arc;
use std::time::Duration;
use storage::{Receive, Scan};
use upload::{AllUploads, Uploads};
pub use watch::WATCHERS_MAX;
use watch::{OwnWatch, Watchers};

/// Executes memcache requests over a store.
///
/// Each worker has its own. Clones share the state of the server as a whole: the options, a delayed
/// `flush_all` and the baseline of `stats reset`. Their store handles share the store.
///
/// ```no_run
/// use protocol_memcache::{MemcacheService, ServiceOptions};
/// # fn start(store: impl storage::Receive + Clone) {
/// let service = MemcacheService::new(store, ServiceOptions::new().threads(2));
/// let workers = [service.clone(), service];
/// # }
/// ```
#[derive(Debug)]
pub struct MemcacheService<S: Receive> {
    store: S,
    shared: Arc<Shared>,
    dumps: Dumps,
    rereads: Rereads,
    /// Something was begun that goes on in the next turns: `chores.rs`.
    chores_wait: bool,
    own_table: OwnTable,
    timing: Timing,
    own_watch: OwnWatch,
    uploads: Uploads<S::Draft>,
}

/// Another worker's service, over a clone of the handle.
impl<S: Receive + Clone> Clone for MemcacheService<S> {
    fn clone(&self) -> Self {
        MemcacheService {
            store: self.store.clone(),
            shared: Arc::clone(&self.shared),
            dumps: self.dumps.clone(),
            rereads: self.rereads.clone(),
            chores_wait: false,
            own_table: self.own_table.clone(),
            timing: Timing::default(),
            own_watch: self.own_watch.clone(),
            uploads: self.uploads.clone(),
        }
    }
}

/// State shared by the services of all workers.
#[derive(Debug)]
struct Shared {
    options: ServiceOptions,
    platform: Arc<dyn Platform>,
    flush: Deadline,
    baseline: Baseline,
    failures: Failures,
    observers: Observers,
    watchers: Watchers,
    prefixes: Prefixes,
    uploads: AllUploads,
    crowd: Crowd,
}

impl<S: Receive> MemcacheService<S> {
    /// A service over `store`.
    #[must_use]
    pub fn new(store: S, options: ServiceOptions) -> Self {
        Self::within(Arc::new(Nowhere), store, options)
    }

    /// A service over `store`, within the process that `platform` stands for.
    #[must_use]
    pub fn within(platform: Arc<dyn Platform>, store: S, options: ServiceOptions) -> Self {
        let shared = Shared {
            observers: Observers::new(options.detail),
            watchers: Watchers::default(),
            prefixes: Prefixes::new(options.prefix_delimiter),
            uploads: AllUploads::default(),
            crowd: Crowd::new(),
            options,
            platform,
            flush: Deadline::default(),
            baseline: Baseline::default(),
            failures: Failures::default(),
        };
        MemcacheService {
            store,
            shared: Arc::new(shared),
            dumps: Dumps::default(),
            rereads: Rereads::default(),
            chores_wait: false,
            own_table: OwnTable::default(),
            timing: Timing::default(),
            own_watch: OwnWatch::default(),
            uploads: Uploads::default(),
        }
    }

    /// The store handle.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Tells the [codecs](Memcache::crowd) of its connections whether their buffers have much memory.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        self.shared.crowd.clone()
    }

    /// The facts about the server that the service was given.
    #[must_use]
    pub fn options(&self) -> &ServiceOptions {
        &self.shared.options
    }

    /// Executes a request, writes its reply and returns the outcome.
    ///
    /// It is compiled into its one caller, with `run_in` once for each dialect: a call of each costs a tenth of a
    /// small request.
    #[inline(always)]
    fn run(
        &mut self,
        connection: &mut Memcache,
        request: &Request<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let text = match request.form {
            Form::Text(text) => text,
            Form::Binary(binary) => return self.run_in(binary, connection, request, out, context),
            // The reply of a meta command is in the flags of its operation.
            Form::Meta => Text::Whole,
        };
        self.run_in(text, connection, request, out, context)
    }

    /// As `run`, with a known dialect. Reads and storage commands are compiled into it, with nothing in their way.
    #[inline(always)]
    fn run_in<D: Dialect>(
        &mut self,
        reply: D,
        connection: &mut Memcache,
        request: &Request<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        // A list is one request: it is counted at its end.
        if !reply.is_listed() {
            request.command.command().requests.increment();
        }
        let now = context.now;
        match request.op {
            Op::Get(ref get) => match get.touch {
                None => self.get(get, reply, out, now),
                Some(exptime) => {
                    let expiry = exptime.expiry(now);
                    self.get_and_touch(get, request.command, expiry, reply, out, now)
                }
            },
            Op::Set(ref set) => self.set(set, now).tell(reply, out),
            Op::Meta(ref meta) => self.meta(meta, out, now),
            Op::Delete { .. }
            | Op::Upload(_)
            | Op::UploadMeta(_)
            | Op::Piece(_)
            | Op::ListEnd { .. }
            | Op::Oversized { .. }
            | Op::Arith(_)
            | Op::Touch { .. }
            | Op::FlushAll { .. }
            | Op::BadFlush { .. }
            | Op::Stats { .. }
            | Op::Detail(_)
            | Op::Config { .. }
            | Op::Dump(_)
            | Op::Watch(_)
            | Op::Version
            | Op::Noop
            | Op::Quit
            | Op::Login(_)
            | Op::Manage(_) => self.run_other(reply, connection, request, out, context),
        }
    }

    /// As `run_in`, for all that is not as common as a read or a storage command, after it was counted.
    #[inline(never)]
    fn run_other<D: Dialect>(
        &mut self,
        reply: D,
        connection: &mut Memcache,
        request: &Request<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let now = context.now;
        let outcome = match request.op {
            Op::Get(_) | Op::Set(_) | Op::Meta(_) => unreachable!("`run_in` executes these"),
            Op::Upload(ref upload) => self.begin_upload(upload, request, context),
            Op::UploadMeta(ref meta) => return self.begin_meta_upload(meta, request, out, context),
            Op::Piece(piece) => self.take_piece(piece, out, context),
            Op::Delete { key, cas: 0 } => self.delete(key, now),
            Op::Delete { key, cas } => self.compare_and_delete(key, cas, now),
            Op::ListEnd { family, keys } => {
                metrics::of_get(family).cardinality.record(keys.into());
                Outcome::ListEnd
            }
            Op::Oversized { key, mode } => self.oversized(key, mode, now),
            Op::Arith(ref arith) => self.arith(arith, now),
            Op::Touch { key, exptime } => self.touch(key, exptime.expiry(now), now),
            Op::FlushAll { delay } => self.flush_all(delay, now),
            Op::BadFlush { .. } => self.refuse_flush(),
            Op::Stats { topic } => self.stats(topic, reply, out, context),
            Op::Config { what } => self.config(what, reply, out),
            Op::Detail(detail) => self.detail(detail, reply, out),
            Op::Dump(ref dump) => self.dump(dump, out, context),
            Op::Watch(topics) => self.watch(topics, out, context),
            Op::Version => {
                reply.version(out, &self.shared.options.version);
                Outcome::Shown
            }
            Op::Noop => Outcome::Ok,
            Op::Manage(admin) => self.admin(admin, context),
            Op::Login(login) => self.log_in(login, connection, context),
            Op::Quit => Outcome::Closed,
        };
        outcome.tell(reply, out)
    }
}

impl<S: Receive> Lend for MemcacheService<S> {
    type Store = S;

    #[inline]
    fn store(&self) -> &S {
        &self.store
    }

    /// A delayed `flush_all` that is due is carried out before.
    #[inline]
    fn store_at(&mut self, now: Now) -> &mut S {
        self.flush_if_due(now);
        &mut self.store
    }
}

impl<S: Scan + Receive> Execute<Memcache> for MemcacheService<S> {
    #[inline]
    fn prefetch(&self, _: &Memcache, request: &Request<'_>, stage: Stage) {
        if let Some(key) = request.key() {
            self.store.prefetch(key, stage);
            if stage == Stage::Value && request.op.reads_value() {
                self.store.prefetch_rest(key);
            }
        }
    }

    #[inline]
    fn goes_on_after(&self, stage: Stage) -> bool {
        self.store.goes_on_after(stage)
    }

    #[inline]
    fn execute(
        &mut self,
        connection: &mut Memcache,
        request: Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.flush_if_due(context.now);
        let before = self.before(&request, out, context);
        let outcome = self.run(connection, &request, out, context);
        if let Some(before) = &before {
            self.after(before, &request, outcome, out, context);
        }
        outcome.control()
    }

    fn place(&mut self, most: usize, context: &mut Context<'_>) -> Option<&mut [u8]> {
        self.place_of_upload(most, context)
    }

    fn placed(&mut self, n: usize, context: &mut Context<'_>) {
        self.note_placed(n, context);
    }

    fn rejected(&mut self, _: &Memcache, malformed: &Malformed) {
        metrics::MALFORMED.increment();
        // As memcached has it, which counts before it looks at the end of the value.
        if malformed.is_bad_value {
            metrics::STORE_BAD_DATA.increment();
        }
    }

    fn opened(&mut self, _: &mut Memcache, context: &mut Context<'_>) {
        if self.shared.observers.watch(Topics::CONNEVENTS)
            && let Some(peer) = context.directory.get(context.connection)
        {
            self.show_opened(&peer, context.now);
        }
    }

    fn closed(&mut self, _: &mut Memcache, ending: Ending, context: &mut Context<'_>) {
        if self.shared.observers.are_watching() {
            self.end_watch(ending, context);
        }
        self.end_upload(context.connection);
        self.dumps.end(context.connection);
        self.rereads.end(context.connection);
    }

    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, outbox: &mut Outbox) -> bool {
        self.flush_if_due(now);
        let more = self.store.expire(now.ticks, budget) == budget;
        more | (self.has_chores() && self.do_chores(now, outbox))
    }

    #[inline]
    fn wake_at(&self) -> Option<Ticks> {
        self.rereads.look_at().into_iter().chain(self.uploads.look_at()).min()
    }

    fn may_nap(&self, now: Now, nap: Duration) -> bool {
        let is_flushed = self.shared.flush.due(now.ticks + nap).is_some();
        !self.has_chores() && !is_flushed && self.store.may_nap(now.ticks, nap)
    }

    #[inline]
    fn rest(&mut self) {
        self.store.rest();
    }

    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        self.count_buffers(buffers.bytes);
    }
}
