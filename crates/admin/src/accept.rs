// SPDX-License-Identifier: Apache-2.0
//! Accepting admin connections without ever spinning on an error.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::stats;

const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

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
#[derive(Debug)]
pub(crate) struct Acceptor {
    listener: TcpListener,
    backoff: Backoff,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Acceptor {
    /// Takes over a bound, non-blocking listener. Needs tokio's context.
    pub(crate) fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        let listener = TcpListener::from_std(listener)?;
        Ok(Self { listener, backoff: Backoff::new(), pause: None })
    }

    /// The next connection. Errors are counted, logged and slept off in here.
    pub(crate) fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<TcpStream> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match ready!(self.listener.poll_accept(cx)) {
                Ok((stream, _)) => {
                    self.backoff.succeeded();
                    return Poll::Ready(stream);
                }
                Err(error) => self.failed(&error),
            }
        }
    }

    fn failed(&mut self, error: &io::Error) {
        stats::ADMIN_ACCEPT_ERROR.increment();
        if concerns_one_peer(error) {
            return;
        }
        let pause = self.backoff.failed();
        log::warn!("admin: cannot accept: {error}; next try in {} ms", pause.as_millis());
        self.pause = Some(Box::pin(tokio::time::sleep_until(Instant::now() + pause)));
    }
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
