// SPDX-License-Identifier: Apache-2.0
//! Who looks on at requests: the command log, `stats detail`, watchers, and the metric of their times. A request that
//! nobody looks on at pays for three tests.

use super::log;
use super::outcome::Outcome;
use super::{MemcacheService, watch};
use crate::metrics::time_of;
use crate::op::Op;
use crate::parse::meta::base64;
use crate::reply::meta::BASE64;
use crate::request::Request;
use crate::topics::Topics;
use buffer::SendBuf;
use clock::Timer;
use protocol::Context;
use ringlog::klog;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use storage::Receive;

/// Requests are counted by prefix. The bits of the topics that are watched are beside it.
const PREFIXES: u32 = 1 << 31;

/// Whoever looks on at the requests of all workers, but for the command log.
#[derive(Debug)]
pub(super) struct Observers(AtomicU32);

/// What is known before a request that somebody looks on at is executed.
#[derive(Debug)]
pub(super) struct Before {
    /// The bytes that wait to be sent, if the request is logged.
    logged: Option<usize>,
    /// The item of its key, if requests are watched.
    found: Option<watch::Found>,
    /// Runs if the request is timed.
    timer: Option<Timer>,
}

/// One request in so many is timed. A prime, so that clients that repeat a pattern do not always meet the same of its
/// requests.
const TIMED_ONE_IN: u32 = 61;

/// Which requests of a worker are timed.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// Requests up to the next one that is.
    left: u32,
}

impl Default for Timing {
    fn default() -> Self {
        // The first is among them, so that little traffic shows, too.
        Timing { left: 1 }
    }
}

impl Timing {
    /// Whether this request is timed.
    #[inline]
    fn is_due(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }
}

impl Observers {
    pub(super) fn new(counts_prefixes: bool) -> Self {
        Observers(AtomicU32::new(if counts_prefixes { PREFIXES } else { 0 }))
    }

    #[inline]
    fn are_there(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    /// Whether anybody watches one of these.
    #[inline]
    pub(super) fn watch(&self, topics: Topics) -> bool {
        self.0.load(Relaxed) & topics.bits() != 0
    }

    /// Whether anybody watches anything.
    #[inline]
    pub(super) fn are_watching(&self) -> bool {
        self.0.load(Relaxed) & !PREFIXES != 0
    }

    /// Whether requests are counted by prefix.
    pub(super) fn count_prefixes(&self) -> bool {
        self.0.load(Relaxed) & PREFIXES != 0
    }

    pub(super) fn set_counts_prefixes(&self, counts: bool) {
        if counts {
            self.0.fetch_or(PREFIXES, Relaxed);
        } else {
            self.0.fetch_and(!PREFIXES, Relaxed);
        }
    }

    /// Sets what is watched, of which a watcher of nothing is something, too. Called with the list of watchers locked.
    pub(super) fn set_watched(&self, topics: Option<Topics>) {
        let bits = topics.map_or(0, |topics| watch::SOMEBODY | topics.bits());
        // The only other writer changes its own bit.
        let _ = self.0.fetch_update(Relaxed, Relaxed, |all| Some(all & PREFIXES | bits));
    }
}

impl<S: Receive> MemcacheService<S> {
    /// What is to be known before a request is executed; `None` if nobody looks on.
    #[inline]
    pub(super) fn before(
        &mut self,
        request: &Request<'_>,
        out: &SendBuf,
        context: &Context<'_>,
    ) -> Option<Before> {
        let is_logged = klog::sampled();
        let is_timed = self.timing.is_due();
        if !is_logged && !is_timed && !self.shared.observers.are_there() {
            return None;
        }
        Some(self.look_before((is_logged, is_timed), request, out, context))
    }

    #[cold]
    #[inline(never)]
    fn look_before(
        &mut self,
        (is_logged, is_timed): (bool, bool),
        request: &Request<'_>,
        out: &SendBuf,
        context: &Context<'_>,
    ) -> Before {
        let logged = is_logged.then(|| out.pending());
        let is_watched = self.shared.observers.are_watching();
        let found = if is_watched { self.find_watched(request, context.now) } else { None };
        if is_timed {
            self.timing.left = TIMED_ONE_IN;
        }
        Before { logged, found, timer: is_timed.then(Timer::start) }
    }

    /// Logs a request that was executed, counts it, and shows it to watchers.
    #[cold]
    #[inline(never)]
    pub(super) fn after(
        &mut self,
        before: &Before,
        request: &Request<'_>,
        outcome: Outcome,
        out: &SendBuf,
        context: &Context<'_>,
    ) {
        if let Some(timer) = &before.timer {
            time_of(request.command).record(timer.nanos());
        }
        if matches!(outcome, Outcome::Arriving | Outcome::Queued) {
            return;
        }
        if let Some(pending) = before.logged {
            log::command(request, out.pending() - pending, outcome);
        }
        if self.shared.observers.count_prefixes() {
            self.count_prefix(request, outcome);
        }
        if self.shared.observers.are_watching() {
            self.show_request(before.found, request, outcome, context);
        }
    }
}

/// Calls `with` with the key that a request concerns, decoded.
pub(super) fn with_key<R>(request: &Request<'_>, with: impl FnOnce(&[u8]) -> R) -> Option<R> {
    if let Op::Meta(meta) | Op::UploadMeta(meta) = &request.op
        && meta.flags().has(BASE64)
    {
        return base64::decode(meta.key()).map(|key| with(key.as_bytes()));
    }
    request.key().map(with)
}
