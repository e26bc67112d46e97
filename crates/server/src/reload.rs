// SPDX-License-Identifier: Apache-2.0
//! [`Reload`]: reopens log files and reads files again on SIGHUP.

use crate::Error;
use log::{error, info, warn};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Reopens log files and reads other files again. These are read on a separate thread, so a file system that hangs, or
/// a pipe that nobody writes to, delays nothing else.
#[derive(Debug)]
pub(crate) struct Reload {
    logs: Arc<AtomicBool>,
    files: Option<Rereader>,
}

/// Asks the thread that reads files to do so once more.
#[derive(Clone, Debug)]
pub(crate) struct Rereader {
    /// Has room for one request: any number of them during a read cause one more read.
    wanted: SyncSender<()>,
    progress: Arc<Mutex<Progress>>,
}

/// How far the reads are. They are numbered from 1 on.
#[derive(Debug, Default)]
struct Progress {
    begun: u64,
    ended: u64,
    /// What went wrong in the last that ended.
    problem: Option<String>,
}

/// What is read from files, and how.
pub(crate) struct Reloadable {
    what: &'static str,
    read: Box<dyn Fn() -> Result<(), String> + Send>,
    /// Tells whether it should be read without being asked for.
    has_changed: Option<Box<dyn Fn() -> bool + Send>>,
}

/// How often it is looked whether something has changed, if that is asked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is read, and the requests to do so, for the thread that does.
#[derive(Debug)]
pub(crate) struct Sources {
    all: Vec<Reloadable>,
    wishes: Receiver<()>,
    rereader: Rereader,
}

impl Reload {
    /// Sets the flag `logs` to have log files reopened, and reads the files of `sources`.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread.
    pub(crate) fn new(logs: Arc<AtomicBool>, sources: Sources) -> Result<Self, Error> {
        Ok(Reload { logs, files: sources.start()? })
    }

    /// Requests both and returns at once.
    pub(crate) fn begin(&self) {
        self.logs.store(true, Ordering::Release);
        info!("SIGHUP: log files will be reopened");
        if let Some(files) = &self.files {
            files.want();
        }
    }
}

impl Default for Sources {
    fn default() -> Self {
        let (wanted, wishes) = sync_channel(1);
        let rereader = Rereader { wanted, progress: Arc::default() };
        Sources { all: Vec::new(), wishes, rereader }
    }
}

impl Sources {
    /// Adds `what`, a word for the log in the plural.
    pub(crate) fn add(
        &mut self,
        what: &'static str,
        read: impl Fn() -> Result<(), String> + Send + 'static,
    ) {
        self.all.push(Reloadable { what, read: Box::new(read), has_changed: None });
    }

    /// The same, also read when `has_changed` says so.
    pub(crate) fn add_watched(
        &mut self,
        what: &'static str,
        read: impl Fn() -> Result<(), String> + Send + 'static,
        has_changed: impl Fn() -> bool + Send + 'static,
    ) {
        let has_changed: Option<Box<dyn Fn() -> bool + Send>> = Some(Box::new(has_changed));
        self.all.push(Reloadable { what, read: Box::new(read), has_changed });
    }

    /// Asks for another read.
    pub(crate) fn rereader(&self) -> Rereader {
        self.rereader.clone()
    }

    /// Starts the thread, unless there is nothing to read.
    fn start(self) -> Result<Option<Rereader>, Error> {
        let Sources { all, wishes, rereader } = self;
        if all.is_empty() {
            return Ok(None);
        }
        let progress = Arc::clone(&rereader.progress);
        let pause = all.iter().any(|one| one.has_changed.is_some()).then_some(LOOK_EVERY);
        let body = move || {
            while let Some(is_asked_for) = next_wish(&wishes, pause) {
                if is_asked_for {
                    read_all(&all, &progress);
                } else {
                    // What comes of it is in the log.
                    all.iter().filter(|one| one.is_to_be_read()).for_each(|one| drop(one.reread()));
                }
            }
        };
        thread::Builder::new().name("reload".to_owned()).spawn(body).map_err(Error::Start)?;
        Ok(Some(rereader))
    }
}

/// Waits for a wish, or for so long. Returns whether there was one; `None` when nobody can wish any more.
fn next_wish(wishes: &Receiver<()>, pause: Option<Duration>) -> Option<bool> {
    match pause {
        None => wishes.recv().ok().map(|()| true),
        Some(pause) => match wishes.recv_timeout(pause) {
            Ok(()) => Some(true),
            Err(RecvTimeoutError::Timeout) => Some(false),
            Err(RecvTimeoutError::Disconnected) => None,
        },
    }
}

fn read_all(all: &[Reloadable], progress: &Mutex<Progress>) {
    let number = {
        let mut progress = lock(progress);
        progress.begun += 1;
        progress.begun
    };
    // All are read, whatever happens to the first.
    let problems: Vec<String> = all.iter().filter_map(|one| one.reread().err()).collect();
    let mut progress = lock(progress);
    progress.ended = number;
    progress.problem = problems.into_iter().next();
}

impl Reloadable {
    fn is_to_be_read(&self) -> bool {
        self.has_changed.as_ref().is_some_and(|has_changed| has_changed())
    }

    fn reread(&self) -> Result<(), String> {
        let (what, result) = (self.what, (self.read)());
        match &result {
            Ok(()) => info!("{what} are read anew, for new connections"),
            Err(problem) => error!("{what} stay as they are: {problem}"),
        }
        result.map_err(|problem| format!("{what}: {problem}"))
    }
}

impl fmt::Debug for Reloadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloadable").field("what", &self.what).finish_non_exhaustive()
    }
}

impl Rereader {
    /// Asks for another read and returns at once, with the number of that read; 0 if there is nothing to read.
    pub(crate) fn want(&self) -> u64 {
        let progress = lock(&self.progress);
        if progress.begun > progress.ended {
            warn!(
                "files are still being read since the last time that this was asked for: one of them does not come to \
                 its end; they are read again after that"
            );
        }
        // One that has begun may have read a file before it was changed.
        let next = progress.begun + 1;
        match self.wanted.try_send(()) {
            // If the channel is full, the files are going to be read again anyway.
            Ok(()) | Err(TrySendError::Full(())) => next,
            Err(TrySendError::Disconnected(())) => 0,
        }
    }

    /// How a read ended, or the one after it if that has ended, too; `None` before.
    pub(crate) fn outcome(&self, number: u64) -> Option<Result<(), String>> {
        let progress = lock(&self.progress);
        let problem = || progress.problem.clone().filter(|_| number > 0);
        (progress.ended >= number).then(|| problem().map_or(Ok(()), Err))
    }
}

/// The lock is never held while a file is read.
fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_one_that_begins_after_it_was_asked_for() {
        let (go, wait) = sync_channel::<Result<(), String>>(0);
        let (started, starts) = sync_channel(0);
        let mut sources = Sources::default();
        let wait = Mutex::new(wait);
        sources.add("files", move || {
            started.send(()).expect("the test waits");
            wait.lock().expect("one thread").recv().expect("the test goes on")
        });
        let rereader = sources.start().expect("a thread").expect("something to read");
        assert_eq!(rereader.want(), 1);
        starts.recv().expect("it starts");
        let second = rereader.want();
        assert_eq!((second, rereader.want()), (2, 2), "asked for during the first");
        assert_eq!(rereader.outcome(1), None);
        go.send(Err("no file".to_owned())).expect("it reads");
        starts.recv().expect("the second starts");
        assert_eq!(rereader.outcome(1), Some(Err("files: no file".to_owned())));
        assert_eq!(rereader.outcome(second), None);
        go.send(Ok(())).expect("it reads");
        while rereader.outcome(second).is_none() {
            thread::yield_now();
        }
        assert_eq!(rereader.outcome(second), Some(Ok(())));
    }

    #[test]
    fn where_there_is_nothing_to_read_nothing_is_waited_for() {
        let sources = Sources::default();
        let rereader = sources.rereader();
        assert!(sources.start().expect("no thread").is_none());
        assert_eq!(rereader.want(), 0);
        assert_eq!(rereader.outcome(0), Some(Ok(())));
    }
}
