// SPDX-License-Identifier: Apache-2.0
//! [`Acceptor`]: the listener thread's loop.

use crate::metrics::{ACCEPT_ERROR, ACCEPT_PAUSED, ACCEPT_PAUSED_MS, CONNECTIONS_REJECTED};
use crate::{Census, Dials, Listener, Mailbox, Message, Newcomer};
use log::warn;
use mio::{Events, Poll, Token, Waker};
use session::{Stream, TlsAcceptor};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The token of the waker that stops the loop; listeners use their index.
const WAKER: Token = Token(usize::MAX);

/// The first pause after the process ran out of file descriptors or memory; doubles up to
/// [`PAUSE_MAX`] while it lasts.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Connections accepted on one listener before the others have their turn, and the most that are
/// taken in at the end. As many as Linux lets wait in a backlog by default.
const SHARE: usize = 4096;

/// Accepts connections on all listeners and hands each to the least loaded worker.
#[derive(Debug)]
pub struct Acceptor {
    poll: Poll,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    entrances: Vec<Entrance>,
    workers: Vec<Mailbox>,
    census: Census,
    dials: Dials,
    serial: u64,
}

/// A listener and what its connections are given.
#[derive(Debug)]
pub struct Door {
    /// The listener.
    pub listener: Listener,
    /// Who does the TLS handshakes; `None` for plain connections.
    pub tls: Option<TlsAcceptor>,
    /// What the worker makes the protocol of its connections from.
    pub tag: u16,
    /// What a client of a plain listener is sent when there are too many, before it is closed.
    pub rejection: &'static [u8],
}

/// A door that is watched.
#[derive(Debug)]
struct Entrance {
    door: Door,
    name: Arc<str>,
    /// More connections may wait than were accepted.
    open: bool,
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

/// How a round of accepting ended.
enum Round {
    /// Nobody waits.
    Drained,
    /// More may wait.
    More,
    /// The system lacks a resource; try again after a pause.
    Starved(io::Error),
}

impl Acceptor {
    /// An acceptor at `doors` that serves as many at once as `dials` say.
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
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let mut entrances = Vec::with_capacity(doors.len());
        for (index, mut door) in doors.into_iter().enumerate() {
            door.listener.register(poll.registry(), Token(index))?;
            let name = door.listener.endpoint().to_string().into();
            entrances.push(Entrance { door, name, open: true });
        }
        let stop = Arc::new(AtomicBool::new(false));
        Ok(Acceptor { poll, stop, waker, entrances, workers, census, dials, serial: 0 })
    }

    /// What stops it.
    pub fn handle(&self) -> AcceptorHandle {
        AcceptorHandle { stop: self.stop.clone(), waker: self.waker.clone() }
    }

    /// Runs until [`AcceptorHandle::stop`], takes in those who wait in the backlogs by then, and
    /// returns with the listeners closed.
    ///
    /// # Errors
    ///
    /// When the operating system's event queue fails.
    pub fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(64);
        let mut pause = PAUSE_MIN;
        loop {
            let round = self.accept_all()?;
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
                    Some(pause)
                }
            };
            let before = Instant::now();
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => other?,
            }
            if matches!(round, Round::Starved(_)) {
                ACCEPT_PAUSED_MS.add(before.elapsed().as_millis() as u64);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            for event in &events {
                if let Some(entrance) = self.entrances.get_mut(event.token().0) {
                    entrance.open = true;
                }
            }
            if self.stop.load(Ordering::Acquire) {
                return self.accept_last();
            }
        }
    }

    /// Takes in those in the backlogs: the system has told them that they are connected. Who comes
    /// while this runs may find the listener closed.
    fn accept_last(&mut self) -> io::Result<()> {
        for entrance in &mut self.entrances {
            entrance.open = true;
        }
        self.accept_all().map(|_| ())
    }

    /// Accepts on every listener until nobody waits or each has had its share.
    fn accept_all(&mut self) -> io::Result<Round> {
        let mut all = Round::Drained;
        for index in 0..self.entrances.len() {
            if !self.entrances[index].open {
                continue;
            }
            match self.accept_some(index)? {
                Round::Drained => self.entrances[index].open = false,
                Round::More => all = Round::More,
                starved @ Round::Starved(_) => return Ok(starved),
            }
        }
        Ok(all)
    }

    fn accept_some(&mut self, index: usize) -> io::Result<Round> {
        for _ in 0..SHARE {
            match self.entrances[index].door.listener.accept() {
                Ok(stream) => self.hand_on(index, stream)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Round::Drained);
                }
                Err(error) => {
                    ACCEPT_ERROR.increment();
                    if !is_clients(&error) {
                        return Ok(Round::Starved(error));
                    }
                }
            }
        }
        Ok(Round::More)
    }

    fn hand_on(&mut self, index: usize, mut stream: Stream) -> io::Result<()> {
        let Entrance { door, name, .. } = &self.entrances[index];
        if self.census.total() >= self.dials.connections_max() {
            CONNECTIONS_REJECTED.increment();
            if door.tls.is_none() {
                // A client that cannot be told is closed all the same.
                let _ = stream.write(door.rejection);
            }
            return Ok(());
        }
        self.serial += 1;
        let seat = self.census.seat();
        let worker = seat.worker();
        let newcomer = Newcomer {
            stream,
            tls: door.tls.clone(),
            serial: self.serial,
            local: name.clone(),
            tag: door.tag,
            seat,
        };
        self.workers[worker].send(Message::Connection(Box::new(newcomer)))
    }
}

/// Whether the client went away before it was accepted, which says nothing about the next one. After
/// any other error (no descriptors, no memory, not permitted) trying again at once would only burn
/// the CPU.
fn is_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::NotConnected
            | io::ErrorKind::Interrupted
    )
}
