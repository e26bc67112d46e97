// SPDX-License-Identifier: Apache-2.0
//! [`Process`]: a running server, and its graceful stop.
//!
//! The steps of the stop are ordered so that no request that has arrived is lost: `/ready` says "draining",
//! and the service manager is told; the listener accepts the connections in its backlog and closes; each
//! worker serves the requests that have arrived, flushes and closes its connections, all within a deadline;
//! the admin thread ends, and the log last. A thread that does not end, such as a worker inside a request that takes
//! for ever, is given up [`GRACE`] after the deadline, with an error.
//!
//! What workers own, such as a store of millions of items, is freed when their threads end, unless
//! the server is the whole program: then the system frees the memory as a whole ([`keep`]).

use crate::Error;
use crate::logging::{LogDrains, LogThread};
use crate::signals;
use admin::{AdminHandle, Readiness, State};
use clock::{Clock, Ticks};
use log::{error, info};
use reactor::{AcceptorHandle, Census, Endpoint, Mailbox, Message};
use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much longer than the time to flush connections threads have to end: enough to close those that are left.
const GRACE: Duration = Duration::from_secs(5);

/// What the thread that waits for the process is told.
#[derive(Debug)]
pub(crate) enum Event {
    /// The server is to stop.
    Stop,
    /// A thread has ended: in order, or with what went wrong.
    Ended { thread: String, result: Result<(), String> },
}

/// Reports the end of the thread that keeps it, a panic included.
#[derive(Debug)]
pub(crate) struct Farewell {
    thread: &'static str,
    events: Sender<Event>,
}

impl Farewell {
    /// From the thread of this name, which nobody awaits: its end means that something has gone wrong.
    pub(crate) fn new(thread: &'static str, events: Sender<Event>) -> Self {
        Farewell { thread, events }
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        // Nobody listens once the process has been given up.
        let _ = self.events.send(Event::Ended { thread: self.thread.to_owned(), result: Ok(()) });
    }
}

/// The threads of a server, and the channels that reach them.
#[derive(Debug)]
pub(crate) struct Threads {
    pub(crate) clock: Clock,
    pub(crate) census: Census,
    pub(crate) endpoints: Vec<Endpoint>,
    /// Where requests come in datagrams.
    pub(crate) datagrams: Vec<SocketAddr>,
    pub(crate) readiness: Readiness,
    pub(crate) admin: AdminHandle,
    pub(crate) acceptor: AcceptorHandle,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) joins: Vec<JoinHandle<()>>,
    pub(crate) drain_delay: Duration,
    pub(crate) drain_timeout: Duration,
    /// Writes the logs, if the server is the whole program.
    pub(crate) log: Option<LogThread>,
    /// Whether the service manager has been told that the server is ready.
    pub(crate) is_announced: bool,
}

/// Values that are never dropped: they are in use until the program ends.
static KEPT: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());

/// Keeps `value` until the program ends, which is about to happen. Freeing millions of items one by one
/// takes seconds; the system frees their memory as a whole.
pub(crate) fn keep(value: impl Send + 'static) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(value));
}

impl Threads {
    /// Starts a thread that reports its end, a panic included.
    pub(crate) fn spawn(
        &mut self,
        name: String,
        events: &Sender<Event>,
        body: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<(), Error> {
        let (events, label) = (events.clone(), name.clone());
        let run = move || {
            let result = match catch_unwind(AssertUnwindSafe(body)) {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(panic) => Err(format!("panicked: {}", panic_message(panic.as_ref()))),
            };
            // Nobody listens once the process has been given up.
            let _ = events.send(Event::Ended { thread: label, result });
        };
        let join = thread::Builder::new().name(name).spawn(run).map_err(Error::Start)?;
        self.joins.push(join);
        Ok(())
    }

    /// The names of the threads whose end a stop awaits.
    fn names(&self) -> Vec<String> {
        let names = self.joins.iter().filter_map(|join| join.thread().name());
        names.map(str::to_owned).collect()
    }

    /// Ends the workers of a server whose start has failed. They have no connections yet.
    pub(crate) fn abandon(self) {
        for mailbox in &self.mailboxes {
            // A worker that cannot be woken notices at its next tick.
            let _ = mailbox.send(Message::Drain { deadline: Ticks::ZERO });
        }
        for join in self.joins {
            let _ = join.join();
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(message) = panic.downcast_ref::<&str>() {
        message
    } else if let Some(message) = panic.downcast_ref::<String>() {
        message
    } else {
        "a panic without a message"
    }
}

/// A running server.
///
/// Dropping it stops the server as [`Process::stop`] does and waits for its end.
#[derive(Debug)]
pub struct Process {
    /// `None` once it has ended.
    threads: Option<Threads>,
    events: Sender<Event>,
    inbox: Receiver<Event>,
}

/// Asks a [`Process`] to stop, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Sender<Event>);

impl Stopper {
    pub(crate) fn new(events: Sender<Event>) -> Self {
        Stopper(events)
    }

    /// Asks for a graceful stop. Asking again is harmless.
    pub fn stop(&self) {
        // A process that has ended already needs no asking.
        let _ = self.0.send(Event::Stop);
    }
}

impl Process {
    pub(crate) fn new(threads: Threads, events: Sender<Event>, inbox: Receiver<Event>) -> Self {
        Process { threads: Some(threads), events, inbox }
    }

    /// The endpoints it listens on, with the ports that the system chose.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.threads.as_ref().map_or(&[], |threads| &threads.endpoints)
    }

    /// The address of the first TCP endpoint.
    pub fn address(&self) -> Option<SocketAddr> {
        self.endpoints().iter().find_map(|endpoint| match endpoint {
            Endpoint::Tcp(address) => Some(*address),
            Endpoint::Unix { .. } => None,
        })
    }

    /// The UDP addresses at which it receives datagrams, with the ports that the system chose.
    pub fn datagram_addresses(&self) -> &[SocketAddr] {
        self.threads.as_ref().map_or(&[], |threads| &threads.datagrams)
    }

    /// The address of the admin plane.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.threads.as_ref().and_then(|threads| threads.admin.address())
    }

    /// Starts the thread that writes the logs, which is ended last.
    pub(crate) fn write_log(&mut self, logs: LogDrains) -> Result<(), Error> {
        let log = LogThread::start(logs, Farewell::new("log", self.events.clone()))?;
        if let Some(threads) = &mut self.threads {
            threads.log = Some(log);
        }
        Ok(())
    }

    /// Tells the service manager that the server is ready, and later that it stops.
    pub(crate) fn announce(&mut self) {
        signals::notify_ready();
        if let Some(threads) = &mut self.threads {
            threads.is_announced = true;
        }
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.threads.as_ref().map_or(0, |threads| threads.census.total())
    }

    /// A handle that can stop it from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.events.clone())
    }

    /// Stops it in order and waits for its end.
    ///
    /// # Errors
    ///
    /// When one of its threads failed, or did not end in time.
    pub fn stop(self) -> Result<(), Error> {
        self.stopper().stop();
        self.wait()
    }

    /// Waits until it is asked to stop or one of its threads fails, and ends it.
    ///
    /// # Errors
    ///
    /// When one of its threads failed, or did not end in time. The others may still run then: the program must end.
    pub fn wait(mut self) -> Result<(), Error> {
        self.run_to_end()
    }

    fn run_to_end(&mut self) -> Result<(), Error> {
        let Some(threads) = self.threads.take() else { return Ok(()) };
        let end = match self.await_event() {
            Event::Stop => self.drain(&threads),
            Event::Ended { thread, result } => Err(failure(thread, result)),
        };
        if let Err(failed) = &end {
            error!("{failed}");
        }
        let Threads { admin, joins, log, .. } = threads;
        if end.is_ok() {
            for join in joins {
                // Each has reported its end already, panics included.
                let _ = join.join();
            }
        }
        let admin_end = admin.stop();
        // Last, so that the lines logged during the stop are written.
        if let Some(log) = log {
            log.stop();
        }
        admin_end?;
        end
    }

    /// Waits for the first event.
    fn await_event(&self) -> Event {
        self.inbox.recv().expect("the process holds a sender")
    }

    /// The graceful stop; see the module's description.
    fn drain(&self, threads: &Threads) -> Result<(), Error> {
        threads.readiness.set(State::Draining);
        if threads.is_announced {
            signals::notify_stopping();
        }
        let count = threads.census.total();
        info!("stopping: {count} connections to flush; a second signal ends it at once");
        let mut running = threads.names();
        self.await_ends(&mut running, 0, threads.drain_delay)?;
        threads.acceptor.stop().map_err(Error::Start)?;
        let allowed = threads.drain_timeout.saturating_add(GRACE);
        if !self.await_ends(&mut running, threads.mailboxes.len(), allowed)? {
            return Err(Error::Stuck { threads: running, allowed });
        }
        let deadline = threads.clock.now().ticks + threads.drain_timeout;
        for mailbox in &threads.mailboxes {
            mailbox.send(Message::Drain { deadline }).map_err(Error::Start)?;
        }
        if !self.await_ends(&mut running, 0, allowed)? {
            return Err(Error::Stuck { threads: running, allowed });
        }
        info!("stopped");
        Ok(())
    }

    /// Waits until only `until` of the `running` threads are left, or for as long as `most`. Returns whether they have
    /// ended.
    fn await_ends(
        &self,
        running: &mut Vec<String>,
        until: usize,
        most: Duration,
    ) -> Result<bool, Error> {
        let started = Instant::now();
        while running.len() > until {
            let left = most.saturating_sub(started.elapsed());
            match self.inbox.recv_timeout(left) {
                Ok(Event::Ended { thread, result: Ok(()) }) => {
                    running.retain(|name| *name != thread);
                }
                Ok(Event::Ended { thread, result }) => return Err(failure(thread, result)),
                Ok(Event::Stop) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(RecvTimeoutError::Disconnected) => unreachable!("the process holds a sender"),
            }
        }
        Ok(true)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.threads.is_some() {
            self.stopper().stop();
            // Failures have been logged; there is nobody left to tell.
            let _ = self.run_to_end();
        }
    }
}

fn failure(thread: String, result: Result<(), String>) -> Error {
    let problem = result.err().unwrap_or_else(|| "ended before it was asked to".to_owned());
    Error::Thread { thread, problem }
}
