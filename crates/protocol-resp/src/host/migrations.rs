// SPDX-License-Identifier: Apache-2.0
//! [`Migrations`]: values on their way to other servers (MIGRATE).
//!
//! One thread sends them, which begins with the first. The number of jobs is bounded, and so is the time for each
//! step on the network. The client's worker serves others meanwhile; while a client of its own waits, it looks every
//! millisecond for what the thread has done. Connections are made only to the server that the client names, and
//! closed afterwards. `send.rs`: what is said to it.

mod send;

use crate::host::platform::Encryption;
use crate::session::watching::Mark;
use clock::{Now, Ticks};
use parking_lot::Mutex;
use protocol::{ConnectionId, Ticket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The most jobs at a time: all of them hold their values in memory.
const JOBS_MAX: usize = 16;

/// How long a worker waits before it looks again for what is done.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Where values go.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) host: String,
    /// As the client wrote it: what is no port is none that can be reached.
    pub(crate) port: String,
    /// The database, which the other server judges.
    pub(crate) db: i64,
    /// For each step: to connect, to write, to read.
    pub(crate) timeout: Duration,
    /// How the connection is encrypted, if it is.
    pub(crate) encryption: Option<Arc<dyn Encryption>>,
    /// The arguments of AUTH, if the client has given any.
    pub(crate) auth: Vec<Vec<u8>>,
    pub(crate) replaces: bool,
    /// It is a node of a cluster, which takes what it is asked to though it may not have the slot yet.
    pub(crate) is_node: bool,
}

/// A value that is sent.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) key: Box<[u8]>,
    pub(crate) payload: Vec<u8>,
    /// When it expires, in unix milliseconds.
    pub(crate) expiry: Option<u64>,
    /// Set when the value changes here.
    pub(crate) mark: Mark,
    /// The other server has stored it.
    pub(crate) is_there: bool,
}

/// Values that a client sends to one server.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: ConnectionId,
    pub(crate) ticket: Ticket,
    /// The database that they come from.
    pub(crate) db: usize,
    /// They stay here, too.
    pub(crate) copies: bool,
    pub(crate) target: Target,
    pub(crate) transfers: Vec<Transfer>,
    /// The time when they were read, in unix milliseconds.
    pub(crate) read_ms: u64,
}

/// A job that is done.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) job: Job,
    /// What the client is told if anything went wrong.
    pub(crate) outcome: Result<(), String>,
}

/// Jobs that are done, until the workers of their clients take them.
type Done = Arc<Mutex<Vec<Sent>>>;

/// The thread, its queue, and what it has done.
#[derive(Debug, Default)]
pub(crate) struct Migrations {
    queue: OnceLock<Option<Sender<Job>>>,
    /// Connections are to be encrypted.
    is_encrypted: AtomicBool,
    done: Done,
    /// Jobs that have begun and whose workers have not taken them back.
    jobs: AtomicUsize,
}

/// Room for a job.
#[derive(Debug)]
pub(crate) struct Room<'m> {
    migrations: &'m Migrations,
    queue: &'m Sender<Job>,
}

impl Migrations {
    /// Whether connections are to be encrypted (`tls-replication`).
    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted.load(Relaxed)
    }

    /// Changes that, for later jobs.
    pub(crate) fn set_encrypted(&self, on: bool) {
        self.is_encrypted.store(on, Relaxed);
    }

    /// Room for one more job.
    ///
    /// # Errors
    ///
    /// The text for the client: there is no thread, or there are too many jobs.
    pub(crate) fn room(&self) -> Result<Room<'_>, &'static str> {
        let queue = self.queue.get_or_init(|| start(Arc::clone(&self.done)));
        let queue = queue.as_ref().ok_or("IOERR the system has no thread for this")?;
        let one_more = |jobs: usize| (jobs < JOBS_MAX).then_some(jobs + 1);
        let begun = self.jobs.fetch_update(Relaxed, Relaxed, one_more);
        begun.map_err(|_| "IOERR too many migrations at a time")?;
        Ok(Room { migrations: self, queue })
    }

    /// The jobs of a worker's clients that are done.
    fn take(&self, worker: usize) -> Vec<Sent> {
        let done = &mut *self.done.lock();
        let taken: Vec<Sent> = done.extract_if(.., |sent| sent.job.id.worker() == worker).collect();
        self.jobs.fetch_sub(taken.len(), Relaxed);
        taken
    }
}

impl Room<'_> {
    /// Leaves a job to the thread.
    pub(crate) fn begin(self, job: Job) {
        if let Err(SendError(job)) = self.queue.send(job) {
            let outcome = Err("IOERR the thread for this has ended".to_owned());
            self.migrations.done.lock().push(Sent { job, outcome });
        }
    }
}

/// Starts the thread, which ends when its queue is gone.
fn start(done: Done) -> Option<Sender<Job>> {
    let (queue, jobs) = channel::<Job>();
    let work = move || {
        while let Ok(mut job) = jobs.recv() {
            let outcome = send::send(&mut job);
            done.lock().push(Sent { job, outcome });
        }
    };
    std::thread::Builder::new().name("migrate".to_owned()).spawn(work).ok().map(|_| queue)
}

/// The jobs of one worker's clients.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    count: usize,
    worker: usize,
    look_at: Ticks,
}

impl Outstanding {
    /// Notes that a client of this worker waits for a job.
    pub(crate) fn add(&mut self, client: ConnectionId, now: Now) {
        (self.count, self.worker) = (self.count + 1, client.worker());
        self.look_at = now.ticks + LOOK_EVERY;
    }

    /// When the worker looks for what is done, if there is anything to wait for.
    pub(crate) fn look_at(&self) -> Option<Ticks> {
        (self.count > 0).then_some(self.look_at)
    }

    /// Whether there is nothing to wait for.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// What is done by now.
    pub(crate) fn take(&mut self, migrations: &Migrations, now: Now) -> Vec<Sent> {
        let sent = migrations.take(self.worker);
        self.count -= sent.len().min(self.count);
        self.look_at = now.ticks + LOOK_EVERY;
        sent
    }
}
