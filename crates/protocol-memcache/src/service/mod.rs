// SPDX-License-Identifier: Apache-2.0
//! The service: [`MemcacheService`] executes requests over any store.
//!
//! Each group of commands is a file with methods of the service: `get.rs` (all that reads values),
//! `write.rs` (storage commands and delete), `arith.rs` (incr, decr), `flush.rs`, `stats.rs`. Each
//! method carries the request out, writes its reply and returns the [`Outcome`], which the
//! command log wants.

mod arith;
mod flush;
mod get;
mod log;
mod outcome;
mod stats;
mod write;

use crate::metrics;
use crate::options::ServiceOptions;
use crate::parse::Memcache;
use crate::reply;
use crate::request::Request;
use buffer::SendBuf;
use clock::Now;
use flush::Deadline;
use outcome::Outcome;
use protocol::{Buffers, Context, Control, Execute, Malformed, Outbox, Stage};
use ringlog::klog;
use stats::Baseline;
use std::sync::Arc;
use storage::Store;

/// Executes memcache requests over a store.
///
/// Each worker has its own. Clones share what belongs to the server as a whole: the options, a
/// delayed `flush_all` and what `stats reset` has set to zero; and their store handles share the
/// store.
///
/// ```no_run
/// use protocol_memcache::{MemcacheService, ServiceOptions};
/// # fn start(store: impl storage::Store + Clone) {
/// let service = MemcacheService::new(store, ServiceOptions::new().threads(2));
/// let workers = [service.clone(), service];
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemcacheService<S> {
    store: S,
    shared: Arc<Shared>,
}

/// What the services of all workers share.
#[derive(Debug)]
struct Shared {
    options: ServiceOptions,
    flush: Deadline,
    baseline: Baseline,
}

impl<S: Store> MemcacheService<S> {
    /// A service over `store`.
    #[must_use]
    pub fn new(store: S, options: ServiceOptions) -> Self {
        let shared = Shared { options, flush: Deadline::default(), baseline: Baseline::default() };
        MemcacheService { store, shared: Arc::new(shared) }
    }

    /// The store handle.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The store handle as a request at `now` finds it: a delayed `flush_all` that is due has taken
    /// place. For a service that serves another protocol from the same handle.
    #[inline]
    pub fn store_at(&mut self, now: Now) -> &mut S {
        self.flush_if_due(now);
        &mut self.store
    }

    /// What the service was told about the server.
    #[must_use]
    pub fn options(&self) -> &ServiceOptions {
        &self.shared.options
    }

    #[inline]
    fn run(&mut self, request: &Request<'_>, out: &mut SendBuf, context: &Context<'_>) -> Outcome {
        let now = context.now;
        match *request {
            Request::Read { key, read, exptime: None, only } => {
                self.read(key, read, only, out, now)
            }
            Request::Read { key, read, exptime: Some(exptime), only } => {
                self.read_and_touch(key, read, exptime.expiry(now), only, out, now)
            }
            Request::End { read, keys } => end(read, keys, out),
            Request::Write(ref write) => {
                let outcome = self.write(write, now);
                outcome.tell(write.quiet, out)
            }
            Request::Oversized { key, verb, quiet } => {
                let outcome = self.oversized(key, verb, now);
                outcome.tell(quiet, out)
            }
            Request::Delete { key, quiet } => self.delete(key, now).tell(quiet, out),
            _ => self.run_rare(request, out, context),
        }
    }

    /// The commands that no hot path contains, kept out of the one that does.
    #[inline(never)]
    fn run_rare(
        &mut self,
        request: &Request<'_>,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let now = context.now;
        match *request {
            Request::Arith { key, delta, direction, quiet } => {
                self.arith(key, delta, direction, now).tell(quiet, out)
            }
            Request::Touch { key, exptime, quiet } => {
                self.touch(key, exptime.expiry(now), now).tell(quiet, out)
            }
            Request::FlushAll { delay, quiet } => self.flush_all(delay, now).tell(quiet, out),
            Request::Stats { topic } => self.stats(topic, out, context),
            Request::Version => {
                metrics::VERSION.increment();
                out.put(b"VERSION ");
                out.put(self.shared.options.version.as_bytes());
                out.put(b"\r\n");
                Outcome::Ok
            }
            Request::Verbosity { quiet } => {
                metrics::VERBOSITY.increment();
                Outcome::Ok.tell(quiet, out)
            }
            _ => {
                metrics::QUIT.increment();
                Outcome::Closed
            }
        }
    }
}

/// The end of a list of keys.
fn end(read: crate::request::Read, keys: u32, out: &mut SendBuf) -> Outcome {
    let metrics = metrics::of_read(read);
    metrics.lines.increment();
    metrics.cardinality.record(keys.into());
    out.put(reply::END);
    Outcome::Ok
}

impl<S: Store> Execute<Memcache> for MemcacheService<S> {
    #[inline]
    fn prefetch(&self, _: &Memcache, request: &Request<'_>, stage: Stage) {
        if let Some(key) = request.key() {
            self.store.prefetch(key, stage);
        }
    }

    #[inline]
    fn execute(
        &mut self,
        _: &mut Memcache,
        request: Request<'_>,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.flush_if_due(context.now);
        let outcome = if klog::sampled() {
            let before = out.pending();
            let outcome = self.run(&request, out, context);
            log::command(&request, out.pending() - before, outcome);
            outcome
        } else {
            self.run(&request, out, context)
        };
        match outcome {
            Outcome::Closed => Control::Close,
            _ => Control::Continue,
        }
    }

    fn rejected(&mut self, _: &Memcache, _: &Malformed) {
        metrics::MALFORMED.increment();
    }

    #[inline]
    fn maintain(&mut self, now: Now, budget: usize, _: &mut Outbox) -> bool {
        self.flush_if_due(now);
        self.store.expire(now.ticks, budget) == budget
    }

    #[inline]
    fn rest(&mut self) {
        self.store.rest();
    }

    #[inline]
    fn buffers(&mut self, buffers: Buffers) {
        self.store.reserve(buffers.bytes);
    }
}
