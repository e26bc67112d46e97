// SPDX-License-Identifier: Apache-2.0
//! From `[debug]` and `[klog]` to the installed logs, and the thread that writes them out.

use crate::Error;
use crate::process::Farewell;
use crate::settings::{DebugLog, Klog};
use log::warn;
use ringlog::klog::KlogBuilder;
use ringlog::{Bell, Drain, FileOptions, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

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

/// The least time between two lines that tell of dropped ones.
const GAP_EVERY: Duration = Duration::from_secs(1);

/// The queues of the process's logs. Writes out what is left when it is dropped.
#[derive(Debug)]
pub(crate) struct LogDrains {
    /// Each with the lines that it has dropped. The log is the first.
    drains: Vec<(Drain, Gaps)>,
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
        let mut drains = vec![(drain, Gaps::of("log"))];
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
            drains.push((drain, Gaps::of("command log")));
        }
        let has_file = debug.log_file.is_some();
        Ok(LogDrains { drains, reopen, has_file })
    }

    /// Writes out the waiting lines. Returns how many.
    fn run(&mut self) -> usize {
        if self.reopen.swap(false, Ordering::AcqRel) {
            self.drains.iter_mut().for_each(|(drain, _)| drain.reopen());
        }
        self.drains.iter_mut().map(|(drain, _)| drain.run_once()).sum()
    }

    /// Logs how many lines were dropped since it was last told, as far as that is due at `now`; all with `None`. Called
    /// after a run, when the queue has room.
    fn tell_gaps(&mut self, now: Option<Instant>) {
        for (drain, gaps) in &mut self.drains {
            if let Some(lines) = gaps.due(drain.counts().dropped, now) {
                warn!(
                    "{lines} lines of the {} were dropped: too many waited to be written",
                    gaps.of
                );
            }
        }
    }

    /// Writes out what waits, until `stopped` is disconnected: ten times a second while lines come, else when the first
    /// one does, or [`Bell::ring`] is called.
    fn run_until(&mut self, stopped: &Receiver<()>, bell: &Bell) {
        let is_stopped = || stopped.try_recv() == Err(TryRecvError::Disconnected);
        let mut idle_runs = 0;
        loop {
            if idle_runs >= IDLE_RUNS {
                bell.sleep(IDLE, || {
                    is_stopped() || self.drains.iter().any(|(drain, _)| drain.has_lines())
                });
            } else if stopped.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            if is_stopped() {
                return;
            }
            idle_runs = if self.run() > 0 { 0 } else { idle_runs.saturating_add(1) };
            self.tell_gaps(Some(Instant::now()));
        }
    }
}

impl Drop for LogDrains {
    fn drop(&mut self) {
        self.run();
        // The drains write this when they are dropped.
        self.tell_gaps(None);
    }
}

/// What has been told of the lines that one of the logs dropped.
#[derive(Debug)]
struct Gaps {
    /// The name of the log.
    of: &'static str,
    /// How many lines have been told of.
    told: u64,
    /// When the last were.
    last: Option<Instant>,
}

impl Gaps {
    fn of(of: &'static str) -> Self {
        Gaps { of, told: 0, last: None }
    }

    /// The number of lines to tell of, when `dropped` have been dropped so far; `None` when there are no new ones, or it was
    /// told less than [`GAP_EVERY`] before `now`.
    fn due(&mut self, dropped: u64, now: Option<Instant>) -> Option<u64> {
        let lines = dropped - self.told;
        let is_early = |now: Instant| self.last.is_some_and(|last| now < last + GAP_EVERY);
        if lines == 0 || now.is_some_and(is_early) {
            return None;
        }
        self.told = dropped;
        self.last = now;
        Some(lines)
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
        drains.drains.iter().for_each(|(drain, _)| drain.wake_by(Arc::clone(&bell)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_lines_are_told_once_and_seldom() {
        let mut gaps = Gaps::of("log");
        let start = Instant::now();
        assert_eq!(gaps.due(0, Some(start)), None);
        assert_eq!(gaps.due(3, Some(start)), Some(3));
        assert_eq!(gaps.due(5, Some(start + GAP_EVERY / 2)), None);
        assert_eq!(gaps.due(7, Some(start + GAP_EVERY)), Some(4));
        assert_eq!(gaps.due(7, Some(start + 2 * GAP_EVERY)), None);
        assert_eq!(gaps.due(8, Some(start + GAP_EVERY)), None);
        assert_eq!(gaps.due(8, None), Some(1), "at the end");
    }

    /// The one test that installs the log of this process; others may log meanwhile.
    #[test]
    fn the_log_has_a_mark_where_lines_were_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let debug =
            DebugLog { log_file: Some(path.clone()), log_queue_lines: 16, ..DebugLog::default() };
        let logs = LogDrains::install(&debug, &Klog::default(), Output::Stderr, Arc::default());
        let mut logs = logs.expect("nobody else installs a log");
        (0..200).for_each(|number| warn!("line {number}"));
        logs.run();
        logs.tell_gaps(Some(Instant::now()));
        logs.run();
        let told = || {
            let text = std::fs::read_to_string(&path).expect("the log is there");
            let mark = " lines of the log were dropped: too many waited to be written";
            let numbers = text.lines().filter_map(|line| line.strip_suffix(mark));
            numbers.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
        };
        assert!(told() >= 184, "{}", told());
        (0..200).for_each(|number| warn!("line {number}"));
        drop(logs);
        assert!(told() >= 368, "{}", told());
    }
}
