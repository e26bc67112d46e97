// SPDX-License-Identifier: Apache-2.0
//! [`Source`]: what the listener thread sleeps in and what accepts: the counterpart of the workers'
//! drivers (`worker/driver.rs`).

use super::readiness::Readiness;
use crate::waker::Waker;
use crate::{Door, Engine};
use session::Stream;
use std::io;
use std::time::Duration;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use {super::completions::Completions, crate::bell::Bell, std::sync::Arc};

/// The number of a door, and who has come there, or why nobody could.
pub(super) type Arrival = (usize, io::Result<Stream>);

/// What the listener thread sleeps in and what accepts.
#[derive(Debug)]
pub(super) enum Source {
    /// It is told at which doors somebody waits, and accepts.
    Readiness(Readiness),
    /// A ring accepts.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    Completions(Box<Completions>),
}

impl Source {
    /// The source that `engine` names, for these doors, and what wakes it.
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

    /// Begins, on the thread that uses it from now on.
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

    /// Who comes next, at whichever door; `None` when nobody waits. After an error of the system's the
    /// door stays as it is, and is tried again with the next call.
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

    /// Nobody waits at this door; whether [`Source::wait`] ends when somebody comes there although no
    /// descriptor is left to accept with. A ring fails at once then.
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

    /// Sleeps until somebody comes or the waker is used, at most for as long as `most`.
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

    /// From now on [`Source::next`] says `None` only when the backlogs are empty, and needs no waiting.
    pub(super) fn close(&mut self) {
        match self {
            Source::Readiness(readiness) => readiness.open_all(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Source::Completions(completions) => completions.close(),
        }
    }
}
