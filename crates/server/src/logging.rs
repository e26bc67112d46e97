// SPDX-License-Identifier: Apache-2.0
//! From `[debug]` and `[klog]` to the installed logs, and the thread that writes them out.

use crate::Error;
use crate::settings::{DebugLog, Klog};
use ringlog::klog::KlogBuilder;
use ringlog::{Drain, FileOptions, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The metrics of the logs.
pub(crate) const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::totals! {
    /// Lines of the log and the command log: those that were written, that were dropped because too many waited, and
    /// that could not be written to their file.
    "shoebill_log_lines_total" {
        static LOG_WRITTEN: result = "written";
        static LOG_DROPPED: result = "dropped";
        static LOG_FAILED: result = "failed";
    }
}

/// How often the log is written out.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long the end of the process waits for the last lines.
const END_MAX: Duration = Duration::from_secs(2);

/// The queues of the process's logs. Writes out what is left when it is dropped.
#[derive(Debug)]
pub(crate) struct LogDrains {
    drains: Vec<Drain>,
    reopen: Arc<AtomicBool>,
    has_file: bool,
}

impl LogDrains {
    /// Opens the files and installs the process's log and command log. Without a file the log goes to
    /// `stream`. Once `reopen` is set, the next run reopens the files.
    pub(crate) fn install(
        debug: &DebugLog,
        klog: &Klog,
        stream: Output,
        reopen: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let output = match &debug.log_file {
            None => stream,
            Some(path) => Output::File(
                FileOptions::new(path)
                    .max_bytes(debug.log_max_size.0)
                    .max_age(debug.log_rotation_interval.0)
                    .keep(debug.log_max_keep_files),
            ),
        };
        let (logger, drain) = ringlog::Builder::new()
            .level(debug.log_level.into())
            .capacity(debug.log_queue_lines)
            .output(output)
            .build()?;
        logger.install()?;
        let mut drains = vec![drain];
        if let Some(path) = &klog.file
            && klog.sample > 0
        {
            let (commands, drain) = KlogBuilder::new(path)
                .max_bytes(klog.max_size.0)
                .keep(klog.max_keep_files)
                .sample(klog.sample)
                .capacity(klog.queue_lines)
                .build()?;
            commands.install()?;
            drains.push(drain);
        }
        let has_file = debug.log_file.is_some();
        Ok(LogDrains { drains, reopen, has_file })
    }

    /// Writes out the waiting lines.
    fn run(&mut self) {
        if self.reopen.swap(false, Ordering::AcqRel) {
            self.drains.iter_mut().for_each(Drain::reopen);
        }
        for drain in &mut self.drains {
            drain.run_once();
        }
    }
}

/// Brings the metrics of the logs up to date.
pub(crate) fn refresh_metrics() {
    LOG_WRITTEN.set(ringlog::written());
    LOG_DROPPED.set(ringlog::dropped());
    LOG_FAILED.set(ringlog::failed());
}

/// The thread that writes the logs. It does nothing else, so a disk that hangs, or a pipe that nobody reads,
/// only makes lines be dropped and counted.
#[derive(Debug)]
pub(crate) struct LogThread {
    thread: JoinHandle<()>,
    /// Dropping it is the signal to end.
    stop: Sender<()>,
    ended: Receiver<()>,
    has_file: bool,
}

impl LogThread {
    /// # Errors
    ///
    /// When the system refuses a thread.
    pub(crate) fn start(mut drains: LogDrains) -> Result<Self, Error> {
        let (stop, stopped) = channel::<()>();
        let (end, ended) = channel();
        let has_file = drains.has_file;
        let body = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(INTERVAL) {
                drains.run();
            }
            drop(drains);
            // The receiver may have stopped waiting: see `END_MAX`.
            let _ = end.send(());
        };
        let thread = thread::Builder::new().name("log".to_owned());
        let thread = thread.spawn(body).map_err(Error::Start)?;
        Ok(LogThread { thread, stop, ended, has_file })
    }

    /// Whether it has ended by itself, which only a panic does.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Tells it to write the remaining lines and to end, and waits for [`END_MAX`] at most.
    pub(crate) fn stop(self) {
        drop(self.stop);
        let outcome = self.ended.recv_timeout(END_MAX);
        // If the log goes to standard error, standard error itself hangs.
        if let Err(RecvTimeoutError::Timeout) = outcome
            && self.has_file
        {
            eprintln!("the last lines of the log could not be written in time");
        }
    }
}
