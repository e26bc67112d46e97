// SPDX-License-Identifier: Apache-2.0
//! Accepting admin connections without ever spinning on an error.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::{Errno, dup2};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::stats;

const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How often the log says that connections cannot be accepted.
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
/// One descriptor is kept in reserve for that time, so that a request for `/health` is answered while
/// clients use all others.
#[derive(Debug)]
pub(crate) struct Acceptor {
    listener: Rc<Listener>,
    backoff: Backoff,
    pause: Option<Pin<Box<Sleep>>>,
    /// When the log last said that connections cannot be accepted.
    complained: Option<Instant>,
}

/// The socket, and the reserved descriptor: a second one of the same socket.
#[derive(Debug)]
struct Listener {
    socket: TcpListener,
    reserve: RefCell<Option<OwnedFd>>,
    /// Connections that use the reserved descriptor and are to return one.
    lent: Cell<usize>,
}

impl Listener {
    fn has_reserve(&self) -> bool {
        self.reserve.borrow().is_some()
    }

    /// Reserves a free descriptor, unless a connection is about to return one.
    fn refill(&self) {
        let mut reserve = self.reserve.borrow_mut();
        if reserve.is_none() && self.lent.get() == 0 {
            *reserve = self.socket.as_fd().try_clone_to_owned().ok();
        }
    }

    /// Lends the reserved descriptor to a new connection. Returns to whom it is to be returned; `None` if
    /// there was no reserve.
    fn lend(self: &Rc<Self>) -> Option<Weak<Self>> {
        (!self.has_reserve()).then(|| {
            self.lent.update(|lent| lent + 1);
            Rc::downgrade(self)
        })
    }

    /// Ends a connection and reserves its descriptor. The descriptor is never free in between, because a
    /// client that waits to be accepted would get it then.
    fn take_over(&self, stream: TcpStream) {
        self.lent.update(|lent| lent - 1);
        let Ok(stream) = stream.into_std() else { return };
        let mut descriptor = OwnedFd::from(stream);
        let mut reserve = self.reserve.borrow_mut();
        if reserve.is_none() && dup2(&self.socket, &mut descriptor).is_ok() {
            *reserve = Some(descriptor);
        }
    }
}

/// A new connection. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// Present until then.
    stream: Option<TcpStream>,
    /// The listener whose reserved descriptor it uses.
    lender: Option<Weak<Listener>>,
}

impl Accepted {
    /// The socket.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.stream.as_mut().expect("it is taken by drop alone")
    }

    /// Whether it uses the reserved descriptor, which it must return after one request.
    pub(crate) fn is_last(&self) -> bool {
        self.lender.is_some()
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        if let (Some(lender), Some(stream)) = (self.lender.take(), self.stream.take())
            && let Some(listener) = lender.upgrade()
        {
            listener.take_over(stream);
        }
    }
}

impl Acceptor {
    /// Takes over a bound, non-blocking listener. Needs tokio's context.
    pub(crate) fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        let socket = TcpListener::from_std(listener)?;
        let listener =
            Rc::new(Listener { socket, reserve: RefCell::default(), lent: Cell::new(0) });
        listener.refill();
        Ok(Self { listener, backoff: Backoff::new(), pause: None, complained: None })
    }

    /// The next connection. Errors are counted, logged and slept off in here.
    pub(crate) fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Accepted> {
        self.listener.refill();
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match self.listener.socket.poll_accept(cx) {
                Poll::Pending => {
                    self.listener.refill();
                    return Poll::Pending;
                }
                Poll::Ready(Ok((stream, _))) => {
                    self.backoff.succeeded();
                    let lender = self.listener.lend();
                    return Poll::Ready(Accepted { stream: Some(stream), lender });
                }
                Poll::Ready(Err(error))
                    if lacks_descriptors(&error) && self.listener.has_reserve() =>
                {
                    stats::ADMIN_ACCEPT_ERROR.increment();
                    self.listener.reserve.take();
                }
                Poll::Ready(Err(error)) => self.failed(&error),
            }
        }
    }

    /// Called when a connection has ended, so there may be a free descriptor.
    pub(crate) fn has_room(&mut self) {
        self.pause = None;
        self.backoff.succeeded();
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

fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Whether the error is that the client went away before it was accepted, so that the next accept may succeed: the same
/// ones as the reactor's acceptor has.
fn concerns_one_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::NotConnected
            | io::ErrorKind::Interrupted
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
