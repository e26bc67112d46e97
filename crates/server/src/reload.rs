// SPDX-License-Identifier: Apache-2.0
//! [`Reload`]: reopens log files and reads files again on SIGHUP.

use crate::Error;
use log::{error, info, warn};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

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
    is_reading: Arc<AtomicBool>,
}

/// What is read from files, and how.
pub(crate) struct Reloadable {
    what: &'static str,
    read: Box<dyn Fn() -> Result<(), String> + Send>,
}

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
        let rereader = Rereader { wanted, is_reading: Arc::default() };
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
        self.all.push(Reloadable { what, read: Box::new(read) });
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
        let reading = Arc::clone(&rereader.is_reading);
        let body = move || {
            for () in wishes {
                reading.store(true, Ordering::Release);
                all.iter().for_each(Reloadable::reread);
                reading.store(false, Ordering::Release);
            }
        };
        thread::Builder::new().name("reload".to_owned()).spawn(body).map_err(Error::Start)?;
        Ok(Some(rereader))
    }
}

impl Reloadable {
    fn reread(&self) {
        let what = self.what;
        match (self.read)() {
            Ok(()) => info!("{what} are read anew, for new connections"),
            Err(problem) => error!("{what} stay as they are: {problem}"),
        }
    }
}

impl fmt::Debug for Reloadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloadable").field("what", &self.what).finish_non_exhaustive()
    }
}

impl Rereader {
    /// Asks for another read and returns at once. Without anything to read, nothing happens.
    pub(crate) fn want(&self) {
        if self.is_reading.load(Ordering::Acquire) {
            warn!(
                "files are still being read since the last time that this was asked for: one of them does not come to \
                 its end; they are read again after that"
            );
        }
        // The channel is full: the files are going to be read again anyway.
        let _ = self.wanted.try_send(());
    }
}
