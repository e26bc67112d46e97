// SPDX-License-Identifier: Apache-2.0
//! [`Dials`]: limits that may change while connections are served.

use crate::{Options, OutputLimit};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

/// Limits that an operator may change while the server runs. Clones are the same dials: whoever turns
/// one, the acceptor sees it at the next connection, and each worker at the next turn of its loop.
#[derive(Clone, Debug)]
pub struct Dials(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connections_max: AtomicUsize,
    idle_timeout_ms: AtomicU64,
    request_bytes: AtomicUsize,
    replies: LimitCell,
    messages: LimitCell,
}

/// An [`OutputLimit`] in cells of its own, which are read one by one.
#[derive(Debug)]
struct LimitCell {
    hard: AtomicUsize,
    soft: AtomicUsize,
    soft_time_ms: AtomicU64,
}

impl LimitCell {
    fn new(limit: OutputLimit) -> Self {
        LimitCell {
            hard: AtomicUsize::new(limit.hard),
            soft: AtomicUsize::new(limit.soft),
            soft_time_ms: AtomicU64::new(millis(limit.soft_time)),
        }
    }

    fn get(&self) -> OutputLimit {
        OutputLimit {
            hard: self.hard.load(Relaxed),
            soft: self.soft.load(Relaxed),
            soft_time: Duration::from_millis(self.soft_time_ms.load(Relaxed)),
        }
    }

    fn set(&self, limit: OutputLimit) {
        self.hard.store(limit.hard, Relaxed);
        self.soft.store(limit.soft, Relaxed);
        self.soft_time_ms.store(millis(limit.soft_time), Relaxed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Dials {
    /// Dials that say what `options` say, and serve up to `connections_max` at once.
    pub fn new(connections_max: usize, options: &Options) -> Self {
        let dials = Dials(Arc::new(Inner {
            connections_max: AtomicUsize::new(connections_max),
            idle_timeout_ms: AtomicU64::new(0),
            request_bytes: AtomicUsize::new(options.limits.request_bytes),
            replies: LimitCell::new(options.output.replies),
            messages: LimitCell::new(options.output.messages),
        }));
        dials.set_idle_timeout(options.idle_timeout);
        dials
    }

    /// How many connections are served at once.
    pub fn connections_max(&self) -> usize {
        self.0.connections_max.load(Relaxed)
    }

    /// Sets how many connections are served at once. Those that are more already stay.
    pub fn set_connections_max(&self, most: usize) {
        self.0.connections_max.store(most, Relaxed);
    }

    /// Sets [`Options::idle_timeout`], to the millisecond.
    pub fn set_idle_timeout(&self, timeout: Duration) {
        self.0.idle_timeout_ms.store(millis(timeout), Relaxed);
    }

    /// Sets what connections may leave unread: [`Output::replies`](crate::Output::replies) and
    /// [`Output::messages`](crate::Output::messages).
    pub fn set_output_limits(&self, replies: OutputLimit, messages: OutputLimit) {
        self.0.replies.set(replies);
        self.0.messages.set(messages);
    }

    /// Sets [`Limits::request_bytes`](crate::Limits::request_bytes). A request that has begun to arrive
    /// is judged by the limit of the moment at which it is looked at again.
    pub fn set_request_bytes(&self, most: usize) {
        self.0.request_bytes.store(most, Relaxed);
    }

    /// Puts into `options` what the dials say.
    pub(crate) fn apply(&self, options: &mut Options) {
        options.idle_timeout = Duration::from_millis(self.0.idle_timeout_ms.load(Relaxed));
        options.limits.request_bytes = self.0.request_bytes.load(Relaxed);
        options.output.replies = self.0.replies.get();
        options.output.messages = self.0.messages.get();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_is_put_into_the_options() {
        let mut options = Options { idle_timeout: Duration::from_secs(3), ..Options::default() };
        let dials = Dials::new(10, &options);
        dials.apply(&mut options);
        assert_eq!(options.idle_timeout, Duration::from_secs(3));
        assert_eq!(options.output.messages, Options::default().output.messages);
        let limit = |hard| OutputLimit { hard, soft: 1, soft_time: Duration::from_secs(2) };
        let other = dials.clone();
        other.set_idle_timeout(Duration::ZERO);
        other.set_request_bytes(9);
        other.set_output_limits(limit(5), limit(6));
        other.set_connections_max(7);
        dials.apply(&mut options);
        assert_eq!(options.idle_timeout, Duration::ZERO);
        assert_eq!((options.output.replies, options.output.messages), (limit(5), limit(6)));
        assert_eq!((options.limits.request_bytes, dials.connections_max()), (9, 7));
    }
}
