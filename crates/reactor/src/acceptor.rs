// SPDX-License-Identifier: Apache-2.0
//! [`Acceptor`]: the listener thread's loop.
//!
//! It waits by epoll whatever the workers' engine is. An io_uring holds its sockets for some time after the process was
//! killed; the next one could not listen meanwhile.
//!
//! * `acceptor/readiness.rs`: waiting and accepting. `round.rs`: taking turns between doors.
//! * `acceptor/reserve.rs`: a spare descriptor for when the process has run out of them.

mod readiness;
mod reserve;
mod round;

use crate::listener::{Accepted, Endpoint};
use crate::metrics::{
    ACCEPT_ERROR, ACCEPT_PAUSED, ACCEPT_PAUSED_MS, ACCEPT_PAUSING, CONNECTIONS_REJECTED,
};
use crate::{Census, Dials, Listener, Mailbox, Message, Newcomer, Options};
use log::warn;
use mio::Waker;
use readiness::Readiness;
use reserve::{Reserve, lacks_descriptors};
use session::{Stream, TlsAcceptor};
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The first pause after the process ran out of file descriptors or memory; doubles up to
/// [`PAUSE_MAX`] while it lasts.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Number of connections after which the loop checks whether it is to end, and the most per listener that are
/// accepted at the end. It is the longest backlog that Linux allows by default.
const SHARE: usize = 4096;

/// Why a door could not be [opened](Acceptor::open).
#[derive(Debug)]
pub struct OpenError {
    /// Its address.
    pub endpoint: Endpoint,
    /// The system's reason.
    pub source: io::Error,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen on {}: {}", self.endpoint, self.source)
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// The pause between two log lines about clients that are turned away for want of descriptors.
const COMPLAINT_EVERY: Duration = Duration::from_secs(60);

/// Accepts connections on all listeners and hands each to the least loaded worker.
#[derive(Debug)]
pub struct Acceptor {
    readiness: Readiness,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    doors: Vec<Door>,
    /// The addresses of the doors, by their number.
    names: Vec<Arc<str>>,
    workers: Vec<Mailbox>,
    census: Census,
    dials: Dials,
    /// What the listeners have been told.
    keepalive: Duration,
    serial: u64,
    reserve: Reserve,
    /// When the lack of descriptors was last logged.
    complained: Option<Instant>,
}

/// A listener and what its connections need.
#[derive(Debug)]
pub struct Door {
    /// The listener.
    pub listener: Listener,
    /// Does the TLS handshakes; `None` for plain connections.
    pub tls: Option<TlsAcceptor>,
    /// From this the worker makes the protocol value of each connection.
    pub tag: u16,
    /// Sent to a client of a plain listener that is closed because there are too many connections.
    pub rejection: &'static [u8],
}

impl Door {
    /// Tells a client that there are too many connections, if its protocol allows it, and closes
    /// it.
    fn reject(&self, mut stream: Stream) {
        CONNECTIONS_REJECTED.increment();
        if self.tls.is_none() {
            // If the write fails, the client is closed all the same.
            let _ = stream.write(self.rejection);
        }
    }
}

/// Stops an [`Acceptor`] from another thread.
#[derive(Clone, Debug)]
pub struct AcceptorHandle {
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl AcceptorHandle {
    /// Makes the acceptor close its listeners and end.
    ///
    /// # Errors
    ///
    /// When it cannot be woken.
    pub fn stop(&self) -> io::Result<()> {
        self.stop.store(true, Ordering::Release);
        self.waker.wake()
    }
}

/// The number of a door, and the connection accepted there, or the error of accepting.
type Arrival = (usize, io::Result<Accepted>);

/// How a round of accepting ended.
enum Round {
    /// No connection waits.
    Drained,
    /// More connections may wait.
    More,
    /// The system lacks a resource; try again after a pause.
    Starved(io::Error),
}

impl Acceptor {
    /// An acceptor for `doors`, with the limit on connections of `dials`. It is still closed.
    ///
    /// # Errors
    ///
    /// When the operating system refuses an event queue.
    pub fn new(
        doors: Vec<Door>,
        workers: Vec<Mailbox>,
        census: Census,
        dials: Dials,
    ) -> io::Result<Self> {
        let (readiness, waker) = Readiness::new(doors.len())?;
        let names = doors.iter().map(|door| door.listener.endpoint().to_string().into()).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let waker = Arc::new(waker);
        dials.set_acceptor(waker.clone());
        Ok(Acceptor {
            readiness,
            stop,
            waker,
            doors,
            names,
            workers,
            census,
            dials,
            keepalive: Options::default().keepalive,
            serial: 0,
            reserve: Reserve::new(),
            complained: None,
        })
    }

    /// Lets clients connect at the doors. It is for the end of a server's start, after all that may fail.
    ///
    /// # Errors
    ///
    /// Those of the system, with the address: that it is in use, if there are two doors at it or another process took it
    /// at the same time.
    pub fn open(&mut self) -> Result<(), OpenError> {
        for (number, door) in self.doors.iter_mut().enumerate() {
            let opened = door.listener.listen().and_then(|()| self.readiness.watch(number, door));
            opened.map_err(|source| OpenError {
                endpoint: door.listener.endpoint().clone(),
                source,
            })?;
        }
        Ok(())
    }

    /// A handle that stops the acceptor.
    pub fn handle(&self) -> AcceptorHandle {
        AcceptorHandle { stop: self.stop.clone(), waker: self.waker.clone() }
    }

    /// Runs, once it is [open](Acceptor::open), until [`AcceptorHandle::stop`], accepts the connections that wait in the
    /// backlogs by then, closes the listeners and returns.
    ///
    /// # Errors
    ///
    /// When the operating system's event queue fails.
    pub fn run(mut self) -> io::Result<()> {
        let mut pause = PAUSE_MIN;
        loop {
            let round = self.accept(SHARE)?;
            let timeout = match &round {
                Round::Drained | Round::More => {
                    pause = PAUSE_MIN;
                    matches!(round, Round::More).then_some(Duration::ZERO)
                }
                Round::Starved(error) => {
                    if pause == PAUSE_MIN {
                        warn!(
                            "accepting pauses: {error}; if that is for want of descriptors, raise \
                             the limit of open files (ulimit -n)"
                        );
                    }
                    ACCEPT_PAUSED.increment();
                    ACCEPT_PAUSING.increment();
                    Some(pause)
                }
            };
            let before = Instant::now();
            self.readiness.wait(timeout)?;
            if matches!(round, Round::Starved(_)) {
                // Those who come meanwhile wait as well.
                while let Some(left) = pause.checked_sub(before.elapsed())
                    && !self.stop.load(Ordering::Acquire)
                {
                    self.readiness.wait(Some(left))?;
                }
                ACCEPT_PAUSING.decrement();
                ACCEPT_PAUSED_MS.add(before.elapsed().as_millis() as u64);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            if self.stop.load(Ordering::Acquire) {
                return self.accept_last();
            }
        }
    }

    /// Accepts the connections in the backlogs, because the system has told their clients that they
    /// are connected. A client that comes while this runs may find the listener closed.
    fn accept_last(&mut self) -> io::Result<()> {
        self.readiness.open_all();
        self.accept(SHARE * self.doors.len()).map(|_| ())
    }

    /// Accepts until no connection waits, but no more than `most`.
    fn accept(&mut self, most: usize) -> io::Result<Round> {
        self.follow_keepalive();
        for _ in 0..most {
            let Some((door, outcome)) = self.readiness.next(&self.doors) else {
                return Ok(Round::Drained);
            };
            match outcome {
                Ok(accepted) => self.hand_on(door, accepted)?,
                Err(error) => {
                    ACCEPT_ERROR.increment();
                    let is_over = is_clients(&error)
                        || lacks_descriptors(&error) && self.turn_away(door, &error);
                    if !is_over {
                        return Ok(Round::Starved(error));
                    }
                }
            }
        }
        Ok(Round::More)
    }

    /// Tells the listeners of another [`Options::keepalive`].
    fn follow_keepalive(&mut self) {
        let wanted = self.dials.keepalive();
        if wanted == self.keepalive {
            return;
        }
        self.keepalive = wanted;
        for door in &self.doors {
            if let Err(problem) = door.listener.set_keepalive(wanted) {
                warn!("{} keeps its keepalive: {problem}", door.listener.endpoint());
            }
        }
    }

    /// Accepts and refuses a client at a door for want of descriptors; returns whether accepting may go on
    /// without a pause.
    fn turn_away(&mut self, door: usize, error: &io::Error) -> bool {
        let Acceptor { reserve, doors, .. } = self;
        let tell = || doors[door].listener.accept().map(|(stream, _)| doors[door].reject(stream));
        match reserve.lend(tell) {
            Some(Ok(())) => {
                if self.complained.is_none_or(|at| at.elapsed() >= COMPLAINT_EVERY) {
                    warn!(
                        "{error}: clients are told that there are too many, and closed; raise the \
                         limit of open files (ulimit -n)"
                    );
                    self.complained = Some(Instant::now());
                }
                true
            }
            // Without descriptors the system reports that error whether a connection waits or not.
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readiness.shut(door);
                true
            }
            Some(Err(error)) => is_clients(&error),
            None => false,
        }
    }

    /// Gives a connection to the least loaded worker, or closes it when there are too many.
    fn hand_on(&mut self, door: usize, (stream, from): Accepted) -> io::Result<()> {
        let local = self.names[door].clone();
        let door = &self.doors[door];
        if self.census.total() >= self.dials.connections_max() {
            door.reject(stream);
            return Ok(());
        }
        self.serial += 1;
        let seat = self.census.seat();
        let worker = seat.worker();
        let newcomer = Newcomer {
            stream,
            from,
            tls: door.tls.clone(),
            serial: self.serial,
            local,
            tag: door.tag,
            seat,
        };
        self.workers[worker].send(Message::Connection(Box::new(newcomer)))
    }
}

/// Whether the error is that the client went away before it was accepted, so that the next accept may
/// succeed. After any other error (no descriptors, no memory, not permitted) trying again at once would only
/// burn CPU time.
fn is_clients(error: &io::Error) -> bool {
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
    fn another_keepalive_wakes_it() {
        let dials = Dials::new(10, &Options::default());
        let mut acceptor = Acceptor::new(vec![], vec![], Census::new(1), dials.clone()).unwrap();
        acceptor.readiness.wait(Some(Duration::ZERO)).unwrap();
        assert!(!acceptor.readiness.has_events());
        dials.set_keepalive(Duration::from_secs(60));
        acceptor.readiness.wait(Some(Duration::ZERO)).unwrap();
        assert!(acceptor.readiness.has_events());
        acceptor.accept(1).unwrap();
        assert_eq!(acceptor.keepalive, Duration::from_secs(60));
    }
}
