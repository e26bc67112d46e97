// SPDX-License-Identifier: Apache-2.0
//! Accepting admin connections without ever spinning on an error.

use std::fs::File;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::stats;

const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How often the log says that nobody can be accepted.
const COMPLAINT_EVERY: Duration = Duration::from_secs(60);

/// How long to leave the listener alone after an error: doubles with each one in a row.
#[derive(Debug)]
struct Backoff {
    next: Duration,
}

impl Backoff {
    const fn new() -> Self {
        Self { next: PAUSE_MIN }
    }

    fn failed(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(PAUSE_MAX);
        pause
    }

    fn succeeded(&mut self) {
        self.next = PAUSE_MIN;
    }
}

/// A listening socket that rests after errors.
///
/// Out of descriptors (EMFILE, ENFILE) or memory, `accept` fails at once and the connection stays
/// in the queue, so the socket remains readable: retrying without a pause would take a whole core.
///
/// One descriptor is kept for that time, so that somebody who asks for `/health` is answered while
/// clients have taken all others.
#[derive(Debug)]
pub(crate) struct Acceptor {
    listener: TcpListener,
    backoff: Backoff,
    pause: Option<Pin<Box<Sleep>>>,
    reserve: Option<File>,
    /// When the log said last that nobody can be accepted.
    complained: Option<Instant>,
}

/// A new connection.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) stream: TcpStream,
    /// It has the descriptor that was kept, and is to give it back after one request.
    pub(crate) is_last: bool,
}

impl Acceptor {
    /// Takes over a bound, non-blocking listener. Needs tokio's context.
    pub(crate) fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        let listener = TcpListener::from_std(listener)?;
        let (backoff, reserve) = (Backoff::new(), take());
        Ok(Self { listener, backoff, pause: None, reserve, complained: None })
    }

    /// The next connection. Errors are counted, logged and slept off in here.
    pub(crate) fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Accepted> {
        self.refill();
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match self.listener.poll_accept(cx) {
                Poll::Pending => {
                    self.refill();
                    return Poll::Pending;
                }
                Poll::Ready(Ok((stream, _))) => {
                    self.backoff.succeeded();
                    let is_last = self.reserve.is_none();
                    return Poll::Ready(Accepted { stream, is_last });
                }
                Poll::Ready(Err(error)) if lacks_descriptors(&error) && self.reserve.is_some() => {
                    stats::ADMIN_ACCEPT_ERROR.increment();
                    self.reserve = None;
                }
                Poll::Ready(Err(error)) => self.failed(&error),
            }
        }
    }

    /// A connection is over, so there may be a descriptor again.
    pub(crate) fn has_room(&mut self) {
        self.pause = None;
        self.backoff.succeeded();
    }

    fn refill(&mut self) {
        self.reserve = self.reserve.take().or_else(take);
    }

    fn failed(&mut self, error: &io::Error) {
        stats::ADMIN_ACCEPT_ERROR.increment();
        if concerns_one_peer(error) {
            return;
        }
        let pause = self.backoff.failed();
        if self.complained.is_none_or(|at| at.elapsed() >= COMPLAINT_EVERY) {
            log::warn!(
                "admin: cannot accept: {error}; it is tried again every second at the latest"
            );
            self.complained = Some(Instant::now());
        }
        self.pause = Some(Box::pin(tokio::time::sleep_until(Instant::now() + pause)));
    }
}

fn take() -> Option<File> {
    File::open("/dev/null").ok()
}

fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Whether the error took a connection off the queue: the next one may well succeed.
fn concerns_one_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_second_and_a_success_forgets_them() {
        let mut backoff = Backoff::new();
        let pauses: Vec<_> = (0..9).map(|_| backoff.failed().as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        backoff.succeeded();
        assert_eq!(backoff.failed(), PAUSE_MIN);
    }
}
