// SPDX-License-Identifier: Apache-2.0
//! [`Driver`]: waits for the events of a worker's sockets and has their bytes moved.
//!
//! To a connection both drivers look the same: they report that there is something to read or room to write,
//! and [`Worker::serve`] does the rest. They differ in `readiness.rs` and `completions.rs`.

use super::Worker;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use super::completions;
use super::readiness::Readiness;
use crate::connection::Connection;
use crate::waker::Waker;
use crate::{Engine, Options};
use protocol::{Execute, Protocol};
use std::io;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use {
    crate::bell::Bell,
    crate::uring::{self, Uring},
    std::sync::Arc,
};

/// Where a worker waits for events. It is made before its worker, because the system may refuse it.
#[derive(Debug)]
pub struct EventQueue {
    pub(super) driver: Driver,
    pub(super) waker: Waker,
}

impl EventQueue {
    /// A queue of the engine that `options` name.
    ///
    /// # Errors
    ///
    /// When the operating system refuses it: io_uring where it is not permitted, or where its user may lock no more
    /// memory, and either for want of descriptors.
    pub fn new(options: &Options) -> io::Result<Self> {
        let (driver, waker) = Driver::new(options)?;
        Ok(EventQueue { driver, waker })
    }
}

/// Where a worker sleeps, and how its bytes are moved.
#[derive(Debug)]
pub(super) enum Driver {
    /// epoll: sessions read and write when the poll reports that they can.
    Readiness(Readiness),
    /// io_uring: the ring reads and writes.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    Completions(Box<Uring>),
}

impl Driver {
    /// The driver that `options` name, and what wakes it.
    ///
    /// # Errors
    ///
    /// When the operating system refuses it.
    fn new(options: &Options) -> io::Result<(Self, Waker)> {
        match options.engine {
            Engine::Epoll => {
                let (readiness, waker) = Readiness::new(options.events)?;
                Ok((Driver::Readiness(readiness), waker.into()))
            }
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Engine::IoUring => {
                let bell = Arc::new(Bell::new()?);
                let explain =
                    |error: io::Error| io::Error::new(error.kind(), uring::refusal(&error));
                let uring = Uring::new(bell.clone()).map_err(explain)?;
                Ok((Driver::Completions(Box::new(uring)), Waker::Bell(bell)))
            }
            #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
            Engine::IoUring => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Learns how much the worker's connections have received that waits for more.
    pub(super) fn note_received(&mut self, bytes: usize) {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Driver::Completions(uring) = self {
            uring.note_received(bytes);
        }
        #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
        let _ = bytes;
    }

    /// The driver on epoll, if this is it.
    pub(super) fn readiness(&mut self) -> Option<&mut Readiness> {
        match self {
            Driver::Readiness(readiness) => Some(readiness),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(_) => None,
        }
    }
}

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Starts the driver, on the worker's thread.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        match &mut self.driver {
            Driver::Readiness(_) => Ok(()),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(uring) => {
                uring.begin()?;
                if let Some(ports) = &mut self.ports {
                    uring.await_datagrams(ports);
                }
                Ok(())
            }
        }
    }

    /// Sleeps until something happens, for at most `most`; a wait interrupted by a signal is repeated.
    pub(super) fn wait(&mut self, most: std::time::Duration) -> io::Result<()> {
        match &mut self.driver {
            Driver::Readiness(readiness) => readiness.wait(most),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(uring) => uring.wait(most),
        }
    }

    /// Serves the connections that have events, and counts the events.
    pub(super) fn serve_events(&mut self) {
        match &self.driver {
            Driver::Readiness(_) => self.serve_ready(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(_) => self.serve_completed(),
        }
    }

    /// Takes back the memory of what the driver has sent, before events that came earlier are handled: in a worker that is
    /// behind there may be many, each with a reply of its own.
    pub(super) fn take_back(&mut self) {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Driver::Completions(_) = &self.driver {
            self.hear_of_sent();
        }
    }

    /// Registers the connection in `slot` with the driver.
    pub(super) fn attach(&mut self, slot: usize) -> io::Result<()> {
        let connection = &mut self.connections[slot];
        match &mut self.driver {
            Driver::Readiness(readiness) => readiness.enter(slot, connection.session.stream()),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(uring) => {
                completions::enter(uring, slot, connection);
                Ok(())
            }
        }
    }

    /// Unregisters a connection that was removed, and closes its socket.
    pub(super) fn detach(&mut self, connection: Connection<P>) {
        match &mut self.driver {
            // Closing the socket takes it out of the event queue: no other descriptor refers to it.
            Driver::Readiness(_) => drop(connection),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(uring) => {
                uring.leave(connection.link, connection.into_socket());
            }
        }
    }

    /// Called after a connection was served: starts the driver's operations for it.
    #[inline]
    pub(super) fn settle(&mut self, slot: usize) {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Driver::Completions(_) = &self.driver {
            self.settle_completions(slot);
        }
        #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
        let _ = slot;
    }

    /// Called by each sweep: looks for input of a connection, or its end, that the driver may have missed. Returns
    /// whether the next sweep has to look, too.
    pub(super) fn look_for_unreported(&mut self, slot: usize) -> bool {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Driver::Completions(uring) = &mut self.driver {
            let connection = &mut self.connections[slot];
            return uring.look_for_unreported(connection.link, &mut connection.session);
        }
        let _ = slot;
        false
    }

    /// Serves the input that has arrived for a connection, including bytes that the driver still holds, and
    /// closes it.
    pub(super) fn drain_one(&mut self, slot: usize) {
        match &mut self.driver {
            Driver::Readiness(_) => {}
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(uring) => {
                let connection = &mut self.connections[slot];
                if !uring.halt(connection.link) {
                    return; // It comes to this again when nothing receives any more.
                }
                connection.session.read_directly(true);
            }
        }
        self.connections[slot].drain();
        self.queue(slot);
    }
}
