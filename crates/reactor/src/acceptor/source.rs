// SPDX-License-Identifier: Apache-2.0
//! [`Source`]: how the listener thread waits and accepts; the counterpart of the workers' drivers
//! (`worker/driver.rs`).

use super::readiness::Readiness;
use crate::waker::Waker;
use crate::{Door, Engine};
use session::Stream;
use std::io;
use std::time::Duration;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use {super::completions::Completions, crate::bell::Bell, std::sync::Arc};

/// The number of a door, and the connection accepted there, or the error of accepting.
pub(super) type Arrival = (usize, io::Result<Stream>);

/// How the listener thread waits and accepts.
#[derive(Debug)]
pub(super) enum Source {
    /// epoll reports the doors at which connections wait, and the thread accepts.
    Readiness(Readiness),
    /// An io_uring accepts.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    Completions(Box<Completions>),
}

impl Source {
    /// The source for `engine` and these doors, and its waker.
    ///
    /// # Errors
    ///
    /// When the operating system refuses it.
    pub(super) fn new(engine: Engine, doors: &mut [Door]) -> io::Result<(Self, Waker)> {
        match engine {
            Engine::Epoll => {
                let (readiness, waker) = Readiness::new(doors)?;
                Ok((Source::Readiness(readiness), waker.into()))
            }
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Engine::IoUring => {
                let bell = Arc::new(Bell::new()?);
                let completions = Completions::new(bell.clone(), doors.len())?;
                Ok((Source::Completions(Box::new(completions)), Waker::Bell(bell)))
            }
            #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
            Engine::IoUring => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Starts the source, on the thread that uses it from now on.
    ///
    /// # Errors
    ///
    /// When the operating system refuses.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        match self {
            Source::Readiness(_) => Ok(()),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Source::Completions(completions) => completions.begin(),
        }
    }

    /// The next connection, at any door; `None` when none waits. After an error of accepting, the next call
    /// tries the door again.
    ///
    /// # Errors
    ///
    /// When the source itself fails.
    pub(super) fn next(&mut self, doors: &[Door]) -> io::Result<Option<Arrival>> {
        match self {
            Source::Readiness(readiness) => Ok(readiness.next(doors)),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Source::Completions(completions) => completions.next(doors),
        }
    }

    /// Records that no connection waits at this door. Returns whether [`Source::wait`] ends when one comes
    /// there although no descriptor is left to accept it. With a ring it does not: accepting fails at once.
    pub(super) fn shut(&mut self, door: usize) -> bool {
        match self {
            Source::Readiness(readiness) => {
                readiness.shut(door);
                true
            }
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Source::Completions(_) => false,
        }
    }

    /// Sleeps until a connection comes or the waker is used, for at most `most`.
    ///
    /// # Errors
    ///
    /// When the source itself fails.
    pub(super) fn wait(&mut self, most: Option<Duration>) -> io::Result<()> {
        match self {
            Source::Readiness(readiness) => readiness.wait(most),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Source::Completions(completions) => completions.wait(most),
        }
    }

    /// From now on [`Source::next`] returns `None` only when the backlogs are empty, and [`Source::wait`] is
    /// not needed.
    pub(super) fn close(&mut self) {
        match self {
            Source::Readiness(readiness) => readiness.open_all(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Source::Completions(completions) => completions.close(),
        }
    }
}
