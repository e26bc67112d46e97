// SPDX-License-Identifier: Apache-2.0
//! From `[debug]` and `[klog]` to the installed logs, and the drain that the admin thread runs.

use crate::Error;
use crate::settings::{DebugLog, Klog};
use ringlog::klog::KlogBuilder;
use ringlog::{Drain, FileOptions, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

metrics::totals! {
    /// Lines of the log and the command log that were written.
    static LOG_WRITTEN: "log_written";
    /// Lines of the log and the command log that were dropped because too many waited.
    static LOG_DROPPED: "log_dropped";
    /// Lines of the log and the command log that could not be written to their file.
    static LOG_FAILED: "log_failed";
}

/// The queues of the process's logs. Writes out what is left when it is dropped.
#[derive(Debug)]
pub(crate) struct LogDrains {
    drains: Vec<Drain>,
    reopen: Arc<AtomicBool>,
}

impl LogDrains {
    /// Opens the files and makes them the process's log and command log.
    pub(crate) fn install(debug: &DebugLog, klog: &Klog) -> Result<Self, Error> {
        let output = match &debug.log_file {
            None => Output::Stderr,
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
        Ok(LogDrains { drains, reopen: Arc::new(AtomicBool::new(false)) })
    }

    /// Set it to have the files opened anew by the next run.
    pub(crate) fn reopen_flag(&self) -> Arc<AtomicBool> {
        self.reopen.clone()
    }

    /// Writes out what waits.
    pub(crate) fn run(&mut self) {
        if self.reopen.swap(false, Ordering::AcqRel) {
            self.drains.iter_mut().for_each(Drain::reopen);
        }
        for drain in &mut self.drains {
            drain.run_once();
        }
        LOG_WRITTEN.set(ringlog::written());
        LOG_DROPPED.set(ringlog::dropped());
        LOG_FAILED.set(ringlog::failed());
    }
}
