// SPDX-License-Identifier: Apache-2.0
//! From `[debug]` and `[klog]` to the installed logs, and the thread that writes them out.

use crate::Error;
use crate::process::Farewell;
use crate::settings::{DebugLog, Klog};
use ringlog::klog::KlogBuilder;
use ringlog::{Bell, Drain, FileOptions, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
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

/// How often the log is written out while lines come.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs without a line after which the thread sleeps until one comes.
const IDLE_RUNS: u32 = 10;

/// How long it sleeps at most: files are to be reopened, and are old some day.
const IDLE: Duration = Duration::from_secs(1);

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

    /// Writes out the waiting lines. Returns how many.
    fn run(&mut self) -> usize {
        if self.reopen.swap(false, Ordering::AcqRel) {
            self.drains.iter_mut().for_each(Drain::reopen);
        }
        self.drains.iter_mut().map(Drain::run_once).sum()
    }

    /// Writes out what waits, until `stopped` is disconnected: ten times a second while lines come, else when the first
    /// one does, or [`Bell::ring`] is called.
    fn run_until(&mut self, stopped: &Receiver<()>, bell: &Bell) {
        let is_stopped = || stopped.try_recv() == Err(TryRecvError::Disconnected);
        let mut idle_runs = 0;
        loop {
            if idle_runs >= IDLE_RUNS {
                bell.sleep(IDLE, || is_stopped() || self.drains.iter().any(Drain::has_lines));
            } else if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            if is_stopped() {
                return;
            }
            idle_runs = if self.run() > 0 { 0 } else { idle_runs.saturating_add(1) };
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
    /// Dropping it and ringing the bell is the signal to end.
    stop: Sender<()>,
    bell: Arc<Bell>,
    ended: Receiver<()>,
    has_file: bool,
}

impl LogThread {
    /// Starts it; `farewell` tells of its end.
    ///
    /// # Errors
    ///
    /// When the system refuses a thread.
    pub(crate) fn start(mut drains: LogDrains, farewell: Farewell) -> Result<Self, Error> {
        let (stop, stopped) = channel::<()>();
        let (end, ended) = channel();
        let has_file = drains.has_file;
        let bell = Arc::new(Bell::default());
        drains.drains.iter().for_each(|drain| drain.wake_by(Arc::clone(&bell)));
        let sleeper = Arc::clone(&bell);
        let body = move || {
            let _farewell = farewell;
            drains.run_until(&stopped, &sleeper);
            drop(drains);
            // The receiver may have stopped waiting: see `END_MAX`.
            let _ = end.send(());
        };
        let thread = thread::Builder::new().name("log".to_owned());
        thread.spawn(body).map_err(Error::Start)?;
        Ok(LogThread { stop, bell, ended, has_file })
    }

    /// Tells it to write the remaining lines and to end, and waits for [`END_MAX`] at most.
    pub(crate) fn stop(self) {
        drop(self.stop);
        self.bell.ring();
        let outcome = self.ended.recv_timeout(END_MAX);
        // If the log goes to standard error, standard error itself hangs.
        if let Err(RecvTimeoutError::Timeout) = outcome
            && self.has_file
        {
            eprintln!("the last lines of the log could not be written in time");
        }
    }
}
