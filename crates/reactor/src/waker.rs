// SPDX-License-Identifier: Apache-2.0
//! [`Waker`]: wakes a worker from another thread, whichever driver it sleeps in.

use std::io;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use {crate::bell::Bell, std::sync::Arc};

/// Wakes a worker.
#[derive(Debug)]
pub(crate) enum Waker {
    /// For a worker that sleeps in a poll.
    Poll(mio::Waker),
    /// For a worker that sleeps in a ring.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    Bell(Arc<Bell>),
}

impl Waker {
    /// Wakes the worker, or keeps it from falling asleep.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn wake(&self) -> io::Result<()> {
        match self {
            Waker::Poll(waker) => waker.wake(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Waker::Bell(bell) => bell.ring(),
        }
    }
}

impl From<mio::Waker> for Waker {
    fn from(waker: mio::Waker) -> Self {
        Waker::Poll(waker)
    }
}
