// SPDX-License-Identifier: Apache-2.0
//! [`Dials`]: limits that may change while connections are served.

use crate::metrics::CONNECTIONS_MAX;
use crate::{Options, OutputLimit};
use mio::Waker;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Limits that an operator may change while the server runs. Clones share the values. The acceptor sees a
/// change at the next connection, or at once if new connections take it over from the listener; each worker
/// at the next turn of its loop.
#[derive(Clone, Debug)]
pub struct Dials(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connections_max: AtomicUsize,
    keepalive_secs: AtomicU64,
    /// Wakes the acceptor, so that its listeners learn of another keepalive before a connection comes.
    acceptor: Mutex<Option<Arc<Waker>>>,
    /// How often `turned` was changed.
    version: AtomicU64,
    turned: Mutex<Turned>,
}

/// The limits that workers read.
#[derive(Clone, Copy, Debug)]
struct Turned {
    idle_timeout: Duration,
    request_bytes: usize,
    replies: OutputLimit,
    messages: OutputLimit,
}

impl Dials {
    /// Dials with the limits of `options`, for up to `connections_max` connections at once.
    pub fn new(connections_max: usize, options: &Options) -> Self {
        let turned = Turned {
            idle_timeout: options.idle_timeout,
            request_bytes: options.limits.request_bytes,
            replies: options.output.replies,
            messages: options.output.messages,
        };
        Dials(Arc::new(Inner {
            connections_max: AtomicUsize::new(connections_max),
            keepalive_secs: AtomicU64::new(seconds(options.keepalive)),
            acceptor: Mutex::new(None),
            version: AtomicU64::new(1),
            turned: Mutex::new(turned),
        }))
    }

    /// The most connections that are served at once.
    pub fn connections_max(&self) -> usize {
        self.0.connections_max.load(Relaxed)
    }

    /// Sets the most connections that are served at once. Existing connections beyond it stay.
    pub fn set_connections_max(&self, most: usize) {
        self.0.connections_max.store(most, Relaxed);
        CONNECTIONS_MAX.set(i64::try_from(most).unwrap_or(i64::MAX));
    }

    /// [`Options::keepalive`], in whole seconds.
    pub(crate) fn keepalive(&self) -> Duration {
        Duration::from_secs(self.0.keepalive_secs.load(Relaxed))
    }

    /// Sets [`Options::keepalive`] for connections that come from now on, in whole seconds.
    pub fn set_keepalive(&self, time: Duration) {
        self.0.keepalive_secs.store(seconds(time), Relaxed);
        if let Some(acceptor) = &*self.0.acceptor.lock().unwrap_or_else(PoisonError::into_inner) {
            // If that fails, it learns of it with the next connection.
            let _ = acceptor.wake();
        }
    }

    /// Sets the acceptor that is woken from now on.
    pub(crate) fn set_acceptor(&self, acceptor: Arc<Waker>) {
        *self.0.acceptor.lock().unwrap_or_else(PoisonError::into_inner) = Some(acceptor);
    }

    /// Sets [`Options::idle_timeout`].
    pub fn set_idle_timeout(&self, timeout: Duration) {
        self.turn(|turned| turned.idle_timeout = timeout);
    }

    /// Sets how many bytes connections may leave unread:
    /// [`Output::replies`](crate::Output::replies) and
    /// [`Output::messages`](crate::Output::messages).
    pub fn set_output_limits(&self, replies: OutputLimit, messages: OutputLimit) {
        self.turn(|turned| (turned.replies, turned.messages) = (replies, messages));
    }

    /// Sets [`Limits::request_bytes`](crate::Limits::request_bytes). A request that has partly arrived is
    /// checked against the limit that is set when it is parsed again.
    pub fn set_request_bytes(&self, most: usize) {
        self.turn(|turned| turned.request_bytes = most);
    }

    fn turn(&self, change: impl FnOnce(&mut Turned)) {
        change(&mut self.0.turned.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.version.fetch_add(1, Release);
    }

    /// Copies the limits into `options`, if their version is not the `version` that the caller has seen.
    #[inline]
    pub(crate) fn apply(&self, version: &mut u64, options: &mut Options) {
        let latest = self.0.version.load(Acquire);
        if latest != *version {
            *version = latest;
            self.copy(options);
        }
    }

    #[cold]
    fn copy(&self, options: &mut Options) {
        let turned = *self.0.turned.lock().unwrap_or_else(PoisonError::into_inner);
        options.idle_timeout = turned.idle_timeout;
        options.limits.request_bytes = turned.request_bytes;
        options.output.replies = turned.replies;
        options.output.messages = turned.messages;
    }
}

/// In whole seconds, of which a part is one.
fn seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_is_put_into_the_options() {
        let mut options = Options { idle_timeout: Duration::from_secs(3), ..Options::default() };
        let (dials, mut version) = (Dials::new(10, &options), 0);
        dials.apply(&mut version, &mut options);
        assert_eq!(options.idle_timeout, Duration::from_secs(3));
        assert_eq!(options.output.messages, Options::default().output.messages);
        let limit = |hard| OutputLimit { hard, soft: 1, soft_time: Duration::from_secs(2) };
        let other = dials.clone();
        other.set_idle_timeout(Duration::ZERO);
        other.set_output_limits(limit(5), limit(6));
        other.set_request_bytes(9);
        other.set_connections_max(7);
        dials.apply(&mut version, &mut options);
        assert_eq!(options.idle_timeout, Duration::ZERO);
        assert_eq!((options.output.replies, options.output.messages), (limit(5), limit(6)));
        assert_eq!((options.limits.request_bytes, dials.connections_max()), (9, 7));
        options.limits.request_bytes = 10;
        dials.apply(&mut version, &mut options);
        assert_eq!(options.limits.request_bytes, 10, "nothing was turned since");
    }
}
